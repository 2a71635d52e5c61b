// What a trace knows about its symbols.
//
// Every relation is a statement about one difference d = a - b, and every d is scale * form +
// constant with a form that has no constant, gcd 1 and a positive first term. So all that is known
// is kept as one range (and a few excluded values) a form, in `known_`; a new question about any
// multiple of a known form, shifted by any number, is answered from it (symrange.cpp). Equalities
// are solved for a symbol where that is possible, and that symbol is replaced everywhere
// (`replaced_`), so that s0 == s1 makes 2*s0 and s0 + s1 provably equal too.
#include <absl/algorithm/container.h>
#include <absl/strings/ascii.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "core/base/error.h"
#include "core/sizes/piecewise.h"
#include "core/sizes/symbounds.h"

namespace lathe {

using namespace bounded;  // NOLINT: the arithmetic of bounds

namespace {

constinit thread_local SymScope* innermost = nullptr;

/// The symbols that a text names ("s0", "s12"), in order.
std::set<uint32_t> symbols_in(std::string_view text) {
  std::set<uint32_t> found;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != 's' || (i > 0 && (absl::ascii_isalnum(text[i - 1]) || text[i - 1] == '_')))
      continue;
    size_t end = i + 1;
    while (end < text.size() && absl::ascii_isdigit(text[end])) ++end;
    uint32_t k;
    bool word = end < text.size() && (absl::ascii_isalpha(text[end]) || text[end] == '_');
    if (!word && absl::SimpleAtoi(text.substr(i + 1, end - i - 1), &k)) found.insert(k);
  }
  return found;
}

/// Inside a trace sizes have names; whoever reads the message knows the numbers.
void say_sizes(ErrorParts& parts) {
  SymScope* scope = SymScope::current();
  if (scope == nullptr) return;
  std::string sizes;
  for (uint32_t k : symbols_in(absl::StrCat(parts.problem, " ", parts.got, " ", parts.expected)))
    if (k < scope->symbol_count() && !scope->inside(symbol(k)))
      absl::StrAppend(&sizes, sizes.empty() ? "" : ", ", "s", k, " = ", scope->hint(symbol(k)));
  if (!sizes.empty()) absl::StrAppend(&parts.got, parts.got.empty() ? "" : ", ", "where ", sizes);
}

}  // namespace

SymScope::SymScope() = default;
SymScope::~SymScope() {
  if (entered_ && innermost == this) innermost = outer_;
}

SymScope* SymScope::current() { return innermost; }

void SymScope::enter() {
  LATHE_CHECK(!entered_);
  outer_ = innermost;
  innermost = this;
  entered_ = true;
  set_error_note(say_sizes);
}

void SymScope::leave() {
  LATHE_CHECK(entered_ && innermost == this);
  innermost = outer_;
  entered_ = false;
}

Int SymScope::fresh(int64_t hint, bool is_size) {
  Int s = symbol(static_cast<uint32_t>(hints_.size()));
  hints_.push_back(hint);
  inside_.push_back(false);
  known_.emplace(s.word(), Range{is_size ? 0 : -kMostInt - 1, kMostInt});
  forms_with_[static_cast<uint32_t>(hints_.size() - 1)].push_back(s);
  return s;
}

Int SymScope::fresh_inside(int64_t hint, bool is_size) {
  const Int s = fresh(hint, is_size);
  inside_.back() = true;
  return s;
}

bool SymScope::inside(Int e) const {
  const std::vector<uint32_t>& symbols = symbols_of(e);
  return std::any_of(symbols.begin(), symbols.end(),
                     [&](uint32_t k) { return k < inside_.size() && inside_[k]; });
}

int64_t SymScope::hint(Int e) const {
  if (e.known()) return e.value();
  auto it = hint_of_.find(e.word());
  if (it != hint_of_.end()) return it->second;
  int64_t value = hint_of_atoms(e);
  hint_of_.emplace(e.word(), value);
  return value;
}

