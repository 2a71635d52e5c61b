// Taking tensors apart along an axis; views under the shape of another tensor.
#include <absl/strings/str_cat.h>

#include "core/ops/families.h"
#include "include/lathe/ops/math.h"
#include "include/lathe/ops/shape.h"

namespace lathe {
namespace {

using M = math_ops<Tensor>;
using S = shape_ops<Tensor>;

void require_axes(std::string_view op, const Tensor& x) {
  if (x.rank() > 0) return;
  throw ShapeError({.op = std::string(op),
                    .problem = "a tensor without axes cannot be taken apart",
                    .got = to_string(type_of(x)),
                    .expected = "at least one axis",
                    .next = "reshape it to one axis first"});
}

/// Pieces of `size` along the axis, the last may be shorter; how many there are is a guard.
Outputs pieces_of(const Tensor& x, int axis, Int size) {
  const Int total = x.size(axis);
  Outputs out;
  Int at = 0;
  do {
    out.push_back(S::slice(x, axis, at, at + size));
    at = at + size;
  } while (at < total);
  return out;
}

Outputs split_expansion(Args a) {
  Tensor x = a.tensor(0);
  require_axes("split", x);
  const int axis = size_axis("split", a.integer(2).value(), x.rank());
  const Int size = a.integer(1), total = x.size(axis);
  const bool empty = total == Int(0);
  if (size < Int(0) || (size == Int(0) && !empty))
    throw ValueError({.op = "split",
                      .problem = "the size of a piece must be positive",
                      .got = to_string(size),
                      .expected = "at least 1",
                      .next = "give a number from 1"});
  if (empty) return {S::slice(x, axis, 0, 0)};
  return pieces_of(x, axis, size);
}

Outputs split_sizes(Args a) {
  Tensor x = a.tensor(0);
  require_axes("split", x);
  const int axis = size_axis("split", a.integer(2).value(), x.rank());
  const Shape sizes = a.ints(1);
  Int at = 0;
  Outputs out;
  for (Int s : sizes) at = at + s;
  if (!require(Relation::eq, at, x.size(axis)))
    throw ValueError({.op = "split",
                      .problem = "the sizes do not add up to the axis",
                      .got = to_string(sizes),
                      .expected = to_string(x.size(axis)),
                      .next = "give sizes that cover the axis, or one size for all pieces"});
  at = 0;
  for (Int s : sizes) {
    out.push_back(S::narrow(x, axis, at, s));
    at = at + s;
  }
  return out;
}

Outputs chunk_expansion(Args a) {
  Tensor x = a.tensor(0);
  require_axes("chunk", x);
  const int axis = size_axis("chunk", a.integer(2).value(), x.rank());
  const Int chunks = a.integer(1), total = x.size(axis);
  if (chunks < Int(1))
    throw ValueError({.op = "chunk",
                      .problem = "the number of pieces must be positive",
                      .got = to_string(chunks),
                      .expected = "at least 1",
                      .next = "give a number from 1"});
  if (total == Int(0)) {  // as PyTorch: all of them, empty
    Outputs out;
    for (int64_t i = 0; i < chunks.value(); ++i) out.push_back(S::slice(x, axis, 0, 0));
    return out;
  }
  return pieces_of(x, axis, ceil_div(total, chunks));
}

Outputs unbind_expansion(Args a) {
  Tensor x = a.tensor(0);
  require_axes("unbind", x);
  const int axis = size_axis("unbind", a.integer(1).value(), x.rank());
  Outputs out;
  for (Int i = 0; i < x.size(axis); i = i + 1) out.push_back(S::select(x, axis, i));
  return out;
}

// ── by places along the axis ────────────────────────────────────────────────────────────────────

/// So many pieces along the axis whose sizes differ by at most one, the larger ones first.
Outputs even_pieces(const Tensor& x, int axis, Int sections) {
  if (sections < Int(1))
    throw ValueError({.op = "tensor_split",
                      .problem = "the number of pieces must be positive",
                      .got = to_string(sections),
                      .expected = "at least 1",
                      .next = "give a number from 1"});
  const int64_t count = sections.value();
  const Int size = floor_div(x.size(axis), sections), larger = mod(x.size(axis), sections);
  Outputs out;
  Int at = 0;
  for (int64_t i = 0; i < count; ++i) {
    const Int end = Int(i + 1) * size + min(Int(i + 1), larger);
    out.push_back(S::slice(x, axis, at, end));
    at = end;
  }
  return out;
}

/// The pieces between these places, by the rules of slices.
Outputs pieces_between(const Tensor& x, int axis, const Shape& places) {
  Outputs out;
  Int at = 0;
  for (Int place : places) {
    out.push_back(S::slice(x, axis, at, place));
    at = place;
  }
  out.push_back(S::slice(x, axis, at, Arg()));
  return out;
}

int split_axis(const Tensor& x, Int dim) {
  require_axes("tensor_split", x);
  return size_axis("tensor_split", dim.value(), x.rank());
}

/// The places are elements of a tensor: read now, so that a trace refuses it.
Outputs tensor_split_by(Args a) {
  Tensor x = a.tensor(0), places = a.tensor(1);
  const int axis = split_axis(x, a.integer(2));
  if (places.dtype() != DType::i64 || places.rank() > 1)
    throw ValueError({.op = "tensor_split",
                      .problem = "the places are int64 numbers in a vector, or a number of pieces",
                      .got = to_string(type_of(places)),
                      .expected = "i64[] or i64[n]",
                      .next = "convert with .to(lt.int64)"});
  if (places.rank() == 0) return even_pieces(x, axis, Int(places.item_int()));
  Shape at;
  for (int64_t i = 0; i < places.size(0).value(); ++i)
    at.push_back(Int(S::select(places, 0, i).item_int()));
  return pieces_between(x, axis, at);
}

/// hsplit, vsplit, dsplit: along a fixed axis, into equal pieces or between places.
void add_fixed_split(Definitions& r, std::string_view name, int least, int dim,
                     std::string_view doc) {
  auto axis_of = [=](const Tensor& x) {
    require_rank(name, x, least);
    return x.rank() == 1 ? 0 : dim;
  };
  r.composite(
      absl::StrCat(name, "(Tensor input, int sections) -> Tensor[]"),
      [=](Args a) {
        Tensor x = a.tensor(0);
        const int axis = axis_of(x);
        const Int sections = a.integer(1);
        if (!require(Relation::le, 1, sections) ||
            !require(Relation::eq, mod(x.size(axis), sections), 0))
          throw ValueError({.op = std::string(name),
                            .problem = "the axis does not fall into equal pieces",
                            .got = absl::StrCat(to_string(sections), " pieces of ",
                                                to_string(x.size(axis)), " elements"),
                            .expected = "a divisor of the axis' size",
                            .next = "tensor_split() makes pieces that differ by one"});
        return even_pieces(x, axis, sections);
      },
      moving(doc));
  r.composite(
      absl::StrCat(name, ".indices(Tensor input, int[] indices) -> Tensor[]"),
      [=](Args a) { return pieces_between(a.tensor(0), axis_of(a.tensor(0)), a.ints(1)); },
      moving(doc));
}

void add_places(Definitions& r) {
  constexpr std::string_view doc =
      "So many pieces whose sizes differ by at most one, or those between places along dim; views.";
  r.composite(
      "tensor_split(Tensor input, int sections, int dim=0) -> Tensor[]",
      [](Args a) {
        return even_pieces(a.tensor(0), split_axis(a.tensor(0), a.integer(2)), a.integer(1));
      },
      moving(doc));
  r.composite(
      "tensor_split.indices(Tensor input, int[] indices, int dim=0) -> Tensor[]",
      [](Args a) {
        return pieces_between(a.tensor(0), split_axis(a.tensor(0), a.integer(2)), a.ints(1));
      },
      moving(doc));
  r.composite(
      "tensor_split.tensor(Tensor input, Tensor tensor_indices_or_sections, int dim=0) -> Tensor[]",
      tensor_split_by,
      {.moves = true,
       .instead_in_trace = "give the places as integers, or as sizes of other tensors",
       .doc = doc});
  add_fixed_split(r, "hsplit", 1, 1, "Pieces along axis 1, of a vector along axis 0; views.");
  add_fixed_split(r, "vsplit", 2, 0, "Pieces along axis 0; views.");
  add_fixed_split(r, "dsplit", 3, 2, "Pieces along axis 2; views.");
}

// ── repeating, windows ──────────────────────────────────────────────────────────────────────────

Outputs repeat_expansion(Args a) {
  Tensor x = a.tensor(0);
  const Shape counts = a.ints(1);
  bool fits = counts.size() >= static_cast<size_t>(x.rank());
  for (Int n : counts) fits = fits && require(Relation::le, 0, n);
  if (!fits)
    throw ValueError({.op = "repeat",
                      .problem = "a count of 0 or more for each axis expected",
                      .got = absl::StrCat(to_string(counts), " for rank ", x.rank()),
                      .expected = absl::StrCat("at least ", x.rank(), " counts"),
                      .next = "a count of 1 leaves an axis as it is"});
  const size_t added = counts.size() - static_cast<size_t>(x.rank());
  Shape apart, wide, joined;
  for (size_t i = 0; i < counts.size(); ++i) {
    Int size = i < added ? Int(1) : x.size(static_cast<int>(i - added));
    apart.insert(apart.end(), {Int(1), size});
    wide.insert(wide.end(), {counts[i], size});
    joined.push_back(counts[i] * size);
  }
  // Memory of its own also where nothing is repeated and the sizes would allow a view.
  return {S::reshape(M::clone(S::expand(S::reshape(x, apart), wide)), joined)};
}

/// Windows along one axis, as PyTorch's Tensor.unfold: a view with the window as its last axis.
Outputs unfold_expansion(Args a) {
  Tensor x = a.tensor(0);
  const bool lone = x.rank() == 0;  // one window of one element, as an axis of its own
  if (lone) x = S::unsqueeze(x, 0);
  const int axis = size_axis("unfold", a.integer(1).value(), x.rank());
  Tensor last = S::transpose(x, axis, -1);
  Tensor seen = S::windows(S::unsqueeze(last, -2), {Int(1), a.integer(2)}, {Int(1), a.integer(3)});
  Tensor windows = S::transpose(S::squeeze(seen, {Int(-2), Int(-4)}), axis, -2);
  return {lone ? S::select(windows, 0, 0) : windows};
}

void add_splits(Definitions& r) {
  Extra view{.moves = true};
  auto with = [&](std::string_view doc, uint8_t places = kFunction | kMethod) {
    Extra e = view;
    e.doc = doc;
    e.places = places;
    return e;
  };
  r.composite("split(Tensor tensor, int split_size_or_sections, int dim=0) -> Tensor[]",
              split_expansion,
              with("Pieces of that size along dim (the last may be shorter); views."));
  r.composite("split.sizes(Tensor tensor, int[] split_size_or_sections, int dim=0) -> Tensor[]",
              split_sizes, with("Pieces of these sizes along dim, which they cover; views."));
  r.composite("split.method(Tensor tensor, int split_size, int dim=0) -> Tensor[]", split_expansion,
              with("Pieces of that size along dim; views.", kMethod));
  r.composite("split.method_sizes(Tensor tensor, int[] split_size, int dim=0) -> Tensor[]",
              split_sizes, with("Pieces of these sizes along dim; views.", kMethod));
  for (std::string_view name : {"split_with_sizes", "unsafe_split_with_sizes"})
    r.composite(absl::StrCat(name, "(Tensor input, int[] split_sizes, int dim=0) -> Tensor[]"),
                split_sizes, with("Pieces of these sizes along dim, which they cover; views."));
  r.composite("unsafe_split(Tensor input, int split_size, int dim=0) -> Tensor[]", split_expansion,
              with("As split."));
  r.composite("unsafe_chunk(Tensor input, int chunks, int dim=0) -> Tensor[]", chunk_expansion,
              with("As chunk."));
  r.composite(
      "chunk(Tensor input, int chunks, int dim=0) -> Tensor[]", chunk_expansion,
      with("At most so many pieces of equal size along dim (the last may be shorter); views."));
  r.composite("unbind(Tensor input, int dim=0) -> Tensor[]", unbind_expansion,
              with("The slices along dim, without that axis; views."));
  r.composite(
      "t(Tensor input) -> Tensor",
      [](Args a) -> Outputs {
        Tensor x = a.tensor(0);
        if (x.rank() > 2)
          throw ShapeError({.op = "t",
                            .problem = "more than two axes",
                            .got = to_string(x.shape()),
                            .expected = "a matrix or a vector",
                            .next = "use transpose(), mT or permute()"});
        return {x.rank() == 2 ? S::transpose(x, 0, 1) : x};
      },
      with("The transpose of a matrix, a vector as it is; a view."));
  r.composite(
      "view_as(Tensor input, Tensor other) -> Tensor",
      [](Args a) -> Outputs { return {S::view(a.tensor(0), a.shape(1))}; },
      with("input viewed under the shape of other.", kMethod));
  r.composite(
      "reshape_as(Tensor input, Tensor other) -> Tensor",
      [](Args a) -> Outputs { return {S::reshape(a.tensor(0), a.shape(1))}; },
      with("input reshaped to the shape of other.", kMethod));
  r.composite(
      "expand_as(Tensor input, Tensor other) -> Tensor",
      [](Args a) -> Outputs { return {S::expand(a.tensor(0), a.shape(1))}; },
      with("input expanded to the shape of other; a view.", kMethod));
  r.composite("unfold(Tensor input, int dimension, int size, int step) -> Tensor", unfold_expansion,
              with("Windows of `size` elements along an axis, each `step` after the one before, as "
                   "a new last axis; a view that cannot be written through.",
                   kMethod));
  r.composite("repeat(Tensor input, int[] repeats) -> Tensor", repeat_expansion,
              with("input laid side by side, repeats[i] times along axis i; more counts than axes "
                   "make new axes in front.",
                   kMethod));
}

}  // namespace

void add_split_definitions(Definitions& r) {
  add_splits(r);
  add_places(r);
}

}  // namespace lathe
