// Functions of torch.special that are short formulas: products with logarithms, the normal
// distribution, polygamma and the zeta function.
#include "include/lathe/ops/special.h"

#include <absl/strings/str_cat.h>

#include <array>
#include <cmath>
#include <numbers>

#include "core/expr/templates.h"
#include "core/ops/families.h"
#include "core/ops/names.h"
#include "core/ops/special_bodies.h"
#include "include/lathe/ops/math.h"

namespace lathe {
namespace {

using namespace names;
using S = special_ops<Tensor>;

constexpr double kRootHalf = std::numbers::sqrt2 / 2;

Extra to_float(std::string_view doc, std::vector<std::string_view> also = {},
               uint8_t places = kFunction | kMethod) {
  Extra e{.domain = floating, .promote = Promote::to_float, .places = places};
  e.also = std::move(also);
  e.doc = doc;
  return e;
}
/// Of lathe.special alone.
Extra in_special(std::string_view name, std::string_view doc) {
  return to_float(doc, {name}, kNowhere);
}
Extra with_rule(Extra e, Saves saves, GradRule grad) {
  e.saves = saves;
  e.grad = grad;
  return e;
}

// ── products with logarithms ────────────────────────────────────────────────────────────────────

Grads xlogy_grad(Grad g) {
  Grads out(2);
  if (g.wants(0)) {
    // Where x is 0 the product is 0 for every y, and has no slope where the logarithm has no value.
    Tensor flat = M::logical_and(M::eq(g.x(0), 0), M::le(g.x(1), 0));
    out[0] = M::where(flat, 0, S::xlogy(g.dy(), g.x(1)));
  }
  if (g.wants(1)) out[1] = M::mul(g.dy(), M::div(g.x(0), g.x(1)));
  return out;
}

Grads xlog1py_grad(Grad g) {
  Grads out(2);
  if (g.wants(0)) {
    Tensor flat = M::logical_and(M::eq(g.x(0), 0), M::le(g.x(1), -1));
    out[0] = M::where(flat, 0, S::special_xlog1py(g.dy(), g.x(1)));
  }
  if (g.wants(1)) out[1] = M::mul(g.dy(), M::div(g.x(0), M::add(g.x(1), 1)));
  return out;
}

/// x * log, and 0 where x is 0 unless the argument of the logarithm is NaN.
Expr product_or_zero(Expr x, Expr y, Expr logarithm) {
  return select(eq(x, 0) & ~isnan(y), 0, x * logarithm);
}

Expr entr_body(Expr x) {
  Expr edge = select(eq(x, 0), 0, constant(x.dtype(), -kInfinity));
  return select(lt(0, x) | isnan(x), -(x * log(x)), edge);
}

/// log(x / (1 - x)); around 1/2 as 2 atanh(2 x - 1), which has no difference of near numbers.
Expr logit_body(Expr x) {
  Expr near = lt(abs(x - 0.5), 0.2);
  Expr inside = select(near, x, 0.5);
  return select(near, 2.0 * unary(Prim::atanh, 2.0 * inside - 1.0), log(x / (1.0 - x)));
}

Grads logit_grad(Grad g) {
  Tensor x = g.x(0), slope = M::div(g.dy(), M::mul(x, M::sub(1, x)));
  return {M::where(M::logical_or(M::lt(x, 0), M::gt(x, 1)), kNaN, slope)};
}

Outputs logit_expansion(Args a) {
  if (a.none(1)) return {S::logit_open(a.tensor(0))};
  const Arg low(a.real(1)), high(1 - a.real(1));
  // Selected, not clamped: at eps itself there is a slope.
  Tensor x = as_float(a.tensor(0));
  x = M::where(M::lt(x, low), low, M::where(M::gt(x, high), high, x));
  return {S::logit_open(x)};
}

/// sin(pi x) / (pi x). Near 0 its Taylor series, so that derivatives of any order are sums too.
Expr sinc_body(Expr x) {
  constexpr double kSquare = std::numbers::pi * std::numbers::pi;
  Expr near = lt(abs(x), 0.25), close = select(near, x, 0.0), far = select(near, 1.0, x);
  Expr z = close * close * kSquare;
  std::array<double, 12> series;
  double term = 1;
  for (int k = 0; k < 12; ++k)
    series[static_cast<size_t>(k)] = term, term /= -(2.0 * k + 2) * (2 * k + 3);
  Expr turn = real(far) - 2.0 * rint(real(far) * 0.5);  // sin has this period in half turns
  if (is_complex(x.dtype())) turn = complex(turn, imag(far));
  return select(near, horner(z, series), sin(std::numbers::pi * turn) / (std::numbers::pi * far));
}

void add_logarithms(Definitions& r) {
  r.elementwise(
      "xlogy(Tensor|Scalar input, Tensor|Scalar other) -> Tensor",
      [](Expr x, Expr y) { return product_or_zero(x, y, log(y)); },
      with_rule(to_float("input * log(other); 0 where input is 0.", {"special.xlogy"}),
                save_x(0) | save_x(1), xlogy_grad));
  r.elementwise(
      "special_xlog1py(Tensor|Scalar input, Tensor|Scalar other) -> Tensor",
      [](Expr x, Expr y) { return product_or_zero(x, y, log1p(y)); },
      with_rule(in_special("special.xlog1py", "input * log(1 + other); 0 where input is 0."),
                save_x(0) | save_x(1), xlog1py_grad));
  r.elementwise(
      "special_entr(Tensor input) -> Tensor", entr_body,
      with_rule(
          in_special("special.entr", "-x log(x), 0 at 0 and -infinity below: entropy's summand."),
          save_x(0), [](Grad g) { return Grads{M::mul(g.dy(), M::sub(-1, M::log(g.x(0))))}; }));
  r.elementwise("logit_open(Tensor input) -> Tensor", logit_body,
                with_rule(to_float("log(x / (1 - x)): logit without bounds.", {}, kNowhere),
                          save_x(0), logit_grad));
  r.composite("logit(Tensor input, float? eps=None) -> Tensor", logit_expansion,
              {.also = {"special.logit"},
               .inplace = true,
               .doc = "log(x / (1 - x)), the inverse of sigmoid; x is limited to [eps, 1 - eps] "
                      "if eps is given."});
  Extra sinc = to_float("sin(pi x) / (pi x), and 1 at 0.", {"special.sinc"});
  sinc.domain = differentiable;
  r.elementwise("sinc(Tensor input) -> Tensor", sinc_body, std::move(sinc));
}

// ── the normal distribution ─────────────────────────────────────────────────────────────────────

Expr erfcx_body(Expr x) {
  return instantiate([](auto v) { return math::erfcx(v); }, x);
}

Expr ndtri_body(Expr x) {
  return in_double([](Expr p) { return math::ndtri(TypedExpr<double>(p)).expr(); }, x);
}

Expr log_ndtr_body(Expr x) {
  Expr t = x * kRootHalf, left = lt(x, -1.0);
  Expr tail = erfcx_body(select(left, -t, 1.0));
  Expr body = log1p(-0.5 * unary(Prim::erfc, select(left, 0.0, t)));
  return select(left, log(tail * 0.5) - t * t, body);
}

void add_normal(Definitions& r) {
  r.elementwise(
      "special_erfcx(Tensor input) -> Tensor", erfcx_body,
      with_rule(in_special("special.erfcx", "exp(x^2) erfc(x), which does not underflow."),
                save_x(0) | save_y(0), [](Grad g) {
                  constexpr double kSlope = 2 * std::numbers::inv_sqrtpi;
                  Tensor slope = M::sub(M::mul(M::mul(g.x(0), 2), g.y()), kSlope);
                  return Grads{M::mul(g.dy(), slope)};
                }));
  r.elementwise(
      "special_ndtr(Tensor input) -> Tensor",
      [](Expr x) { return 0.5 * unary(Prim::erfc, x * -kRootHalf); },
      in_special("special.ndtr", "The normal distribution's area left of x."));
  r.elementwise(
      "special_log_ndtr(Tensor input) -> Tensor", log_ndtr_body,
      with_rule(in_special("special.log_ndtr", "log(ndtr(x)), without underflow."), save_x(0),
                [](Grad g) {
                  // The density over the area, both times exp(x^2 / 2).
                  Tensor ratio = M::reciprocal(S::special_erfcx(M::mul(g.x(0), -kRootHalf)));
                  constexpr double kScale = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
                  return Grads{M::mul(g.dy(), M::mul(ratio, kScale))};
                }));
  r.elementwise("special_ndtri(Tensor input) -> Tensor", ndtri_body,
                with_rule(in_special("special.ndtri",
                                     "The x left of which the normal "
                                     "distribution has this area."),
                          save_y(0), [](Grad g) {
                            const double scale = std::sqrt(2 * std::numbers::pi);
                            Tensor slope = M::exp(M::mul(M::square(g.y()), 0.5));
                            return Grads{M::mul(g.dy(), M::mul(slope, scale))};
                          }));
}

// ── zeta and polygamma ──────────────────────────────────────────────────────────────────────────

/// Sum over k from 0 of (q + k)^-s for q > 0 and s > 1: ten terms, and the rest by Euler and
/// Maclaurin (DLMF 25.11.28 with twelve Bernoulli numbers; what is left out is below 2^-60).
Expr zeta_positive(Expr s, Expr q) {
  // B_2j / (2j)!
  constexpr double kBernoulli[] = {
      8.333333333333333e-02,   -1.3888888888888889e-03, 3.3068783068783070e-05,
      -8.2671957671957670e-07, 2.0876756987868099e-08,  -5.2841901386874930e-10,
      1.3382536530684679e-11,  -3.3896802963225830e-13, 8.5860620562778450e-15,
      -2.1748686985580619e-16, 5.5090028283602295e-18,  -1.3954464685812523e-19};
  Expr sum = pow(q, -s);
  for (int k = 1; k < 10; ++k) sum = sum + pow(q + static_cast<double>(k), -s);
  Expr w = q + 10.0, last = pow(w, -s), inverse = 1.0 / w;
  Expr term = last * s * inverse, series = term * kBernoulli[0];
  for (int j = 1; j < 12; ++j) {
    term = term * (s + (2.0 * j - 1)) * inverse * ((s + 2.0 * j) * inverse);
    series = series + term * kBernoulli[j];
  }
  Expr rest = last * w / (s - 1.0) + (0.5 * last + series);
  return sum + select(eq(last, 0), 0.0, rest);
}

/// Where q is negative and s a whole number, the terms of negative base are a finite piece of two
/// other sums: zeta(s, q) = zeta(s, f) + (-1)^s (zeta(s, 1 - f) - zeta(s, 1 - q)) with f = q -
/// floor(q).
Expr zeta_body(Expr s, Expr q) {
  Expr pole = eq(floor(q), q), f = q - floor(q), rest = -q - floor(-q);  // 1 - f, exactly
  Expr y = zeta_positive(s, select(lt(0, q), q, 1.0));
  auto at = [&](Expr v) { return zeta_positive(s, select(lt(q, 0) & ~pole, v, 1.0)); };
  Expr half = s * 0.5, even = eq(floor(half), half);
  Expr finite = at(rest) - at(1.0 - q);
  Expr below = at(f) + select(even, finite, -finite);
  below = select(pole, kInfinity, select(eq(floor(s), s), below, kNaN));
  y = rare(le(q, 0), y, below);
  y = select(eq(s, 1), kInfinity, select(lt(s, 1), kNaN, y));
  return select(isnan(s) | isnan(q), kNaN, y);
}

Grads zeta_grad(Grad g) {
  require_no_gradient(g, 0);
  Grads out(2);
  if (g.wants(1)) {
    Tensor next = S::special_zeta(M::add(g.x(0), 1), g.x(1));
    out[1] = M::neg(M::mul(g.dy(), M::mul(g.x(0), next)));
  }
  return out;
}

/// (-1)^(n + 1) n! zeta(n + 1, x) (DLMF 5.15.1); of order 0, digamma.
Outputs polygamma_of(Int order, const Tensor& x) {
  if (order < Int(0))
    throw ValueError({.op = "polygamma",
                      .problem = "the order n is negative",
                      .got = absl::StrCat("n=", to_string(order)),
                      .expected = "n of 0 or more",
                      .next = "n counts the derivatives of digamma"});
  const int64_t n = order.value();
  if (n == 0) return {M::digamma(x)};
  double factor = n % 2 == 0 ? -1 : 1;
  for (int64_t k = 2; k <= n && std::isfinite(factor); ++k) factor *= static_cast<double>(k);
  return {M::mul(S::special_zeta(static_cast<double>(n + 1), x), factor)};
}

/// The logarithm of the gamma function of p variables (DLMF 35.3.1).
Outputs mvlgamma_expansion(Args a) {
  const Tensor x = as_float(a.tensor(0));
  const Int p = a.integer(1);
  if (p < Int(1))
    throw ValueError({.op = "mvlgamma",
                      .problem = "p is not positive",
                      .got = absl::StrCat("p=", to_string(p)),
                      .expected = "p of 1 or more",
                      .next = "p is the number of variables"});
  const int64_t count = p.value();
  Tensor sum = M::lgamma(x);
  for (int64_t i = 1; i < count; ++i)
    sum = M::add(sum, M::lgamma(M::sub(x, 0.5 * static_cast<double>(i))));
  const auto n = static_cast<double>(count);
  return {M::add(sum, n * (n - 1) / 4 * std::log(std::numbers::pi))};
}

void add_gamma(Definitions& r) {
  r.elementwise(
      "special_zeta(Tensor|Scalar input, Tensor|Scalar other) -> Tensor",
      [](Expr s, Expr q) { return in_double(zeta_body, s, q); },
      with_rule(
          in_special("special.zeta", "The sum over k from 0 of (other + k)^-input (Hurwitz)."),
          save_x(0) | save_x(1), zeta_grad));
  const std::string_view doc = "The n-th derivative of digamma.";
  r.composite("polygamma(int n, Tensor input) -> Tensor",
              [](Args a) { return polygamma_of(a.integer(0), a.tensor(1)); },
              {.places = kFunction, .also = {"special.polygamma"}, .doc = doc});
  r.composite("polygamma.method(Tensor input, int n) -> Tensor",
              [](Args a) { return polygamma_of(a.integer(1), a.tensor(0)); },
              {.places = kMethod, .inplace = true, .doc = doc});
  r.composite("mvlgamma(Tensor input, int p) -> Tensor", mvlgamma_expansion,
              {.also = {"special.multigammaln"},
               .inplace = true,
               .doc = "The logarithm of the gamma function of p variables."});
}

}  // namespace

void add_special_definitions(Definitions& r) {
  add_logarithms(r);
  add_normal(r);
  add_gamma(r);
}

}  // namespace lathe
