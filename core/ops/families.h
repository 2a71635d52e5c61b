// One function a family; core/ops/all.cpp calls them. Plus the few words rows of several families
// share.
#pragma once

#include "core/error.h"
#include "core/fn.h"
#include "core/grad.h"
#include "core/inplace.h"
#include "core/op.h"

namespace lathe {

void add_math_rows(Rows& r);
void add_compare_rows(Rows& r);
void add_reduce_rows(Rows& r);
void add_shape_rows(Rows& r);
void add_index_rows(Rows& r);
void add_create_rows(Rows& r);
void add_linear_rows(Rows& r);
void add_nn_rows(Rows& r);
void add_loss_rows(Rows& r);

/// 0, 1, ... rank - 1.
inline Shape all_axes(int rank) {
  Shape axes;
  for (int i = 0; i < rank; ++i) axes.push_back(Int(i));
  return axes;
}

/// Least and greatest value of a dtype, in the language; infinities for floats.
Expr lowest(DType dtype);
Expr highest(DType dtype);

/// Integers and bool in the default dtype, for sums and differences that their dtype would wrap;
/// floats as they are.
Tensor as_float(const Tensor& x);

/// The complex conjugate in a derivative; a real tensor as it is, without a call.
Tensor conjugate(const Tensor& x);

}  // namespace lathe
