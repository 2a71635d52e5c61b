#include "core/expr/expansions.h"

#include <absl/container/btree_set.h>
#include <absl/container/flat_hash_map.h>
#include <absl/strings/str_cat.h>

#include "core/base/fork.h"
#include "core/expr/expr_internal.h"

namespace lathe {
namespace {

using Kind = std::pair<Prim, DType>;

/// Made once: an expansion has some fifty nodes.
uint64_t expansion_hash(Kind kind) {
  static auto& mutex = *new ForkSafeMutex;
  static auto& known = *new absl::flat_hash_map<Kind, uint64_t>;
  const std::lock_guard<ForkSafeMutex> lock(mutex);
  auto [at, fresh] = known.try_emplace(kind);
  if (fresh) {
    const std::vector<DType> types(info(kind.first).arity, kind.second);
    const auto body = [&](absl::Span<const Expr> in) {
      return Exprs{expr_detail::expand(kind.first, in)};
    };
    at->second = build(body, types).hash();
  }
  return at->second;
}

}  // namespace

std::string expansions(absl::Span<const ScalarFunction* const> functions) {
  absl::btree_set<Kind> kinds;
  for (const ScalarFunction* f : functions)
    for (const ExprNode& node : f->graph.nodes())
      if (info(node.prim).transcendental) kinds.emplace(node.prim, node.dtype);
  std::string text;
  for (const Kind& kind : kinds)
    absl::StrAppend(&text, info(kind.first).name, ":", info(kind.second).short_name, " ",
                    absl::Hex(expansion_hash(kind)), "\n");
  return text;
}

}  // namespace lathe
