// F32 and F64 of core/scalar/math.h as vectors of an x86 instruction set: the text that the sets
// share. Instructions<T>, which simd_avx2.h and simd_avx512.h specialise, says which instruction
// does what. Included only by those two.
//
// Everything is in an unnamed namespace and always_inline: no symbol made with these instructions
// may be one that the linker could pick for code that must run elsewhere.
#pragma once

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // g++ 12's own header
#pragma GCC diagnostic ignored "-Wuninitialized"
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#define LATHE_SIMD [[gnu::always_inline]] inline

namespace lathe {
namespace {

/// Of floats and doubles: the types Word, Values, Ints and Mask, how many lanes they have, and a
/// function an instruction. Of uint32_t: what Words needs.
template <class T>
struct Instructions;

/// Added to a number of small magnitude it leaves the nearest integer in the low bits.
template <class T>
inline constexpr T kRounder = sizeof(T) == 4 ? T(12582912) : T(6755399441055744);
template <class T>
inline constexpr int kMantissaBits = sizeof(T) == 4 ? 23 : 52;

template <class T>
struct Vector {
  using I = Instructions<T>;
  using Scalar = T;
  using Word = typename I::Word;
  using Values = typename I::Values;
  using Ints = typename I::Ints;
  static constexpr size_t lanes = I::lanes;

  struct Mask {
    using Of = I;
    typename I::Mask m;
    LATHE_SIMD friend Mask operator&(Mask a, Mask b) { return {I::mask_and(a.m, b.m)}; }
    LATHE_SIMD friend Mask operator|(Mask a, Mask b) { return {I::mask_or(a.m, b.m)}; }
    LATHE_SIMD friend Mask operator^(Mask a, Mask b) { return {I::mask_xor(a.m, b.m)}; }
    LATHE_SIMD friend Mask operator~(Mask a) { return {I::mask_not(a.m)}; }
  };
  struct Bits {
    Ints v;
    Bits() = default;
    LATHE_SIMD explicit Bits(Word w) : v(I::all(w)) {}
    LATHE_SIMD explicit Bits(Ints x) : v(x) {}
    LATHE_SIMD friend Bits operator+(Bits a, Bits b) { return Bits(I::add(a.v, b.v)); }
    LATHE_SIMD friend Bits operator-(Bits a, Bits b) { return Bits(I::sub(a.v, b.v)); }
    LATHE_SIMD friend Bits operator&(Bits a, Bits b) { return Bits(a.v & b.v); }
    LATHE_SIMD friend Bits operator|(Bits a, Bits b) { return Bits(a.v | b.v); }
    LATHE_SIMD friend Bits operator^(Bits a, Bits b) { return Bits(a.v ^ b.v); }
  };

  Values v;
  Vector() = default;
  LATHE_SIMD explicit Vector(T x) : v(I::all(x)) {}
  LATHE_SIMD explicit Vector(Values x) : v(x) {}

  LATHE_SIMD friend Vector operator+(Vector a, Vector b) { return Vector(a.v + b.v); }
  LATHE_SIMD friend Vector operator-(Vector a, Vector b) { return Vector(a.v - b.v); }
  LATHE_SIMD friend Vector operator*(Vector a, Vector b) { return Vector(a.v * b.v); }
  LATHE_SIMD friend Vector operator/(Vector a, Vector b) { return Vector(a.v / b.v); }
  LATHE_SIMD friend Vector operator-(Vector a) {
    return Vector(-a.v);
  }  // may become part of an fma

  LATHE_SIMD static Vector fma(Vector a, Vector b, Vector c) {
    return Vector(I::fma(a.v, b.v, c.v));
  }
  LATHE_SIMD static Vector sqrt(Vector a) { return Vector(I::sqrt(a.v)); }
  LATHE_SIMD static Vector abs(Vector a) { return Vector(I::clear(a.v, I::all(-T{0}))); }
  LATHE_SIMD static Vector rint(Vector a) { return Vector(I::template round<0x08>(a.v)); }
  LATHE_SIMD static Vector floor(Vector a) { return Vector(I::template round<0x09>(a.v)); }
  LATHE_SIMD static Vector ceil(Vector a) { return Vector(I::template round<0x0a>(a.v)); }
  LATHE_SIMD static Vector trunc(Vector a) { return Vector(I::template round<0x0b>(a.v)); }
  LATHE_SIMD static Vector pmin(Vector a, Vector b) { return Vector(I::min(a.v, b.v)); }
  LATHE_SIMD static Vector pmax(Vector a, Vector b) { return Vector(I::max(a.v, b.v)); }

