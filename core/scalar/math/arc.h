// asin, acos, atan, atan2.
#pragma once

#include "core/scalar/math/base.h"

namespace lathe::math {

template <class S>
inline constexpr double half_pi_hi = single<S> ? 0x1.921fb6p+0 : 0x1.921fb54442d18p+0;
template <class S>
inline constexpr double half_pi_lo = single<S> ? -0x1.777a5cp-25 : 0x1.1a62633145c07p-54;

/// s + rest * p: for a = |x| up to 1/2, asin(a); above, asin(sqrt((1 - a) / 2)), which is acos(a) /
/// 2. NaN for a > 1.
template <class S>
struct FoldedAsin {
  S s, rest, p;
  S value() const { return fma(rest, p, s); }
};
template <class S>
[[gnu::always_inline]] inline FoldedAsin<S> asin_folded(S a, typename S::Mask above) {
  S z = S::select(above, (num<S>(1) - a) * num<S>(0.5), a * a);
  S s = S::select(above, S::sqrt(z), a);
  S p;
  if constexpr (single<S>) {  // 2^-27.6
    p = poly(z, 0.16666752f, 0.074953094f, 0.045469165f, 0.024184642f, 0.042158615f);
  } else {  // 2^-55.6
    p = poly(z, 0.16666666666665408, 0.07500000000337145, 0.04464285682820908, 0.030381959142001525,
             0.022371757934461056, 0.017359706229899352, 0.013885226698147147, 0.012169208866265572,
             0.006528355869087893, 0.01952590954266854, -0.01621801876474217, 0.031905947378277906);
  }
  return {s, s * z, p};
}

/// The difference from pi/2 keeps its digits: what that of 2 s loses and what is small come to it
/// last.
template <class S>
[[gnu::always_inline]] inline S asin(S x) {
  S a = S::abs(x);
  typename S::Mask above = S::lt(num<S>(0.5), a);
  FoldedAsin<S> f = asin_folded(a, above);
  S twice = f.s + f.s, head = num<S>(half_pi_hi<S>) - twice;
  S lost = (num<S>(half_pi_hi<S>) - head) - twice;
  S y = head + (lost + fma(f.rest * num<S>(-2), f.p, num<S>(half_pi_lo<S>)));
  return with_sign_of(S::select(above, y, f.value()), x);
}

template <class S>
[[gnu::always_inline]] inline S acos(S x) {
  S a = S::abs(x);
  typename S::Mask above = S::lt(num<S>(0.5), a);
  typename S::Mask negative = S::lt(x, num<S>(0));
  S p = asin_folded(a, above).value();
  // 2 p, pi - 2 p, or pi/2 -+ p.
  S signed_p = S::select(negative, p, -p);
  S middle = num<S>(half_pi_hi<S>) + (signed_p + num<S>(half_pi_lo<S>));
  S twice = p + p;
  S far = fma(num<S>(half_pi_hi<S>), num<S>(2), fma(num<S>(half_pi_lo<S>), num<S>(2), -twice));
  return S::select(above, S::select(negative, far, twice), middle);
}

/// atan(num / den), both >= 0 and not both 0 or infinite, one division: with the larger below, a
/// quotient over tan(pi/8) is turned by pi/4.
template <class S>
[[gnu::always_inline]] inline S atan_quotient(S small, S large, typename S::Mask swapped) {
  typename S::Mask middle = S::lt(large * num<S>(0.41421356237309503), small);
  S q = S::select(middle, small - large, small) / S::select(middle, small + large, large);
  S z = q * q, p;
  if constexpr (single<S>) {  // 2^-25.5
    p = poly(z, -0.33332944f, 0.19977482f, -0.1387496f, 0.08044216f);
  } else {  // 2^-59.4
    p = poly(z, -0.3333333333333319, 0.19999999999951965, -0.14285714280019024, 0.11111110774101862,
             -0.09090897478213955, 0.07692055094374597, -0.06663044423765119, 0.058474464595292985,
             -0.05037273238717263, 0.03801211964344758, -0.017848952918563574);
  }
  // offset + q + q^3 P, or the same subtracted from its offset, where the quotient was swapped.
  S turns = S::select(middle, num<S>(0.5), S::select(swapped, num<S>(1), num<S>(0)));
  typename S::Bits sign = S::select(swapped, word<S>(top_bit<S>), word<S>(0));
  S tail = flip(q * z * p, sign) + turns * num<S>(half_pi_lo<S>);
  Pair<S> head = two_sum(turns * num<S>(half_pi_hi<S>), flip(q, sign));
  return head.hi + (head.lo + tail);
}

template <class S>
[[gnu::always_inline]] inline S atan(S x) {
  S a = S::abs(x), one = num<S>(1);
  typename S::Mask swapped = S::lt(one, a);
  S y = atan_quotient(S::select(swapped, one, a), S::select(swapped, a, one), swapped);
  return with_sign_of(y, x);
}

/// The angle of (small, large) laid back where it came from.
template <class S>
[[gnu::always_inline]] inline S atan2_placed(S small, S large, typename S::Mask swapped, S y, S x) {
  S t = atan_quotient(small, large, swapped);
  S back = (num<S>(2 * half_pi_hi<S>) - t) + num<S>(2 * half_pi_lo<S>);
  typename S::Mask left = S::bits_lt(S::bits(x), word<S>(0));  // -0 too
  return with_sign_of(S::select(left, back, t), y);
}

template <class S>
[[gnu::always_inline]] inline S atan2(S y, S x) {
  constexpr double large_enough = single<S> ? 0x1p126 : 0x1p1022;  // small + large may overflow
  S ay = S::abs(y), ax = S::abs(x);
  typename S::Mask swapped = S::lt(ax, ay);
  S small = S::select(swapped, ax, ay), large = S::select(swapped, ay, ax);
  typename S::Mask plain = S::lt(num<S>(0), large) & S::lt(large, num<S>(large_enough));
  S t = atan2_placed(small, large, swapped, y, x);
  return S::rare(
      ~plain, t, [&]() __attribute__((always_inline)) {
        // Both 0: as 0 / 1. Infinite: as 1 / 1 or 0 / 1. Huge: a quarter of each.
        typename S::Mask infinite = S::eq(large, infinity<S>());
        typename S::Mask zero = S::eq(large, num<S>(0));
        S s = S::select(infinite, S::select(S::eq(small, infinity<S>()), num<S>(1), num<S>(0)),
                        small * num<S>(0.25));
        S l = S::select(infinite | zero, num<S>(1), large * num<S>(0.25));
        S r = atan2_placed(s, l, swapped, y, x);
        return S::select(S::ne(x, x) | S::ne(y, y), not_a_number<S>(), r);
      });
}

}  // namespace lathe::math
