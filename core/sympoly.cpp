#include "core/sympoly.h"

#include <absl/container/flat_hash_set.h>
#include <absl/hash/hash.h>

#include <algorithm>
#include <deque>
#include <iterator>
#include <mutex>
#include <utility>

#include "core/fork.h"

namespace lathe::poly {
namespace {

int compare_atoms(const SymExpr* a, const SymExpr* b) {
  if (a == b) return 0;
  if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
  if (a->kind == SymKind::symbol) return a->symbol < b->symbol ? -1 : 1;
  if (int c = compare(a->a, b->a)) return c;
  return compare(a->b, b->b);
}

int compare_factors(const Factors& a, const Factors& b) {
  if (a.size() != b.size()) return a.size() > b.size() ? -1 : 1;
  for (size_t i = 0; i < a.size(); i++)
    if (int c = compare_atoms(a[i], b[i])) return c;
  return 0;
}

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

// Int's own arithmetic checks the range of coefficients.
int64_t sum_of(int64_t a, int64_t b) { return (Int(a) + Int(b)).value(); }
int64_t product_of(int64_t a, int64_t b) { return (Int(a) * Int(b)).value(); }

}  // namespace

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
    if (int c = compare_factors(p[i].factors, q[i].factors)) return c;
    if (p[i].coefficient != q[i].coefficient) return p[i].coefficient < q[i].coefficient ? -1 : 1;
  }
  return p.size() < q.size() ? -1 : 1;
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

void collect(Poly& p) {
  std::sort(p.begin(), p.end(), [](const SymTerm& x, const SymTerm& y) {
    return compare_factors(x.factors, y.factors) < 0;
  });
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
             [](const SymExpr* x, const SymExpr* y) { return compare_atoms(x, y) < 0; });
  return r;
}

bool remove_factors(const Factors& a, const Factors& b, Factors& rest) {
  rest = a;
  for (const SymExpr* f : b) {
    auto it = std::find(rest.begin(), rest.end(), f);
    if (it == rest.end()) return false;
    rest.erase(it);
  }
  return true;
}

bool divide_exactly(Poly a, const Poly& b, Poly& quotient) {
  constexpr int kMostSteps = 64;
  for (int step = 0; !a.empty(); step++) {
    SymTerm q;
    if (step == kMostSteps || a[0].coefficient % b[0].coefficient != 0 ||
        !remove_factors(a[0].factors, b[0].factors, q.factors))
      return false;
    q.coefficient = a[0].coefficient / b[0].coefficient;
    for (const SymTerm& t : b) a.push_back(times(t, {-q.coefficient, q.factors}));
    collect(a);
    quotient.push_back(std::move(q));
  }
  collect(quotient);
  return true;
}

void split(const Poly& a, const Poly& b, Poly& quotient, Poly& rest) {
  if (divide_exactly(a, b, quotient)) return;
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

}  // namespace lathe::poly

namespace lathe {

Int symbol(uint32_t k) { return poly::intern({.kind = SymKind::symbol, .symbol = k}); }

}  // namespace lathe
