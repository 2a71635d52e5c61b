// Elementwise arithmetic beyond core/ops/math.cpp: signs, neighbours, scaling by powers of two,
// whole numbers, and sums of products.
#include "include/lathe/ops/arithmetic.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "core/ops/families.h"
#include "core/ops/names.h"
#include "include/lathe/ops/math.h"

namespace lathe {
namespace {

using namespace names;

using A = arithmetic_ops<Tensor>;

int width_of(DType d) { return 8 * static_cast<int>(size_of(d)); }
/// A number by its value, also where a double cannot hold it.
Expr whole(DType d, uint64_t value) { return constant_bits(d, value); }

// ── signs and neighbours ────────────────────────────────────────────────────────────────────────

Expr copysign_body(Expr x, Expr y) {
  Expr magnitude = abs(x);
  return select(is_negative(y), -magnitude, magnitude);
}

/// dy or -dy, and 0 where x is 0; the sign of y has no slope.
Grads copysign_grad(Grad g) {
  Tensor x = g.x(0), same = M::eq(A::signbit(x), A::signbit(g.x(1)));
  Tensor kept = M::where(same, g.dy(), M::neg(g.dy()));
  return {M::where(M::eq(x, 0), 0, kept), constant_like(g.dy(), Arg(0))};
}

/// z / |z|, and 0 at 0.
Expr sgn_complex_body(Expr z) {
  Expr re = real(z), im = imag(z), at_zero = eq(re, 0) & eq(im, 0);
  Expr safe = complex(select(at_zero, 1, re), im), size = abs(safe);
  return complex(select(at_zero, 0, real(safe) / size), select(at_zero, 0, im / size));
}

Tensor nonzero_modulus(const Tensor& z) {
  Tensor size = M::abs(z);
  return M::where(M::eq(size, 0), 1, size);
}

/// What of dy is across z, over |z|.
Grads sgn_complex_grad(Grad g) {
  Tensor z = g.x(0), y = A::sgn_complex(z);
  Tensor along = M::mul(y, M::real_part(M::mul(g.dy(), M::conj(y))));
  Tensor across = M::mul(M::sub(g.dy(), along), M::reciprocal(nonzero_modulus(z)));
  return {M::where(M::eq(z, 0), 0, across)};
}

/// i z / |z|^2, and 0 at 0; of real numbers 0.
Grads angle_grad(Grad g) {
  if (!is_complex(g.dtype(0))) return {constant_like(g.dy(), Arg(0))};
  Tensor z = g.x(0), y = A::sgn_complex(z), scale = M::div(g.dy(), nonzero_modulus(z));
  return {M::complex(M::neg(M::mul(scale, M::imag_part(y))), M::mul(scale, M::real_part(y)))};
}

/// The angle of z, with the signs of its zeros.
Expr angle_body(Expr z) {
  if (!is_complex(z.dtype()))
    return select(isnan(z), kNaN, select(lt(z, 0), std::numbers::pi, constant(z.dtype(), 0)));
  return atan2(imag(z), real(z));
}

/// The floats of a storage dtype as they lie among those it is computed in, and may be given in.
struct Grid {
  std::string_view name;
  DTypeSet domain;
  int shift;             // a step is 1 << shift in the bits of the wider type
  double below, spaced;  // closer to 0 than `below` they lie `spaced` apart instead
  double highest;        // the largest
};
constexpr double kMaxF16 = 65504;
constexpr Grid kGrids[] = {
    {"nextafter_wide", {DType::f32, DType::f64}, 0, 0, 0, 0},
    {"nextafter_f16", {DType::f16, DType::f32}, 13, 0x1p-14, 0x1p-24, kMaxF16},
    {"nextafter_bf16", {DType::bf16, DType::f32}, 16, 0, 0, 0},
};

Expr nextafter_body(const Grid& grid, Expr x, Expr y) {
  const DType d = x.dtype(), word = d == DType::f64 ? DType::u64 : DType::u32;
  const Expr step = whole(word, uint64_t{1} << grid.shift), size = abs(x);
  // Away from zero the bits of the magnitude grow.
  const Expr grows = lt(0, x) ^ lt(y, x);
  const Expr from = bits(size);
  Expr to = frombits(select(grows, from + step, from - step), d);
  if (grid.below != 0) {
    const Expr close = lt(size, grid.below) | (eq(size, grid.below) & ~grows);
    to = select(close, size + select(grows, grid.spaced, constant(d, -grid.spaced)), to);
    to = select(eq(size, std::numeric_limits<double>::infinity()), grid.highest, to);
  }
  const Expr least = grid.below != 0 ? constant(d, grid.spaced) : frombits(step, d);
  to = select(eq(x, 0), least, to);
  const Expr negative = select(eq(x, 0), lt(y, 0), lt(x, 0));
  const Expr next = select(negative, -to, to);
  return select(isnan(x) | isnan(y), x + y, select(eq(x, y), y, next));
}

/// A step along x, as long as there is one; y only says which way.
Grads nextafter_grad(Grad g) {
  return {M::where(M::ne(g.x(0), g.x(1)), g.dy(), 0), constant_like(g.dy(), Arg(0))};
}

Outputs nextafter_expansion(Args a) {
  const DType d = element_types(*A::copysign.op(), a).common;
  const Tensor x = a.tensor(0), y = a.tensor(1);
  if (d == DType::f16) return {A::nextafter_f16(x, y)};
  if (d == DType::bf16) return {A::nextafter_bf16(x, y)};
  return {A::nextafter_wide(x, y)};
}

void add_signs(Definitions& r) {
  r.elementwise("copysign(Tensor input, Tensor|Scalar other) -> Tensor", copysign_body,
                {.domain = floating,
                 .promote = Promote::to_float,
                 .saves = save_x(0) | save_x(1),
                 .grad = copysign_grad,
                 .moves = true,
                 .doc = "The magnitude of input with the sign of other, also of its zeros."});
  r.elementwise("signbit(Tensor input) -> Tensor", [](Expr x) { return is_negative(x); },
                {.domain = real_dtypes,
                 .promote = Promote::boolean,
                 .no_grad = true,
                 .doc = "True where the sign is minus, of -0 too."});
  r.elementwise("sgn_complex(Tensor input) -> Tensor", sgn_complex_body,
                {.domain = complexes,
                 .saves = save_x(0),
                 .grad = sgn_complex_grad,
                 .places = kNowhere,
                 .doc = "sgn of complex numbers."});
  r.composite("sgn(Tensor input) -> Tensor",
              [](Args a) -> Outputs {
                Tensor x = a.tensor(0);
                return {is_complex(x.dtype()) ? A::sgn_complex(x) : M::sign(x)};
              },
              {.inplace = true,
               .moves = true,
               .doc = "sign(input); of a complex number z, z / |z|, and 0 at 0."});
  r.composite("positive(Tensor input) -> Tensor",
              [](Args a) -> Outputs {
                if (a.tensor(0).dtype() == DType::bool_)
                  throw DTypeError({.op = "positive",
                                    .problem = "not defined for bool",
                                    .got = "a bool tensor",
                                    .expected = "a tensor of numbers",
                                    .next = "convert it with .to(dtype) first"});
                return {a.tensor(0)};
              },
              {.moves = true, .doc = "input itself."});
  r.elementwise("angle_float(Tensor input) -> Tensor", angle_body,
                {.domain = differentiable,
                 .promote = Promote::real,
                 .saves = save_x(0),
                 .grad = angle_grad,
                 .places = kNowhere,
                 .doc = "angle of floats and complex numbers."});
  r.composite(
      "angle(Tensor input) -> Tensor",
      [](Args a) -> Outputs { return {A::angle_float(as_float(a.tensor(0)))}; },
      {.moves = true,
       .doc = "The angle of a complex number, in radians; of a real one 0, or pi below 0."});
  for (const Grid& grid : kGrids)
    r.elementwise(std::string(grid.name) + "(Tensor input, Tensor other) -> Tensor",
                  [&grid](Expr x, Expr y) { return nextafter_body(grid, x, y); },
                  {.domain = grid.domain,
                   .saves = save_x(0) | save_x(1),
                   .grad = nextafter_grad,
                   .places = kNowhere,
                   .doc = "nextafter among the numbers of one group of dtypes."});
  r.composite("nextafter(Tensor input, Tensor other) -> Tensor", nextafter_expansion,
              {.inplace = true,
               .moves = true,
               .doc = "The number of input's dtype that comes next on the way to other."});
  r.elementwise("heaviside(Tensor input, Tensor values) -> Tensor",
                [](Expr x, Expr v) {
                  return select(eq(x, 0), v, select(lt(0, x), constant(x.dtype(), 1), 0));
                },
                {.domain = real_dtypes,
                 .no_grad = true,
                 .doc = "0 below 0, 1 above, values at 0; 0 where input is NaN."});
}

// ── floats ──────────────────────────────────────────────────────────────────────────────────────

/// sqrt(x^2 + y^2) without leaving the range of floats in between. Single precision is computed in
/// double. In double the root of the rounded sum is corrected by half the sum's rounding error over
/// it (one step of Newton), the squares being kept with theirs.
Expr hypot_body(Expr x, Expr y) {
  const DType d = x.dtype();
  Expr infinite = eq(abs(x), kInfinity) | eq(abs(y), kInfinity), h;
  if (d == DType::f32) {
    Expr wide = cast(x, DType::f64), other = cast(y, DType::f64);
    h = cast(sqrt(wide * wide + other * other), d);
  } else {
    Expr a = pmax(abs(x), abs(y)), b = pmin(abs(y), abs(x));
    Expr up = lt(a, 0x1p-500), down = lt(0x1p500, a);
    Expr scale = select(up, 0x1p600, select(down, 0x1p-600, constant(d, 1)));
    a = a * scale, b = b * scale;
    Expr p = a * a, q = b * b, s = p + q;
    Expr rest = (p - s) + q + fma(a, a, -p) + fma(b, b, -q);
    Expr root = sqrt(s);
    Expr better = root + (fma(-root, root, s) + rest) / (root + root);
    Expr back = select(up, 0x1p-600, select(down, 0x1p600, constant(d, 1)));
    h = select(eq(a, 0), a + b, better * back);
  }
  return select(infinite, kInfinity, h);
}

/// x - y, and 0 between equal infinities.
Tensor distance(const Tensor& x, const Tensor& y) {
  return M::where(M::logical_and(M::eq(x, y), M::logical_not(M::isfinite(x))), 0, M::sub(x, y));
}

/// The one whose power is larger plus log(1 + b^(-distance)) to the base b, `scale` its natural
/// logarithm.
Expr logaddexp_body(Expr x, Expr y, double scale) {
  Expr less = lt(real(x), real(y)), larger = select(less, y, x);
  Expr apart = select(eq(x, y), 0, larger - select(less, x, y));
  Expr more = scale == 1 ? log1p(exp(-apart)) : log1p(exp2(-apart)) * (1 / scale);
  return larger + more;
}

template <bool binary>
Grads logaddexp_grad(Grad g) {
  Tensor apart = conjugate(distance(g.x(0), g.x(1)));
  if (binary) apart = M::mul(apart, std::numbers::ln2);
  Grads out(2);
  if (g.wants(0)) out[0] = M::mul(g.dy(), M::sigmoid(apart));
  if (g.wants(1)) out[1] = M::mul(g.dy(), M::sigmoid(M::neg(apart)));
  return out;
}

/// x * 2^n; in two steps where 2^n leaves the range of floats, which x * 2^n need not.
Expr ldexp_body(Expr x, Expr n) {
  if (is_complex(x.dtype())) return x * exp2(n);
  // 2^5000 is infinite, and in two steps it stays so.
  n = select(lt(5000.0, n), 5000.0, select(lt(n, -5000.0), constant(n.dtype(), -5000), n));
  Expr far = lt(x.dtype() == DType::f64 ? 1022 : 126, abs(n));
  Expr half = select(far, trunc(n * 0.5), 0);
  return x * exp2(half) * exp2(n - half);
}

/// e with |x| = m * 2^e and m in [1/2, 1); 0 where there is none.
Expr exponent_body(Expr x) {
  const bool wide = x.dtype() == DType::f64;
  const int stored = wide ? 52 : 23;
  const DType word = wide ? DType::i64 : DType::i32;
  Expr tiny = lt(abs(x), wide ? 0x1p-1022 : 0x1p-126);
  Expr normal = select(tiny, x * (wide ? 0x1p54 : 0x1p25), x);
  Expr field = cast(shr(bits(abs(normal)), stored), word) - (wide ? 1022 : 126);
  Expr e = select(tiny, field - (wide ? 54 : 25), field);
  Expr regular = lt(abs(x), std::numeric_limits<double>::infinity()) & ne(x, 0);
  return cast(select(regular, e, 0), DType::i64);
}

Expr finite_or(Expr x, Expr nan, Expr high, Expr low) {
  if (is_complex(x.dtype())) {
    nan = real(nan), high = real(high), low = real(low);
    return complex(finite_or(real(x), nan, high, low), finite_or(imag(x), nan, high, low));
  }
  return select(
      isnan(x), nan,
      select(eq(x, kInfinity), high, select(eq(x, constant(x.dtype(), -kInfinity)), low, x)));
}

double largest(DType d) {
  switch (real_type(d)) {
    case DType::f16:
      return kMaxF16;
    case DType::bf16:
      return 0x1.fep+127;
    case DType::f64:
      return std::numeric_limits<double>::max();
    default:
      return static_cast<double>(std::numeric_limits<float>::max());
  }
}

Outputs nan_to_num_expansion(Args a) {
  const Tensor x = a.tensor(0);
  if (!is_floating(x.dtype()) && !is_complex(x.dtype())) return {M::clone(x)};
  const double most = largest(x.dtype());
  auto number = [&](int i, double otherwise) { return a.none(i) ? Arg(otherwise) : a[i]; };
  return {A::replace_nonfinite(x, number(1, 0), number(2, most), number(3, -most))};
}

Outputs float_power_expansion(Args a) {
  Tensor kept[2];
  auto wide = [&](int i) -> Arg {
    if (a[i].tag != Tag::tensor) return a[i].tag == Tag::real ? a[i] : Arg(a.real(i));
    kept[i] = M::cast(a.tensor(i), is_complex(a.tensor(i).dtype()) ? DType::c128 : DType::f64);
    return Arg(kept[i]);
  };
  const Arg base = wide(0), exponent = wide(1);
  return {M::pow(base, exponent)};
}

void add_floats(Definitions& r) {
  r.elementwise("hypot(Tensor input, Tensor other) -> Tensor", hypot_body,
                {.domain = floating,
                 .saves = save_x(0) | save_x(1) | save_y(0),
                 .grad =
                     [](Grad g) {
                       Grads out(2);
                       for (int i = 0; i < 2; ++i)
                         if (g.wants(i)) out[i] = M::mul(g.dy(), M::div(g.x(i), g.y()));
                       return out;
                     },
                 .doc = "sqrt(input^2 + other^2), without overflow in between."});
  for (bool binary : {false, true}) {
    const double scale = binary ? std::numbers::ln2 : 1;
    r.elementwise(
        std::string(binary ? "logaddexp2" : "logaddexp") + "(Tensor input, Tensor other) -> Tensor",
        [scale](Expr x, Expr y) { return logaddexp_body(x, y, scale); },
        {.domain = binary ? floating : differentiable,
         .saves = save_x(0) | save_x(1),
         .grad = binary ? logaddexp_grad<true> : logaddexp_grad<false>,
         .doc = binary ? "log2(2^input + 2^other), without overflow."
                       : "log(exp(input) + exp(other)), without overflow."});
  }
  r.elementwise("ldexp(Tensor input, Tensor other) -> Tensor", ldexp_body,
                {.domain = differentiable,
                 .promote = Promote::to_float,
                 .doc = "input * 2^other, rounded once unless it is complex."});
  r.elementwise("frexp_exponent(Tensor input) -> Tensor", exponent_body,
                {.domain = floating,
                 .promote = Promote::index,
                 .no_grad = true,
                 .places = kNowhere,
                 .doc = "The exponent that frexp gives, as int64."});
  r.composite("frexp(Tensor input) -> (Tensor mantissa, Tensor exponent)",
              [](Args a) -> Outputs {
                Tensor x = a.tensor(0), e = A::frexp_exponent(x);
                return {A::ldexp(x, M::neg(e)), M::cast(e, DType::i32)};
              },
              {.domain = floating,
               .doc = "A mantissa of magnitude in [1/2, 1) and an int32 exponent e with input = "
                      "mantissa * 2^e; 0, infinities and NaN have the exponent 0."});
  r.elementwise("frac(Tensor input) -> Tensor", [](Expr x) { return x - trunc(x); },
                {.domain = floating, .doc = "input without its whole part; the sign stays."});
  for (bool degrees : {true, false}) {
    const double factor = degrees ? 180 / std::numbers::pi : std::numbers::pi / 180;
    r.elementwise(std::string(degrees ? "rad2deg" : "deg2rad") + "(Tensor input) -> Tensor",
                  [factor](Expr x) { return x * factor; },
                  {.domain = floating,
                   .promote = Promote::to_float,
                   .doc = degrees ? "Radians in degrees." : "Degrees in radians."});
  }
  r.elementwise("replace_nonfinite(Tensor input, float nan, float posinf, float neginf) -> Tensor",
                finite_or,
                {.domain = differentiable,
                 .places = kNowhere,
                 .doc = "input with numbers in place of what is not finite."});
  r.composite(
      "nan_to_num(Tensor input, float? nan=None, float? posinf=None, float? neginf=None) "
      "-> Tensor",
      nan_to_num_expansion,
      {.inplace = true,
       .moves = true,
       .doc = "input with NaN as nan (0) and the infinities as posinf and neginf (the "
              "largest and lowest of the dtype)."});
  r.composite("float_power(Tensor|Scalar input, Tensor|Scalar exponent) -> Tensor",
              float_power_expansion,
              {.inplace = true,
               .moves = true,
               .doc = "input to the power exponent, in float64 or complex128."});
}

// ── integers ────────────────────────────────────────────────────────────────────────────────────

/// Euclid's algorithm with the remainder of least magnitude: a step gains log2(1 + sqrt(2)) = 1.27
/// bits at least, over several (Knuth, The Art of Computer Programming 2, 4.5.3), so that eight
/// gain ten. Engines may skip later steps that no element needs.
Expr gcd_from(Expr a, Expr b, int bits) {
  if (bits <= 0) return a;
  Expr x = a, y = b;
  for (int i = 0; i < 8; ++i) {
    Expr divisor = select(eq(y, 0), 1, y), r = mod(x, divisor), other = divisor - r;
    Expr rest = select(lt(other, r), other, r);
    x = select(eq(y, 0), x, y), y = select(eq(y, 0), y, rest);
  }
  return rare(ne(y, 0), x, gcd_from(x, y, bits - 10));
}

Expr gcd_body(Expr x, Expr y) {
  const DType d = x.dtype();
  const int bits = width_of(d);
  if (!is_signed(d)) return gcd_from(x, y, bits);
  // As unsigned words: the magnitude of the lowest integer is not one of its dtype.
  const DType word = bits == 64 ? DType::u64 : DType::u32,
              wide = bits == 64 ? DType::i64 : DType::i32;
  auto magnitude = [&](Expr v) { return cast(abs(cast(v, wide)), word); };
  return cast(gcd_from(magnitude(x), magnitude(y), bits), d);
}

Expr lcm_body(Expr x, Expr y) {
  Expr g = gcd_body(x, y);
  return select(eq(g, 0), 0, abs(floor_div(x, select(eq(g, 0), 1, g)) * y));
}

/// By as many bits or more as there are, nothing is left but the sign.
Expr shift_body(Expr x, Expr n, bool left) {
  const int width = width_of(x.dtype());
  Expr beyond = le(width, n);
  if (is_signed(x.dtype())) beyond = beyond | lt(n, 0);
  if (left) return select(beyond, 0, shl(x, n));
  return select(beyond, is_signed(x.dtype()) ? shr(x, width - 1) : whole(x.dtype(), 0), shr(x, n));
}

void add_integers(Definitions& r) {
  auto integral = [](std::string_view doc) {
    Extra e{.domain = integers, .no_grad = true};
    e.doc = doc;
    return e;
  };
  r.elementwise("gcd(Tensor input, Tensor other) -> Tensor", gcd_body,
                integral("The greatest common divisor, not negative; 0 of two zeros."));
  r.elementwise("lcm(Tensor input, Tensor other) -> Tensor", lcm_body,
                integral("The least common multiple, not negative; 0 where either is 0."));
  for (bool left : {true, false})
    r.elementwise(
        std::string(left ? "bitwise_left_shift" : "bitwise_right_shift") +
            "(Tensor|Scalar input, Tensor|Scalar other) -> Tensor",
        [left](Expr x, Expr n) { return shift_body(x, n, left); },
        integral(left ? "The bits moved up by other places; 0 by as many as there are."
                      : "The bits moved down by other places; the sign stays."));
}

// ── three operands ──────────────────────────────────────────────────────────────────────────────

void add_products(Definitions& r) {
  r.elementwise(
      "addcmul(Tensor input, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
      [](Expr x, Expr a, Expr b, Expr value) { return x + value * a * b; },
      {.domain = numbers, .doc = "input + value * tensor1 * tensor2."});
  r.elementwise(
      "addcdiv(Tensor input, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
      [](Expr x, Expr a, Expr b, Expr value) { return x + value * a / b; },
      {.domain = differentiable, .doc = "input + value * tensor1 / tensor2, of floats."});
  r.composite("polar(Tensor abs, Tensor angle) -> Tensor",
              [](Args a) -> Outputs {
                Tensor size = a.tensor(0), angle = a.tensor(1);
                return {M::complex(M::mul(size, M::cos(angle)), M::mul(size, M::sin(angle)))};
              },
              {.places = kFunction,
               .autocast = Autocast::wide,
               .doc = "The complex number of this modulus and angle."});
}

}  // namespace

void add_arithmetic_definitions(Definitions& r) {
  add_signs(r);
  add_floats(r);
  add_integers(r);
  add_products(r);
}

}  // namespace lathe
