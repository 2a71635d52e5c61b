// The algebra of symbolic sizes.
//
// Every expression is kept in one normal form, a polynomial over atoms (core/sympoly.h), and
// interned in one table for the whole process; so equality is comparison of words. What is written
// here is what polynomials do not do by themselves: the four functions that make atoms. Each first
// takes out all that is exact for all integers (`reduce`), and may ask the scope under way for a
// proof; only what is left becomes an atom.
#include "core/symexpr.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <numeric>

#include "core/error.h"
#include "core/sympoly.h"

namespace lathe {
namespace {

using namespace poly;  // NOLINT: this file is its other half

// The largest monomial that divides all of `p` and `q`, but for p's constant if that is to be
// skipped.
SymTerm common_monomial(const Poly& p, const Poly& q, bool skip_constant) {
  SymTerm g{0, q[0].factors};
  for (const Poly* poly : {&p, &q}) {
    for (const SymTerm& t : *poly) {
      if (skip_constant && poly == &p && t.factors.empty()) continue;
      g.coefficient = std::gcd(g.coefficient, t.coefficient);
      Factors left = t.factors, common;
      for (const SymExpr* f : g.factors) {
        auto it = std::find(left.begin(), left.end(), f);
        if (it == left.end()) continue;
        common.push_back(f);
        left.erase(it);
      }
      g.factors = std::move(common);
    }
  }
  return g;
}

Poly divide_by_monomial(const Poly& p, const SymTerm& m) {
  Poly r;
  for (const SymTerm& t : p) {
    SymTerm q{floor_div(Int(t.coefficient), Int(m.coefficient)).value(), {}};
    remove_factors(t.factors, m.factors, q.factors);
    if (q.coefficient != 0) r.push_back(std::move(q));
  }
  collect(r);
  return r;
}

bool is_number(const Poly& p) { return p.empty() || (p.size() == 1 && p[0].factors.empty()); }
int64_t constant_of(const Poly& p) {
  return p.empty() || !p.back().factors.empty() ? 0 : p.back().coefficient;
}

bool proven(Relation relation, Int a, Int b) {
  SymScope* scope = SymScope::current();
  return scope && scope->prove(relation, a, b) == SymScope::Truth::yes;
}

void check_divisor(const char* op, Int a, Int b) {
  SymScope* scope = SymScope::current();
  if (b.known() || !scope || scope->require(Relation::ne, b, 0)) return;
  throw ValueError({.op = op,
                    .problem = "division by zero",
                    .got = absl::StrCat(to_string(a), " by ", to_string(b))});
}

// a and b after `split` and with what they have in common taken out, ready to be an atom:
//   floor_div(a, b) = quotient + floor_div(rest, divisor)
//   mod(a, b)       = scale * mod(rest, divisor) + constant
struct Reduced {
  Poly quotient, rest, divisor;
  SymTerm scale{1, {}};
  int64_t constant = 0;
};

Reduced reduce(const Poly& a, const Poly& b) {
  Reduced r;
  split(a, b, r.quotient, r.rest);
  r.divisor = b;
  if (r.rest.empty()) return r;
  // floor((g*x + c) / (g*k)) = floor((x + floor(c/g)) / k) for numbers g > 0 and k.
  bool number = is_number(b);
  r.scale = common_monomial(r.rest, b, number);
  if (number) r.constant = mod(Int(constant_of(r.rest)), Int(r.scale.coefficient)).value();
  r.rest = divide_by_monomial(r.rest, r.scale);
  r.divisor = divide_by_monomial(r.divisor, r.scale);
  return r;
}

Int times_minus_one(Int e) { return e * Int(-1); }

// Neither notes a check: only the call that made an expression does, not one that rebuilds it.
Int quotient_of(Int a, Int b) {
  if (identical(b, 0) || (a.known() && b.known())) return floor_div(a, b);
  Poly divisor = expand(b);
  if (divisor[0].coefficient < 0) return quotient_of(times_minus_one(a), times_minus_one(b));
  Reduced r = reduce(expand(a), divisor);
  Int quotient = make(std::move(r.quotient)), rest = make(r.rest), by = make(r.divisor);
  if (identical(rest, 0)) return quotient;
  if (identical(by, 1)) return quotient + rest;
  if (rest.known() && by.known()) return quotient + floor_div(rest, by);
  if (proven(Relation::le, 0, rest) && proven(Relation::lt, rest, by)) return quotient;
  // floor((floor(x/m) + c) / k) = floor((x + c*m) / (m*k)) for m, k > 0.
  if (by.known() && r.rest[0].coefficient == 1 && r.rest[0].factors.size() == 1 &&
      r.rest.size() == (constant_of(r.rest) != 0 ? 2 : 1)) {
    const SymExpr* inner = r.rest[0].factors[0];
    if (inner->kind == SymKind::floor_div && inner->b.known() && inner->b.value() > 0)
      return quotient + quotient_of(inner->a + Int(constant_of(r.rest)) * inner->b, inner->b * by);
  }
  return quotient + make_atom(SymKind::floor_div, rest, by);
}

Int remainder_of(Int a, Int b) {
  if (identical(b, 0) || (a.known() && b.known())) return mod(a, b);
  Poly divisor = expand(b);
  if (divisor[0].coefficient < 0)
    return times_minus_one(remainder_of(times_minus_one(a), times_minus_one(b)));
  Reduced r = reduce(expand(a), divisor);
  Int rest = make(std::move(r.rest)), by = make(std::move(r.divisor)), scale = make({r.scale});
  if (identical(rest, 0) || identical(by, 1)) return r.constant;
  if (rest.known() && by.known()) return scale * mod(rest, by) + r.constant;
  if (proven(Relation::le, 0, rest) && proven(Relation::lt, rest, by))
    return scale * rest + r.constant;
  return scale * make_atom(SymKind::mod, rest, by) + r.constant;
}

Int sym_extreme(SymKind kind, Int a, Int b) {
  bool least = kind == SymKind::min;
  Int difference = a - b;
  if (difference.known()) return (difference.value() <= 0) == least ? a : b;
  if (proven(Relation::le, a, b)) return least ? a : b;
  if (proven(Relation::le, b, a)) return least ? b : a;
  return compare(a, b) <= 0 ? make_atom(kind, a, b) : make_atom(kind, b, a);
}

void print_term(std::string& out, const SymTerm& t, bool first) {
  if (t.coefficient < 0)
    absl::StrAppend(&out, first ? "-" : " - ");
  else if (!first)
    absl::StrAppend(&out, " + ");
  int64_t magnitude = t.coefficient < 0 ? -t.coefficient : t.coefficient;
  const char* separator = "";
  if (magnitude != 1 || t.factors.empty()) {
    absl::StrAppend(&out, magnitude);
    separator = "*";
  }
  for (const SymExpr* f : t.factors) {
    absl::StrAppend(&out, separator, to_string(Int::from_expr(f)));
    separator = "*";
  }
}

const char* function_name(SymKind kind) {
  switch (kind) {
    case SymKind::floor_div:
      return "floor_div";
    case SymKind::mod:
      return "mod";
    case SymKind::min:
      return "min";  // not an op: of sizes
    case SymKind::max:
      return "max";  // not an op: of sizes
    default:
      return "";
  }
}

template <class Visit>
void for_each_symbol(Int e, const Visit& visit) {
  for (const SymTerm& t : expand(e)) {
    for (const SymExpr* f : t.factors) {
      if (f->kind == SymKind::symbol) {
        visit(f->symbol);
      } else {
        for_each_symbol(f->a, visit);
        for_each_symbol(f->b, visit);
      }
    }
  }
}

}  // namespace

Int Int::sym_add(Int a, Int b) {
  Poly p = expand(a), q = expand(b);
  p.insert(p.end(), q.begin(), q.end());
  collect(p);
  return make(std::move(p));
}

Int Int::sym_mul(Int a, Int b) {
  Poly p = expand(a), q = expand(b), r;
  r.reserve(p.size() * q.size());
  for (const SymTerm& x : p)
    for (const SymTerm& y : q) r.push_back(times(x, y));
  collect(r);
  return make(std::move(r));
}

Int sym_floor_div(Int a, Int b) {
  check_divisor("floor_div", a, b);
  return quotient_of(a, b);
}
Int sym_mod(Int a, Int b) {
  check_divisor("mod", a, b);
  return remainder_of(a, b);
}
Int sym_min(Int a, Int b) { return sym_extreme(SymKind::min, a, b); }
Int sym_max(Int a, Int b) { return sym_extreme(SymKind::max, a, b); }

bool divides(Int b, Int a, Int* quotient) {
  Poly divisor = expand(b), q;
  if (divisor.empty() || !divide_exactly(expand(a), divisor, q)) return false;
  if (quotient) *quotient = make(std::move(q));
  return true;
}

Int substitute(Int e, const std::function<Int(uint32_t)>& value_of) {
  Int sum = 0;
  for (const SymTerm& t : expand(e)) {
    Int product = t.coefficient;
    for (const SymExpr* f : t.factors) {
      if (f->kind == SymKind::symbol) {
        product *= value_of(f->symbol);
        continue;
      }
      Int a = substitute(f->a, value_of), b = substitute(f->b, value_of);
      switch (f->kind) {
        case SymKind::floor_div:
          product *= quotient_of(a, b);
          break;
        case SymKind::mod:
          product *= remainder_of(a, b);
          break;
        case SymKind::min:
          product *= min(a, b);
          break;
        case SymKind::max:
          product *= max(a, b);
          break;
        default:
          LATHE_INTERNAL("a sum among the factors of a product");
      }
    }
    sum += product;
  }
  return sum;
}

std::vector<uint32_t> symbols_of(Int e) {
  std::vector<uint32_t> r;
  for_each_symbol(e, [&](uint32_t k) { r.push_back(k); });
  std::sort(r.begin(), r.end());
  r.erase(std::unique(r.begin(), r.end()), r.end());
  return r;
}

std::optional<Int> solved_for(uint32_t k, Int zero) {
  for (const SymTerm& t : expand(zero)) {
    if (t.factors.size() != 1 || (t.coefficient != 1 && t.coefficient != -1)) continue;
    if (t.factors[0]->kind != SymKind::symbol || t.factors[0]->symbol != k) continue;
    Int rest = zero - Int(t.coefficient) * symbol(k);
    std::vector<uint32_t> elsewhere = symbols_of(rest);
    if (std::binary_search(elsewhere.begin(), elsewhere.end(), k)) return std::nullopt;
    return Int(-t.coefficient) * rest;
  }
  return std::nullopt;
}

std::string to_string(Int e) {
  if (e.known()) return absl::StrCat(e.value());
  const SymExpr* x = e.expr();
  if (x->kind == SymKind::symbol) return absl::StrCat("s", x->symbol);
  if (x->kind != SymKind::sum)
    return absl::StrCat(function_name(x->kind), "(", to_string(x->a), ", ", to_string(x->b), ")");
  std::string out;
  for (const SymTerm& t : expand(e)) print_term(out, t, out.empty());
  return out;
}

}  // namespace lathe
