// From a transcendental primitive to its template in core/scalar/math.h: the one switch, for any S
// that math.h takes.
#pragma once

#include "core/base/error.h"
#include "core/expr/expr.h"
#include "core/scalar/math.h"

namespace lathe {

/// `b` is read by the functions of two arguments only.
template <class S>
S math_call(Prim prim, S a, S b) {
  switch (prim) {
    case Prim::exp:
      return math::exp(a);
    case Prim::exp2:
      return math::exp2(a);
    case Prim::expm1:
      return math::expm1(a);
    case Prim::log:
      return math::log(a);
    case Prim::log2:
      return math::log2(a);
    case Prim::log10:
      return math::log10(a);
    case Prim::log1p:
      return math::log1p(a);
    case Prim::tanh:
      return math::tanh(a);
    case Prim::sigmoid:
      return math::sigmoid(a);
    case Prim::erf:
      return math::erf(a);
    case Prim::erfc:
      return math::erfc(a);
    case Prim::sin:
      return math::sin(a);
    case Prim::cos:
      return math::cos(a);
    case Prim::tan:
      return math::tan(a);
    case Prim::asin:
      return math::asin(a);
    case Prim::acos:
      return math::acos(a);
    case Prim::atan:
      return math::atan(a);
    case Prim::sinh:
      return math::sinh(a);
    case Prim::cosh:
      return math::cosh(a);
    case Prim::asinh:
      return math::asinh(a);
    case Prim::acosh:
      return math::acosh(a);
    case Prim::atanh:
      return math::atanh(a);
    case Prim::pow:
      return math::pow(a, b);
    case Prim::atan2:
      return math::atan2(a, b);
    case Prim::lgamma:
      return math::lgamma(a);
    case Prim::digamma:
      return math::digamma(a);
    case Prim::erfinv:
      return math::erfinv(a);
    default:
      LATHE_INTERNAL("not a transcendental primitive");
  }
}

}  // namespace lathe
