// What powers are made of.
#pragma once
#include "fn.h"

namespace lathe {
template <class T>
struct power_ops {
  using Any = typename OpBinding<T>::Any;
  static inline const Fn<T, T(Any input, Any exponent)> pow_real{"pow_real"};
  static inline const Fn<T, T(Any input, Any exponent)> pow_integer{"pow_integer"};
  static inline const Fn<T, T(T input)> cube{"cube"};
  static inline const Fn<T, T(T input)> inverse_square{"inverse_square"};
};
}  // namespace lathe
