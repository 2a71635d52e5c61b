// log, log2, log10, log1p: x = 2^e m with m around 1, f = m - 1, log(1 + f) = f + p for a small p.
#pragma once

#include "core/scalar/math/base.h"
#include "core/scalar/math/exp.h"

namespace lathe::math {

/// x = 2^e m with lowest <= m < 2 lowest, for positive normal x.
template <class S>
struct Split {
  S e, m;
};
template <class S>
[[gnu::always_inline]] inline Split<S> split_at(S x, typename S::Word lowest) {
  constexpr int k = mantissa_bits<S>;
  constexpr typename S::Word one =
      single<S> ? typename S::Word(0x3f800000) : static_cast<typename S::Word>(0x3ff0000000000000);
  auto t = S::bits(x) + word<S>(one - lowest);
  S e = S::from_int(S::shr(t, k)) - num<S>(single<S> ? 127 : 1023);
  S m = S::frombits((t & word<S>((typename S::Word{1} << k) - 1)) + word<S>(lowest));
  return {e, m};
}

/// The interval of m is [2/3, 4/3) for a polynomial in f, [sqrt(1/2), sqrt(2)) for one in f / (2 +
/// f).
template <class S>
inline constexpr
    typename S::Word log_lowest = single<S> ? typename S::Word(0x3f2aaaab)
                                            : static_cast<typename S::Word>(0x3fe6a09e667f3bcd);

/// p with log(1 + f) = f + p.
template <class S>
[[gnu::always_inline]] inline S log_tail(S f) {
  S t = f * f;
  if constexpr (single<S>) {  // f^3 P(f) - f^2 / 2; of log(1 + f) on [-1/3, 1/3]: 2^-27.7
    S p = poly(f, 0.33333215f, -0.24999803f, 0.20010446f, -0.1668025f, 0.140053f, -0.121873654f,
               0.13986966f, -0.12878887f);
    return fma(f * t, p, t * num<S>(-0.5));
  } else {  // 2 atanh(s) with s = f / (2 + f): s (f^2 / 2 + s^2 P(s^2)) - f^2 / 2; 2^-59.5
    S s = f / (num<S>(2) + f);
    S z = s * s;
    S p =
        z * poly(z, 0.6666666666666735, 0.3999999999940912, 0.28571428743787625, 0.2222219841380732,
                 0.18183573380412052, 0.15313800139208286, 0.14798634634807067);
    S h = t * num<S>(0.5);
    return fma(s, h + p, -h);
  }
}

/// e and f of a positive number that may be subnormal.
template <class S>
[[gnu::always_inline]] inline Split<S> split_any(S x) {
  constexpr double up = single<S> ? 0x1p24 : 0x1p53;
  typename S::Mask tiny = S::lt(x, S(std::numeric_limits<typename S::Scalar>::min()));
  auto [e, m] = split_at(S::select(tiny, x * num<S>(up), x), log_lowest<S>);
  return {S::select(tiny, e - num<S>(single<S> ? 24 : 53), e), m - num<S>(1)};
}

/// `y`, or what a logarithm is outside (0, infinity).
template <class S>
[[gnu::always_inline]] inline S log_edges(S x, S y) {
  typename S::Mask edge = ~(S::lt(num<S>(0), x) & S::lt(x, infinity<S>()));
  return S::rare(
      edge, y, [&]() __attribute__((always_inline)) {
        S below = S::select(S::eq(x, num<S>(0)), -infinity<S>(), not_a_number<S>());
        return S::select(S::le(x, num<S>(0)), below, x);
      });
}

template <class S>
[[gnu::always_inline]] inline S log(S x) {
  auto [e, f] = split_any(x);
  S p = fma(e, num<S>(ln2_lo<S>), log_tail(f));
  return log_edges(x, fma(e, num<S>(ln2_hi<S>), f + p));
}

/// e hi + e lo + (f + p) (scale_hi + scale_lo), where e hi is exact and larger than the rest, or
/// zero.
template <class S>
[[gnu::always_inline]] inline S log_scaled(S e_hi, S e_lo, S f, S scale_hi, S scale_lo) {
  S p = log_tail(f);
  auto [y, y_lo] = two_product(f, scale_hi);
  auto [s, s_lo] = fast_two_sum(e_hi, y);
  return s + (s_lo + (e_lo + (y_lo + fma(p, scale_hi, f * scale_lo))));
}

template <class S>
[[gnu::always_inline]] inline S log2(S x) {
  auto [e, f] = split_any(x);
  S hi = num<S>(single<S> ? 0x1.715476p+0 : 0x1.71547652b82fep+0);
  S lo = num<S>(single<S> ? 0x1.4ae0cp-26 : 0x1.777d0ffda0d24p-56);
  return log_edges(x, log_scaled(e, num<S>(0), f, hi, lo));
}

template <class S>
[[gnu::always_inline]] inline S log10(S x) {
  auto [e, f] = split_any(x);
  // log10(2), its first part short enough that e times it is exact, and log10(e).
  S two_hi = num<S>(single<S> ? 0x1.344p-2 : 0x1.34413509f8p-2);
  S two_lo = num<S>(single<S> ? 0x1.3509f8p-18 : -0x1.80433b83b532ap-44);
  S e_hi = num<S>(single<S> ? 0x1.bcb7b2p-2 : 0x1.bcb7b1526e50ep-2);
  S e_lo = num<S>(single<S> ? -0x1.5b235ep-27 : 0x1.95355baaafad3p-57);
  return log_edges(x, log_scaled(e * two_hi, e * two_lo, f, e_hi, e_lo));
}

/// With u = 1 + x rounded and c what the rounding lost, f = (m - 1) + c 2^-e; near 0 that is x
/// itself.
template <class S>
[[gnu::always_inline]] inline S log1p(S x) {
  auto [u, c] = two_sum(num<S>(1), x);
  auto [e, m] = split_at(u, log_lowest<S>);
  S scale = S::addexp(num<S>(1), -S::pmin(e, num<S>(100)));  // farther out c does not count
  S f = fma(c, scale, m - num<S>(1));
  S p = fma(e, num<S>(ln2_lo<S>), log_tail(f));
  S y = with_sign_of(fma(e, num<S>(ln2_hi<S>), f + p), x);
  typename S::Mask edge = ~(S::lt(num<S>(-1), x) & S::lt(x, infinity<S>()));
  return S::rare(
      edge, y, [&]() __attribute__((always_inline)) {
        S below = S::select(S::eq(x, num<S>(-1)), -infinity<S>(), not_a_number<S>());
        return S::select(S::le(x, num<S>(-1)), below, x);
      });
}

}  // namespace lathe::math
