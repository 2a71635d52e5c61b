// Panels: a product, what is made of its rows, and a product of that, as attention is. One after
// the other they would write and read all of what lies in between, which is rows * columns where
// operands and result are narrow. Here a few rows go through all three while they are near, and
// what lies in between is never there as a whole.
//
// What a mask hides from all rows of a panel is not computed at all: columns that the first
// product's epilogue replaces by a number, and then, where what was made of them is zero, terms of
// the second product. Zeros times finite numbers change no sum, but for one of -0: where such a
// result comes out, all terms are summed.
//
// Rows are computed as before, so bits do not change: that holds for entries whose bits do not
// depend on how many rows there are (Bits::defined). Where the table chooses another, or there is
// little in between, the steps run one after the other.
#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <optional>

#include "core/dispatch/fn.h"
#include "graph/ir/arguments.h"
#include "include/lathe/ops/nn.h"
#include "jit/plan/plan.h"

namespace lathe::jit {
namespace {

using ir::Value;

/// A batched product of matrices that runs without dispatch.
bool is_product(const Step& s) {
  return s.kind == Step::Kind::op && !s.dynamic && s.symbols.empty() && s.operands.size() == 2 &&
         s.node->op() == nn_ops<Tensor>::mm.op() && s.types.size() == 1 &&
         s.types[0].shape.size() >= 2;
}

class Joining {
 public:
  Joining(std::vector<Step>& steps, const PlanScope& scope)
      : steps_(steps), graph_(scope.graph), rewrites_(scope.rewrites) {}

  void run() {
    for (size_t i = 0; i < steps_.size(); ++i) {
      if (is_product(steps_[i])) join(i);
      note(i);
    }
    std::erase_if(steps_, [](const Step& s) { return s.node == nullptr; });
  }

 private:
  void note(size_t i) {
    const Step& s = steps_[i];
    const Step& gives = s.epilogue ? *s.epilogue : s;
    if (gives.out.size() == 1 && (s.rows || is_product(s))) made_by_[result(gives, 0)] = i;
  }

  std::optional<size_t> maker(const Value* v) const {
    auto it = made_by_.find(v);
    return it == made_by_.end() || steps_[it->second].node == nullptr ? std::nullopt
                                                                      : std::optional(it->second);
  }

  void join(size_t last) {
    const Value* operand = steps_[last].node->in(0);
    const std::optional<size_t> rows = maker(operand);
    if (!rows || !steps_[*rows].rows || operand->uses().size() != 1) return;
    const std::optional<size_t> first = product_before(steps_[*rows], operand);
    if (!first || !may_move(*first, *rows, last) || !rewrites_.allow("join_panels")) return;
    auto panels = std::make_unique<Panels>();
    panels->product = std::move(steps_[*first]);
    panels->rows = std::move(steps_[*rows]);
    steps_[*first].node = steps_[*rows].node = nullptr;
    steps_[last].panels = std::move(panels);
  }

  /// The product whose results the group reads row by row, and nobody else.
  std::optional<size_t> product_before(const Step& s, const Value* made) const {
    const RowKernel& kernel = s.rows->kernel;
    const std::vector<const ir::Node*>& members = s.rows->members;
    const Shape& shape = made->tensor().shape;
    if (!kernel.rows_are_apart() || kernel.outputs().size() != 1 || s.dynamic ||
        !s.symbols.empty() || shape.size() < 2)
      return {};
    Int rows = 1;
    for (size_t axis = 0; axis + 1 < shape.size(); ++axis) rows = rows * shape[axis];
    if (!identical(rows, rows_of(*s.rows))) return {};
    for (const Value* v : kernel.inputs()) {
      const std::optional<size_t> by = maker(v);
      if (!by || !is_product(steps_[*by]) || steps_[*by].panels ||
          !identical(v->tensor().shape, shape))
        continue;
      const bool alone = std::all_of(v->uses().begin(), v->uses().end(), [&](const ir::Use& u) {
        return std::find(members.begin(), members.end(), u.node) != members.end();
      });
      if (alone) return by;
    }
    return {};
  }

  /// The steps in between do nothing that can be told from outside.
  bool may_move(size_t first, size_t rows, size_t last) const {
    for (size_t i = first; i < last; ++i) {
      if (steps_[i].node == nullptr) continue;
      bool pure = steps_[i].kind != Step::Kind::structure || i > rows;
      each_node(steps_[i], [&](const ir::Node& n) {
        pure = pure && ir::effects(n, graph_) == ir::Effects::pure;
      });
      if (!pure) return false;
    }
    return true;
  }

  std::vector<Step>& steps_;
  const ir::Graph& graph_;
  ir::Rewrites& rewrites_;
  absl::flat_hash_map<const Value*, size_t> made_by_;
};

}  // namespace

void join_panels(std::vector<Step>& steps, const PlanScope& scope) { Joining(steps, scope).run(); }

}  // namespace lathe::jit
