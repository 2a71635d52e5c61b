// Joining tensors and laying their values out against each other: stacks, blocks, grids.
#include <absl/strings/str_cat.h>

#include "core/infer/rules.h"
#include "core/ops/families.h"
#include "core/ops/names.h"

namespace lathe {
namespace {

using namespace names;

/// x with at least so many axes: a row is [1, n], and in three axes [1, n, 1], as in NumPy.
Tensor at_least(Tensor x, int rank) {
  if (x.rank() == 0) x = S::unsqueeze(x, 0);
  if (x.rank() == 1 && rank >= 2) x = S::unsqueeze(x, 0);
  if (x.rank() == 2 && rank >= 3) x = S::unsqueeze(x, 2);
  return x;
}

Tensors at_least(Tensors xs, int rank) {
  for (Tensor& x : xs) x = at_least(x, rank);
  return xs;
}

void require_some(std::string_view op, const Tensors& xs) {
  if (!xs.empty()) return;
  throw ValueError({.op = std::string(op),
                    .problem = "there is nothing to join",
                    .got = "an empty list",
                    .expected = "at least one tensor",
                    .next = "leave the call out where the list is empty"});
}

Outputs column_stack_expansion(Args a) {
  Tensors xs = a.tensors(0);
  require_some("column_stack", xs);
  for (Tensor& x : xs)
    if (x.rank() < 2) x = S::reshape(x, {x.numel(), Int(1)});
  return {S::cat(xs, 1)};
}

Outputs block_diag_expansion(Args a) {
  Tensors xs = a.tensors(0);
  require_some("block_diag", xs);
  DType dtype = xs[0].dtype();
  Int rows = 0, columns = 0;
  for (Tensor& x : xs) {
    require_rank("block_diag", x, 0, 2);
    require_one_device("block_diag", "the blocks", xs[0].device(), x.device());
    x = at_least(x, 2);
    dtype = promote(dtype, x.dtype());
    rows += x.size(0);
    columns += x.size(1);
  }
  Tensor out = C::zeros({rows, columns}, dtype, xs[0].device());
  rows = columns = 0;
  for (const Tensor& x : xs) {
    Tensor band = S::slice(out, 0, rows, rows + x.size(0));
    assign(S::slice(band, 1, columns, columns + x.size(1)), x);
    rows += x.size(0);
    columns += x.size(1);
  }
  return {out};
}

// ── grids ───────────────────────────────────────────────────────────────────────────────────────

/// Every tensor as an axis of its own, expanded over those of the others.
Tensors grid_of(std::string_view op, Tensors xs) {
  Shape shape;
  for (Tensor& x : xs) {
    require_rank(op, x, 0, 1);
    if (x.dtype() != xs[0].dtype())
      throw DTypeError({.op = std::string(op),
                        .problem = "the tensors differ in dtype",
                        .got = absl::StrCat(name(xs[0].dtype()), " and ", name(x.dtype())),
                        .expected = "one dtype",
                        .next = "convert them with .to(dtype)"});
    require_one_device(op, "the tensors", xs[0].device(), x.device());
    x = at_least(x, 1);
    shape.push_back(x.size(0));
  }
  for (size_t i = 0; i < xs.size(); ++i) {
    Shape alone(xs.size(), Int(1));
    alone[i] = shape[i];
    xs[i] = S::expand(S::view(xs[i], alone), shape);
  }
  return xs;
}

Outputs meshgrid_expansion(Args a) {
  Tensors xs = a.tensors(0);
  require_some("meshgrid", xs);
  const std::string_view order = a.none(1) ? "ij" : a.text(1);
  if (order != "ij" && order != "xy")
    throw ValueError({.op = "meshgrid",
                      .problem = "an unknown order of axes",
                      .got = absl::StrCat("indexing='", order, "'"),
                      .expected = "'ij' or 'xy'",
                      .next = "'xy' exchanges the first two axes, as for pictures"});
  const bool exchanged = order == "xy" && xs.size() > 1;
  if (exchanged) std::swap(xs[0], xs[1]);
  xs = grid_of("meshgrid", std::move(xs));
  if (!exchanged) return xs;
  std::swap(xs[0], xs[1]);
  return xs;
}

Outputs cartesian_expansion(Args a) {
  Tensors xs = a.tensors(0);
  require_some("cartesian_prod", xs);
  for (const Tensor& x : xs) require_rank("cartesian_prod", x, 1, 1);
  if (xs.size() == 1) return {xs[0]};
  xs = grid_of("cartesian_prod", std::move(xs));
  for (Tensor& x : xs) x = S::reshape(x, {Int(-1)});
  return {S::stack(xs, 1)};
}

/// How many ways there are to choose k of n.
Int choose(Int n, int64_t k) {
  Int ways = 1;
  for (int64_t i = 1; i <= k; ++i) ways = floor_div(ways * (n - Int(k - i)), Int(i));
  return ways;
}

/// The places of r of n elements in ascending order, a vector for each of the r. Every row so far
/// is followed by all places behind its last one, or from that on.
Tensors choices(Int n, int64_t r, bool repeated, Device device) {
  Tensors columns{C::arange(0, n, 1, DType::i64, device)};
  for (int64_t k = 2; k <= r; ++k) {
    Tensor room = M::sub(repeated ? n : n - 1, columns.back());
    Tensor ends = reduce_ops<Tensor>::cumsum(room, 0);
    const Int total = choose(repeated ? n + (k - 1) : n, k);
    Tensor place = C::arange(0, total, 1, DType::i64, device);
    Tensor row = I::searchsorted(ends, place, true);
    for (Tensor& column : columns) column = I::index_select(column, 0, row);
    columns.push_back(M::add(M::sub(place, I::index_select(ends, 0, row)), n));
  }
  return columns;
}

Outputs combinations_expansion(Args a) {
  Tensor x = a.tensor(0);
  require_rank("combinations", x, 1, 1);
  const Int r = a.integer(1);
  if (r < Int(0))
    throw ValueError({.op = "combinations",
                      .problem = "a negative number of elements",
                      .got = to_string(r),
                      .expected = "0 or more",
                      .next = "r is how many are taken at a time"});
  if (r == Int(0)) return {C::zeros({Int(0)}, x.dtype(), x.device())};
  Tensors taken = choices(x.size(0), r.value(), a.flag(2), x.device());
  for (Tensor& column : taken) column = I::index_select(x, 0, column);
  return {S::stack(taken, 1)};
}

Outputs broadcast_expansion(Args a) {
  Tensors xs = a.tensors(0);
  Shape shape;
  for (const Tensor& x : xs) shape = broadcast_shapes("broadcast_tensors", shape, x.shape());
  for (Tensor& x : xs) x = S::expand(x, shape);
  return xs;
}

// ── definitions ─────────────────────────────────────────────────────────────────────────────────

/// <name>(x) gives a tensor, <name>(x, y, ...) and <name>([...]) a tuple of them.
void add_at_least(Definitions& r, int rank) {
  const std::string name = absl::StrCat("atleast_", rank, "d");
  const Extra extra = moving("As it is, with axes of size 1 where it has fewer; views.", kFunction);
  r.composite(
      absl::StrCat(name, "(Tensor input) -> Tensor"),
      [rank](Args a) -> Outputs { return {at_least(a.tensor(0), rank)}; }, extra);
  r.composite(
      absl::StrCat(name, ".each(Tensor... tensors) -> Tensor[]"),
      [rank](Args a) -> Outputs { return at_least(a.tensors(0), rank); }, extra);
}

/// Joined along `axis` once each has so many axes.
void add_stack(Definitions& r, std::string_view name, int rank, int axis, std::string_view doc,
               std::vector<std::string_view> also = {}) {
  Extra extra = moving(doc, kFunction);
  extra.also = std::move(also);
  r.composite(
      absl::StrCat(name, "(Tensor[] tensors) -> Tensor"),
      [=](Args a) -> Outputs {
        Tensors xs = at_least(a.tensors(0), rank);
        require_some(name, xs);
        return {S::cat(xs, rank == 1 && xs[0].rank() == 1 ? 0 : axis)};
      },
      extra);
}

}  // namespace

void add_join_definitions(Definitions& r) {
  for (int rank : {1, 2, 3}) add_at_least(r, rank);
  add_stack(r, "hstack", 1, 1, "Tensors side by side: along axis 1, vectors along axis 0.");
  add_stack(r, "vstack", 2, 0, "Tensors one below the other: along axis 0, vectors as rows.",
            {"row_stack"});
  add_stack(r, "dstack", 3, 2, "Tensors one behind the other: along axis 2.");
  r.composite("column_stack(Tensor[] tensors) -> Tensor", column_stack_expansion,
              moving("Tensors side by side along axis 1, vectors as columns.", kFunction));
  r.composite("block_diag(Tensor... tensors) -> Tensor", block_diag_expansion,
              moving("Matrices along the diagonal of one, zeros elsewhere.", kFunction));
  r.composite(
      "meshgrid(Tensor... tensors, *, str? indexing=None) -> Tensor[]", meshgrid_expansion,
      moving("Each vector as one axis of a grid, expanded over the others; views.", kFunction));
  r.composite(
      "cartesian_prod(Tensor... tensors) -> Tensor", cartesian_expansion,
      moving("All rows with one element of each vector, the last changing fastest.", kFunction));
  r.composite("combinations(Tensor input, int r=2, bool with_replacement=False) -> Tensor",
              combinations_expansion,
              moving("All rows of r elements of a vector in its order, each taken once unless "
                     "with_replacement.",
                     kFunction));
  r.composite("broadcast_tensors(Tensor... tensors) -> Tensor[]", broadcast_expansion,
              moving("Each expanded to the shape that all have in common; views.", kFunction));
}

}  // namespace lathe
