// The functions of lathe.special.
#pragma once
#include "fn.h"

namespace lathe {
template <class T>
struct special_ops {
  using Any = typename OpBinding<T>::Any;
  using Int = typename OpBinding<T>::Int;
  using Unary = T(T input);
  using Binary = T(Any input, Any other);
  static inline const Fn<T, Binary> xlogy{"xlogy"};
  static inline const Fn<T, Binary> special_xlog1py{"special_xlog1py"};
  static inline const Fn<T, Unary> special_entr{"special_entr"};
  static inline const Fn<T, Unary> logit_open{"logit_open"};
  static inline const Fn<T, T(T input, Any eps)> logit{"logit"};
  static inline const Fn<T, Unary> sinc{"sinc"};
  static inline const Fn<T, Unary> special_erfcx{"special_erfcx"};
  static inline const Fn<T, Unary> special_ndtr{"special_ndtr"};
  static inline const Fn<T, Unary> special_log_ndtr{"special_log_ndtr"};
  static inline const Fn<T, Unary> special_ndtri{"special_ndtri"};
  static inline const Fn<T, Binary> special_zeta{"special_zeta"};
  static inline const Fn<T, T(Int n, T input)> polygamma{"polygamma"};
  static inline const Fn<T, T(T input, Int n)> polygamma_method{"polygamma.method"};
  static inline const Fn<T, T(T input, Int p)> mvlgamma{"mvlgamma"};
  static inline const Fn<T, Unary> i0{"i0"};
  static inline const Fn<T, Unary> special_i0e{"special_i0e"};
  static inline const Fn<T, Unary> special_i1{"special_i1"};
  static inline const Fn<T, Unary> special_i1e{"special_i1e"};
  static inline const Fn<T, Unary> special_modified_bessel_k0{"special_modified_bessel_k0"};
  static inline const Fn<T, Unary> special_modified_bessel_k1{"special_modified_bessel_k1"};
  static inline const Fn<T, Unary> special_scaled_modified_bessel_k0{
      "special_scaled_modified_bessel_k0"};
  static inline const Fn<T, Unary> special_scaled_modified_bessel_k1{
      "special_scaled_modified_bessel_k1"};
  static inline const Fn<T, Unary> special_bessel_j0{"special_bessel_j0"};
  static inline const Fn<T, Unary> special_bessel_j1{"special_bessel_j1"};
  static inline const Fn<T, Unary> special_bessel_y0{"special_bessel_y0"};
  static inline const Fn<T, Unary> special_bessel_y1{"special_bessel_y1"};
  static inline const Fn<T, Unary> special_spherical_bessel_j0{"special_spherical_bessel_j0"};
  static inline const Fn<T, Unary> special_airy_ai{"special_airy_ai"};
  static inline const Fn<T, T(T input, T other)> igamma{"igamma"};
  static inline const Fn<T, T(T input, T other)> igammac{"igammac"};
  using Polynomial = T(Any x, Any n);
  static inline const Fn<T, Polynomial> special_chebyshev_polynomial_t{
      "special_chebyshev_polynomial_t"};
  static inline const Fn<T, Polynomial> special_chebyshev_polynomial_u{
      "special_chebyshev_polynomial_u"};
  static inline const Fn<T, Polynomial> special_chebyshev_polynomial_v{
      "special_chebyshev_polynomial_v"};
  static inline const Fn<T, Polynomial> special_chebyshev_polynomial_w{
      "special_chebyshev_polynomial_w"};
  static inline const Fn<T, Polynomial> special_shifted_chebyshev_polynomial_t{
      "special_shifted_chebyshev_polynomial_t"};
  static inline const Fn<T, Polynomial> special_shifted_chebyshev_polynomial_u{
      "special_shifted_chebyshev_polynomial_u"};
  static inline const Fn<T, Polynomial> special_shifted_chebyshev_polynomial_v{
      "special_shifted_chebyshev_polynomial_v"};
  static inline const Fn<T, Polynomial> special_shifted_chebyshev_polynomial_w{
      "special_shifted_chebyshev_polynomial_w"};
  static inline const Fn<T, Polynomial> special_hermite_polynomial_h{
      "special_hermite_polynomial_h"};
  static inline const Fn<T, Polynomial> special_hermite_polynomial_he{
      "special_hermite_polynomial_he"};
  static inline const Fn<T, Polynomial> special_laguerre_polynomial_l{
      "special_laguerre_polynomial_l"};
  static inline const Fn<T, Polynomial> special_legendre_polynomial_p{
      "special_legendre_polynomial_p"};
};
}  // namespace lathe
