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
  using Text = typename B::Text;
  static inline const Fn<T, T(T x, Int dim, T index)> gather{"gather"};
  static inline const Fn<T, T(T x, Int dim, T index)> gather_inside{"gather_inside"};
  static inline const Fn<T, T(T x, Int dim, T index, Any src)> scatter{"scatter"};
  static inline const Fn<T, T(T x, Int dim, T index, Any src)> scatter_add{"scatter_add"};
  static inline const Fn<T, T(T x, Int dim, T index)> index_select{"index_select"};
  static inline const Fn<T, T(T x, Int dim, T index, T src)> index_add{"index_add"};
  static inline const Fn<T, T(T x, Int dim, T index, T src)> scatter_prod{"scatter_prod"};
  static inline const Fn<T, T(T x, Int dim, T index, T src)> scatter_amax{"scatter_amax"};
  static inline const Fn<T, T(T x, Int dim, T index, T src)> scatter_amin{"scatter_amin"};
  static inline const Fn<T, T(T x, Int dim, T index, T source)> index_prod{"index_prod"};
  static inline const Fn<T, T(T x, Int dim, T index, T source)> index_amax{"index_amax"};
  static inline const Fn<T, T(T x, Int dim, T index, T source)> index_amin{"index_amin"};
  static inline const Fn<T, T(T x, Int dim, T index, T source)> index_copy{"index_copy"};
  static inline const Fn<T, T(T x, Int dim, T index, Any value)> index_fill{"index_fill"};
  static inline const Fn<T, T(T x, T index)> take{"take"};
  static inline const Fn<T, T(T x, T index, T source, bool accumulate)> put{"put"};
  static inline const Fn<T, T(T x, T indices, Any dim)> take_along_dim{"take_along_dim"};
  static inline const Fn<T, T(T mask, Int size, Int fill)> true_positions{"true_positions"};
  static inline const Fn<T, T(T count)> sized_by{"sized_by"};
  static inline const Fn<T, T(Int a, Text relation, Int b)> check_size{"check_size"};
  static inline const Fn<T, T(T x, T mask)> masked_select{"masked_select"};
  static inline const Fn<T, T(T x, T mask, T source)> masked_scatter{"masked_scatter"};
  static inline const Fn<T, T(T weight, T indices, Int padding_idx, bool scale_grad_by_freq,
                              bool sparse)>
      embedding{"embedding"};
  static inline const Fn<T, Pair(T x, Int dim, bool descending)> sort{"sort"};
  static inline const Fn<T, T(T x, Int dim, bool descending)> argsort{"argsort"};
  static inline const Fn<T, Pair(T x, Int k, Int dim, bool largest)> topk{"topk"};
  static inline const Fn<T, T(T sorted, T values, bool right)> searchsorted{"searchsorted"};
};
}  // namespace lathe
