// Templates of core/scalar/math/ that are no primitives: a body instantiates them on its nodes.
// What engines take is the same graph that `lower` makes of a primitive.
#pragma once

#include "core/expr/typed_expr.h"
#include "core/scalar/math.h"

namespace lathe {

/// f(x...) in the precision of the first operand: `f` takes TypedExpr<float> or TypedExpr<double>.
template <class F, class... X>
Expr instantiate(F f, Expr first, X... rest) {
  if (first.dtype() == DType::f64)
    return f(TypedExpr<double>(first), TypedExpr<double>(rest)...).expr();
  return f(TypedExpr<float>(first), TypedExpr<float>(rest)...).expr();
}

}  // namespace lathe