// Atoms by themselves, so that what is deep inside has its hint already.
int64_t SymScope::hint_of_atoms(Int e) const {
  auto of_symbol = [&](uint32_t k) -> Int {
    if (k < hints_.size()) return hints_[k];
    throw TraceError({.problem = "a size belongs to another trace",
                      .got = to_string(e),
                      .next = "do not keep symbolic tensors or their sizes after their trace "
                              "has ended"});
  };
  const SymExpr* x = e.expr();
  switch (x->kind) {
    case SymKind::symbol:
      return of_symbol(x->symbol).value();
    case SymKind::floor_div:
      return floor_div(Int(hint(x->a)), Int(hint(x->b))).value();
    case SymKind::mod:
      return mod(Int(hint(x->a)), Int(hint(x->b))).value();
    case SymKind::positive:
      return std::max<int64_t>(hint(x->a), 0);
    case SymKind::whole:
      return hint(x->a);
    case SymKind::sum:
      break;
  }
  Int sum = x->constant;
  for (const SymTerm& t : x->terms) {
    Int product = t.coefficient;
    for (const SymExpr* f : t.factors) product *= Int(hint(Int::from_expr(f)));
    sum += product;
  }
  return sum.value();
}

// What a replaced symbol stands for may be replaced later: `replaced_` is brought up to date here.
Int SymScope::simplify(Int e) const {
  if (e.known() || replaced_.empty()) return e;
  auto is_replaced = [&](uint32_t k) { return replaced_.contains(k); };
  const std::vector<uint32_t>& symbols = symbols_of(e);
  if (std::none_of(symbols.begin(), symbols.end(), is_replaced)) return e;
  if (auto it = simplified_.find(e.word()); it != simplified_.end()) return it->second;
  Int simple = substitute(e, [&](uint32_t k) {
    auto it = replaced_.find(k);
    if (it == replaced_.end()) return symbol(k);
    Int by = simplify(it->second);
    replaced_.find(k)->second = by;
    return by;
  });
  simplified_.emplace(e.word(), simple);
  return simple;
}

SymScope::Truth SymScope::prove(Relation relation, Int a, Int b) const {
  auto truth = [](bool yes) { return yes ? Truth::yes : Truth::no; };
  Int d = simplify(a - b);
  if (d.known()) return truth(lathe::decide(relation, d, 0));
  Range r = range(d);
  switch (relation) {
    case Relation::eq:
    case Relation::ne: {
      Form f = form_of(d);
      if (!r.contains(0) || f.constant % f.scale != 0) return truth(relation == Relation::ne);
      if (r.low == 0 && r.high == 0) return truth(relation == Relation::eq);
      return Truth::unknown;
    }
    case Relation::lt:
      if (r.high < 0) return Truth::yes;
      return r.low >= 0 ? Truth::no : Truth::unknown;
    case Relation::le:
      if (r.high <= 0) return Truth::yes;
      return r.low > 0 ? Truth::no : Truth::unknown;
  }
  return Truth::unknown;
}

bool SymScope::decide(Relation relation, Int a, Int b) { return answer(relation, a, b, guards_); }
bool SymScope::require(Relation relation, Int a, Int b) { return answer(relation, a, b, checks_); }

SymFact opposite(const SymFact& f) {
  switch (f.relation) {
    case Relation::eq:
      return {Relation::ne, !f.holds, f.a, f.b, f.site};
    case Relation::ne:
      return {Relation::eq, !f.holds, f.a, f.b, f.site};
    case Relation::lt:
      return {Relation::le, !f.holds, f.b, f.a, f.site};
    case Relation::le:
      break;
  }
  return {Relation::lt, !f.holds, f.b, f.a, f.site};
}

bool SymScope::ordinary(Relation relation, Int a, Int b) const {
  if (relation == Relation::ne) return !ordinary(Relation::eq, a, b);
  if (relation != Relation::eq) return lathe::decide(relation, hint(a), hint(b));
  // What is at most 1, as the first element if there is one, is 1. A number above it is one size of
  // many.
  const bool one = a.known() ? a.value() == 1 : bounds(a).second <= 1;
  const bool other_one = b.known() ? b.value() == 1 : bounds(b).second <= 1;
  if (one || other_one) return one == other_one;
  return !a.known() && !b.known();
}

bool SymScope::answer(Relation relation, Int a, Int b, std::vector<SymFact>& where_it_holds) {
  Truth known = prove(relation, a, b);
  if (known != Truth::unknown) return known == Truth::yes;
  const bool must = &where_it_holds == &checks_;
  if (inside(a) || inside(b)) return presume({relation, must || ordinary(relation, a, b), a, b});
  bool holds = lathe::decide(relation, hint(a), hint(b));
  if (closed_) {
    ++guesses_;
    return holds;
  }
  (holds ? where_it_holds : guards_).push_back({relation, holds, a, b, here()});
  learn(relation, holds, a, b);
  return holds;
}

