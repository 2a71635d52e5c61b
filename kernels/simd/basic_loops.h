// Strips of the primitives that are an instruction or a few: arithmetic, comparison, logic,
// selection, bits.
#pragma once

#include "core/scalar/math/remainder.h"
#include "kernels/simd/loops.h"

namespace lathe {
namespace {

// On vectors of floats.
// clang-format off
struct VAdd { template <class S> LATHE_SIMD static S call(S a, S b) { return a + b; } };
struct VSub { template <class S> LATHE_SIMD static S call(S a, S b) { return a - b; } };
struct VMul { template <class S> LATHE_SIMD static S call(S a, S b) { return a * b; } };
struct VDiv { template <class S> LATHE_SIMD static S call(S a, S b) { return a / b; } };
struct VMin { template <class S> LATHE_SIMD static S call(S a, S b) { return S::pmin(a, b); } };
struct VMax { template <class S> LATHE_SIMD static S call(S a, S b) { return S::pmax(a, b); } };
struct VFma { template <class S> LATHE_SIMD static S call(S a, S b, S c) { return S::fma(a, b, c); } };
struct VNeg { template <class S> LATHE_SIMD static S call(S a) { return -a; } };
struct VAbs { template <class S> LATHE_SIMD static S call(S a) { return S::abs(a); } };
struct VSqrt { template <class S> LATHE_SIMD static S call(S a) { return S::sqrt(a); } };
struct VFloor { template <class S> LATHE_SIMD static S call(S a) { return S::floor(a); } };
struct VCeil { template <class S> LATHE_SIMD static S call(S a) { return S::ceil(a); } };
struct VTrunc { template <class S> LATHE_SIMD static S call(S a) { return S::trunc(a); } };
struct VRint { template <class S> LATHE_SIMD static S call(S a) { return S::rint(a); } };
struct VRoundMagic {
  template <class S> LATHE_SIMD static S call(S x, S c) { return S::round_magic(x, c); }
};
struct VAddExp { template <class S> LATHE_SIMD static S call(S x, S n) { return S::addexp(x, n); } };
struct VFmod {
  template <class S> LATHE_SIMD static S call(S x, S y) {
    return math::fmod(x, y, [&]() __attribute__((always_inline)) { return lane_by_lane(x, y); });
  }
  template <class S> [[gnu::noinline]] static S lane_by_lane(S x, S y) {
    alignas(64) typename S::Scalar a[width<S>], b[width<S>];
    store(a, x);
    store(b, y);
    for (size_t i = 0; i < width<S>; ++i) a[i] = scalar::fmod(a[i], b[i]);
    return load(a);
  }
};
struct VLt { template <class S> LATHE_SIMD static auto call(S a, S b) { return S::lt(a, b); } };
struct VLe { template <class S> LATHE_SIMD static auto call(S a, S b) { return S::le(a, b); } };
struct VEq { template <class S> LATHE_SIMD static auto call(S a, S b) { return S::eq(a, b); } };
struct VNe { template <class S> LATHE_SIMD static auto call(S a, S b) { return S::ne(a, b); } };

// On single elements, as core/scalar/scalar.h defines them.
struct Add { template <class T> LATHE_SIMD static T call(T a, T b) { return scalar::add(a, b); } };
struct Sub { template <class T> LATHE_SIMD static T call(T a, T b) { return scalar::sub(a, b); } };
struct Mul { template <class T> LATHE_SIMD static T call(T a, T b) { return scalar::mul(a, b); } };
struct Fma {
  template <class T> LATHE_SIMD static T call(T a, T b, T c) { return scalar::fma(a, b, c); }
};
struct Neg { template <class T> LATHE_SIMD static T call(T a) { return scalar::neg(a); } };
struct Abs { template <class T> LATHE_SIMD static T call(T a) { return scalar::abs(a); } };
struct Min { template <class T> LATHE_SIMD static T call(T a, T b) { return scalar::pmin(a, b); } };
struct Max { template <class T> LATHE_SIMD static T call(T a, T b) { return scalar::pmax(a, b); } };
struct MulHi { template <class T> LATHE_SIMD static T call(T a, T b) { return scalar::mulhi(a, b); } };
struct FloorDiv {
  template <class T> LATHE_SIMD static T call(T a, T b) { return scalar::floor_div(a, b); }
};
struct Mod { template <class T> LATHE_SIMD static T call(T a, T b) { return scalar::mod(a, b); } };
struct Lt { template <class T> LATHE_SIMD static bool call(T a, T b) { return a < b; } };
struct Le { template <class T> LATHE_SIMD static bool call(T a, T b) { return a <= b; } };
struct Eq { template <class T> LATHE_SIMD static bool call(T a, T b) { return a == b; } };
struct Ne { template <class T> LATHE_SIMD static bool call(T a, T b) { return a != b; } };
struct And { template <class T> LATHE_SIMD static T call(T a, T b) { return static_cast<T>(a & b); } };
struct Or { template <class T> LATHE_SIMD static T call(T a, T b) { return static_cast<T>(a | b); } };
struct Xor { template <class T> LATHE_SIMD static T call(T a, T b) { return static_cast<T>(a ^ b); } };
struct Not { template <class T> LATHE_SIMD static T call(T a) { return static_cast<T>(~a); } };
struct Flip { template <class T> LATHE_SIMD static T call(T a) { return static_cast<T>(a ^ 1); } };
struct Shl { template <class T> LATHE_SIMD static T call(T a, T b) { return scalar::shl(a, b); } };
struct Shr { template <class T> LATHE_SIMD static T call(T a, T b) { return scalar::shr(a, b); } };
struct Same { template <class T> LATHE_SIMD static T call(T a) { return a; } };
struct Bits { template <class T> LATHE_SIMD static auto call(T a) { return scalar::bits(a); } };
// clang-format on

template <class F, class S, int Arity, unsigned Splat>
void add_short(SimdLoops& set, Prim prim) {
  constexpr DType d = sizeof(typename S::Scalar) == 4 ? DType::f32 : DType::f64;
  slot(set, prim, d, Splat) = short_strip<F, S, Arity, Splat>;
  set.streamed[Splat][static_cast<int>(prim)][static_cast<int>(d)] =
      short_strip<F, S, Arity, Splat, true>;
}
template <class F, class S, int Arity>
void add_vector(SimdLoops& set, Prim prim) {
  add_short<F, S, Arity, 0>(set, prim);
  if constexpr (Arity > 1) {
    add_short<F, S, Arity, 1>(set, prim);
    add_short<F, S, Arity, 2>(set, prim);
  }
  if constexpr (Arity > 2) {
    add_short<F, S, Arity, 3>(set, prim);
    add_short<F, S, Arity, 4>(set, prim);
    add_short<F, S, Arity, 5>(set, prim);
    add_short<F, S, Arity, 6>(set, prim);
  }
}
template <class F, class S, unsigned Splat = 0>
void add_choices(SimdLoops& set, Prim prim) {
  if constexpr ((Splat & 3) != 3)
    set.choose[relation_of(prim)][sizeof(typename S::Scalar) == 8][Splat] =
        choice_strip<F, S, Splat>;
  if constexpr (Splat < 15) add_choices<F, S, Splat + 1>(set, prim);
}
template <class F, class S>
void add_compare(SimdLoops& set, Prim prim) {
  add_choices<F, S>(set, prim);
  constexpr DType d = sizeof(typename S::Scalar) == 4 ? DType::f32 : DType::f64;
  slot(set, prim, d) = compare_strip<F, S, 0>;
  slot(set, prim, d, 1) = compare_strip<F, S, 1>;
  slot(set, prim, d, 2) = compare_strip<F, S, 2>;
}

template <class S>
void add_floats(SimdLoops& set) {
  using T = typename S::Scalar;
  constexpr DType d = sizeof(T) == 4 ? DType::f32 : DType::f64;
  add_vector<VAdd, S, 2>(set, Prim::add);
  add_vector<VSub, S, 2>(set, Prim::sub);
  add_vector<VMul, S, 2>(set, Prim::mul);
  add_vector<VDiv, S, 2>(set, Prim::div);
  add_vector<VMin, S, 2>(set, Prim::pmin);
  add_vector<VMax, S, 2>(set, Prim::pmax);
  add_vector<VFma, S, 3>(set, Prim::fma);
  add_vector<VNeg, S, 1>(set, Prim::neg);
  add_vector<VAbs, S, 1>(set, Prim::abs);
  add_vector<VSqrt, S, 1>(set, Prim::sqrt);
  add_vector<VFloor, S, 1>(set, Prim::floor);
  add_vector<VCeil, S, 1>(set, Prim::ceil);
  add_vector<VTrunc, S, 1>(set, Prim::trunc);
  add_vector<VRint, S, 1>(set, Prim::rint);
  add_vector<VRoundMagic, S, 2>(set, Prim::round_magic);
  add_vector<VAddExp, S, 2>(set, Prim::addexp);
  add_compare<VLt, S>(set, Prim::lt);
  add_compare<VLe, S>(set, Prim::le);
  add_compare<VEq, S>(set, Prim::eq);
  add_compare<VNe, S>(set, Prim::ne);
  add_vector<VFmod, S, 2>(set, Prim::fmod);
  slot(set, Prim::bits, d) = plain_strip<Bits, scalar::WordOf<T>, T, 1, 0>;
  slot(set, Prim::frombits, d) = plain_strip<Same, scalar::WordOf<T>, scalar::WordOf<T>, 1, 0>;
  slot(set, Prim::select, d) = select_strip<S, 0>;
  slot(set, Prim::select, d, 2) = select_strip<S, 2>;
  slot(set, Prim::select, d, 4) = select_strip<S, 4>;
  slot(set, Prim::select, d, 6) = select_strip<S, 6>;
}

template <class F, class R, DType D, int Arity>
void add_plain(SimdLoops& set, Prim prim) {
  using T = Element<D>;
  slot(set, prim, D) = plain_strip<F, R, T, Arity, 0>;
  if constexpr (Arity == 2) {
    slot(set, prim, D, 1) = plain_strip<F, R, T, Arity, 1>;
    slot(set, prim, D, 2) = plain_strip<F, R, T, Arity, 2>;
  }
}

template <DType D>
void add_choice(SimdLoops& set) {
  using T = scalar::WordOf<Element<D>>;
  slot(set, Prim::select, D) = choose_strip<T, 0>;
  slot(set, Prim::select, D, 2) = choose_strip<T, 2>;
  slot(set, Prim::select, D, 4) = choose_strip<T, 4>;
  slot(set, Prim::select, D, 6) = choose_strip<T, 6>;
}

template <DType D>
void add_logic(SimdLoops& set) {
  using T = Element<D>;
  add_plain<Lt, uint8_t, D, 2>(set, Prim::lt);
  add_plain<Le, uint8_t, D, 2>(set, Prim::le);
  add_plain<Eq, uint8_t, D, 2>(set, Prim::eq);
  add_plain<Ne, uint8_t, D, 2>(set, Prim::ne);
  add_plain<And, T, D, 2>(set, Prim::bit_and);
  add_plain<Or, T, D, 2>(set, Prim::bit_or);
  add_plain<Xor, T, D, 2>(set, Prim::bit_xor);
  add_choice<D>(set);
}

template <DType D>
void add_integers(SimdLoops& set) {
  using T = Element<D>;
  add_logic<D>(set);
  add_plain<Add, T, D, 2>(set, Prim::add);
  add_plain<Sub, T, D, 2>(set, Prim::sub);
  add_plain<Mul, T, D, 2>(set, Prim::mul);
  add_plain<Min, T, D, 2>(set, Prim::pmin);
  add_plain<Max, T, D, 2>(set, Prim::pmax);
  add_plain<Shl, T, D, 2>(set, Prim::shl);
  add_plain<Shr, T, D, 2>(set, Prim::shr);
  add_plain<Fma, T, D, 3>(set, Prim::fma);
  add_plain<Neg, T, D, 1>(set, Prim::neg);
  add_plain<Abs, T, D, 1>(set, Prim::abs);
  add_plain<Not, T, D, 1>(set, Prim::bit_not);
  for (Prim prim : {Prim::floor, Prim::ceil, Prim::trunc, Prim::rint})
    slot(set, prim, D) = plain_strip<Same, T, T, 1, 0>;
  slot(set, Prim::floor_div, D) = plain_strip<FloorDiv, T, T, 2, 0, 1>;
  slot(set, Prim::mod, D) = plain_strip<Mod, T, T, 2, 0, 1>;
}

inline void add_basic(SimdLoops& set) {
  add_floats<F32>(set);
  add_floats<F64>(set);
  add_integers<DType::u8>(set);
  add_integers<DType::i8>(set);
  add_integers<DType::i16>(set);
  add_integers<DType::i32>(set);
  add_integers<DType::i64>(set);
  add_integers<DType::u16>(set);
  add_integers<DType::u32>(set);
  add_integers<DType::u64>(set);
  add_logic<DType::bool_>(set);
  add_plain<Flip, uint8_t, DType::bool_, 1>(set, Prim::bit_not);
  add_plain<MulHi, uint32_t, DType::u32, 2>(set, Prim::mulhi);
  add_choice<DType::f16>(set);
  add_choice<DType::bf16>(set);
}

}  // namespace
}  // namespace lathe
