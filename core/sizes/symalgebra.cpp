// The algebra of symbolic sizes.
//
// Every expression is kept in one normal form (core/sizes/symexpr.h), a polynomial over atoms
// (core/sizes/sympoly.h), and interned in one table for the whole process; so equality is
// comparison of words. What is written here is what polynomials do not do by themselves: the
// functions that make atoms, floor_div, mod and the positive part (min and max are written with
// that). Each first takes out all that is exact for all integers (`reduce`), and may ask the scope
// under way for a proof; only what is left becomes an atom.
#include "core/sizes/symexpr.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <memory>
#include <numeric>

#include "core/base/error.h"
#include "core/sizes/piecewise.h"
#include "core/sizes/sympoly.h"

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

/// What is known: of all integers where no scope is under way.
const SymScope& knowledge() {
  if (const SymScope* scope = SymScope::current()) return *scope;
  // On the heap: what is in a shared object's thread-local block has to fit a space of fixed size.
  thread_local const auto nothing = std::make_unique<SymScope>();
  return *nothing;
}

bool proven(Relation relation, Int a, Int b) {
  return knowledge().prove(relation, a, b) == SymScope::Truth::yes;
}

Interval bounds_of(Int e) {
  auto [low, high] = knowledge().bounds(e);
  return {low, high};
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

Int positive_part(Int d);

/// floor_div of rest = k * max(a, 0) + c by a number: it does not fall, so it may be taken inside.
std::optional<Int> quotient_inside(const Poly& rest, Int by);

// Neither notes a check: only the call that made an expression does, not one that rebuilds it.
Int quotient_of(Int a, Int b) {
  if (identical(b, 0) || (a.known() && b.known())) return floor_div(a, b);
  Poly divisor = expand(b);
  if (divisor[0].coefficient < 0) return quotient_of(times_minus_one(a), times_minus_one(b));
  // How ceil_div is written: what it makes of quotients is then a quotient.
  if (b.known() && !a.known() && expand(a)[0].coefficient < 0)
    return times_minus_one(quotient_of(times_minus_one(a) + b - 1, b));
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
    constexpr int64_t kMost = int64_t{1} << 40;  // beyond all sizes, far from overflow
    if (inner->kind == SymKind::floor_div && inner->b.known() && inner->b.value() > 0 &&
        inner->b.value() <= kMost / by.value())
      return quotient + quotient_of(inner->a + Int(constant_of(r.rest)) * inner->b, inner->b * by);
  }
  if (std::optional<Int> inside = quotient_inside(r.rest, by)) return quotient + *inside;
  return quotient + make_atom(SymKind::floor_div, rest, by);
}

std::optional<Int> quotient_inside(const Poly& rest, Int by) {
  const SymExpr* part = positive_part_in(rest[0]);
  if (part == nullptr || !by.known() || rest[0].coefficient < 0 ||
      rest.size() > (constant_of(rest) != 0 ? 2 : 1))
    return std::nullopt;
  Int c = constant_of(rest), least = floor_div(c, by);
  return least + positive_part(quotient_of(Int(rest[0].coefficient) * part->a + c, by) - least);
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

// Rule 3, where it applies to one of the first few terms k * max(a, 0), d being r without it:
//   max(r + k * max(a, 0), 0) = max(r + k * a, 0)             for k > 0 and r <= 0
//                             = max(r, 0) + k * max(a, 0)     for k < 0 and r + k * a >= 0
std::optional<Int> flattened(Int d) {
  constexpr int kMostTried = 4;
  int tried = 0;
  for (const SymTerm& t : expand(d)) {
    const SymExpr* part = positive_part_in(t);
    if (part == nullptr) continue;
    if (++tried > kMostTried) break;
    Int k = t.coefficient, max_a = Int::from_expr(part), rest = d - k * max_a;
    if (t.coefficient > 0 && bounds_of(rest).high <= 0) return positive_part(rest + k * part->a);
    if (t.coefficient < 0 && bounds_of(rest + k * part->a).low >= 0)
      return positive_part(rest) + k * max_a;
  }
  return std::nullopt;
}

// max(d, 0); the numbers are those of the rules in symexpr.h.
Int positive_part(Int d) {
  if (d.known()) return d.value() < 0 ? Int(0) : d;
  Interval of = bounds_of(d);  // 1
  if (of.low >= 0) return d;
  if (of.high <= 0) return 0;
  std::optional<Piecewise> g = piecewise_of(expand(d));
  Scaled whole = scaled_form(d);
  if (!g) {  // 3
    const Int turned = times_minus_one(d);
    for (bool as_it_is : {whole.scale > 0, whole.scale < 0})
      if (std::optional<Int> flat = flattened(as_it_is ? d : turned))
        return as_it_is ? *flat : d + *flat;
    g = Piecewise{whole.form, whole.scale, whole.constant};  // 4
  }
  g = positive(*g, bounds_of(g->form));  // 2
  return g ? to_int(*g) : make_atom(SymKind::positive, d, 0);
}

Int kept_whole(Int e) {
  constexpr size_t kMostTerms = 32;
  if (e.known() || e.expr()->kind != SymKind::sum || e.expr()->terms.size() <= kMostTerms) return e;
  return make_atom(SymKind::whole, e, 0);
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
    case SymKind::positive:
      return "max";  // not an op: of sizes
    default:
      return "";
  }
}