bool SymScope::presume(const SymFact& fact) {
  if (!ask_ || closed_) {
    ++guesses_;
    return fact.holds;
  }
  SymFact asked = fact.holds ? fact : opposite(fact);
  asked.site = here();
  if (!ask_(asked)) return fact.holds;
  assume(asked.relation, asked.a, asked.b);
  // The hint of what only running tells is any number: one of which this is true, and all before.
  const auto holds = [&](const SymFact& f) {
    return lathe::decide(f.relation, hint(f.a), hint(f.b)) == f.holds;
  };
  std::vector<uint32_t> symbols = symbols_of(asked.a);
  symbols.insert(symbols.end(), symbols_of(asked.b).begin(), symbols_of(asked.b).end());
  constexpr int64_t kMost = 64;
  for (size_t i = 0; i < symbols.size() && !holds(asked); ++i) {
    const uint32_t k = symbols[i];
    if (!inside_[k]) continue;
    const int64_t before = hints_[k];
    const auto set = [&](int64_t hint) {
      hints_[k] = hint;
      hint_of_.clear();
    };
    for (int64_t h = before; h <= kMost && !(holds(asked) && absl::c_all_of(checks_, holds)); ++h)
      set(h);
    if (!holds(asked)) set(before);
  }
  return fact.holds;
}

void SymScope::assume(Relation relation, Int a, Int b) {
  if (closed_ || prove(relation, a, b) != Truth::unknown) return;
  checks_.push_back({relation, true, a, b, here()});
  if (relation == Relation::eq || relation == Relation::ne) return learn(relation, true, a, b);
  // Of this difference alone. That i < n holds in every round says nothing about n: there may be
  // none.
  const Int d = simplify(a - b);
  if (d.known()) return;
  const Form f = form_of(d);
  const uint64_t word = f.form.word();
  if (!known_.contains(word)) {
    known_.emplace(word, range(f.form));
    for (uint32_t k : symbols_of(f.form)) forms_with_[k].push_back(f.form);
  }
  known_.find(word)->second.meet(f.down({-kInf, relation == Relation::lt ? -1 : 0}));
  ++epoch_;
}

void SymScope::learn(Relation relation, bool holds, Int a, Int b) {
  Int d = simplify(a - b);
  if (d.known()) return;
  switch (relation) {
    case Relation::eq:
    case Relation::ne:
      if (holds == (relation == Relation::eq))
        narrow(d, {0, 0});
      else
        narrow(d, {-kInf, kInf, {0}});
      break;
    case Relation::lt:
      narrow(d, holds ? Range{-kInf, -1} : Range{0, kInf});
      break;
    case Relation::le:
      narrow(d, holds ? Range{-kInf, 0} : Range{1, kInf});
      break;
  }
}

void SymScope::narrow(Int e, const Range& by) {
  Form f = form_of(e);
  Range r = f.down(by);
  if (!known_.contains(f.form.word())) {
    known_.emplace(f.form.word(), range(f.form));
    for (uint32_t k : symbols_of(f.form)) forms_with_[k].push_back(f.form);
  }
  known_.find(f.form.word())->second.meet(r);
  ++epoch_;
  Range now = known_.find(f.form.word())->second;
  if (now.low == now.high) {
    solve(f.form - Int(now.low));
    if (!identical(simplify(f.form), f.form)) return;  // a symbol is gone, and this form with it
  }
  narrow_terms(f.form, now);
  narrow_part(f.form, now);
}

// What a sum is known to be says something of each term: s0 >= 1 follows from s0 - s1 >= 1.
void SymScope::narrow_terms(Int sum, const Range& r) {
  const SymExpr* x = sum.expr();
  if (x->kind != SymKind::sum || x->terms.size() < 2) return;
  // Bounds of the terms before each one and of those after it, for the sums that are long.
  const std::vector<SymTerm>& terms = x->terms;
  const size_t n = terms.size();
  const bool is_long = n > 8;
  std::vector<Range> after(is_long ? n : 0, Range{0, 0});
  for (size_t i = after.size(); i-- > 1;) {
    Range t = range_of_term(terms[i], 0);
    after[i - 1] = {add(after[i].low, t.low), add(after[i].high, t.high)};
  }
  Range before{0, 0};
  for (size_t i = 0; i < n; ++i) {
    const SymTerm& t = terms[i];
    Range rest = is_long ? Range{add(before.low, after[i].low), add(before.high, after[i].high)}
                         : Range{0, 0};
    if (is_long) {
      Range here = range_of_term(t, 0);
      before = {add(before.low, here.low), add(before.high, here.high)};
    }
    if (t.factors.size() != 1) continue;
    Int atom = Int::from_expr(t.factors[0]);
    if (!is_long) rest = range(sum - Int(t.coefficient) * atom);
    Range was = range(atom), term{-kInf, kInf};  // what a size can be at most says nothing
    if (rest.high < kMostInt) term.low = add(r.low, -rest.high);
    if (rest.low > -kMostInt) term.high = add(r.high, -rest.low);
    Range by = Form{{atom, t.coefficient}}.down(term);
    if (by.low > was.low || by.high < was.high) narrow(atom, by);
  }
}

