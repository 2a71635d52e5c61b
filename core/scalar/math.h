// The transcendental functions, once, for every engine.
//
// Each function is a template on S, "a float value": a SIMD vector in kernels/simd/<isa>.cpp, one
// lane
// (`Lane<T>`, core/scalar/lane.h) for folding and the reference, or a node (`TypedExpr<T>`,
// core/expr/typed_expr.h) for code generators. The same sequence of IEEE operations runs in all of
// them, so bits agree by construction. Nothing here may use the C library, an approximation
// instruction, or an operation that the compiler may contract.
//
// What S offers (T = typename S::Scalar is float or double):
//   S(T)                          a constant
//   + - * /  unary -              IEEE, round to nearest
//   S::fma(a, b, c) S::sqrt(a) S::abs(a) S::floor(a) S::rint(a) S::trunc(a)
//   S::pmin(a, b)                 a < b ? a : b          S::pmax(a, b)  a > b ? a : b
//   typename S::Mask              S::lt S::le S::eq S::ne;  & | ^ ~ on masks
//   S::select(mask, yes, no)      also for Bits
//   typename S::Bits              integer lanes as wide as T, wrapping: + - & | ^ ~,
//                                 S::shl(b, int) S::shr(b, int) (logical), Bits(typename S::Word),
//                                 S::bits_lt(b, c) (signed)
//   S::bits(a) S::frombits(b)     raw: the bits of a NaN differ between engines, so nothing but a
//   NaN may
//                                 ever depend on them
//   S::round_magic(x, c)          rint(x * c) as a float, |x * c| < 2^22 (2^51)
//   S::addexp(x, n)               x * 2^n for integer-valued n by the exponent field, all normal;
//   anything
//                                 else gives bits that must be selected away
//   S::to_int(n) S::from_int(b)   between an integer-valued float and Bits, |n| < 2^22 (2^51);
//   where
//                                 conversion is dear, bits(n + m) - bits(m) and back, m = 1.5 *
//                                 2^23 (1.5 * 2^52), is the same
//   S::rare(mask, fast, slow)     slow: a callable giving S, taken by the lanes of mask
//
// The families are in core/scalar/math/*.h; start with exp.h. core/scalar/math/minimax.py makes
// their coefficients, and each table says beside it on which interval and to what relative error.
// docs/accuracy.md has the measured errors. Every function is right at 0, -0, infinities, NaN and
// subnormals; a comment says so only where it is not plain.
#pragma once

#include "core/scalar/math/arc.h"
#include "core/scalar/math/erf.h"
#include "core/scalar/math/exp.h"
#include "core/scalar/math/gamma.h"
#include "core/scalar/math/hyperbolic.h"
#include "core/scalar/math/log.h"
#include "core/scalar/math/pow.h"
#include "core/scalar/math/remainder.h"
#include "core/scalar/math/trig.h"
