// Reductions and scans along axes.
#pragma once
#include <tuple>

#include "fn.h"

namespace lathe {
template <class T>
struct reduce_ops {
  using B = OpBinding<T>;
  using Any = typename B::Any;
  using Int = typename B::Int;
  using Ints = typename B::Ints;
  using Reduce = T(T x, Ints dim, bool keepdim);
  using Pick = T(T x, Any dim, bool keepdim);
  static inline const Fn<T, Reduce> sum{"sum"};
  static inline const Fn<T, Reduce> square_sum{"square_sum"};
  static inline const Fn<T, Reduce> mean{"mean"};
  static inline const Fn<T, Reduce> prod{"prod"};
  static inline const Fn<T, Reduce> amax{"amax"};
  static inline const Fn<T, Reduce> amin{"amin"};
  static inline const Fn<T, Reduce> any{"any"};
  static inline const Fn<T, Reduce> all{"all"};
  static inline const Fn<T, Pick> argmax{"argmax"};
  static inline const Fn<T, Pick> argmin{"argmin"};
  static inline const Fn<T, std::tuple<T, T>(T x, Int dim, bool keepdim)> max_dim{"max.dim"};
  static inline const Fn<T, std::tuple<T, T>(T x, Ints dim, bool keepdim)> largest_of{"largest_of"};
  static inline const Fn<T, std::tuple<T, T>(T x, Int dim, bool keepdim)> min_dim{"min.dim"};
  static inline const Fn<T, T(T x, Any dim, Any correction, bool keepdim)> var{"var"};
  static inline const Fn<T, T(T x, Any dim, Any correction, bool keepdim)> std{"std"};
  static inline const Fn<T, Reduce> logsumexp{"logsumexp"};
  static inline const Fn<T, T(T x, Any p, Ints dim, bool keepdim, Any dtype)> norm{"norm"};
  static inline const Fn<T, T(T x, Ints dim)> count_nonzero{"count_nonzero"};
  static inline const Fn<T, T(T x, Ints dim, bool keepdim, Any dtype)> nansum{"nansum"};
  static inline const Fn<T, T(T x, Ints dim, bool keepdim, Any dtype)> nanmean{"nanmean"};
  static inline const Fn<T, std::tuple<T, T>(T x, Any dim, bool keepdim)> aminmax{"aminmax"};
  static inline const Fn<T, T(T x, Int n, Int dim, Any prepend, Any append)> diff{"diff"};
  using Scan = T(T x, Int dim, bool reverse);
  static inline const Fn<T, Scan> cumsum{"cumsum"};
  static inline const Fn<T, Scan> cumprod{"cumprod"};
  static inline const Fn<T, Scan> affine_scan{"affine_scan"};
  static inline const Fn<T, Scan> running_max{"running_max"};
  static inline const Fn<T, Scan> running_min{"running_min"};
  static inline const Fn<T, Scan> logcumsumexp_scan{"logcumsumexp_scan"};
};
}  // namespace lathe
