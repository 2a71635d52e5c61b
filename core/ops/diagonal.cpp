// Diagonals and triangles of matrices, and writing into a part of a copy.
#include <absl/strings/str_cat.h>

#include "core/infer/rules.h"
#include "core/ops/families.h"
#include "core/ops/names.h"

namespace lathe {
namespace {

using namespace names;

// ── diagonals ───────────────────────────────────────────────────────────────────────────────────

/// Two axes of a tensor of that rank, which must differ.
std::pair<size_t, size_t> plane(std::string_view op, Int dim1, Int dim2, int rank) {
  const int rows = size_axis(op, dim1.value(), rank), columns = size_axis(op, dim2.value(), rank);
  if (rows != columns) return {static_cast<size_t>(rows), static_cast<size_t>(columns)};
  throw ValueError({.op = std::string(op),
                    .problem = "the two axes are one",
                    .got = absl::StrCat("axis ", rows, " twice"),
                    .expected = "two different axes",
                    .next = "name the axis of the rows and that of the columns"});
}

/// The sizes of a matrix to the right of its diagonal's start, or below it.
Geometry diagonal_geometry(const Geometry& x, Args a) {
  const auto [rows, columns] = plane("diagonal", a.integer(2), a.integer(3), x.rank());
  const Int offset = a.integer(1);
  const bool above = offset >= Int(0);
  const Int left = above ? x.shape[columns] - offset : x.shape[rows] + offset;
  const Int length = max(min(left, x.shape[above ? rows : columns]), Int(0));
  Geometry g = x;
  // Beyond the corner there is no element to begin at, and none is read.
  const Int skipped = above ? min(offset, x.shape[columns]) : min(-offset, x.shape[rows]);
  g.offset = x.offset + skipped * x.strides[above ? columns : rows];
  for (size_t axis : {std::max(rows, columns), std::min(rows, columns)}) {
    g.shape.erase(g.shape.begin() + static_cast<std::ptrdiff_t>(axis));
    g.strides.erase(g.strides.begin() + static_cast<std::ptrdiff_t>(axis));
  }
  g.shape.push_back(length);
  g.strides.push_back(x.strides[rows] + x.strides[columns]);
  return g;
}

Outputs diag_embed_expansion(Args a) {
  Tensor x = a.tensor(0);
  require_rank("diag_embed", x, 1);
  const Int offset = a.integer(1);
  const int rank = x.rank() + 1;
  const auto [rows, columns] = plane("diag_embed", a.integer(2), a.integer(3), rank);
  const Int side = x.size(-1) + max(offset, -offset);
  Shape shape = x.shape();
  shape.pop_back();
  for (size_t axis : {std::min(rows, columns), std::max(rows, columns)})
    shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), side);
  Tensor out = C::zeros(shape, x.dtype(), x.device());
  assign(S::diagonal(out, offset, rows, columns), x);
  return {out};
}

Outputs diag_expansion(Args a) {
  Tensor x = a.tensor(0);
  require_rank("diag", x, 1, 2);
  if (x.rank() == 1) return {S::diag_embed(x, a.integer(1))};
  return {M::clone(S::diagonal(x, a.integer(1)))};
}

Outputs fill_diagonal_expansion(Args a) {
  Tensor x = a.tensor(0);
  require_rank("fill_diagonal_", x, 2);
  for (int i = 1; x.rank() > 2 && i < x.rank(); ++i)
    if (!require(Relation::eq, x.size(i), x.size(0)))
      throw ShapeError({.op = "fill_diagonal_",
                        .problem = "with more than two axes all must have one size",
                        .got = to_string(x.shape()),
                        .expected = "equal sizes",
                        .next = "fill diagonal() of the axes you mean"});
  Tensor seen = S::diagonal(x);
  while (seen.rank() > 1) seen = S::diagonal(seen, 0, 0, -1);
  Tensor value = C::full(Shape{}, a[1], x.dtype(), x.device());
  assign(seen, value);
  // A tall matrix, wrapped: the diagonal begins again a row below the last square.
  const Int columns = x.size(1);
  if (a.flag(2) && x.rank() == 2)
    for (Int top = columns + 1; top < x.size(0); top = top + columns + 1)
      assign(S::diagonal(S::slice(x, 0, top, x.size(0))), value);
  return {x};
}

