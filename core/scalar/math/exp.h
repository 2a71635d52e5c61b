// exp, exp2, expm1, sigmoid: e^x = 2^n e^r with n = rint(x / ln 2), |r| <= ln(2) / 2, and a
// polynomial for e^r.
//
// Scaling by 2^n goes through the exponent field (addexp), which is right only where the result is
// normal. The others (overflow, subnormal results, NaN) are few, and are the slow side of a `rare`.
#pragma once

#include "core/scalar/math/base.h"

namespace lathe::math {

template <class S>
inline constexpr double ln2_hi = single<S> ? 0x1.62e43p-1 : 0x1.62e42fefa39efp-1;
template <class S>
inline constexpr double ln2_lo = single<S> ? -0x1.05c61p-29 : 0x1.abc9e3b39803fp-56;
inline constexpr double log2_e = 0x1.71547652b82fep+0;

/// q(r) of e^r = 1 + r + r^2 q(r) for |r| <= 0.347.
template <class S>
[[gnu::always_inline]] inline S exp_tail(S r) {
  if constexpr (single<S>) {  // of e^r: 2^-28.2
    return poly(r, 0.49999994f, 0.16666515f, 0.041668084f, 0.008369364f, 0.0013840902f);
  } else {  // 2^-57.9
    return poly(r, 0.5000000000000011, 0.16666666666666421, 0.04166666666652554,
                0.008333333333485638, 0.0013888888944976945, 0.0001984126953233124,
                2.4801491584876065e-05, 2.7557557493872705e-06, 2.7630825746490827e-07,
                2.5011038684223583e-08);
  }
}
template <class S>
[[gnu::always_inline]] inline S expm1_small(S r) {
  return fma(r * r, exp_tail(r), r);
}
/// What the inner sum is rounded by comes in times r: 0.17 of the last place at most.
template <class S>
[[gnu::always_inline]] inline S exp_small(S r) {
  return fma(fma(exp_tail(r), r, num<S>(1)), r, num<S>(1));
}

/// r with x = n ln(2) + r. The first product is exact inside its fma, and so is the difference.
template <class S>
[[gnu::always_inline]] inline S minus_n_ln2(S x, S n) {
  return fma(n, num<S>(-ln2_lo<S>), fma(n, num<S>(-ln2_hi<S>), x));
}

/// p 2^n where it may overflow or be subnormal, 0.5 < p < 2, |n| < 200 (1100); NaN where x is.
template <class S>
[[gnu::always_inline]] inline S scale_far(S p, S n, S x) {
  typename S::Mask up = S::lt(num<S>(0), n);
  S y = S::addexp(p, n + S::select(up, num<S>(-64), num<S>(64)));
  y = y * S::select(up, num<S>(0x1p64), num<S>(0x1p-64));
  return S::select(S::ne(x, x), x, y);
}

/// e^x as 2^n p, 0.5 < p < 2, for |x| < 2^20.
template <class S>
struct SplitExp {
  S p, n;
};
template <class S>
[[gnu::always_inline]] inline SplitExp<S> split_exp(S x) {
  S n = S::round_magic(x, num<S>(log2_e));
  return {exp_small(minus_n_ln2(x, n)), n};
}
template <class S>
[[gnu::always_inline]] inline SplitExp<S> split_exp2(S x) {
  S n = S::round_magic(x, num<S>(1));
  return {exp_small((x - n) * num<S>(ln2_hi<S>)), n};
}

/// Beyond these, e^x is infinity or zero.
template <class S>
inline constexpr double exp_highest = single<S> ? 89 : 710;
template <class S>
inline constexpr double exp_lowest = single<S> ? -104 : -746;

// Only the slow side clamps. What the fast side makes of a far x is of no use, and is not used.

/// The fast side is for |n| < 64 (512), and has n in units of 32 (256): then what is far, NaN too,
/// is what has the top bit of the exponent set, and several vectors are asked by one or and one
/// test.
template <class S>
[[gnu::always_inline]] inline S exp(S x) {
  constexpr double unit = single<S> ? 32 : 256;
  const S magic = num<S>((single<S> ? 0x1.8p23 : 0x1.8p52) / unit);  // rounds to its last place
  S sum = fma(x, num<S>(log2_e / unit), magic);                      // n in its last bits
  S n = sum - magic;
  S r = fma(n, num<S>(-ln2_lo<S> * unit), fma(n, num<S>(-ln2_hi<S> * unit), x));
  typename S::Bits fast = S::bits(exp_small(r)) + S::shl(S::bits(sum), mantissa_bits<S>);
  typename S::Bits top = S::bits(n) & word<S>(top_bit<S> >> 1);
  return S::rare(
      ~S::bits_eq(top, word<S>(0)), S::frombits(fast), [&]() __attribute__((always_inline)) {
        // In this order a NaN is kept. Nothing that underflows is computed of what is zero, as
        // masked scores are: it takes some processors a hundred cycles.
        const typename S::Mask zero = S::lt(x, num<S>(exp_lowest<S>));
        SplitExp<S> c = split_exp(S::select(zero, num<S>(0), S::pmin(num<S>(exp_highest<S>), x)));
        return S::select(zero, num<S>(0), scale_far(c.p, c.n, x));
      });
}

template <class S>
[[gnu::always_inline]] inline S exp2(S x) {
  constexpr double near = single<S> ? 125 : 1021;
  constexpr double lowest = single<S> ? -151 : -1076, highest = single<S> ? 129 : 1025;
  SplitExp<S> e = split_exp2(x);
  typename S::Mask far = ~S::le(S::abs(x), num<S>(near));
  return S::rare(
      far, S::addexp(e.p, e.n), [&]() __attribute__((always_inline)) {
        const typename S::Mask zero = S::lt(x, num<S>(lowest));
        SplitExp<S> c = split_exp2(S::select(zero, num<S>(0), S::pmin(num<S>(highest), x)));
        return S::select(zero, num<S>(0), scale_far(c.p, c.n, x));
      });
}

/// e^x - 1 over two: 2^(n-1) (e^r - 1) + (2^(n-1) - 1/2), which cannot overflow before doubling.
/// The two cancel for n = 1: what r alone makes of them comes first, with the rest of its rounding.
template <class S>
[[gnu::always_inline]] inline S half_expm1(S x) {
  S y = S::pmax(num<S>(single<S> ? -18 : -38), S::pmin(num<S>(exp_highest<S>), x));
  S n = S::round_magic(y, num<S>(log2_e));
  S r = minus_n_ln2(y, n);
  S scale = S::addexp(num<S>(0.5), n), less = scale - num<S>(0.5);
  S head = fma(scale, r, less);
  S rest = fma(scale, r, less - head);
  return head + fma(scale, r * r * exp_tail(r), rest);
}

template <class S>
[[gnu::always_inline]] inline S expm1(S x) {
  S h = half_expm1(x);
  return with_sign_of(h + h, x);
}

/// 1 / (1 + e^-x), as e^x / (1 + e^x) for negative x, so that small results keep their digits.
template <class S>
[[gnu::always_inline]] inline S sigmoid(S x) {
  S e = exp(-S::abs(x));
  return S::select(S::lt(x, num<S>(0)), e, num<S>(1)) / (num<S>(1) + e);
}

}  // namespace lathe::math
