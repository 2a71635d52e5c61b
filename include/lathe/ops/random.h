// Samplers: numbers that are moved out of the uniform and normal streams.
#pragma once
#include "fn.h"

namespace lathe {
template <class T>
struct random_ops {
  using B = OpBinding<T>;
  using Any = typename B::Any;
  using Int = typename B::Int;
  using Pair = T(T x, T y);
  static inline const Fn<T, Pair> normal{"normal"};
  static inline const Fn<T, T(T noise, Any mean, T std)> normal_of{"normal_of"};
  static inline const Fn<T, T(Int n, Any dtype, Any device)> randperm{"randperm"};
  static inline const Fn<T, T(T x, Int num_samples, bool replacement)> multinomial{"multinomial"};
  static inline const Fn<T, T(T x)> weight_of{"weight_of"};
  static inline const Fn<T, Pair> arrival{"arrival"};
  static inline const Fn<T, Pair> arrived{"arrived"};
  static inline const Fn<T, T(T x)> poisson{"poisson"};
  static inline const Fn<T, Pair> binomial{"binomial"};
  static inline const Fn<T, Pair> few_events{"few_events"};
  static inline const Fn<T, T(T uniform, T count, T prob)> few_successes{"few_successes"};
  static inline const Fn<T, T(T alpha)> standard_gamma{"standard_gamma"};
};
}  // namespace lathe
