// Elementwise arithmetic and functions. Gradients that are not given follow by the chain rule over
// the primitives of the body.
#include "include/lathe/ops/math.h"

#include <absl/strings/str_cat.h>

#include <cmath>

#include "core/base/checks.h"
#include "core/infer/rules.h"
#include "core/ops/families.h"

namespace lathe {

using M = math_ops<Tensor>;

Grads extremum_grad(Grad g, const Tensor& x_loses, const Tensor& y_loses) {
  Tensor dy = M::where(M::eq(g.x(0), g.x(1)), M::mul(g.dy(), 0.5), g.dy());
  Grads out(2);
  if (g.wants(0)) out[0] = M::where(x_loses, 0, dy);
  if (g.wants(1)) out[1] = M::where(y_loses, 0, dy);
  return out;
}

namespace {

constexpr DTypeSet kArithmetic = numbers;
constexpr DTypeSet kReal = real_numbers;

Expr select_nan_aware(Expr take_x, Expr x, Expr y) { return select(isnan(x) | take_x, x, y); }

Expr maximum_body(Expr x, Expr y) {
  return is_floating(x.dtype()) ? select_nan_aware(lt(y, x), x, y) : pmax(x, y);
}
Expr minimum_body(Expr x, Expr y) {
  return is_floating(x.dtype()) ? select_nan_aware(lt(x, y), x, y) : pmin(x, y);
}

/// A bound that is a number: only what lies beyond it, inside, has a slope; so not a NaN.
/// A tensor is one operand of two, as maximum's and minimum's.
template <class Beyond, class Short>
Grads bound_grad(Grad g, const Beyond& beyond, const Short& short_of) {
  if (g.arg(1).scalar()) return {M::where(beyond(g.x(0), g.arg(1)), g.dy(), 0)};
  return extremum_grad(g, short_of(g.x(0), g.x(1)), beyond(g.x(0), g.x(1)));
}

/// An element that one of the bounds replaces gives that bound its slope, one that equals a bound
/// shares it with that; but none with two that are equal. Of bounds that cross, max has it all.
Grads clamp_within_grad(Grad g) {
  Tensor x = g.x(0), low = g.x(1), high = g.x(2), apart = M::lt(low, high);
  Tensor crossed = M::gt(low, high), below = M::lt(x, low), above = M::gt(x, high);
  Tensor half = M::mul(g.dy(), 0.5);
  const auto shared = [&](const Tensor& bound) { return M::bitwise_and(apart, M::eq(x, bound)); };
  Tensor at_low = shared(low), at_high = shared(high);
  Grads out(3);
  if (g.wants(0))
    out[0] = M::where(M::bitwise_or(below, above), 0,
                      M::where(M::bitwise_or(at_low, at_high), half, g.dy()));
  if (g.wants(1)) out[1] = M::where(crossed, 0, M::where(below, g.dy(), M::where(at_low, half, 0)));
  if (g.wants(2))
    out[2] = M::where(M::bitwise_or(crossed, above), g.dy(), M::where(at_high, half, 0));
  return out;
}

/// Integer division by zero is an error at the element, not a value.
Expr nonzero(Expr y, Expr result) { return check(ne(y, 0), result, kDivisionByZero); }

Expr floor_divide_body(Expr x, Expr y) {
  if (is_integer(x.dtype())) return nonzero(y, floor_div(x, select(eq(y, 0), 1, y)));
  // The floor of the quotient before it is rounded, by the exact remainder, as Python's //
  // (CPython, Objects/floatobject.c, _float_div_mod): 1.0 // 0.1 is 9, and -1.0 // inf is -1.
  Expr r = fmod(x, y);
  Expr q = (x - r) / y;
  q = select(ne(r, 0) & (lt(r, 0) ^ lt(y, 0)), q - 1, q);
  Expr below = floor(q);
  Expr near = select(lt(0.5, q - below), below + 1, below);
  return select(eq(y, 0), x / y, select(eq(q, 0), x / y * 0, near));  // * 0 keeps the sign
}

/// The quotient towards zero: of integers one more than its floor where that is negative and not
/// exact.
Expr div_trunc_body(Expr x, Expr y) {
  if (!is_integer(x.dtype())) return trunc(x / y);
  Expr divisor = select(eq(y, 0), 1, y), down = floor_div(x, divisor);
  Expr up = ne(mod(x, divisor), 0) & (lt(x, 0) ^ lt(y, 0));
  return nonzero(y, select(up, down + 1, down));
}

Tensor zero_like_dy(Grad g) { return constant_like(g.dy(), Arg(0)); }

/// Of what stays as it is between jumps: 0 for either operand, also where the quotient before it is
/// rounded has an infinite slope.
Grads zero_grads(Grad g) {
  Tensor zero = zero_like_dy(g);
  return {zero, zero};
}

/// C's %: the sign is the dividend's.
Expr fmod_body(Expr x, Expr y) {
  if (!is_integer(x.dtype())) return fmod(x, y);
  Expr divisor = select(eq(y, 0), 1, y), r = mod(x, divisor);
  return nonzero(y, select(ne(r, 0) & (lt(x, 0) ^ lt(y, 0)), r - divisor, r));
}

Grads lerp_grad(Grad g) {
  Grads out(3);
  if (g.wants(0)) out[0] = M::mul(g.dy(), conjugate(M::sub(1, g.x(2))));
  if (g.wants(1)) out[1] = M::mul(g.dy(), conjugate(g.x(2)));
  if (g.wants(2)) out[2] = M::mul(g.dy(), conjugate(M::sub(g.x(1), g.x(0))));
  return out;
}

Expr or_nan(Expr beyond, Expr bound) {
  return is_floating(bound.dtype()) ? beyond | isnan(bound) : beyond;
}

Expr at_least(Expr x, Expr bound) { return select(or_nan(lt(x, bound), bound), bound, x); }
Expr at_most(Expr x, Expr bound) { return select(or_nan(lt(bound, x), bound), bound, x); }

/// Python's %: the sign is the divisor's.
Expr remainder_body(Expr x, Expr y) {
  if (is_integer(x.dtype())) return nonzero(y, mod(x, select(eq(y, 0), 1, y)));
  Expr r = fmod(x, y);
  Expr wrong_sign = lt(r, 0) ^ lt(y, 0);
  Expr zero = select(is_negative(y), constant(x.dtype(), -0.0), constant(x.dtype(), 0));
  return select(eq(r, 0), zero, select(wrong_sign, r + y, r));
}

void add_binary(Definitions& r) {
  r.elementwise("add(Tensor|Scalar input, Tensor|Scalar other) -> Tensor",
                [](Expr x, Expr y) { return x + y; },
                {.numbers_alone = true, .doc = "x + y, element by element."});
  r.elementwise("sub(Tensor|Scalar input, Tensor|Scalar other) -> Tensor",
                [](Expr x, Expr y) { return x - y; },
                {.domain = kArithmetic,
                 .also = {"subtract"},
                 .numbers_alone = true,
                 .doc = "x - y, element by element."});
  r.elementwise("mul(Tensor|Scalar input, Tensor|Scalar other) -> Tensor",
                [](Expr x, Expr y) { return x * y; },
                {.also = {"multiply"}, .numbers_alone = true, .doc = "x * y, element by element."});
  r.elementwise("div(Tensor|Scalar input, Tensor|Scalar other) -> Tensor",
                [](Expr x, Expr y) { return x / y; },
                {.domain = differentiable,
                 .promote = Promote::to_float,
                 .also = {"divide", "true_divide"},
                 .numbers_alone = true,
                 .doc = "x / y; integers are divided as floats."});
  r.elementwise(
      "fma(Tensor|Scalar input, Tensor|Scalar other, Tensor|Scalar addend) -> Tensor",
      [](Expr x, Expr y, Expr z) { return fma(x, y, z); },
      {.domain = floating, .promote = Promote::to_float, .doc = "x * y + z with one rounding."});
  r.elementwise("lerp(Tensor input, Tensor end, Tensor|Scalar weight) -> Tensor",
                // From the nearer end, so that both ends are exact.
                [](Expr x, Expr y, Expr w) {
                  return select(lt(abs(w), 0.5), x + w * (y - x), y - (y - x) * (1.0 - w));
                },
                {.domain = differentiable,
                 .promote = Promote::to_float,
                 .saves = save_x(0) | save_x(1) | save_x(2),
                 .saves_for =
                     [](uint32_t wanted) {
                       return (wanted & 3 ? save_x(2) : Saves()) |
                              (wanted & 4 ? save_x(0) | save_x(1) : Saves());
                     },
                 .grad = lerp_grad,
                 .version = 2,
                 .doc = "x + weight * (y - x), or y - (y - x) * (1 - weight) from |weight| of 0.5 "
                        "on: from x to y as weight goes from 0 to 1."});
  r.elementwise(
      "floor_divide(Tensor|Scalar input, Tensor|Scalar other) -> Tensor", floor_divide_body,
      {.domain = kReal,
       .no_grad = true,
       .numbers_alone = true,
       .doc = "The largest integer not above x / y, as Python's //. An integer division by "
              "zero is a ValueError."});
  const Extra rounded{.domain = kReal, .grad = zero_grads, .places = kNowhere, .moves = true};
  auto quotient = [&](std::string_view doc) {
    Extra e = rounded;
    e.doc = doc;
    return e;
  };
  r.elementwise(
      "div_floor(Tensor|Scalar input, Tensor|Scalar other) -> Tensor", floor_divide_body,
      quotient("floor_divide with a derivative, which is 0: div's rounding_mode 'floor'."));
  r.elementwise("div_trunc(Tensor|Scalar input, Tensor|Scalar other) -> Tensor", div_trunc_body,
                quotient("The quotient towards zero: div's rounding_mode 'trunc'."));
  r.elementwise(
      "remainder(Tensor|Scalar input, Tensor|Scalar other) -> Tensor", remainder_body,
      {.domain = kReal,
       .saves = save_x(0) | save_x(1),
       .saves_for = [](uint32_t wanted) { return wanted & 2 ? save_x(0) | save_x(1) : Saves(); },
       .grad =
           [](Grad g) {
             Grads out(2);
             if (g.wants(0)) out[0] = g.dy();
             if (g.wants(1)) out[1] = M::neg(M::mul(g.dy(), M::floor_divide(g.x(0), g.x(1))));
             return out;
           },
       .version = 2,
       .doc = "x modulo y, with the sign of y, a zero's too, as Python's %."});
  r.elementwise("fmod(Tensor input, Tensor|Scalar other) -> Tensor", fmod_body,
                {.domain = kReal,
                 .version = 2,
                 .doc = "x modulo y, with the sign of x, as C's fmod and %; exact. An integer "
                        "division by zero is a ValueError."});
  r.elementwise("atan2(Tensor input, Tensor other) -> Tensor",
                [](Expr y, Expr x) { return atan2(y, x); },
                {.domain = floating,
                 .promote = Promote::to_float,
                 .also = {"arctan2"},
                 .doc = "Angle of the point (x, y), in radians, in [-pi, pi]."});
}

/// The larger, the smaller, and what lies between bounds.
void add_extrema(Definitions& r) {
  r.elementwise(
      "maximum(Tensor input, Tensor|Scalar other) -> Tensor", maximum_body,
      {.domain = real_dtypes,
       .saves = save_x(0) | save_x(1),
       .grad =
           [](Grad g) { return extremum_grad(g, M::lt(g.x(0), g.x(1)), M::gt(g.x(0), g.x(1))); },
       .doc = "The larger of x and y; NaN if either is NaN."});
  r.elementwise(
      "minimum(Tensor input, Tensor|Scalar other) -> Tensor", minimum_body,
      {.domain = real_dtypes,
       .saves = save_x(0) | save_x(1),
       .grad =
           [](Grad g) { return extremum_grad(g, M::gt(g.x(0), g.x(1)), M::lt(g.x(0), g.x(1))); },
       .doc = "The smaller of x and y; NaN if either is NaN."});
  // The plain selections of the scalar language, so that derivatives made of them are ordinary ops.
  r.elementwise(
      "pmin(Tensor|Scalar input, Tensor|Scalar other) -> Tensor",
      [](Expr x, Expr y) { return pmin(x, y); },
      {.domain = kReal, .places = kNowhere, .doc = "x < y ? x : y exactly; a NaN gives y."});
  r.elementwise(
      "pmax(Tensor|Scalar input, Tensor|Scalar other) -> Tensor",
      [](Expr x, Expr y) { return pmax(x, y); },
      {.domain = kReal, .places = kNowhere, .doc = "x > y ? x : y exactly; a NaN gives y."});
  r.elementwise("clamp_min(Tensor input, Tensor|Scalar min) -> Tensor", at_least,
                {.domain = real_dtypes,
                 .saves = save_x(0) | save_x(1),
                 .grad = [](Grad g) { return bound_grad(g, M::gt, M::lt); },
                 .version = 2,
                 .doc = "x, or min where x is smaller; NaN if either is NaN."});
  r.elementwise("clamp_max(Tensor input, Tensor|Scalar max) -> Tensor", at_most,
                {.domain = real_dtypes,
                 .saves = save_x(0) | save_x(1),
                 .grad = [](Grad g) { return bound_grad(g, M::lt, M::gt); },
                 .version = 2,
                 .doc = "x, or max where x is larger; NaN if either is NaN."});
  r.elementwise("clamp_within(Tensor input, Tensor min, Tensor max) -> Tensor",
                [](Expr x, Expr low, Expr high) { return at_most(at_least(x, low), high); },
                {.domain = real_dtypes,
                 .saves = save_x(0) | save_x(1) | save_x(2),
                 .grad = clamp_within_grad,
                 .places = kNowhere,
                 .doc = "clamp of tensors alone."});
  r.elementwise("clamp_between(Tensor input, Scalar min, Scalar max) -> Tensor",
                [](Expr x, Expr low, Expr high) { return pmin(high, pmax(low, x)); },
                {.domain = real_dtypes,
                 .saves = save_x(0),
                 .grad =
                     [](Grad g) {
                       Tensor x = g.x(0), above = M::gt(x, g.arg(1)), below = M::lt(x, g.arg(2));
                       return Grads{M::where(M::bitwise_and(above, below), g.dy(), 0)};
                     },
                 .places = kNowhere,
                 .doc = "x limited to [min, max], neither of which is NaN; max if they cross."});
  r.composite("clamp(Tensor input, Tensor|Scalar? min=None, Tensor|Scalar? max=None) -> Tensor",
              [](Args a) -> Outputs {
                Tensor x = a.tensor(0);
                if (a.none(1) && a.none(2))
                  throw ValueError({.op = "clamp",
                                    .problem = "neither min nor max is given",
                                    .got = "None and None",
                                    .expected = "a bound on one side or on both",
                                    .next = "pass at least one of them"});
                const auto number = [](const Arg& bound) {
                  return bound.tag == Tag::integer ||
                         (bound.tag == Tag::real && bound.real().known() &&
                          !std::isnan(bound.real().value()));
                };
                if (is_floating(x.dtype()) && number(a[1]) && number(a[2]))
                  return {M::clamp_between(x, a[1], a[2])};
                if (a[1].tag == Tag::tensor && a[2].tag == Tag::tensor)
                  return {M::clamp_within(x, a.tensor(1), a.tensor(2))};
                if (!a.none(1)) x = M::clamp_min(x, a[1]);
                if (!a.none(2)) x = M::clamp_max(x, a[2]);
                return {x};
              },
              {.also = {"clip"},
               .inplace = true,
               .moves = true,
               .doc = "input limited to [min, max]; NaN where a bound is NaN. At a bound that is "
                      "a number the derivative is 0, at a tensor's elements it is shared."});
}

struct UnaryRow {
  std::string_view name;
  Prim prim;
  std::string_view doc;
  std::string_view also[2] = {};
  DTypeSet domain = differentiable;
};
/// Functions that are one primitive: the body is that node.
constexpr UnaryRow kFunctions[] = {
    {"expm1", Prim::expm1, "exp(x) - 1, accurate near 0.", {"special.expm1"}},
    {"exp2", Prim::exp2, "2 to the power x.", {"special.exp2"}},
    {"log", Prim::log, "Natural logarithm; NaN below 0 unless x is complex."},
    {"log2", Prim::log2, "Logarithm to base 2."},
    {"log10", Prim::log10, "Logarithm to base 10."},
    {"log1p", Prim::log1p, "log(1 + x), accurate near 0.", {"special.log1p"}},
    {"erf", Prim::erf, "Error function.", {"special.erf"}, floating},
    {"erfc", Prim::erfc, "1 - erf(x), accurate for large x.", {"special.erfc"}, floating},
    {"sin", Prim::sin, "Sine of x in radians."},
    {"cos", Prim::cos, "Cosine of x in radians."},
    {"tan", Prim::tan, "Tangent of x in radians."},
    {"asin", Prim::asin, "Arc sine, in radians.", {"arcsin"}},
    {"acos", Prim::acos, "Arc cosine, in radians.", {"arccos"}},
    {"atan", Prim::atan, "Arc tangent, in radians.", {"arctan"}},
    {"sinh", Prim::sinh, "Hyperbolic sine."},
    {"cosh", Prim::cosh, "Hyperbolic cosine."},
    {"asinh", Prim::asinh, "Inverse hyperbolic sine.", {"arcsinh"}},
    {"acosh", Prim::acosh, "Inverse hyperbolic cosine.", {"arccosh"}},
    {"atanh", Prim::atanh, "Inverse hyperbolic tangent.", {"arctanh"}},
    {"lgamma", Prim::lgamma, "log |gamma(x)|.", {"special.gammaln"}, floating},
    {"digamma",
     Prim::digamma,
     "Derivative of lgamma.",
     {"special.digamma", "special.psi"},
     floating},
    {"erfinv", Prim::erfinv, "Inverse of erf on (-1, 1).", {"special.erfinv"}, floating},
};

void add_functions(Definitions& r) {
  for (const UnaryRow& f : kFunctions) {
    std::string schema(f.name);
    Prim prim = f.prim;
    r.elementwise(schema + "(Tensor input) -> Tensor", [prim](Expr x) { return unary(prim, x); },
                  {.domain = f.domain,
                   .promote = Promote::to_float,
                   .also = without_empty(f.also),
                   .doc = f.doc});
  }
  r.elementwise("exp(Tensor input) -> Tensor", [](Expr x) { return exp(x); },
                {.domain = differentiable,
                 .promote = Promote::to_float,
                 .saves = save_y(0),
                 .grad = [](Grad g) { return Grads{M::mul(g.dy(), conjugate(g.y()))}; },
                 .moves = true,
                 .doc = "e to the power x."});
  r.elementwise(
      "tanh(Tensor input) -> Tensor", [](Expr x) { return tanh(x); },
      {.domain = differentiable,
       .promote = Promote::to_float,
       .saves = save_y(0),
       .grad = [](Grad g) { return Grads{M::mul(g.dy(), M::sub(1, M::square(conjugate(g.y()))))}; },
       .places = kEverywhere,
       .doc = "Hyperbolic tangent."});
  r.elementwise("sigmoid(Tensor input) -> Tensor", [](Expr x) { return sigmoid(x); },
                {.domain = differentiable,
                 .promote = Promote::to_float,
                 .saves = save_y(0),
                 .grad =
                     [](Grad g) {
                       Tensor y = conjugate(g.y());
                       return Grads{M::mul(M::mul(g.dy(), M::sub(1, y)), y)};
                     },
                 .places = kEverywhere,
                 .also = {"special.expit"},
                 .doc = "1 / (1 + exp(-x))."});
  r.elementwise(
      "sqrt(Tensor input) -> Tensor", [](Expr x) { return sqrt(x); },
      {.domain = differentiable,
       .promote = Promote::to_float,
       .saves = save_y(0),
       .grad = [](Grad g) { return Grads{M::div(g.dy(), M::mul(conjugate(g.y()), 2))}; },
       .doc = "Square root; NaN below 0, and of a complex number the root on the right."});
  r.elementwise("rsqrt(Tensor input) -> Tensor", [](Expr x) { return 1.0 / sqrt(x); },
                {.domain = differentiable,
                 .promote = Promote::to_float,
                 .saves = save_x(0) | save_y(0),
                 .grad =
                     [](Grad g) {
                       // -y / (2 x) rounds once where the chain rule's three factors of y round
                       // five times.
                       Tensor slope = M::div(M::mul(conjugate(g.y()), -0.5), conjugate(g.x(0)));
                       return Grads{M::mul(g.dy(), slope)};
                     },
                 .doc = "1 / sqrt(x), the square root rounded first."});
}

Expr sign_body(Expr x) {
  if (x.dtype() == DType::bool_) return x;
  return select(lt(0, x), 1, select(lt(x, 0), constant(x.dtype(), -1), 0));
}

template <class F>
Expr rounding(Expr x, F f) {
  return is_floating(x.dtype()) ? f(x) : x;
}

void add_simple(Definitions& r) {
  r.elementwise("neg(Tensor input) -> Tensor", [](Expr x) { return -x; },
                {.domain = kArithmetic, .also = {"negative"}, .doc = "-x."});
  r.elementwise("abs(Tensor input) -> Tensor", [](Expr x) { return abs(x); },
                {.domain = kArithmetic,
                 .promote = Promote::real,
                 .saves = save_x(0),
                 .grad =
                     [](Grad g) {
                       if (!is_complex(g.dtype(0))) return Grads{M::mul(g.dy(), M::sign(g.x(0)))};
                       // d|z| = dy * z / |z|, and 0 at 0. Users write to the result.
                       Tensor y = M::abs(g.x(0)), safe = M::where(M::eq(y, 0), 1.0, y);
                       Tensor scale = M::div(g.dy(), safe);
                       return Grads{M::mul(g.x(0), scale)};
                     },
                 .also = {"absolute"},
                 .doc = "Absolute value; of a complex number, its modulus."});
  r.elementwise("sign(Tensor input) -> Tensor", sign_body,
                {.domain = real_dtypes,
                 .grad = [](Grad g) { return Grads{zero_like_dy(g)}; },
                 .version = 3,
                 .moves = true,
                 .doc = "-1, 0 or 1; of -0 and of a NaN 0."});
  r.elementwise("square(Tensor input) -> Tensor", [](Expr x) { return x * x; },
                {.domain = kArithmetic, .doc = "x * x."});
  r.elementwise(
      "reciprocal(Tensor input) -> Tensor", [](Expr x) { return 1.0 / x; },
      {.domain = differentiable,
       .promote = Promote::to_float,
       .saves = save_y(0),
       .grad = [](Grad g) { return Grads{M::neg(M::mul(g.dy(), M::square(conjugate(g.y()))))}; },
       .doc = "1 / x."});
  r.elementwise("floor(Tensor input) -> Tensor",
                [](Expr x) { return rounding(x, [](Expr v) { return floor(v); }); },
                {.domain = kReal,
                 .grad = [](Grad g) { return Grads{zero_like_dy(g)}; },
                 .moves = true,
                 .doc = "Largest integer not above x."});
  r.elementwise("ceil(Tensor input) -> Tensor",
                [](Expr x) { return rounding(x, [](Expr v) { return ceil(v); }); },
                {.domain = kReal,
                 .grad = [](Grad g) { return Grads{zero_like_dy(g)}; },
                 .moves = true,
                 .doc = "Smallest integer not below x."});
  r.elementwise("trunc(Tensor input) -> Tensor",
                [](Expr x) { return rounding(x, [](Expr v) { return trunc(v); }); },
                {.domain = kReal,
                 .grad = [](Grad g) { return Grads{zero_like_dy(g)}; },
                 .also = {"fix"},
                 .moves = true,
                 .doc = "x without its fraction."});
  r.elementwise("round(Tensor input) -> Tensor",
                [](Expr x) { return rounding(x, [](Expr v) { return rint(v); }); },
                {.domain = kReal,
                 .grad = [](Grad g) { return Grads{zero_like_dy(g)}; },
                 .also = {"special.round"},
                 .moves = true,
                 .doc = "Nearest integer, ties to even."});
  r.elementwise("clone(Tensor input) -> Tensor", [](Expr x) { return x; }, {.doc = "A copy of x."});
  r.elementwise(
      "cast(Tensor input, dtype dtype) -> Tensor", [](Expr x) { return x; },
      {.promote = Promote::attribute,
       .grad = [](Grad g) { return Grads{M::cast(g.dy(), g.dtype(0))}; },
       .places = kNowhere,
       .moves = true,
       .doc = "x converted to another dtype. Floats go to integers by truncation, saturating; "
              "NaN gives 0."});
}

/// As in PyTorch, the parts are not converted.
Types infer_complex(Args a) {
  const DType re = a.tensor(0).dtype(), im = a.tensor(1).dtype();
  if (re != im)
    throw DTypeError({.op = "complex",
                      .problem = "real and imag differ in dtype",
                      .got = absl::StrCat(name(re), " and ", name(im)),
                      .expected = "float32 or float64 for both",
                      .next = "convert one with .to(dtype)"});
  return infer_elementwise(*M::complex.op(), a);
}

void add_complex(Definitions& r) {
  r.elementwise("real_part(Tensor input) -> Tensor",
                [](Expr x) { return is_complex(x.dtype()) ? real(x) : x; },
                {.promote = Promote::real,
                 .grad =
                     [](Grad g) {
                       if (!is_complex(g.dtype(0))) return Grads{g.dy()};
                       return Grads{M::complex(g.dy(), zero_like_dy(g))};
                     },
                 .places = kNowhere,
                 .moves = true,
                 .doc = "Real part, computed element by element; real() is a view."});
  r.elementwise("imag_part(Tensor input) -> Tensor", [](Expr x) { return imag(x); },
                {.domain = complexes,
                 .promote = Promote::real,
                 .grad = [](Grad g) { return Grads{M::complex(zero_like_dy(g), g.dy())}; },
                 .places = kNowhere,
                 .doc = "Imaginary part, computed element by element; imag() is a view."});
  r.elementwise("conj(Tensor input) -> Tensor", [](Expr x) { return conj(x); },
                {.grad = [](Grad g) { return Grads{M::conj(g.dy())}; },
                 .also = {"conj_physical"},
                 .taken_for_view = "conj",
                 .moves = true,
                 .doc = "Complex conjugate; a real x as it is."});
  r.elementwise("complex(Tensor real, Tensor imag) -> Tensor",
                [](Expr re, Expr im) { return complex(re, im); },
                {.domain = {DType::f32, DType::f64},
                 .promote = Promote::complex,
                 .infer = infer_complex,
                 .grad =
                     [](Grad g) {
                       return Grads{M::real_part(g.dy()), M::imag_part(g.dy())};
                     },
                 .doc = "re + i im."});
}

}  // namespace

Tensor as_float(const Tensor& x) {
  return is_floating(x.dtype()) || is_complex(x.dtype()) ? x : M::cast(x, default_dtype());
}

std::vector<std::string_view> without_empty(absl::Span<const std::string_view> names) {
  std::vector<std::string_view> out;
  for (std::string_view name : names)
    if (!name.empty()) out.push_back(name);
  return out;
}

Tensor conjugate(const Tensor& x) { return is_complex(x.dtype()) ? M::conj(x) : x; }

Tensor squared_modulus(const Tensor& x) {
  if (!is_complex(x.dtype())) return M::square(x);
  return M::add(M::square(M::real_part(x)), M::square(M::imag_part(x)));
}

void add_math_definitions(Definitions& r) {
  add_binary(r);
  add_extrema(r);
  add_functions(r);
  add_simple(r);
  add_complex(r);
}

}  // namespace lathe
