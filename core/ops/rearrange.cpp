// Elements in another order: turned round, shifted, repeated, axes moved, split and joined.
#include <absl/strings/str_cat.h>

#include "core/infer/rules.h"
#include "core/ops/families.h"
#include "core/ops/names.h"

namespace lathe {
namespace {

using namespace names;

/// The axes that an int[] names, each once. A tensor without axes has 0 and -1 to name, and nothing
/// to move there.
AxisMask turned_axes(std::string_view op, const Shape& dims, int rank) {
  if (rank > 0) return named_axes(op, dims, rank);
  for (Int d : dims) normalise_axis(op, d.value(), 0);
  return {};
}

Geometry reversed_geometry(const Geometry& x, Args a) {
  Geometry g = x;
  const AxisMask turned = turned_axes("flip", a.ints(1), x.rank());
  for (size_t i = 0; i < turned.size(); ++i) {
    if (!turned[i]) continue;
    g.offset = g.offset + (x.shape[i] - 1) * x.strides[i];
    g.strides[i] = -x.strides[i];
  }
  return g;
}

// ── turning and shifting ────────────────────────────────────────────────────────────────────────

Outputs roll_expansion(Args a) {
  Tensor x = a.tensor(0);
  const Shape shifts = a.ints(1), dims = a.ints(2);
  const bool flat = dims.empty();
  if (shifts.size() != (flat ? 1 : dims.size()))
    throw ValueError({.op = "roll",
                      .problem = "each axis needs one shift",
                      .got = absl::StrCat(to_string(shifts), " for axes ", to_string(dims)),
                      .expected = "as many shifts as axes, or one shift and no axes",
                      .next = "without dims the elements are shifted in row-major order"});
  Tensor y = flat ? S::reshape(x, {Int(-1)}) : x;
  for (size_t i = 0; i < shifts.size(); ++i) {
    const Int dim = flat ? Int(0) : dims[i];
    const int axis = size_axis("roll", dim.value(), y.rank());
    y = S::rolled(y, shifts[i], axis);
  }
  y = flat ? S::reshape(y, x.shape()) : y;
  return {same(x, y) ? M::clone(x) : y};
}

Outputs rot90_expansion(Args a) {
  Tensor x = a.tensor(0);
  const Shape dims = a.ints(2);
  require_rank("rot90", x, 2);
  if (dims.size() != 2)
    throw ValueError({.op = "rot90",
                      .problem = "a rotation is in the plane of two axes",
                      .got = to_string(dims),
                      .expected = "two axes",
                      .next = "name the axis turned from and the one turned to"});
  named_axes("rot90", dims, x.rank());
  const int64_t turns = mod(a.integer(1), 4).value();
  if (turns == 0) return {M::clone(x)};
  if (turns == 2) return {S::flip(x, dims)};
  return {S::transpose(S::flip(x, {dims[turns == 1 ? 1 : 0]}), dims[0], dims[1])};
}

// ── repeating ───────────────────────────────────────────────────────────────────────────────────

Outputs tile_expansion(Args a) {
  Tensor x = a.tensor(0);
  Shape counts = a.ints(1);
  while (counts.size() < static_cast<size_t>(x.rank())) counts.insert(counts.begin(), Int(1));
  return {S::repeat(x, counts)};
}

void check_output_size(const Arg& asked, Int size) {
  if (asked.none() || require(Relation::eq, asked.integer(), size)) return;
  throw ValueError({.op = "repeat_interleave",
                    .problem = "output_size is not what the repeats add up to",
                    .got = to_string(asked),
                    .expected = to_string(size),
                    .next = "leave output_size out"});
}

Outputs repeat_each(Args a) {
  Tensor x = a.none(2) ? S::reshape(a.tensor(0), {Int(-1)}) : a.tensor(0);
  const Int repeats = a.integer(1);
  if (!require(Relation::le, 0, repeats))
    throw ValueError({.op = "repeat_interleave",
                      .problem = "a negative number of repeats",
                      .got = to_string(repeats),
                      .expected = "0 or more",
                      .next = "give how often each element stands in the result"});
  if (x.rank() == 0) x = S::unsqueeze(x, 0);
  const int axis = size_axis("repeat_interleave", a.none(2) ? 0 : a.integer(2).value(), x.rank());
  Shape wide = x.shape(), joined = x.shape();
  wide.insert(wide.begin() + axis + 1, repeats);
  joined[static_cast<size_t>(axis)] *= repeats;
  check_output_size(a[3], joined[static_cast<size_t>(axis)]);
  // The axis behind may be the last, which is no reason to share memory with x.
  return {S::reshape(M::clone(S::expand(S::unsqueeze(x, axis + 1), wide)), joined)};
}

/// For each place of the result, which element stands there: `repeats` says how often each does.
/// How many places there are is read from the data unless output_size says it.
Tensor repeated_places(const Tensor& repeats, const Arg& output_size) {
  require_rank("repeat_interleave", repeats, 0, 1);
  Tensor counts = repeats.rank() == 0 ? S::unsqueeze(repeats, 0) : repeats;
  if (counts.dtype() != DType::i64 && counts.dtype() != DType::i32)
    throw DTypeError({.op = "repeat_interleave",
                      .problem = "repeats must count",
                      .got = std::string(name(counts.dtype())),
                      .expected = "int64 or int32",
                      .next = "convert with .to(lt.int64)"});
  Tensor ends = reduce_ops<Tensor>::cumsum(counts, 0);
  Int total;
  if (!output_size.none()) {
    total = output_size.integer();
  } else {
    Tensor low = counts.numel() == Int(0) ? Tensor() : reduce_ops<Tensor>::amin(counts, Shape{});
    if (low.defined() && !captures() && low.item_int() < 0)
      throw ValueError({.op = "repeat_interleave",
                        .problem = "a negative number of repeats",
                        .got = absl::StrCat(low.item_int()),
                        .expected = "0 or more for each element",
                        .next = "clamp the repeats with min=0"});
    // In a program a negative number has no size to give: it stops there.
    if (low.defined()) {
      Tensor last = S::select(ends, 0, -1);
      total = size_in(captures() ? M::where(M::lt(low, 0), -1, last) : last);
    }
  }
  Tensor places = C::arange(0, total, 1, DType::i64, repeats.device());
  return I::searchsorted(ends, places, true);
}

Outputs repeat_by(Args a) {
  Tensor x = a.none(2) ? S::reshape(a.tensor(0), {Int(-1)}) : a.tensor(0);
  Tensor repeats = a.tensor(1);
  const int axis = size_axis("repeat_interleave", a.none(2) ? 0 : a.integer(2).value(), x.rank());
  if (repeats.numel() == Int(1)) repeats = S::expand(S::reshape(repeats, {Int(1)}), {x.size(axis)});
  if (!require(Relation::eq, repeats.numel(), x.size(axis)))
    throw ShapeError({.op = "repeat_interleave",
                      .problem = "repeats has another length than the axis",
                      .got = to_string(repeats.shape()),
                      .expected = to_string(x.size(axis)),
                      .next = "give one count for each element of the axis, or one for all"});
  return {I::index_select(x, axis, repeated_places(repeats, a[3]))};
}

// ── moving axes ─────────────────────────────────────────────────────────────────────────────────

Outputs movedim_expansion(Args a) {
  Tensor x = a.tensor(0);
  const Shape from = a.ints(1), to = a.ints(2);
  const int rank = x.rank();
  if (from.size() != to.size())
    throw ValueError({.op = "movedim",
                      .problem = "each axis moved needs one place",
                      .got = absl::StrCat(to_string(from), " to ", to_string(to)),
                      .expected = "lists of one length",
                      .next = "name as many places as axes"});
  if (rank == 0) {
    for (const Shape& dims : {from, to}) turned_axes("movedim", dims, 0);
    return {x};
  }
  const AxisMask moved = named_axes("movedim", from, rank);
  named_axes("movedim", to, rank);
  Shape order(static_cast<size_t>(rank), Int(-1));
  for (size_t i = 0; i < from.size(); ++i)
    order[static_cast<size_t>(size_axis("movedim", to[i].value(), rank))] =
        Int(size_axis("movedim", from[i].value(), rank));
  int next = 0;
  for (Int& axis : order) {
    if (!identical(axis, Int(-1))) continue;
    while (moved[static_cast<size_t>(next)]) ++next;
    axis = Int(next++);
  }
  return {S::permute(x, order)};
}

Outputs unflatten_expansion(Args a) {
  Tensor x = a.tensor(0);
  const Shape sizes = a.ints(2);
  const int axis = size_axis("unflatten", a.integer(1).value(), x.rank());
  if (sizes.empty())
    throw ValueError({.op = "unflatten",
                      .problem = "there are no sizes to split the axis into",
                      .got = "an empty list",
                      .expected = "sizes whose product is that of the axis",
                      .next = "give the sizes; one of them may be -1"});
  const Shape split = resolve_shape("unflatten", sizes, x.size(axis));
  Shape shape = x.shape();
  shape.erase(shape.begin() + axis);
  shape.insert(shape.begin() + axis, split.begin(), split.end());
  return {S::view(x, shape)};
}

// ── definitions ─────────────────────────────────────────────────────────────────────────────────

void add_turns(Definitions& r) {
  r.view("reversed(Tensor input, int[] dims) -> Tensor", reversed_geometry,
         {.grad = [](Grad g) { return Grads{S::flip(g.dy(), g.ints(1))}; },
          .places = kNowhere,
          .moves = true,
          .doc = "The elements from the last to the first along dims; a view."});
  r.composite(
      "flip(Tensor input, int[] dims) -> Tensor",
      [](Args a) -> Outputs { return {M::clone(S::reversed(a.tensor(0), a.ints(1)))}; },
      moving("A copy with the elements from the last to the first along dims."));
  r.composite(
      "fliplr(Tensor input) -> Tensor",
      [](Args a) -> Outputs {
        require_rank("fliplr", a.tensor(0), 2);
        return {S::flip(a.tensor(0), {Int(1)})};
      },
      moving("A copy with the columns from the last to the first."));
  r.composite(
      "flipud(Tensor input) -> Tensor",
      [](Args a) -> Outputs {
        require_rank("flipud", a.tensor(0), 1);
        return {S::flip(a.tensor(0), {Int(0)})};
      },
      moving("A copy with the rows from the last to the first."));
  r.composite("roll(Tensor input, int[] shifts, int[] dims=[]) -> Tensor", roll_expansion,
              moving("A copy shifted along dims; what leaves at the end comes in at the start."));
  r.opaque("rolled(Tensor input, int shift, int dim) -> Tensor",
           [](Args a) {
             normalise_axis("rolled", a.integer(2).value(), a.tensor(0).rank());
             return Types{type_of(a.tensor(0))};
           },
           {.grad = [](Grad g) { return Grads{S::rolled(g.dy(), -g.integer(1), g.axis(2, 0))}; },
            .places = kNowhere,
            .leading = true,
            .moves = true,
            .doc = "A copy shifted along dim; what leaves at the end comes in at the start."});
  r.composite("rot90(Tensor input, int k=1, int[] dims=[0, 1]) -> Tensor", rot90_expansion,
              moving("A copy turned by k quarter turns from the first of two axes to the second."));
}

void add_repeats(Definitions& r) {
  r.composite("tile(Tensor input, int[] dims) -> Tensor", tile_expansion,
              moving("input laid side by side, dims[i] times along the i-th axis from the last."));
  r.composite(
      "repeat_interleave(Tensor input, int repeats, int? dim=None, *, int? output_size=None) -> "
      "Tensor",
      repeat_each, moving("Each element so many times one after the other along dim."));
  r.composite(
      "repeat_interleave.each(Tensor input, Tensor repeats, int? dim=None, *, int? "
      "output_size=None) -> Tensor",
      repeat_by, moving("Each element as many times as repeats says for it."));
  r.composite(
      "repeat_interleave.places(Tensor repeats, *, int? output_size=None) -> Tensor",
      [](Args a) -> Outputs {
        require_rank("repeat_interleave", a.tensor(0), 1, 1);
        return {repeated_places(a.tensor(0), a[1])};
      },
      creating("The number of each element, as many times as repeats says for it."));
}

Tensor conjugate_transpose(const Tensor& x) { return conjugate(S::transpose(x, -2, -1)); }

void add_axes(Definitions& r) {
  r.composite("movedim(Tensor input, int[] source, int[] destination) -> Tensor", movedim_expansion,
              {.also = {"moveaxis"},
               .moves = true,
               .doc = "Axes moved to other places, the rest in their order; a view."});
  r.composite(
      "swapaxes(Tensor input, int axis0, int axis1) -> Tensor",
      [](Args a) -> Outputs { return {S::transpose(a.tensor(0), a.integer(1), a.integer(2))}; },
      moving("Two axes exchanged; a view."));
  r.composite(
      "transpose.axes(Tensor input, int[] axes) -> Tensor",
      [](Args a) -> Outputs { return {S::permute(a.tensor(0), a.ints(1))}; },
      moving("Axes in another order, as NumPy calls it; a view.", kFunction));
  r.composite("unflatten(Tensor input, int dim, int[] sizes) -> Tensor", unflatten_expansion,
              moving("One axis split into several, whose sizes multiply to its; a view."));
  r.composite(
      "ravel(Tensor input) -> Tensor",
      [](Args a) -> Outputs { return {S::reshape(S::contiguous(a.tensor(0)), {Int(-1)})}; },
      moving("The elements in row-major order, as one axis; a copy only where it must be."));
  r.composite(
      "broadcast_to(Tensor input, int[] size) -> Tensor",
      [](Args a) -> Outputs { return {S::expand(a.tensor(0), a.ints(1))}; },
      moving("Axes of size 1 repeated without a copy; new axes may be added in front."));
  r.composite(
      "sum_to_size(Tensor input, int[] size) -> Tensor",
      [](Args a) -> Outputs {
        Tensor x = a.tensor(0);
        const Shape size = a.ints(1);
        if (!require_equal(broadcast_shapes("sum_to_size", size, x.shape()), x.shape()))
          throw ShapeError({.op = "sum_to_size",
                            .problem = "these sizes do not broadcast to those of the input",
                            .got = absl::StrCat(to_string(x.shape()), " to ", to_string(size)),
                            .expected = "equal sizes, or 1 where they differ",
                            .next = "compare the sizes from the last axis on"});
        return {size.empty() ? R::sum(x) : sum_to(x, size)};
      },
      {.places = kMethod, .doc = "Summed over the axes that broadcasting would repeat."});
  r.composite(
      "narrow_copy(Tensor input, int dim, int start, int length) -> Tensor",
      [](Args a) -> Outputs {
        return {M::clone(S::narrow(a.tensor(0), a.integer(1), a.integer(2), a.integer(3)))};
      },
      moving("A copy of length elements from start along dim."));
  Extra adjoint = moving("The last two axes exchanged, and the complex conjugate of each element.");
  adjoint.taken_for_view = "adjoint";
  r.composite(
      "adjoint(Tensor input) -> Tensor",
      [](Args a) -> Outputs {
        Tensor x = a.tensor(0);
        if (x.rank() != 0) require_rank("adjoint", x, 2);
        return {x.rank() == 0 ? conjugate(x) : conjugate_transpose(x)};
      },
      adjoint);
  for (std::string_view name : {"resolve_conj", "resolve_neg"})
    r.composite(
        absl::StrCat(name, "(Tensor input) -> Tensor"),
        [](Args a) -> Outputs {
          const Tensor& x = a.tensor(0);
          return {x.impl()->refuses_writes ? M::clone(x) : x};
        },
        moving("input itself, or a copy to write to of a conjugate: no tensor here keeps a "
               "conjugation or a sign for later."));
}

}  // namespace

void require_rank(std::string_view op, const Tensor& x, int least, int most) {
  if (least <= x.rank() && x.rank() <= most) return;
  const bool few = x.rank() < least;
  throw ShapeError(
      {.op = std::string(op),
       .problem = few ? "the input has too few axes" : "the input has too many axes",
       .got = to_string(type_of(x)),
       .expected = least == most ? absl::StrCat(least, least == 1 ? " axis" : " axes")
                   : few         ? absl::StrCat("at least ", least)
                                 : absl::StrCat("at most ", most),
       .next = few ? "unsqueeze() the missing axes" : "select() or flatten() the others"});
}

void add_rearrange_definitions(Definitions& r) {
  add_turns(r);
  add_repeats(r);
  add_axes(r);
}

}  // namespace lathe
