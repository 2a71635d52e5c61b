// Loop-invariant code motion: what each round of a loop would compute again is computed before it,
// and what a round hands on as it found it is not carried.
// Only what is pure moves, as a loop may run no round at all. What is cheap to make again stays:
// fused into its reader it costs arithmetic, where a moved value costs a load.
#include <algorithm>

#include "graph/ir/arguments.h"
#include "graph/passes/carried.h"
#include "graph/passes/passes.h"

namespace lathe::ir {
namespace {

using Nodes = absl::flat_hash_set<const Node*>;

bool is_constant(const Value* v) {
  return v->node() != nullptr && v->node()->is(Structure::constant);
}

class Mover {
 public:
  Mover(Graph& graph, Rewrites& rewrites)
      : graph_(graph),
        rewrites_(rewrites),
        scope_(graph),
        sources_(graph.sources()),
        saying_(symbol_nodes(graph)) {}

  /// Inner loops first: what leaves one may leave the loop around it, too.
  int block(Block& block) {
    int moved = 0;
    for (Node* n : block.nodes()) {
      for (Block* inner : n->blocks()) moved += this->block(*inner);
      if (!is_loop(*n)) continue;
      moved += take_out_unchanged(n);
      for (Block* inner : n->blocks())
        for (Node* candidate : inner->nodes()) moved += move(candidate, n);
    }
    return moved;
  }

 private:
  /// What each round hands on as it found it is what the loop begins with, if the loop ends: one
  /// that may not is kept by another result that is used.
  int take_out_unchanged(Node* loop) {
    int changes = 0;
    for (size_t k = loop->out().size(); k-- > 0;) {
      Value *start = carried_start(*loop, k), *inside = carried_parameter(*loop, k);
      const auto other = [&](const Value* v) { return v->used() && v != loop->out(k); };
      const bool stays =
          loop->is(Structure::for_) || std::any_of(loop->out().begin(), loop->out().end(), other);
      const bool unchanged =
          carried_next(*loop, k) == inside && same(start, inside) && same(start, loop->out(k));
      if (!unchanged || !stays || !rewrites_.allow("move_invariants")) continue;
      graph_.replace(inside, start);
      graph_.replace(loop->out(k), start);
      graph_.erase_result(loop, k);
      ++changes;
    }
    return changes;
  }

  /// The type by what the graph states about sizes: inputs keep names of their own.
  Type simple(const Value* v) {
    return map_ints(v->type(), [&](Int e) { return scope_->simplify(e); });
  }
  bool same(const Value* a, const Value* b) { return same_type(simple(a), simple(b)); }

  /// Would its reader load no more if it read the result in place of what that is made of?
  bool worth_a_load(const Node& n) {
    if (!pointwise(n)) return true;
    const Type made = simple(n.out(0));
    return std::any_of(n.in().begin(), n.in().end(), [&](const Value* v) {
      const Type read = simple(v);
      return read.tensor() != nullptr && identical(read.tensor()->shape, made.tensor()->shape);
    });
  }

  int move(Node* n, Node* loop) {
    const bool may = n->is(Structure::op) && !saying_.contains(n) &&
                     effects(*n, graph_) == Effects::pure && worth_a_load(*n) &&
                     means_the_same(*n, *loop->parent());
    if (!may || !rewrites_.allow("move_invariants")) return 0;
    for (const Value* v : n->in())
      if (is_constant(v) && !visible_from(v, *loop->parent())) graph_.move_before(v->node(), loop);
    graph_.move_before(n, loop);
    return 1;
  }

  /// Is all that it reads, and all that its sizes and literals mention, known in `outside`?
  bool means_the_same(const Node& n, const Block& outside) const {
    bool known = symbols_known(n, outside);
    for (const Value* v : n.in())
      known = known &&
              (visible_from(v, outside) || (is_constant(v) && symbols_known(*v->node(), outside)));
    return known;
  }

  bool symbols_known(const Node& n, const Block& outside) const {
    bool known = true;
    const auto ask = [&](Int e) {
      for (uint32_t k : symbols_of(e))
        known = known && k < sources_.size() && sources_[k].value != nullptr &&
                visible_from(sources_[k].value, outside);
    };
    for (const Value* v : n.out()) for_each_int(v->type(), ask);
    for_each_int(n.attrs(), ask);
    return known;
  }

  Graph& graph_;
  Rewrites& rewrites_;
  GraphScope scope_;
  std::vector<SymbolSource> sources_;
  Nodes saying_;
};

}  // namespace

int move_invariants(Graph& graph, Rewrites& rewrites) {
  // The cotangents of what is made once would be summed before its derivative, not behind it.
  if (rewrites.keeps_histories()) return 0;
  int moved = Mover(graph, rewrites).block(graph.body());
  for (const auto& f : graph.functions()) moved += Mover(*f, rewrites).block(f->body());
  return moved;
}

}  // namespace lathe::ir
