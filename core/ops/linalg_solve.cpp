// Linear systems: inverses, determinants, and solutions by LU, LDL and triangles.
//
// The opaque definitions are what LAPACK does to a batch of matrices; all the rest is composed of
// them. Those named _ex say in `info` what went wrong with each matrix; with check_errors a fault
// is a LinAlgError instead.
#include <absl/strings/str_cat.h>

#include "core/ops/matrices.h"
#include "core/ops/names.h"

namespace lathe {
namespace {

using namespace names;

Extra lapack(std::string_view doc, uint8_t places = kNowhere) {
  Extra e{.domain = lapack_dtypes, .places = places, .leading = true};
  e.doc = doc;
  return e;
}

Extra lapack(std::string_view doc, Saves saves, GradRule grad) {
  Extra e = lapack(doc);
  e.saves = saves;
  e.grad = grad;
  return e;
}

// ── inverses and determinants ───────────────────────────────────────────────────────────────────

Types infer_inverse(Args a) {
  Tensor x = a.tensor(0);
  require_square("linalg.inv", "A", x);
  return {type_of(x), result_like(x, batch_of(x), DType::i32)};
}

Types infer_slogdet(Args a) {
  Tensor x = a.tensor(0);
  require_square("linalg.slogdet", "A", x);
  return {result_like(x, batch_of(x)), result_like(x, batch_of(x), real_type(x.dtype()))};
}

/// The derivative of a determinant is finite where it is 0, but 0 / 0 by the inverse: so of a
/// matrix beside the singular one.
Grads det_grad(Grad g) {
  Tensor x = L::off_singular(g.x(0));
  Tensor scale = M::mul(g.dy(), conjugate(L::det(x)));
  Tensor inverse = std::get<0>(L::inv_ex(x));
  return {M::mul(S::unsqueeze(as_column(scale), -1), adjoint(inverse))};
}

Grads slogdet_grad(Grad g) {
  Tensor scale = g.dy(1);
  if (is_complex(g.dtype(0))) {
    // The sign turns with the imaginary part of the logarithm.
    Tensor turn = M::imag_part(M::mul(g.dy(0), M::conj(g.y(0))));
    scale = M::complex(scale, turn);
  }
  Tensor inverse = std::get<0>(L::inv_ex(g.x(0)));
  return {M::mul(S::unsqueeze(as_column(scale), -1), adjoint(inverse))};
}

Outputs logdet_expansion(Args a) {
  auto [sign, logarithm] = L::slogdet(a.tensor(0));
  if (is_complex(sign.dtype()))
    return {M::complex(logarithm, M::atan2(M::imag_part(sign), M::real_part(sign)))};
  return {M::where(M::eq(sign, -1), std::numeric_limits<double>::quiet_NaN(), logarithm)};
}

void add_inverses(Definitions& r) {
  Extra ex = lapack("The inverse of each matrix, and 0, or which pivot was 0; that inverse is NaN.",
                    save_y(0), [](Grad g) { return Grads{inverse_cotangent(g.dy(), g.y(0))}; });
  ex.also = {"linalg.inv_ex"};
  r.opaque("linalg_inv_ex(Tensor A, *, bool check_errors=False) -> (Tensor inverse, Tensor info)",
           infer_inverse, ex);
  r.composite(
      "linalg_inv(Tensor A) -> Tensor",
      [](Args a) -> Outputs { return {std::get<0>(L::inv_ex(a.tensor(0), true))}; },
      in_module("linalg.inv", "The inverse of each matrix; a LinAlgError if one has none."));
  add_same(r, "inverse(Tensor input) -> Tensor", "linalg_inv");
  r.opaque(
      "linalg_off_singular(Tensor A) -> Tensor",
      [](Args a) -> Types {
        require_square("linalg.det", "A", a.tensor(0));
        return {type_of(a.tensor(0))};
      },
      lapack("A; where a pivot of its LU decomposition is 0, with that pivot as small as it can "
             "count. For derivatives.",
             {}, [](Grad g) { return Grads{g.dy()}; }));
  Extra det = lapack("The determinant of each matrix.", save_x(0), det_grad);
  det.also = {"linalg.det"};
  r.opaque(
      "linalg_det(Tensor A) -> Tensor",
      [](Args a) -> Types {
        require_square("linalg.det", "A", a.tensor(0));
        return {result_like(a.tensor(0), batch_of(a.tensor(0)))};
      },
      det);
  add_same(r, "det(Tensor input) -> Tensor", "linalg_det");
  Extra slogdet = lapack(
      "The sign of the determinant (of a complex one, a number of modulus 1), "
      "and the logarithm of its modulus.",
      Saves{1, 1}, slogdet_grad);
  slogdet.also = {"linalg.slogdet"};
  r.opaque("linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet)", infer_slogdet, slogdet);
  add_same(r, "slogdet(Tensor input) -> (Tensor sign, Tensor logabsdet)", "linalg_slogdet");
  r.composite("logdet(Tensor input) -> Tensor", logdet_expansion,
              {.doc = "The logarithm of the determinant; NaN where that is negative."});
}

// ── solutions ───────────────────────────────────────────────────────────────────────────────────

Types infer_solve(Args a) {
  Tensor x = a.tensor(0), b = a.tensor(1);
  require_square("linalg.solve", "A", x);
  require_alike("linalg.solve", x, b);
  require_one_batch("linalg.solve", x, b);
  require_sizes("linalg.solve", "B has another number of rows than A", x.size(-1), b.size(-2));
  return {type_of(b), result_like(b, batch_of(b), DType::i32)};
}

Grads solve_grad(Grad g) {
  Tensor b = std::get<0>(L::solve_matrices(adjoint(g.x(0)), g.dy(), false));
  return {g.wants(0) ? M::neg(times(b, adjoint(g.y(0)))) : Tensor(), b};
}

/// (result, info) of A X = B, or X A = B if not left.
Outputs solve(const Tensor& a, const Tensor& given, bool left, bool check) {
  const char* op = "linalg.solve";
  require_square(op, "A", a);
  require_alike(op, a, given);
  const bool vectors = given.rank() < 2 || holds_vectors(a, given);
  if (given.rank() == 0) require_matrix(op, "B", given);
  if (vectors && !left)
    throw ShapeError({.op = op,
                      .problem = "a vector has no columns for left=False",
                      .got = to_string(type_of(given)),
                      .expected = "a matrix B",
                      .next = "give B as rows: B.unsqueeze(-2)"});
  Tensor b = vectors ? as_column(given) : given;
  if (!left) {
    Outputs turned = solve(transposed(a), transposed(b), true, check);
    return {transposed(turned[0]), turned[1]};
  }
  require_sizes(op, "B has another number of rows than A", a.size(-1), b.size(-2));
  const Shape batch = common_batch(op, a, b);
  auto [x, info] = L::solve_matrices(expand_batch(a, batch), expand_batch(b, batch), check);
  return {vectors ? from_column(x) : x, info};
}

Types infer_triangular(Args a) {
  const char* op = "linalg.solve_triangular";
  Tensor x = a.tensor(0), b = a.tensor(1);
  require_square(op, "A", x);
  require_alike(op, x, b);
  require_one_batch(op, x, b);
  require_sizes(op, "the sizes of A and B do not fit", x.size(-1), b.size(a.flag(3) ? -2 : -1));
  return {type_of(b)};
}

Grads triangular_grad(Grad g) {
  const bool is_upper = g.flag(2), left = g.flag(3), ones = g.flag(4);
  Tensor b = L::triangular(adjoint(g.x(0)), g.dy(), !is_upper, left, ones), a;
  if (g.wants(0)) {
    a = M::neg(left ? times(b, adjoint(g.y(0))) : times(adjoint(g.y(0)), b));
    a = is_upper ? upper(a, ones ? 1 : 0) : lower(a, ones ? -1 : 0);
  }
  return {a, b};
}

Tensor solve_triangular(const Tensor& a, const Tensor& b, bool is_upper, bool left, bool ones) {
  const char* op = "linalg.solve_triangular";
  require_square(op, "A", a);
  require_matrix(op, "B", b);
  require_alike(op, a, b);
  require_sizes(op, "the sizes of A and B do not fit", a.size(-1), b.size(left ? -2 : -1));
  const Shape batch = common_batch(op, a, b);
  return L::triangular(expand_batch(a, batch), expand_batch(b, batch), is_upper, left, ones);
}

Outputs old_triangular_solve(Args args) {
  Tensor b = args.tensor(0), a = args.tensor(1);
  const bool turn = args.flag(3), is_upper = args.flag(2) != turn;
  Tensor x = solve_triangular(turn ? transposed(a) : a, b, is_upper, true, args.flag(4));
  return {x, M::clone(a)};
}

void add_solutions(Definitions& r) {
  r.opaque(
      "linalg_solve_matrices(Tensor A, Tensor B, bool check_errors) -> (Tensor result, Tensor "
      "info)",
      infer_solve,
      lapack("X of A X = B, for as many matrices B as A; see linalg.solve_ex.", Saves{1, 1},
             solve_grad));
  Extra ex = in_module("linalg.solve_ex",
                       "X of A X = B (X A = B if not left), and 0, or which pivot was 0; that X "
                       "is NaN.");
  r.composite(
      "linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> (Tensor "
      "result, Tensor info)",
      [](Args a) { return solve(a.tensor(0), a.tensor(1), a.flag(2), a.flag(3)); }, ex);
  r.composite(
      "linalg_solve(Tensor A, Tensor B, *, bool left=True) -> Tensor",
      [](Args a) -> Outputs { return {solve(a.tensor(0), a.tensor(1), a.flag(2), true)[0]}; },
      in_module("linalg.solve",
                "X of A X = B (X A = B if not left); a LinAlgError if an A is singular."));
  r.opaque(
      "linalg_triangular(Tensor A, Tensor B, bool upper, bool left, bool unitriangular) -> Tensor",
      infer_triangular,
      lapack("X of A X = B, for as many matrices B as A; see linalg.solve_triangular.", Saves{1, 1},
             triangular_grad));
  r.composite(
      "linalg_solve_triangular(Tensor input, Tensor B, *, bool upper, bool left=True, bool "
      "unitriangular=False) -> Tensor",
      [](Args a) -> Outputs {
        return {solve_triangular(a.tensor(0), a.tensor(1), a.flag(2), a.flag(3), a.flag(4))};
      },
      in_module("linalg.solve_triangular",
                "X of A X = B (X A = B if not left), of A only the upper (lower) triangle; with "
                "unitriangular its diagonal counts as 1. A singular A gives infinities."));
  r.composite(
      "triangular_solve(Tensor input, Tensor A, bool upper=True, bool transpose=False, bool "
      "unitriangular=False) -> (Tensor solution, Tensor cloned_coefficient)",
      old_triangular_solve,
      {.doc = "X of A X = input (A.mT X = input if transpose) with a triangular A, and A."});
}

// ── LU ──────────────────────────────────────────────────────────────────────────────────────────

Types infer_lu(Args a) {
  Tensor x = a.tensor(0);
  require_matrix("linalg.lu_factor", "A", x);
  if (!a.flag(1))
    throw UnsupportedError({.op = "linalg.lu_factor",
                            .problem = "there is no LU decomposition without pivots here",
                            .got = "pivot=False",
                            .expected = "pivot=True"});
  const Shape batch = batch_of(x);
  return {type_of(x), result_like(x, with_axes(batch, {min(x.size(-1), x.size(-2))}), DType::i32),
          result_like(x, batch, DType::i32)};
}

Types infer_permutation(Args a) {
  Tensor p = a.tensor(0);
  if (p.rank() == 0 || !require(Relation::le, Int(0), a.integer(1)))
    throw ShapeError({.op = "lu_unpack",
                      .problem = "these are no pivots of a matrix",
                      .got = absl::StrCat(to_string(type_of(p)), " of ", to_string(a[1]), " rows"),
                      .expected = "one pivot a column, as lu_factor() gives them"});
  return {result_like(p, with_axes(batch_of(p, 1), {a.integer(1)}), DType::i64)};
}

/// The rows of x in the order in which LU has them; or back, if inverse.
Tensor permuted_rows(const Tensor& x, const Tensor& pivots, bool inverse) {
  Tensor order = L::lu_permutation(pivots, x.size(-2), inverse);
  require_one_batch("linalg.lu_solve", x, order, 2, 1);
  return I::gather(x, -2, S::expand(as_column(order), x.shape()));
}

/// With P fixed: of the square part, P L^-H (tril(L^H gL) + triu(gU U^H)) U^-H; the columns or rows
/// beyond it are products of L or U, and what they hand on is added to these.
Grads lu_grad(Grad g) {
  Tensor lu = g.y(0), dy = g.dy();
  const Int m = lu.size(-2), n = lu.size(-1), k = min(m, n);
  Tensor square = columns(rows(lu, 0, k), 0, k), d = columns(rows(dy, 0, k), 0, k);
  Tensor low = with_diagonal(lower(square), 1), up = upper(square);
  auto by_low = [&](const Tensor& x) { return L::triangular(adjoint(low), x, true, true, true); };
  auto by_up = [&](const Tensor& x) { return L::triangular(adjoint(up), x, false, false, false); };
  Tensor from_low = times(adjoint(low), lower(d, -1)), from_up = times(upper(d), adjoint(up));
  Tensor beside, below;
  if (n > m) {
    beside = columns(dy, k, n);
    from_low = M::sub(from_low, times(beside, adjoint(columns(lu, k, n))));
    beside = by_low(beside);
  }
  if (m > n) {
    below = rows(dy, k, m);
    from_up = M::sub(from_up, times(adjoint(rows(lu, k, m)), below));
    below = by_up(below);
  }
  Tensor out = by_up(by_low(M::add(lower(from_low, -1), upper(from_up))));
  if (beside.defined()) out = S::cat({{out, beside}}, -1);
  if (below.defined()) out = S::cat({{out, below}}, -2);
  return {permuted_rows(out, g.y(1), true)};
}

Outputs lu_unpack(Args a) {
  Tensor lu = a.tensor(0), pivots = a.tensor(1);
  require_matrix("lu_unpack", "LU_data", lu);
  const Int m = lu.size(-2), n = lu.size(-1), k = min(m, n);
  const Tensor none = C::zeros({Int(0)}, lu.dtype(), lu.device());
  Outputs out{none, none, none};
  if (a.flag(3)) {
    Tensor order = L::lu_permutation(pivots, m, true);
    Tensor places = C::arange(0, m, 1, DType::i64, lu.device());
    out[0] = M::cast(M::eq(as_column(order), places), lu.dtype());
  }
  if (a.flag(2)) {
    out[1] = with_diagonal(lower(columns(lu, 0, k)), 1);
    out[2] = upper(rows(lu, 0, k));
  }
  return out;
}

/// X of A X = B, A^H X = B, X A = B or X A^H = B by the LU decomposition of A.
Tensor lu_solve(const Tensor& lu, const Tensor& pivots, const Tensor& given, bool left,
                bool adjoined) {
  const char* op = "linalg.lu_solve";
  require_square(op, "LU", lu);
  require_matrix(op, "B", given);
  require_alike(op, lu, given);
  if (!is_integer(pivots.dtype()))
    throw DTypeError({.op = op,
                      .problem = "pivots are integers",
                      .got = std::string(name(pivots.dtype())),
                      .expected = "pivots as lu_factor() gives them"});
  if (!left) return adjoint(lu_solve(lu, pivots, adjoint(given), true, !adjoined));
  require_sizes(op, "B has another number of rows than LU", lu.size(-1), given.size(-2));
  if (pivots.rank() == 0) require_one_batch(op, lu, pivots, 2, 1);
  const Shape batch = common_batch(op, lu, given);
  Tensor a = expand_batch(lu, batch), b = expand_batch(given, batch);
  Tensor swaps = expand_batch(pivots, batch, 1);
  if (!adjoined) {
    b = L::triangular(a, permuted_rows(b, swaps, false), false, true, true);
    return L::triangular(a, b, true, true, false);
  }
  Tensor turned = adjoint(a);
  b = L::triangular(turned, b, false, true, false);
  return permuted_rows(L::triangular(turned, b, true, true, true), swaps, true);
}

void add_lu(Definitions& r) {
  Extra ex = lapack(
      "L (below the diagonal, which is 1) and U in one matrix, the row that each row "
      "was swapped with, from 1, and 0, or which pivot was 0. The derivative takes "
      "the pivots as fixed.",
      Saves{0, 3}, lu_grad);
  ex.also = {"linalg.lu_factor_ex"};
  r.opaque(
      "linalg_lu_factor_ex(Tensor A, *, bool pivot=True, bool check_errors=False) -> (Tensor LU, "
      "Tensor pivots, Tensor info)",
      infer_lu, ex);
  r.opaque("linalg_lu_permutation(Tensor pivots, int rows, bool inverse) -> Tensor",
           infer_permutation,
           {.domain = integers,
            .no_grad = true,
            .places = kNowhere,
            .leading = true,
            .doc = "The order of rows that swapping by LAPACK's pivots leads to, or its inverse."});
  Extra factor =
      in_module("linalg.lu_factor",
                "L (below the diagonal, which is 1) and U in one matrix, and the pivots.");
  auto factors_and_info = [](Args a) -> Outputs {
    auto [lu, pivots, info] = L::lu_factor_ex(a.tensor(0), a.flag(1), false);
    return {lu, pivots, info};
  };
  auto factors = [factors_and_info](Args a) -> Outputs {
    Outputs all = factors_and_info(a);
    all.pop_back();
    return all;
  };
  r.composite("linalg_lu_factor(Tensor A, *, bool pivot=True) -> (Tensor LU, Tensor pivots)",
              factors, factor);
  r.composite("lu(Tensor A, bool pivot=True, False get_infos=False) -> (Tensor LU, Tensor pivots)",
              factors, {.doc = factor.doc});
  r.composite(
      "lu.infos(Tensor A, bool pivot=True, True get_infos) -> (Tensor LU, Tensor pivots, Tensor "
      "info)",
      factors_and_info,
      {.doc = "L (below the diagonal, which is 1) and U in one matrix, the pivots, and 0 or which "
              "pivot was 0."});
  r.composite(
      "lu_unpack(Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, bool "
      "unpack_pivots=True) -> (Tensor P, Tensor L, Tensor U)",
      lu_unpack,
      {.places = kFunction,
       .doc = "P, L and U of A = P L U from what lu_factor() gives; empty where not asked for."});
  r.composite(
      "linalg_lu(Tensor A, *, bool pivot=True) -> (Tensor P, Tensor L, Tensor U)",
      [](Args a) -> Outputs {
        auto [lu, pivots, info] = L::lu_factor_ex(a.tensor(0), a.flag(1), false);
        auto [p, low, up] = L::lu_unpack(lu, pivots);
        return {p, low, up};
      },
      in_module("linalg.lu", "P, L and U of A = P L U, by swapping rows for the largest pivot."));
  r.composite(
      "linalg_lu_solve(Tensor LU, Tensor pivots, Tensor B, *, bool left=True, bool adjoint=False) "
      "-> Tensor",
      [](Args a) -> Outputs {
        return {lu_solve(a.tensor(0), a.tensor(1), a.tensor(2), a.flag(3), a.flag(4))};
      },
      in_module("linalg.lu_solve",
                "X of A X = B (X A = B if not left; A^H for A if adjoint), of A's lu_factor()."));
  r.composite("lu_solve(Tensor input, Tensor LU_data, Tensor LU_pivots) -> Tensor",
              [](Args a) -> Outputs {
                return {lu_solve(a.tensor(1), a.tensor(2), a.tensor(0), true, false)};
              },
              {.doc = "X of A X = input, of A's LU decomposition."});
}

// ── LDL ─────────────────────────────────────────────────────────────────────────────────────────

Types infer_ldl(Args a) {
  Tensor x = a.tensor(0);
  require_square("linalg.ldl_factor", "A", x);
  const Shape batch = batch_of(x);
  return {type_of(x), result_like(x, with_axes(batch, {x.size(-1)}), DType::i32),
          result_like(x, batch, DType::i32)};
}

Types infer_ldl_solve(Args a) {
  const char* op = "linalg.ldl_solve";
  Tensor x = a.tensor(0), pivots = a.tensor(1), b = a.tensor(2);
  require_square(op, "LD", x);
  require_alike(op, x, b);
  require_one_batch(op, x, b);
  require_one_batch(op, x, pivots, 2, 1);
  require_sizes(op, "B has another number of rows than LD", x.size(-1), b.size(-2));
  require_sizes(op, "there are not as many pivots as rows", x.size(-1), pivots.size(-1));
  return {type_of(b)};
}

Outputs ldl_solve(Args a) {
  Tensor ld = a.tensor(0), pivots = a.tensor(1), b = a.tensor(2);
  const char* op = "linalg.ldl_solve";
  require_square(op, "LD", ld);
  require_matrix(op, "B", b);
  require_alike(op, ld, b);
  require_sizes(op, "B has another number of rows than LD", ld.size(-1), b.size(-2));
  if (pivots.rank() == 0) require_one_batch(op, ld, pivots, 2, 1);
  const Shape batch = common_batch(op, ld, b);
  return {L::ldl_solve_matrices(expand_batch(ld, batch),
                                expand_batch(M::cast(pivots, DType::i32), batch, 1),
                                expand_batch(b, batch), a.flag(3))};
}

void add_ldl(Definitions& r) {
  Extra ex = lapack(
      "L and D in one matrix of A = L D L^T (L^H if hermitian), of which only the "
      "lower triangle is read; LAPACK's pivots, and 0, or which element of D is 0.");
  ex.no_grad = true;
  ex.also = {"linalg.ldl_factor_ex"};
  r.opaque(
      "linalg_ldl_factor_ex(Tensor input, *, bool hermitian=False, bool check_errors=False) -> "
      "(Tensor LD, Tensor pivots, Tensor info)",
      infer_ldl, ex);
  Extra factor = in_module("linalg.ldl_factor",
                           "L and D in one matrix of A = L D L^T (L^H if hermitian), and pivots.");
  factor.no_grad = true;
  r.composite(
      "linalg_ldl_factor(Tensor input, *, bool hermitian=False) -> (Tensor LD, Tensor pivots)",
      [](Args a) -> Outputs {
        auto [ld, pivots, info] = L::ldl_factor_ex(a.tensor(0), a.flag(1), false);
        return {ld, pivots};
      },
      factor);
  Extra solver = lapack("X of A X = B, for as many matrices B as LD; see linalg.ldl_solve.");
  solver.no_grad = true;
  r.opaque(
      "linalg_ldl_solve_matrices(Tensor LD, Tensor pivots, Tensor B, bool hermitian) -> Tensor",
      infer_ldl_solve, solver);
  Extra solves = in_module("linalg.ldl_solve", "X of A X = B, of A's ldl_factor().");
  solves.no_grad = true;
  r.composite(
      "linalg_ldl_solve(Tensor LD, Tensor pivots, Tensor B, *, bool hermitian=False) -> Tensor",
      ldl_solve, solves);
}

}  // namespace

void add_linalg_solve_definitions(Definitions& r) {
  add_inverses(r);
  add_solutions(r);
  add_lu(r);
  add_ldl(r);
}

}  // namespace lathe
