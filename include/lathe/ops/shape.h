// Views, and what is made of them.
#pragma once
#include <vector>

#include "fn.h"

namespace lathe {
template <class T>
struct shape_ops {
  using B = OpBinding<T>;
  using Any = typename B::Any;
  using Int = typename B::Int;
  using Ints = typename B::Ints;
  using List = typename B::List;
  static inline const Fn<T, T(T x, Ints shape)> view{"view"};
  static inline const Fn<T, T(T x, Ints shape)> reshape{"reshape"};
  static inline const Fn<T, T(T x, Ints shape)> expand{"expand"};
  static inline const Fn<T, T(T x, Ints dims)> permute{"permute"};
  static inline const Fn<T, T(T x, Int dim0, Int dim1)> transpose{"transpose"};
  static inline const Fn<T, T(T x, Ints dim)> squeeze{"squeeze"};
  static inline const Fn<T, T(T x, Int dim)> unsqueeze{"unsqueeze"};
  static inline const Fn<T, T(T x, Int dim, Any start, Any end, Int step)> slice{"slice"};
  static inline const Fn<T, T(T x, Int dim, Int index)> select{"select"};
  static inline const Fn<T, T(T x, Int dim, Int start, Int length)> narrow{"narrow"};
  static inline const Fn<T, T(T x, Int start, Int end)> flatten{"flatten"};
  static inline const Fn<T, T(T x, Ints kernel, Ints stride)> windows{"windows"};
  static inline const Fn<T, T(T x)> contiguous{"contiguous"};
  static inline const Fn<T, T(T x, Ints pad, Any value)> constant_pad_nd{"constant_pad_nd"};
  static inline const Fn<T, T(List tensors, Int dim)> cat{"cat"};
  static inline const Fn<T, T(List tensors, Int dim)> stack{"stack"};
  /// The reverse of a view: x with the view's elements replaced by value.
  static inline const Fn<T, T(T x, T value, Int dim, Any start, Any end, Int step)> slice_put{
      "slice_put"};
};
}  // namespace lathe
