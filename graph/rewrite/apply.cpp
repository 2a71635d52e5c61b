#include "graph/rewrite/rule.h"

#include <absl/strings/str_cat.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/dispatch/fn.h"
#include "graph/ir/literal.h"
#include "graph/rewrite/condition.h"
#include "graph/rewrite/pattern.h"
#include "include/lathe/ops/shape.h"

namespace lathe::ir {

struct RuleSet::Ready {
  Rule rule;
  Pattern from, to;
  Condition where;
};

// ── matches ─────────────────────────────────────────────────────────────────────────────────────

const Given& Match::at(std::string_view variable) const {
  auto it = variables_.find(variable);
  if (it == variables_.end()) LATHE_INTERNAL(absl::StrCat("a rule has no variable ", variable));
  return it->second;
}

Value* Match::value(std::string_view variable) const {
  Value* v = at(variable).value;
  if (v == nullptr)
    LATHE_INTERNAL(absl::StrCat("the variable ", variable, " of a rule is a literal"));
  return v;
}

const Arg& Match::literal(std::string_view variable) const {
  const Given& g = at(variable);
  if (g.value != nullptr)
    LATHE_INTERNAL(absl::StrCat("the variable ", variable, " of a rule is a value"));
  return g.literal;
}

Tensor Match::constant(std::string_view variable) const {
  const Node* n = at(variable).value != nullptr ? at(variable).value->node() : nullptr;
  if (n == nullptr || !n->is(Structure::constant) || n->literal(0).tag != Tag::tensor) return {};
  return n->literal(0).tensor();
}

bool Match::packed(std::string_view variable) const {
  const Value* v = value(variable);
  const Node* n = v->node();
  // What structures take and hand on is put in order; inputs of the graph may lie as they like.
  if (n == nullptr) return v->block()->owner() != nullptr;
  if (!n->is(Structure::op)) return true;
  return n->op()->kind != Kind::view && n->op()->kind != Kind::composite;
}

bool Match::single_use(std::string_view op) const {
  for (size_t i = 1; i < nodes_.size(); ++i)
    if (nodes_[i]->op()->name() == op) return nodes_[i]->out(0)->uses().size() == 1;
  LATHE_INTERNAL(absl::StrCat("a rule matched no ", op, " below its root"));
}

void Match::bind(std::string_view variable, const Arg& literal) {
  owned_.push(literal);
  Given g;
  g.literal = owned_[owned_.size() - 1];
  variables_[std::string(variable)] = g;
}

void Match::bind(std::string_view variable, const Tensor& constant) {
  new_constants_[std::string(variable)] = constant;
}

class Matcher {
 public:
  explicit Matcher(Match& match) : m_(match) {}

  bool node(const Pattern& p, Node* n) {
    if (!n->is(Structure::op) || n->op() != p.op || n->out().size() != 1) return false;
    // A part that must keep its place, or counts for gradients where the root does not, is left
    // alone. What is made of nothing has no gradient.
    if (n != m_.root_ && n->op()->kind != Kind::create && n->detached() != m_.root_->detached())
      return false;
    m_.nodes_.push_back(n);
    for (size_t i = 0; i < p.slots.size(); ++i)
      if (!slot(p.slots[i].get(), *n, i)) return false;
    return true;
  }

 private:
  static bool plain(const Node& n, size_t param) {
    return std::none_of(n.places().begin(), n.places().end(),
                        [&](const Place& p) { return p.param == param; });
  }

  bool slot(const Pattern* p, const Node& n, size_t i) {
    Value* v = n.value(static_cast<int>(i));
    const Arg& literal = n.attrs()[i];
    if (p == nullptr)
      return v == nullptr && plain(n, i) &&
             equal(literal, n.op()->schema.params[i].default_value[0]);
    if (v == nullptr && !plain(n, i)) return false;  // a list with values in it
    if (p->op != nullptr) return v != nullptr && v->node() != nullptr && node(*p, v->node());
    if (p->literal.size() > 0) return v == nullptr && equal(p->literal[0], literal);
    Given g;
    g.value = v;
    if (v == nullptr) g.literal = literal;
    auto [it, fresh] = m_.variables_.emplace(p->variable, g);
    if (fresh) return true;
    return it->second.value == v && (v != nullptr || equal(it->second.literal, literal));
  }

  Match& m_;
};

// ── rule sets ───────────────────────────────────────────────────────────────────────────────────

RuleSet::RuleSet(absl::Span<const Rule> rules, size_t most_orders)
    : rules_(rules.begin(), rules.end()) {
  for (const Rule& r : rules_) {
    Pattern from = parse_pattern(r.from, r.name);
    if (from.op == nullptr)
      throw ValueError({.op = std::string(r.name), .problem = "a rule starts from an op"});
    std::vector<Pattern> all;
    if (most_orders > 1)
      all = orders(from, most_orders);
    else
      all.push_back(std::move(from));
    for (Pattern& p : all) {
      auto ready = std::make_unique<Ready>(
          Ready{r, std::move(p), parse_pattern(r.to, r.name), Condition(r.where, r.name)});
      by_root_[ready->from.op].push_back(ready.get());
      ready_.push_back(std::move(ready));
    }
  }
}

RuleSet::~RuleSet() = default;
RuleSet::RuleSet(RuleSet&&) noexcept = default;

namespace {

class Build {
 public:
  Build(Graph& graph, Node* root, const std::map<std::string, Given, std::less<>>& variables)
      : g_(graph), root_(root), variables_(variables) {}

