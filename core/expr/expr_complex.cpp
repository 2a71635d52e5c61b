// Complex arithmetic, as formulas on pairs of f32. Nothing complex is left when a body is finished.
//
// Products are the textbook ones, without FMA, so that they commute. Quotient, modulus, logarithm
// and root go through f64, where the squares of f32 parts neither overflow nor vanish and sums of
// products of f32 are rounded once: no scaling, no branches, and nearly correctly rounded results.
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
Expr is_infinite(Expr x) { return eq(abs(x), constant_bits(DType::f32, 0x7f800000)); }

Pair multiply(Pair a, Pair b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }

Pair divide(Pair a, Pair b) {
  const Expr p = wide(a.re), q = wide(a.im), r = wide(b.re), s = wide(b.im);
  const Expr norm = r * r + s * s;
  return {narrow((p * r + q * s) / norm), narrow((q * r - p * s) / norm)};
}

/// |z| in f64, without the rule for infinities.
Expr wide_modulus(Pair z) {
  const Expr p = wide(z.re), q = wide(z.im);
  return sqrt(p * p + q * q);
}

/// As C's hypot: an infinite part wins over a NaN.
Expr modulus(Pair z) {
  const Expr infinity = constant_bits(DType::f32, 0x7f800000);
  return select(is_infinite(z.re) | is_infinite(z.im), infinity, narrow(wide_modulus(z)));
}

Pair exponential(Pair z) {
  const Expr scale = exp(z.re);
  // A real argument stays real, also where the scale is infinite.
  return {scale * cos(z.im), select(eq(z.im, 0.0), z.im, scale * sin(z.im))};
}

Pair logarithm(Pair z) {
  const Expr log_modulus = narrow(log(wide_modulus(z)));
  const Expr infinity = constant_bits(DType::f32, 0x7f800000);
  return {select(is_infinite(z.re) | is_infinite(z.im), infinity, log_modulus), atan2(z.im, z.re)};
}

/// The root with the non-negative real part; the cut runs along the negative axis.
Pair root(Pair z) {
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
    if (!is_complex(e.dtype())) refuse(prim, args, "cast the real operand to complex64 first");
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
    refuse(prim, {condition, yes, no}, "cast the real operand to complex64 first");
  const auto choose = prim == Prim::rare ? rare : select;
  return complex(choose(condition, real(yes), real(no)), choose(condition, imag(yes), imag(no)));
}

Expr complex_check(Expr condition, Expr x, int code) {
  return complex(check(condition, real(x), code), check(condition, imag(x), code));
}

Expr complex_cast(Expr x, DType dtype) {
  if (!is_complex(x.dtype())) return complex(cast(x, DType::f32), constant(DType::f32, 0.0));
  if (is_complex(dtype)) return x;
  if (dtype == DType::bool_) return ne(real(x), 0.0) | ne(imag(x), 0.0);
  return cast(real(x), dtype);  // the imaginary part is dropped, as by every array library
}

}  // namespace lathe::expr_detail
