// The rule of each kind. In all of them the examples lie along axis 0 of what is batched, in front
// of an example's own axes; axes that arguments name are one further.
#include <absl/strings/match.h>

#include <algorithm>
#include <numeric>

#include "core/base/error.h"
#include "core/batch/rule.h"
#include "core/dispatch/fn.h"
#include "core/infer/rules.h"
#include "include/lathe/ops/math.h"
#include "include/lathe/ops/shape.h"

namespace lathe {
namespace {

using S = shape_ops<Tensor>;

// ── elementwise ─────────────────────────────────────────────────────────────────────────────────

bool run_elementwise(Rule& r, Outputs& outputs) {
  const int rank = static_cast<int>(r.types[0].shape.size());
  std::optional<DType> common;
  for (size_t i = 0; i < r.given.size(); ++i) {
    if (r.given[i].tag == Tag::list) return false;
    if (!r.batched(i)) continue;
    Tensor t = r.all(i);
    // A single element stands lower in promotion than what has axes, as it has now.
    if (r.rank(i) == 0 && !is_fixed(r.op, i)) {
      if (!common) common = element_types(r.op, r.given).common;
      if (t.dtype() != *common) t = math_ops<Tensor>::cast(t, *common);
    }
    r.give(i, Rule::padded(t, rank));
  }
  outputs = r.finish();
  return true;
}

// ── along axes ──────────────────────────────────────────────────────────────────────────────────

/// A reduction of a 0-d example is one over an axis of size 1; of all axes, one over each by name.
bool run_reduce(Rule& r, Outputs& outputs) {
  Tensor x = r.all(0);
  const int rank = r.rank(0);
  if (rank == 0) {
    r.give(0, S::unsqueeze(x, 1));
    r.give_axes(kReduceDim, {Int(1)});
    r.set(kReduceKeep, Arg(false));
    outputs = r.finish();
    return true;
  }
  const AxisMask mask = reduced_axes(r.op, r.given, rank);
  const bool one = !r.op.schema.params[kReduceDim].list;  // argmax: one axis, or all as one
  const bool keep = r.given.flag(kReduceKeep);
  if (one && r.given.none(kReduceDim)) {
    r.give(0,
           S::reshape(x, {r.size(), r.given.shape(0).empty() ? Int(1) : numel(r.given.shape(0))}));
    r.set(kReduceDim, Arg(1));
    r.set(kReduceKeep, Arg(false));
    outputs = r.finish();
    if (keep)
      for (Tensor& t : outputs) t = Rule::padded(t, rank);
    return true;
  }
  Shape axes;
  for (int i = 0; i < rank; ++i)
    if (mask[static_cast<size_t>(i)]) axes.push_back(Int(i + 1));
  r.give(0, x);
  r.give_axes(kReduceDim, axes);
  outputs = r.finish();
  return true;
}

/// Scans and sorts: of one tensor along one axis.
bool run_along(Rule& r, int axis_at, Outputs& outputs) {
  Tensor x = r.all(0);
  const int rank = r.rank(0);
  r.give(0, rank == 0 ? S::unsqueeze(x, 1) : x);
  r.set(static_cast<size_t>(axis_at), Arg(1 + r.axis(axis_at, std::max(rank, 1))));
  outputs = r.finish();
  if (rank == 0)
    for (Tensor& t : outputs) t = S::reshape(t, {r.size()});
  return true;
}

// ── views ───────────────────────────────────────────────────────────────────────────────────────

/// Is this a parameter that names axes? Their names are the schemas' own, as PyTorch's are.
bool names_axes(const Param& p) {
  return p.type == ArgType::integer && absl::StartsWith(p.name, "dim");
}

/// Axis arguments from parameter `from` on, of an example of this rank, one further.
void shift_axes(Rule& r, size_t from, int rank) {
  for (size_t i = from; i < r.given.size(); ++i) {
    if (!names_axes(r.op.schema.params[i]) || r.given[i].none()) continue;
    Shape axes;
    for (Int d : r.given.ints(static_cast<int>(i)))
      axes.push_back(Int(1 + normalise_axis(r.op.name(), d.value(), rank)));
    r.give_axes(i, axes);
  }
}

/// The arguments of a view of all examples, from parameter `from` on; `x` is one example, `seen`
/// what the view shows of it.
void give_view(Rule& r, const Op& view, size_t from, const Tensor& x, const Shape& seen) {
  const int rank = x.rank();
  if (&view == S::view.op() || &view == S::expand.op()) {
    r.give_ints(from, r.with_size(seen));
  } else if (&view == S::permute.op()) {
    shift_axes(r, from, rank);
    Shape axes{Int(0)};
    for (Int d :
         r.args()[from].tag == Tag::list ? r.args().view().ints(static_cast<int>(from)) : Shape{})
      axes.push_back(d);
    r.give_ints(from, axes);
  } else if (&view == S::squeeze.op()) {
    Shape axes;
    const bool named = !r.given.none(static_cast<int>(from));
    AxisMask mask(static_cast<size_t>(rank), true);
    if (named) mask = named_axes(r.op.name(), r.given.ints(static_cast<int>(from)), rank);
    for (int i = 0; i < rank; ++i)
      if (mask[static_cast<size_t>(i)] && x.size(i) == Int(1)) axes.push_back(Int(i + 1));
    r.give_ints(from, axes);
  } else if (&view == S::strided.op() || &view == S::strided_over.op()) {
    Shape strides{x.numel()};
    for (Int n : r.given.ints(static_cast<int>(from) + 1)) strides.push_back(n);
    r.give_ints(from, r.with_size(r.given.ints(static_cast<int>(from))));
    r.give_ints(from + 1, strides);
  } else {
    shift_axes(r, from, &view == S::unsqueeze.op() ? rank + 1 : rank);
  }
}

bool run_view(Rule& r, Outputs& outputs) {
  const Tensor example = r.given.tensor(0);
  Tensor x = r.all(0);
  const Shape& seen = r.types[0].shape;
  if (&r.op == S::expand.op()) x = Rule::padded(x, static_cast<int>(seen.size()));
  const bool of_memory = &r.op == S::strided.op() || &r.op == S::strided_over.op();
  // What is row-major for an example may have gaps between examples.
  if (of_memory && !x.geometry().is_row_major()) x = math_ops<Tensor>::clone(x);
  give_view(r, r.op, 1, example, seen);
  if (&r.op == S::squeeze.op() && r.args().view().ints(1).empty()) {
    outputs = {S::view(x, r.with_size(seen))};
    return true;
  }
  r.give(0, x);
  outputs = r.finish();
  return true;
}

bool run_put(Rule& r, Outputs& outputs) {
  Tensor x = r.all(0);
  const bool of_memory = r.op.put_of == S::strided.op();
  if (of_memory && !x.geometry().is_row_major()) x = math_ops<Tensor>::clone(x);
  give_view(r, *r.op.put_of, 2, r.given.tensor(0), r.given.shape(1));
  if (r.op.put_of == S::squeeze.op() && r.args().view().ints(2).empty()) {
    outputs = {S::view(r.all(1), r.with_size(r.types[0].shape))};
    return true;
  }
  r.give(0, x);
  r.give(1, r.all(1));
  outputs = r.finish();
  return true;
}

// ── indices ─────────────────────────────────────────────────────────────────────────────────────

/// Element by element: both operands and the index have the examples in front.
bool run_elements(Rule& r, Outputs& outputs) {
  const IndexSpec& s = r.op.index;
  if (r.rank(0) == 0) return false;
  const int axis = r.axis(s.axis, r.rank(0));
  r.give(0, r.all(0));
  r.give(static_cast<size_t>(s.index), r.all(static_cast<size_t>(s.index)));
  if (s.source >= 0 && r.given[static_cast<size_t>(s.source)].tag == Tag::tensor)
    r.give(static_cast<size_t>(s.source), r.all(static_cast<size_t>(s.source)));
  r.set(static_cast<size_t>(s.axis), Arg(axis + 1));
  outputs = r.finish();
  return true;
}

/// The definition that does element by element what this does with slices.
const Op* of_elements(const IndexSpec& s) {
  const Access access = s.access == Access::select ? Access::take : Access::put;
  for (const Op* op : all_ops())
    if (op->kind == Kind::index && op->index.access == access && op->index.fold == s.fold)
      return op;
  return nullptr;
}

/// Whole slices by an index of any rank. Where the index differs between examples, each of its
/// numbers is repeated for all elements of the slice it names.
bool run_slices(Rule& r, Outputs& outputs) {
  const IndexSpec& s = r.op.index;
  const auto index_at = static_cast<size_t>(s.index);
  const int rank = r.rank(0);
  if (rank == 0) return false;
  const int axis = r.axis(s.axis, rank);
  if (!r.batched(index_at)) {
    r.give(0, r.all(0));
    if (s.source >= 0) r.give(static_cast<size_t>(s.source), r.all(static_cast<size_t>(s.source)));
    r.set(static_cast<size_t>(s.axis), Arg(axis + 1));
    outputs = r.finish();
    return true;
  }
  if (s.access == Access::select && !r.batched(0)) {
    r.give(index_at, r.all(index_at));
    outputs = {S::movedim(r.finish()[0], {Int(axis)}, {Int(0)})};
    return true;
  }
  const Op* elements = of_elements(s);
  if (elements == nullptr) return false;
  Tensor x = r.all(0);
  const Int count = numel(r.given.shape(s.index));
  Shape row(static_cast<size_t>(rank) + 1, Int(1)), spread = x.shape();
  row[0] = r.size();
  row[static_cast<size_t>(axis) + 1] = spread[static_cast<size_t>(axis) + 1] = count;
  const Tensor index = S::expand(S::reshape(r.all(index_at), row), spread);
  absl::InlinedVector<Arg, 4> args(4);
  args.resize(elements->schema.params.size());
  args[0] = Arg(x);
  args[static_cast<size_t>(elements->index.axis)] = Arg(axis + 1);
  args[static_cast<size_t>(elements->index.index)] = Arg(index);
  Tensor source;
  if (s.source >= 0) {
    source = S::reshape(r.all(static_cast<size_t>(s.source)), spread);
    args[static_cast<size_t>(elements->index.source)] = Arg(source);
  }
  Tensor y = call_one(*elements, absl::MakeConstSpan(args));
  outputs = {s.access == Access::select ? S::reshape(y, r.with_size(r.types[0].shape)) : y};
  return true;
}

bool run_index(Rule& r, Outputs& outputs) {
  switch (r.op.index.access) {
    case Access::take:
    case Access::put:
      return run_elements(r, outputs);
    case Access::select:
    case Access::select_put:
      return run_slices(r, outputs);
    case Access::through:
      return run_put(r, outputs);
  }
  return false;
}

// ── opaque ──────────────────────────────────────────────────────────────────────────────────────

/// Definitions that say so run over any leading axes, which all operands have.
bool run_leading(Rule& r, Outputs& outputs) {
  if (!r.op.extra.leading) return false;
  shift_axes(r, 0, r.rank(0));
  for (size_t i = 0; i < r.given.size(); ++i)
    if (r.given[i].tag == Tag::tensor) r.give(i, r.all(i));
  outputs = r.finish();
  return true;
}

}  // namespace

bool run_batched(const Batch& batch, const Call& call, Outputs& outputs) {
  Rule r(batch, call);
  switch (call.op.kind) {
    case Kind::elementwise:
      return run_elementwise(r, outputs);
    case Kind::reduce:
      return run_reduce(r, outputs);
    case Kind::scan:
      return run_along(r, kScanDim, outputs);
    case Kind::sort:
      return run_along(r, call.op.sort.axis, outputs);
    case Kind::view:
      return run_view(r, outputs);
    case Kind::index:
      return run_index(r, outputs);
    case Kind::contract:
      return run_contract(r, outputs);
    case Kind::opaque:
      return run_leading(r, outputs);
    case Kind::create:
    case Kind::random:
    case Kind::composite:
      return false;
  }
  return false;
}

}  // namespace lathe
