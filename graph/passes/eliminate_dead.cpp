#include <absl/container/flat_hash_set.h>

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
    for (const Arg& a : n->attrs().view()) {
      if (a.tag == Tag::integer) look(a.integer());
      if (a.tag != Tag::list) continue;
      for (size_t i = 0; i < a.list_->size; ++i)
        if (a.list_->data[i].tag == Tag::integer) look(a.list_->data[i].integer());
    }
    for (const Value* v : n->out()) for_each_int(v->type(), look);
    for (const Block* b : n->blocks())
      for (const Value* v : b->parameters()) for_each_int(v->type(), look);
  });
  return mentioned;
}

using Nodes = absl::flat_hash_set<const Node*>;

int sweep(Graph& graph, Block& block, const Nodes& saying, Rewrites& rewrites) {
  int erased = 0;
  std::vector<Node*> nodes = block.nodes();
  for (size_t i = nodes.size(); i-- > 0;) {
    Node* n = nodes[i];
    for (Block* inner : n->blocks()) erased += sweep(graph, *inner, saying, rewrites);
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
