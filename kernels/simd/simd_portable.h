// F32 and F64 of core/scalar/math.h as vectors of 16 bytes in the compiler's own notation, which
// every processor we know has in some form (SSE2, NEON): what runs where no instruction set of ours
// does, and the proof that none of them changes a bit. Included only by the *_portable.cpp files.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "core/scalar/scalar.h"
#include "kernels/simd/portable_fma.h"

#define LATHE_SIMD [[gnu::always_inline]] inline

namespace lathe {

uint16_t f32_to_f16(float x);
float f16_to_f32(uint16_t x);

namespace {

template <class T>
struct Vector {
  using Scalar = T;
  using Word = scalar::WordOf<T>;
  using Values = typename Vectors<T>::Values;
  using Words = typename Vectors<T>::Words;
  using Ints = typename Vectors<T>::Ints;
  static constexpr size_t lanes = 16 / sizeof(T);

  struct Mask {
    static constexpr size_t lanes = Vector::lanes;
    Ints m;
    LATHE_SIMD friend Mask operator&(Mask a, Mask b) { return {a.m & b.m}; }
    LATHE_SIMD friend Mask operator|(Mask a, Mask b) { return {a.m | b.m}; }
    LATHE_SIMD friend Mask operator^(Mask a, Mask b) { return {a.m ^ b.m}; }
    LATHE_SIMD friend Mask operator~(Mask a) { return {~a.m}; }
  };
  struct Bits {
    Words v;
    Bits() = default;
    LATHE_SIMD explicit Bits(Word w) : v(Words{} + w) {}
    LATHE_SIMD explicit Bits(Words x) : v(x) {}
    LATHE_SIMD friend Bits operator+(Bits a, Bits b) { return Bits(a.v + b.v); }
    LATHE_SIMD friend Bits operator-(Bits a, Bits b) { return Bits(a.v - b.v); }
    LATHE_SIMD friend Bits operator&(Bits a, Bits b) { return Bits(a.v & b.v); }
    LATHE_SIMD friend Bits operator|(Bits a, Bits b) { return Bits(a.v | b.v); }
    LATHE_SIMD friend Bits operator^(Bits a, Bits b) { return Bits(a.v ^ b.v); }
  };

  Values v;
  Vector() = default;
  LATHE_SIMD explicit Vector(T x) : v(frombits(Bits(std::bit_cast<Word>(x))).v) {}
  LATHE_SIMD explicit Vector(Values x) : v(x) {}

  LATHE_SIMD friend Vector operator+(Vector a, Vector b) { return Vector(a.v + b.v); }
  LATHE_SIMD friend Vector operator-(Vector a, Vector b) { return Vector(a.v - b.v); }
  LATHE_SIMD friend Vector operator*(Vector a, Vector b) { return Vector(a.v * b.v); }
  LATHE_SIMD friend Vector operator/(Vector a, Vector b) { return Vector(a.v / b.v); }
  LATHE_SIMD friend Vector operator-(Vector a) { return frombits(bits(a) ^ Bits(kTop)); }

  LATHE_SIMD static Vector fma(Vector a, Vector b, Vector c) {
    return Vector(portable_fma(a.v, b.v, c.v));
  }
  LATHE_SIMD static Vector sqrt(Vector a) {
    Values r;
    for (size_t i = 0; i < lanes; ++i) r[i] = scalar::sqrt(a.v[i]);
    return Vector(r);
  }
  LATHE_SIMD static Vector abs(Vector a) { return frombits(bits(a) & Bits(Word(~kTop))); }
  // As in core/scalar/scalar.h.
  LATHE_SIMD static Vector rint(Vector x) {
    Vector a = abs(x), whole(scalar::whole<T>);
    return select(lt(a, whole), signed_as((a + whole) - whole, x), x);
  }
  LATHE_SIMD static Vector floor(Vector x) {
    Vector r = rint(x);
    return select(lt(x, r), r - Vector(T(1)), r);
  }
  LATHE_SIMD static Vector ceil(Vector x) { return -floor(-x); }
  LATHE_SIMD static Vector trunc(Vector x) {
    Vector a = abs(x), whole(scalar::whole<T>), r = (a + whole) - whole;
    r = select(lt(a, r), r - Vector(T(1)), r);
    return select(lt(a, whole), signed_as(r, x), x);
  }
  LATHE_SIMD static Vector pmin(Vector a, Vector b) { return Vector(a.v < b.v ? a.v : b.v); }
  LATHE_SIMD static Vector pmax(Vector a, Vector b) { return Vector(a.v > b.v ? a.v : b.v); }

  LATHE_SIMD static Mask lt(Vector a, Vector b) { return {a.v < b.v}; }
  LATHE_SIMD static Mask le(Vector a, Vector b) { return {a.v <= b.v}; }
  LATHE_SIMD static Mask eq(Vector a, Vector b) { return {a.v == b.v}; }
  LATHE_SIMD static Mask ne(Vector a, Vector b) { return {a.v != b.v}; }
  LATHE_SIMD static Mask unordered(Vector a, Vector b) { return ne(a, a) | ne(b, b); }
  LATHE_SIMD static bool any(Mask m) {
    auto half = (Vectors<double>::Words)m.m;
    return (half[0] | half[1]) != 0;
  }
  /// Bit l: lane l.
  LATHE_SIMD static unsigned lanes_of(Mask m) {
    const auto on = (Words)m.m;
    unsigned lanes = 0;
    for (size_t l = 0; l < sizeof(on) / sizeof(on[0]); ++l)
      lanes |= static_cast<unsigned>(on[l] & 1) << l;
    return lanes;
  }
  LATHE_SIMD static Mask bits_lt(Bits a, Bits b) { return {(Ints)a.v < (Ints)b.v}; }
  LATHE_SIMD static Mask bits_eq(Bits a, Bits b) { return {a.v == b.v}; }
  LATHE_SIMD static Bits select(Mask m, Bits yes, Bits no) {
    auto on = (Words)m.m;
    return Bits((yes.v & on) | (no.v & ~on));
  }
  LATHE_SIMD static Vector select(Mask m, Vector yes, Vector no) {
    return frombits(select(m, bits(yes), bits(no)));
  }

