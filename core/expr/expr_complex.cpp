// Complex arithmetic, as formulas on pairs of floats. Nothing complex is left when a body is
// finished.
//
// Products are the textbook ones, without FMA, so that they commute. Quotient, modulus, logarithm
// and root of f32 parts go through f64, where the squares neither overflow nor vanish and sums of
// products are rounded once: no scaling, no branches, and nearly correctly rounded results. f64
// parts have nothing wider to go to: they are scaled by powers of two, which is exact, so that the
// larger part is between 1 and 2.
#include <limits>

#include "core/base/error.h"
#include "core/expr/expr.h"
#include "core/expr/expr_internal.h"

namespace lathe::expr_detail {
namespace {

struct Pair {
  Expr re, im;
};
Pair parts(Expr z) { return {real(z), imag(z)}; }
Expr join(Pair z) { return complex(z.re, z.im); }

Expr wide(Expr x) { return cast(x, DType::f64); }
Expr narrow(Expr x) { return cast(x, DType::f32); }
Expr infinity_of(DType d) { return constant(d, std::numeric_limits<double>::infinity()); }
Expr is_infinite(Expr x) { return eq(abs(x), infinity_of(x.dtype())); }
bool is_double(Pair z) { return z.re.dtype() == DType::f64; }

// ── scaling of f64 pairs ────────────────────────────────────────────────────────────────────────
constexpr int kBias = 1023, kMantissa = 52;

/// 2^e as f64, of an i64 e from -1022 to 1023.
Expr power_of_two(Expr e) {
  return frombits(cast(shl(e + kBias, constant(DType::i64, kMantissa)), DType::u64), DType::f64);
}
/// The exponent of the larger part, kept where both it and its negative are those of normal
/// numbers.
Expr exponent_of(Pair z) {
  const Expr larger = pmax(abs(z.re), abs(z.im));
  const Expr field = cast(shr(bits(larger), constant(DType::u64, kMantissa)), DType::i64);
  return pmin(pmax(field - kBias, constant(DType::i64, -1022)), constant(DType::i64, 1022));
}
Pair scaled(Pair z, Expr by) { return {z.re * by, z.im * by}; }
/// x * 2^e for an e of up to twice the range of exponents.
Expr times_power(Expr x, Expr e) {
  const Expr half = shr(e, constant(DType::i64, 1));
  return x * power_of_two(half) * power_of_two(e - half);
}
Expr sum_of_squares(Pair z) { return z.re * z.re + z.im * z.im; }

Pair divide_doubles(Pair a, Pair b) {
  const Expr a_power = exponent_of(a), b_power = exponent_of(b);
  const Pair x = scaled(a, power_of_two(-a_power)), y = scaled(b, power_of_two(-b_power));
  const Expr norm = sum_of_squares(y), back = a_power - b_power;
  return {times_power((x.re * y.re + x.im * y.im) / norm, back),
          times_power((x.im * y.re - x.re * y.im) / norm, back)};
}

Expr modulus_of_doubles(Pair z) {
  const Expr power = exponent_of(z);
  return sqrt(sum_of_squares(scaled(z, power_of_two(-power)))) * power_of_two(power);
}

/// log |z|. Near 1 from |z|^2 - 1, whose largest terms are taken first.
Expr log_modulus_of_doubles(Pair z) {
  const Expr x = abs(z.re), y = abs(z.im), larger = pmax(x, y), smaller = pmin(x, y);
  const Expr near =
      unary(Prim::log1p, fma(smaller, smaller, (larger - 1.0) * (larger + 1.0))) * 0.5;
  const Expr power = exponent_of(z);
  const Expr far = log(sum_of_squares(scaled(z, power_of_two(-power)))) * 0.5 +
                   cast(power, DType::f64) * 0.693147180559945309417;
  return select(le(0.5, larger) & le(larger, 2.0), near, far);
}

/// Of z / 2^(2n), and of that the part that the root has times 2^n.
Pair root_of_doubles(Pair z) {
  const Expr half = shr(exponent_of(z), constant(DType::i64, 1));
  const Pair s = scaled(z, power_of_two(-(half + half)));
  const Expr large = sqrt((abs(s.re) + sqrt(sum_of_squares(s))) * 0.5);
  const Expr small = select(eq(large, 0.0), large, abs(s.im) / (large + large));
  const Expr right = le(0.0, s.re), back = power_of_two(half);
  const Expr im = select(right, small, large) * back;
  return {select(right, large, small) * back, select(is_negative(z.im), -im, im)};
}

Pair multiply(Pair a, Pair b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }

Pair divide(Pair a, Pair b) {
  if (is_double(a)) return divide_doubles(a, b);
  const Expr p = wide(a.re), q = wide(a.im), r = wide(b.re), s = wide(b.im);
  const Expr norm = r * r + s * s;
  return {narrow((p * r + q * s) / norm), narrow((q * r - p * s) / norm)};
}

/// |z| of f32 parts in f64, without the rule for infinities.
Expr wide_modulus(Pair z) {
  const Expr p = wide(z.re), q = wide(z.im);
  return sqrt(p * p + q * q);
}

/// As C's hypot: an infinite part wins over a NaN.
Expr modulus(Pair z) {
  const Expr finite = is_double(z) ? modulus_of_doubles(z) : narrow(wide_modulus(z));
  return select(is_infinite(z.re) | is_infinite(z.im), infinity_of(z.re.dtype()), finite);
}

Pair exponential(Pair z) {
  const Expr scale = exp(z.re);
  // A real argument stays real, also where the scale is infinite.
  return {scale * cos(z.im), select(eq(z.im, 0.0), z.im, scale * sin(z.im))};
}

Pair logarithm(Pair z) {
  const Expr log_modulus = is_double(z) ? log_modulus_of_doubles(z) : narrow(log(wide_modulus(z)));
  const Expr infinity = infinity_of(z.re.dtype());
  return {select(is_infinite(z.re) | is_infinite(z.im), infinity, log_modulus), atan2(z.im, z.re)};
}

/// The root with the non-negative real part; the cut runs along the negative axis.
Pair root(Pair z) {
  if (is_double(z)) return root_of_doubles(z);
  const Expr p = wide(z.re), q = wide(z.im);
  const Expr large = sqrt((abs(p) + wide_modulus(z)) * 0.5);  // the larger part of the result
  const Expr small = select(eq(large, 0.0), large, abs(q) / (large + large));
  const Expr right = le(0.0, p);
  const Expr im = select(right, small, large);
  return {narrow(select(right, large, small)), narrow(select(is_negative(q), -im, im))};
}

Pair power(Pair base, Pair exponent) {
  const Pair general = exponential(multiply(exponent, logarithm(base)));
  // The logarithm of zero is no help: 0^w is 0 to the right of the imaginary axis, and w = 0
  // gives 1.
  const Expr zero_base = eq(base.re, 0.0) & eq(base.im, 0.0);
  const Expr vanishes = zero_base & lt(0.0, exponent.re);
  const Expr one = eq(exponent.re, 0.0) & eq(exponent.im, 0.0);
  return {select(one, 1.0, select(vanishes, 0.0, general.re)),
          select(one | vanishes, 0.0, general.im)};
}

Pair sine(Pair z) {
  return {sin(z.re) * unary(Prim::cosh, z.im), cos(z.re) * unary(Prim::sinh, z.im)};
}
Pair cosine(Pair z) {
  return {cos(z.re) * unary(Prim::cosh, z.im), -(sin(z.re) * unary(Prim::sinh, z.im))};
}

}  // namespace

Expr complex_arithmetic(Prim prim, absl::Span<const Expr> args) {
  for (Expr e : args)
    if (!is_complex(e.dtype()))
      refuse(prim, args, "cast the real operand to the complex dtype first");
  const Pair a = parts(args[0]), b = args.size() > 1 ? parts(args[1]) : a;
  switch (prim) {
    case Prim::add:
      return join({a.re + b.re, a.im + b.im});
    case Prim::sub:
      return join({a.re - b.re, a.im - b.im});
    case Prim::mul:
      return join(multiply(a, b));
    case Prim::div:
      return join(divide(a, b));
    case Prim::fma:
      return args[0] * args[1] + args[2];
    case Prim::neg:
      return join({-a.re, -a.im});
    case Prim::abs:
      return modulus(a);
    case Prim::sqrt:
      return join(root(a));
    case Prim::exp:
      return join(exponential(a));
    case Prim::log:
      return join(logarithm(a));
    case Prim::sin:
      return join(sine(a));
    case Prim::cos:
      return join(cosine(a));
    case Prim::pow:
      return join(power(a, b));
    case Prim::eq:
      return eq(a.re, b.re) & eq(a.im, b.im);
    case Prim::ne:
      return ne(a.re, b.re) | ne(a.im, b.im);
    default:
      refuse(prim, args, "take real, imag or abs of the complex operand first");
  }
}

Expr complex_select(Prim prim, Expr condition, Expr yes, Expr no) {
  if (!is_complex(yes.dtype()) || !is_complex(no.dtype()))
    refuse(prim, {condition, yes, no}, "cast the real operand to the complex dtype first");
  const auto choose = prim == Prim::rare ? rare : select;
  return complex(choose(condition, real(yes), real(no)), choose(condition, imag(yes), imag(no)));
}

Expr complex_check(Expr condition, Expr x, int code) {
  return complex(check(condition, real(x), code), check(condition, imag(x), code));
}

Expr complex_cast(Expr x, DType dtype) {
  const DType part = real_type(dtype);
  if (!is_complex(x.dtype())) return complex(cast(x, part), constant(part, 0.0));
  if (is_complex(dtype)) return complex(cast(real(x), part), cast(imag(x), part));
  if (dtype == DType::bool_) return ne(real(x), 0.0) | ne(imag(x), 0.0);
  return cast(real(x), dtype);  // the imaginary part is dropped, as by every array library
}

}  // namespace lathe::expr_detail
