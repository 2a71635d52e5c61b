// What a step with panels does for given sizes: how many rows a panel has, how its products run,
// and whether it pays at all (plan/join_panels.cpp says what panels are).
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
