#include "graph/passes/passes.h"
#include "graph/rewrite/commutative.h"

namespace lathe::ir {
namespace {

/// Values, then constants, then literals.
int order(const Node& n, int param) {
  const Value* v = n.value(param);
  if (v == nullptr) return 2;
  return v->node() != nullptr && v->node()->is(Structure::constant) ? 1 : 0;
}

}  // namespace

int canonicalise(Graph& graph, Rewrites& rewrites) {
  int changes = 0;
  absl::flat_hash_map<const Op*, bool> known;
  for_each_node(graph.body(), [&](Node* n) {
    if (!n->is(Structure::op)) return;
    auto [it, fresh] = known.try_emplace(n->op(), false);
    if (fresh) it->second = commutative(*n->op());
    if (!it->second || order(*n, 0) <= order(*n, 1) || !rewrites.allow("canonicalise")) return;
    Operands operands;
    for (int param : {1, 0}) {
      Value* v = n->value(param);
      operands.push(v != nullptr ? Operands::Item(v) : Operands::Item(n->literal(param)));
    }
    InsertAt here(graph, n);
    TypeList types{n->out(0)->type()};
    Node* by = graph.add(*n->op(), std::move(operands), std::move(types), n->site());
    graph.set_detached(by, n->detached());
    graph.replace(n, by->out());
    ++changes;
  });
  return changes;
}

}  // namespace lathe::ir
