// F32 and F64 of core/math.h as single lanes: what runs where no instruction set of ours does, and
// the proof that none of them changes a bit. Included only by the *_portable.cpp files.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/lane.h"

#define LATHE_SIMD [[gnu::always_inline]] inline

namespace lathe {

uint16_t f32_to_f16(float x);
float f16_to_f32(uint16_t x);

namespace {

using F32 = Lane<float>;
using F64 = Lane<double>;
template <class S>
inline constexpr size_t width = 1;

template <class T>
LATHE_SIMD Lane<T> load(const T* p) {
  return Lane<T>(*p);
}
template <class T>
LATHE_SIMD void store(T* p, Lane<T> x) {
  *p = x.value();
}

/// No instruction for it that every machine has.
template <class T>
LATHE_SIMD void stream(T* p, Lane<T> x) {
  *p = x.value();
}
LATHE_SIMD void end_of_stream() {}

/// Fewer lanes than one are none: never called.
template <class T>
LATHE_SIMD Lane<T> load_some(const T* p, size_t) {
  return Lane<T>(*p);
}
template <class T>
LATHE_SIMD void store_some(T*, Lane<T>, size_t) {}

/// Masks as bool bytes.
template <class Mask>
LATHE_SIMD void load_mask(const uint8_t* p, Mask& m) {
  m.on = *p != 0;
}
template <class Mask>
LATHE_SIMD void store_mask(uint8_t* p, Mask m) {
  *p = m.on ? 1 : 0;
}

/// With one lane there is none to take from.
template <size_t K, class T>
LATHE_SIMD Lane<T> lanes_down(Lane<T> x) {
  return x;
}
template <class T>
LATHE_SIMD T first(Lane<T> x) {
  return x.value();
}

/// 32-bit words for philox (core/philox.h): mulhi is the upper half of the product.
struct Words {
  static constexpr size_t width = 1;
  uint32_t v;
  Words() = default;
  LATHE_SIMD explicit Words(uint32_t w) : v(w) {}
  LATHE_SIMD static Words load(const uint32_t* p) { return Words(*p); }
  LATHE_SIMD void store(uint32_t* p) const { *p = v; }
  LATHE_SIMD friend Words operator+(Words a, Words b) { return Words(a.v + b.v); }
  LATHE_SIMD friend Words operator*(Words a, Words b) { return Words(a.v * b.v); }
  LATHE_SIMD friend Words operator^(Words a, Words b) { return Words(a.v ^ b.v); }
  LATHE_SIMD friend Words mulhi(Words a, Words b) { return Words(scalar::mulhi(a.v, b.v)); }
};

LATHE_SIMD F32 load_f16(const uint16_t* p) { return F32(f16_to_f32(*p)); }
LATHE_SIMD void store_f16(uint16_t* p, F32 x) { *p = f32_to_f16(x.value()); }
/// bfloat16 lies in the upper half of a float's word.
LATHE_SIMD F32 load_bf16(const uint16_t* p) {
  return F32::frombits(F32::shl(F32::Bits(uint32_t{*p}), 16));
}
LATHE_SIMD void store_low_halves(uint16_t* p, F32::Bits w) { *p = static_cast<uint16_t>(w.w); }

}  // namespace
}  // namespace lathe
