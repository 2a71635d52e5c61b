// Activations beyond those of nn.h.
#pragma once
#include "fn.h"

namespace lathe {
template <class T>
struct activation_ops {
  using Any = typename OpBinding<T>::Any;
  using Int = typename OpBinding<T>::Int;
  using Unary = T(T input);
  using Dropout = T(T input, Any p, bool training);
  static inline const Fn<T, T(T input, Any alpha)> elu{"elu"};
  static inline const Fn<T, Unary> selu{"selu"};
  static inline const Fn<T, T(T input, Any alpha)> celu_width{"celu_width"};
  static inline const Fn<T, T(T input, Any alpha)> celu{"celu"};
  static inline const Fn<T, Unary> mish{"mish"};
  static inline const Fn<T, Unary> logsigmoid{"logsigmoid"};
  static inline const Fn<T, T(T input, Any low, Any high)> hard_limits{"hard_limits"};
  static inline const Fn<T, T(T input, Any min_val, Any max_val)> hardtanh{"hardtanh"};
  static inline const Fn<T, Unary> relu6{"relu6"};
  static inline const Fn<T, Unary> hardsigmoid{"hardsigmoid"};
  static inline const Fn<T, Unary> hardswish{"hardswish"};
  static inline const Fn<T, T(T input, Any lambd)> hardshrink{"hardshrink"};
  static inline const Fn<T, T(T input, Any lambd)> shrink_by{"shrink_by"};
  static inline const Fn<T, T(T input, Any lambd)> softshrink{"softshrink"};
  static inline const Fn<T, T(T input, Any threshold, Any value)> threshold{"threshold"};
  static inline const Fn<T, Unary> softsign{"softsign"};
  static inline const Fn<T, Unary> tanhshrink{"tanhshrink"};
  static inline const Fn<T, T(T input, T weight)> slope_below{"slope_below"};
  static inline const Fn<T, T(T input, T weight)> prelu{"prelu"};
  static inline const Fn<T, T(T input, Any lower, Any upper, bool training)> rrelu{"rrelu"};
  static inline const Fn<T, T(T input, Int dim)> glu{"glu"};
  static inline const Fn<T, T(T input, Any dim, Int stacklevel, Any dtype)> softmin{"softmin"};
  static inline const Fn<T, T(T logits, Any tau, bool hard, Any eps, Int dim)> gumbel_softmax{
      "gumbel_softmax"};
};
}  // namespace lathe
