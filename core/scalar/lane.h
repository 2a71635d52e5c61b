// Lane<T>: the S of core/scalar/math.h with one lane, in plain C++. It is what the scalar reference
// engine folds constants with, so every other engine is tested against it.
//
// Nothing of the C library but fma, and that only where the compiler has no instruction for it;
// floor, rint and trunc are arithmetic. All functions are always_inline: this header is compiled
// into files with different instruction sets, and a function that the linker could merge across
// them might run where it must not.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "core/scalar/scalar.h"

namespace lathe {

template <class T>
class Lane {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>);

 public:
  using Scalar = T;
  using Word = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  using Signed = std::make_signed_t<Word>;

  struct Mask {
    bool on;
    [[gnu::always_inline]] friend Mask operator&(Mask a, Mask b) { return {a.on && b.on}; }
    [[gnu::always_inline]] friend Mask operator|(Mask a, Mask b) { return {a.on || b.on}; }
    [[gnu::always_inline]] friend Mask operator^(Mask a, Mask b) { return {a.on != b.on}; }
    [[gnu::always_inline]] friend Mask operator~(Mask a) { return {!a.on}; }
  };

  struct Bits {
    Word w;
    Bits() = default;
    [[gnu::always_inline]] explicit Bits(Word word) : w(word) {}
    [[gnu::always_inline]] friend Bits operator+(Bits a, Bits b) { return Bits(a.w + b.w); }
    [[gnu::always_inline]] friend Bits operator-(Bits a, Bits b) { return Bits(a.w - b.w); }
    [[gnu::always_inline]] friend Bits operator&(Bits a, Bits b) { return Bits(a.w & b.w); }
    [[gnu::always_inline]] friend Bits operator|(Bits a, Bits b) { return Bits(a.w | b.w); }
    [[gnu::always_inline]] friend Bits operator^(Bits a, Bits b) { return Bits(a.w ^ b.w); }
    [[gnu::always_inline]] friend Bits operator~(Bits a) { return Bits(static_cast<Word>(~a.w)); }
  };

  Lane() = default;
  [[gnu::always_inline]] explicit Lane(T value) : v(value) {}
  [[gnu::always_inline]] T value() const { return v; }

  [[gnu::always_inline]] friend Lane operator+(Lane a, Lane b) { return Lane(a.v + b.v); }
  [[gnu::always_inline]] friend Lane operator-(Lane a, Lane b) { return Lane(a.v - b.v); }
  [[gnu::always_inline]] friend Lane operator*(Lane a, Lane b) { return Lane(a.v * b.v); }
  [[gnu::always_inline]] friend Lane operator/(Lane a, Lane b) { return Lane(a.v / b.v); }
  [[gnu::always_inline]] friend Lane operator-(Lane a) { return Lane(-a.v); }

  [[gnu::always_inline]] static Lane fma(Lane a, Lane b, Lane c) {
    return Lane(scalar::fma(a.v, b.v, c.v));
  }
  [[gnu::always_inline]] static Lane sqrt(Lane a) { return Lane(scalar::sqrt(a.v)); }
  [[gnu::always_inline]] static Lane abs(Lane a) { return Lane(scalar::abs(a.v)); }
  [[gnu::always_inline]] static Lane floor(Lane a) { return Lane(scalar::floor(a.v)); }
  [[gnu::always_inline]] static Lane ceil(Lane a) { return Lane(scalar::ceil(a.v)); }
  [[gnu::always_inline]] static Lane rint(Lane a) { return Lane(scalar::rint(a.v)); }
  [[gnu::always_inline]] static Lane trunc(Lane a) { return Lane(scalar::trunc(a.v)); }
  [[gnu::always_inline]] static Lane pmin(Lane a, Lane b) { return a.v < b.v ? a : b; }
  [[gnu::always_inline]] static Lane pmax(Lane a, Lane b) { return a.v > b.v ? a : b; }

  [[gnu::always_inline]] static Mask lt(Lane a, Lane b) { return {a.v < b.v}; }
  [[gnu::always_inline]] static Mask le(Lane a, Lane b) { return {a.v <= b.v}; }
  [[gnu::always_inline]] static Mask eq(Lane a, Lane b) { return {a.v == b.v}; }
  [[gnu::always_inline]] static Mask ne(Lane a, Lane b) { return {a.v != b.v}; }
  [[gnu::always_inline]] static Mask unordered(Lane a, Lane b) {
    return {a.v != a.v || b.v != b.v};
  }
  [[gnu::always_inline]] static bool any(Mask m) { return m.on; }
  [[gnu::always_inline]] static Mask bits_lt(Bits a, Bits b) {
    return {static_cast<Signed>(a.w) < static_cast<Signed>(b.w)};
  }
  [[gnu::always_inline]] static Mask bits_eq(Bits a, Bits b) { return {a.w == b.w}; }
  [[gnu::always_inline]] static Lane select(Mask m, Lane yes, Lane no) { return m.on ? yes : no; }
  [[gnu::always_inline]] static Bits select(Mask m, Bits yes, Bits no) { return m.on ? yes : no; }

  [[gnu::always_inline]] static Bits shl(Bits a, int n) { return Bits(a.w << n); }
  [[gnu::always_inline]] static Bits shr(Bits a, int n) { return Bits(a.w >> n); }
  [[gnu::always_inline]] static Bits bits(Lane a) { return Bits(std::bit_cast<Word>(a.v)); }
  [[gnu::always_inline]] static Lane frombits(Bits a) { return Lane(std::bit_cast<T>(a.w)); }

  [[gnu::always_inline]] static Lane round_magic(Lane x, Lane c) {
    return Lane(scalar::round_magic(x.v, c.v));
  }
  [[gnu::always_inline]] static Lane addexp(Lane x, Lane n) {
    return Lane(scalar::addexp(x.v, n.v));
  }
  [[gnu::always_inline]] static Bits to_int(Lane n) {
    return bits(n + Lane(scalar::magic<T>)) - bits(Lane(scalar::magic<T>));
  }
  [[gnu::always_inline]] static Lane from_int(Bits n) {
    return frombits(n + bits(Lane(scalar::magic<T>))) - Lane(scalar::magic<T>);
  }

  template <class Slow>
  [[gnu::always_inline]] static Lane rare(Mask m, Lane fast, Slow slow) {
    return m.on ? slow() : fast;
  }

 private:
  T v;
};

}  // namespace lathe
