// What a scope knows of the values of expressions: intervals, from the ranges of symbols and the
// recorded facts, by interval arithmetic.
//
// Plain arithmetic forgets that two terms depend on one another: s - max(s - 10, 0) would have no
// upper bound. So terms of one form are bounded together, exactly, as a piecewise linear function
// (range_by_forms); and where positive parts are of several forms, each case of a few of them is
// bounded by itself (range_by_cases). An expression's range is kept until a fact is learned. Far
// inside, what is kept stands even then: what was known holds, if no longer sharply.
#include <algorithm>

#include "core/sizes/piecewise.h"
#include "core/sizes/symbounds.h"

namespace lathe {

using namespace bounded;  // NOLINT: the arithmetic of bounds

namespace {

constexpr int kMostDepth = 24;     // atoms inside of atoms that a proof looks at
constexpr size_t kMostForms = 4;   // bounded together in one sum
constexpr int kMostCases = 2;      // positive parts of which both cases are looked at
constexpr size_t kMostTerms = 16;  // of a sum whose cases are looked at
constexpr size_t kMostKept = size_t{1} << 16;

}  // namespace

void SymScope::Range::meet(const Range& other) {
  low = std::max(low, other.low);
  high = std::min(high, other.high);
  for (int64_t v : other.not_these)
    if (std::find(not_these.begin(), not_these.end(), v) == not_these.end()) not_these.push_back(v);
  auto excluded = [&](int64_t v) {
    return std::find(not_these.begin(), not_these.end(), v) != not_these.end();
  };
  while (low <= high && excluded(low)) low++;
  while (low <= high && excluded(high)) high--;
}

bool SymScope::Range::contains(int64_t v) const {
  return low <= v && v <= high &&
         std::find(not_these.begin(), not_these.end(), v) == not_these.end();
}

SymScope::Form SymScope::form_of(Int e) { return {poly::scaled_form(e)}; }

const SymScope::Range* SymScope::known(Int form) const {
  auto it = known_.find(form.word());
  return it == known_.end() ? nullptr : &it->second;
}

std::pair<int64_t, int64_t> SymScope::bounds(Int e) const {
  Range r = range(simplify(e));
  return {r.low, r.high};
}

SymScope::Range SymScope::range(Int e, int depth) const {
  if (e.known()) return {e.value(), e.value()};
  auto it = range_of_.find(e.word());
  if (it != range_of_.end() && (it->second.epoch == epoch_ || depth > kMostDepth))
    return it->second.range;
  const SymExpr* x = e.expr();
  if (depth > kMostDepth) return {x->kind == SymKind::positive ? 0 : -kInf, kInf};
  Range r = x->kind == SymKind::sum ? range_of_sum(e, depth) : range_of_atom(x, depth);
  if (range_of_.size() > kMostKept) range_of_.clear();
  range_of_.insert_or_assign(e.word(), Bounded{epoch_, r});
  return r;
}

SymScope::Range SymScope::range_of_atom(const SymExpr* atom, int depth) const {
  Range r{-kInf, kInf};
  ++sym_work().terms;
  if (atom->kind != SymKind::symbol) {
    Range a = range(atom->a, depth + 1), b = range(atom->b, depth + 1);
    switch (atom->kind) {
      case SymKind::floor_div:
        if (b.low > 0) {
          r.low = std::min(divide_down(a.low, b.low), divide_down(a.low, b.high));
          r.high = std::max(divide_down(a.high, b.low), divide_down(a.high, b.high));
        }
        break;
      case SymKind::mod:
        if (b.low > 0) {
          r = {0, add(b.high, -1)};
          if (a.low >= 0 && a.high < b.low) r = {a.low, a.high};
          if (a.low >= 0) r.high = std::min(r.high, a.high);
        }
        break;
      case SymKind::positive:
        r = {std::max<int64_t>(a.low, 0), std::max<int64_t>(a.high, 0)};
        break;
      case SymKind::whole:
        r = a;
        break;
      default:
        break;
    }
  }
  if (const Range* k = known(Int::from_expr(atom))) r.meet(*k);
  return r;
}

SymScope::Range SymScope::range_of_term(const SymTerm& t, int depth) const {
  int64_t low = t.coefficient, high = t.coefficient;
  for (const SymExpr* f : t.factors) {
    Range a = range(Int::from_expr(f), depth);
    auto [least, most] = std::minmax({multiply(low, a.low), multiply(low, a.high),
                                      multiply(high, a.low), multiply(high, a.high)});
    low = least;
    high = most;
  }
  return {low, high};
}

SymScope::Range SymScope::range_of_terms(Terms terms, int depth) const {
  Range r{0, 0};
  sym_work().terms += terms.size();
  for (const SymTerm& t : terms) {
    Range term = range_of_term(t, depth);
    r.low = add(r.low, term.low);
    r.high = add(r.high, term.high);
  }
  return r;
}

SymScope::Range SymScope::range_by_forms(Terms terms, int depth) const {
  std::vector<poly::Piecewise> groups;
  poly::Poly rest;
  for (const SymTerm& t : terms) {
    const SymExpr* part = poly::positive_part_in(t);
    poly::Scaled of = part != nullptr ? poly::scaled_form(part->a) : poly::Scaled{};
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const poly::Piecewise& g) { return identical(g.form, of.form); });
    bool joins =
        part != nullptr && of.scale == 1 && (group != groups.end() || groups.size() < kMostForms);
    if (!joins) {
      rest.push_back(t);
      continue;
    }
    if (group == groups.end()) group = groups.insert(group, {of.form});
    group->kinks.push_back({-of.constant, t.coefficient});
  }
  Range all{0, 0};
  for (poly::Piecewise& g : groups) {
    // As often as the form's first term is among the others.
    poly::Poly form = poly::expand(g.form);
    auto first = std::find_if(rest.begin(), rest.end(),
                              [&](const SymTerm& t) { return t.factors == form[0].factors; });
    if (first != rest.end() && first->coefficient % form[0].coefficient == 0) {
      g.slope = first->coefficient / form[0].coefficient;
      rest = poly::plus(rest, form, -g.slope);
    }
    std::sort(g.kinks.begin(), g.kinks.end(),
              [](poly::Kink a, poly::Kink b) { return a.at < b.at; });
    Range of = range(g.form, depth + 1);
    poly::Interval in = poly::bounds(g, {of.low, of.high});
    all = {add(all.low, in.low), add(all.high, in.high)};
  }
  Range others = range_of_terms(rest, depth);
  return {add(all.low, others.low), add(all.high, others.high)};
}

