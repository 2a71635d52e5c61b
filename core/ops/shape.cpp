// Views: a geometry rule each; `<name>_put` and the gradient follow. And the composites made of
// them.
#include <absl/strings/str_cat.h>

#include <algorithm>

#include "core/infer/rules.h"
#include "core/ops/families.h"
#include "core/ops/names.h"
#include "core/ops/plain_views.h"

namespace lathe {
namespace {

using namespace names;

/// Python's slice bounds: None, negatives from the end, clipped to [0, size].
Int slice_bound(const Arg& a, Int size, Int when_none) {
  if (a.none()) return when_none;
  Int v = a.integer();
  if (v < Int(0)) v = v + size;
  return max(min(v, size), Int(0));
}

Geometry slice_geometry(const Geometry& x, Args a) {
  int axis = size_axis("slice", a.integer(1).value(), x.rank());
  Int size = x.shape[static_cast<size_t>(axis)], step = a.integer(4);
  if (!require(Relation::le, Int(1), step))
    throw ValueError({.op = "slice",
                      .problem = "the step must be at least 1",
                      .got = to_string(step),
                      .next = "use flip() to walk backwards"});
  Int start = slice_bound(a[2], size, Int(0)), end = slice_bound(a[3], size, size);
  Int length = identical(start, Int(0)) && identical(end, size) ? size : max(end - start, Int(0));
  return x.slice(axis, start, ceil_div(length, step), step);
}

Geometry narrow_geometry(const Geometry& x, Args a) {
  const Shape start = a.ints(1), length = a.ints(2);
  bool fits = start.size() == length.size() && start.size() <= x.shape.size();
  Geometry g = x;
  for (size_t k = 0; fits && k < start.size(); ++k) {
    const size_t axis = x.shape.size() - start.size() + k;
    fits = require(Relation::le, Int(0), start[k]) && require(Relation::le, Int(0), length[k]) &&
           require(Relation::le, start[k] + length[k], x.shape[axis]);
    g = g.slice(static_cast<int>(axis), start[k], length[k], Int(1));
  }
  if (!fits)
    throw ShapeError({.op = "narrow_axes",
                      .problem = "the part reaches out of the tensor",
                      .got = absl::StrCat(to_string(length), " from ", to_string(start), " of ",
                                          to_string(x.shape)),
                      .expected = "a place and a length inside of each of the last axes",
                      .next = "take the sizes from shape"});
  return g;
}

Geometry view_geometry(const Geometry& x, Args a) {
  Geometry out;
  Shape shape = resolve_shape("view", a.ints(1), numel(x.shape));
  if (!x.reshape(shape, out))
    throw ShapeError({.op = "view",
                      .problem = "the elements do not lie in an order that this shape can name",
                      .got = absl::StrCat("shape ", to_string(x.shape), ", strides ",
                                          to_string(x.strides), " viewed as ", to_string(shape)),
                      .expected = "axes that merge or split without moving elements",
                      .next = "use reshape(), which copies where it must"});
  return out;
}

Geometry expand_geometry(const Geometry& x, Args a) {
  Shape want = a.ints(1);
  size_t lead = want.size() - std::min(want.size(), x.shape.size());
  bool ok = want.size() >= x.shape.size();
  for (size_t i = 0; ok && i < x.shape.size(); ++i) {
    Int have = x.shape[i];
    Int& to = want[lead + i];
    if (identical(to, Int(-1))) to = have;
    ok = identical(have, to) || have == Int(1) || require(Relation::eq, have, to);
  }
  for (Int size : want)
    if (size.known() && size.value() < 0)
      throw ShapeError({.op = "expand",
                        .problem = "a size cannot be negative",
                        .got = to_string(a.ints(1)),
                        .expected = "sizes from 0, or -1 for one that the tensor has",
                        .next = "give the sizes of new axes"});
  if (!ok)
    throw ShapeError({.op = "expand",
                      .problem = "only axes of size 1 can be expanded",
                      .got = absl::StrCat(to_string(x.shape), " to ", to_string(a.ints(1))),
                      .expected = "equal sizes, or 1 where they differ, counted from the last axis",
                      .next = "repeat or index the tensor instead"});
  return x.expand(want);
}

Geometry permute_geometry(const Geometry& x, Args a) {
  absl::InlinedVector<int, 6> order;
  absl::InlinedVector<bool, 6> seen(x.shape.size(), false);
  Shape dims = a.ints(1);
  for (Int d : dims) {
    int axis = size_axis("permute", d.value(), x.rank());
    if (!seen.empty()) seen[static_cast<size_t>(axis)] = true;
    order.push_back(axis);
  }
  bool all = dims.size() == x.shape.size();
  for (bool s : seen) all = all && s;
  if (!all)
    throw ValueError({.op = "permute",
                      .problem = "each axis must be named just once",
                      .got = absl::StrCat(to_string(dims), " for rank ", x.rank()),
                      .expected = absl::StrCat("0 to ", x.rank() - 1, " in any order"),
                      .next = "name every axis once"});
  return x.permute(order);
}

Geometry squeeze_geometry(const Geometry& x, Args a) {
  Geometry g = x;
  const AxisMask drop =
      a.none(1) ? AxisMask(x.shape.size(), true) : named_axes("squeeze", a.ints(1), x.rank());
  for (int i = x.rank(); i-- > 0;)
    if (drop[static_cast<size_t>(i)] && x.shape[static_cast<size_t>(i)] == Int(1)) g = g.squeeze(i);
  return g;
}

Geometry unsqueeze_geometry(const Geometry& x, Args a) {
  return x.unsqueeze(normalise_axis("unsqueeze", a.integer(1).value(), x.rank() + 1));
}

void add_views(Definitions& r) {
  r.view("view(Tensor input, int[] size) -> Tensor", view_geometry,
         {.grad = [](Grad g) { return Grads{S::reshape(g.dy(), g.shape(0))}; },
          .places = kMethod,
          .moves = true,
          .doc = "The same elements under another shape, without a copy. One size may be -1."});
  r.view("expand(Tensor input, int[] size) -> Tensor", expand_geometry,
         {.grad = [](Grad g) { return Grads{g.dy()}; },  // summed to x's shape by the caller
          .overlaps = true,
          .places = kMethod,
          .moves = true,
          .doc = "Axes of size 1 repeated without a copy; new axes may be added in front; -1 keeps "
                 "a size."});
  r.view("permute(Tensor input, int[] dims) -> Tensor", permute_geometry,
         {.grad =
              [](Grad g) {
                Shape dims = g.ints(1), back(dims.size(), Int(0));
                for (size_t i = 0; i < dims.size(); ++i)
                  back[static_cast<size_t>(size_axis("permute", dims[i].value(),
                                                     static_cast<int>(dims.size())))] = Int(i);
                return Grads{S::permute(g.dy(), back)};
              },
          .moves = true,
          .doc = "Axes in another order."});
  r.view("squeeze(Tensor input, int[]? dim=None) -> Tensor", squeeze_geometry,
         {.grad = [](Grad g) { return Grads{S::reshape(g.dy(), g.shape(0))}; },
          .version = 2,
          .moves = true,
          .doc = "Without the axes of size 1 that dim names; without all of them if it is None."});
  r.view("unsqueeze(Tensor input, int dim) -> Tensor", unsqueeze_geometry,
         {.grad = [](Grad g) { return Grads{S::reshape(g.dy(), g.shape(0))}; },
          .moves = true,
          .doc = "With a new axis of size 1 at dim."});
  r.view("rows(Tensor input) -> Tensor", [](const Geometry& x, Args) { return x; },
         {.grad = [](Grad g) { return Grads{g.dy()}; },
          .places = kNowhere,
          .doc = "x itself, of which each round of a scan reads a row of its own along axis 0."});
  r.view("slice(Tensor input, int dim, int? start=None, int? end=None, int step=1) -> Tensor",
         slice_geometry,
         {.places = kNowhere, .doc = "x[start:end:step] along dim, by Python's rules."});
  r.view("narrow_axes(Tensor input, int[] start, int[] length) -> Tensor", narrow_geometry,
         {.places = kNowhere, .doc = "narrow() along all of the last axes at once."});
}

Outputs reshape_expansion(Args a) {
  Tensor x = a.tensor(0);
  Shape shape = resolve_shape("reshape", a.ints(1), x.numel());
  Geometry unused;
  if (!x.geometry().reshape(shape, unused)) x = M::clone(x);
  return {S::view(x, shape)};
}

Outputs select_expansion(Args a) {
  Tensor x = a.tensor(0);
  int axis = size_axis("select", a.integer(1).value(), x.rank());
  Int i = a.integer(2), size = x.size(axis);
  if (!require(Relation::lt, i, size) || !require(Relation::le, -size, i))
    throw IndexError({.op = "select",
                      .problem = absl::StrCat("index out of range on axis ", axis),
                      .got = to_string(i),
                      .expected = absl::StrCat("-", to_string(size), " to ", to_string(size - 1)),
                      .next = "check the index against size()"});
  if (i < Int(0)) i = i + size;
  return {S::squeeze(S::slice(x, axis, i, i + 1), {Int(axis)})};
}

/// What is written as a whole before it is read. Those who record ops see zeros.
Tensor to_be_written(const TensorType& type) {
  const ThreadState& state = thread_state();
  if (state.backend == nullptr && state.observers == nullptr) return empty(type);
  return create_ops<Tensor>::zeros(type.shape, type.dtype, type.device);
}

/// The elements of `out`, which nobody has seen yet, from `at` on along the axis = x.
void write_part(const Tensor& out, int axis, Int at, const Tensor& x) {
  const Int end = at + x.size(axis);
  if (!unwatched(x) || !may_overwrite(out)) {
    assign(S::slice(out, axis, at, end), x);
    return;
  }
  Geometry part = out.geometry();
  const auto k = static_cast<size_t>(axis);
  part.offset = part.offset + at * part.strides[k];
  part.shape[k] = x.size(axis);
  assign(make_tensor(out.impl()->storage, out.dtype(), std::move(part)), x);
}

Tensor joined(Tensors xs, Int dim) {
  // PyTorch's lt.empty(0) fits everywhere: what a loop of cat() begins with. Its dtype counts.
  DType dtype = xs.empty() ? DType::f32 : xs[0].dtype();
  for (const Tensor& x : xs) dtype = promote(dtype, x.dtype());
  auto nothing = [](const Tensor& x) { return x.rank() == 1 && x.size(0) == Int(0); };
  auto has_axes = [](const Tensor& x) { return x.rank() != 1; };
  if (std::any_of(xs.begin(), xs.end(), has_axes))
    xs.erase(std::remove_if(xs.begin(), xs.end(), nothing), xs.end());
  if (xs.empty())
    throw ValueError({.op = "cat",
                      .problem = "there is nothing to join",
                      .got = "an empty list",
                      .expected = "at least one tensor",
                      .next = "leave the call out where the list is empty"});
  int axis = size_axis("cat", dim.value(), xs[0].rank());
  Shape shape = xs[0].shape();
  Int total = 0;
  for (const Tensor& x : xs) {
    require_one_device("cat", "the tensors", xs[0].device(), x.device());
    bool fits = x.rank() == xs[0].rank();
    for (int i = 0; fits && i < x.rank(); ++i)
      fits = i == axis || require(Relation::eq, x.size(i), xs[0].size(i));
    if (!fits)
      throw ShapeError(
          {.op = "cat",
           .problem = absl::StrCat("the shapes differ outside axis ", axis),
           .got = absl::StrCat(to_string(xs[0].shape()), " and ", to_string(x.shape())),
           .expected = "equal sizes on all other axes",
           .next = "slice, pad or reshape the tensors first"});
    total += x.size(axis);
  }
  shape[static_cast<size_t>(axis)] = total;
  Tensor out = to_be_written({dtype, shape, xs[0].device()});
  Int at = 0;
  for (const Tensor& x : xs) {
    write_part(out, axis, at, x);
    at += x.size(axis);
  }
  return out;
}

Outputs narrow_expansion(Args a) {
  Tensor x = a.tensor(0);
  const int axis = size_axis("narrow", a.integer(1).value(), x.rank());
  Int start = a.integer(2), length = a.integer(3), size = x.size(axis);
  if (start < Int(0)) start += size;
  if (!require(Relation::le, 0, start) || !require(Relation::le, 0, length) ||
      !require(Relation::le, start + length, size))
    throw IndexError({.op = "narrow",
                      .problem = "the part reaches outside of the axis",
                      .got = absl::StrCat("start ", to_string(a.integer(2)), ", length ",
                                          to_string(length), " of ", to_string(size)),
                      .expected = "0 <= length, and start + length within the axis",
                      .next = "slice with x[a:b] to have the bounds clamped"});
  return {S::slice(x, axis, start, start + length)};
}

/// The start is an element of a tensor: read now, so that a trace refuses it.
Outputs narrow_from(Args a) {
  Tensor start = a.tensor(2);
  if (start.rank() != 0 || !is_integer(start.dtype()))
    throw TypeError({.op = "narrow",
                     .problem = "the start is no whole number",
                     .got = to_string(type_of(start)),
                     .expected = "an integer tensor without axes",
                     .next = "give the start as a number"});
  return {S::narrow(a.tensor(0), a.integer(1), Int(start.item_int()), a.integer(3))};
}

void add_composites(Definitions& r) {
  r.composite(
      "reshape(Tensor input, int[] shape) -> Tensor", reshape_expansion,
      {.moves = true,
       .doc = "The same elements under another shape: a view where possible, else a copy."});
  r.composite("contiguous(Tensor input) -> Tensor",
              [](Args a) -> Outputs {
                Tensor x = a.tensor(0);
                return {x.geometry().is_row_major() ? x : M::clone(x)};
              },
              {.places = kMethod,
               .moves = true,
               .doc = "x itself if its elements lie in row-major order, else a copy that does."});
  r.composite("transpose(Tensor input, int dim0, int dim1) -> Tensor",
              [](Args a) -> Outputs {
                Tensor x = a.tensor(0);
                int i = normalise_axis("transpose", a.integer(1).value(), x.rank());
                int j = normalise_axis("transpose", a.integer(2).value(), x.rank());
                Shape dims = all_axes(x.rank());
                if (i != j) std::swap(dims[static_cast<size_t>(i)], dims[static_cast<size_t>(j)]);
                return {S::permute(x, dims)};
              },
              {.also = {"swapdims"}, .moves = true, .doc = "Two axes exchanged; a view."});
  r.composite("select(Tensor input, int dim, int index) -> Tensor", select_expansion,
              {.moves = true, .doc = "x[index] along dim; a view without that axis."});
  r.composite(
      "narrow(Tensor input, int dim, int start, int length) -> Tensor", narrow_expansion,
      {.moves = true,
       .doc = "length elements from start along dim, which may count from the end; a view."});
  r.composite("narrow.start(Tensor input, int dim, Tensor start, int length) -> Tensor",
              narrow_from,
              {.moves = true,
               .instead_in_trace = "gather the elements: lathe.index_select(x, dim, start + "
                                   "lathe.arange(length))",
               .doc = "From where a tensor of one element says."});
  r.composite("flatten(Tensor input, int start_dim=0, int end_dim=-1) -> Tensor",
              [](Args a) -> Outputs {
                Tensor x = a.tensor(0);
                int from = normalise_axis("flatten", a.integer(1).value(), x.rank());
                int to = normalise_axis("flatten", a.integer(2).value(), x.rank());
                if (from > to)
                  throw ValueError({.op = "flatten",
                                    .problem = "start_dim is behind end_dim",
                                    .got = absl::StrCat("axes ", from, " and ", to),
                                    .expected = "start_dim <= end_dim",
                                    .next = "exchange the two"});
                if (x.rank() == 0) return {S::reshape(x, {Int(1)})};
                Shape shape;
                Int run = 1;
                for (int i = 0; i < x.rank(); ++i) {
                  bool inside = i >= from && i <= to;
                  if (inside) run *= x.size(i);
                  if (!inside || i == to) shape.push_back(inside ? run : x.size(i));
                }
                return {S::reshape(x, shape)};
              },
              {.moves = true, .doc = "Axes start_dim..end_dim joined into one."});
  r.composite("cat(Tensor[] tensors, int dim=0) -> Tensor",
              [](Args a) -> Outputs { return {joined(a.tensors(0), a.integer(1))}; },
              {.also = {"concat", "concatenate"},
               .moves = true,
               .autocast = Autocast::widest,
               .doc = "Tensors joined along an axis they all have."});
  r.composite("stack(Tensor[] tensors, int dim=0) -> Tensor",
              [](Args a) -> Outputs {
                Tensors xs = a.tensors(0);
                for (Tensor& x : xs) x = with_axis(x, a.integer(1));
                return {joined(std::move(xs), a.integer(1))};
              },
              {.moves = true,
               .autocast = Autocast::widest,
               .doc = "Tensors of one shape joined along a new axis."});
}

}  // namespace

bool unwatched(const Tensor& x) {
  const ThreadState& state = thread_state();
  return state.backend == nullptr && state.observers == nullptr &&
         !(state.grad_enabled && x.requires_grad());
}

Tensor with_axis(const Tensor& x, Int dim) {
  if (!unwatched(x) || x.impl()->view || !x.impl()->storage) return S::unsqueeze(x, dim);
  const int axis = normalise_axis("unsqueeze", dim.value(), x.rank() + 1);
  return make_tensor(x.impl()->storage, x.dtype(), x.geometry().unsqueeze(axis));
}

Tensor without_axis(const Tensor& x, int dim) {
  if (!unwatched(x) || x.impl()->view || !x.impl()->storage) return S::squeeze(x, {Int(dim)});
  const int axis = normalise_axis("squeeze", dim, x.rank());
  Geometry g = x.geometry();
  g.shape.erase(g.shape.begin() + axis);
  g.strides.erase(g.strides.begin() + axis);
  return make_tensor(x.impl()->storage, x.dtype(), std::move(g));
}

Shape resolve_shape(std::string_view op, IntSpan shape, Int count) {
  Shape out(shape.begin(), shape.end());
  int unknown = -1;
  Int known = 1;
  auto wrong = [&] {
    throw ShapeError({.op = std::string(op),
                      .problem = "the sizes do not multiply to the number of elements",
                      .got = absl::StrCat(to_string(shape), " for ", to_string(count), " elements"),
                      .expected = absl::StrCat("sizes whose product is ", to_string(count)),
                      .next = "check the sizes; one of them may be -1"});
  };
  for (size_t i = 0; i < out.size(); ++i) {
    // A number that is an input of a trace: which of the three it is becomes a guard.
    if (out[i] < Int(0)) {
      if (!(out[i] == Int(-1))) wrong();
      if (unknown >= 0)
        throw ValueError({.op = std::string(op),
                          .problem = "only one size may be -1",
                          .got = to_string(shape),
                          .expected = "at most one -1",
                          .next = "give the other sizes as numbers"});
      unknown = static_cast<int>(i);
    } else {
      known *= out[i];
    }
  }
  if (unknown >= 0) {
    if (!require(Relation::ne, known, Int(0)) || !require(Relation::eq, mod(count, known), Int(0)))
      wrong();
    out[static_cast<size_t>(unknown)] = floor_div(count, known);
  } else if (!require(Relation::eq, known, count)) {
    wrong();
  }
  return out;
}

void add_shape_definitions(Definitions& r) {
  add_views(r);
  add_composites(r);
}

}  // namespace lathe