namespace {

/// So small that neither sums nor products of two such expressions overflow.
bool is_small(Int e) {
  constexpr int64_t kMost = int64_t{1} << 20;
  return absl::c_all_of(poly::expand(e), [](const SymTerm& t) {
    return -kMost <= t.coefficient && t.coefficient <= kMost;
  });
}

/// Of the quotients by a number among the terms of a sum, the one with most atoms inside of atoms.
std::optional<SymTerm> outermost_quotient(Int sum) {
  std::optional<SymTerm> found;
  for (const SymTerm& t : poly::expand(sum)) {
    if (t.factors.size() != 1 || t.factors[0]->kind != SymKind::floor_div) continue;
    const SymExpr* q = t.factors[0];
    if (!q->b.known() || q->b.value() <= 0 || !is_small(q->a) || !is_small(q->b)) continue;
    if (!found || q->height > found->factors[0]->height) found = t;
  }
  return found;
}

}  // namespace

// Of a sum with k * max(a, 0) in it: where it cannot be what it is without that term, it is so with
// k * a, and the other way round. An upper bound of max(a, 0) is one of a in any case. And
// b * floor_div(a, b) is a but for a rest of 0 to b - 1, so that what is known of a sum with a
// quotient in it is known of one without, b times as large.
void SymScope::narrow_part(Int form, const Range& r) {
  auto known_of = [&](Int inside, const Range& by) {
    if (inside.known()) return;
    const Range was = range(inside);
    if (by.low > was.low || by.high < was.high) narrow(inside, by);
  };
  auto impossible = [&](Int e) {
    const Range at = range(e);
    return at.high < r.low || at.low > r.high;
  };
  const SymExpr* x = form.expr();
  if (x->kind == SymKind::positive && r.high < kMostInt && r.high >= 0)
    known_of(x->a, {-kInf, r.high});
  constexpr int kMostTried = 4;
  int tried = 0;
  for (const SymTerm& t : poly::expand(form)) {
    const SymExpr* part = poly::positive_part_in(t);
    if (part == nullptr || ++tried > kMostTried) continue;
    const Int without = form - Int(t.coefficient) * Int::from_expr(part);
    const Int with = without + Int(t.coefficient) * part->a;
    if (impossible(without)) return known_of(with, r);
    if (impossible(with)) return known_of(without, r);
  }
  const std::optional<SymTerm> term = outermost_quotient(form);
  if (!term || !is_small(form)) return;
  const SymExpr* q = term->factors[0];
  const int64_t k = term->coefficient, b = q->b.value();
  Range by{-kInf, kInf};
  if (r.low > -kMostInt) by.low = add(multiply(r.low, b), std::min<int64_t>(k, 0) * (b - 1));
  if (r.high < kMostInt) by.high = add(multiply(r.high, b), std::max<int64_t>(k, 0) * (b - 1));
  known_of(Int(b) * (form - Int(k) * Int::from_expr(q)) + Int(k) * q->a, by);
}

// zero = 0: if some symbol is in it once, alone and with coefficient 1 or -1, it follows from the
// others. The youngest such symbol goes, so that what remains was seen first.
void SymScope::solve(Int zero) {
  const std::vector<uint32_t>& symbols = symbols_of(zero);
  for (size_t i = symbols.size(); i-- > 0;)
    if (std::optional<Int> by = solved_for(symbols[i], zero)) return replace(symbols[i], *by);
}

void SymScope::replace(uint32_t gone, Int by) {
  replaced_[gone] = by;
  simplified_.clear();
  ++epoch_;
  std::vector<Int> forms = std::move(forms_with_[gone]);
  forms_with_.erase(gone);
  for (Int form : forms) {
    auto it = known_.find(form.word());
    if (it == known_.end()) continue;  // rewritten for another symbol before
    Range r = it->second;
    known_.erase(it);
    Int e = simplify(form);
    if (!e.known()) narrow(e, r);
  }
}

}  // namespace lathe