// rest + k * max(a, 0) is the greater of rest and rest + k * a for k > 0, the smaller for k < 0.
SymScope::Range SymScope::range_by_cases(Terms terms, int depth, int cases) const {
  Range r = range_by_forms(terms, depth);
  if (cases == 0) return r;
  int tried = 0;
  for (size_t i = 0; i < terms.size() && tried < kMostCases; ++i) {
    const SymExpr* part = poly::positive_part_in(terms[i]);
    if (part == nullptr) continue;
    ++tried;
    poly::Poly without(terms.begin(), terms.end());
    int64_t k = without[i].coefficient;
    without.erase(without.begin() + static_cast<ptrdiff_t>(i));
    Range a = range_by_cases(without, depth, cases - 1);
    Range b = range_by_cases(poly::plus(without, poly::expand(part->a), k), depth, cases - 1);
    if (k > 0)
      r.meet({std::max(a.low, b.low), std::max(a.high, b.high)});
    else
      r.meet({std::min(a.low, b.low), std::min(a.high, b.high)});
  }
  return r;
}

SymScope::Range SymScope::range_of_sum(Int e, int depth) const {
  const SymExpr* x = e.expr();
  poly::Poly terms = poly::expand(e);
  Range r = range_of_terms(terms, depth);
  size_t parts = 0;
  for (const SymTerm& t : x->terms) parts += poly::positive_part_in(t) != nullptr;
  if (parts > 0)
    r.meet(range_by_cases(terms, depth, x->terms.size() <= kMostTerms ? kMostCases : 0));
  Form f = form_of(e);
  if (const Range* k = known(f.form)) r.meet(f.up(*k));
  return r;
}

}  // namespace lathe
