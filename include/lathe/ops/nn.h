// Contractions, and what neural networks are made of.
#pragma once
#include "fn.h"

namespace lathe {
template <class T>
struct nn_ops {
  using B = OpBinding<T>;
  using Any = typename B::Any;
  using Int = typename B::Int;
  using Ints = typename B::Ints;
  using Text = typename B::Text;
  static inline const Fn<T, T(T a, T b)> mm{"mm"};
  static inline const Fn<T, T(T a, T b)> matmul{"matmul"};
  static inline const Fn<T, T(T x, T w, Any b)> linear{"linear"};
  static inline const Fn<T, T(T x, T w, Ints stride, Ints pad, Ints dilation, Int groups)> conv2d{
      "conv2d"};
  static inline const Fn<T,
                         T(T w, T dy, Ints shape, Ints stride, Ints pad, Ints dilation, Int groups)>
      conv2d_input{"conv2d_input"};
  static inline const Fn<T,
                         T(T x, T dy, Ints shape, Ints stride, Ints pad, Ints dilation, Int groups)>
      conv2d_weight{"conv2d_weight"};
  static inline const Fn<T, T(T x, Ints kernel, Any stride, Ints pad)> max_pool2d{"max_pool2d"};
  static inline const Fn<T, T(T x, Ints kernel, Any stride, Ints pad)> avg_pool2d{"avg_pool2d"};
  static inline const Fn<T, T(T x)> relu{"relu"};
  static inline const Fn<T, T(T x, double slope)> leaky_relu{"leaky_relu"};
  static inline const Fn<T, T(T x)> silu{"silu"};
  static inline const Fn<T, T(T x)> softplus{"softplus"};
  static inline const Fn<T, T(T x)> gelu_erf{"gelu_erf"};
  static inline const Fn<T, T(T x)> gelu_tanh{"gelu_tanh"};
  static inline const Fn<T, T(T x, Text approximate)> gelu{"gelu"};
  static inline const Fn<T, T(T x, Int dim)> softmax{"softmax"};
  static inline const Fn<T, T(T x, Int dim)> log_softmax{"log_softmax"};
  static inline const Fn<T, T(T x, Ints shape, Any w, Any b, double eps)> layer_norm{"layer_norm"};
  static inline const Fn<T, T(T x, Any w, Any b, Any mean, Any var, bool training, double momentum,
                              double eps, bool cudnn_enabled)>
      batch_norm{"batch_norm"};
  static inline const Fn<T, T(T x, double p, bool training)> dropout{"dropout"};
  static inline const Fn<T, T(T x, T target, Text reduction, Any weight)> mse_loss{"mse_loss"};
  static inline const Fn<T, T(T x, T target, Text reduction, Any weight)> l1_loss{"l1_loss"};
  static inline const Fn<T,
                         T(T x, T target, Any weight, Int ignore, Text reduction, double smoothing)>
      cross_entropy{"cross_entropy"};
  static inline const Fn<T, T(T x, T target, Any weight, Int ignore, Text reduction)> nll_loss{
      "nll_loss"};
};
}  // namespace lathe