/// One walk of `substitute`: what atoms have in common is visited once.
class Substitution {
 public:
  explicit Substitution(const std::function<Int(uint32_t)>& value_of) : value_of_(value_of) {}

  Int of(Int e) {
    if (e.known()) return e;
    const SymExpr* x = e.expr();
    if (x->kind != SymKind::sum) return of_atom(x);
    sym_work().terms += x->terms.size();
    Int number = x->constant;
    Poly rest;
    for (const SymTerm& t : x->terms) {
      Int product = t.coefficient;
      for (const SymExpr* f : t.factors) product *= of_atom(f);
      if (product.known()) {
        number += product;
        continue;
      }
      Poly p = expand(product);
      rest.insert(rest.end(), p.begin(), p.end());
    }
    if (rest.empty()) return number;
    collect(rest);
    return make(std::move(rest)) + number;
  }

 private:
  Int of_atom(const SymExpr* f) {
    if (f->kind == SymKind::symbol) return value_of_(f->symbol);
    // An atom of symbols and numbers alone is sooner computed than found.
    if (f->height <= 1) return anew(f);
    if (auto it = done_.find(f); it != done_.end()) return it->second;
    Int value = anew(f);
    done_.emplace(f, value);
    return value;
  }
  Int anew(const SymExpr* f) {
    Int a = of(f->a);
    switch (f->kind) {
      case SymKind::floor_div:
        return quotient_of(a, of(f->b));
      case SymKind::mod:
        return remainder_of(a, of(f->b));
      case SymKind::positive:
        return positive_part(a);
      case SymKind::whole:
        return kept_whole(a);
      default:
        LATHE_INTERNAL("a sum among the factors of a product");
    }
  }

  const std::function<Int(uint32_t)>& value_of_;
  absl::flat_hash_map<const SymExpr*, Int> done_;
};

}  // namespace

Int Int::sym_add(Int a, Int b) { return make(plus(expand(a), expand(b))); }

Int Int::sym_mul(Int a, Int b) {
  if (a.known()) std::swap(a, b);
  Poly p = expand(a), q = expand(b), r;
  if (b.known()) return make(plus({}, p, b.value()));
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
Int sym_min(Int a, Int b) { return a - positive_part(a - b); }
Int sym_max(Int a, Int b) { return b + positive_part(a - b); }

Int sym_add_whole(Int a, Int b) { return kept_whole(a + b); }

bool divides(Int b, Int a, Int* quotient) {
  Poly divisor = expand(b), q;
  if (divisor.empty() || !divide_exactly(expand(a), divisor, q)) return false;
  if (quotient) *quotient = make(std::move(q));
  return true;
}

Int substitute(Int e, const std::function<Int(uint32_t)>& value_of) {
  return Substitution(value_of).of(e);
}

const std::vector<uint32_t>& symbols_of(Int e) {
  static const auto& none = *new std::vector<uint32_t>;
  return e.known() ? none : *e.expr()->symbols;
}

std::optional<Int> solved_for(uint32_t k, Int zero) {
  for (const SymTerm& t : expand(zero)) {
    if (t.factors.size() != 1 || (t.coefficient != 1 && t.coefficient != -1)) continue;
    if (t.factors[0]->kind != SymKind::symbol || t.factors[0]->symbol != k) continue;
    Int rest = zero - Int(t.coefficient) * symbol(k);
    const std::vector<uint32_t>& elsewhere = symbols_of(rest);
    if (std::binary_search(elsewhere.begin(), elsewhere.end(), k)) return std::nullopt;
    return Int(-t.coefficient) * rest;
  }
  return std::nullopt;
}

std::string to_string(Int e) {
  if (e.known()) return absl::StrCat(e.value());
  const SymExpr* x = e.expr();
  if (x->kind == SymKind::symbol) return absl::StrCat("s", x->symbol);
  if (x->kind == SymKind::whole) return absl::StrCat("(", to_string(x->a), ")");
  if (x->kind != SymKind::sum)
    return absl::StrCat(function_name(x->kind), "(", to_string(x->a), ", ", to_string(x->b), ")");
  std::string out;
  for (const SymTerm& t : expand(e)) print_term(out, t, out.empty());
  return out;
}

}  // namespace lathe
