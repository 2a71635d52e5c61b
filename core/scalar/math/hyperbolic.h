// tanh, sinh, cosh and their inverses.
#pragma once

#include "core/scalar/math/base.h"
#include "core/scalar/math/exp.h"
#include "core/scalar/math/log.h"

namespace lathe::math {

template <class S>
[[gnu::always_inline]] inline S tanh(S x) {
  if constexpr (single<S>) {
    // x P(x^2) / Q(x^2), 2^-26. 8.112... is the first float whose quotient is not below 1: it is 1,
    // and tanh is within 3.1 of the last place of it. P(0) = Q(0): tiny x come back. The
    // coefficients were tried on every float from 2.5 up: what counts there is how the rounding of
    // ten operations falls. In this order minimum and maximum keep a NaN.
    constexpr double end = 8.112119;
    S y = S::pmax(num<S>(-end), S::pmin(num<S>(end), x));
    S z = y * y;
    S p = poly(z, 1.f, 0.13422115f, 0.0035445194f, 2.1422926e-05f, 1.450787e-08f);
    S q = poly(z, 1.f, 0.46755448f, 0.026062759f, 0.00033659802f, 8.242576e-07f);
    return (y * p) / q;
  } else {
    S t = half_expm1(S::pmin(num<S>(22), S::abs(x)) * num<S>(2));
    return with_sign_of(t / (t + num<S>(1)), x);
  }
}

/// sinh(r) - r and cosh(r) - 1 for |r| <= ln(2) / 2.
template <class S>
[[gnu::always_inline]] inline void sinh_cosh_small(S r, S& s, S& c) {
  S z = r * r;
  if constexpr (single<S>) {  // 2^-26.2, 2^-33.3
    s = poly(z, 0.16666542f, 0.008366735f);
    c = poly(z, 0.04166646f, 0.0013935454f);
  } else {  // 2^-61.7, 2^-70.0
    s = poly(z, 0.16666666666666677, 0.008333333333321376, 0.00019841269886867685,
             2.755724337535154e-06, 2.5109355617114196e-08);
    c = poly(z, 0.041666666666666685, 0.0013888888888873264, 2.480158734928152e-05,
             2.7557251718964056e-07, 2.092181034096938e-09);
  }
  s = r * z * s;
  c = z * fma(z, c, num<S>(0.5));
}

/// 2^(n-2) +- 2^(-n-2) for x = n ln(2) + r: sums of these times sinh(r) and cosh(r) are half of
/// sinh and cosh, which cannot overflow before doubling.
template <class S>
struct Halves {
  S r, sum, difference;
};
template <class S>
[[gnu::always_inline]] inline Halves<S> split_hyperbolic(S magnitude) {
  constexpr double highest = single<S> ? 89.45 : 710.6;  // both are infinite already
  S y = S::pmin(num<S>(highest), magnitude);
  S n = S::round_magic(y, num<S>(log2_e));
  S up = S::addexp(num<S>(0.25), n);
  S down = S::addexp(num<S>(0.25), -S::pmin(n, num<S>(100)));  // farther out it does not count
  return {minus_n_ln2(y, n), up + down, up - down};
}

template <class S>
[[gnu::always_inline]] inline S sinh(S x) {
  auto [r, sum, difference] = split_hyperbolic(S::abs(x));
  S s, c;
  sinh_cosh_small(r, s, c);
  // For n = 1 the two cancel: r's part comes first, with the rest of its rounding.
  S head = fma(r, sum, difference);
  S rest = fma(r, sum, difference - head);
  S h = head + fma(s, sum, fma(c, difference, rest));
  return with_sign_of(h + h, x);
}

template <class S>
[[gnu::always_inline]] inline S cosh(S x) {
  auto [r, sum, difference] = split_hyperbolic(S::abs(x));
  S s, c;
  sinh_cosh_small(r, s, c);
  S h = fma(r + s, difference, fma(c, sum, sum));
  return h + h;
}

/// Beyond this, x + sqrt(x^2 +- 1) is 2 x and 1 + x is x; below it, x^2 is finite.
template <class S>
inline constexpr double hyperbolic_far = single<S> ? 0x1p32 : 0x1p64;

/// log(1 + t), with log(2) added in the lanes of `far`.
template <class S>
[[gnu::always_inline]] inline S log1p_far(S t, typename S::Mask far) {
  return log1p(t) + S::select(far, num<S>(0x1.62e42fefa39efp-1), num<S>(0));
}

/// log(x + sqrt(x^2 + 1)) = log1p(x + x^2 / (1 + sqrt(x^2 + 1))).
template <class S>
[[gnu::always_inline]] inline S asinh(S x) {
  S a = S::abs(x);
  typename S::Mask far = S::lt(num<S>(hyperbolic_far<S>), a);
  S z = a * a;
  S t = a + z / (num<S>(1) + S::sqrt(z + num<S>(1)));
  return with_sign_of(log1p_far(S::select(far, a, t), far), x);
}

/// With t = x - 1: log1p(t + sqrt(t (t + 2))).
template <class S>
[[gnu::always_inline]] inline S acosh(S x) {
  typename S::Mask far = S::lt(num<S>(hyperbolic_far<S>), x);
  S t = x - num<S>(1);
  S y = log1p_far(S::select(far, x, t + S::sqrt(t * (t + num<S>(2)))), far);
  return S::select(S::lt(x, num<S>(1)), not_a_number<S>(), y);
}

/// log((1 + x) / (1 - x)) / 2.
template <class S>
[[gnu::always_inline]] inline S atanh(S x) {
  S a = S::abs(x);
  S y = log1p((a + a) / (num<S>(1) - a)) * num<S>(0.5);
  return with_sign_of(y, x);
}

}  // namespace lathe::math
