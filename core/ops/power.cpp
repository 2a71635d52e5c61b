// Powers. pow by a plain number is decided here, before any engine sees it; the rest is the
// function of two variables (core/scalar/math/pow.h), or products of integers.
#include <absl/strings/str_cat.h>

#include "core/base/checks.h"
#include "core/ops/families.h"
#include "core/ops/names.h"
#include "include/lathe/ops/create.h"
#include "include/lathe/ops/math.h"
#include "include/lathe/ops/power.h"

namespace lathe {
namespace {

using M = math_ops<Tensor>;
using P = power_ops<Tensor>;

/// By repeated squaring, one step a bit of the exponent; wraps as every product of integers.
Expr pow_integer_body(Expr x, Expr y) {
  const DType d = x.dtype();
  const bool has_sign = is_signed(d);
  const int bits = static_cast<int>(8 * size_of(d)) - (has_sign ? 1 : 0);
  Expr power = constant(d, 1), base = x;
  for (int bit = 0; bit < bits; ++bit) {
    Expr odd = ne(y & constant_bits(d, uint64_t{1} << bit), 0);
    power = select(odd, power * base, power);
    base = base * base;
  }
  return has_sign ? check(le(0, y), power, kNegativeExponent) : power;
}

/// 2^(log2|x| / 3), and one step of Newton's method, whose residual keeps its digits by a fused
/// multiply-add. Subnormal numbers are scaled up first. 0, infinities and NaN are roots of
/// themselves.
Expr cube_root(Expr x) {
  const bool single = x.dtype() == DType::f32;
  const Expr size = abs(x), tiny = lt(size, single ? 0x1p-126 : 0x1p-1022);
  const Expr a = select(tiny, size * (single ? 0x1p24 : 0x1p54), size);
  Expr y = exp2(log2(a) * (1.0 / 3)), squared = y * y;
  y = y - fma(squared, y, -a) / (squared * 3.0);
  y = select(tiny, y * (single ? 0x1p-8 : 0x1p-18), y);
  const Expr ordinary = lt(0.0, size) & lt(size, names::kInfinity);
  return select(ordinary, select(lt(x, 0.0), -y, y), x);
}

/// x^n as products. The base is of the result's dtype.
Tensor product_power(const Tensor& x, int64_t n) {
  if (n == 0) return create_ops<Tensor>::full(x.shape(), 1, x.dtype(), x.device());
  Tensor power, base = x;
  for (;; base = M::square(base)) {
    if ((n & 1) != 0) power = power.defined() ? M::mul(power, base) : base;
    n >>= 1;
    if (n == 0) break;
  }
  return power.impl() == x.impl() ? M::clone(x) : power;
}

/// The powers that are defined as products and quotients, of an Int or a Real.
template <class Number>
Tensor whole_power(const Tensor& x, Number n) {
  if (n == Number(2)) return M::square(x);
  if (n == Number(3)) return P::cube(x);
  if (n == Number(-1)) return M::reciprocal(x);
  if (n == Number(-2)) return P::inverse_square(x);
  return {};
}

/// The same with those that are roots. An integer may be one of a trace, which is asked as such.
Tensor simple_power(const Tensor& x, Args a) {
  if (a[1].tag == Tag::flag) return {};
  if (a[1].tag == Tag::integer) return whole_power(x, a.integer(1));
  const Real n = a.real(1);
  if (n == 0.5) return M::sqrt(x);
  if (n == -0.5) return M::rsqrt(x);
  return whole_power(x, n);
}

/// Decided by the exponent where that is a plain number, so that every engine and every derivative
/// meets the same ops.
Outputs pow_expansion(Args a) {
  const DType common = element_types(*M::pow.op(), a).common;
  const bool known = a[1].tag != Tag::integer || a.integer(1).known() || !is_integer(common);
  if (!a[1].scalar() || !known || a[0].tag != Tag::tensor)
    return {is_integer(common) ? P::pow_integer(a[0], a[1]) : P::pow_real(a[0], a[1])};
  Tensor x = a.tensor(0);
  if (x.dtype() != common) x = M::cast(x, common);
  if (is_integer(common)) {
    const int64_t n = a[1].tag == Tag::flag ? a.flag(1) : a.integer(1).value();
    if (n < 0)
      throw ValueError({.op = "pow",
                        .problem = std::string(check_message(kNegativeExponent)),
                        .got = absl::StrCat(name(common), " to the power ", n),
                        .expected = std::string(check_expected(kNegativeExponent)),
                        .next = std::string(check_advice(kNegativeExponent))});
    return {product_power(x, n)};
  }
  Tensor simple = simple_power(x, a);
  return {simple.defined() ? simple : P::pow_real(x, a[1])};
}

}  // namespace

void add_power_definitions(Definitions& r) {
  r.composite("pow(Tensor|Scalar input, Tensor|Scalar exponent) -> Tensor", pow_expansion,
              {.domain = numbers,
               .version = 2,
               .inplace = true,
               .moves = true,
               .doc = "x to the power y. By the numbers 2, 3, 0.5, -0.5, -1 and -2 it is x * x, "
                      "x * x * x, sqrt(x), 1 / sqrt(x), 1 / x and 1 / (x * x). Integers stay "
                      "integers; to a negative power they are a ValueError."});
  r.elementwise("pow_real(Tensor|Scalar input, Tensor|Scalar exponent) -> Tensor",
                [](Expr x, Expr y) { return pow(x, y); },
                {.domain = differentiable,
                 .promote = Promote::to_float,
                 .places = kNowhere,
                 .doc = "x to the power y by its logarithm, whatever the exponent."});
  r.elementwise("pow_integer(Tensor|Scalar input, Tensor|Scalar exponent) -> Tensor",
                pow_integer_body,
                {.domain = integers,
                 .no_grad = true,
                 .places = kNowhere,
                 .doc = "x to the power y by products, which wrap. A negative exponent is a "
                        "ValueError."});
  r.elementwise("cube(Tensor input) -> Tensor", [](Expr x) { return x * x * x; },
                {.domain = numbers,
                 .saves = save_x(0),
                 .grad =
                     [](Grad g) {
                       // 3 x first: below the normal numbers x * x has few digits left.
                       Tensor x = conjugate(g.x(0));
                       return Grads{M::mul(g.dy(), M::mul(M::mul(x, 3), x))};
                     },
                 .places = kNowhere,
                 .doc = "x * x * x."});
  r.elementwise("cbrt(Tensor input) -> Tensor", cube_root,
                {.domain = floating,
                 .promote = Promote::to_float,
                 .saves = save_y(0),
                 .grad = [](Grad g) { return Grads{M::div(g.dy(), M::mul(M::square(g.y()), 3))}; },
                 .doc = "Cube root, also of negative numbers; beyond PyTorch, as NumPy has it."});
  r.elementwise("inverse_square(Tensor input) -> Tensor", [](Expr x) { return 1.0 / (x * x); },
                {.domain = differentiable,
                 .promote = Promote::to_float,
                 .saves = save_x(0) | save_y(0),
                 .grad =
                     [](Grad g) {
                       // The chain rule's way, by way of 1 / x^4, leaves the range of floats where
                       // -2 / x^3 does not.
                       Tensor slope = M::div(M::mul(conjugate(g.y()), -2), conjugate(g.x(0)));
                       return Grads{M::mul(g.dy(), slope)};
                     },
                 .places = kNowhere,
                 .doc = "1 / (x * x)."});
}

}  // namespace lathe
