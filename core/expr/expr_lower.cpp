// The templates of core/scalar/math.h on nodes. A file of its own: it is the only one here that is
// slow to compile.
#include "core/expr/expr_internal.h"
#include "core/expr/math_call.h"
#include "core/expr/typed_expr.h"

namespace lathe::expr_detail {

Expr expand(Prim prim, absl::Span<const Expr> args) {
  const Expr a = args[0], b = args[args.size() - 1];
  if (a.dtype() == DType::f64)
    return math_call(prim, TypedExpr<double>(a), TypedExpr<double>(b)).expr();
  return math_call(prim, TypedExpr<float>(a), TypedExpr<float>(b)).expr();
}

namespace {

template <class T>
Expr remainder(Expr x, Expr y) {
  const auto slow = [&] { return TypedExpr<T>(fmod(x, y)); };
  return math::fmod(TypedExpr<T>(x), TypedExpr<T>(y), slow).expr();
}

}  // namespace

Expr expand_remainder(Expr x, Expr y) {
  return x.dtype() == DType::f64 ? remainder<double>(x, y) : remainder<float>(x, y);
}

}  // namespace lathe::expr_detail
