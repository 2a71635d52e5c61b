#include "graph/ir/arguments.h"
#include "graph/passes/passes.h"

namespace lathe::ir {
namespace {

bool would_change(const Node& n, const std::function<Int(Int)>& change) {
  bool any = false;
  auto look = [&](Int e) { any |= !identical(change(e), e); };
  for (const Arg& a : n.attrs().view()) {
    if (a.tag == Tag::integer) look(a.integer());
    if (a.tag != Tag::list) continue;
    for (size_t i = 0; i < a.list_->size; ++i)
      if (a.list_->data[i].tag == Tag::integer) look(a.list_->data[i].integer());
  }
  for (const Value* v : n.out()) for_each_int(v->type(), look);
  for (const Block* b : n.blocks()) {
    for (const Value* p : b->parameters()) for_each_int(p->type(), look);
    for (Node* inner = b->first(); inner != nullptr; inner = inner->next())
      any = any || would_change(*inner, change);
  }
  return any;
}

/// The sizes of the results as inference writes them, from the operands and arguments as they are
/// now, and then changed: whoever reads the graph compares with that, and not of all forms can be
/// told that they are equal. Sizes that inference makes up stay, and where it had to guess, which
/// holds for the sizes of the first call alone, all do.
void state_as_inferred(Graph& graph, Node* n, const SymScope& scope,
                       const std::function<Int(Int)>& change) {
  if (n->op() == nullptr) return;
  const int64_t guesses = scope.guesses();
  const TypeList types = infer(*n);
  if (scope.guesses() != guesses) return;
  for (size_t i = 0; i < types.size(); ++i) {
    bool made_up = false;
    for_each_int(types[i], [&](Int e) {
      for (uint32_t k : symbols_of(e)) made_up |= k >= graph.symbols().size();
    });
    if (types[i].tensor() != nullptr && !made_up)
      graph.set_type(n->out(i), map_ints(types[i], change));
  }
}

}  // namespace

int unify_sizes(Graph& graph, Rewrites& rewrites) {
  if (graph.checks().empty() && graph.assumptions().empty()) return 0;
  GraphScope scope(graph);
  auto sources = graph.sources();
  // Sizes of inputs are known everywhere; a symbol that something inside says is left alone.
  auto from_inputs = [&](Int e) { return graph.inputs_say(e, sources); };
  absl::flat_hash_map<uint64_t, Int> known;
  std::function<Int(Int)> change = [&](Int e) {
    if (e.known()) return e;
    auto [it, fresh] = known.try_emplace(e.word(), e);
    if (fresh && from_inputs(e)) {
      Int simple = scope->simplify(e);
      if (from_inputs(simple)) it->second = simple;
    }
    return it->second;
  };
  // The types of inputs stay: they are where symbols come from.
  int changes = 0;
  for (Node* n : graph.body().nodes()) {
    if (!would_change(*n, change) || !rewrites.allow("unify_sizes")) continue;
    map_ints(graph, n, change);
    ++changes;
  }
  scope->close();
  if (changes > 0)
    for (Node* n : graph.body().nodes()) state_as_inferred(graph, n, *scope, change);
  return changes;
}

}  // namespace lathe::ir
