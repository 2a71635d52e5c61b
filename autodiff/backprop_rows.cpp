// Gradients of rows that rounds read: each round adds to a row of its own, and not to all rows.
//
// The `rows` of a scan are one value to the tape, so the other rows stay as they are. Of any other
// value x that rounds read as x[i], the tape adds a tensor to all of x in each round, which is +0.0
// but for the row. That can only turn a -0.0 into 0.0, and what was turned is not -0.0 again,
// whatever is added to it: so it is as well to add the zeros of all rounds once, after the loop, to
// the elements that some round has left out.
#include "autodiff/backprop.h"
#include "core/dispatch/call.h"
#include "core/dispatch/fn.h"
#include "include/lathe/ops/create.h"
#include "include/lathe/ops/math.h"
#include "include/lathe/ops/shape.h"

namespace lathe {

using namespace ir;  // NOLINT: everything here is about graphs

namespace {

using S = shape_ops<Tensor>;
using C = create_ops<Tensor>;
using M = math_ops<Tensor>;

using namespace slice_put;  // NOLINT: places of arguments

bool is_zeros(const Value* v) {
  const Node* n = v->node();
  if (n == nullptr || n->op() != C::full.op()) return false;
  const Arg& value = n->attrs()[1];
  return value.tag == Tag::integer && value.integer() == Int(0);
}

}  // namespace

/// One row along an axis, another in each round of the loop under way: what it leaves out in one
/// round no round but that one reads.
bool Backprop::is_row_of_round(const Value* v, const Node& put) const {
  if (round_.free == nullptr || &g_.insertion_block() != round_.block ||
      put.parent() != round_.block || put.op()->put_of != S::slice.op() || !is_zeros(put.in(0)) ||
      !is_floating(v->tensor().dtype) ||
      std::find(round_.free->begin(), round_.free->end(), v) == round_.free->end())
    return false;
  const ArgVec args = plain_arguments(put, tracer_);
  for (size_t i : {kAxis, kStart, kEnd, kStep})
    if (args[i].tag != Tag::integer) return false;
  const Int start = args[kStart].integer(), width = args[kEnd].integer() - start;
  for (uint32_t k : symbols_of(start))
    if (k > round_.symbol) return false;  // a number of the round's own
  const Int next =
      substitute(start, [&](uint32_t k) { return k == round_.symbol ? symbol(k) + 1 : symbol(k); });
  const Int apart = next - start;
  return args[kStep].integer() == Int(1) && width.known() && width == Int(1) && apart.known() &&
         !(apart == Int(0));
}

bool Backprop::is_scanned(const Value* v) {
  return v->node() != nullptr && v->node()->op() == S::rows.op();
}

/// What puts dy, the gradient of one row of v that a round reads, into zeros; null: it is another.
const Node* Backprop::row_put(const Value* v, const Tensor& dy) const {
  const Node* put = tracer_.value_of(dy)->node();
  if (put == nullptr || put->op() == nullptr || put->op()->put_of == nullptr) return nullptr;
  return is_scanned(v) || is_row_of_round(v, *put) ? put : nullptr;
}

/// False: this is no gradient of one row.
bool Backprop::arrive_at_row(const Value* v, Tensor& sum, const Tensor& dy) {
  const Node* put = row_put(v, dy);
  if (put == nullptr) return false;
  const bool scanned = is_scanned(v);
  const ArgVec attrs = plain_arguments(*put, tracer_);
  absl::InlinedVector<Arg, 8> args(attrs.view().begin(), attrs.view().end());
  if (!scanned) {
    const auto axis = static_cast<int>(args[kAxis].integer().value());
    rows_[v].push_back({{axis, args[kStart].integer(), args[kEnd].integer()}, round_.symbol});
  }
  args[0] = Arg(sum);
  args.erase(args.begin() + kValue);
  const Tensor before = call(*put->op()->put_of, absl::MakeConstSpan(args))[0];
  const Tensor after = M::add(before, tracer_.tensor_for(put->in(1)));
  args.insert(args.begin() + kValue, Arg(after));
  sum = call(*put->op(), absl::MakeConstSpan(args))[0];
  return true;
}

/// The zeros that the rounds of a loop have left out, of which there was one at least: +0.0, but
/// -0.0 for the row of the only round.
void Backprop::add_left_out(const Loop& loop, const Value* v) {
  auto found = rows_.find(v);
  if (found == rows_.end()) return;
  const std::vector<Row> rows = std::move(found->second);
  rows_.erase(found);
  const TensorType& type = v->tensor();
  for (const Row& row : rows) {
    const auto first = [&](Int e) {
      return substitute(e, [&](uint32_t k) { return k == row.symbol ? loop.begin() : symbol(k); });
    };
    const SliceAt at{row.at.axis, first(row.at.start), first(row.at.end)};
    say_inside(at.start, type.shape[static_cast<size_t>(at.axis)]);
    const TensorType of_row = type.with_size(at.axis, 1);
    const Tensor own = if_zero(loop.rounds - 1, empty_sum(of_row),
                               C::zeros(Ints(of_row.shape), type.dtype, type.device));
    const Tensor all = C::zeros(Ints(type.shape), type.dtype, type.device);
    Tensor& sum = sums_[v];
    sum = M::add(sum, put_slice(all, own, at));
  }
}

// ── slices ──────────────────────────────────────────────────────────────────────────────────────

/// Which slice of v this is the gradient of, if it is +0.0 elsewhere.
std::optional<SliceAt> Backprop::slice_of_zeros(const Value* v, const Tensor& dy) const {
  const Node* put = tracer_.value_of(dy)->node();
  if (put == nullptr || put->op() != S::slice.op()->put || !is_zeros(put->in(kBase)))
    return std::nullopt;
  const ArgVec args = plain_arguments(*put, tracer_);
  return slice_at(args.view(), 1, v->tensor().shape, [&](Int a, Int b) { return proven(a, b); });
}

bool Backprop::proven(Int a, Int b) const {
  return tracer_.scope().prove(Relation::le, a, b) == SymScope::Truth::yes;
}

/// False: this is not one slice more of a sum of slices.
bool Backprop::arrive_at_slice(const Value* v, Tensor& sum, const Tensor& dy) {
  auto found = slices_.find(v);
  if (found == slices_.end() || found->second.sum != tracer_.value_of(sum)) return false;
  const std::optional<SliceAt> at = slice_of_zeros(v, dy);
  if (!at) return false;
  std::optional<SliceAt> tidied;
  const auto known = [&](Int a, Int b) { return proven(a, b); };
  if (found->second.slices.add(*at, tidied, known) == SliceSum::Way::whole) return false;
  const TensorType& type = v->tensor();
  if (tidied) sum = add_to_slice(sum, C::zeros({}, type.dtype, type.device), *tidied);
  sum = add_to_slice(sum, tracer_.tensor_for(tracer_.value_of(dy)->node()->in(kValue)), *at);
  found->second.sum = tracer_.value_of(sum);
  return true;
}

/// `sum` is `before` (null: nothing) with dy added as a whole.
void Backprop::note_slices(const Value* v, const Value* before, const Tensor& sum,
                           const Tensor& dy) {
  auto found = slices_.find(v);
  if (before != nullptr && found != slices_.end() && found->second.sum == before) {
    found->second.sum = tracer_.value_of(sum);
    return;
  }
  slices_.erase(v);
  if (const std::optional<SliceAt> at = slice_of_zeros(v, dy))
    slices_.emplace(v, OfSlices{tracer_.value_of(sum), SliceSum(*at)});
}

}  // namespace lathe
