// Products of vectors, matrices and batches; sums over named axes; distances.
#pragma once
#include "fn.h"

namespace lathe {
template <class T>
struct products_ops {
  using B = OpBinding<T>;
  using Any = typename B::Any;
  using Int = typename B::Int;
  using Ints = typename B::Ints;
  using List = typename B::List;
  using Real = typename B::Real;
  using Text = typename B::Text;
  static inline const Fn<T, T(Text equation, List operands)> einsum{"einsum"};
  static inline const Fn<T, T(T x, T y, Ints dims_self, Ints dims_other)> tensordot{
      "tensordot.dims"};
  static inline const Fn<T, T(T x, T y)> bmm{"bmm"};
  static inline const Fn<T, T(T x, T vec)> mv{"mv"};
  static inline const Fn<T, T(T x, T y)> dot{"dot"};
  static inline const Fn<T, T(T x, T y)> vdot{"vdot"};
  static inline const Fn<T, T(T x, T y)> outer{"outer"};
  static inline const Fn<T, T(T x, T y)> inner{"inner"};
  static inline const Fn<T, T(T x, T y)> kron{"kron"};
  static inline const Fn<T, T(T x, T y, Int dim)> vecdot{"linalg_vecdot"};
  static inline const Fn<T, T(T x, T y, Any dim)> cross{"cross"};
  static inline const Fn<T, T(T x)> trace{"trace"};
  static inline const Fn<T, T(T x, T mat1, T mat2, Any beta, Any alpha)> addmm{"addmm"};
  static inline const Fn<T, T(T x, T mat, T vec, Any beta, Any alpha)> addmv{"addmv"};
  static inline const Fn<T, T(T x, T vec1, T vec2, Any beta, Any alpha)> addr{"addr"};
  static inline const Fn<T, T(T x, T batch1, T batch2, Any beta, Any alpha)> baddbmm{"baddbmm"};
  static inline const Fn<T, T(T x, T batch1, T batch2, Any beta, Any alpha)> addbmm{"addbmm"};
  static inline const Fn<T, T(List tensors)> multi_dot{"linalg_multi_dot"};
  static inline const Fn<T, T(List matrices)> chain_matmul{"chain_matmul"};
  static inline const Fn<T, T(T x1, T x2, Real p, Text compute_mode)> cdist{"cdist"};
  static inline const Fn<T, T(T x, Int correction, Any fweights, Any aweights)> cov{"cov"};
  static inline const Fn<T, T(T x)> corrcoef{"corrcoef"};
  static inline const Fn<T, T(T x, Any N, bool increasing)> vander{"vander"};
};
}  // namespace lathe
