// The text behind a rule that says for which dtypes and ranks it holds:
//
//   rank(x) >= 2 and dtype(x) in [f16, bf16] and dtype(x) == dtype(y) and floating(z)
//
// Terms are joined by `and`. A term about a variable that stands for no tensor does not hold.
#pragma once

#include <absl/functional/function_ref.h>

#include "graph/rewrite/rule.h"

namespace lathe::ir {

class Condition {
 public:
  /// ValueError with its column if it cannot be read; "" holds always. `rule`: what errors call it.
  Condition(std::string_view text, std::string_view rule);
  bool holds(const Match& match) const;
  /// Every variable that it mentions, with its column.
  void for_each_variable(absl::FunctionRef<void(const std::string&, int column)> visit) const;

 private:
  friend class ConditionParser;
  enum class Of : uint8_t { dtype, rank };
  struct Variable {
    std::string name;
    int column = 0;
  };
  struct Term {
    Of of = Of::dtype;
    Variable left;
    std::optional<Variable> right;  // or one of these:
    DTypeSet dtypes;                // it is one of them
    int64_t rank = 0;
    Relation relation = Relation::eq;  // to `right` or `rank`
    bool holds = true;                 // false: what the rest says must not be so
  };
  static bool holds(const Term& term, const Match& match);
  std::vector<Term> terms_;
};

}  // namespace lathe::ir
