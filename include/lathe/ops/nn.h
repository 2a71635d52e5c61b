// Contractions, and what neural networks are made of.
#pragma once
#include "fn.h"

namespace lathe {
template <class T>
struct nn_ops {
  using B = OpBinding<T>;
  using Any = typename B::Any;
  using Int = typename B::Int;
  using Real = typename B::Real;
  using Ints = typename B::Ints;
  using Text = typename B::Text;
  static inline const Fn<T, T(T a, T b, Any out_dtype)> mm{"mm"};
  static inline const Fn<T, T(T a, T b)> matmul{"matmul"};
  static inline const Fn<T, T(T x, T w, Any b)> linear{"linear"};
  // Sums without a bias; the functions over them are below.
  static inline const Fn<T, T(T input, T weight, Ints stride, Ints padding, Ints dilation,
                              Int groups, Any out_dtype)>
      convolution1d{"convolution1d"};
  static inline const Fn<T, T(T input, T weight, Ints stride, Ints padding, Ints dilation,
                              Int groups, Any out_dtype)>
      convolution2d{"convolution2d"};
  static inline const Fn<T, T(T input, T weight, Ints stride, Ints padding, Ints dilation,
                              Int groups, Any out_dtype)>
      convolution3d{"convolution3d"};
  static inline const Fn<T, T(T input, T weight, Ints stride, Ints padding, Ints output_padding,
                              Int groups, Ints dilation, Any out_dtype)>
      convolution_transpose1d{"convolution_transpose1d"};
  static inline const Fn<T, T(T input, T weight, Ints stride, Ints padding, Ints output_padding,
                              Int groups, Ints dilation, Any out_dtype)>
      convolution_transpose2d{"convolution_transpose2d"};
  static inline const Fn<T, T(T input, T weight, Ints stride, Ints padding, Ints output_padding,
                              Int groups, Ints dilation, Any out_dtype)>
      convolution_transpose3d{"convolution_transpose3d"};
  static inline const Fn<T, T(T input, T weight, Any bias, Ints stride, Ints padding, Ints dilation,
                              Int groups)>
      conv1d{"conv1d"};
  static inline const Fn<T, T(T input, T weight, Any bias, Ints stride, Ints padding, Ints dilation,
                              Int groups)>
      conv2d{"conv2d"};
  static inline const Fn<T, T(T input, T weight, Any bias, Ints stride, Ints padding, Ints dilation,
                              Int groups)>
      conv3d{"conv3d"};
  static inline const Fn<T, T(T input, T weight, Any bias, Ints stride, Ints padding,
                              Ints output_padding, Int groups, Ints dilation)>
      conv_transpose1d{"conv_transpose1d"};
  static inline const Fn<T, T(T input, T weight, Any bias, Ints stride, Ints padding,
                              Ints output_padding, Int groups, Ints dilation)>
      conv_transpose2d{"conv_transpose2d"};
  static inline const Fn<T, T(T input, T weight, Any bias, Ints stride, Ints padding,
                              Ints output_padding, Int groups, Ints dilation)>
      conv_transpose3d{"conv_transpose3d"};
  static inline const Fn<T, T(T x)> relu{"relu"};
  static inline const Fn<T, T(T x, Real slope)> leaky_relu{"leaky_relu"};
  static inline const Fn<T, T(T x)> silu{"silu"};
  static inline const Fn<T, T(T x)> softplus{"softplus"};
  static inline const Fn<T, T(T x)> gelu_erf{"gelu_erf"};
  static inline const Fn<T, T(T x)> gelu_tanh{"gelu_tanh"};
  static inline const Fn<T, T(T x, Text approximate)> gelu{"gelu"};
  static inline const Fn<T, T(T x, Int dim)> softmax{"softmax"};
  static inline const Fn<T, T(T x, Int dim)> log_softmax{"log_softmax"};
  static inline const Fn<T, T(T x, Ints shape, Any w, Any b, Real eps)> layer_norm{"layer_norm"};
  static inline const Fn<T, T(T x, Any w, Any b, Any mean, Any var, bool training, Real momentum,
                              Real eps, bool cudnn_enabled)>
      batch_norm{"batch_norm"};
  static inline const Fn<T, T(T x, Int groups, Any w, Any b, Real eps)> group_norm{"group_norm"};
  static inline const Fn<T, T(T x, Any w, Any b, Any mean, Any var, bool use_input_stats,
                              Real momentum, Real eps, bool cudnn_enabled)>
      instance_norm{"instance_norm"};
  static inline const Fn<T, T(T x, Ints shape, Any w, Any eps)> rms_norm{"rms_norm"};
  static inline const Fn<T, T(T x, Int size, Real alpha, Real beta, Real k)> local_response_norm{
      "local_response_norm"};
  static inline const Fn<T, T(T x1, T x2, Int dim, Real eps)> cosine_similarity{
      "cosine_similarity"};
  static inline const Fn<T, T(T x1, T x2, Real p, Real eps, bool keepdim)> pairwise_distance{
      "pairwise_distance"};
  static inline const Fn<T, T(T x1, T x2, T weight, Any bias)> bilinear{"bilinear"};
  static inline const Fn<T, std::tuple<T, T>(T projected, T recurrent, T cell)> lstm_step{
      "lstm_step"};
  static inline const Fn<T, T(T projected, T recurrent, T hidden)> gru_step{"gru_step"};
  static inline const Fn<T, T(T x, Real p, bool training)> dropout{"dropout"};
  static inline const Fn<T, T(T x, T target, Any pos_weight)> logits_loss{"logits_loss"};
  static inline const Fn<T, T(T x, T target, Text reduction, Any weight)> mse_loss{"mse_loss"};
  static inline const Fn<T, T(T x, T target, Text reduction, Any weight)> l1_loss{"l1_loss"};
  static inline const Fn<T,
                         T(T x, T target, Any weight, Int ignore, Text reduction, Real smoothing)>
      cross_entropy{"cross_entropy"};
  static inline const Fn<T, T(T x, T target, Any weight, Int ignore, Text reduction)> nll_loss{
      "nll_loss"};
};
}  // namespace lathe
