#include "graph/rewrite/condition.h"

#include "core/base/error.h"
#include "graph/text/reader.h"

namespace lathe::ir {
namespace {

const Limits kLimits{};

struct Comparison {
  std::string_view text;
  Relation relation;
  bool holds;
};
constexpr Comparison kComparisons[] = {{"==", Relation::eq, true},  {"!=", Relation::eq, false},
                                       {"<=", Relation::le, true},  {"<", Relation::lt, true},
                                       {">=", Relation::lt, false}, {">", Relation::le, false}};

bool holds_between(Relation relation, int64_t a, int64_t b) {
  if (relation == Relation::eq) return a == b;
  return relation == Relation::lt ? a < b : a <= b;
}

}  // namespace

class ConditionParser : Reader {
 public:
  ConditionParser(std::string_view text, std::string_view rule) : Reader(text, kLimits, rule) {}

  std::vector<Condition::Term> run() {
    std::vector<Condition::Term> out;
    if (peek().kind == TokenKind::end) return out;
    do {
      out.push_back(term());
    } while (take("and"));
    if (peek().kind != TokenKind::end) fail("'and' or the end of the condition is wanted here");
    return out;
  }

 private:
  using Of = Condition::Of;

  Condition::Variable variable() {
    expect("(");
    const int column = peek().column;
    std::string name(this->name("a variable of the pattern"));
    expect(")");
    return {std::move(name), column};
  }

  const Comparison& comparison() {
    for (const Comparison& c : kComparisons)
      if (take(c.text)) return c;
    fail("a comparison is wanted here: == != < <= > >=");
  }

  DType dtype() {
    DType d{};
    if (peek().kind != TokenKind::name || !parse_dtype(peek().text, d) || !info(d).tensor)
      fail("a dtype is wanted here, as in f32");
    next();
    return d;
  }

  Condition::Term term() {
    const Token start = peek();
    const std::string_view word = name("dtype, rank, floating, integer or complex");
    if (word == "rank") return rank_term();
    if (word == "dtype") return dtype_term();
    Condition::Term t;
    if (word == "floating")
      t.dtypes = floating;
    else if (word == "integer")
      t.dtypes = integers;
    else if (word == "complex")  // not an op: a word of conditions
      t.dtypes = complexes;
    else
      fail_at(start, "a condition says dtype, rank, floating, integer or complex");
    t.left = variable();
    return t;
  }

  Condition::Term rank_term() {
    Condition::Term t;
    t.of = Of::rank;
    t.left = variable();
    const Comparison& c = comparison();
    t.relation = c.relation;
    t.holds = c.holds;
    if (take("rank")) {
      t.right = variable();
    } else {
      if (peek().kind != TokenKind::integer) fail("a number or rank(...) is wanted here");
      t.rank = number(false).value();
    }
    return t;
  }

  Condition::Term dtype_term() {
    Condition::Term t;
    t.left = variable();
    if (take("in")) {
      expect("[");
      do {
        t.dtypes = t.dtypes | DTypeSet{dtype()};
      } while (take(","));
      expect("]");
      return t;
    }
    t.holds = !is("!=");
    if (!take("==") && !take("!=")) fail("==, != or in is wanted here");
    if (take("dtype"))
      t.right = variable();
    else
      t.dtypes = DTypeSet{dtype()};
    return t;
  }
};

Condition::Condition(std::string_view text, std::string_view rule)
    : terms_(ConditionParser(text, rule).run()) {}

bool Condition::holds(const Match& match) const {
  for (const Term& t : terms_)
    if (!holds(t, match)) return false;
  return true;
}

bool Condition::holds(const Term& t, const Match& match) {
  if (!match.is_tensor(t.left.name) || (t.right && !match.is_tensor(t.right->name))) return false;
  if (t.of == Of::rank) {
    const int64_t right = t.right ? match.rank(t.right->name) : t.rank;
    return holds_between(t.relation, match.rank(t.left.name), right) == t.holds;
  }
  const DType d = match.dtype(t.left.name);
  return (t.right ? d == match.dtype(t.right->name) : t.dtypes.has(d)) == t.holds;
}

void Condition::for_each_variable(
    absl::FunctionRef<void(const std::string&, int column)> visit) const {
  for (const Term& t : terms_) {
    visit(t.left.name, t.left.column);
    if (t.right) visit(t.right->name, t.right->column);
  }
}

}  // namespace lathe::ir
