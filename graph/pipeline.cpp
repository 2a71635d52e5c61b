#include "graph/pipeline.h"

#include <absl/functional/function_ref.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <chrono>

#include "core/base/error.h"
#include "graph/ir/verify.h"
#include "graph/passes/passes.h"
#include "graph/rewrite/rule.h"

namespace lathe::ir {
namespace {

struct Pass {
  std::string_view name;
  int (*run)(Graph&, Rewrites&);
};
using RunPass = absl::FunctionRef<int(Graph&, Rewrites&)>;

constexpr Pass kUnifySizes{"unify_sizes", unify_sizes};
constexpr Pass kEliminateDead{"eliminate_dead", eliminate_dead};
constexpr Pass kMergeCommon{"merge_common", merge_common};
constexpr Pass kFoldConstants{"fold_constants", fold_constants};
constexpr Pass kMoveInvariants{"move_invariants", move_invariants};
constexpr Pass kCanonicalise{"canonicalise", canonicalise};
constexpr Pass kSimplifyAlgebra{"simplify_algebra", simplify_algebra};
constexpr Pass kCleanCasts{"clean_casts", clean_casts};
constexpr Pass kCleanViews{"clean_views", clean_views};
constexpr Pass kFoldBatchNorm{"fold_batch_norm", fold_batch_norm};
constexpr Pass kFusePointwise{"fuse_pointwise", fuse_pointwise};
constexpr Pass kReadInPieces{"read_in_pieces", read_in_pieces};
constexpr Pass kJoinSiblings{"join_siblings", join_siblings};

constexpr Pass kAll[] = {kUnifySizes,     kEliminateDead, kMergeCommon,     kFoldConstants,
                         kMoveInvariants, kCanonicalise,  kSimplifyAlgebra, kCleanCasts,
                         kCleanViews,     kFoldBatchNorm, kFusePointwise,   kReadInPieces,
                         kJoinSiblings};

double now() {
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

class Run {
 public:
  Run(Graph& graph, const Budget& budget) : graph_(graph), began_(now()) {
    rewrites_.leave_out(budget.without);
  }

  int pass(const Pass& p) { return pass(p.name, p.run); }
  int pass(std::string_view name, RunPass run) {
    if (rewrites_.off(name)) return 0;
    PassReport r{std::string(name), 0, graph_.node_count(), 0, 0, {}, {}};
    double start = now();
    rewrites_.clear();
    r.changes = run(graph_, rewrites_);
    r.milliseconds = now() - start;
    r.nodes_after = graph_.node_count();
    for (const auto& [rule, count] : rewrites_.fired())
      if (rule != name) r.fired.emplace(rule, count);
    r.notes = rewrites_.notes();
    report_.passes.push_back(std::move(r));
    return report_.passes.back().changes;
  }
  double spent() const { return now() - began_; }
  Report take() { return std::move(report_); }

 private:
  Graph& graph_;
  Rewrites rewrites_;
  Report report_;
  double began_;
};

}  // namespace

Report optimise(Graph& graph, const Budget& budget) {
  Run run(graph, budget);
  auto by_users = [&](Graph& g, Rewrites& rewrites) { return budget.rules->apply(g, rewrites); };
  run.pass(kUnifySizes);
  for (int round = 0; round < budget.rounds; ++round) {
    int changes = run.pass(kEliminateDead);
    // Before what changes the text that their patterns were written after.
    if (!budget.rules->rules().empty()) changes += run.pass(UserRules::kPass, by_users);
    changes += run.pass(kMergeCommon);
    changes += run.pass(kFoldConstants);
    changes += run.pass(kMoveInvariants);
    changes += run.pass(kCanonicalise);
    changes += run.pass(kSimplifyAlgebra);
    changes += run.pass(kCleanCasts);
    changes += run.pass(kCleanViews);
    if (changes == 0 || run.spent() > budget.milliseconds) break;
  }
  run.pass(kFusePointwise);
  run.pass(kReadInPieces);
  run.pass(kJoinSiblings);
  run.pass(kEliminateDead);
  verify_rewritten(graph);
  return run.take();
}

int run_pass(std::string_view name, Graph& graph, Histories histories) {
  for (const Pass& p : kAll) {
    if (p.name != name) continue;
    Rewrites rewrites;
    if (histories == Histories::kept) rewrites.keep_histories();
    return p.run(graph, rewrites);
  }
  throw NameError({.op = std::string(name), .problem = "there is no pass of this name"});
}

std::vector<std::string_view> pass_names() {
  std::vector<std::string_view> out;
  for (const Pass& p : kAll) out.push_back(p.name);
  return out;
}

std::vector<std::string_view> rewrite_names() {
  std::vector<std::string_view> out = pass_names();
  out.push_back("all");  // not an op: every rule
  out.push_back(UserRules::kPass);
  for (absl::Span<const Rule> rules :
       {algebra_rules(), cast_rules(), view_rules(), batch_norm_rules()})
    for (const Rule& r : rules) out.push_back(r.name);
  return out;
}

std::string Report::print(Detail detail) const {
  std::string out;
  for (const PassReport& p : passes) {
    if (detail == Detail::brief && p.changes == 0) continue;
    std::string what = p.changes == 0 ? "(unchanged)" : absl::StrCat(p.changes, " changes");
    for (const auto& [rule, count] : p.fired) absl::StrAppend(&what, ", ", rule, " ", count);
    absl::StrAppend(
        &out, absl::StrFormat("%-16s %4d -> %4d nodes  ", p.name, p.nodes_before, p.nodes_after));
    if (detail == Detail::verbose)
      absl::StrAppend(&out, absl::StrFormat("%7.3f ms  ", p.milliseconds));
    absl::StrAppend(&out, what, "\n");
    if (detail == Detail::verbose)
      for (const std::string& note : p.notes) absl::StrAppend(&out, "      ", note, "\n");
  }
  return out;
}

}  // namespace lathe::ir
