// Distances of every two vectors, the correlation of rows, powers of a vector.
#include <absl/strings/str_cat.h>

#include "core/infer/rules.h"
#include "core/ops/families.h"
#include "core/ops/moments.h"
#include "core/ops/names.h"
#include "include/lathe/ops/products.h"
#include "include/lathe/ops/random.h"

namespace lathe {
namespace {

using namespace names;
using P = products_ops<Tensor>;

// ── distances ───────────────────────────────────────────────────────────────────────────────────

const Fn<Tensor, Tensor(Tensor x, AnyArg p, Ints dim)> norm{"norm"};

/// The p-norm of the last axis, in the dtype of x.
Tensor length(const Tensor& x, Real p) {
  Tensor n = norm(x, p, Shape{Int(-1)});
  return is_floating(x.dtype()) ? M::cast(n, x.dtype()) : n;  // the 0-norm counts
}

/// |x|^2 + |y|^2 - 2 x.y for every pair: less exact than differences, and no larger than its
/// result.
Tensor distances_by_product(const Tensor& x, const Tensor& y) {
  Tensor xx = R::sum(M::mul(x, x), {Int(-1)}, true), yy = R::sum(M::mul(y, y), {Int(-1)});
  Tensor cross = M::mul(N::matmul(x, S::transpose(y, -2, -1)), -2);
  Tensor square = M::add(M::add(cross, xx), S::unsqueeze(yy, -2));
  // A root is infinitely steep at 0, and that times the 0 behind it would be NaN.
  Tensor apart = M::gt(square, 0);
  return M::where(apart, M::sqrt(M::where(apart, square, 1.0)), 0.0);
}

Outputs cdist_expansion(Args a) {
  Tensor x = a.tensor(0), y = a.tensor(1);
  const Real p = a.real(2);
  const std::string_view mode = a.text(3);
  require_rank("cdist", x, 2);
  require_rank("cdist", y, 2);
  if (!require(Relation::eq, x.size(-1), y.size(-1)))
    throw ShapeError({.op = "cdist",
                      .problem = "the vectors differ in length",
                      .got = absl::StrCat(to_string(x.shape()), " and ", to_string(y.shape())),
                      .expected = "one size of the last axis",
                      .next = "the rows of both are vectors of one space"});
  if (p < 0)
    throw ValueError({.op = "cdist",
                      .problem = "there is no distance of a negative power",
                      .got = absl::StrCat("p=", to_string(Real(p.hint()))),
                      .expected = "0 or more",
                      .next = "p=2 is the length of the difference, p=1 the sum of its parts"});
  const bool always = mode == "use_mm_for_euclid_dist";
  const bool large = mode == "use_mm_for_euclid_dist_if_necessary";
  if (!always && !large && mode != "donot_use_mm_for_euclid_dist")
    throw ValueError({.op = "cdist",
                      .problem = "an unknown compute_mode",
                      .got = absl::StrCat("'", mode, "'"),
                      .expected = "'use_mm_for_euclid_dist', '..._if_necessary' or 'donot_...'",
                      .next = "leave compute_mode out"});
  if (p == 2 && (always || (large && (x.size(-2) > Int(25) || y.size(-2) > Int(25)))))
    return {distances_by_product(x, y)};
  return {length(M::sub(S::unsqueeze(x, -2), S::unsqueeze(y, -3)), p)};
}

/// Every pair of rows once: those above the diagonal, row by row.
Outputs pdist_expansion(Args a) {
  Tensor x = a.tensor(0);
  require_rank("pdist", x, 2, 2);
  Tensor pairs = C::triu_indices(x.size(0), x.size(0), 1, DType::i64, x.device());
  auto rows = [&](int side) { return I::index_select(x, 0, S::select(pairs, 0, side)); };
  return {length(M::sub(rows(0), rows(1)), a.real(1))};
}

// ── correlation ─────────────────────────────────────────────────────────────────────────────────

/// A row's weights: None, or one number for each observation.
Tensor weights_of(const Arg& given, const Tensor& x, std::string_view name) {
  if (given.none()) return {};
  Tensor w = given.tensor();
  if (w.rank() > 1 || !require(Relation::eq, w.numel(), x.size(1)))
    throw ShapeError({.op = "cov",
                      .problem = absl::StrCat(name, " is not one number for each observation"),
                      .got = to_string(w.shape()),
                      .expected = absl::StrCat("[", to_string(x.size(1)), "]"),
                      .next = "observations are the columns of the input"});
  const bool counts = name == "fweights";
  if (counts ? !is_integer(w.dtype()) : !is_floating(w.dtype()))
    throw DTypeError({.op = "cov",
                      .problem = absl::StrCat(name, counts ? " must count" : " must be numbers"),
                      .got = std::string(lathe::name(w.dtype())),
                      .expected = counts ? "an integer dtype" : "a floating dtype",
                      .next = counts ? "aweights= takes floats" : "fweights= takes counts"});
  w = random_ops<Tensor>::weight_of(w);
  return counts ? w : M::cast(w, x.dtype());
}

Outputs cov_expansion(Args a) {
  Tensor x = as_float(a.tensor(0));
  require_rank("cov", x, 0, 2);
  if (x.rank() < 2) x = S::reshape(x, {Int(1), Int(-1)});
  const Int count = x.size(1), correction = a.integer(1);
  Tensor often = weights_of(a[2], x, "fweights"), share = weights_of(a[3], x, "aweights");
  Tensor w = often.defined() && share.defined() ? M::mul(often, share)
             : often.defined()                  ? often
                                                : share;
  Tensor total, divisor;
  if (w.defined()) {
    total = R::sum(w);
    Tensor lost = share.defined() ? M::div(R::sum(M::mul(w, share)), total) : Tensor();
    divisor = lost.defined() ? M::sub(total, M::mul(lost, correction)) : M::sub(total, correction);
    divisor = M::clamp_min(is_complex(x.dtype()) ? M::real_part(divisor) : divisor, 0);
  }
  const Tensor apart = centred(x, [&](const Tensor& t) {
    Tensor sum = R::sum(w.defined() ? M::mul(t, w) : t, {Int(1)}, true);
    return w.defined() ? M::div(sum, total) : M::div(sum, count);
  });
  Tensor weighted = conjugate(w.defined() ? M::mul(apart, w) : apart);
  Tensor c = N::matmul(apart, S::transpose(weighted, 0, 1));
  c = divisor.defined() ? M::div(c, divisor) : M::div(c, max(count - correction, Int(0)));
  return {S::squeeze(c, {Int(0), Int(1)})};
}

Outputs corrcoef_expansion(Args a) {
  Tensor c = P::cov(a.tensor(0));
  if (c.rank() == 0) return {M::div(c, c)};
  Tensor spread = M::sqrt(M::real_part(S::diagonal(c)));
  c = M::div(M::div(c, S::unsqueeze(spread, 1)), spread);
  if (!is_complex(c.dtype())) return {M::clamp(c, -1, 1)};
  return {M::complex(M::clamp(M::real_part(c), -1, 1), M::clamp(M::imag_part(c), -1, 1))};
}

// ── powers ──────────────────────────────────────────────────────────────────────────────────────

/// 1, x, x*x, ... as a new last axis, or from the highest power on.
Tensor powers_of(const Tensor& x, const Arg& asked, bool increasing) {
  const Int count = asked.none() ? x.size(-1) : asked.integer();
  if (!require(Relation::le, 0, count))
    throw ValueError({.op = "vander",
                      .problem = "a negative number of powers",
                      .got = to_string(count),
                      .expected = "0 or more",
                      .next = "N is the number of columns"});
  Shape wide = x.shape();
  wide.push_back(count);
  const DType dtype = category(x.dtype()) < 2 ? DType::i64 : x.dtype();
  // Where the first power is missing, or all are, there is nothing to multiply.
  Tensor factors = M::clone(S::expand(S::unsqueeze(M::cast(x, dtype), -1), wide));
  assign(S::slice(factors, -1, Int(0), Int(1)), C::full(Shape{}, 1, dtype, x.device()));
  Tensor out = R::cumprod(factors, -1);
  return increasing ? out : S::flip(out, {Int(-1)});
}

void add_powers(Definitions& r) {
  r.composite("vander(Tensor x, int? N=None, bool increasing=False) -> Tensor",
              [](Args a) -> Outputs {
                require_rank("vander", a.tensor(0), 1, 1);
                return {powers_of(a.tensor(0), a[1], a.flag(2))};
              },
              {.places = kFunction, .doc = "Powers of each element as a row, the highest first."});
  r.composite(
      "linalg_vander(Tensor x, *, int? N=None) -> Tensor",
      [](Args a) -> Outputs {
        Tensor x = a.tensor(0);
        if (x.rank() == 0) x = S::unsqueeze(x, 0);
        const Int count = a.none(1) ? x.size(-1) : a.integer(1);
        if (!require(Relation::le, Int(2), count))
          throw ValueError({.op = "linalg.vander",
                            .problem = "there are not two powers at least",
                            .got = absl::StrCat("N=", to_string(count)),
                            .expected = "2 or more",
                            .next = "N is the number of columns, which are as many as elements "
                                    "unless it is given"});
        return {powers_of(x, Arg(count), true)};
      },
      {.places = kNowhere,
       .also = {"linalg.vander"},
       .doc = "Powers of each element as a row, from 1 on."});
}

}  // namespace

void add_correlation_definitions(Definitions& r) {
  r.composite(
      "cdist(Tensor x1, Tensor x2, float p=2.0, str "
      "compute_mode='use_mm_for_euclid_dist_if_necessary') -> Tensor",
      cdist_expansion,
      {.places = kFunction,
       .autocast = Autocast::wide,
       .doc = "The distance of every row of x1 from every row of x2."});
  r.composite("pdist(Tensor input, float p=2.0) -> Tensor", pdist_expansion,
              {.places = kFunction | kFunctional,
               .doc = "The distance of every two rows, each pair once."});
  r.composite(
      "cov(Tensor input, *, int correction=1, Tensor? fweights=None, Tensor? aweights=None) -> "
      "Tensor",
      cov_expansion,
      {.doc = "The covariance of rows; columns are observations, each as often as fweights says "
              "and of the weight aweights."});
  r.composite("corrcoef(Tensor input) -> Tensor", corrcoef_expansion,
              {.doc = "The correlation of rows: their covariance over the roots of both "
                      "variances."});
  add_powers(r);
}

}  // namespace lathe
