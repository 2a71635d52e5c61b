// What a trace knows about its symbols.
//
// Every relation is a statement about one difference d = a - b, and every d is scale * form +
// constant with a form that has no constant, gcd 1 and a positive first term. So all that is known
// is kept as one range (and a few excluded values) a form, in `known_`; a new question about any
// multiple of a known form, shifted by any number, is answered from it. Equalities are solved for a
// symbol where that is possible, and that symbol is replaced everywhere (`replaced_`), so that s0
// == s1 makes 2*s0 and s0 + s1 provably equal too.
#include <algorithm>
#include <limits>
#include <numeric>

#include "core/error.h"
#include "core/symexpr.h"

namespace lathe {
namespace {

constinit thread_local SymScope* innermost = nullptr;

// Bounds saturate, and a saturated bound stays so: it means "no bound".
constexpr int64_t kInf = std::numeric_limits<int64_t>::max();
constexpr int64_t kMostInt = (int64_t{1} << 62) - 1;
using Wide = __int128;

int64_t bound(Wide v) { return v >= kInf ? kInf : v <= -kInf ? -kInf : static_cast<int64_t>(v); }
bool infinite(int64_t v) { return v == kInf || v == -kInf; }
int64_t add(int64_t a, int64_t b) { return infinite(a) ? a : infinite(b) ? b : bound(Wide{a} + b); }
int64_t multiply(int64_t a, int64_t b) {
  if (a == 0 || b == 0) return 0;
  if (infinite(a) || infinite(b)) return (a < 0) == (b < 0) ? kInf : -kInf;
  return bound(Wide{a} * b);
}
int64_t divide_down(int64_t a, int64_t b) {  // b > 0
  if (infinite(a)) return a;
  if (infinite(b)) return a < 0 ? -1 : 0;
  return a / b - (a % b < 0);
}
int64_t divide_up(int64_t a, int64_t b) { return infinite(a) ? a : -divide_down(-a, b); }

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

// e = scale * form + constant. Only for symbolic e.
struct SymScope::Form {
  Int form;
  int64_t scale = 1, constant = 0;

  int64_t up(int64_t v) const { return add(multiply(scale, v), constant); }
  Range up(const Range& r) const {
    Range out{up(r.low), up(r.high)};
    if (scale < 0) std::swap(out.low, out.high);
    for (int64_t v : r.not_these) out.not_these.push_back(up(v));
    return out;
  }
  Range down(const Range& r) const {
    int64_t low = add(r.low, -constant), high = add(r.high, -constant), by = scale;
    if (by < 0) {
      by = -by;
      std::swap(low, high);
      low = -low;
      high = -high;
    }
    Range out{divide_up(low, by), divide_down(high, by)};
    for (int64_t v : r.not_these)
      if ((v - constant) % scale == 0) out.not_these.push_back((v - constant) / scale);
    return out;
  }
};

SymScope::Form SymScope::form_of(Int e) {
  const SymExpr* x = e.expr();
  if (x->kind != SymKind::sum) return {e};
  Form f{0, 0, x->constant};
  for (const SymTerm& t : x->terms) f.scale = std::gcd(f.scale, t.coefficient);
  if (x->terms[0].coefficient < 0) f.scale = -f.scale;
  divides(f.scale, e - Int(f.constant), &f.form);
  return f;
}

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
}

void SymScope::leave() {
  LATHE_CHECK(entered_ && innermost == this);
  innermost = outer_;
  entered_ = false;
}

Int SymScope::fresh(int64_t hint, bool is_size) {
  Int s = symbol(static_cast<uint32_t>(hints_.size()));
  hints_.push_back(hint);
  known_.emplace_back(s, Range{is_size ? 0 : -kMostInt - 1, kMostInt});
  return s;
}

int64_t SymScope::hint(Int e) const {
  if (e.known()) return e.value();
  return substitute(e,
                    [&](uint32_t k) -> Int {
                      if (k < hints_.size()) return hints_[k];
                      throw TraceError(
                          {.problem = "a size belongs to another trace",
                           .got = to_string(e),
                           .next = "do not keep symbolic tensors or their sizes after their trace "
                                   "has ended"});
                    })
      .value();
}

Int SymScope::simplify(Int e) const {
  if (e.known() || replaced_.empty()) return e;
  return substitute(e, [&](uint32_t k) {
    auto it = replaced_.find(k);
    return it == replaced_.end() ? symbol(k) : it->second;
  });
}

SymScope::Range SymScope::range_of_atom(const SymExpr* atom) const {
  Range r{-kInf, kInf};
  if (atom->kind != SymKind::symbol) {
    Range a = range(atom->a), b = range(atom->b);
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
      case SymKind::min:
        r = {std::min(a.low, b.low), std::min(a.high, b.high)};
        break;
      case SymKind::max:
        r = {std::max(a.low, b.low), std::max(a.high, b.high)};
        break;
      default:
        break;
    }
  }
  for (const auto& [form, known] : known_)
    if (identical(form, Int::from_expr(atom))) r.meet(known);
  return r;
}

