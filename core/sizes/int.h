// Int: a size, or any integer computed from sizes: a number, or an expression over the symbols of a
// trace. Every shape rule is written on Int and runs unchanged on numbers (eager) and symbols
// (tracing). Arithmetic is checked: leaving [-2^62, 2^62) throws OverflowError.
//
// A symbol is only a number k ("s3"): expressions over symbols are hash-consed in one process-wide
// table and mean nothing by themselves. What a symbol stands for at the moment (its hint), and what
// is known about it (facts, guards), lives in the SymScope of the trace under way, so a shape is as
// cheap to copy as eight integers and outlives its trace harmlessly.
#pragma once

#include <absl/container/inlined_vector.h>
#include <absl/types/span.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/site.h"

namespace lathe {

struct SymExpr;  // core/sizes/symexpr.h

class Int {
 public:
  constexpr Int() : word_(0) {}
  // NOLINTNEXTLINE(google-explicit-constructor): sizes are written as plain integers everywhere.
  constexpr Int(int64_t value) : word_(static_cast<uint64_t>(value) << 1) {
    if (value >= kLimit || value < -kLimit) out_of_range(value);
  }
  constexpr Int(int value) : Int(static_cast<int64_t>(value)) {}  // NOLINT
  constexpr Int(size_t value)                                     // NOLINT
      : Int(static_cast<int64_t>(value < kLimit ? value : static_cast<size_t>(kLimit))) {}

  constexpr bool known() const { return (word_ & 1) == 0; }
  /// The number. On a symbolic Int it asks the trace under way: the hint is returned and the trace
  /// records, with the user's line, that this program holds only for that value.
  int64_t value() const {
    if (known()) [[likely]]
      return static_cast<int64_t>(word_) >> 1;
    return specialise();
  }
  /// The number, without a guard: the value at the first call. For heuristics and messages only.
  int64_t hint() const;

  const SymExpr* expr() const { return reinterpret_cast<const SymExpr*>(word_ & ~uint64_t{1}); }
  static Int from_expr(const SymExpr* e) {
    Int r;
    r.word_ = reinterpret_cast<uint64_t>(e) | 1;
    return r;
  }
  uint64_t word() const { return word_; }
  static Int from_word(uint64_t word) { return raw(word); }

  friend Int operator+(Int a, Int b) {
    if ((a.word_ | b.word_) & 1) [[unlikely]]
      return sym_add(a, b);
    int64_t r;
    if (__builtin_add_overflow(static_cast<int64_t>(a.word_), static_cast<int64_t>(b.word_), &r))
        [[unlikely]]
      overflow("+", a, b);
    return raw(static_cast<uint64_t>(r));
  }
  friend Int operator-(Int a, Int b) {
    if ((a.word_ | b.word_) & 1) [[unlikely]]
      return sym_add(a, sym_mul(b, Int(-1)));
    int64_t r;
    if (__builtin_sub_overflow(static_cast<int64_t>(a.word_), static_cast<int64_t>(b.word_), &r))
        [[unlikely]]
      overflow("-", a, b);
    return raw(static_cast<uint64_t>(r));
  }
  friend Int operator*(Int a, Int b) {
    if ((a.word_ | b.word_) & 1) [[unlikely]]
      return sym_mul(a, b);
    int64_t r;
    if (__builtin_mul_overflow(static_cast<int64_t>(a.word_), static_cast<int64_t>(b.word_) >> 1,
                               &r)) [[unlikely]]
      overflow("*", a, b);
    return raw(static_cast<uint64_t>(r));
  }
  friend Int operator-(Int a) { return Int(0) - a; }
  Int& operator+=(Int b) { return *this = *this + b; }
  Int& operator-=(Int b) { return *this = *this - b; }
  Int& operator*=(Int b) { return *this = *this * b; }

  /// Proven equal without any guard: the same number, or the same normalised expression.
  friend bool identical(Int a, Int b) { return a.word_ == b.word_; }

 private:
  static constexpr int64_t kLimit = int64_t{1} << 62;
  static Int raw(uint64_t word) {
    Int r;
    r.word_ = word;
    return r;
  }
  static Int sym_add(Int a, Int b);
  static Int sym_mul(Int a, Int b);
  int64_t specialise() const;
  [[noreturn]] static void overflow(const char* what, Int a, Int b);
  [[noreturn]] static void out_of_range(int64_t value);

  uint64_t word_;  // number << 1, or a SymExpr pointer with the low bit set
};

/// Rounds towards minus infinity, as Python does. Division by zero throws ValueError.
Int floor_div(Int a, Int b);
/// The remainder of floor_div: its sign is the divisor's.
Int mod(Int a, Int b);
Int min(Int a, Int b);
Int max(Int a, Int b);
inline Int ceil_div(Int a, Int b) { return -floor_div(-a, b); }

std::string to_string(Int a);

enum class Relation : uint8_t { eq, ne, lt, le };
inline constexpr std::string_view kRelations[] = {"eq", "ne", "lt", "le"};  // not an op: names

/// The answer to a question a shape rule branches on. Numbers are compared; symbols are decided
/// from what the trace knows, else by the hint, and then the trace records the relation as a guard.
bool decide(Relation relation, Int a, Int b);
inline bool operator==(Int a, Int b) { return identical(a, b) || decide(Relation::eq, a, b); }
inline bool operator<(Int a, Int b) { return decide(Relation::lt, a, b); }
inline bool operator<=(Int a, Int b) { return identical(a, b) || decide(Relation::le, a, b); }
inline bool operator>(Int a, Int b) { return b < a; }
inline bool operator>=(Int a, Int b) { return b <= a; }

/// What must hold for the call to be valid at all. Returns false if it is known not to hold (the
/// caller then throws its own ShapeError). Symbols: what holds is noted as a check that the
/// compiled program makes of new sizes, and what does not as a guard, for the error may be caught.
bool require(Relation relation, Int a, Int b);

using Shape = absl::InlinedVector<Int, 6>;
using Strides = Shape;
using IntSpan = absl::Span<const Int>;

std::string to_string(IntSpan shape);
bool identical(IntSpan a, IntSpan b);
/// Product of all sizes; 1 for rank 0.
Int numel(IntSpan shape);
Strides row_major(IntSpan shape);

}  // namespace lathe