  template <int Relation>
  LATHE_SIMD static Mask compare(Vector a, Vector b) {
    return {I::template compare<Relation>(a.v, b.v)};
  }
  LATHE_SIMD static Mask lt(Vector a, Vector b) { return compare<_CMP_LT_OQ>(a, b); }
  LATHE_SIMD static Mask le(Vector a, Vector b) { return compare<_CMP_LE_OQ>(a, b); }
  LATHE_SIMD static Mask eq(Vector a, Vector b) { return compare<_CMP_EQ_OQ>(a, b); }
  LATHE_SIMD static Mask ne(Vector a, Vector b) { return compare<_CMP_NEQ_UQ>(a, b); }
  LATHE_SIMD static Mask unordered(Vector a, Vector b) { return compare<_CMP_UNORD_Q>(a, b); }
  LATHE_SIMD static bool any(Mask m) { return I::lanes_of(m.m) != 0; }
  /// Bit l: lane l.
  LATHE_SIMD static unsigned lanes_of(Mask m) { return I::lanes_of(m.m); }
  LATHE_SIMD static Mask bits_lt(Bits a, Bits b) { return {I::less(a.v, b.v)}; }
  LATHE_SIMD static Mask bits_eq(Bits a, Bits b) { return {I::equal(a.v, b.v)}; }
  LATHE_SIMD static Vector select(Mask m, Vector yes, Vector no) {
    return Vector(I::choose(m.m, yes.v, no.v));
  }
  LATHE_SIMD static Bits select(Mask m, Bits yes, Bits no) {
    return Bits(I::choose(m.m, yes.v, no.v));
  }

  LATHE_SIMD static Bits shl(Bits a, int n) { return Bits(I::shl(a.v, n)); }
  LATHE_SIMD static Bits shr(Bits a, int n) { return Bits(I::shr(a.v, n)); }
  LATHE_SIMD static Bits bits(Vector a) { return Bits(I::bits(a.v)); }
  LATHE_SIMD static Vector frombits(Bits a) { return Vector(I::values(a.v)); }
  LATHE_SIMD static Vector round_magic(Vector x, Vector c) {
    Vector m(kRounder<T>);
    return fma(x, c, m) - m;
  }
  LATHE_SIMD static Vector addexp(Vector x, Vector n) {
    return frombits(bits(x) + shl(bits(n + Vector(kRounder<T>)), kMantissaBits<T>));
  }
  LATHE_SIMD static Bits to_int(Vector n) { return Bits(I::to_int(n.v)); }
  LATHE_SIMD static Vector from_int(Bits n) { return Vector(I::from_int(n.v)); }
  template <class Slow>
  LATHE_SIMD static Vector rare(Mask m, Vector fast, Slow slow) {
    if (any(m)) [[unlikely]]
      return select(m, slow(), fast);
    return fast;
  }
};
using F32 = Vector<float>;
using F64 = Vector<double>;

template <class S>
inline constexpr size_t width = S::lanes;

template <class T>
LATHE_SIMD Vector<T> load(const T* p) {
  return Vector<T>(Instructions<T>::load(p));
}
template <class T>
LATHE_SIMD void store(T* p, Vector<T> x) {
  Instructions<T>::store(p, x.v);
}
/// Past the caches; p on a boundary of the vector's size.
template <class T>
LATHE_SIMD void stream(T* p, Vector<T> x) {
  Instructions<T>::stream(p, x.v);
}
LATHE_SIMD void end_of_stream() { _mm_sfence(); }

/// The first n lanes, n < width; the others read as 0 and are not written.
template <class T>
LATHE_SIMD Vector<T> load_some(const T* p, size_t n) {
  return Vector<T>(Instructions<T>::load_some(p, n));
}
template <class T>
LATHE_SIMD void store_some(T* p, Vector<T> x, size_t n) {
  Instructions<T>::store_some(p, x.v, n);
}

/// Masks as bool bytes.
template <class Mask>
LATHE_SIMD void load_mask(const uint8_t* p, Mask& m) {
  m = {Mask::Of::load_mask(p)};
}
template <class Mask>
LATHE_SIMD void store_mask(uint8_t* p, Mask m) {
  Mask::Of::store_mask(p, m.m);
}

/// Lane l takes lane l + K; what the last K lanes take does not count.
template <size_t K, class T>
LATHE_SIMD Vector<T> lanes_down(Vector<T> x) {
  return Vector<T>(Instructions<T>::template lanes_down<K>(x.v));
}
template <class T>
LATHE_SIMD T first(Vector<T> x) {
  return Instructions<T>::first(x.v);
}

/// Words for philox (core/scalar/philox.h): mulhi is the upper half of the product.
template <class T>
struct WordVector {
  using I = Instructions<T>;
  static constexpr size_t width = I::lanes;
  typename I::Ints v;
  WordVector() = default;
  LATHE_SIMD explicit WordVector(T w) : v(I::all(w)) {}
  LATHE_SIMD explicit WordVector(typename I::Ints x) : v(x) {}
  LATHE_SIMD static WordVector load(const T* p) { return WordVector(I::load(p)); }
  LATHE_SIMD void store(T* p) const { I::store(p, v); }
  LATHE_SIMD friend WordVector operator+(WordVector a, WordVector b) {
    return WordVector(I::add(a.v, b.v));
  }
  LATHE_SIMD friend WordVector operator*(WordVector a, WordVector b) {
    return WordVector(I::mul(a.v, b.v));
  }
  LATHE_SIMD friend WordVector operator^(WordVector a, WordVector b) {
    return WordVector(a.v ^ b.v);
  }
  LATHE_SIMD friend WordVector mulhi(WordVector a, WordVector b) {
    return WordVector(I::mulhi(a.v, b.v));
  }
};
using Words = WordVector<uint32_t>;

}  // namespace
}  // namespace lathe