SymScope::Range SymScope::range(Int e) const {
  if (e.known()) return {e.value(), e.value()};
  const SymExpr* x = e.expr();
  if (x->kind != SymKind::sum) return range_of_atom(x);
  Range r{x->constant, x->constant};
  for (const SymTerm& t : x->terms) {
    int64_t low = t.coefficient, high = t.coefficient;
    for (const SymExpr* f : t.factors) {
      Range a = range_of_atom(f);
      auto [least, most] = std::minmax({multiply(low, a.low), multiply(low, a.high),
                                        multiply(high, a.low), multiply(high, a.high)});
      low = least;
      high = most;
    }
    r.low = add(r.low, low);
    r.high = add(r.high, high);
  }
  Form f = form_of(e);
  for (const auto& [form, known] : known_)
    if (identical(form, f.form)) r.meet(f.up(known));
  return r;
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

bool SymScope::decide(Relation relation, Int a, Int b) {
  Truth known = prove(relation, a, b);
  if (known != Truth::unknown) return known == Truth::yes;
  bool holds = lathe::decide(relation, hint(a), hint(b));
  guards_.push_back({relation, holds, a, b, here()});
  learn(relation, holds, a, b);
  return holds;
}

bool SymScope::require(Relation relation, Int a, Int b) {
  Truth known = prove(relation, a, b);
  if (known != Truth::unknown) return known == Truth::yes;
  bool holds = lathe::decide(relation, hint(a), hint(b));
  (holds ? checks_ : guards_).push_back({relation, holds, a, b, here()});
  learn(relation, holds, a, b);
  return holds;
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
  auto it = std::find_if(known_.begin(), known_.end(),
                         [&](const auto& entry) { return identical(entry.first, f.form); });
  if (it == known_.end()) it = known_.insert(it, {f.form, range(f.form)});
  it->second.meet(r);
  Range now = it->second;
  if (now.low == now.high) return solve(f.form - Int(now.low));
  narrow_terms(f.form, now);
}

// What a sum is known to be says something of each term: s0 >= 1 follows from s0 - s1 >= 1.
void SymScope::narrow_terms(Int sum, const Range& r) {
  const SymExpr* x = sum.expr();
  if (x->kind != SymKind::sum || x->terms.size() < 2) return;
  for (const SymTerm& t : x->terms) {
    if (t.factors.size() != 1) continue;
    Int atom = Int::from_expr(t.factors[0]);
    Range rest = range(sum - Int(t.coefficient) * atom), before = range(atom);
    Range term{-kInf, kInf};  // what a size can be at most says nothing
    if (rest.high < kMostInt) term.low = add(r.low, -rest.high);
    if (rest.low > -kMostInt) term.high = add(r.high, -rest.low);
    Range by = Form{atom, t.coefficient}.down(term);
    if (by.low > before.low || by.high < before.high) narrow(atom, by);
  }
}

// zero = 0: if some symbol is in it once, alone and with coefficient 1 or -1, it follows from the
// others. The youngest such symbol goes, so that what remains was seen first.
void SymScope::solve(Int zero) {
  std::vector<uint32_t> symbols = symbols_of(zero);
  for (size_t i = symbols.size(); i-- > 0;)
    if (std::optional<Int> by = solved_for(symbols[i], zero)) return replace(symbols[i], *by);
}

void SymScope::replace(uint32_t gone, Int by) {
  auto with = [&](uint32_t k) { return k == gone ? by : symbol(k); };
  absl::flat_hash_map<uint32_t, Int> replaced;
  for (const auto& [k, e] : replaced_) replaced[k] = substitute(e, with);
  replaced[gone] = by;
  replaced_ = std::move(replaced);
  std::vector<std::pair<Int, Range>> known = std::move(known_);
  known_.clear();
  for (const auto& [form, r] : known) {
    Int e = simplify(form);
    if (!e.known()) narrow(e, r);
  }
}

}  // namespace lathe