  LATHE_SIMD static Bits shl(Bits a, int n) { return Bits(a.v << n); }
  LATHE_SIMD static Bits shr(Bits a, int n) { return Bits(a.v >> n); }
  LATHE_SIMD static Bits bits(Vector a) { return Bits((Words)a.v); }
  LATHE_SIMD static Vector frombits(Bits a) { return Vector((Values)a.v); }

  LATHE_SIMD static Vector round_magic(Vector x, Vector c) {
    Vector m(scalar::magic<T>);
    return fma(x, c, m) - m;
  }
  LATHE_SIMD static Vector addexp(Vector x, Vector n) {
    return frombits(bits(x) + shl(bits(n + Vector(scalar::magic<T>)), sizeof(T) == 4 ? 23 : 52));
  }
  LATHE_SIMD static Bits to_int(Vector n) {
    Vector m(scalar::magic<T>);
    return bits(n + m) - bits(m);
  }
  LATHE_SIMD static Vector from_int(Bits n) {
    Vector m(scalar::magic<T>);
    return frombits(n + bits(m)) - m;
  }
  template <class Slow>
  LATHE_SIMD static Vector rare(Mask m, Vector fast, Slow slow) {
    if (any(m)) [[unlikely]]
      return select(m, slow(), fast);
    return fast;
  }

 private:
  static constexpr Word kTop = Word{1} << (8 * sizeof(T) - 1);

  LATHE_SIMD static Vector signed_as(Vector magnitude, Vector x) {
    return frombits(bits(magnitude) | (bits(x) & Bits(kTop)));
  }
};

using F32 = Vector<float>;
using F64 = Vector<double>;
template <class S>
inline constexpr size_t width = S::lanes;

// ── memory ──────────────────────────────────────────────────────────────────────────────────────
template <class T>
LATHE_SIMD Vector<T> load(const T* p) {
  Vector<T> x;
  __builtin_memcpy(&x.v, p, sizeof x.v);
  return x;
}
template <class T>
LATHE_SIMD void store(T* p, Vector<T> x) {
  __builtin_memcpy(p, &x.v, sizeof x.v);
}

/// No instruction for it that every machine has.
template <class T>
LATHE_SIMD void stream(T* p, Vector<T> x) {
  store(p, x);
}
LATHE_SIMD void end_of_stream() {}

/// The first n lanes, n < width; the others read as 0 and are not written.
template <class T>
LATHE_SIMD Vector<T> load_some(const T* p, size_t n) {
  Vector<T> x(T(0));
  for (size_t i = 0; i < Vector<T>::lanes; ++i)
    if (i < n) x.v[i] = p[i];
  return x;
}
template <class T>
LATHE_SIMD void store_some(T* p, Vector<T> x, size_t n) {
  for (size_t i = 0; i < Vector<T>::lanes; ++i)
    if (i < n) p[i] = x.v[i];
}

/// Masks as bool bytes.
template <class Mask>
LATHE_SIMD void load_mask(const uint8_t* p, Mask& m) {
  for (size_t i = 0; i < Mask::lanes; ++i) m.m[i] = p[i] != 0 ? -1 : 0;
}
template <class Mask>
LATHE_SIMD void store_mask(uint8_t* p, Mask m) {
  for (size_t i = 0; i < Mask::lanes; ++i) p[i] = m.m[i] & 1;
}

/// Lane l takes lane l + K; what the last K lanes take does not count.
template <size_t K, class T>
LATHE_SIMD Vector<T> lanes_down(Vector<T> x) {
  static_assert(K == 1 || (K == 2 && sizeof(T) == 4));
  if constexpr (sizeof(T) == 8)
    return Vector<T>(__builtin_shufflevector(x.v, x.v, 1, 1));
  else if constexpr (K == 2)
    return Vector<T>(__builtin_shufflevector(x.v, x.v, 2, 3, 2, 3));
  else
    return Vector<T>(__builtin_shufflevector(x.v, x.v, 1, 1, 3, 3));
}
template <class T>
LATHE_SIMD T first(Vector<T> x) {
  return x.v[0];
}

/// 32-bit words for philox (core/scalar/philox.h): mulhi is the upper half of the product.
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

// ── half types ──────────────────────────────────────────────────────────────────────────────────
LATHE_SIMD F32 load_f16(const uint16_t* p) {
  F32 x;
  for (size_t i = 0; i < F32::lanes; ++i) x.v[i] = f16_to_f32(p[i]);
  return x;
}
LATHE_SIMD void store_f16(uint16_t* p, F32 x) {
  for (size_t i = 0; i < F32::lanes; ++i) p[i] = f32_to_f16(x.v[i]);
}
/// bfloat16 lies in the upper half of a float's word.
LATHE_SIMD F32 load_bf16(const uint16_t* p) {
  F32::Bits w;
  for (size_t i = 0; i < F32::lanes; ++i) w.v[i] = p[i];
  return F32::frombits(F32::shl(w, 16));
}
LATHE_SIMD void store_low_halves(uint16_t* p, F32::Bits w) {
  for (size_t i = 0; i < F32::lanes; ++i) p[i] = static_cast<uint16_t>(w.v[i]);
}

}  // namespace
}  // namespace lathe
