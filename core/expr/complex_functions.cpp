// Complex functions as formulas on pairs of floats, written with the primitives of the scalar
// language.
//
// Signed zeros choose the side of a branch cut, and infinities and NaNs give what C99's Annex G
// says. Formulas avoid two things. Sums that cancel are kept with their rounding errors, or turned
// so that nothing cancels: roots by the larger part; inverse functions from the roots of 1 - z and
// 1 + z, whose parts have known signs (Kahan 1987, "Branch cuts for complex elementary functions").
// And what is inside the range of f64 is not lost by an overflow on the way: operands are scaled by
// powers of two, which is exact, and e^x is taken in two factors where it may overflow alone.
//
// Products are the textbook ones, without FMA, so that they commute. f32 parts go through f64 where
// a formula adds up more than two terms: nothing overflows there, and results are rounded once.
//
// A part keeps a few units in its last place, with exceptions for f64 parts: beside the curves
// where it vanishes and the other does not, expm1, sigmoid and pow keep as many of the modulus; and
// the angle of a power is as precise as the exponent is large.
#include <limits>
#include <numbers>

#include "core/base/error.h"
#include "core/expr/complex_pair.h"

namespace lathe::expr_detail {
namespace {

Expr wide(Expr x) { return cast(x, DType::f64); }
Expr narrow(Expr x) { return cast(x, DType::f32); }
Pair wide(Pair z) { return {wide(z.re), wide(z.im)}; }
Pair narrow(Pair z) { return {narrow(z.re), narrow(z.im)}; }
bool is_double(Pair z) { return z.re.dtype() == DType::f64; }
Expr infinity_like(Expr x) { return constant(x.dtype(), std::numeric_limits<double>::infinity()); }
Expr zero_like(Expr x) { return constant(x.dtype(), 0); }
Expr with_sign(Expr magnitude, Expr of) { return select(is_negative(of), -magnitude, magnitude); }
Expr has_infinity(Pair z) { return is_infinite(z.re) | is_infinite(z.im); }
/// i times the mirror image: of an odd function f with f(conj z) = conj f(z), f(i z) = i g(z) is
/// turned(f(turned(z))) = g(z).
Pair turned(Pair z) { return {z.im, z.re}; }
Pair choose(Expr condition, Pair yes, Pair no) {
  return {select(condition, yes.re, no.re), select(condition, yes.im, no.im)};
}
Pair choose_rare(Expr mask, Pair fast, Pair slow) {
  return {rare(mask, fast.re, slow.re), rare(mask, fast.im, slow.im)};
}
/// The larger and the smaller magnitude; if a part is NaN, at least one of them.
Expr larger_part(Pair z) { return pmax(abs(z.re), abs(z.im)); }
Expr smaller_part(Pair z) { return pmin(abs(z.im), abs(z.re)); }

/// A formula for f64 parts, for either.
Pair in_doubles(Pair z, Pair (*f)(Pair)) { return is_double(z) ? f(z) : narrow(f(wide(z))); }

// ── scaling of f64 pairs ────────────────────────────────────────────────────────────────────────
constexpr int kBias = 1023, kMantissa = 52;

/// 2^e as f64, of an i64 e from -1022 to 1023.
Expr power_of_two(Expr e) {
  return frombits(cast(shl(e + kBias, constant(DType::i64, kMantissa)), DType::u64), DType::f64);
}
/// The exponent of the larger part, kept where both it and its negative are those of normal
/// numbers.
Expr exponent_of(Pair z) {
  const Expr field = cast(shr(bits(larger_part(z)), constant(DType::u64, kMantissa)), DType::i64);
  return pmin(pmax(field - kBias, constant(DType::i64, -1022)), constant(DType::i64, 1022));
}
Pair scaled(Pair z, Expr by) { return {z.re * by, z.im * by}; }
/// x * 2^e for an e of up to twice the range of exponents.
Expr times_power(Expr x, Expr e) {
  const Expr half = shr(e, constant(DType::i64, 1));
  return x * power_of_two(half) * power_of_two(e - half);
}

// ── sums that cancel ────────────────────────────────────────────────────────────────────────────
Expr sum_of_squares(Pair z) { return z.re * z.re + z.im * z.im; }

/// a b + c d, also where the products cancel (Kahan).
Expr sum_of_products(Expr a, Expr b, Expr c, Expr d) {
  const Expr product = c * d;
  return fma(a, b, product) + fma(c, d, -product);
}

/// What a + b lost in being rounded to `sum`.
Expr rounding_error(Expr a, Expr b, Expr sum) {
  const Expr part = sum - a;
  return (a - (sum - part)) + (b - part);
}

/// a + x^2 + y^2, also where they cancel.
Expr add_squares(Expr a, Pair z) {
  const Expr p = z.re * z.re, q = z.im * z.im;
  const Expr first = a + p, sum = first + q;
  const Expr products = fma(z.re, z.re, -p) + fma(z.im, z.im, -q);
  return sum + (rounding_error(first, q, sum) + (rounding_error(a, p, first) + products));
}

// ── quotient, modulus, root ─────────────────────────────────────────────────────────────────────
Pair divide_doubles(Pair a, Pair b) {
  const Expr a_power = exponent_of(a), b_power = exponent_of(b);
  const Pair x = scaled(a, power_of_two(-a_power)), y = scaled(b, power_of_two(-b_power));
  const Expr norm = sum_of_squares(y), back = a_power - b_power;
  return {times_power(sum_of_products(x.re, y.re, x.im, y.im) / norm, back),
          times_power(sum_of_products(x.im, y.re, -x.re, y.im) / norm, back)};
}

/// 1 with the sign of an infinite x, 0 with that of another.
Expr boxed(Expr x) { return with_sign(select(is_infinite(x), 1.0, zero_like(x)), x); }
Pair boxed(Pair z) { return {boxed(z.re), boxed(z.im)}; }

/// a conj(b) times a number.
Pair times_conjugate(Expr number, Pair a, Pair b) {
  return {number * (a.re * b.re + a.im * b.im), number * (a.im * b.re - a.re * b.im)};
}

/// The quotient by zero, of an infinity by what is finite, and the other way round; else `other`.
Pair extreme_quotient(Pair a, Pair b, Pair other) {
  const Expr infinity = infinity_like(b.re), pole = with_sign(infinity, b.re);
  const Expr by_zero = eq(b.re, 0.0) & eq(b.im, 0.0);
  const Expr a_infinite = has_infinity(a), b_infinite = has_infinity(b);
  const Expr some_nan = isnan(a.re) | isnan(a.im) | isnan(b.re) | isnan(b.im);
  Pair y = choose(a_infinite & ~b_infinite, times_conjugate(infinity, boxed(a), b), other);
  y = choose(b_infinite & ~a_infinite, times_conjugate(zero_like(b.re), a, boxed(b)), y);
  return choose(by_zero, {pole * a.re, pole * a.im}, choose(some_nan & ~a_infinite, other, y));
}

Pair or_extremes(Pair a, Pair b, Pair quotient) {
  const Expr lost = isnan(quotient.re) | isnan(quotient.im);
  return choose_rare(lost, quotient, extreme_quotient(a, b, quotient));
}

Expr modulus_of_doubles(Pair z) {
  const Expr power = exponent_of(z);
  return sqrt(sum_of_squares(scaled(z, power_of_two(-power)))) * power_of_two(power);
}

/// The larger part from z / 2^(2n) by way of the modulus, the smaller from the larger: their
/// product is half the imaginary part.
Pair root_of_doubles(Pair z) {
  const Expr half = shr(exponent_of(z), constant(DType::i64, 1));
  const Pair s = scaled(z, power_of_two(-(half + half)));
  const Expr infinity = infinity_like(z.re), any = has_infinity(z);
  const Expr large = select(any, infinity, sqrt((abs(s.re) + sqrt(sum_of_squares(s))) * 0.5));
  const Expr ratio = abs(z.im) * power_of_two(-half) / (large + large);
  const Expr small = select(is_infinite(z.im), infinity, select(eq(large, 0.0), large, ratio));
  const Expr right = le(0.0, z.re), back = large * power_of_two(half);
  return {select(right, back, small), with_sign(select(right, small, back), z.im)};
}

// ── exponential functions ───────────────────────────────────────────────────────────────────────
/// ln(2) less the double closest to it.
constexpr double kLn2Low = 0x1.abc9e3b39803fp-56;

/// Beyond this, e^x and 2^x may overflow where their products with a small number do not; the
/// square of e^(x/2) has the precision of e^x.
Expr is_far(Expr x) { return lt(x.dtype() == DType::f64 ? 700.0 : 88.0, x); }

/// scale a e^x, or scale a 2^x.
Expr times_exp(Prim exponential, Expr a, Expr x, double scale = 1) {
  const Expr far = is_far(x), factor = unary(exponential, select(far, x * 0.5, x));
  return a * (factor * scale) * select(far, factor, 1.0);
}

/// e^z or 2^z, `unit` the direction of its imaginary part.
Pair exponential_in(Prim exponential, Pair unit, Pair z) {
  // At -infinity and infinity the size is known without a direction.
  const Expr lost = is_infinite(z.re) & isnan(unit.re);
  const Expr one = constant(z.re.dtype(), 1);
  unit = choose(lost, {one, select(lt(z.re, 0.0), with_sign(one, z.im), unit.im)}, unit);
  // A real argument stays real, also where the size is infinite.
  return {times_exp(exponential, unit.re, z.re),
          select(eq(z.im, 0.0), z.im, times_exp(exponential, unit.im, z.re))};
}

Pair exponential(Pair z) { return exponential_in(Prim::exp, {cos(z.im), sin(z.im)}, z); }

/// cos and sin of an angle and what its rounding lost, as long as that is small.
Pair direction(Expr angle, Expr lost) {
  const Expr rest = select(lt(abs(lost), 0x1p-27), lost, 0.0), c = cos(angle), s = sin(angle);
  return {c - rest * s, s + rest * c};
}

Pair exponential_of_two(Pair z) {
  const Expr ln2 = constant(DType::f64, std::numbers::ln2), angle = z.im * ln2;
  const Expr lost = fma(z.im, ln2, -angle) + z.im * kLn2Low;
  return exponential_in(Prim::exp2, direction(angle, lost), z);
}

/// e^x cos(y) - 1 = (e^x - 1) cos(y) - 2 sin(y/2)^2, while 1 counts.
Pair exponential_minus_one(Pair z) {
  const Pair e = exponential(z);
  const Expr s = sin(z.im * 0.5), near = unary(Prim::expm1, z.re) * cos(z.im) - (s * s) * 2.0;
  const Expr plain = lt(40.0, z.re) | is_infinite(z.re);
  return {select(plain, e.re - 1.0, near), e.im};
}

/// 1 / (1 + e^-z), as e^z / (1 + e^z) on the left.
Pair logistic(Pair z) {
  const Expr left = is_negative(z.re), one = constant(z.re.dtype(), 1);
  const Pair e = exponential({-abs(z.re), select(left, z.im, -z.im)});
  return divide({select(left, e.re, one), select(left, e.im, one - one)}, {e.re + 1.0, e.im});
}

// ── hyperbolic functions and, turned, trigonometric ones ────────────────────────────────────────
/// a cosh(x) or a sinh(x); half e^|x| is either where it may overflow alone.
Expr times_hyperbolic(Expr a, Prim prim, Expr x) {
  const Expr size = abs(x), side = prim == Prim::sinh ? select(is_negative(x), -a, a) : a;
  return select(is_far(size), times_exp(Prim::exp, side, size, 0.5), a * unary(prim, x));
}

/// An infinite x has no finite multiple, but a direction that is no number would make a NaN of it.
Expr or_infinity(Expr y, Expr x, Expr infinity) {
  return select(is_infinite(x) & isnan(y), infinity, y);
}

Pair hyperbolic_sine(Pair z) {
  const Expr re = times_hyperbolic(cos(z.im), Prim::sinh, z.re);
  const Expr im = times_hyperbolic(sin(z.im), Prim::cosh, z.re);
  return {or_infinity(select(eq(z.re, 0.0) & isnan(re), z.re, re), z.re, z.re),
          select(eq(z.im, 0.0), z.im, im)};
}

Pair hyperbolic_cosine(Pair z) {
  const Expr re = times_hyperbolic(cos(z.im), Prim::cosh, z.re);
  const Expr im = times_hyperbolic(sin(z.im), Prim::sinh, z.re);
  const Expr zero = eq(z.im, 0.0) | (eq(z.re, 0.0) & isnan(im));
  return {or_infinity(re, z.re, abs(z.re)),
          select(zero, with_sign(with_sign(zero_like(im), z.re), z.im), im)};
}

/// With t = tan(y), b = 1 + t^2 and s = sinh(x): (b s cosh(x) + i t) / (1 + b s^2). From |x| = 22
/// on the real part is 1, and the imaginary part 4 e^(-2 |x|) sin(y) cos(y) (Kahan 1987).
Pair hyperbolic_tangent(Pair z) {
  const Expr size = abs(z.re), x = pmin(constant(DType::f64, 22), size);  // a NaN stays
  const Expr t = unary(Prim::tan, z.im), b = t * t + 1.0;
  const Expr s = unary(Prim::sinh, x), scale = b * s * s + 1.0;
  const Expr infinite = is_infinite(size), zero = zero_like(t);
  const Expr re = select(infinite, 1.0, b * s * sqrt(s * s + 1.0) / scale);
  const Expr far = select(infinite, with_sign(zero, t), t / b * exp(size * -2.0) * 4.0);
  const Expr im = select(lt(22.0, size), far, t / scale);
  return {with_sign(select(eq(size, 0.0), zero, re), z.re), select(eq(z.im, 0.0), z.im, im)};
}

// ── logarithms ──────────────────────────────────────────────────────────────────────────────────
/// A number and what its rounding lost.
struct Rounded {
  Expr value, lost;
};

/// log |u|, where |u|^2 = 1 + a + |z|^2.
Rounded log_modulus(Pair u, Expr a, Pair z) {
  const Expr larger = larger_part(u), power = exponent_of(u), e = cast(power, DType::f64);
  const Expr near = unary(Prim::log1p, add_squares(a, z)) * 0.5;
  const Expr rest = log(sum_of_squares(scaled(u, power_of_two(-power)))) * 0.5;
  const Expr ln2 = constant(DType::f64, std::numbers::ln2), whole = e * ln2, far = whole + rest;
  const Expr error = rounding_error(whole, rest, far) + (fma(e, ln2, -whole) + e * kLn2Low);
  const Expr lost = select(is_infinite(rest), 0.0, error);
  const Expr is_near = le(0.5, larger) & le(larger, 2.0);
  const Expr value = select(is_near, near, far + lost);
  return {select(has_infinity(u), infinity_like(far), value),
          select(is_near, 0.0, lost - (value - far))};
}

Rounded log_modulus(Pair z) { return log_modulus(z, constant(DType::f64, -1), z); }

Pair logarithm(Pair z) { return {log_modulus(z).value, atan2(z.im, z.re)}; }

Pair logarithm_of_one_and(Pair z) {
  const Pair u{z.re + 1.0, z.im};
  return {log_modulus(u, z.re + z.re, z).value, atan2(u.im, u.re)};
}

template <int base>
Pair logarithm_to_base(Pair z) {
  const double scale = base == 2 ? std::numbers::log2e : std::numbers::log10e;
  const Pair y = logarithm(z);
  return {y.re * scale, y.im * scale};
}

// ── powers ──────────────────────────────────────────────────────────────────────────────────────
/// |z|^a e^(-b arg z), at the angle a arg z + b log |z|, for an exponent a + i b: as precise as the
/// modulus. e^(w log z) where one of the factors may leave the range of floats.
Pair general_power(Pair base, Pair exponent) {
  const Rounded size_log = log_modulus(base);
  const Expr turn_of_base = atan2(base.im, base.re), a = exponent.re, b = exponent.im;
  const Expr p = a * turn_of_base, q = b * size_log.value, angle = p + q;
  const Expr products = fma(a, turn_of_base, -p) + fma(b, size_log.value, -q);
  const Expr lost = rounding_error(p, q, angle) + (products + b * size_log.lost);
  const Expr growth = sum_of_products(a, size_log.value, -b, turn_of_base);
  const Pair unit = direction(angle, lost);
  const Expr size = pow(modulus_of_doubles(base), a);
  const Expr turn = exp(-(b * turn_of_base));
  const Expr ordinary =
      lt(0x1p-900, size) & lt(size, 0x1p900) & lt(0x1p-100, turn) & lt(turn, 0x1p100);
  const Pair plain{size * turn * unit.re, size * turn * unit.im};
  return choose_rare(~ordinary, plain, exponential_in(Prim::exp, unit, {growth, angle}));
}

Pair power_of_doubles(Pair base, Pair exponent) {
  const Pair general = general_power(base, exponent);
  // The logarithm of zero is no help: 0^w is 0 to the right of the imaginary axis, and w = 0
  // gives 1.
  const Expr zero_base = eq(base.re, 0.0) & eq(base.im, 0.0);
  const Expr vanishes = zero_base & lt(0.0, exponent.re);
  const Expr one = eq(exponent.re, 0.0) & eq(exponent.im, 0.0);
  return {select(one, 1.0, select(vanishes, 0.0, general.re)),
          select(one | vanishes, 0.0, general.im)};
}

// ── inverse functions ───────────────────────────────────────────────────────────────────────────
/// A number whose roots and their products stay in range. What is taken off as a power of two is
/// added to the logarithm that an inverse function is there; 1 does not count any more.
struct Reduced {
  Pair z;
  Expr far;
  /// asinh(x) of z as it was.
  Expr area(Expr x) const {
    constexpr double kLog = 16 * std::numbers::ln2;
    const Expr y = unary(Prim::asinh, x);
    return y + with_sign(select(far, kLog, zero_like(y)), y);
  }
};
Reduced reduced(Pair z) {
  const Expr far = lt(0x1p1000, larger_part(z));
  return {scaled(z, select(far, 0x1p-16, constant(DType::f64, 1))), far};
}

Pair root_of_one_minus(Pair z) { return root_of_doubles({1.0 - z.re, -z.im}); }
Pair root_of_one_plus(Pair z) { return root_of_doubles({z.re + 1.0, z.im}); }

/// With p and q the roots of 1 - z and 1 + z: atan(x / Re(p q)) + i asinh(Im(conj(p) q)).
Pair arc_sine(Pair z) {
  const Reduced r = reduced(z);
  const Pair p = root_of_one_minus(r.z), q = root_of_one_plus(r.z);
  const Expr angle = atan2(r.z.re, p.re * q.re - p.im * q.im);
  const Expr area = r.area(p.re * q.im - p.im * q.re);
  const Expr infinite = has_infinity(z);
  return {select(infinite, atan2(z.re, abs(z.im)), select(eq(z.re, 0.0), z.re, angle)),
          select(infinite, with_sign(infinity_like(area), z.im), area)};
}

/// 2 atan(Re(p) / Re(q)) + i asinh(Im(conj(q) p)).
Pair arc_cosine(Pair z) {
  const Reduced r = reduced(z);
  const Pair p = root_of_one_minus(r.z), q = root_of_one_plus(r.z);
  const Expr angle = atan2(p.re, q.re) * 2.0,
             half_turn = constant(DType::f64, std::numbers::pi / 2);
  const Expr area = r.area(q.re * p.im - q.im * p.re);
  const Expr infinite = has_infinity(z);
  return {select(infinite, atan2(abs(z.im), z.re),
                 select(eq(z.re, 0.0) & isnan(z.im), half_turn, angle)),
          select(infinite, with_sign(-infinity_like(area), z.im), area)};
}

/// i acos(z) or its negative: the one on the right.
Pair hyperbolic_arc_cosine(Pair z) {
  const Pair w = arc_cosine(z);
  return {abs(w.im), with_sign(w.re, z.im)};
}

/// log1p(4 |x| / ((1 - |x|)^2 + y^2)) / 4 with the sign of x, and half the angle of (1 - x)(1 + x)
/// - y^2 + 2 i y. Quotients in place of squares, which may leave the range.
Pair hyperbolic_arc_tangent(Pair z) {
  const Expr x = abs(z.re), y = abs(z.im), apart = 1.0 - x;
  const Expr large = larger_part({apart, y}), small = smaller_part({apart, y});
  const Expr half = large * 0.5 + small * 0.5 * (small / large);
  const Expr near = unary(Prim::log1p, x / large / half * 2.0) * 0.25;
  // Beside 1 the quotient may overflow: x is 1 there.
  const Expr pole = eq(apart, 0.0) & lt(y, 0x1p-400), infinite = has_infinity(z),
             zero = zero_like(x);
  const Expr re = select(pole, (std::numbers::ln2 - log(large)) * 0.5, near);
  const Expr im = atan2(z.im, (apart * (x + 1.0) - y * y) * 0.5) * 0.5;
  const Expr quarter =
      select(isnan(z.im), z.im, with_sign(constant(DType::f64, std::numbers::pi / 2), z.im));
  return {with_sign(select(infinite | eq(x, 0.0), zero, re), z.re), select(infinite, quarter, im)};
}

template <Pair (*f)(Pair)>
Pair of_turned(Pair z) {
  return turned(f(turned(z)));
}

/// cos(x + i y) = cosh(-y + i x).
Pair cosine(Pair z) { return hyperbolic_cosine({-z.im, z.re}); }

struct Formula {
  Prim prim;
  Pair (*of)(Pair);
  bool in_doubles;
};
constexpr Formula kFormulas[] = {
    {Prim::exp, exponential, false},
    {Prim::exp2, exponential_of_two, true},
    {Prim::expm1, exponential_minus_one, true},
    {Prim::log, logarithm, true},
    {Prim::log2, logarithm_to_base<2>, true},
    {Prim::log10, logarithm_to_base<10>, true},
    {Prim::log1p, logarithm_of_one_and, true},
    {Prim::sigmoid, logistic, true},
    {Prim::sinh, hyperbolic_sine, false},
    {Prim::cosh, hyperbolic_cosine, false},
    {Prim::tanh, hyperbolic_tangent, true},
    {Prim::sin, of_turned<hyperbolic_sine>, false},
    {Prim::cos, cosine, false},
    {Prim::tan, of_turned<hyperbolic_tangent>, true},
    {Prim::asinh, of_turned<arc_sine>, true},
    {Prim::acosh, hyperbolic_arc_cosine, true},
    {Prim::atanh, hyperbolic_arc_tangent, true},
    {Prim::asin, arc_sine, true},
    {Prim::acos, arc_cosine, true},
    {Prim::atan, of_turned<hyperbolic_arc_tangent>, true},
};

const Formula* formula_of(Prim prim) {
  for (const Formula& f : kFormulas)
    if (f.prim == prim) return &f;
  return nullptr;
}

}  // namespace

Expr is_infinite(Expr x) { return eq(abs(x), infinity_like(x)); }

Pair multiply(Pair a, Pair b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }

Pair divide(Pair a, Pair b) {
  if (!is_double(a)) {
    const Pair x = wide(a), y = wide(b);
    const Expr norm = sum_of_squares(y);
    const Pair plain{(x.re * y.re + x.im * y.im) / norm, (x.im * y.re - x.re * y.im) / norm};
    return narrow(or_extremes(x, y, plain));
  }
  return or_extremes(a, b, divide_doubles(a, b));
}

Pair root(Pair z) { return in_doubles(z, root_of_doubles); }

Expr modulus(Pair z) {
  const Expr finite = is_double(z) ? modulus_of_doubles(z) : narrow(sqrt(sum_of_squares(wide(z))));
  return select(has_infinity(z), infinity_like(z.re), finite);
}

Pair power(Pair base, Pair exponent) {
  if (is_double(base)) return power_of_doubles(base, exponent);
  return narrow(power_of_doubles(wide(base), wide(exponent)));
}

bool has_complex_form(Prim prim) { return formula_of(prim) != nullptr; }

Pair complex_function(Prim prim, Pair z) {
  const Formula* f = formula_of(prim);
  if (f == nullptr) LATHE_INTERNAL("a function without a complex form");
  return f->in_doubles ? in_doubles(z, f->of) : f->of(z);
}

}  // namespace lathe::expr_detail
