#include <absl/container/flat_hash_set.h>

#include "graph/ir/arguments.h"
#include "graph/passes/carried.h"
#include "graph/passes/dead_results.h"
#include "graph/passes/passes.h"

namespace lathe::ir {
namespace {

/// Is a symbol that this node says mentioned anywhere else?
bool is_mentioned(const Graph& graph, const Node& node) {
  absl::flat_hash_set<uint32_t> said;
  auto sources = graph.sources();
  for (uint32_t k = 0; k < sources.size(); ++k)
    if (sources[k].value != nullptr && sources[k].value->node() == &node) said.insert(k);
  bool mentioned = false;
  auto look = [&](Int e) {
    for (uint32_t k : symbols_of(e)) mentioned |= said.contains(k);
  };
  for_each_node(graph.body(), [&](Node* n) {
    if (n == &node) return;
    for_each_int(n->attrs(), look);
    for (const Value* v : n->out()) for_each_int(v->type(), look);
    for (const Block* b : n->blocks())
      for (const Value* v : b->parameters()) for_each_int(v->type(), look);
  });
  return mentioned;
}

using Nodes = absl::flat_hash_set<const Node*>;

/// A branch or a loop no longer computes what nothing needs. Of a loop it is carried as it is until
/// drop_carried(): what reads it in a round has to go before.
std::vector<size_t> forget_results(Graph& graph, Node* n, const Nodes& saying, Rewrites& rewrites) {
  std::vector<size_t> forgotten;
  if (n->blocks().empty()) return forgotten;
  const std::vector<bool> dead = dead_results(*n, graph, saying);
  for (size_t k = dead.size(); k-- > 0;) {
    if (!dead[k] || !rewrites.allow("eliminate_dead")) continue;
    forgotten.push_back(k);
    if (n->is(Structure::if_))
      graph.erase_result(n, k);
    else
      graph.set_input(n->blocks().back()->end(), k, carried_parameter(*n, k));
  }
  return forgotten;
}

void drop_carried(Graph& graph, Node* n, const std::vector<size_t>& forgotten) {
  if (n->is(Structure::if_)) return;
  for (size_t k : forgotten) {
    const Value* parameter = carried_parameter(*n, k);
    if (parameter->uses().size() == 1) graph.erase_result(n, k);
  }
}

int sweep(Graph& graph, Block& block, const Nodes& saying, Rewrites& rewrites) {
  int erased = 0;
  std::vector<Node*> nodes = block.nodes();
  for (size_t i = nodes.size(); i-- > 0;) {
    Node* n = nodes[i];
    const std::vector<size_t> forgotten = forget_results(graph, n, saying, rewrites);
    for (Block* inner : n->blocks()) erased += sweep(graph, *inner, saying, rewrites);
    drop_carried(graph, n, forgotten);
    erased += static_cast<int>(forgotten.size());
    bool used = false;
    for (const Value* v : n->out()) used |= v->used();
    if (used || effects(*n, graph) != Effects::pure) continue;
    if (saying.contains(n) && is_mentioned(graph, *n)) continue;
    if (!rewrites.allow("eliminate_dead")) continue;
    graph.erase(n);
    ++erased;
  }
  return erased;
}

/// A fact about a loop variable goes with its loop.
void drop_facts_without_source(Graph& graph) {
  auto sources = graph.sources();
  auto sourced = [&](Int e) {
    for (uint32_t k : symbols_of(e))
      if (k >= sources.size() || sources[k].value == nullptr) return false;
    return true;
  };
  for (auto* facts : {&graph.assumptions(), &graph.checks()})
    std::erase_if(*facts, [&](const SymFact& f) { return !sourced(f.a) || !sourced(f.b); });
}

}  // namespace

int eliminate_dead(Graph& graph, Rewrites& rewrites) {
  int erased = sweep(graph, graph.body(), symbol_nodes(graph), rewrites);
  for (const auto& f : graph.functions())
    erased += sweep(*f, f->body(), symbol_nodes(*f), rewrites);
  if (erased == 0) return 0;
  graph.drop_unused_constants();
  drop_facts_without_source(graph);
  for (const auto& f : graph.functions()) drop_facts_without_source(*f);
  return erased;
}

}  // namespace lathe::ir
