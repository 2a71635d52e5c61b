// The expressions behind a symbolic Int, and the scope that gives symbols their meaning.
//
// Normal form. An expression is a polynomial: a sum of terms, each an integer coefficient times a
// sorted product of atoms, plus a constant. An atom is a symbol, floor_div or mod of two Ints, or
// the positive part max(d, 0) of an Int d, or a long sum kept whole. There are no atoms for min and
// max themselves:
//
//     max(a, b) = b + max(a - b, 0)          min(a, b) = a - max(a - b, 0)
//
// so min(s, 1) + max(s - min(s, 1), 0) is s, by adding up terms. Nodes are interned: the same
// normal form is the same word. Terms are sorted by structure, so neither addresses nor the history
// of the process decide what an expression prints as.
//
// What is written for a positive part (positive_part in symalgebra.cpp; core/sizes/piecewise.h):
//   1. d where d >= 0 is proven, 0 where d <= 0 is. Proofs use the scope's facts (s >= 0) and hold
//      without a scope for what is true of all integers.
//   2. Where d is a piecewise linear function of one form f (a primitive sum: no constant, gcd 1,
//      first coefficient positive), so is max(d, 0): it is written as c + k*f + a sum of
//      k_i * max(f - t_i, 0) with ascending integers t_i inside the range of f. These functions are
//      linearly independent, so two expressions in one form have the same normal form exactly if
//      they are equal for every integer in its range. Slices with constant bounds, of slices, of
//      padded and joined tensors are of this kind.
//   3. max(max(a, 0) + r, 0) = max(a + r, 0) where r <= 0 is proven, and max(r - max(a, 0), 0) =
//      max(r, 0) - max(a, 0) where r - a >= 0 is; for d and for -d.
//   4. Otherwise max(d, 0) = k * max(f + c, 0) + ... with f the form of d; max(-f, 0) is written
//      max(f, 0) - f.
// Each rule makes d smaller (fewer atoms at its top) or ends, and which one applies is decided by d
// alone. floor_div by a number moves into a positive part (it is monotone), nested ones become one.
//
// How far this decides equality: fully for polynomials and for 2. It does not for atoms over
// several forms (max(s0, s1) + min(s0, s1) is s0 + s1, but max(s0, max(s1, s2)) and
// max(max(s0, s1), s2) differ), nor for identities between different quotients. There the sizes
// count as unproven: a check more, never a wrong answer. An expression written before a fact was
// learned is written again by substitute().
//
// Cost. A piecewise function has at most kMostKinks points, a proof looks a bounded number of
// atoms deep and otherwise takes what was known when the atom was made, ranges are remembered until
// a fact is learned, and what goes through a whole expression (substitute, hint) visits every
// shared atom once. So an operation costs its operands' terms, not their history; sym_work() counts
// it.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <functional>
#include <optional>
#include <vector>

#include "core/sizes/int.h"

