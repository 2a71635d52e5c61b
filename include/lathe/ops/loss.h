// Losses.
#pragma once
#include "fn.h"

namespace lathe {
template <class T>
struct loss_ops {
  using B = OpBinding<T>;
  using Any = typename B::Any;
  using Int = typename B::Int;
  using Real = typename B::Real;
  using Text = typename B::Text;
  static inline const Fn<T, T(T x, T target)> probability_loss{"probability_loss"};
  static inline const Fn<T, T(T var, Real least)> variance_at_least{"variance_at_least"};
  static inline const Fn<T,
                         T(T x, T target, Any size_average, Any reduce, Text reduction, Real beta)>
      smooth_l1_loss{"smooth_l1_loss"};
  static inline const Fn<T, T(T x, T target, Text reduction, Real delta, Any weight)> huber_loss{
      "huber_loss"};
  static inline const Fn<T, T(T x, T target, Any size_average, Any reduce, Text reduction,
                              bool log_target)>
      kl_div{"kl_div"};
  static inline const Fn<T, T(T x, T target, bool log_input, bool full, Any size_average, Real eps,
                              Any reduce, Text reduction)>
      poisson_nll_loss{"poisson_nll_loss"};
  static inline const Fn<T, T(T x, T target, Any var, bool full, Real eps, Text reduction)>
      gaussian_nll_loss{"gaussian_nll_loss"};
  static inline const Fn<T,
                         T(T x, T target, Any weight, Any size_average, Any reduce, Text reduction)>
      binary_cross_entropy{"binary_cross_entropy"};
  using Pointwise = T(T x, T target, Any size_average, Any reduce, Text reduction);
  static inline const Fn<T, T(T x, T target, Real margin, Any size_average, Any reduce,
                              Text reduction)>
      hinge_embedding_loss{"hinge_embedding_loss"};
  using Ranked = T(T x1, T x2, T target, Real margin, Any size_average, Any reduce, Text reduction);
  static inline const Fn<T, Ranked> margin_ranking_loss{"margin_ranking_loss"};
  static inline const Fn<T, Ranked> cosine_embedding_loss{"cosine_embedding_loss"};
  static inline const Fn<T, Pointwise> soft_margin_loss{"soft_margin_loss"};
  static inline const Fn<T, Pointwise> multilabel_margin_loss{"multilabel_margin_loss"};
  static inline const Fn<T,
                         T(T x, T target, Any weight, Any size_average, Any reduce, Text reduction)>
      multilabel_soft_margin_loss{"multilabel_soft_margin_loss"};
  static inline const Fn<T, T(T x, T target, Int p, Real margin, Any weight, Any size_average,
                              Any reduce, Text reduction)>
      multi_margin_loss{"multi_margin_loss"};
  static inline const Fn<T, T(T anchor, T positive, T negative, Real margin, Real p, Real eps,
                              bool swap, Any size_average, Any reduce, Text reduction)>
      triplet_margin_loss{"triplet_margin_loss"};
  static inline const Fn<T, T(T log_probs, T targets, T input_lengths, T target_lengths, Int blank,
                              Text reduction, bool zero_infinity)>
      ctc_loss{"ctc_loss"};
};
}  // namespace lathe
