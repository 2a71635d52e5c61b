#include "graph/passes/passes.h"
#include "graph/rewrite/rule.h"

namespace lathe::ir {

int simplify_algebra(Graph& graph, Rewrites& rewrites) {
  static const auto& rules = *new RuleSet(algebra_rules());
  return rules.apply(graph, rewrites, "simplify_algebra");
}

int clean_casts(Graph& graph, Rewrites& rewrites) {
  static const auto& rules = *new RuleSet(cast_rules());
  return rules.apply(graph, rewrites, "clean_casts");
}

int clean_views(Graph& graph, Rewrites& rewrites) {
  static const auto& rules = *new RuleSet(view_rules());
  return rules.apply(graph, rewrites, "clean_views");
}

int fold_batch_norm(Graph& graph, Rewrites& rewrites) {
  static const auto& rules = *new RuleSet(batch_norm_rules());
  return rules.apply(graph, rewrites, "fold_batch_norm", Exactness::approximate);
}

}  // namespace lathe::ir
