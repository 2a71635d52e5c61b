// Poolings, borders, and images of another size.
#pragma once
#include <tuple>

#include "fn.h"

namespace lathe {
template <class T>
struct pool_ops {
  using B = OpBinding<T>;
  using Any = typename B::Any;
  using Ints = typename B::Ints;
  using Real = typename B::Real;
  using Text = typename B::Text;
  using Pair = std::tuple<T, T>;
  using Max = T(T input, Ints kernel_size, Any stride, Ints padding, Ints dilation, bool ceil_mode,
                bool return_indices);
  using MaxPair = Pair(T input, Ints kernel_size, Any stride, Ints padding, Ints dilation,
                       bool ceil_mode, bool return_indices);
  static inline const Fn<T, Max> max_pool1d{"max_pool1d"};
  static inline const Fn<T, Max> max_pool2d{"max_pool2d"};
  static inline const Fn<T, Max> max_pool3d{"max_pool3d"};
  static inline const Fn<T, MaxPair> max_pool1d_with_indices{"max_pool1d_with_indices"};
  static inline const Fn<T, MaxPair> max_pool2d_with_indices{"max_pool2d_with_indices"};
  static inline const Fn<T, MaxPair> max_pool3d_with_indices{"max_pool3d_with_indices"};
  using Unpool = T(T input, T indices, Ints kernel_size, Any stride, Ints padding, Any output_size);
  static inline const Fn<T, Unpool> max_unpool1d{"max_unpool1d"};
  static inline const Fn<T, Unpool> max_unpool2d{"max_unpool2d"};
  static inline const Fn<T, Unpool> max_unpool3d{"max_unpool3d"};
  using Mean = T(T input, Ints kernel_size, Any stride, Ints padding, bool ceil_mode,
                 bool count_include_pad, Any divisor_override);
  static inline const Fn<T, T(T input, Ints kernel_size, Any stride, Ints padding, bool ceil_mode,
                              bool count_include_pad)>
      avg_pool1d{"avg_pool1d"};
  static inline const Fn<T, Mean> avg_pool2d{"avg_pool2d"};
  static inline const Fn<T, Mean> avg_pool3d{"avg_pool3d"};
  using Norm = T(T input, Real norm_type, Ints kernel_size, Any stride, bool ceil_mode);
  static inline const Fn<T, Norm> lp_pool1d{"lp_pool1d"};
  static inline const Fn<T, Norm> lp_pool2d{"lp_pool2d"};
  static inline const Fn<T, Norm> lp_pool3d{"lp_pool3d"};
  using Adaptive = T(T input, Ints output_size);
  static inline const Fn<T, Adaptive> adaptive_avg_pool1d{"adaptive_avg_pool1d"};
  static inline const Fn<T, Adaptive> adaptive_avg_pool2d{"adaptive_avg_pool2d"};
  static inline const Fn<T, Adaptive> adaptive_avg_pool3d{"adaptive_avg_pool3d"};
  using AdaptivePair = Pair(T input, Ints output_size, bool return_indices);
  static inline const Fn<T, AdaptivePair> adaptive_max_pool1d_with_indices{
      "adaptive_max_pool1d_with_indices"};
  static inline const Fn<T, AdaptivePair> adaptive_max_pool2d_with_indices{
      "adaptive_max_pool2d_with_indices"};
  static inline const Fn<T, AdaptivePair> adaptive_max_pool3d_with_indices{
      "adaptive_max_pool3d_with_indices"};
  using Fractional = Pair(T input, Ints kernel_size, Any output_size, Any output_ratio,
                          bool return_indices, Any random_samples);
  static inline const Fn<T, Fractional> fractional_max_pool2d_with_indices{
      "fractional_max_pool2d_with_indices"};
  static inline const Fn<T, Fractional> fractional_max_pool3d_with_indices{
      "fractional_max_pool3d_with_indices"};
  static inline const Fn<T, T(T input, Ints pad, Text mode, Any value)> pad{"pad"};
  static inline const Fn<T, T(T input, Any size, Any scale_factor, Text mode, Any align_corners,
                              Any recompute_scale_factor, bool antialias)>
      interpolate{"interpolate"};
  static inline const Fn<T, T(T input, T grid, Text mode, Text padding_mode, Any align_corners)>
      grid_sample{"grid_sample"};
  static inline const Fn<T, T(T theta, Ints size, Any align_corners)> affine_grid{"affine_grid"};
};
}  // namespace lathe
