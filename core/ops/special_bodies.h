// What the bodies of special functions share.
#pragma once

#include <absl/types/span.h>

#include "core/base/error.h"
#include "core/dispatch/grad.h"
#include "core/expr/expr.h"
#include "core/op/op.h"

namespace lathe {

/// c0 + c1 x + c2 x^2 + ..., one fma a coefficient.
template <class Coefficients>
Expr horner(Expr x, const Coefficients& c) {
  size_t k = std::size(c);
  Expr sum = constant(x.dtype(), c[--k]);
  while (k > 0) sum = fma(sum, x, constant(x.dtype(), c[--k]));
  return sum;
}

/// body(x...) computed in double and rounded to the operands' dtype once: functions that few calls
/// need have one table each, and single precision has every digit.
template <class Body, class... X>
Expr in_double(Body body, Expr first, X... rest) {
  return cast(body(cast(first, DType::f64), cast(rest, DType::f64)...), first.dtype());
}

/// UnsupportedError if argument `i` of the op is to have a gradient, which nobody has a formula
/// for.
inline void require_no_gradient(const Grad& g, int i) {
  if (!g.wants(i)) return;
  const Op& op = g.op();
  throw UnsupportedError({.op = op.public_name(),
                          .problem = "there is no derivative with respect to " +
                                     op.schema.params[static_cast<size_t>(i)].name,
                          .got = "an argument that requires grad",
                          .expected = "one that does not",
                          .next = "detach it first"});
}

}  // namespace lathe
