// Complex numbers as pairs of floats: what expr_complex.cpp makes of the primitives, and the
// formulas of complex_functions.cpp. Nobody else includes this.
#pragma once

#include "core/expr/expr.h"

namespace lathe::expr_detail {

struct Pair {
  Expr re, im;
};

Expr is_infinite(Expr x);

Pair multiply(Pair a, Pair b);
/// With C's rules (Annex G) for zero divisors and infinities.
Pair divide(Pair a, Pair b);
/// As C's hypot: an infinite part wins over a NaN.
Expr modulus(Pair z);
/// The root with the non-negative real part; the cut runs along the negative axis.
Pair root(Pair z);
Pair power(Pair base, Pair exponent);
/// Whether `complex_function` has a formula.
bool has_complex_form(Prim prim);
/// A transcendental primitive of one operand.
Pair complex_function(Prim prim, Pair z);

}  // namespace lathe::expr_detail
