#include "core/sizes/real.h"

#include <absl/container/flat_hash_map.h>
#include <absl/strings/str_cat.h>

#include <atomic>
#include <charconv>
#include <cmath>
#include <memory>
#include <mutex>
#include <tuple>

#include "core/base/error.h"

namespace lathe {
namespace {

constinit thread_local RealScope* innermost = nullptr;

/// Interned, for the life of the process: an expression may outlive its trace in a user's hands.
const RealExpr* node(RealKind kind, uint64_t symbol, Real a, Real b) {
  using Key = std::tuple<RealKind, uint64_t, uint64_t, uint64_t>;
  static std::mutex mutex;
  static auto& table = *new absl::flat_hash_map<Key, std::unique_ptr<RealExpr>>;
  std::lock_guard hold(mutex);
  auto [it, fresh] = table.try_emplace({kind, symbol, a.word(), b.word()});
  if (fresh) it->second = std::make_unique<RealExpr>(RealExpr{kind, symbol, a, b});
  return it->second.get();
}

double computed(RealKind kind, double a, double b) {
  switch (kind) {
    case RealKind::add:
      return a + b;
    case RealKind::sub:
      return a - b;
    case RealKind::mul:
      return a * b;
    case RealKind::div:
      return a / b;
    case RealKind::neg:
      return -a;
    case RealKind::abs:
      return std::fabs(a);
    case RealKind::symbol:
      break;
  }
  LATHE_INTERNAL("a symbol is computed");
}

Real made(RealKind kind, Real a, Real b = 0.0) {
  if (a.known() && b.known()) [[likely]]
    return computed(kind, a.value(), b.value());
  return Real::from_expr(node(kind, 0, a, b));
}

RealScope& scope_for(Real a) {
  if (RealScope* scope = RealScope::current()) return *scope;
  throw TraceError({.problem = "a number of a trace is used after it: it escaped from the function "
                               "that was traced",
                    .got = to_string(a),
                    .expected = "a number, or a trace under way that has it as an input",
                    .next = "return it from the traced function instead of keeping it"});
}

std::string number_text(double v) {
  if (v != v) return "nan";
  char buffer[32];
  auto end = std::to_chars(buffer, buffer + sizeof buffer, v).ptr;
  std::string text(buffer, end);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

}  // namespace

Real operator+(Real a, Real b) { return made(RealKind::add, a, b); }
Real operator-(Real a, Real b) { return made(RealKind::sub, a, b); }
Real operator*(Real a, Real b) { return made(RealKind::mul, a, b); }
Real operator/(Real a, Real b) { return made(RealKind::div, a, b); }
Real operator-(Real a) { return made(RealKind::neg, a); }
Real abs(Real a) { return made(RealKind::abs, a); }

double Real::specialise() const {
  RealScope& scope = scope_for(*this);
  double value = scope.hint(*this);
  scope.decide(RealRelation::same, *this, value);
  return value;
}

double Real::hint() const { return known() ? value() : scope_for(*this).hint(*this); }

std::string to_string(Real a, RealNames name_of) {
  if (a.known()) return number_text(a.value());
  const RealExpr& e = *a.expr();
  auto inner = [&](Real x) {
    bool plain = x.known() || x.expr()->kind == RealKind::symbol || x.expr()->kind == RealKind::abs;
    std::string text = to_string(x, name_of);
    return plain ? text : absl::StrCat("(", text, ")");
  };
  auto binary = [&](const char* op) { return absl::StrCat(inner(e.a), op, inner(e.b)); };
  switch (e.kind) {
    case RealKind::symbol:
      return name_of(&e);
    case RealKind::add:
      return binary(" + ");
    case RealKind::sub:
      return binary(" - ");
    case RealKind::mul:
      return binary(" * ");
    case RealKind::div:
      return binary(" / ");
    case RealKind::neg:
      return absl::StrCat("-", inner(e.a));
    case RealKind::abs:
      return absl::StrCat("abs(", to_string(e.a, name_of), ")");
  }
  return "?";
}

std::string to_string(const RealFact& fact, RealNames name_of) {
  constexpr const char* kSigns[] = {" == ", " < ", " <= ", " is "};
  return absl::StrCat(fact.holds ? "" : "not ", to_string(fact.a, name_of),
                      kSigns[static_cast<int>(fact.relation)], to_string(fact.b, name_of));
}

namespace {
std::string numbered(const RealExpr* symbol) { return absl::StrCat("r", symbol->symbol); }
}  // namespace

std::string to_string(Real a) { return to_string(a, numbered); }
std::string to_string(const RealFact& fact) { return to_string(fact, numbered); }

double evaluate(Real e, absl::FunctionRef<double(const RealExpr*)> value_of) {
  if (e.known()) return e.value();
  const RealExpr* x = e.expr();
  if (x->kind == RealKind::symbol) return value_of(x);
  return computed(x->kind, evaluate(x->a, value_of), evaluate(x->b, value_of));
}

bool compare(RealRelation relation, double a, double b) {
  switch (relation) {
    case RealRelation::eq:
      return a == b;
    case RealRelation::lt:
      return a < b;
    case RealRelation::le:
      return a <= b;
    case RealRelation::same:
      return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b) || (a != a && b != b);
  }
  return false;
}

bool decide(RealRelation relation, Real a, Real b) {
  if (a.known() && b.known()) [[likely]]
    return compare(relation, a.value(), b.value());
  return scope_for(a.known() ? b : a).decide(relation, a, b);
}

// ── the scope ───────────────────────────────────────────────────────────────────────────────────

RealScope::~RealScope() {
  if (entered_ && innermost == this) innermost = outer_;
}
RealScope* RealScope::current() { return innermost; }
void RealScope::enter() {
  LATHE_CHECK(!entered_);
  outer_ = innermost;
  innermost = this;
  entered_ = true;
}
void RealScope::leave() {
  LATHE_CHECK(entered_ && innermost == this);
  innermost = outer_;
  entered_ = false;
}

Real RealScope::fresh(std::optional<double> hint) {
  static std::atomic<uint64_t> next{0};
  const RealExpr* symbol = node(RealKind::symbol, next.fetch_add(1), 0.0, 0.0);
  symbols_.emplace_back(symbol, hint);
  return Real::from_expr(symbol);
}

double RealScope::hint(Real e) const {
  require_own(e);
  return evaluate(e, [&](const RealExpr* symbol) {
    for (const auto& [own, value] : symbols_)
      if (own == symbol && value) return *value;
    throw TraceError({.problem =
                          "the value of a number is asked for that only a run of the program "
                          "knows",
                      .got = to_string(e),
                      .next = "give the number as a literal"});
  });
}

void RealScope::require_own(Real e) const {
  evaluate(e, [&](const RealExpr* symbol) {
    for (const auto& [own, value] : symbols_)
      if (own == symbol) return 0.0;
    throw TraceError({.problem = "a number of another trace is used here: it escaped from the "
                                 "function that was being traced",
                      .got = to_string(e),
                      .expected = "numbers of this trace, or plain ones",
                      .next = "return it from the traced function instead of keeping it"});
  });
}

bool RealScope::decide(RealRelation relation, Real a, Real b) {
  ++questions_;
  const bool holds = compare(relation, hint(a), hint(b));
  for (const RealFact& f : facts_)
    if (f.relation == relation && identical(f.a, a) && identical(f.b, b)) return holds;
  facts_.push_back({relation, holds, a, b, here()});
  return holds;
}

Real RealScope::fixed(Real e) const {
  if (e.known()) return e;
  for (const RealFact& f : facts_)
    if (f.relation == RealRelation::same && f.holds && identical(f.a, e)) return f.b;
  return e;
}

}  // namespace lathe
