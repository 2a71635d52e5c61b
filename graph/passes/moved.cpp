#include "graph/passes/moved.h"

#include <absl/container/flat_hash_set.h>

#include <algorithm>

#include "core/dispatch/fn.h"
#include "core/dispatch/slice_at.h"
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

/// How many there are is what the value has along the axis, which is of the slice's shape.
std::optional<Moved> written(const Node& n, const SymScope& scope) {
  Value *base = n.value(slice_put::kBase), *value = n.value(slice_put::kValue);
  const Arg &dim = n.attrs()[slice_put::kAxis], &step = n.attrs()[slice_put::kStep];
  if (!has_operands(n, 2) || base == nullptr || value == nullptr || dim.tag != Tag::integer ||
      !dim.integer().known() || step.tag != Tag::integer || !step.integer().known() ||
      step.integer().value() != 1)
    return std::nullopt;
  const TensorType &whole = base->tensor(), &part = value->tensor();
  if (whole.dtype != part.dtype) return std::nullopt;
  const int axis =
      normalise_axis(n.op()->name(), dim.integer().value(), static_cast<int>(whole.shape.size()));
  const auto k = static_cast<size_t>(axis);
  const std::optional<Int> first = begin_of(n.attrs()[slice_put::kStart], whole.shape[k], scope);
  if (!first) return std::nullopt;
  return Moved{{{value, {{axis, *first, *first + part.shape[k], *first}}}}, base, {}};
}

std::optional<Moved> shown(const Node& n, const SymScope& scope) {
  Value* x = n.value(0);
  const Arg &dim = n.attrs()[1], &start = n.attrs()[2], &step = n.attrs()[4];
  if (!has_operands(n, 1) || x == nullptr || dim.tag != Tag::integer || !dim.integer().known() ||
      step.tag != Tag::integer || !step.integer().known() || step.integer().value() != 1)
    return std::nullopt;
  const Shape& whole = x->tensor().shape;
  const int axis =
      normalise_axis(n.op()->name(), dim.integer().value(), static_cast<int>(whole.size()));
  const auto k = static_cast<size_t>(axis);
  const std::optional<Int> first = begin_of(start, whole[k], scope);
  if (!first) return std::nullopt;
  return Moved{{{x, {{axis, Int(0), n.out(0)->tensor().shape[k], -*first}}}}, nullptr, {}};
}

/// Where a part of the last axes begins, by axis of these.
std::optional<Shape> begins_of(const Arg& start) {
  if (start.tag != Tag::list) return std::nullopt;
  Shape all;
  for (size_t k = 0; k < start.list_->size; ++k) {
    const Arg& first = start.list_->data[k];
    if (first.tag != Tag::integer) return std::nullopt;
    all.push_back(first.integer());
  }
  return all;
}

/// Places are inside of the tensor, or the op throws.
std::optional<Moved> written_box(const Node& n) {
  Value *base = n.value(0), *value = n.value(1);
  const std::optional<Shape> begins = begins_of(n.attrs()[2]);
  if (!has_operands(n, 2) || base == nullptr || value == nullptr || !begins ||
      base->tensor().dtype != value->tensor().dtype)
    return std::nullopt;
  const Shape& part = value->tensor().shape;
  Moved moved{{{value, {}}}, base, {}};
  const size_t lead = part.size() - begins->size();
  for (size_t k = 0; k < begins->size(); ++k) {
    Int first = (*begins)[k], last = first + part[lead + k];
    moved.parts[0].along.push_back({static_cast<int>(lead + k), first, last, first});
  }
  return moved;
}

std::optional<Moved> shown_box(const Node& n) {
  Value* x = n.value(0);
  const std::optional<Shape> begins = begins_of(n.attrs()[1]);
  if (!has_operands(n, 1) || x == nullptr || !begins) return std::nullopt;
  const Shape& part = n.out(0)->tensor().shape;
  Moved moved{{{x, {}}}, nullptr, {}};
  const size_t lead = part.size() - begins->size();
  for (size_t k = 0; k < begins->size(); ++k)
    moved.parts[0].along.push_back(
        {static_cast<int>(lead + k), Int(0), part[lead + k], -(*begins)[k]});
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
  const auto skip = [&] {
    while (next < from.size() && identical(from[next], Int(1))) ++next;
  };
  for (Int size : to) {
    const bool one = identical(size, Int(1));
    if (!one) skip();
    if (!one && (next == from.size() || !identical(from[next], size))) return std::nullopt;
    moved.axes.push_back(one ? -1 : static_cast<int>(next++));
  }
  skip();
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
  if (op == S::slice.op()->put) moved = written(n, scope);
  if (op == S::narrow_axes.op()->put) moved = written_box(n);
  if (op == S::rolled.op()) moved = shifted(n);
  if (op == S::slice.op()) moved = shown(n, scope);
  if (op == S::narrow_axes.op()) moved = shown_box(n);
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
