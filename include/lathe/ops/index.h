// Reading and writing by index, and sorting.
#pragma once
#include <tuple>

#include "fn.h"

namespace lathe {
template <class T>
struct index_ops {
  using B = OpBinding<T>;
  using Any = typename B::Any;
  using Int = typename B::Int;
  using Pair = std::tuple<T, T>;
  static inline const Fn<T, T(T x, Int dim, T index)> gather{"gather"};
  static inline const Fn<T, T(T x, Int dim, T index, Any src)> scatter{"scatter"};
  static inline const Fn<T, T(T x, Int dim, T index, Any src)> scatter_add{"scatter_add"};
  static inline const Fn<T, T(T x, Int dim, T index)> index_select{"index_select"};
  static inline const Fn<T, T(T x, Int dim, T index, T src)> index_add{"index_add"};
  static inline const Fn<T, T(T weight, T index)> embedding{"embedding"};
  static inline const Fn<T, Pair(T x, Int dim, bool descending)> sort{"sort"};
  static inline const Fn<T, T(T x, Int dim, bool descending)> argsort{"argsort"};
  static inline const Fn<T, Pair(T x, Int k, Int dim, bool largest)> topk{"topk"};
  static inline const Fn<T, T(T sorted, T values, bool right)> searchsorted{"searchsorted"};
};
}  // namespace lathe
