// The expressions behind a symbolic Int, and the scope that gives symbols their meaning.
//
// Normal form: a sum of terms, each an integer coefficient times a sorted product of atoms, plus a
// constant; an atom is a symbol, or floor_div / mod / min / max of two Ints. Nodes are interned, so
// the same normal form is the same word. Atoms and terms are sorted by structure, so neither
// addresses nor the history of the process decide what an expression prints as.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <functional>
#include <optional>
#include <vector>

#include "core/int.h"

namespace lathe {

enum class SymKind : uint8_t { symbol, sum, floor_div, mod, min, max };

struct SymTerm {
  int64_t coefficient;
  std::vector<const SymExpr*> factors;  // atoms, sorted, repeated for powers
  friend bool operator==(const SymTerm&, const SymTerm&) = default;
};

struct SymExpr {
  SymKind kind;
  uint32_t id = 0;             // creation order
  uint32_t symbol = 0;         // kind == symbol
  Int a, b;                    // floor_div, mod, min, max
  int64_t constant = 0;        // sum
  std::vector<SymTerm> terms;  // sum: at least one; higher degrees first
};

/// Symbol number k ("s0", "s1", ...), as an Int.
Int symbol(uint32_t k);
/// Replaces every symbol by what `value_of` gives; sizes of a compiled program are evaluated so.
Int substitute(Int e, const std::function<Int(uint32_t)>& value_of);
/// The symbols an Int mentions, ascending, no repeats.
std::vector<uint32_t> symbols_of(Int e);
/// True, and the quotient, if a = quotient * b as polynomials. No guard, no check.
bool divides(Int b, Int a, Int* quotient = nullptr);

/// What symbol k is where zero = 0, if it is in it once, alone and with coefficient 1 or -1.
std::optional<Int> solved_for(uint32_t k, Int zero);

// What floor_div, mod, min and max of core/int.h do on symbols. A symbolic divisor is noted as a
// check
// (`b != 0`) in the scope under way; everything else they simplify is exact for all integers.
Int sym_floor_div(Int a, Int b);
Int sym_mod(Int a, Int b);
Int sym_min(Int a, Int b);
Int sym_max(Int a, Int b);

/// A relation that a trace took for granted (guard) or that must hold on every call (check).
struct SymFact {
  Relation relation;
  bool holds;  // a guard may record that a relation did NOT hold
  Int a, b;
  Site site;
};

/// Gives meaning to symbols while a trace runs on this thread. `decide`, `require` and `Int::value`
/// consult the innermost scope of the thread; with none, a symbolic Int is a TraceError.
class SymScope {
 public:
  SymScope();
  virtual ~SymScope();
  SymScope(const SymScope&) = delete;
  SymScope& operator=(const SymScope&) = delete;

  /// A new symbol with its value at this call. Sizes are known to be >= 0.
  Int fresh(int64_t hint, bool is_size = true);
  /// The value at this call. TraceError for a symbol of another trace.
  int64_t hint(Int e) const;
  /// Yes / no / not known, from ranges and recorded facts.
  enum class Truth : uint8_t { no, yes, unknown };
  Truth prove(Relation relation, Int a, Int b) const;
  /// Proven, else decided by the hint and recorded as a guard.
  bool decide(Relation relation, Int a, Int b);
  /// Proven, else decided by the hint: recorded as a check if it holds, and as a guard if not. For
  /// who asked may go on: a function that catches the error holds for such sizes only.
  bool require(Relation relation, Int a, Int b);
  /// The same value with everything replaced that recorded equalities determine.
  Int simplify(Int e) const;

  const std::vector<SymFact>& guards() const { return guards_; }
  const std::vector<SymFact>& checks() const { return checks_; }
  uint32_t symbol_count() const { return static_cast<uint32_t>(hints_.size()); }

  static SymScope* current();
  void enter();  // becomes the thread's innermost scope
  void leave();

 private:
  // What is known of the value of an expression: it lies in [low, high], and is none of
  // `not_these`.
  struct Range {
    int64_t low, high;
    std::vector<int64_t> not_these = {};
    void meet(const Range& other);
    bool contains(int64_t v) const;
  };
  struct Form;
  static Form form_of(Int e);
  Range range(Int e) const;
  Range range_of_atom(const SymExpr* atom) const;
  void learn(Relation relation, bool holds, Int a, Int b);
  void narrow(Int e, const Range& by);
  void narrow_terms(Int sum, const Range& r);
  void solve(Int zero);
  void replace(uint32_t symbol, Int by);

  std::vector<int64_t> hints_;
  std::vector<std::pair<Int, Range>> known_;     // by form: no constant, gcd 1, first term positive
  absl::flat_hash_map<uint32_t, Int> replaced_;  // symbols that an equality determines
  std::vector<SymFact> guards_, checks_;
  SymScope* outer_ = nullptr;
  bool entered_ = false;
};

}  // namespace lathe
