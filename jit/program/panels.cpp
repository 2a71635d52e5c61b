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
#include "include/lathe/ops/math.h"
#include "include/lathe/ops/nn.h"
#include "jit/program/steps.h"
#include "kernels/runtime/pool.h"

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
  Joining(std::vector<Step>& steps, const ir::Graph& graph) : steps_(steps), graph_(graph) {}

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
    if (!first || !may_move(*first, *rows, last)) return;
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
  absl::flat_hash_map<const Value*, size_t> made_by_;
};

/// How a product's operands and its result lie, in numbers.
struct Lies {
  std::array<lathe::Operand, 2> in;
  Sizes out;
};

Lies lie(const Step& s, absl::Span<const int64_t> symbols) {
  const auto numbers = [&](const Shape& of) {
    Sizes out;
    for (Int i : of) out.push_back(evaluate(i, symbols).value());
    return out;
  };
  Lies all;
  for (size_t k = 0; k < 2; ++k)
    all.in[k] = {nullptr, s.node->in(static_cast<int>(k))->tensor().dtype,
                 numbers(s.operands[k].shape), numbers(s.operands[k].strides)};
  all.out = numbers(s.types[0].shape);
  return all;
}

/// The last two axes.
lathe::Operand matrix(const lathe::Operand& x) {
  const size_t lead = x.shape.size() - 2;
  return {nullptr, x.dtype, Sizes(x.shape.begin() + static_cast<ptrdiff_t>(lead), x.shape.end()),
          Sizes(x.strides.begin() + static_cast<ptrdiff_t>(lead), x.strides.end())};
}

/// The product of `rows` rows of a with b.
PreparedCall prepared_rows(const Step& s, lathe::Operand a, const lathe::Operand& b, int64_t rows,
                           absl::Span<const int64_t> symbols) {
  a.shape[0] = rows;
  const auto type = [](DType dtype, const Sizes& sizes) {
    return TensorType{dtype, Shape(sizes.begin(), sizes.end()), {}};
  };
  const DType dtype = s.types[0].dtype;
  const lathe::Operand out{nullptr, dtype, {rows, b.shape[1]}, {b.shape[1], 1}};
  const std::array<Tensor, 2> like = {ir::stand_in(type(a.dtype, a.shape)),
                                      ir::stand_in(type(b.dtype, b.shape))};
  const std::array<Arg, 2> values = {Arg(like[0]), Arg(like[1])};
  std::function<Int(Int)> change = [&](Int e) { return evaluate(e, symbols); };
  ir::Filled filled = ir::fill(s.node->attrs(), s.node->places(), values, &change);
  const Types types = {type(dtype, out.shape)};
  const std::array<lathe::Operand, 2> in = {a, b};
  return prepared_call({*s.node->op(), filled.args(), types}, in, out);
}

PanelProduct plan_product(const Step& s, const Lies& lies, const PanelPlan& plan,
                          absl::Span<const int64_t> symbols) {
  PanelProduct p;
  for (size_t k = 0; k < 2; ++k) {
    const lathe::Operand& x = lies.in[k];
    const auto item = static_cast<int64_t>(size_of(x.dtype));
    const size_t missing = lies.out.size() - x.shape.size();
    for (size_t axis = 0; axis + 2 < lies.out.size(); ++axis) {
      const bool moves = axis >= missing && x.shape[axis - missing] != 1;
      p.leading[k].push_back(moves ? x.strides[axis - missing] * item : 0);
    }
    const int64_t row = x.strides[x.shape.size() - 2] * item, column = x.strides.back() * item;
    if (k == 0)
      p.row = row;
    else
      p.right = {row, column};
  }
  const lathe::Operand a = matrix(lies.in[0]), b = matrix(lies.in[1]);
  p.whole = prepared_rows(s, a, b, plan.each, symbols);
  const int64_t left = plan.rows % plan.each;
  p.last = left == 0 ? p.whole : prepared_rows(s, a, b, left, symbols);
  return p;
}

/// Of an epilogue that ends as where(mask, what is made of the product, a number): which input the
/// mask is; -1 if there is none.
int mask_of(const Step& epilogue) {
  const ir::Node& n = *epilogue.node;
  const bool group = n.is(ir::Structure::group);
  const ir::Node* last = group ? n.block(0).yields()[0]->node() : &n;
  const bool chooses = last != nullptr && last->op() == math_ops<Tensor>::where.op() &&
                       last->in().size() == 2 && last->places()[0].param == 0 &&
                       last->places()[1].param == 1 && n.out().size() == 1;
  if (!chooses || epilogue.kernel->loops().facts.has_checks) return -1;
  const Value* mask = last->in(0);
  if (group && mask->node() != nullptr) return -1;
  return group ? static_cast<int>(mask->index()) : 0;
}

