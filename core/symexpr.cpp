// The algebra of symbolic sizes.
//
// Every expression is kept in one normal form, a polynomial over atoms, and interned in one table
// for the whole process; so equality is comparison of words. While it is computed, a polynomial is
// a Poly: a sorted list of monomials in which the constant is the monomial without factors (it
// sorts last). `expand` turns an Int into one and `make` interns it again; `sym_add`, `sym_mul`,
// `divides` and the four functions in between are the only places that build expressions.
//
// The order of monomials is graded lexicographic: higher degree first, then by factors. It is a
// monomial order, which is what makes `divides` (long division) right. Atoms are compared by what
// they are, never by when they were made: two processes print the same text.
#include "core/symexpr.h"

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>
#include <absl/hash/hash.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <deque>
#include <mutex>
#include <numeric>

#include "core/error.h"
#include "core/fork.h"

namespace lathe {
namespace {

using Poly = std::vector<SymTerm>;
using Factors = std::vector<const SymExpr*>;

// ── order ───────────────────────────────────────────────────────────────────────────────────────

int compare(Int a, Int b);

int compare(const SymExpr* a, const SymExpr* b) {
  if (a == b) return 0;
  if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
  if (a->kind == SymKind::symbol) return a->symbol < b->symbol ? -1 : 1;
  if (int c = compare(a->a, b->a)) return c;
  return compare(a->b, b->b);
}

int compare(const Factors& a, const Factors& b) {
  if (a.size() != b.size()) return a.size() > b.size() ? -1 : 1;
  for (size_t i = 0; i < a.size(); i++)
    if (int c = compare(a[i], b[i])) return c;
  return 0;
}

Poly expand(Int e) {
  if (e.known()) return e.value() == 0 ? Poly{} : Poly{{e.value(), {}}};
  const SymExpr* x = e.expr();
  if (x->kind != SymKind::sum) return {{1, {x}}};
  Poly p = x->terms;
  if (x->constant != 0) p.push_back({x->constant, {}});
  return p;
}

int compare(Int a, Int b) {
  if (identical(a, b)) return 0;
  Poly p = expand(a), q = expand(b);
  for (size_t i = 0; i < p.size() && i < q.size(); i++) {
    if (int c = compare(p[i].factors, q[i].factors)) return c;
    if (p[i].coefficient != q[i].coefficient) return p[i].coefficient < q[i].coefficient ? -1 : 1;
  }
  return p.size() < q.size() ? -1 : 1;
}

// ── the table ───────────────────────────────────────────────────────────────────────────────────

struct ContentHash {
  size_t operator()(const SymExpr* e) const {
    size_t h = absl::HashOf(e->kind, e->symbol, e->a.word(), e->b.word(), e->constant);
    for (const SymTerm& t : e->terms) h = absl::HashOf(h, t.coefficient, t.factors);
    return h;
  }
};
struct ContentEqual {
  bool operator()(const SymExpr* a, const SymExpr* b) const {
    return a->kind == b->kind && a->symbol == b->symbol && identical(a->a, b->a) &&
           identical(a->b, b->b) && a->constant == b->constant && a->terms == b->terms;
  }
};

struct SymTable {
  std::deque<SymExpr> nodes;  // never freed: an Int is a plain word and may be kept anywhere
  absl::flat_hash_set<const SymExpr*, ContentHash, ContentEqual> known;
};
constinit ForkSafeMutex table_mutex;

Int intern(SymExpr e) {
  std::lock_guard hold(table_mutex);
  static auto& table = *new SymTable;
  auto it = table.known.find(&e);
  if (it != table.known.end()) return Int::from_expr(*it);
  e.id = static_cast<uint32_t>(table.nodes.size());
  table.nodes.push_back(std::move(e));
  table.known.insert(&table.nodes.back());
  return Int::from_expr(&table.nodes.back());
}

Int make(Poly p) {
  if (p.empty()) return 0;
  int64_t constant = 0;
  if (p.back().factors.empty()) {
    constant = p.back().coefficient;
    p.pop_back();
  }
  if (p.empty()) return constant;
  if (constant == 0 && p.size() == 1 && p[0].coefficient == 1 && p[0].factors.size() == 1)
    return Int::from_expr(p[0].factors[0]);
  return intern({.kind = SymKind::sum, .constant = constant, .terms = std::move(p)});
}

Int make_atom(SymKind kind, Int a, Int b) { return intern({.kind = kind, .a = a, .b = b}); }

// ── polynomials ─────────────────────────────────────────────────────────────────────────────────

// Int's own arithmetic checks the range of coefficients.
int64_t sum_of(int64_t a, int64_t b) { return (Int(a) + Int(b)).value(); }
int64_t product_of(int64_t a, int64_t b) { return (Int(a) * Int(b)).value(); }

void collect(Poly& p) {
  std::sort(p.begin(), p.end(),
            [](const SymTerm& x, const SymTerm& y) { return compare(x.factors, y.factors) < 0; });
  size_t kept = 0;
  for (size_t i = 0; i < p.size(); i++) {
    if (kept > 0 && p[kept - 1].factors == p[i].factors)
      p[kept - 1].coefficient = sum_of(p[kept - 1].coefficient, p[i].coefficient);
    else if (kept++ != i)
      p[kept - 1] = std::move(p[i]);
    if (p[kept - 1].coefficient == 0) kept--;
  }
  p.resize(kept);
}

SymTerm times(const SymTerm& a, const SymTerm& b) {
  SymTerm r{product_of(a.coefficient, b.coefficient), {}};
  r.factors.reserve(a.factors.size() + b.factors.size());
  std::merge(a.factors.begin(), a.factors.end(), b.factors.begin(), b.factors.end(),
             std::back_inserter(r.factors),
             [](const SymExpr* x, const SymExpr* y) { return compare(x, y) < 0; });
  return r;
}

void add_scaled(Poly& p, const Poly& q, const SymTerm& by) {
  for (const SymTerm& t : q) p.push_back(times(t, by));
  collect(p);
}

// b's factors out of a's; false if one is missing.
bool remove_factors(const Factors& a, const Factors& b, Factors& rest) {
  rest = a;
  for (const SymExpr* f : b) {
    auto it = std::find(rest.begin(), rest.end(), f);
    if (it == rest.end()) return false;
    rest.erase(it);
  }
  return true;
}

bool divide_poly(Poly a, const Poly& b, Poly& quotient) {
  constexpr int kMostSteps = 64;
  for (int step = 0; !a.empty(); step++) {
    SymTerm q;
    if (step == kMostSteps || a[0].coefficient % b[0].coefficient != 0 ||
        !remove_factors(a[0].factors, b[0].factors, q.factors))
      return false;
    q.coefficient = a[0].coefficient / b[0].coefficient;
    add_scaled(a, b, {-q.coefficient, q.factors});
    quotient.push_back(std::move(q));
  }
  collect(quotient);
  return true;
}

// a = quotient * b + rest, the rest as small as is easily seen. b's first coefficient is positive.
void split(const Poly& a, const Poly& b, Poly& quotient, Poly& rest) {
  if (divide_poly(a, b, quotient)) return;
  quotient.clear();
  if (b.size() > 1) {
    rest = a;
    return;
  }
  for (const SymTerm& t : a) {
    SymTerm q;
    if (!remove_factors(t.factors, b[0].factors, q.factors)) {
      rest.push_back(t);
      continue;
    }
    q.coefficient = floor_div(Int(t.coefficient), Int(b[0].coefficient)).value();
    int64_t left = t.coefficient - q.coefficient * b[0].coefficient;
    if (q.coefficient != 0) quotient.push_back(std::move(q));
    if (left != 0) rest.push_back({left, t.factors});
  }
  collect(quotient);
}

// The largest monomial that divides all of `p` and `q`; a number's own constant term may be
// skipped.
SymTerm common_monomial(const Poly& p, const Poly& q, bool skip_constant) {
  SymTerm g{0, q[0].factors};
  for (const Poly* poly : {&p, &q}) {
    for (const SymTerm& t : *poly) {
      if (skip_constant && poly == &p && t.factors.empty()) continue;
      g.coefficient = std::gcd(g.coefficient, t.coefficient);
      Factors left, common;
      remove_factors(t.factors, {}, left);
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
      return "min";
    case SymKind::max:
      return "max";
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
  if (divisor.empty() || !divide_poly(expand(a), divisor, q)) return false;
  if (quotient) *quotient = make(std::move(q));
  return true;
}

Int symbol(uint32_t k) { return intern({.kind = SymKind::symbol, .symbol = k}); }

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
