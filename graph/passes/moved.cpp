#include "graph/passes/moved.h"

#include <absl/container/flat_hash_set.h>

#include <algorithm>

#include "core/dispatch/fn.h"
#include "core/infer/rules.h"
#include "graph/passes/passes.h"
#include "include/lathe/ops/shape.h"

namespace lathe::ir {
namespace {

bool proves(const SymScope& scope, Relation relation, Int a, Int b) {
  return scope.prove(relation, a, b) == SymScope::Truth::yes;
}

/// Are all but so many of the node's arguments literals?
bool has_operands(const Node& n, size_t count) { return n.places().size() == count; }

constexpr int64_t kFarthest = int64_t{1} << 32;  // places that are computed with

/// Where a slice of an axis begins, if it has an element.
std::optional<Int> begin_of(const Arg& start, Int size, const SymScope& scope) {
  if (start.none()) return Int(0);
  if (start.tag != Tag::integer) return std::nullopt;
  const Int first = start.integer();
  if (first.known() && first.value() < 0) return max(size + first, Int(0));
  if (first.known() && size.known()) return min(first, size);
  if (first.known() && first.value() > kFarthest) return std::nullopt;
  if (!first.known() && !proves(scope, Relation::le, 0, first)) return std::nullopt;
  return first;
}

/// Where a part begins along axes of what it is of; along others it is all of that.
using Begins = absl::InlinedVector<std::pair<int, Int>, 2>;

/// Of a call of `slice`, or of `slice_put` with its arguments one further on; nothing where it goes
/// in steps.
std::optional<Begins> begins_of_slice(const Node& n, size_t skipped, const SymScope& scope) {
  const Arg &dim = n.attrs()[1 + skipped], &start = n.attrs()[2 + skipped],
            &step = n.attrs()[4 + skipped];
  const Value* whole = n.value(0);
  if (whole == nullptr || dim.tag != Tag::integer || !dim.integer().known() ||
      step.tag != Tag::integer || !step.integer().known() || step.integer().value() != 1)
    return std::nullopt;
  const Shape& shape = whole->tensor().shape;
  const int axis =
      normalise_axis(n.op()->name(), dim.integer().value(), static_cast<int>(shape.size()));
  const std::optional<Int> first = begin_of(start, shape[static_cast<size_t>(axis)], scope);
  return first ? std::optional(Begins{{axis, *first}}) : std::nullopt;
}

/// The same of `narrow_axes`, whose places are inside of the tensor, or it throws.
std::optional<Begins> begins_of_box(const Node& n, size_t skipped) {
  const Arg& start = n.attrs()[1 + skipped];
  const Value* whole = n.value(0);
  if (whole == nullptr || start.tag != Tag::list) return std::nullopt;
  Begins begins;
  const size_t lead = whole->tensor().shape.size() - start.list_->size;
  for (size_t k = 0; k < start.list_->size; ++k) {
    const Arg& first = start.list_->data[k];
    if (first.tag != Tag::integer) return std::nullopt;
    begins.emplace_back(static_cast<int>(lead + k), first.integer());
  }
  return begins;
}

/// How many there are along an axis is what the value has, which is of the part's shape.
std::optional<Moved> written(const Node& n, const std::optional<Begins>& begins) {
  Value *base = n.value(0), *value = n.value(1);
  if (!has_operands(n, 2) || value == nullptr || !begins ||
      base->tensor().dtype != value->tensor().dtype)
    return std::nullopt;
  Moved moved{{{value, {}}}, base, {}};
  for (const auto& [axis, first] : *begins) {
    const Int last = first + value->tensor().shape[static_cast<size_t>(axis)];
    moved.parts[0].along.push_back({axis, first, last, first});
  }
  return moved;
}

std::optional<Moved> shown(const Node& n, const std::optional<Begins>& begins) {
  if (!has_operands(n, 1) || !begins) return std::nullopt;
  Moved moved{{{n.value(0), {}}}, nullptr, {}};
  for (const auto& [axis, first] : *begins)
    moved.parts[0].along.push_back(
        {axis, Int(0), n.out(0)->tensor().shape[static_cast<size_t>(axis)], -first});
  return moved;
}

/// The same elements in the same order, with other axes of one position; not where the last axis
/// is one of these.
std::optional<Moved> renumbered(const Node& n) {
  Value* x = n.value(0);
  if (!has_operands(n, 1) || x == nullptr) return std::nullopt;
  const Shape &from = x->tensor().shape, &to = n.out(0)->tensor().shape;
  Moved moved{{{x, {}}}, nullptr, {}};
  size_t next = 0;
  const auto pass_ones = [&] {
    while (next < from.size() && identical(from[next], Int(1))) ++next;
  };
  for (Int size : to) {
    const bool one = identical(size, Int(1));
    if (!one) pass_ones();
    if (!one && (next == from.size() || !identical(from[next], size))) return std::nullopt;
    moved.axes.push_back(one ? -1 : static_cast<int>(next++));
  }
  pass_ones();
  const bool keeps_last = !to.empty() && moved.axes.back() + 1 == static_cast<int>(from.size());
  return next == from.size() && keeps_last ? std::optional(std::move(moved)) : std::nullopt;
}

std::optional<Moved> shifted(const Node& n) {
  Value* x = n.value(0);
  const Arg &by = n.attrs()[1], &dim = n.attrs()[2];
  if (!has_operands(n, 1) || x == nullptr || by.tag != Tag::integer || dim.tag != Tag::integer ||
      !by.integer().known() || !dim.integer().known())
    return std::nullopt;
  const Shape& shape = x->tensor().shape;
  const int axis =
      normalise_axis(n.op()->name(), dim.integer().value(), static_cast<int>(shape.size()));
  const Int size = shape[static_cast<size_t>(axis)];
  const Int shift = mod(by.integer(), max(size, Int(1)));
  return Moved{
      {{x, {{axis, shift, size, shift}}}, {x, {{axis, Int(0), shift, shift - size}}}}, nullptr, {}};
}

}  // namespace

bool say_where(absl::Span<const Value* const> tensors, const MovedPart& part) {
  absl::flat_hash_set<uint32_t> known;
  for (const Value* v : tensors)
    if (const TensorType* type = v->type().tensor())
      for (Int size : type->shape)
        for (uint32_t k : symbols_of(size)) known.insert(k);
  return std::all_of(part.along.begin(), part.along.end(), [&](const Along& a) {
    for (const Int& e : {a.first, a.last, a.by})
      for (uint32_t k : symbols_of(e))
        if (!known.contains(k)) return false;
    return true;
  });
}

namespace {

/// A kernel knows no other numbers than sizes of what it reads and makes: the round of a loop is
/// none of them, and what is one value is not read.
bool sizes_say(const Node& n, const Moved& moved) {
  std::vector<const Value*> tensors(n.out().begin(), n.out().end());
  for (const Value* v : n.in())
    if (v->node() == nullptr || !is_filled(*v->node())) tensors.push_back(v);
  return std::all_of(moved.parts.begin(), moved.parts.end(),
                     [&](const MovedPart& p) { return say_where(tensors, p); });
}

}  // namespace

std::optional<Moved> moved_by(const Node& n, const SymScope& scope) {
  if (!n.is(Structure::op) || n.out().size() != 1) return std::nullopt;
  const TensorType* type = n.out(0)->type().tensor();
  if (type == nullptr || is_complex(type->dtype)) return std::nullopt;
  using S = shape_ops<Tensor>;
  const Op* op = n.op();
  std::optional<Moved> moved;
  if (op == S::slice.op()->put) moved = written(n, begins_of_slice(n, 1, scope));
  if (op == S::narrow_axes.op()->put) moved = written(n, begins_of_box(n, 1));
  if (op == S::rolled.op()) moved = shifted(n);
  if (op == S::slice.op()) moved = shown(n, begins_of_slice(n, 0, scope));
  if (op == S::narrow_axes.op()) moved = shown(n, begins_of_box(n, 0));
  if (op == S::squeeze.op() || op == S::unsqueeze.op() || op == S::view.op()) moved = renumbered(n);
  return moved && sizes_say(n, *moved) ? moved : std::nullopt;
}

bool is_filled(const Node& n) {
  if (!n.is(Structure::op) || n.op()->kind != Kind::create || !n.in().empty() || !pointwise(n))
    return false;
  const auto is_literal = [&](int param) {
    const Arg& a = n.literal(param);
    return a.tag != Tag::integer || a.integer().known();
  };
  const auto params = body_params(*n.op());
  return std::all_of(params.begin(), params.end(), is_literal);
}

}  // namespace lathe::ir
