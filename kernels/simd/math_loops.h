// Strips of the transcendental primitives: the templates of core/scalar/math.h on this file's
// vectors.
#pragma once

#include "core/scalar/math.h"
#include "kernels/simd/loops.h"

namespace lathe {
namespace {

// clang-format off
struct MathExp { template <class S> LATHE_SIMD static S call(S x) { return math::exp(x); } };
struct MathExp2 { template <class S> LATHE_SIMD static S call(S x) { return math::exp2(x); } };
struct MathExpm1 { template <class S> LATHE_SIMD static S call(S x) { return math::expm1(x); } };
struct MathLog { template <class S> LATHE_SIMD static S call(S x) { return math::log(x); } };
struct MathLog2 { template <class S> LATHE_SIMD static S call(S x) { return math::log2(x); } };
struct MathLog10 { template <class S> LATHE_SIMD static S call(S x) { return math::log10(x); } };
struct MathLog1p { template <class S> LATHE_SIMD static S call(S x) { return math::log1p(x); } };
struct MathTanh { template <class S> LATHE_SIMD static S call(S x) { return math::tanh(x); } };
struct MathSigmoid { template <class S> LATHE_SIMD static S call(S x) { return math::sigmoid(x); } };
struct MathErf { template <class S> LATHE_SIMD static S call(S x) { return math::erf(x); } };
struct MathErfc { template <class S> LATHE_SIMD static S call(S x) { return math::erfc(x); } };
struct MathSin { template <class S> LATHE_SIMD static S call(S x) { return math::sin(x); } };
struct MathCos { template <class S> LATHE_SIMD static S call(S x) { return math::cos(x); } };
struct MathTan { template <class S> LATHE_SIMD static S call(S x) { return math::tan(x); } };
struct MathAsin { template <class S> LATHE_SIMD static S call(S x) { return math::asin(x); } };
struct MathAcos { template <class S> LATHE_SIMD static S call(S x) { return math::acos(x); } };
struct MathAtan { template <class S> LATHE_SIMD static S call(S x) { return math::atan(x); } };
struct MathSinh { template <class S> LATHE_SIMD static S call(S x) { return math::sinh(x); } };
struct MathCosh { template <class S> LATHE_SIMD static S call(S x) { return math::cosh(x); } };
struct MathAsinh { template <class S> LATHE_SIMD static S call(S x) { return math::asinh(x); } };
struct MathAcosh { template <class S> LATHE_SIMD static S call(S x) { return math::acosh(x); } };
struct MathAtanh { template <class S> LATHE_SIMD static S call(S x) { return math::atanh(x); } };
struct MathLgamma { template <class S> LATHE_SIMD static S call(S x) { return math::lgamma(x); } };
struct MathDigamma { template <class S> LATHE_SIMD static S call(S x) { return math::digamma(x); } };
struct MathErfinv { template <class S> LATHE_SIMD static S call(S x) { return math::erfinv(x); } };
struct MathPow { template <class S> LATHE_SIMD static S call(S x, S y) { return math::pow(x, y); } };
struct MathAtan2 { template <class S> LATHE_SIMD static S call(S x, S y) { return math::atan2(x, y); } };
// clang-format on

template <class F, class S>
void add_function(SimdLoops& set, Prim prim) {
  slot(set, prim, sizeof(typename S::Scalar) == 4 ? DType::f32 : DType::f64) =
      vector_strip<F, S, 1, 0>;
}
template <class F, class S>
void add_function2(SimdLoops& set, Prim prim) {
  constexpr DType d = sizeof(typename S::Scalar) == 4 ? DType::f32 : DType::f64;
  slot(set, prim, d) = vector_strip<F, S, 2, 0>;
  slot(set, prim, d, 1) = vector_strip<F, S, 2, 1>;
  slot(set, prim, d, 2) = vector_strip<F, S, 2, 2>;
}

template <class S>
void add_math_on(SimdLoops& set) {
  add_function<MathExp, S>(set, Prim::exp);
  add_function<MathExp2, S>(set, Prim::exp2);
  add_function<MathExpm1, S>(set, Prim::expm1);
  add_function<MathLog, S>(set, Prim::log);
  add_function<MathLog2, S>(set, Prim::log2);
  add_function<MathLog10, S>(set, Prim::log10);
  add_function<MathLog1p, S>(set, Prim::log1p);
  add_function<MathTanh, S>(set, Prim::tanh);
  add_function<MathSigmoid, S>(set, Prim::sigmoid);
  add_function<MathErf, S>(set, Prim::erf);
  add_function<MathErfc, S>(set, Prim::erfc);
  add_function<MathSin, S>(set, Prim::sin);
  add_function<MathCos, S>(set, Prim::cos);
  add_function<MathTan, S>(set, Prim::tan);
  add_function<MathAsin, S>(set, Prim::asin);
  add_function<MathAcos, S>(set, Prim::acos);
  add_function<MathAtan, S>(set, Prim::atan);
  add_function<MathSinh, S>(set, Prim::sinh);
  add_function<MathCosh, S>(set, Prim::cosh);
  add_function<MathAsinh, S>(set, Prim::asinh);
  add_function<MathAcosh, S>(set, Prim::acosh);
  add_function<MathAtanh, S>(set, Prim::atanh);
  add_function<MathLgamma, S>(set, Prim::lgamma);
  add_function<MathDigamma, S>(set, Prim::digamma);
  add_function<MathErfinv, S>(set, Prim::erfinv);
  add_function2<MathPow, S>(set, Prim::pow);
  add_function2<MathAtan2, S>(set, Prim::atan2);
}

inline void add_math(SimdLoops& set) {
  add_math_on<F32>(set);
  add_math_on<F64>(set);
}

}  // namespace
}  // namespace lathe
