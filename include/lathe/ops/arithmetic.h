// Signs, neighbours, scaling, whole numbers, and sums of products.
#pragma once
#include "fn.h"

namespace lathe {
template <class T>
struct arithmetic_ops {
  using Any = typename OpBinding<T>::Any;
  using Unary = T(T input);
  using Pair = T(T input, T other);
  static inline const Fn<T, T(T input, Any other)> copysign{"copysign"};
  static inline const Fn<T, Unary> signbit{"signbit"};
  static inline const Fn<T, Unary> sgn_complex{"sgn_complex"};
  static inline const Fn<T, Unary> sgn{"sgn"};
  static inline const Fn<T, Unary> positive{"positive"};
  static inline const Fn<T, Unary> angle_float{"angle_float"};
  static inline const Fn<T, Unary> angle{"angle"};
  static inline const Fn<T, Pair> nextafter_wide{"nextafter_wide"};
  static inline const Fn<T, Pair> nextafter_f16{"nextafter_f16"};
  static inline const Fn<T, Pair> nextafter_bf16{"nextafter_bf16"};
  static inline const Fn<T, Pair> nextafter{"nextafter"};
  static inline const Fn<T, T(T input, T values)> heaviside{"heaviside"};
  static inline const Fn<T, Pair> hypot{"hypot"};
  static inline const Fn<T, Pair> logaddexp{"logaddexp"};
  static inline const Fn<T, Pair> logaddexp2{"logaddexp2"};
  static inline const Fn<T, Pair> ldexp{"ldexp"};
  static inline const Fn<T, Unary> frexp_exponent{"frexp_exponent"};
  static inline const Fn<T, std::tuple<T, T>(T input)> frexp{"frexp"};
  static inline const Fn<T, Unary> frac{"frac"};
  static inline const Fn<T, Unary> rad2deg{"rad2deg"};
  static inline const Fn<T, Unary> deg2rad{"deg2rad"};
  static inline const Fn<T, T(T input, Any nan, Any posinf, Any neginf)> replace_nonfinite{
      "replace_nonfinite"};
  static inline const Fn<T, T(T input, Any nan, Any posinf, Any neginf)> nan_to_num{"nan_to_num"};
  static inline const Fn<T, T(Any input, Any exponent)> float_power{"float_power"};
  static inline const Fn<T, Pair> gcd{"gcd"};
  static inline const Fn<T, Pair> lcm{"lcm"};
  static inline const Fn<T, T(Any input, Any other)> bitwise_left_shift{"bitwise_left_shift"};
  static inline const Fn<T, T(Any input, Any other)> bitwise_right_shift{"bitwise_right_shift"};
  static inline const Fn<T, T(T input, T tensor1, T tensor2, Any value)> addcmul{"addcmul"};
  static inline const Fn<T, T(T input, T tensor1, T tensor2, Any value)> addcdiv{"addcdiv"};
  static inline const Fn<T, T(T abs, T angle)> polar{"polar"};
};
}  // namespace lathe
