// Singular values, eigenvalues and their vectors.
//
// Vectors are known up to a sign, or in complex matrices a phase: a function of them has a
// derivative only where it does not depend on that. What does is refused (linalg_phase_free).
#include <absl/strings/str_cat.h>

#include "core/ops/matrices.h"
#include "core/ops/moments.h"
#include "core/ops/names.h"

namespace lathe {
namespace {

using namespace names;

Extra lapack(std::string_view doc, Saves saves, GradRule grad,
             std::vector<std::string_view> also = {}) {
  Extra e{.domain = lapack_dtypes,
          .saves = saves,
          .grad = grad,
          .places = kNowhere,
          .also = std::move(also),
          .leading = true};
  e.doc = doc;
  return e;
}

Tensor as_row(const Tensor& v) { return S::unsqueeze(v, -2); }

/// w[j] - w[i] at (i, j), and 1 on the diagonal.
Tensor differences(const Tensor& w) { return with_diagonal(M::sub(as_row(w), as_column(w)), 1.0); }

// ── singular values ─────────────────────────────────────────────────────────────────────────────

Types infer_svd(Args a) {
  Tensor x = a.tensor(0);
  require_matrix("linalg.svd", "A", x);
  const Shape batch = batch_of(x);
  const Int m = x.size(-2), n = x.size(-1), k = min(m, n);
  const bool full = a.flag(1);
  return {result_like(x, with_axes(batch, {m, full ? m : k})),
          result_like(x, with_axes(batch, {k}), real_type(x.dtype())),
          result_like(x, with_axes(batch, {full ? n : k, n}))};
}

Tensor skew(const Tensor& x) { return M::sub(x, adjoint(x)); }

/// In the bases U and V: off the diagonal (skew(U^H gU) S + S skew(V^H gV)) / E with E(i, j) =
/// S(j)^2 - S(i)^2, on it gS; and what of gU and gV lies outside of the two bases.
Grads svd_grad(Grad g) {
  const Shape& shape = g.shape(0);
  const Int m = shape[shape.size() - 2], n = shape.back(), k = min(m, n);
  const bool flows_u = g.flows(0), flows_v = g.flows(2);
  Tensor u = columns(g.y(0), 0, k), s = g.y(1), vh = rows(g.y(2), 0, k);
  Tensor inner = diagonal_matrix(g.dy(1));
  if (is_complex(u.dtype())) inner = M::cast(inner, u.dtype());
  if (!flows_u && !flows_v) return {times(u, times(inner, vh))};
  Tensor e =
      with_diagonal(M::mul(M::sub(as_row(s), as_column(s)), M::add(as_row(s), as_column(s))), 1.0);
  Tensor du, dvh, from_u, from_v;
  if (flows_u) {
    du = columns(g.dy(0), 0, k);
    from_u = skew(times(adjoint(u), du));
  }
  if (flows_v) {
    dvh = rows(g.dy(2), 0, k);
    from_v = skew(times(vh, adjoint(dvh)));
  }
  if (is_complex(u.dtype())) {
    auto turn = [](const Tensor& x) { return M::imag_part(diagonal_of(x)); };
    Tensor total = !flows_v   ? turn(from_u)
                   : !flows_u ? turn(from_v)
                              : M::add(turn(from_u), turn(from_v));
    inner = L::phase_free(inner, total);
    if (flows_u) inner = M::add(inner, diagonal_matrix(M::div(diagonal_of(from_u), M::mul(s, 2))));
  }
  auto off = [](const Tensor& x) { return with_diagonal(x, 0.0); };
  if (flows_u) inner = M::add(inner, off(M::mul(M::div(from_u, e), as_row(s))));
  if (flows_v) inner = M::add(inner, off(M::mul(as_column(s), M::div(from_v, e))));
  Tensor left = times(u, inner);
  if (flows_u && m > k) {
    Tensor scaled = M::div(du, as_row(s));
    left = M::add(left, M::sub(scaled, times(u, times(adjoint(u), scaled))));
  }
  Tensor out = times(left, vh);
  if (flows_v && n > k) {
    Tensor scaled = M::div(dvh, as_column(s));
    out = M::add(out, times(u, M::sub(scaled, times(times(scaled, adjoint(vh)), vh))));
  }
  return {out};
}

Outputs svd_expansion(Args a) {
  require_default("linalg.svd", "driver", a[2], a.none(2));
  auto [u, s, vh] = L::svd_parts(a.tensor(0), a.flag(1));
  return {u, s, vh};
}

/// torch.svd: V itself, and zeros where no vectors are asked for.
Outputs old_svd(Args a) {
  Tensor x = a.tensor(0);
  require_matrix("svd", "input", x);
  if (a.flag(2)) {
    auto [u, s, vh] = L::svd_parts(x, !a.flag(1));
    return {u, s, adjoint(vh)};
  }
  const Int m = x.size(-2), n = x.size(-1);
  const Shape batch = batch_of(x);
  return {C::zeros(with_axes(batch, {m, m}), x.dtype(), x.device()), L::svd_values(x),
          C::zeros(with_axes(batch, {n, n}), x.dtype(), x.device())};
}

void add_singular(Definitions& r) {
  Extra free = lapack(
      "x, if every element of turn is 0, as far as a derivative's rounding lets one tell: how far "
      "a function changes when a vector's phase does.",
      {}, [](Grad g) {
        return Grads{g.dy(), Tensor()};
      });
  r.opaque(
      "linalg_phase_free(Tensor input, Tensor turn) -> Tensor",
      [](Args a) -> Types { return {type_of(a.tensor(0))}; }, free);
  r.opaque("linalg_svd_parts(Tensor A, bool full_matrices) -> (Tensor U, Tensor S, Tensor Vh)",
           infer_svd, lapack("As linalg.svd.", Saves{0, 7}, svd_grad));
  const char* doc =
      "U, S and Vh of A = U diag(S) Vh, the singular values descending. full_matrices: all "
      "columns of U and rows of Vh, which the derivative takes as having no use.";
  r.composite(
      "linalg_svd(Tensor A, bool full_matrices=True, *, str? driver=None) -> (Tensor U, Tensor S, "
      "Tensor Vh)",
      svd_expansion, in_module("linalg.svd", doc));
  r.composite(
      "svd(Tensor input, bool some=True, bool compute_uv=True) -> (Tensor U, Tensor S, Tensor V)",
      old_svd,
      {.doc = "U, S and V of input = U diag(S) V^H; all columns of U and V if not some; U and V "
              "are 0 if not compute_uv."});
  r.opaque(
      "linalg_svd_values(Tensor A) -> Tensor",
      [](Args a) -> Types {
        Tensor x = a.tensor(0);
        require_matrix("linalg.svdvals", "A", x);
        return {result_like(x, with_axes(batch_of(x), {min(x.size(-1), x.size(-2))}),
                            real_type(x.dtype()))};
      },
      lapack("As linalg.svdvals.", save_x(0), [](Grad g) {
        auto [u, s, vh] = L::svd_parts(g.x(0), false);
        return Grads{times(M::mul(u, as_row(g.dy())), vh)};
      }));
  r.composite(
      "linalg_svdvals(Tensor A, *, str? driver=None) -> Tensor",
      [](Args a) -> Outputs {
        require_default("linalg.svdvals", "driver", a[1], a.none(1));
        return {L::svd_values(a.tensor(0))};
      },
      in_module("linalg.svdvals", "The singular values of each matrix, descending."));
}

// ── eigenvalues of Hermitian matrices ───────────────────────────────────────────────────────────

Types infer_eigh(Args a) {
  Tensor x = a.tensor(0);
  require_square("linalg.eigh", "A", x);
  const std::string_view side = a.text(1);
  if (side != "L" && side != "U" && side != "l" && side != "u")
    throw ValueError({.op = "linalg.eigh",
                      .problem = "UPLO names no triangle",
                      .got = absl::StrCat("'", side, "'"),
                      .expected = "'L' or 'U'"});
  return {result_like(x, with_axes(batch_of(x), {x.size(-1)}), real_type(x.dtype())), type_of(x)};
}

Types infer_eigvalsh(Args a) { return {infer_eigh(a)[0]}; }

/// V (diag(gL) + (skew(V^H gV) / 2) / E) V^H with E(i, j) = L(j) - L(i).
Grads eigh_grad(Grad g) {
  Tensor w = g.y(0), v = g.y(1), vh = adjoint(v), inner = diagonal_matrix(g.dy(0));
  if (is_complex(v.dtype())) inner = M::cast(inner, v.dtype());
  if (g.flows(1)) {
    Tensor turned = times(vh, g.dy(1));
    if (is_complex(v.dtype())) inner = L::phase_free(inner, M::imag_part(diagonal_of(turned)));
    turned = M::div(M::mul(skew(turned), 0.5), differences(w));
    inner = M::add(inner, with_diagonal(turned, 0.0));
  }
  return {times(v, times(inner, vh))};
}

void add_hermitian(Definitions& r) {
  r.opaque(
      "linalg_eigh(Tensor input, str UPLO='L') -> (Tensor eigenvalues, Tensor eigenvectors)",
      infer_eigh,
      lapack("Ascending eigenvalues and eigenvectors, as columns, of a Hermitian matrix, of which "
             "only the lower ('U': upper) triangle is read. The derivative is that of a Hermitian "
             "matrix.",
             Saves{0, 3}, eigh_grad, {"linalg.eigh"}));
  r.opaque("linalg_eigvalsh(Tensor input, str UPLO='L') -> Tensor", infer_eigvalsh,
           lapack("Ascending eigenvalues of a Hermitian matrix; see linalg.eigh.", save_x(0),
                  [](Grad g) {
                    Tensor v = std::get<1>(L::eigh(g.x(0), g.arg(1).text_));
                    return Grads{times(M::mul(v, as_row(g.dy())), adjoint(v))};
                  },
                  {"linalg.eigvalsh"}));
}

// ── eigenvalues of any matrix ───────────────────────────────────────────────────────────────────

Types infer_eig(Args a) {
  Tensor x = a.tensor(0);
  require_square("linalg.eig", "A", x);
  const DType to = real_type(x.dtype()) == DType::f64 ? DType::c128 : DType::c64;
  if (!info(to).tensor)
    throw DTypeError({.op = "linalg.eig",
                      .problem = "there is no dtype for its complex results",
                      .got = std::string(name(x.dtype())),
                      .expected = "float32 or complex64",
                      .next = "convert with .to(lathe.float32)"});
  return {result_like(x, with_axes(batch_of(x), {x.size(-1)}), to), type_of(x).with(to)};
}

Types infer_eigvals(Args a) { return {infer_eig(a)[0]}; }

/// Of a real matrix the real part is what counts.
Tensor like_operand(const Grad& g, const Tensor& d) {
  return is_complex(g.dtype(0)) ? d : M::real_part(d);
}

/// V^-H (diag(gL) + (V^H gV - V^H V Re(diag(V^H gV))) / conj(E)) V^H with E(i, j) = L(j) - L(i).
Grads eig_grad(Grad g) {
  Tensor w = g.y(0), v = g.y(1), vh = adjoint(v), inner = diagonal_matrix(g.dy(0));
  if (g.flows(1)) {
    Tensor turned = times(vh, g.dy(1)), along = diagonal_of(turned);
    inner = L::phase_free(inner, M::imag_part(along));
    turned = M::sub(turned, times(vh, M::mul(v, as_row(M::real_part(along)))));
    inner = M::add(inner, with_diagonal(M::div(turned, differences(M::conj(w))), 0.0));
  }
  return {like_operand(g, L::solve(vh, times(inner, vh), true))};
}

void add_general(Definitions& r) {
  r.opaque("linalg_eig(Tensor input) -> (Tensor eigenvalues, Tensor eigenvectors)", infer_eig,
           lapack("Eigenvalues and eigenvectors, as columns of length 1, of a square matrix; "
                  "complex, in no order.",
                  Saves{0, 3}, eig_grad, {"linalg.eig"}));
  r.opaque("linalg_eigvals(Tensor input) -> Tensor", infer_eigvals,
           lapack("Eigenvalues of a square matrix; complex, in no order.", save_x(0),
                  [](Grad g) {
                    Tensor vh = adjoint(std::get<1>(L::eig(g.x(0))));
                    Tensor inner = M::mul(as_column(g.dy()), vh);
                    return Grads{like_operand(g, L::solve(vh, inner, true))};
                  },
                  {"linalg.eigvals"}));
}

// ── of low rank ─────────────────────────────────────────────────────────────────────────────────

void require_count(std::string_view op, std::string_view what, Int count, Int most) {
  if (require(Relation::le, Int(0), count) && require(Relation::le, count, most)) return;
  throw ValueError({.op = std::string(op),
                    .problem = absl::StrCat(what, " is out of range"),
                    .got = absl::StrCat(what, "=", to_string(count)),
                    .expected = absl::StrCat("0 to ", to_string(most)),
                    .next = "leave it out for the usual number"});
}

Tensor orthogonal(const Tensor& x) { return std::get<0>(L::qr(x, "reduced")); }

/// U, S and V of the q largest singular values of A: of A in a space of q dimensions that A maps
/// random vectors to, brought nearer to the largest by `rounds` of A A^H (algorithms 4.4 and 5.1 of
/// Halko, Martinsson and Tropp 2011).
Outputs low_rank(const Tensor& a, Int q, Int rounds) {
  Shape sizes = batch_of(a);
  sizes.insert(sizes.end(), {a.size(-1), q});
  Tensor draw = C::randn(sizes, real_type(a.dtype()), a.device()), back = adjoint(a);
  Tensor space = orthogonal(times(a, M::cast(draw, a.dtype())));
  for (Int i = 0; i < rounds; i = i + 1)
    space = orthogonal(times(a, orthogonal(times(back, space))));
  auto [u, values, vh] = L::svd(times(adjoint(space), a), false, Arg());
  return {times(space, u), values, adjoint(vh)};
}

Outputs svd_lowrank(Args args) {
  constexpr std::string_view kName = "svd_lowrank";
  Tensor a = args.tensor(0);
  require_matrix(kName, "A", a);
  if (!args.none(3)) a = M::sub(a, args.tensor(3));
  const Int q = args.none(1) ? Int(6) : args.integer(1);
  require_count(kName, "q", q, min(a.size(-2), a.size(-1)));
  require_count(kName, "niter", args.integer(2), Int(int64_t{1} << 30));
  return low_rank(a, q, args.integer(2));
}

Outputs pca_lowrank(Args args) {
  constexpr std::string_view kName = "pca_lowrank";
  Tensor a = args.tensor(0);
  require_matrix(kName, "A", a);
  const Int most = min(a.size(-2), a.size(-1));
  const Int q = args.none(1) ? min(Int(6), most) : args.integer(1);
  require_count(kName, "q", q, most);
  require_count(kName, "niter", args.integer(3), Int(int64_t{1} << 30));
  if (args.flag(2)) a = centred(a, [](const Tensor& t) { return R::mean(t, {Int(-2)}, true); });
  return low_rank(a, q, args.integer(3));
}

void add_low_rank(Definitions& r) {
  r.composite(
      "svd_lowrank(Tensor A, int? q=6, int niter=2, Tensor? M=None) -> (Tensor U, Tensor S, Tensor "
      "V)",
      svd_lowrank,
      {.domain = lapack_dtypes,
       .places = kFunction,
       .doc = "The q largest singular values of A (of A - M) and their vectors, by a random "
              "projection and niter rounds (Halko, Martinsson and Tropp 2011)."});
  r.composite(
      "pca_lowrank(Tensor A, int? q=None, bool center=True, int niter=2) -> (Tensor U, Tensor S, "
      "Tensor V)",
      pca_lowrank,
      {.domain = lapack_dtypes,
       .places = kFunction,
       .doc = "The q main components of the rows of A, less their mean if center, as "
              "svd_lowrank() finds them; q: 6, or as many as there are."});
}

}  // namespace

void add_linalg_spectral_definitions(Definitions& r) {
  add_low_rank(r);
  add_singular(r);
  add_hermitian(r);
  add_general(r);
}

}  // namespace lathe