// ── writing into a copy ─────────────────────────────────────────────────────────────────────────

/// A copy of x in which the part that `part_of` shows holds src.
template <class F>
Outputs with_part(std::string_view op, const Tensor& x, const Tensor& src, F part_of) {
  Tensor out = M::clone(x), part = part_of(out);
  if (src.rank() != part.rank() || !require_equal(src.shape(), part.shape()))
    throw ShapeError({.op = std::string(op),
                      .problem = "src has another shape than the part it is written to",
                      .got = to_string(src.shape()),
                      .expected = to_string(part.shape()),
                      .next = "expand() src, or name another part"});
  assign(part, src);
  return {out};
}

void add_scatters(Definitions& r) {
  r.composite(
      "diagonal_scatter(Tensor input, Tensor src, int offset=0, int dim1=0, int dim2=1) -> Tensor",
      [](Args a) {
        return with_part("diagonal_scatter", a.tensor(0), a.tensor(1), [&](const Tensor& out) {
          return S::diagonal(out, a.integer(2), a.integer(3), a.integer(4));
        });
      },
      moving("A copy of input with src on a diagonal."));
  r.composite(
      "select_scatter(Tensor input, Tensor src, int dim, int index) -> Tensor",
      [](Args a) {
        return with_part("select_scatter", a.tensor(0), a.tensor(1), [&](const Tensor& out) {
          return S::select(out, a.integer(2), a.integer(3));
        });
      },
      moving("A copy of input with src at index along dim."));
  r.composite(
      "slice_scatter(Tensor input, Tensor src, int dim=0, int? start=None, int? end=None, int "
      "step=1) -> Tensor",
      [](Args a) {
        return with_part("slice_scatter", a.tensor(0), a.tensor(1), [&](const Tensor& out) {
          return S::slice(out, a.integer(2), a[3], a[4], a.integer(5));
        });
      },
      moving("A copy of input with src at start:end:step along dim."));
}

// ── triangles ───────────────────────────────────────────────────────────────────────────────────

/// Numbers of rows and columns of the last two axes, as a column and a row.
std::pair<Tensor, Tensor> positions(std::string_view op, const Tensor& x) {
  require_rank(op, x, 2);
  Tensor rows = C::arange(0, x.size(-2), 1, DType::i64, x.device());
  return {S::unsqueeze(rows, 1), C::arange(0, x.size(-1), 1, DType::i64, x.device())};
}

Outputs triangle(Args a, std::string_view op, bool lower) {
  Tensor x = a.tensor(0);
  auto [rows, columns] = positions(op, x);
  Tensor limit = M::add(rows, a[1]);
  return {M::where(lower ? M::le(columns, limit) : M::ge(columns, limit), x, false)};
}

/// The sum of clamp(i + shift, 0, most) over i below count.
Int ramp(Int count, Int shift, Int most) {
  auto up_to = [](Int n) {
    const Int m = max(n, Int(0));
    return floor_div(m * (m - 1), 2);
  };
  auto above = [&](Int from) { return up_to(count + from) - up_to(from); };
  return above(shift) - above(shift - most);
}