/// Bits do not depend on how many rows there are, and a right side is not made ready for each
/// panel.
bool suits(const PanelProduct& p, int64_t panels) {
  const auto defined = [](const PreparedCall& call) { return call.entry->bits == Bits::defined; };
  const Entry& entry = *p.whole.entry;
  return defined(p.whole) && defined(p.last) &&
         (panels == 1 ||
          (entry.room != nullptr && entry.room(entry, *p.whole.plan, {false, true}).kept > 0));
}

}  // namespace

void join_panels(std::vector<Step>& steps, const ir::Graph& graph) { Joining(steps, graph).run(); }

int64_t PanelProduct::offset(size_t operand, int64_t batch,
                             absl::Span<const int64_t> batches) const {
  int64_t at = 0;
  for (size_t axis = batches.size(); axis-- > 0;) {
    at += batch % batches[axis] * leading[operand][axis];
    batch /= batches[axis];
  }
  return at;
}

PanelPlan plan_panels(const Step& step, absl::Span<const int64_t> symbols) {
  constexpr int64_t kWorth = 512 << 10;  // bytes in between that are better never there
  constexpr int64_t kNear = 384 << 10;   // and how many may be at once
  constexpr int64_t kLeastRows = 16, kRounded = 12;
  const Step& product = step.panels->product;
  const Lies first = lie(product, symbols), second = lie(step, symbols);
  PanelPlan p;
  p.leading.assign(first.out.begin(), first.out.end() - 2);
  for (int64_t n : p.leading) p.batches *= n;
  p.rows = first.out[first.out.size() - 2];
  p.cols = first.out.back();
  p.width = second.out.back();
  const bool alike = first.out.size() == second.out.size() &&
                     std::equal(first.out.begin(), first.out.end() - 1, second.out.begin());
  const Step* epilogue = product.epilogue.get();
  const Step& read = epilogue != nullptr ? *epilogue : product;  // by the rows
  const auto item =
      static_cast<int64_t>(std::max({size_of(product.types[0].dtype), size_of(read.types[0].dtype),
                                     size_of(step.node->in(0)->tensor().dtype)}));
  if (!alike || p.rows < kLeastRows || p.batches * p.rows * p.cols * item < kWorth) return p;
  if (epilogue != nullptr) {
    const std::vector<int>& tensors = epilogue->kernel->tensors();
    p.in_place = true;
    p.mask = mask_of(*epilogue);
    for (size_t k = 0; k < tensors.size(); ++k)
      if (epilogue->in[static_cast<size_t>(tensors[k])] == product.out[0])
        p.in_place = p.in_place && epilogue->kernel->may_replace(k, 0);
  }
  const int64_t buffers = epilogue == nullptr || p.in_place ? 2 : 3;
  p.each = std::clamp<int64_t>(kNear / (buffers * p.cols * item), 1, p.rows);
  if (p.each > kRounded && p.each < p.rows) p.each = p.each / kRounded * kRounded;
  p.panels = (p.rows + p.each - 1) / p.each;
  p.tasks = p.batches * std::clamp<int64_t>(pool_threads() / p.batches, 1, p.panels);
  p.scratch_bytes = static_cast<size_t>(buffers * p.each * p.cols * item);
  p.first = plan_product(product, first, p, symbols);
  p.second = plan_product(step, second, p, symbols);
  p.fits = suits(p.first, p.panels) && suits(p.second, p.panels);
  return p;
}

size_t panels_room(const PanelPlan& p) {
  size_t each = size_class_bytes(p.scratch_bytes), inside = 0;
  for (const PanelProduct* product : {&p.first, &p.second})
    for (const PreparedCall* call : {&product->whole, &product->last}) {
      if (call->entry->room == nullptr) continue;
      const Room room = call->entry->room(*call->entry, *call->plan, {false, p.panels > 1});
      if (call == &product->whole) each += room.kept;
      inside = std::max(inside, room.during);
    }
  return static_cast<size_t>(std::min<int64_t>(pool_threads(), p.tasks)) * (each + inside);
}

}  // namespace lathe::jit
