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
  return Moved{axis, {{value, *first, *first + part.shape[k], *first}}, base};
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
  return Moved{axis, {{x, shift, size, shift}, {x, Int(0), shift, shift - size}}, nullptr};
}

}  // namespace

bool say_where(absl::Span<const Value* const> tensors, const MovedPart& part) {
  absl::flat_hash_set<uint32_t> known;
  for (const Value* v : tensors)
    if (const TensorType* type = v->type().tensor())
      for (Int size : type->shape)
        for (uint32_t k : symbols_of(size)) known.insert(k);
  for (const Int& e : {part.first, part.last, part.by})
    for (uint32_t k : symbols_of(e))
      if (!known.contains(k)) return false;
  return true;
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
  std::optional<Moved> moved;
  if (n.op() == shape_ops<Tensor>::slice.op()->put) moved = written(n, scope);
  if (n.op() == shape_ops<Tensor>::rolled.op()) moved = shifted(n);
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
