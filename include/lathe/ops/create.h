// Tensors from nothing: constant, counted and random.
#pragma once
#include "fn.h"

namespace lathe {
template <class T>
struct create_ops {
  using B = OpBinding<T>;
  using Any = typename B::Any;
  using Int = typename B::Int;
  using Real = typename B::Real;
  using Ints = typename B::Ints;
  static inline const Fn<T, T(Ints shape, Any value, Any dtype, Any device)> full{"full"};
  static inline const Fn<T, T(Ints shape, Any dtype, Any device)> zeros{"zeros"};
  static inline const Fn<T, T(Ints shape, Any dtype, Any device)> ones{"ones"};
  static inline const Fn<T, T(T x, Any dtype, Any device)> zeros_like{"zeros_like"};
  static inline const Fn<T, T(T x, Any dtype, Any device)> ones_like{"ones_like"};
  static inline const Fn<T, T(T x, Any value, Any dtype, Any device)> full_like{"full_like"};
  static inline const Fn<T, T(Any start, Any end, Any step, Any dtype, Any device)> arange{
      "arange"};
  static inline const Fn<T, T(Any start, Any end, Any step, Any dtype, Any device)> range{"range"};
  static inline const Fn<T, T(Any start, Any end, Int steps, Any dtype, Any device)> linspace{
      "linspace"};
  static inline const Fn<T, T(Int n, Any m, Any dtype, Any device)> eye{"eye"};
  static inline const Fn<T, T(Any start, Any end, Int steps, Real base, Any dtype, Any device)>
      logspace{"logspace"};
  static inline const Fn<T, T(Int row, Int col, Int offset, Any dtype, Any device)> tril_indices{
      "tril_indices"};
  static inline const Fn<T, T(Int row, Int col, Int offset, Any dtype, Any device)> triu_indices{
      "triu_indices"};
  static inline const Fn<T, T(Ints size, Ints stride, Any dtype, Any device)> empty_strided{
      "empty_strided"};
  static inline const Fn<T, T(Ints size, Ints layout, Any dtype, Any device)> empty_permuted{
      "empty_permuted"};
  static inline const Fn<T, T(Ints shape, Any dtype, Any device)> rand{"rand"};
  static inline const Fn<T, T(Ints shape, Any dtype, Any device)> randn{"randn"};
  static inline const Fn<T, T(Int low, Int high, Ints shape, Any dtype, Any device)> randint{
      "randint"};
  static inline const Fn<T, T(Ints shape, Real p, Any dtype, Any device)> bernoulli{
      "bernoulli.size"};
  static inline const Fn<T, T(T uniform, T input)> bernoulli_of{"bernoulli_of"};
};
}  // namespace lathe