  Given given(const Pattern& p) {
    if (!p.variable.empty()) {
      auto it = variables_.find(p.variable);
      if (it == variables_.end())
        LATHE_INTERNAL(absl::StrCat("a rule makes use of an unbound ", p.variable));
      return it->second;
    }
    Given out;
    if (p.op == nullptr) {
      out.literal = p.literal[0];
      return out;
    }
    std::vector<Given> arguments;
    for (size_t i = 0; i < p.slots.size(); ++i) {
      if (p.slots[i] == nullptr) continue;
      arguments.push_back(given(*p.slots[i]));
      arguments.back().name = p.op->schema.params[i].name;
    }
    Node* n = add_inferred(g_, *p.op, complete(*p.op, arguments), root_->site());
    g_.set_detached(n, root_->detached());
    out.value = n->out(0);
    return out;
  }

 private:
  Graph& g_;
  Node* root_;
  const std::map<std::string, Given, std::less<>>& variables_;
};

void erase_between(Graph& graph, Node* before, Node* until) {
  for (Node* n = until->previous(); n != before;) {
    Node* previous = n->previous();
    graph.erase(n);
    n = previous;
  }
}

}  // namespace

/// Does what leads back from `by` lead back from the node's result, too? A cut result has no
/// history, and one that was overwritten has that of what was there before.
static bool has_its_history(const Value* by, const Node& node) {
  if (node.op() == shape_ops<Tensor>::overwritten.op()) return false;
  const TensorType* type = by->type().tensor();
  if (!node.detached() || type == nullptr || !differentiable.has(type->dtype)) return true;
  const Node* made = by->node();
  if (made == nullptr) return false;
  return made->detached() || made->is(Structure::constant) ||
         (made->op() != nullptr && made->op()->kind == Kind::create);
}

bool RuleSet::try_rule(Graph& graph, Node* node, const Ready& ready, Rewrites& rewrites,
                       std::string_view pass, std::optional<GraphScope>& scope) const {
  if (rewrites.off(ready.rule.name)) return false;
  Match m;
  m.root_ = node;
  if (!Matcher(m).node(ready.from, node)) return false;
  for (Node* n : m.nodes_)
    if (effects(*n, graph) == Effects::ordered) return false;
  // What the graph states is learned once, not at every match; a scope that has learned more since
  // is thrown away.
  if (!scope) scope.emplace(graph);
  Node* before = node->previous();
  Value* by = nullptr;
  bool fits = false;
  if (ready.where.holds(m) && (ready.rule.when == nullptr || ready.rule.when(m))) {
    InsertAt here(graph, node);
    for (auto& [name, tensor] : m.new_constants_) {
      if (!writes_inline(tensor)) graph.add_large_constant(tensor);
      Given g;
      g.value = graph.add_constant(Arg(tensor), node->site());
      m.variables_[name] = g;
    }
    by = Build(graph, node, m.variables_).given(ready.to).value;
    fits = by != nullptr && same_type(by->type(), node->out(0)->type()) && !scope->grew() &&
           (!rewrites.keeps_histories() || has_its_history(by, *node)) &&
           rewrites.allow(ready.rule.name, pass);
  }
  if (scope->grew() || (*scope)->symbol_count() != graph.symbols().size()) scope.reset();
  if (!fits) {
    erase_between(graph, before, node);
    return false;
  }
  Value* results[] = {by};
  graph.replace(node, results);
  return true;
}

int RuleSet::apply(Graph& graph, Rewrites& rewrites, std::string_view pass, Exactness most) const {
  if (rewrites.off(pass)) return 0;
  int fired = 0;
  std::optional<GraphScope> scope;
  std::function<void(Block&)> walk = [&](Block& b) {
    for (Node* n : b.nodes()) {
      for (Block* inner : n->blocks()) walk(*inner);
      if (!n->is(Structure::op)) continue;
      auto it = by_root_.find(n->op());
      if (it == by_root_.end()) continue;
      for (const Ready* ready : it->second) {
        if (ready->rule.exactness > most) continue;
        if (!try_rule(graph, n, *ready, rewrites, pass, scope)) continue;
        ++fired;
        break;
      }
    }
  };
  walk(graph.body());
  scope.reset();
  for (const auto& f : graph.functions()) fired += apply(*f, rewrites, pass, most);
  return fired;
}

}  // namespace lathe::ir
