// Fourier transforms.
#pragma once
#include "fn.h"

namespace lathe {
template <class T>
struct fft_ops {
  using B = OpBinding<T>;
  using Any = typename B::Any;
  using Int = typename B::Int;
  using Ints = typename B::Ints;
  static inline const Fn<T, T(T x, Ints dim, Int norm, bool forward)> c2c{"fft_c2c"};
  static inline const Fn<T, T(T x, Int dim, Int norm)> r2c{"fft_r2c"};
  static inline const Fn<T, T(T x, Int dim, Int norm, Int last)> c2r{"fft_c2r"};
  static inline const Fn<T, T(T x, Any n, Int dim, Any norm)> fft{"fft_fft"};
  static inline const Fn<T, T(T x, Any n, Int dim, Any norm)> ifft{"fft_ifft"};
  static inline const Fn<T, T(T x, Any n, Int dim, Any norm)> rfft{"fft_rfft"};
  static inline const Fn<T, T(T x, Any n, Int dim, Any norm)> irfft{"fft_irfft"};
};
}  // namespace lathe
