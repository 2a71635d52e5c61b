// Real: a float argument of an op, or any float computed from such: a number, or an expression over
// the numbers that a trace takes as inputs. Int's sibling (core/sizes/int.h): op definitions are
// written on Real once and run unchanged on numbers (eager) and on expressions (tracing).
//
// Arithmetic is IEEE double arithmetic, which is Python's; nothing is reordered or simplified, so
// an expression that is evaluated later has the bits that it would have had at once. Expressions
// are hash-consed in one process-wide table. A symbol stands for one input of one trace; what it is
// at the moment, and what was taken for granted about it, lives in the RealScope of that trace.
#pragma once

#include <absl/functional/function_ref.h>

#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/site.h"

namespace lathe {

struct RealExpr;

class Real {
 public:
  constexpr Real() : Real(0.0) {}
  // NOLINTBEGIN(google-explicit-constructor): numbers are written as plain numbers everywhere.
  constexpr Real(double value) : word_(std::bit_cast<uint64_t>(value)) {
    if (word_ >> kShift == kBoxed) [[unlikely]]  // a NaN; they compare as a class
      word_ = kNan;
  }
  constexpr Real(float value) : Real(static_cast<double>(value)) {}
  constexpr Real(int value) : Real(static_cast<double>(value)) {}
  // NOLINTEND(google-explicit-constructor)

  constexpr bool known() const { return word_ >> kShift != kBoxed; }
  /// The number. For an expression, the trace under way records, with the user's line, that this
  /// program holds for this value only. TraceError outside of its trace.
  double value() const {
    if (known()) [[likely]]
      return std::bit_cast<double>(word_);
    return specialise();
  }
  /// The number, without a guard: the value at this call. For messages only.
  double hint() const;

  const RealExpr* expr() const {  // of one that is not known
    return reinterpret_cast<const RealExpr*>(word_ & ((uint64_t{1} << kShift) - 1));
  }
  static Real from_expr(const RealExpr* e) {
    return from_word(reinterpret_cast<uint64_t>(e) | kBoxed << kShift);
  }
  uint64_t word() const { return word_; }
  static Real from_word(uint64_t word) {
    Real r;
    r.word_ = word;
    return r;
  }

  friend Real operator+(Real a, Real b);
  friend Real operator-(Real a, Real b);
  friend Real operator*(Real a, Real b);
  friend Real operator/(Real a, Real b);  // as IEEE has it, also by zero
  friend Real operator-(Real a);
  friend Real abs(Real a);

  /// The same bits, or the same expression; no guard.
  friend bool identical(Real a, Real b) { return a.word_ == b.word_; }

 private:
  // An expression is the pointer in the low bits of a negative quiet NaN.
  static constexpr int kShift = 50;
  static constexpr uint64_t kBoxed = (uint64_t{1} << 14) - 1;
  static constexpr uint64_t kNan = 0x7FF8000000000000;
  double specialise() const;

  uint64_t word_;
};

/// What a text calls a symbol.
using RealNames = absl::FunctionRef<std::string(const RealExpr*)>;
/// The number as text that reads back as the same, or the expression: "0.5", "r0 * 2.0".
std::string to_string(Real a);
std::string to_string(Real a, RealNames name_of);

enum class RealKind : uint8_t { symbol, add, sub, mul, div, neg, abs };

struct RealExpr {
  RealKind kind;
  uint64_t symbol = 0;  // kind == symbol: unique in the process
  Real a, b;            // operands
};

/// The value of an expression, where `value_of` gives that of a symbol.
double evaluate(Real e, absl::FunctionRef<double(const RealExpr*)> value_of);

enum class RealRelation : uint8_t {
  eq,
  lt,
  le,
  same,  // bit for bit, NaNs alike: the number itself was asked for
};
bool compare(RealRelation relation, double a, double b);

/// The answer to a question a definition branches on. Numbers are compared; expressions are decided
/// by their values at this call, and the trace records the answer as a guard. TraceError outside of
/// their trace.
bool decide(RealRelation relation, Real a, Real b);
inline bool operator==(Real a, Real b) { return decide(RealRelation::eq, a, b); }
inline bool operator<(Real a, Real b) { return decide(RealRelation::lt, a, b); }
inline bool operator<=(Real a, Real b) { return decide(RealRelation::le, a, b); }
inline bool operator>(Real a, Real b) { return b < a; }
inline bool operator>=(Real a, Real b) { return b <= a; }

/// What a trace took for granted about its numbers.
struct RealFact {
  RealRelation relation;
  bool holds;
  Real a, b;
  Site site;
};
/// "r0 * 2.0 < 1.0", "not r0 == 0.0"
std::string to_string(const RealFact& fact);
std::string to_string(const RealFact& fact, RealNames name_of);

/// Gives meaning to symbols while a trace runs on this thread; the innermost one is asked.
class RealScope {
 public:
  RealScope() = default;
  ~RealScope();
  RealScope(const RealScope&) = delete;
  RealScope& operator=(const RealScope&) = delete;

  /// A new symbol with its value at this call, if that is known.
  Real fresh(std::optional<double> hint);
  /// The value at this call. TraceError if that is not known, and for a symbol of another trace.
  double hint(Real e) const;
  /// TraceError for a symbol of another trace.
  void require_own(Real e) const;
  /// Decided by the hints, and recorded as a guard.
  bool decide(RealRelation relation, Real a, Real b);
  /// The number, if this trace holds for one value of it only; else the expression.
  Real fixed(Real e) const;
  const std::vector<RealFact>& facts() const { return facts_; }
  /// How often decide() was asked, also for what was known: has some code looked at a number?
  size_t questions() const { return questions_; }

  static RealScope* current();
  void enter();  // becomes the thread's innermost scope
  void leave();

 private:
  std::vector<std::pair<const RealExpr*, std::optional<double>>> symbols_;
  std::vector<RealFact> facts_;
  size_t questions_ = 0;
  RealScope* outer_ = nullptr;
  bool entered_ = false;
};

}  // namespace lathe
