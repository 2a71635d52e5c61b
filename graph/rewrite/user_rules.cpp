#include "graph/rewrite/user_rules.h"

#include <absl/strings/str_cat.h>

#include <mutex>
#include <set>

#include "core/base/error.h"
#include "graph/rewrite/condition.h"
#include "graph/rewrite/pattern.h"

namespace lathe::ir {
namespace {

struct Registry {
  std::mutex mutex;  // of what follows
  int64_t last = 0;
  UserRulesRef now = std::make_shared<const UserRules>(std::vector<UserRule>());
};
Registry& registry() {
  static auto& r = *new Registry;
  return r;
}

constexpr std::string_view kPattern = "pattern", kReplacement = "replacement";
constexpr std::string_view kWhere = "where";  // not an op: an argument
constexpr size_t kMostOrders = 64;

[[noreturn]] void refuse(std::string_view text, int column, const std::string& problem,
                         std::string expected, std::string next) {
  throw ValueError({.op = "rewrite",
                    .problem = absl::StrCat(problem, " (", text, ":1:", column, ")"),
                    .expected = std::move(expected),
                    .next = std::move(next)});
}

/// What a graph cannot hold, or has to leave in its place.
void check_ops(const Pattern& p, std::string_view text) {
  for_each(p, [&](const Pattern& part) {
    if (part.op == nullptr) return;
    const Op& op = *part.op;
    const bool writes = op.schema.writes();
    if (op.kind == Kind::random || writes)
      refuse(text, part.column,
             absl::StrCat(op.name(), writes ? " writes to an operand" : " draws random numbers",
                          ", so it keeps its place"),
             "ops that are functions of their arguments", "leave it out of the rule");
    if (op.kind == Kind::composite)
      refuse(text, part.column, absl::StrCat(op.name(), " is recorded as the ops it consists of"),
             "ops as the text of a captured graph shows them",
             "print `graph` of a traced function that calls it, and write those");
    if (op.schema.results.size() != 1)
      refuse(text, part.column, absl::StrCat(op.name(), " has several results"),
             "ops with one result", "write the rule around it");
  });
}

/// Reads a text. What is wrong with it is said in words of rules, not of graphs.
template <class Parse>
auto read(const char* expected, Parse parse) {
  try {
    return parse();
  } catch (const ValueError& e) {
    ErrorParts parts = e.parts();
    parts.problem = absl::StrCat(parts.problem, " (", parts.op, ")");
    parts.op = "rewrite";
    parts.expected = expected;
    parts.next = "mend the text of the rule there";
    throw ValueError(std::move(parts));
  } catch (const NameError& e) {
    ErrorParts parts = e.parts();
    parts.op = "rewrite";
    throw NameError(std::move(parts));
  }
}

void check(const UserRule& rule) {
  const char* op = "an op with its arguments, a variable or a literal, as in log(exp(x))";
  const Pattern from = read(op, [&] { return parse_pattern(rule.pattern, kPattern); });
  const Pattern to = read(op, [&] { return parse_pattern(rule.replacement, kReplacement); });
  const Condition where =
      read("terms joined by `and`, as in rank(x) >= 2 and dtype(x) in [f32, f64]",
           [&] { return Condition(rule.where, kWhere); });
  if (from.op == nullptr)
    refuse(kPattern, from.column, "a rule starts from an op", "an op with its arguments",
           "write what is to be replaced, as in log(exp(x))");
  if (to.op == nullptr && to.variable.empty())
    refuse(kReplacement, to.column, "a rule gives a value of the graph, and this is a literal",
           "a variable of the pattern, or an op", "make it of a variable, as in mul(x, 0)");
  check_ops(from, kPattern);
  check_ops(to, kReplacement);
  std::set<std::string> bound;
  for_each(from, [&](const Pattern& p) { bound.insert(p.variable); });
  auto ask = [&](const std::string& name, int column, std::string_view text) {
    if (name.empty() || bound.contains(name)) return;
    refuse(text, column, absl::StrCat("'", name, "' is not bound"),
           "variables that the pattern binds", "give it the same name there");
  };
  for_each(to, [&](const Pattern& p) { ask(p.variable, p.column, kReplacement); });
  where.for_each_variable([&](const std::string& n, int column) { ask(n, column, kWhere); });
  // With a condition it may come to an end: what it makes can be of another dtype.
  for (const Pattern& order : orders(from, kMostOrders))
    if (rule.where.empty() && occurs_in(order, to))
      refuse(kReplacement, to.column, "the rule feeds itself: its pattern fits what it makes",
             "a rule that comes to an end", "turn it round, or say in `where` when it holds");
}

}  // namespace

std::string UserRule::title() const {
  std::string at = to_string(site);
  if (exactness == Exactness::approximate)
    absl::StrAppend(&at, at.empty() ? "" : ", ", "approximate");
  return absl::StrCat(pattern, " -> ", replacement, at.empty() ? "" : absl::StrCat(" (", at, ")"));
}

UserRules::UserRules(std::vector<UserRule> rules) : rules_(std::move(rules)) {
  std::vector<Rule> texts;
  for (const UserRule& r : rules_) titles_.push_back(r.title());
  for (size_t i = 0; i < rules_.size(); ++i) {
    const UserRule& r = rules_[i];
    texts.push_back({titles_[i], r.exactness, r.pattern, r.replacement, nullptr, r.where});
  }
  set_ = std::make_unique<RuleSet>(texts, kMostOrders);
}

int UserRules::apply(Graph& graph, Rewrites& rewrites) const {
  return set_->apply(graph, rewrites, kPass, Exactness::approximate);
}

int64_t add_user_rule(UserRule rule) {
  try {
    check(rule);
  } catch (const ValueError& e) {  // a text that ends too soon has no part to show
    ErrorParts parts = e.parts();
    if (parts.got.empty())
      parts.got = absl::StrCat(rule.pattern, " -> ", rule.replacement,
                               rule.where.empty() ? "" : " where ", rule.where);
    throw ValueError(std::move(parts));
  }
  Registry& r = registry();
  const std::lock_guard hold(r.mutex);
  rule.id = ++r.last;
  std::vector<UserRule> rules = r.now->rules();
  rules.push_back(std::move(rule));
  r.now = std::make_shared<const UserRules>(std::move(rules));
  return r.last;
}

bool remove_user_rule(int64_t id) {
  Registry& r = registry();
  const std::lock_guard hold(r.mutex);
  std::vector<UserRule> rules = r.now->rules();
  if (std::erase_if(rules, [&](const UserRule& rule) { return rule.id == id; }) == 0) return false;
  r.now = std::make_shared<const UserRules>(std::move(rules));
  return true;
}

UserRulesRef user_rules() {
  Registry& r = registry();
  const std::lock_guard hold(r.mutex);
  return r.now;
}

const UserRulesRef& no_user_rules() {
  static auto& none = *new UserRulesRef(std::make_shared<const UserRules>(std::vector<UserRule>()));
  return none;
}

}  // namespace lathe::ir
