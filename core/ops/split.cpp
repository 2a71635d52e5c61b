// Composites of views, joins and triangles that have no arithmetic of their own: splitting,
// repeating, reshaping by example, products of one rank.
#include <absl/strings/str_cat.h>

#include "core/ops/families.h"
#include "include/lathe/ops/create.h"
#include "include/lathe/ops/math.h"
#include "include/lathe/ops/nn.h"
#include "include/lathe/ops/shape.h"

namespace lathe {
namespace {

using C = create_ops<Tensor>;
using M = math_ops<Tensor>;
using N = nn_ops<Tensor>;
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
  return {S::reshape(S::expand(S::reshape(x, apart), wide), joined)};
}

/// Windows along one axis, as PyTorch's Tensor.unfold: a view with the window as its last axis.
Outputs unfold_expansion(Args a) {
  Tensor x = a.tensor(0);
  require_axes("unfold", x);
  const int axis = size_axis("unfold", a.integer(1).value(), x.rank());
  Tensor last = S::transpose(x, axis, -1);
  Tensor seen = S::windows(S::unsqueeze(last, -2), {Int(1), a.integer(2)}, {Int(1), a.integer(3)});
  return {S::transpose(S::squeeze(seen, {Int(-2), Int(-4)}), axis, -2)};
}

/// Numbers of rows and columns of the last two axes, as a column and a row.
std::pair<Tensor, Tensor> positions(std::string_view op, const Tensor& x) {
  if (x.rank() < 2)
    throw ShapeError({.op = std::string(op),
                      .problem = "the input has less than two axes",
                      .got = to_string(x.shape()),
                      .expected = "a matrix, or a batch of them",
                      .next = "unsqueeze() the missing axis"});
  Tensor rows = C::arange(0, x.size(-2), 1, DType::i64, x.device());
  return {S::unsqueeze(rows, 1), C::arange(0, x.size(-1), 1, DType::i64, x.device())};
}

Outputs triangle(Args a, std::string_view op, bool lower) {
  Tensor x = a.tensor(0);
  auto [rows, columns] = positions(op, x);
  Tensor limit = M::add(rows, a[1]);
  return {M::where(lower ? M::le(columns, limit) : M::ge(columns, limit), x, false)};
}

Outputs bmm_expansion(Args a) {
  Tensor x = a.tensor(0), y = a.tensor(1);
  if (x.rank() != 3 || y.rank() != 3)
    throw ShapeError({.op = "bmm",
                      .problem = "two tensors of rank 3 expected",
                      .got = absl::StrCat(to_string(x.shape()), " and ", to_string(y.shape())),
                      .expected = "[n, i, k] and [n, k, j]",
                      .next = "use matmul or @ for other ranks"});
  return {N::mm(x, y)};
}

Tensor scaled(const Tensor& x, const Arg& factor) {
  const bool one = factor.tag == Tag::integer ? identical(factor.integer(), Int(1))
                                              : factor.tag == Tag::real && factor.real() == 1;
  return one ? x : M::mul(x, factor);
}

Outputs addmm_expansion(Args a) {
  Tensor product = scaled(N::matmul(a.tensor(1), a.tensor(2)), a[4]);
  return {M::add(scaled(a.tensor(0), a[3]), product)};
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

void add_products(Definitions& r) {
  auto triangular = [](std::string_view doc) {
    Extra e{.inplace = true, .moves = true};
    e.doc = doc;
    return e;
  };
  r.composite(
      "tril(Tensor input, int diagonal=0) -> Tensor",
      [](Args a) { return triangle(a, "tril", true); },
      triangular("The lower triangle of the last two axes; zeros above the diagonal."));
  r.composite(
      "triu(Tensor input, int diagonal=0) -> Tensor",
      [](Args a) { return triangle(a, "triu", false); },
      triangular("The upper triangle of the last two axes; zeros below the diagonal."));
  r.composite(
      "bmm(Tensor input, Tensor mat2) -> Tensor", bmm_expansion,
      {.moves = true, .doc = "Matrix products of a batch: input[n, i, k] @ mat2[n, k, j]."});
  r.composite(
      "addmm(Tensor input, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
      addmm_expansion, {.inplace = true, .doc = "beta * input + alpha * (mat1 @ mat2)."});
}

}  // namespace

void add_split_definitions(Definitions& r) {
  add_splits(r);
  add_products(r);
}

}  // namespace lathe
