// A loop over rows that reads an operand by columns fetches a line of memory for each element. Past
// what the first-level cache holds it is much faster to turn the operand first, which the code that
// copies tensors does in blocks.
#include <absl/container/flat_hash_map.h>

#include "core/dispatch/fn.h"
#include "graph/passes/passes.h"
#include "include/lathe/ops/math.h"
#include "include/lathe/ops/shape.h"

namespace lathe::ir {
namespace {

constexpr int64_t kFewElements = 4096;

/// Is it what lies row by row in another order, the last axis among those that moved? Not where
/// its few elements are known to be few.
bool is_turned(const Value* v) {
  const Node* n = v->node();
  if (n == nullptr || n->op() != shape_ops<Tensor>::permute.op()) return false;
  const Shape& shape = v->tensor().shape;
  const ArgList& axes = *n->literal(1).list_;
  const int rank = static_cast<int>(shape.size());
  const Int elements = numel(shape);
  if (rank < 2 || (elements.known() && elements.value() < kFewElements)) return false;
  const int64_t last = axes.data[axes.size - 1].integer().value();
  return normalise_axis(n->op()->name(), last, rank) != rank - 1;
}

/// Does it go through its operands along the last axis, and more than copy them?
bool computes(const Node& n) {
  if (n.is(Structure::group)) return true;
  return pointwise(n) && n.op()->kind == Kind::elementwise &&
         n.op() != math_ops<Tensor>::clone.op();
}

class Copies {
 public:
  Copies(Graph& graph, Rewrites& rewrites) : graph_(graph), rewrites_(rewrites) {}

  void block(const Block& b) {
    for (Node* n : b.nodes()) {
      if (computes(*n)) {
        for (size_t i = 0; i < n->in().size(); ++i) operand(n, i);
      } else if (!n->is(Structure::group)) {
        for (const Block* inner : n->blocks()) block(*inner);
      }
    }
  }
  int made() const { return static_cast<int>(copies_.size()); }

 private:
  void operand(Node* n, size_t i) {
    Value* v = n->in(i);
    if (v->type().tensor() == nullptr || !is_turned(v)) return;
    auto found = copies_.find(v);
    if (found == copies_.end()) {
      if (!rewrites_.allow("copy_turned")) return;
      const Node* made = v->node();
      InsertAt behind(graph_, made->next());  // there is one: n, or what it is inside of
      Operands operands;
      operands.push(Operands::Item(v));
      Node* copy =
          graph_.add(*math_ops<Tensor>::clone.op(), std::move(operands), {v->type()}, made->site());
      found = copies_.emplace(v, copy->out(0)).first;
    }
    graph_.set_input(n, i, found->second);
  }

  Graph& graph_;
  Rewrites& rewrites_;
  absl::flat_hash_map<const Value*, Value*> copies_;
};

}  // namespace

int copy_turned(Graph& graph, Rewrites& rewrites) {
  Copies copies(graph, rewrites);
  copies.block(graph.body());
  int made = copies.made();
  for (const auto& f : graph.functions()) {
    Copies of_function(*f, rewrites);
    of_function.block(f->body());
    made += of_function.made();
  }
  return made;
}

}  // namespace lathe::ir
