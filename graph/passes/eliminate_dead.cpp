#include "graph/passes/passes.h"

namespace lathe::ir {
namespace {

int sweep(Graph& graph, Block& block) {
  int erased = 0;
  std::vector<Node*> nodes = block.nodes();
  for (size_t i = nodes.size(); i-- > 0;) {
    Node* n = nodes[i];
    for (Block* inner : n->blocks()) erased += sweep(graph, *inner);
    bool used = false;
    for (const Value* v : n->out()) used |= v->used();
    if (used || effects(*n, graph) != Effects::pure) continue;
    graph.erase(n);
    ++erased;
  }
  return erased;
}

}  // namespace

int eliminate_dead(Graph& graph) {
  int erased = sweep(graph, graph.body());
  if (erased > 0) graph.drop_unused_constants();
  return erased;
}

}  // namespace lathe::ir
