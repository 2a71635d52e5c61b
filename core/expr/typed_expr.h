// TypedExpr<T>: an Expr that behaves as the "float value" S of core/scalar/math.h, so that
// `math::exp(TypedExpr<float>(x))` builds the nodes of exp into the current graph. What `lower` is
// made of.
#pragma once

#include <bit>
#include <type_traits>

#include "core/expr/expr.h"
#include "core/scalar/scalar.h"

namespace lathe {

template <class T>
class TypedExpr {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>);
  static constexpr bool kWide = std::is_same_v<T, double>;

 public:
  using Scalar = T;
  using Word = std::conditional_t<kWide, uint64_t, uint32_t>;
  static constexpr DType kFloat = kWide ? DType::f64 : DType::f32;
  static constexpr DType kWord = kWide ? DType::u64 : DType::u32;
  static constexpr DType kSigned = kWide ? DType::i64 : DType::i32;

  struct Mask {
    Expr e;
    friend Mask operator&(Mask a, Mask b) { return {a.e & b.e}; }
    friend Mask operator|(Mask a, Mask b) { return {a.e | b.e}; }
    friend Mask operator^(Mask a, Mask b) { return {a.e ^ b.e}; }
    friend Mask operator~(Mask a) { return {~a.e}; }
  };

  struct Bits {
    Expr e;
    Bits() = default;
    explicit Bits(Expr node) : e(node) {}
    explicit Bits(Word word) : e(constant_bits(kWord, word)) {}
    friend Bits operator+(Bits a, Bits b) { return Bits(a.e + b.e); }
    friend Bits operator-(Bits a, Bits b) { return Bits(a.e - b.e); }
    friend Bits operator&(Bits a, Bits b) { return Bits(a.e & b.e); }
    friend Bits operator|(Bits a, Bits b) { return Bits(a.e | b.e); }
    friend Bits operator^(Bits a, Bits b) { return Bits(a.e ^ b.e); }
    friend Bits operator~(Bits a) { return Bits(~a.e); }
  };

  TypedExpr() = default;
  explicit TypedExpr(T value) : e_(constant_bits(kFloat, std::bit_cast<Word>(value))) {}
  explicit TypedExpr(Expr node) : e_(node) {}
  Expr expr() const { return e_; }

  friend TypedExpr operator+(TypedExpr a, TypedExpr b) { return TypedExpr(a.e_ + b.e_); }
  friend TypedExpr operator-(TypedExpr a, TypedExpr b) { return TypedExpr(a.e_ - b.e_); }
  friend TypedExpr operator*(TypedExpr a, TypedExpr b) { return TypedExpr(a.e_ * b.e_); }
  friend TypedExpr operator/(TypedExpr a, TypedExpr b) { return TypedExpr(a.e_ / b.e_); }
  friend TypedExpr operator-(TypedExpr a) { return TypedExpr(-a.e_); }

  static TypedExpr fma(TypedExpr a, TypedExpr b, TypedExpr c) {
    return TypedExpr(lathe::fma(a.e_, b.e_, c.e_));
  }
  static TypedExpr sqrt(TypedExpr a) { return TypedExpr(lathe::sqrt(a.e_)); }
  static TypedExpr abs(TypedExpr a) { return TypedExpr(lathe::abs(a.e_)); }
  static TypedExpr floor(TypedExpr a) { return TypedExpr(lathe::floor(a.e_)); }
  static TypedExpr ceil(TypedExpr a) { return TypedExpr(lathe::ceil(a.e_)); }
  static TypedExpr rint(TypedExpr a) { return TypedExpr(lathe::rint(a.e_)); }
  static TypedExpr trunc(TypedExpr a) { return TypedExpr(lathe::trunc(a.e_)); }
  static TypedExpr pmin(TypedExpr a, TypedExpr b) { return TypedExpr(lathe::pmin(a.e_, b.e_)); }
  static TypedExpr pmax(TypedExpr a, TypedExpr b) { return TypedExpr(lathe::pmax(a.e_, b.e_)); }

  static Mask lt(TypedExpr a, TypedExpr b) { return {lathe::lt(a.e_, b.e_)}; }
  static Mask le(TypedExpr a, TypedExpr b) { return {lathe::le(a.e_, b.e_)}; }
  static Mask eq(TypedExpr a, TypedExpr b) { return {lathe::eq(a.e_, b.e_)}; }
  static Mask ne(TypedExpr a, TypedExpr b) { return {lathe::ne(a.e_, b.e_)}; }
  static TypedExpr select(Mask mask, TypedExpr yes, TypedExpr no) {
    return TypedExpr(lathe::select(mask.e, yes.e_, no.e_));
  }
  static Bits select(Mask mask, Bits yes, Bits no) {
    return Bits(lathe::select(mask.e, yes.e, no.e));
  }

  // Raw: what a NaN's bits are is not promised, and no result of math.h depends on it.
  static Bits bits(TypedExpr a) { return Bits(make(Prim::bits, kWord, {a.e_}, 1)); }
  static TypedExpr frombits(Bits b) { return TypedExpr(lathe::frombits(b.e, kFloat)); }
  static Bits shl(Bits b, int count) { return Bits(lathe::shl(b.e, count)); }
  static Bits shr(Bits b, int count) { return Bits(lathe::shr(b.e, count)); }
  static Mask bits_lt(Bits a, Bits b) {
    return {lathe::lt(cast(a.e, kSigned), cast(b.e, kSigned))};
  }
  static Mask bits_eq(Bits a, Bits b) { return {lathe::eq(a.e, b.e)}; }
  static Bits to_int(TypedExpr n) { return bits(n + magic()) - bits(magic()); }
  static TypedExpr from_int(Bits b) { return frombits(b + bits(magic())) - magic(); }

  static TypedExpr round_magic(TypedExpr x, TypedExpr c) {
    return TypedExpr(lathe::round_magic(x.e_, c.e_));
  }
  static TypedExpr addexp(TypedExpr x, TypedExpr n) { return TypedExpr(lathe::addexp(x.e_, n.e_)); }

  template <class Slow>
  static TypedExpr rare(Mask mask, TypedExpr fast, Slow slow) {
    return TypedExpr(lathe::rare(mask.e, fast.e_, slow().e_));
  }

 private:
  static TypedExpr magic() { return TypedExpr(scalar::magic<T>); }
  Expr e_;
};

}  // namespace lathe
