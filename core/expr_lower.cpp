// The templates of core/math.h on nodes. A file of its own: it is the only one here that is slow to
// compile.
#include "core/expr_internal.h"
#include "core/math_call.h"
#include "core/typed_expr.h"

namespace lathe::expr_detail {

Expr expand(Prim prim, absl::Span<const Expr> args) {
  const Expr a = args[0], b = args[args.size() - 1];
  if (a.dtype() == DType::f64)
    return math_call(prim, TypedExpr<double>(a), TypedExpr<double>(b)).expr();
  return math_call(prim, TypedExpr<float>(a), TypedExpr<float>(b)).expr();
}

}  // namespace lathe::expr_detail
