// pow: 2^(y log2|x|), with the logarithm and the product as pairs, since an error in the exponent
// is multiplied by up to 150 (1100 for double) on its way to the result.
#pragma once

#include "core/scalar/math/base.h"
#include "core/scalar/math/exp.h"
#include "core/scalar/math/log.h"

namespace lathe::math {

template <class S>
inline constexpr typename S::Word log2_lowest =  // sqrt(1/2)
    single<S> ? typename S::Word(0x3f3504f3) : static_cast<typename S::Word>(0x3fe6a09e667f3bcd);

/// log2(2^e m), its second part up to 2^-13, since nobody needs it smaller. With f = m - 1 and s =
/// f / (2 + f), log2(m) is s V, V = A + B s^2 + s^4 M(s^2) where A = 2 log2(e) and B = 2/3 log2(e).
/// s, s^2, A and V are pairs; M's part is small enough to be one number.
template <class S>
[[gnu::always_inline]] inline Pair<S> log2_pair(Split<S> x) {
  S a_hi = num<S>(single<S> ? 0x1.715476p+1 : 0x1.71547652b82fep+1);
  S a_lo = num<S>(single<S> ? 0x1.4ae0cp-25 : 0x1.777d0ffda0d24p-55);
  S b = num<S>(single<S> ? 0x1.ec709ep-1 : 0x1.ec709dc3a03fdp-1);
  S f = x.m - num<S>(1);
  S s = f / (num<S>(2) + f);
  // The division's remainder f - 2 s - s f, whose first difference is exact, over 2 + f = 2 / (1 -
  // s).
  S s_lo = fma(-s, f, fma(s, num<S>(-2), f)) * fma(s, num<S>(-0.5), num<S>(0.5));
  S z = s * s;
  S z_lo = fma(s + s, s_lo, fma(s, s, -z));
  S small = fma(z_lo, b, a_lo);
  if constexpr (single<S>) {  // of log2(m): 2^-36.8, and 2^-34.6 for what B is rounded by
    small = fma(z * z, poly(z, 0.57708025f, 0.41184396f, 0.33796242f), small);
  } else {  // 2^-66.3
    small =
        fma(z * z,
            poly(z, 0.5770780163556183, 0.4121985830917657, 0.32059890230706345,
                 0.26230769800222375, 0.22198414978086076, 0.1912514452721608, 0.19042143030565217),
            fma(z, num<S>(0x1.d27f05548af0cp-55), small));
  }
  // A sum that an fma rounds: its first operand is the larger one, so that their difference, and
  // what it leaves of the product, are exact.
  S v = fma(z, b, a_hi);
  S v_lo = fma(z, b, a_hi - v) + small;
  S sum = fma(s, v, x.e);
  S rest = fma(s, v, x.e - sum);
  return {sum, fma(s_lo, v, fma(s, v_lo, rest))};
}

/// y log2(x) as a pair, from log2(x).
template <class S>
[[gnu::always_inline]] inline Pair<S> times(S y, Pair<S> l) {
  S p = y * l.hi;
  return {p, fma(y, l.lo, fma(y, l.hi, -p))};
}

/// 2^(t + t_lo) as 2^n p.
template <class S>
[[gnu::always_inline]] inline SplitExp<S> split_exp2(S t, S t_lo) {
  S n = S::round_magic(t + t_lo, num<S>(1));
  return {expm1_small(((t - n) + t_lo) * num<S>(ln2_hi<S>)) + num<S>(1), n};
}

/// x^y from |x|^y, where x is not a positive finite number or y is not finite; as C's pow.
template <class S>
[[gnu::always_inline]] inline S pow_edges(S x, S y, S power) {
  S zero = num<S>(0), one = num<S>(1), ax = S::abs(x), half_y = y * num<S>(0.5);
  typename S::Mask whole = S::eq(S::rint(y), y);
  typename S::Mask odd = whole & S::ne(S::rint(half_y), half_y);
  typename S::Mask rises = S::lt(zero, y);
  S r = S::select(S::eq(ax, zero), S::select(rises, zero, infinity<S>()), power);
  r = S::select(S::eq(ax, infinity<S>()), S::select(rises, infinity<S>(), zero), r);
  r = S::select(S::lt(x, zero) & S::lt(ax, infinity<S>()) & ~whole, not_a_number<S>(), r);
  r = flip(r, S::select(odd, sign_bits(x), word<S>(0)));
  r = S::select(S::ne(x, x) | S::ne(y, y), not_a_number<S>(), r);
  typename S::Mask unit = S::eq(x, one) | (S::eq(ax, one) & S::eq(S::abs(y), infinity<S>()));
  return S::select(S::eq(y, zero) | unit, one, r);
}

/// x^y for any x and y.
template <class S>
[[gnu::always_inline]] inline S pow_of_any(S x, S y) {
  constexpr double up = single<S> ? 0x1p24 : 0x1p53;
  S ax = S::abs(x);
  typename S::Mask tiny = S::lt(ax, S(std::numeric_limits<typename S::Scalar>::min()));
  Split<S> split = split_at(S::select(tiny, ax * num<S>(up), ax), log2_lowest<S>);
  split.e = S::select(tiny, split.e - num<S>(single<S> ? 24 : 53), split.e);
  auto [p, p_lo] = times(y, log2_pair(split));
  S t = S::pmax(num<S>(single<S> ? -160 : -1080), S::pmin(num<S>(single<S> ? 130 : 1030), p));
  SplitExp<S> e = split_exp2(t, S::select(S::eq(t, p), p_lo, num<S>(0)));
  return pow_edges(x, y, scale_far(e.p, e.n, t));
}

/// The fast side is for positive normal x and results that are far from the ends of the range; then
/// y is finite as well.
template <class S>
[[gnu::always_inline]] inline S pow(S x, S y) {
  auto [p, p_lo] = times(y, log2_pair(split_at(x, log2_lowest<S>)));
  SplitExp<S> e = split_exp2(p, p_lo);
  typename S::Mask usual = S::le(S::abs(p), num<S>(single<S> ? 125 : 1021)) &
                           S::le(S(std::numeric_limits<typename S::Scalar>::min()), x) &
                           S::lt(x, infinity<S>());
  return S::rare(
      ~usual,
      S::addexp(e.p, e.n), [&]() __attribute__((always_inline)) { return pow_of_any(x, y); });
}

}  // namespace lathe::math
