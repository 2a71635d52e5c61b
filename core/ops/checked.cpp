// Integer arithmetic that never wraps: a result that does not fit is an error at its element. The
// integers of scripts, which are Python's, are computed with it (python/lathe/jit).
#include "core/base/checks.h"
#include "core/ops/families.h"

namespace lathe {
namespace {

Expr fits(Expr condition, Expr result) { return check(condition, result, kScriptOverflow); }

Expr negative(Expr x) { return lt(x, 0); }

/// A wrapped sum has the wrong sign just where both terms have the other one.
Expr add_body(Expr x, Expr y) {
  Expr sum = x + y;
  return fits(~(negative(x ^ sum) & negative(y ^ sum)), sum);
}

Expr sub_body(Expr x, Expr y) {
  Expr difference = x - y;
  return fits(~(negative(x ^ y) & negative(x ^ difference)), difference);
}

/// A wrapped product does not divide back, but for the lowest integer times -1.
Expr mul_body(Expr x, Expr y) {
  Expr product = x * y, divisor = select(eq(y, 0), 1, y);
  Expr back = eq(floor_div(product, divisor), x) & eq(mod(product, divisor), 0);
  Expr lowest_negated = eq(x, lowest(x.dtype())) & eq(y, constant(x.dtype(), -1));
  return fits(eq(y, 0) | (back & ~lowest_negated), product);
}

Extra wide(std::string_view doc) {
  return {.domain = {DType::i64}, .no_grad = true, .places = kNowhere, .doc = doc};
}

}  // namespace

void add_checked_definitions(Definitions& r) {
  r.elementwise("checked_add(Tensor|Scalar input, Tensor|Scalar other) -> Tensor", add_body,
                wide("x + y of int64; a ScriptError where that does not fit."));
  r.elementwise("checked_sub(Tensor|Scalar input, Tensor|Scalar other) -> Tensor", sub_body,
                wide("x - y of int64; a ScriptError where that does not fit."));
  r.elementwise("checked_mul(Tensor|Scalar input, Tensor|Scalar other) -> Tensor", mul_body,
                wide("x * y of int64; a ScriptError where that does not fit."));
  r.elementwise(
      "checked_range(Tensor input, Scalar low, Scalar high) -> Tensor",
      [](Expr x, Expr low, Expr high) {
        return check(le(low, x) & le(x, high), x, kIntegerOverflow);
      },
      wide("x of int64; an OverflowError where it is not in [low, high]."));
  r.elementwise(
      "checked_dividend(Tensor input) -> Tensor",
      [](Expr x) {
        Expr top = constant(x.dtype(), int64_t{1} << 53);
        return check(le(-top, x) & le(x, top), x, kScriptQuotient);
      },
      wide("x of int64; a ScriptError where it is beyond 2**53, as float64 would round it."));
}

}  // namespace lathe
