// The expressions behind a symbolic Int, and the scope that gives symbols their meaning.
//
// Normal form: a sum of terms, each an integer coefficient times a sorted product of atoms, plus a
// constant; an atom is a symbol, or floor_div / mod / min / max of two Ints. Nodes are interned, so
// two Ints are provably equal exactly when they are the same word.
#pragma once

#include <functional>
#include <vector>

#include "core/int.h"

namespace lathe {

enum class SymKind : uint8_t { symbol, sum, floor_div, mod, min, max };

struct SymTerm {
  int64_t coefficient;
  std::vector<const SymExpr*> factors;  // atoms, sorted by id, repeated for powers
  friend bool operator==(const SymTerm&, const SymTerm&) = default;
};

struct SymExpr {
  SymKind kind;
  uint32_t id;                  // creation order: a total order that no address decides
  uint32_t symbol = 0;          // kind == symbol
  Int a, b;                     // floor_div, mod, min, max
  int64_t constant = 0;         // sum
  std::vector<SymTerm> terms;   // sum: at least one, sorted
};

/// Symbol number k ("s0", "s1", ...), as an Int.
Int symbol(uint32_t k);
/// Replaces every symbol by what `value_of` gives; sizes of a compiled program are evaluated so.
Int substitute(Int e, const std::function<Int(uint32_t)>& value_of);
/// The symbols an Int mentions, ascending, no repeats.
std::vector<uint32_t> symbols_of(Int e);

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
  int64_t hint(Int e) const;
  /// Yes / no / not known, from ranges and recorded facts.
  enum class Truth : uint8_t { no, yes, unknown };
  Truth prove(Relation relation, Int a, Int b) const;
  bool decide(Relation relation, Int a, Int b);
  bool require(Relation relation, Int a, Int b);

  const std::vector<SymFact>& guards() const { return guards_; }
  const std::vector<SymFact>& checks() const { return checks_; }
  uint32_t symbol_count() const { return static_cast<uint32_t>(hints_.size()); }

  static SymScope* current();
  void enter();  // becomes the thread's innermost scope
  void leave();

 private:
  struct Range {
    int64_t low, high;
  };
  Range range(Int e) const;
  std::vector<int64_t> hints_;
  std::vector<Range> ranges_;
  std::vector<SymFact> guards_, checks_;
  SymScope* outer_ = nullptr;
};

}  // namespace lathe
