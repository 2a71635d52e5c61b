// The primitives of the scalar language, by name. Apart from core/expr/expr.h, whose essay says
// what they are for, so that files compiled for an instruction set can name them and include
// nothing else.
#pragma once

#include <cstdint>

namespace lathe {

// clang-format off
enum class Prim : uint8_t {
  // Leaves.
  constant,  // payload: the value's bits
  input,     // payload: which argument
  index,     // payload: axis; the element's logical index along it, i64
  linear,    // the element's row-major logical index, i64
  random,    // payload: word k; u32 of philox4x32-10(seed, call index, logical index), core/scalar/philox.h
  // Arithmetic, correctly rounded (IEEE 754) for floats, wrapping for integers; div, sqrt: floats.
  add, sub, mul, div, fma, neg, abs, sqrt,
  pmin, pmax,
  floor, ceil, trunc, rint,  // rint: to nearest, ties to even
  floor_div, mod,            // integers: towards minus infinity; by zero gives 0 (definitions `check` it)
  fmod,                      // floats: exact remainder with the dividend's sign, as C
  mulhi,                     // u32: upper half of the 64-bit product
  // Comparison and logic. Comparisons give bool.
  lt, le, eq, ne,
  bit_and, bit_or, bit_xor, bit_not, shl, shr,  // shr is arithmetic on signed types
  select,                                        // select(condition, yes, no)
  // Conversion.
  cast,     // value conversion to the node's dtype
  bits,     // float → unsigned of the same width, NaN as the positive quiet one; payload 1: the bits
            // of a NaN as they are (core/scalar/math.h only, whose results do not depend on them)
  frombits, // unsigned → float of the same width
  // Named non-smooth steps, so that derivatives stay right.
  round_magic,  // round_magic(x, c) = fma(x, c, m) - m, m = 1.5 * 2^23 (2^52 for f64): rint(x * c)
                // where |x * c| < 2^22 (2^51)
  addexp,       // addexp(x, n) = x * 2^n for an integer-valued float n, by adding it to the exponent
                // field: right where x and the result are normal; elsewhere as core/scalar/scalar.h says
  rare,         // rare(mask, fast, slow) = select(mask, slow, fast); slow may be skipped if no lane
                // asks
  check,        // check(condition, x): x, and an error (payload: code) where the condition is false
  // Transcendental: one node here, a template in core/scalar/math.h.
  exp, exp2, expm1, log, log2, log10, log1p,
  tanh, sigmoid, erf, erfc,
  sin, cos, tan, asin, acos, atan, sinh, cosh, asinh, acosh, atanh,
  pow, atan2, lgamma, digamma, erfinv,
  // Complex values exist only in the language: they evaporate into pairs of reals when built.
  complex, real, imag, conj,
};
// clang-format on
inline constexpr int kPrims = static_cast<int>(Prim::conj) + 1;

}  // namespace lathe
