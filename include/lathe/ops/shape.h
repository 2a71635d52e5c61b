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
  static inline const Fn<T, T(T x, Ints start, Ints length)> narrow_axes{"narrow_axes"};
  static inline const Fn<T, T(T x)> rows{"rows"};
  static inline const Fn<T, T(T x, Int dim, Int index)> select{"select"};
  static inline const Fn<T, T(T x, Int dim, Int start, Int length)> narrow{"narrow"};
  static inline const Fn<T, T(T x, Int start, Int end)> flatten{"flatten"};
  static inline const Fn<T, T(T x, Ints kernel, Ints stride, Ints dilation)> windows{"windows"};
  static inline const Fn<T, T(T x, Int dimension, Int size, Int step)> unfold{"unfold"};
  static inline const Fn<T, T(T x)> contiguous{"contiguous"};
  static inline const Fn<T, T(T x, Ints pad, Any value)> constant_pad_nd{"constant_pad_nd"};
  static inline const Fn<T, T(List tensors, Int dim)> cat{"cat"};
  static inline const Fn<T, T(List tensors, Int dim)> stack{"stack"};
  static inline const Fn<T, T(T x, Ints counts)> repeat{"repeat"};
  static inline const Fn<T, T(T x, Ints counts)> tile{"tile"};
  static inline const Fn<T, T(T x, Int repeats, Any dim)> repeat_interleave{"repeat_interleave"};
  static inline const Fn<T, T(T x, Ints dims)> reversed{"reversed"};
  static inline const Fn<T, T(T x, Ints dims)> flip{"flip"};
  static inline const Fn<T, T(T x)> fliplr{"fliplr"};
  static inline const Fn<T, T(T x)> flipud{"flipud"};
  static inline const Fn<T, T(T x, Ints shifts, Ints dims)> roll{"roll"};
  static inline const Fn<T, T(T x, Int k, Ints dims)> rot90{"rot90"};
  static inline const Fn<T, T(T x, Ints source, Ints destination)> movedim{"movedim"};
  static inline const Fn<T, T(T x, Int axis0, Int axis1)> swapaxes{"swapaxes"};
  static inline const Fn<T, T(T x, Int dim, Ints sizes)> unflatten{"unflatten"};
  static inline const Fn<T, T(T x)> ravel{"ravel"};
  static inline const Fn<T, T(T x)> t{"t"};
  static inline const Fn<T, T(T x)> adjoint{"adjoint"};
  static inline const Fn<T, T(T x)> resolve_conj{"resolve_conj"};
  static inline const Fn<T, T(T x)> resolve_neg{"resolve_neg"};
  static inline const Fn<T, T(T x, Ints size)> broadcast_to{"broadcast_to"};
  static inline const Fn<T, T(T x, Int dim, Int start, Int length)> narrow_copy{"narrow_copy"};
  static inline const Fn<T, T(T x, Int offset, Int dim1, Int dim2)> diagonal{"diagonal"};
  static inline const Fn<T, T(T x, Int offset, Int dim1, Int dim2)> diag_embed{"diag_embed"};
  static inline const Fn<T, T(T x, Int diagonal)> diag{"diag"};
  static inline const Fn<T, T(T x, Int offset)> diagflat{"diagflat"};
  static inline const Fn<T, T(T x, Any value, bool wrap)> fill_diagonal_{"fill_diagonal_"};
  static inline const Fn<T, T(T x, T src, Int offset, Int dim1, Int dim2)> diagonal_scatter{
      "diagonal_scatter"};
  static inline const Fn<T, T(T x, T src, Int dim, Int index)> select_scatter{"select_scatter"};
  static inline const Fn<T, T(T x, T src, Int dim, Any start, Any end, Int step)> slice_scatter{
      "slice_scatter"};
  static inline const Fn<T, T(T x, Int diagonal)> tril{"tril"};
  static inline const Fn<T, T(T x, Int diagonal)> triu{"triu"};
  static inline const Fn<T, T(List tensors)> hstack{"hstack"};
  static inline const Fn<T, T(List tensors)> vstack{"vstack"};
  static inline const Fn<T, T(List tensors)> dstack{"dstack"};
  static inline const Fn<T, T(List tensors)> column_stack{"column_stack"};
  static inline const Fn<T, T(List tensors)> block_diag{"block_diag"};
  static inline const Fn<T, T(List tensors)> cartesian_prod{"cartesian_prod"};
  static inline const Fn<T, T(T x, Int r, bool with_replacement)> combinations{"combinations"};
  static inline const Fn<T, T(T x, Ints size, Ints stride, Any offset)> as_strided{"as_strided"};
  static inline const Fn<T, T(T x, Ints size, Ints stride, Int offset)> strided{"strided"};
  static inline const Fn<T, T(T x, Ints size, Ints stride, Int offset)> strided_over{
      "strided_over"};
  static inline const Fn<T, T(T x, T src, Ints size, Ints stride, Any offset)> as_strided_scatter{
      "as_strided_scatter"};
  static inline const Fn<T, T(T x, T value)> overwritten{"overwritten"};
  static inline const Fn<T, T(T x, T other)> steps_with{"steps_with"};
  static inline const Fn<T, T(T x, Int shift, Int dim)> rolled{"rolled"};
  static inline const Fn<T, T(T x, Any dtype)> reinterpreted{"reinterpreted"};
  static inline const Fn<T, T(T x)> view_as_real{"view_as_real"};
  static inline const Fn<T, T(T x)> real{"real"};
  static inline const Fn<T, T(T x)> imag{"imag"};
  static inline const Fn<T, T(T x)> view_as_complex{"view_as_complex"};
  static inline const Fn<T, T(T x, Int upscale_factor)> pixel_shuffle{"pixel_shuffle"};
  static inline const Fn<T, T(T x, Int downscale_factor)> pixel_unshuffle{"pixel_unshuffle"};
  static inline const Fn<T, T(T x, Int groups)> channel_shuffle{"channel_shuffle"};
  /// The reverse of a view: x with the view's elements replaced by value.
  static inline const Fn<T, T(T x, T value, Int dim, Any start, Any end, Int step)> slice_put{
      "slice_put"};
};
}  // namespace lathe
