#include "core/sizes/sympoly.h"

#include <absl/container/flat_hash_set.h>
#include <absl/hash/hash.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <iterator>
#include <mutex>
#include <numeric>
#include <utility>

#include "core/base/fork.h"

namespace lathe::poly {
namespace {

int compare_atoms(const SymExpr* a, const SymExpr* b) {
  if (a == b) return 0;
  if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
  if (a->kind == SymKind::symbol) return a->symbol < b->symbol ? -1 : 1;
  // Mostly decides without a look inside, which may be deep.
  if (a->height != b->height) return a->height < b->height ? -1 : 1;
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

using Symbols = std::vector<uint32_t>;

struct SymTable {
  std::deque<SymExpr> nodes;  // never freed: an Int is a plain word and may be kept anywhere
  std::deque<Symbols> symbols;
  absl::flat_hash_set<const SymExpr*, ContentHash, ContentEqual> known;
};
constinit ForkSafeMutex table_mutex;

template <class Visit>
void for_each_part(const SymExpr& e, const Visit& visit) {
  for (Int operand : {e.a, e.b})
    if (!operand.known()) visit(operand.expr());
  for (const SymTerm& t : e.terms)
    for (const SymExpr* f : t.factors) visit(f);
}

/// The symbols of all parts. Where one part has them all, its list is shared.
const Symbols* symbols_in(const SymExpr& e, SymTable& table) {
  if (e.kind == SymKind::symbol) return &table.symbols.emplace_back(1, e.symbol);
  const Symbols* most = nullptr;
  Symbols all;
  for_each_part(e, [&](const SymExpr* part) {
    if (part->symbols == most) return;
    if (most == nullptr) {
      most = part->symbols;
      return;
    }
    const Symbols& so_far = all.empty() ? *most : all;
    if (std::includes(so_far.begin(), so_far.end(), part->symbols->begin(), part->symbols->end()))
      return;
    Symbols more;
    std::set_union(so_far.begin(), so_far.end(), part->symbols->begin(), part->symbols->end(),
                   std::back_inserter(more));
    all = std::move(more);
  });
  return all.empty() ? most : &table.symbols.emplace_back(std::move(all));
}

Int intern(SymExpr e) {
  if (e.kind != SymKind::sum && e.kind != SymKind::symbol) e.height = 1;
  for_each_part(e, [&](const SymExpr* part) {
    e.height = std::max(e.height, part->height + (e.kind == SymKind::sum ? 0 : 1));
  });
  std::lock_guard hold(table_mutex);
  static auto& table = *new SymTable;
  auto it = table.known.find(&e);
  if (it != table.known.end()) return Int::from_expr(*it);
  ++sym_work().nodes;
  e.id = static_cast<uint32_t>(table.nodes.size());
  e.symbols = symbols_in(e, table);
  table.nodes.push_back(std::move(e));
  table.known.insert(&table.nodes.back());
  return Int::from_expr(&table.nodes.back());
}

// Int's own arithmetic checks the range of coefficients.
int64_t sum_of(int64_t a, int64_t b) { return (Int(a) + Int(b)).value(); }
int64_t product_of(int64_t a, int64_t b) { return (Int(a) * Int(b)).value(); }

/// floor_div(f, k) + floor_div(f + 1, k) + ... + floor_div(f + k - 1, k) = f: where a sum has them
/// all, as often as each is in it.
bool join_quotients(Poly& p) {
  auto quotient_in = [](const SymTerm& t) {
    const SymExpr* f = t.factors.size() == 1 ? t.factors[0] : nullptr;
    return f != nullptr && f->kind == SymKind::floor_div && f->b.known() ? f : nullptr;
  };
  for (const SymTerm& t : p) {
    const SymExpr* last = quotient_in(t);
    if (last == nullptr || last->a.known()) continue;
    int64_t k = last->b.value();
    if (k > static_cast<int64_t>(p.size()) || scaled_form(last->a).constant != k - 1) continue;
    Int form = last->a - Int(k - 1);
    std::vector<size_t> places;
    int64_t times = t.coefficient;
    for (size_t i = 0; i < p.size(); ++i) {
      const SymExpr* f = quotient_in(p[i]);
      if (f == nullptr || !identical(f->b, last->b) || (p[i].coefficient < 0) != (times < 0))
        continue;
      Int apart = last->a - f->a;
      if (!apart.known() || apart.value() < 0 || apart.value() >= k) continue;
      places.push_back(i);
      if (std::abs(p[i].coefficient) < std::abs(times)) times = p[i].coefficient;
    }
    if (static_cast<int64_t>(places.size()) != k) continue;
    for (size_t i : places) p[i].coefficient -= times;
    std::erase_if(p, [](const SymTerm& term) { return term.coefficient == 0; });
    p = plus(p, expand(form), times);
    return true;
  }
  return false;
}

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
    // Of two constants the greater first: max(s - 1, 0) before max(s - 2, 0).
    if (p[i].coefficient != q[i].coefficient)
      return (p[i].coefficient < q[i].coefficient) != p[i].factors.empty() ? -1 : 1;
  }
  return p.size() < q.size() ? -1 : 1;
}

Int make(Poly p) {
  sym_work().terms += p.size();
  while (join_quotients(p)) {
  }
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

Scaled scaled_form(Int e) {
  const SymExpr* x = e.expr();
  if (x->kind != SymKind::sum) return {e};
  Scaled s{e, 0, x->constant};
  for (const SymTerm& t : x->terms) s.scale = std::gcd(s.scale, t.coefficient);
  if (x->terms[0].coefficient < 0) s.scale = -s.scale;
  if (s.scale == 1 && s.constant == 0) return s;
  Poly p = x->terms;
  for (SymTerm& t : p) t.coefficient /= s.scale;
  s.form = make(std::move(p));
  return s;
}

Poly plus(const Poly& p, const Poly& q, int64_t scale) {
  Poly r;
  r.reserve(p.size() + q.size());
  size_t i = 0, k = 0;
  while (i < p.size() || k < q.size()) {
    int c = i == p.size() ? 1 : k == q.size() ? -1 : compare_factors(p[i].factors, q[k].factors);
    if (c < 0) {
      r.push_back(p[i++]);
      continue;
    }
    int64_t by = product_of(q[k].coefficient, scale);
    if (c == 0) by = sum_of(p[i++].coefficient, by);
    if (by != 0) r.push_back({by, q[k].factors});
    ++k;
  }
  return r;
}

void collect(Poly& p) {
  sym_work().terms += p.size();
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
  if (b.size() == 1) {  // term by term, in the order they stand in
    for (const SymTerm& t : a) {
      SymTerm q;
      if (t.coefficient % b[0].coefficient != 0 ||
          !remove_factors(t.factors, b[0].factors, q.factors))
        return false;
      q.coefficient = t.coefficient / b[0].coefficient;
      quotient.push_back(std::move(q));
    }
    return true;
  }
  constexpr int kMostSteps = 64;
  for (int step = 0; !a.empty(); step++) {
    SymTerm q;
    if (step == kMostSteps || a[0].coefficient % b[0].coefficient != 0 ||
        !remove_factors(a[0].factors, b[0].factors, q.factors))
      return false;
    q.coefficient = a[0].coefficient / b[0].coefficient;
    Poly taken;
    for (const SymTerm& t : b) taken.push_back(times(t, q));
    a = plus(a, taken, -1);
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

SymWork& sym_work() {
  constinit thread_local SymWork work;
  return work;
}

Int symbol(uint32_t k) { return poly::intern({.kind = SymKind::symbol, .symbol = k}); }

}  // namespace lathe
