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
};
}  // namespace lathe
