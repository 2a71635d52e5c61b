// Cholesky and QR decompositions, least squares, pseudoinverses, and the exponential of a matrix.
#include <absl/strings/str_cat.h>

#include "core/ops/matrices.h"
#include "core/ops/names.h"

namespace lathe {
namespace {

using namespace names;

Extra lapack(std::string_view doc, std::vector<std::string_view> also = {}) {
  Extra e{.domain = lapack_dtypes, .places = kNowhere, .also = std::move(also), .leading = true};
  e.doc = doc;
  return e;
}

[[noreturn]] void no_derivative(std::string_view op, std::string_view got,
                                std::string_view expected) {
  throw AutogradError({.op = std::string(op),
                       .problem = "there is no derivative of this",
                       .got = std::string(got),
                       .expected = std::string(expected),
                       .next = "call it under no_grad(), or with the other mode"});
}

// ── Cholesky ────────────────────────────────────────────────────────────────────────────────────

/// L^-H phi(L^H gL) L^-1, made Hermitian; phi is the lower triangle with half the diagonal.
Grads cholesky_grad(Grad g) {
  const bool turned = g.flag(1);
  Tensor low = turned ? adjoint(g.y(0)) : g.y(0), d = turned ? adjoint(g.dy()) : g.dy();
  Tensor half = with_diagonal(
      C::ones({low.size(-1), low.size(-1)}, real_type(low.dtype()), low.device()), 0.5);
  Tensor phi = M::mul(lower(times(adjoint(low), d)), half);
  phi = M::mul(M::add(phi, adjoint(phi)), 0.5);
  Tensor left = L::triangular(adjoint(low), phi, true, true, false);
  return {L::triangular(low, left, false, false, false)};
}

Outputs cholesky_solve(Args a) {
  Tensor b = a.tensor(0), factor = a.tensor(1);
  const bool is_upper = a.flag(2);
  // Of L L^H or U^H U; only the named triangle is read.
  Tensor first = is_upper ? adjoint(factor) : factor, second = is_upper ? factor : adjoint(factor);
  return {L::solve_triangular(second, L::solve_triangular(first, b, false, true, false), true, true,
                              false)};
}

void add_cholesky(Definitions& r) {
  Extra ex = lapack(
      "L of A = L L^H (U of U^H U if upper) of a Hermitian positive-definite matrix, "
      "of which only that triangle is read; and 0, or the order of the leading minor "
      "that is not positive. The derivative is that of a Hermitian matrix.",
      {"linalg.cholesky_ex"});
  ex.saves = save_y(0);
  ex.grad = cholesky_grad;
  r.opaque(
      "linalg_cholesky_ex(Tensor input, *, bool upper=False, bool check_errors=False) -> (Tensor "
      "L, "
      "Tensor info)",
      [](Args a) -> Types {
        Tensor x = a.tensor(0);
        require_square("linalg.cholesky", "A", x);
        return {type_of(x), result_like(x, batch_of(x), DType::i32)};
      },
      ex);
  Extra simple = in_module("linalg.cholesky",
                           "L of A = L L^H (U of U^H U if upper); a LinAlgError if a matrix is not "
                           "positive-definite. Only that triangle is read.");
  auto expansion = [](Args a) -> Outputs {
    return {std::get<0>(L::cholesky_ex(a.tensor(0), a.flag(1), true))};
  };
  r.composite("linalg_cholesky(Tensor input, *, bool upper=False) -> Tensor", expansion, simple);
  r.composite("cholesky(Tensor input, bool upper=False) -> Tensor", expansion, {.doc = simple.doc});
  r.composite("cholesky_solve(Tensor input, Tensor input2, bool upper=False) -> Tensor",
              cholesky_solve, {.doc = "X of A X = input, of A's Cholesky factor input2."});
  r.composite("cholesky_inverse(Tensor input, bool upper=False) -> Tensor",
              [](Args a) -> Outputs {
                Tensor x = a.tensor(0);
                require_square("cholesky_inverse", "the factor", x);
                return {L::cholesky_solve(unit_like(x, x.size(-1)), x, a.flag(1))};
              },
              {.doc = "The inverse of A, of its Cholesky factor."});
}

// ── QR ──────────────────────────────────────────────────────────────────────────────────────────

Types infer_qr(Args a) {
  Tensor x = a.tensor(0);
  require_matrix("linalg.qr", "A", x);
  const std::string_view mode = a.text(1);
  const Int m = x.size(-2), n = x.size(-1), k = min(m, n);
  const Shape batch = batch_of(x);
  if (mode == "r") return {result_like(x, {Int(0)}), result_like(x, with_axes(batch, {k, n}))};
  if (mode != "reduced" && mode != "complete")
    throw ValueError({.op = "linalg.qr",
                      .problem = "an unknown mode",
                      .got = absl::StrCat("'", mode, "'"),
                      .expected = "'reduced', 'complete' or 'r'"});
  const Int held = mode == "reduced" ? k : m;
  return {result_like(x, with_axes(batch, {m, held})), result_like(x, with_axes(batch, {held, n}))};
}

/// The cotangent of a matrix of at least as many rows as columns: (gQ + Q sym(triu(gR R^H - Q^H
/// gQ))) R^-H, where sym mirrors a triangle and leaves the diagonal's real part.
Tensor tall_qr_cotangent(const Tensor& q, const Tensor& r, const Tensor& dq, const Tensor& dr) {
  Tensor inner = upper(M::sub(times(dr, adjoint(r)), times(adjoint(q), dq)));
  Tensor mirrored = M::add(upper(inner, 1), adjoint(inner));
  if (is_complex(q.dtype())) mirrored = with_real_diagonal(mirrored);
  return L::triangular(adjoint(r), M::add(dq, times(q, mirrored)), false, false, false);
}

Grads qr_grad(Grad g) {
  const std::string_view mode = g.arg(1).text_;
  const Int m = g.shape(0)[g.shape(0).size() - 2], n = g.shape(0).back();
  if (mode == "r") no_derivative("linalg.qr", "mode='r'", "mode='reduced', which gives Q too");
  if (mode == "complete" && m > n)
    no_derivative("linalg.qr", "mode='complete' of more rows than columns", "mode='reduced'");
  Tensor q = g.y(0), r = g.y(1), dq = g.dy(0), dr = g.dy(1);
  if (m >= n) return {tall_qr_cotangent(q, r, dq, dr)};
  // A = [X Y], R = [U V]: X = Q U decides Q, and V = Q^H Y.
  Tensor v = columns(r, m, n), dv = columns(dr, m, n);
  dq = M::add(dq, times(q, times(v, adjoint(dv))));
  Tensor left = tall_qr_cotangent(q, columns(r, 0, m), dq, columns(dr, 0, m));
  return {S::cat({{left, times(q, dv)}}, -1)};
}

/// Of a product Q E of reflections I - tau v v^H, E the first columns of the unit matrix: what
/// flows to the vectors, which lie below the diagonal of `a`, and to tau. `dq` is of Q E.
struct ReflectorCotangents {
  Tensor a, tau;
};
ReflectorCotangents reflector_cotangents(const Tensor& a, const Tensor& tau, const Tensor& dq) {
  const int64_t k = tau.size(-1).value();
  const Int m = a.size(-2), n = a.size(-1);
  Tensor vectors = with_diagonal(lower(a, -1), 1);
  auto vector = [&](int64_t i) { return columns(vectors, i, i + 1); };
  auto factor = [&](int64_t i) { return S::unsqueeze(S::narrow(tau, -1, i, 1), -1); };
  auto reflect = [&](int64_t i, const Tensor& t, const Tensor& x) {
    Tensor v = vector(i);
    return M::sub(x, M::mul(t, times(v, times(adjoint(v), x))));
  };
  std::vector<Tensor> behind(static_cast<size_t>(k) + 1);  // products of the reflections from i on
  behind.back() = C::eye(m, dq.size(-1), a.dtype(), a.device());
  for (int64_t i = k; i-- > 0;)
    behind[static_cast<size_t>(i)] = reflect(i, factor(i), behind[static_cast<size_t>(i) + 1]);
  Tensors da, dtau;
  Tensor before = dq;
  for (int64_t i = 0; i < k; ++i) {
    const Tensor &rest = behind[static_cast<size_t>(i) + 1], v = vector(i), t = factor(i);
    Tensor into = times(adjoint(rest), v), out = times(adjoint(before), v);
    dtau.push_back(M::neg(S::squeeze(times(adjoint(out), into), {Int(-1)})));
    Tensor dv =
        M::neg(M::add(M::mul(conjugate(t), times(before, into)), M::mul(t, times(rest, out))));
    da.push_back(dv);
    before = reflect(i, conjugate(t), before);
  }
  if (k == 0) return {C::zeros(a.shape(), a.dtype(), a.device()), Tensor()};
  Tensor all = lower(S::cat(da, -1), -1);
  if (n > Int(k)) {
    Shape rest = a.shape();
    rest.back() = n - Int(k);
    all = S::cat({{all, C::zeros(rest, a.dtype(), a.device())}}, -1);
  }
  return {all, S::cat(dtau, -1)};
}

Grads householder_grad(Grad g) {
  auto [a, tau] = reflector_cotangents(g.x(0), g.x(1), g.dy());
  return {a, tau};
}

Grads reflect_grad(Grad g) {
  const bool left = g.flag(3), turned = g.flag(4);
  Tensor other = L::reflect(g.x(0), g.x(1), g.dy(), left, !turned);
  if (!g.wants(0) && !g.wants(1)) return {Tensor(), Tensor(), other};
  Tensor x = g.x(2), d = g.dy();
  Tensor dq = left ? times(d, adjoint(x)) : times(adjoint(x), d);
  auto [a, tau] = reflector_cotangents(g.x(0), g.x(1), turned ? adjoint(dq) : dq);
  return {a, tau, other};
}

void require_reflectors(std::string_view op, const Tensor& x, const Tensor& tau) {
  require_matrix(op, "input", x);
  require_alike(op, x, tau);
  if (tau.rank() != x.rank() - 1)
    throw ShapeError({.op = std::string(op),
                      .problem = "tau has not one axis fewer than input",
                      .got = absl::StrCat(to_string(type_of(x)), " and ", to_string(type_of(tau))),
                      .expected = "tau[..., reflectors] as geqrf() gives it"});
  for (int i = 0; i + 1 < tau.rank(); ++i)
    require_sizes(op, "input and tau have another batch", x.size(i), tau.size(i));
  if (!require(Relation::le, tau.size(-1), x.size(-1)))
    require_sizes(op, "there are more reflectors than columns", tau.size(-1), x.size(-1));
}

Types infer_householder(Args a) {
  Tensor x = a.tensor(0);
  const char* op = "linalg.householder_product";
  require_reflectors(op, x, a.tensor(1));
  if (!require(Relation::le, x.size(-1), x.size(-2)))
    require_sizes(op, "input has more columns than rows", x.size(-1), x.size(-2));
  return {type_of(x)};
}

Types infer_reflect(Args a) {
  Tensor x = a.tensor(0), tau = a.tensor(1), other = a.tensor(2);
  require_reflectors("ormqr", x, tau);
  require_matrix("ormqr", "other", other);
  require_alike("ormqr", x, other);
  require_one_batch("ormqr", x, other);
  if (!require(Relation::le, tau.size(-1), x.size(-2)))
    require_sizes("ormqr", "there are more reflectors than rows", tau.size(-1), x.size(-2));
  require_sizes("ormqr", "other does not fit Q's size", other.size(a.flag(3) ? -2 : -1),
                x.size(-2));
  return {type_of(other)};
}

void add_qr(Definitions& r) {
  Extra qr = lapack(
      "Q and R of A = Q R. Mode 'reduced': min(m, n) columns of Q; 'complete': all; "
      "'r': only R.",
      {"linalg.qr"});
  qr.saves = Saves{0, 3};
  qr.grad = qr_grad;
  r.opaque("linalg_qr(Tensor A, str mode='reduced') -> (Tensor Q, Tensor R)", infer_qr, qr);
  r.composite("qr(Tensor input, bool some=True) -> (Tensor Q, Tensor R)",
              [](Args a) -> Outputs {
                auto [q, upper] = L::qr(a.tensor(0), a.flag(1) ? "reduced" : "complete");
                return {q, upper};
              },
              {.doc = "Q and R of input = Q R; with some=False all columns of Q."});
  Extra geqrf = lapack(
      "The reflectors of a QR decomposition as LAPACK has them: R above, the "
      "vectors below the diagonal, and their factors tau.");
  geqrf.places = kFunction | kMethod;
  geqrf.no_grad = true;
  r.opaque(
      "geqrf(Tensor input) -> (Tensor a, Tensor tau)",
      [](Args a) -> Types {
        Tensor x = a.tensor(0);
        require_matrix("geqrf", "input", x);
        return {type_of(x), result_like(x, with_axes(batch_of(x), {min(x.size(-1), x.size(-2))}))};
      },
      geqrf);
  Extra product = lapack("The first columns of the product of reflections that geqrf() gives.",
                         {"linalg.householder_product"});
  product.saves = Saves{3, 0};
  product.grad = householder_grad;
  r.opaque("linalg_householder_product(Tensor input, Tensor tau) -> Tensor", infer_householder,
           product);
  add_same(r, "orgqr(Tensor input, Tensor input2) -> Tensor", "linalg_householder_product");
  Extra reflect = lapack("other multiplied by the product of all reflections; see ormqr.");
  reflect.saves = Saves{7, 0};
  reflect.grad = reflect_grad;
  r.opaque(
      "linalg_reflect(Tensor input, Tensor tau, Tensor other, bool left, bool transpose) -> Tensor",
      infer_reflect, reflect);
  r.composite(
      "ormqr(Tensor input, Tensor tau, Tensor other, bool left=True, bool transpose=False) -> "
      "Tensor",
      [](Args a) -> Outputs {
        return {L::reflect(a.tensor(0), a.tensor(1), a.tensor(2), a.flag(3), a.flag(4))};
      },
      {.doc = "Q other (other Q if not left; Q^H for Q if transpose), Q the product of all "
              "reflections that geqrf() gives."});
}

// ── least squares, pseudoinverses ───────────────────────────────────────────────────────────────

bool has_residuals(std::string_view driver, Int m, Int n) { return driver != "gelsy" && m > n; }
bool gives_values(std::string_view driver) { return driver == "gelsd" || driver == "gelss"; }

Types infer_least_squares(Args a) {
  Tensor x = a.tensor(0), b = a.tensor(1);
  const std::string_view driver = a.text(3);
  const char* op = "linalg.lstsq";
  require_matrix(op, "A", x);
  require_alike(op, x, b);
  require_one_batch(op, x, b);
  require_sizes(op, "B has another number of rows than A", x.size(-2), b.size(-2));
  const Int m = x.size(-2), n = x.size(-1);
  const Shape batch = batch_of(x), none{Int(0)};
  const DType real = real_type(x.dtype());
  return {result_like(x, with_axes(batch, {n, b.size(-1)})),
          result_like(x, has_residuals(driver, m, n) ? with_axes(batch, {b.size(-1)}) : none, real),
          result_like(x, driver == "gels" ? none : batch, DType::i64),
          result_like(x, gives_values(driver) ? with_axes(batch, {min(m, n)}) : none, real)};
}

Grads least_squares_grad(Grad g) {
  Tensor a = g.x(0), b = g.x(1), x = g.y(0);
  Tensor inverse = L::pinv(a, Arg(), Arg(), false);
  Tensor da = pseudoinverse_cotangent(times(g.dy(0), adjoint(b)), a, inverse);
  Tensor db = times(adjoint(inverse), g.dy(0));
  if (g.flows(1) && has_residuals(g.arg(3).text_, a.size(-2), a.size(-1))) {
    Tensor error = M::mul(M::sub(times(a, x), b), M::mul(S::unsqueeze(g.dy(1), -2), 2));
    da = M::add(da, times(error, adjoint(x)));
    db = M::sub(db, error);
  }
  if (g.flows(3) && gives_values(g.arg(3).text_)) {
    auto [u, s, vh] = L::svd_parts(a, false);
    da = M::add(da, times(M::mul(u, S::unsqueeze(g.dy(3), -2)), vh));
  }
  return {da, db};
}

/// Residuals are there where all matrices have full rank, as in PyTorch; only drivers that count
/// the rank by singular values look.
Tensor residuals_of(const Tensor& residuals, const Tensor& rank, Int columns) {
  if (thread_state().trace_epoch != 0)
    throw TraceError({.op = "linalg.lstsq",
                      .problem = "whether there are residuals depends on data, which a trace "
                                 "never sees",
                      .got = "driver 'gelsd' or 'gelss', and more rows than columns",
                      .expected = "results whose sizes follow from those of operands",
                      .next = "use driver 'gelsy' or 'gels', and compute the residuals from the "
                              "solution"});
  GradMode no_grad(false);
  const Tensor full = R::all(M::eq(rank, Arg(columns)));
  return full.item_int() != 0 ? residuals : C::zeros({Int(0)}, residuals.dtype(), rank.device());
}

Outputs lstsq_expansion(Args args) {
  Tensor a = args.tensor(0), given = args.tensor(1);
  const char* op = "linalg.lstsq";
  const std::string driver(args.none(3) ? "gelsy" : args.text(3));
  require_matrix(op, "A", a);
  require_alike(op, a, given);
  if (driver != "gelsy" && driver != "gels" && driver != "gelsd" && driver != "gelss")
    throw ValueError({.op = op,
                      .problem = "an unknown driver",
                      .got = absl::StrCat("'", driver, "'"),
                      .expected = "'gels', 'gelsy', 'gelsd' or 'gelss'"});
  const bool vector = holds_vectors(a, given);
  if (!vector) require_matrix(op, "B", given);
  Tensor b = vector ? as_column(given) : given;
  require_sizes(op, "B has another number of rows than A", a.size(-2), b.size(-2));
  const Shape batch = common_batch(op, a, b);
  auto [x, residuals, rank, values] =
      L::least_squares(expand_batch(a, batch), expand_batch(b, batch), args[2], driver.c_str());
  {
    GradMode no_grad(false);  // nobody differentiates these, as in PyTorch
    values = M::clone(values);
  }
  if (gives_values(driver) && has_residuals(driver, a.size(-2), a.size(-1)))
    residuals = residuals_of(residuals, rank, a.size(-1));
  return {vector ? from_column(x) : x, residuals, rank, values};
}

/// Singular values (or moduli of eigenvalues) up to this count as 0: the larger of atol and rtol
/// times the largest. rtol None: eps max(m, n), unless atol is positive.
Tensor cutoff(const Tensor& x, const Tensor& magnitudes, const Arg& atol, const Arg& rtol) {
  const DType real = magnitudes.dtype();
  const double eps = real == DType::f64 ? 0x1p-52 : 0x1p-23;
  auto per_matrix = [&](const Arg& a) -> Tensor {
    Tensor t = a.tag == Tag::tensor ? M::cast(a.tensor(), real)
                                    : C::full(Shape{}, a.none() ? Arg(0.0) : a, real, x.device());
    return S::unsqueeze(t, -1);
  };
  Tensor least = per_matrix(atol), relative;
  if (rtol.none()) {
    Tensor usual = C::full(Shape{}, eps, real, x.device());
    usual = M::mul(usual, Arg(max(x.size(-1), x.size(-2))));
    relative = atol.none() ? usual : M::where(M::gt(least, 0), 0.0, usual);
  } else {
    relative = per_matrix(rtol);
  }
  return M::maximum(least, M::mul(relative, R::amax(magnitudes, {Int(-1)}, true)));
}

/// The pseudoinverse as a value, without history.
Tensor pinv_value(const Tensor& x, const Arg& atol, const Arg& rtol, bool hermitian) {
  GradMode no_grad(false);
  Tensor left, values, right;
  if (hermitian) {
    std::tie(values, left) = L::eigh(x, "L");
    right = adjoint(left);
  } else {
    std::tie(left, values, right) = L::svd_parts(x, false);
  }
  Tensor magnitudes = hermitian ? M::abs(values) : values;
  Tensor keep = M::gt(magnitudes, cutoff(x, magnitudes, atol, rtol));
  Tensor inverse = M::where(keep, M::reciprocal(M::where(keep, values, 1.0)), 0.0);
  return times(M::mul(adjoint(right), S::unsqueeze(inverse, -2)), adjoint(left));
}

Outputs pinv_expansion(const Tensor& x, const Arg& atol, const Arg& rtol, bool hermitian) {
  require_matrix("linalg.pinv", "A", x);
  if (hermitian) require_square("linalg.pinv", "A", x);
  if (x.size(-1) == Int(0) || x.size(-2) == Int(0)) return {M::mul(adjoint(x), 1)};
  return {L::pinv_of(x, pinv_value(x, atol, rtol, hermitian))};
}

Outputs rank_expansion(const Tensor& x, const Arg& atol, const Arg& rtol, bool hermitian) {
  require_matrix("linalg.matrix_rank", "A", x);
  if (x.size(-1) == Int(0) || x.size(-2) == Int(0))
    return {C::zeros(batch_of(x), DType::i64, x.device())};
  Tensor values = hermitian ? M::abs(L::eigvalsh(x, "L")) : L::svd_values(x);
  return {R::sum(M::gt(values, cutoff(x, values, atol, rtol)), {Int(-1)})};
}

void add_pinv(Definitions& r) {
  Extra of = lapack("value, with the derivative of the pseudoinverse of A, which it is.");
  of.saves = Saves{1, 1};
  of.grad = [](Grad g) { return Grads{pseudoinverse_cotangent(g.dy(), g.x(0), g.y()), Tensor()}; };
  r.opaque(
      "linalg_pinv_of(Tensor A, Tensor value) -> Tensor",
      [](Args a) -> Types { return {type_of(a.tensor(1))}; }, of);
  const char* doc =
      "The pseudoinverse, by the singular values (hermitian: eigenvalues) that are larger than "
      "atol and rtol times the largest. rtol: eps max(m, n), or 0 where atol is positive.";
  r.composite(
      "linalg_pinv(Tensor input, *, Tensor|Scalar? atol=None, Tensor|Scalar? rtol=None, bool "
      "hermitian=False) -> Tensor",
      [](Args a) { return pinv_expansion(a.tensor(0), a[1], a[2], a.flag(3)); },
      in_module("linalg.pinv", doc));
  r.composite(
      "linalg_pinv.rcond(Tensor input, Tensor|Scalar rcond, bool hermitian=False) -> Tensor",
      [](Args a) { return pinv_expansion(a.tensor(0), Arg(), a[1], a.flag(2)); },
      in_module("linalg.pinv", doc));
  r.composite("pinverse(Tensor input, float rcond=1e-15) -> Tensor",
              [](Args a) { return pinv_expansion(a.tensor(0), Arg(), a[1], false); },
              {.doc = "The pseudoinverse; singular values up to rcond times the largest count "
                      "as 0."});
  Extra rank = in_module("linalg.matrix_rank",
                         "How many singular values (hermitian: eigenvalues) are larger than atol "
                         "and rtol times the largest. rtol: eps max(m, n), or 0 where atol is "
                         "positive.");
  rank.no_grad = true;
  r.composite(
      "linalg_matrix_rank(Tensor input, *, Tensor|Scalar? atol=None, Tensor|Scalar? rtol=None, "
      "bool hermitian=False) -> Tensor",
      [](Args a) { return rank_expansion(a.tensor(0), a[1], a[2], a.flag(3)); }, rank);
  r.composite(
      "linalg_matrix_rank.tol(Tensor input, Tensor|Scalar tol, bool hermitian=False) -> Tensor",
      [](Args a) { return rank_expansion(a.tensor(0), a[1], Arg(0.0), a.flag(2)); }, rank);
}

void add_least_squares(Definitions& r) {
  Extra e = lapack("X that makes |A X - B| least, for as many matrices B as A; see linalg.lstsq.");
  e.leading = false;  // what is not asked for has no element, whatever the leading axes
  e.saves = Saves{3, 1};
  e.grad = least_squares_grad;
  r.opaque(
      "linalg_least_squares(Tensor A, Tensor B, float? rcond, str driver) -> (Tensor solution, "
      "Tensor residuals, Tensor rank, Tensor singular_values)",
      infer_least_squares, e);
  r.composite(
      "linalg_lstsq(Tensor input, Tensor b, float? rcond=None, *, str? driver=None) -> (Tensor "
      "solution, Tensor residuals, Tensor rank, Tensor singular_values)",
      lstsq_expansion,
      in_module(
          "linalg.lstsq",
          "X that makes |A X - B| least. Drivers: 'gelsy' (the default), 'gels' for full "
          "rank, 'gelsd' and 'gelss' by singular values. Empty: what the driver does not "
          "give; residuals are those of more rows than columns, and by singular values of full "
          "rank in all matrices."));
}

// ── the exponential ─────────────────────────────────────────────────────────────────────────────

/// The derivative in a direction is a block of the exponential of a matrix twice as large.
Grads matrix_exp_grad(Grad g) {
  Tensor x = adjoint(g.x(0));
  const Int n = x.size(-1);
  Tensor none = M::mul(x, 0);
  Tensor block = S::cat({{S::cat({{x, g.dy()}}, -1), S::cat({{none, x}}, -1)}}, -2);
  return {columns(rows(L::matrix_exp(block), 0, n), n, n + n)};
}

void add_exponential(Definitions& r) {
  Extra e =
      lapack("The exponential of each matrix, by scaling and squaring.", {"linalg.matrix_exp"});
  e.saves = save_x(0);
  e.grad = matrix_exp_grad;
  r.opaque(
      "linalg_matrix_exp(Tensor input) -> Tensor",
      [](Args a) -> Types {
        require_square("linalg.matrix_exp", "A", a.tensor(0));
        return {type_of(a.tensor(0))};
      },
      e);
  add_same(r, "matrix_exp(Tensor input) -> Tensor", "linalg_matrix_exp");
}

}  // namespace

void add_linalg_factor_definitions(Definitions& r) {
  add_cholesky(r);
  add_qr(r);
  add_least_squares(r);
  add_pinv(r);
  add_exponential(r);
}

}  // namespace lathe