namespace lathe {

enum class SymKind : uint8_t { symbol, sum, floor_div, mod, positive, whole };

struct SymTerm {
  int64_t coefficient;
  absl::InlinedVector<const SymExpr*, 2> factors;  // atoms, sorted, repeated for powers
  friend bool operator==(const SymTerm&, const SymTerm&) = default;
};

struct SymExpr {
  SymKind kind;
  uint32_t id = 0;             // creation order
  uint32_t symbol = 0;         // kind == symbol
  Int a, b;                    // floor_div, mod; positive: max(a, 0); whole: a
  int64_t constant = 0;        // sum
  std::vector<SymTerm> terms;  // sum: at least one; higher degrees first
  // Of the whole expression, filled in when it is interned.
  uint32_t height = 0;                             // atoms inside of atoms
  const std::vector<uint32_t>* symbols = nullptr;  // ascending, no repeats
};

/// How much this thread has done on symbolic sizes since it began, for tests of cost.
struct SymWork {
  uint64_t nodes = 0;  // expressions interned for the first time
  uint64_t terms = 0;  // terms sorted, substituted or bounded
};
SymWork& sym_work();

/// Symbol number k ("s0", "s1", ...), as an Int.
Int symbol(uint32_t k);
/// Replaces every symbol by what `value_of` gives; sizes of a compiled program are evaluated so.
Int substitute(Int e, const std::function<Int(uint32_t)>& value_of);
/// The symbols an Int mentions, ascending, no repeats. Lives as long as the process.
const std::vector<uint32_t>& symbols_of(Int e);
/// True, and the quotient, if a = quotient * b as polynomials. No guard, no check.
bool divides(Int b, Int a, Int* quotient = nullptr);

/// What symbol k is where zero = 0, if it is in it once, alone and with coefficient 1 or -1.
std::optional<Int> solved_for(uint32_t k, Int zero);

// What floor_div, mod, min and max of core/sizes/int.h do on symbols. A symbolic divisor is noted
// as a check (`b != 0`) in the scope under way; everything else they simplify is exact for all
// integers.
Int sym_floor_div(Int a, Int b);
Int sym_mod(Int a, Int b);
Int sym_min(Int a, Int b);
Int sym_max(Int a, Int b);

/// a + b, where it does not matter to what else the sum is equal: one of many terms becomes an
/// atom, so that adding to it again costs a few terms, not all. The offset of a view of a view is
/// one.
Int sym_add_whole(Int a, Int b);

/// A relation that a trace took for granted (guard) or that must hold on every call (check).
struct SymFact {
  Relation relation;
  bool holds;  // a guard may record that a relation did NOT hold
  Int a, b;
  Site site;
};

/// The same said the other way round: of the relation that holds where this one does not.
SymFact opposite(const SymFact& fact);

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
  /// One that only running the program tells: how many elements a mask picks, what a loop carries.
  Int fresh_inside(int64_t hint, bool is_size = true);
  /// Does the expression mention one?
  bool inside(Int e) const;
  /// The value at this call. TraceError for a symbol of another trace.
  int64_t hint(Int e) const;
  /// Yes / no / not known, from ranges and recorded facts.
  enum class Truth : uint8_t { no, yes, unknown };
  Truth prove(Relation relation, Int a, Int b) const;
  /// What is known of the value of an expression; saturated bounds mean "no bound".
  std::pair<int64_t, int64_t> bounds(Int e) const;
  /// Proven, else decided by the hint and recorded as a guard. What only running tells is presumed
  /// to be as sizes ordinarily are: those that meet are equal, and none is 0 or 1.
  bool decide(Relation relation, Int a, Int b);
  /// Proven, else decided by the hint: recorded as a check if it holds, and as a guard if not. For
  /// who asked may go on: a function that catches the error holds for such sizes only. What
  /// only running tells is presumed to hold.
  bool require(Relation relation, Int a, Int b);
  /// Who records a program has it ask for what is presumed. The answer: is it asked before all that
  /// mentions these sizes? Then it is known from here on (assume). Without one it is a guess.
  void ask_when_it_runs(std::function<bool(const SymFact&)> ask) { ask_ = std::move(ask); }
  /// It holds wherever it is asked about, whatever the hints say: of a loop that runs no round at
  /// this call, what is true in every round. Recorded as a check.
  void assume(Relation relation, Int a, Int b);
  /// Nothing is recorded or learnt any more: what is not proven is answered by the hint, or
  /// presumed, and counted.
  void close() { closed_ = true; }
  int64_t guesses() const { return guesses_; }
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
  Range range(Int e, int depth = 0) const;
  Range range_of_atom(const SymExpr* atom, int depth) const;
  Range range_of_sum(Int e, int depth) const;
  using Terms = absl::Span<const SymTerm>;
  Range range_of_term(const SymTerm& term, int depth) const;
  Range range_of_terms(Terms terms, int depth) const;
  Range range_by_forms(Terms terms, int depth) const;
  Range range_by_cases(Terms terms, int depth, int cases) const;
  const Range* known(Int form) const;
  bool answer(Relation relation, Int a, Int b, std::vector<SymFact>& where_it_holds);
  bool ordinary(Relation relation, Int a, Int b) const;
  bool presume(const SymFact& fact);
  void learn(Relation relation, bool holds, Int a, Int b);
  void narrow(Int e, const Range& by);
  void narrow_terms(Int sum, const Range& r);
  void narrow_part(Int part, const Range& r);
  int64_t hint_of_atoms(Int e) const;
  void solve(Int zero);
  void replace(uint32_t symbol, Int by);

  // By form: no constant, gcd 1, first term positive.
  absl::flat_hash_map<uint64_t, Range> known_;
  absl::flat_hash_map<uint32_t, std::vector<Int>> forms_with_;  // forms in known_, by symbol
  mutable absl::flat_hash_map<uint32_t, Int> replaced_;  // symbols that an equality determines
  std::vector<SymFact> guards_, checks_;
  std::vector<int64_t> hints_;
  std::vector<bool> inside_;  // by symbol
  std::function<bool(const SymFact&)> ask_;
  // What was worked out, by word of an expression: hints, ranges and the epoch each is of, and what
  // is left after all replacements.
  struct Bounded {
    uint64_t epoch;
    Range range;
  };
  mutable absl::flat_hash_map<uint64_t, int64_t> hint_of_;
  mutable absl::flat_hash_map<uint64_t, Bounded> range_of_;
  mutable absl::flat_hash_map<uint64_t, Int> simplified_;
  uint64_t epoch_ = 0;  // counts facts
  SymScope* outer_ = nullptr;
  bool entered_ = false, closed_ = false;
  int64_t guesses_ = 0;
};

}  // namespace lathe