/// Rows and columns of a triangle's elements, row by row: each row has a run of columns that begins
/// at 0 (lower) or ends with the last.
Outputs triangle_indices(Args a, std::string_view op, bool lower) {
  const Int rows = a.integer(0), columns = a.integer(1), offset = a.integer(2);
  if (!require(Relation::le, 0, rows) || !require(Relation::le, 0, columns))
    throw ValueError({.op = std::string(op),
                      .problem = "a negative size",
                      .got = absl::StrCat(to_string(rows), " x ", to_string(columns)),
                      .expected = "sizes of 0 or more",
                      .next = "give the sizes of the matrix"});
  const DType dtype = a.none(3) ? DType::i64 : a.dtype(3);
  const Int shift = lower ? offset + 1 : offset;
  const Int clipped = ramp(rows, shift, columns);
  const Int total = lower ? clipped : rows * columns - clipped;
  if (total == Int(0)) return {C::zeros({Int(2), Int(0)}, dtype, a[4])};
  Tensor first = C::arange(0, rows, 1, DType::i64, a[4]);
  Tensor cut = M::clamp(M::add(first, shift), Arg(0), Arg(columns));
  Tensor ends = R::cumsum(lower ? cut : M::sub(columns, cut), 0);
  Tensor place = C::arange(0, total, 1, DType::i64, a[4]);
  Tensor row = I::searchsorted(ends, place, true);
  // From the end of the row's run: its last column is known.
  Tensor back = M::sub(I::index_select(ends, 0, row), place);
  Tensor end = lower ? I::index_select(cut, 0, row) : Tensor();
  Tensor column = lower ? M::sub(end, back) : M::sub(columns, back);
  return {M::cast(S::stack({row, column}, 0), dtype)};
}

void add_triangles(Definitions& r) {
  auto with = [](std::string_view doc) {
    Extra e = moving(doc);
    e.inplace = true;
    return e;
  };
  r.composite(
      "tril(Tensor input, int diagonal=0) -> Tensor",
      [](Args a) { return triangle(a, "tril", true); },
      with("The lower triangle of the last two axes; zeros above the diagonal."));
  r.composite(
      "triu(Tensor input, int diagonal=0) -> Tensor",
      [](Args a) { return triangle(a, "triu", false); },
      with("The upper triangle of the last two axes; zeros below the diagonal."));
  auto indices = [&](std::string_view name, bool lower, std::string_view doc) {
    r.composite(
        absl::StrCat(name,
                     "(int row, int col, int offset=0, *, dtype? dtype=None, device? device=None) "
                     "-> Tensor"),
        [=](Args a) { return triangle_indices(a, name, lower); }, creating(doc));
  };
  indices("tril_indices", true, "Rows and columns of a lower triangle's elements, row by row.");
  indices("triu_indices", false, "Rows and columns of an upper triangle's elements, row by row.");
}

}  // namespace

void add_diagonal_definitions(Definitions& r) {
  r.view("diagonal(Tensor input, int offset=0, int dim1=0, int dim2=1) -> Tensor",
         diagonal_geometry,
         {.moves = true,
          .doc = "The diagonal of two axes as a new last axis; offset above 0 is right of it; a "
                 "view."});
  r.composite("linalg_diagonal(Tensor A, *, int offset=0, int dim1=-2, int dim2=-1) -> Tensor",
              [](Args a) -> Outputs {
                return {S::diagonal(a.tensor(0), a.integer(1), a.integer(2), a.integer(3))};
              },
              {.places = kNowhere,
               .also = {"linalg.diagonal"},
               .moves = true,
               .doc = "The diagonal of the last two axes as a new last axis; a view."});
  r.composite("diag_embed(Tensor input, int offset=0, int dim1=-2, int dim2=-1) -> Tensor",
              diag_embed_expansion,
              moving("Matrices with the last axis of input on a diagonal, zeros elsewhere."));
  r.composite("diag(Tensor input, int diagonal=0) -> Tensor", diag_expansion,
              moving("A matrix with the vector on a diagonal; of a matrix, a copy of one."));
  r.composite(
      "diagflat(Tensor input, int offset=0) -> Tensor",
      [](Args a) -> Outputs {
        return {S::diag_embed(S::reshape(a.tensor(0), {Int(-1)}), a.integer(1))};
      },
      moving("A matrix with all elements of input on a diagonal."));
  Extra written = moving(
      "Writes a number on the diagonal; wrap goes on below a tall matrix' "
      "squares.",
      kMethod);
  r.composite("fill_diagonal_(Tensor(!) input, Scalar fill_value, bool wrap=False) -> Tensor",
              fill_diagonal_expansion, written);
  add_scatters(r);
  add_triangles(r);
}

}  // namespace lathe
