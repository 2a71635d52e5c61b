// What the function templates share: constants, polynomials, sign handling, and exact sums and
// products.
#pragma once

#include <limits>
#include <type_traits>

namespace lathe::math {

template <class S>
inline constexpr bool single = std::is_same_v<typename S::Scalar, float>;

/// A constant in the precision of S. Coefficient tables differ by type and are written out; this is
/// for numbers that are either exact in both, or wanted correctly rounded in each.
template <class S>
[[gnu::always_inline]] inline S num(double value) {
  return S(static_cast<typename S::Scalar>(value));
}
template <class S>
[[gnu::always_inline]] inline S infinity() {
  return S(std::numeric_limits<typename S::Scalar>::infinity());
}
template <class S>
[[gnu::always_inline]] inline S not_a_number() {
  return S(std::numeric_limits<typename S::Scalar>::quiet_NaN());
}
template <class S>
[[gnu::always_inline]] inline typename S::Bits word(typename S::Word w) {
  return typename S::Bits(w);
}
template <class S>
inline constexpr int mantissa_bits =
    std::numeric_limits<typename S::Scalar>::digits - 1;  // stored ones
template <class S>
inline constexpr typename S::Word top_bit =
    typename S::Word{1} << (8 * sizeof(typename S::Scalar) - 1);

template <class S>
[[gnu::always_inline]] inline S fma(S a, S b, S c) {
  return S::fma(a, b, c);
}

/// c0 + c1 x + c2 x^2 + ... by Horner's rule, one fma a coefficient.
template <class S>
[[gnu::always_inline]] inline S poly(S, typename S::Scalar c0) {
  return S(c0);
}
template <class S, class... C>
[[gnu::always_inline]] inline S poly(S x, typename S::Scalar c0, C... rest) {
  return S::fma(poly(x, rest...), x, S(c0));
}

template <class S>
[[gnu::always_inline]] inline typename S::Bits sign_bits(S x) {
  return S::bits(x) & word<S>(top_bit<S>);
}
/// Flips the sign of x where `sign` (0 or the top bit) says so.
template <class S>
[[gnu::always_inline]] inline S flip(S x, typename S::Bits sign) {
  return S::frombits(S::bits(x) ^ sign);
}
/// For functions with the sign of their argument: y is right but for the sign of a zero, or not
/// negative.
template <class S>
[[gnu::always_inline]] inline S with_sign_of(S y, S x) {
  return S::frombits(S::bits(y) | sign_bits(x));
}

/// A sum or product kept with its rounding error: hi + lo, |lo| <= ulp(hi) / 2.
template <class S>
struct Pair {
  S hi, lo;
};
/// Exact; needs |a| >= |b|, or a == 0.
template <class S>
[[gnu::always_inline]] inline Pair<S> fast_two_sum(S a, S b) {
  S s = a + b;
  return {s, b - (s - a)};
}
/// Exact.
template <class S>
[[gnu::always_inline]] inline Pair<S> two_sum(S a, S b) {
  S s = a + b;
  S bb = s - a;
  return {s, (a - (s - bb)) + (b - bb)};
}
/// Exact, short of underflow.
template <class S>
[[gnu::always_inline]] inline Pair<S> two_product(S a, S b) {
  S p = a * b;
  return {p, S::fma(a, b, -p)};
}

}  // namespace lathe::math
