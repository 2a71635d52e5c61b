// What is computed from a whole graph: copies, effects, symbol sources, its scope.
#include <absl/algorithm/container.h>
#include <absl/container/flat_hash_set.h>
#include <absl/strings/str_cat.h>

#include "core/base/error.h"
#include "core/base/stable_hash.h"
#include "graph/ir/datum.h"
#include "graph/ir/ir.h"
#include "graph/ir/text.h"

namespace lathe::ir {

// ── copies ──────────────────────────────────────────────────────────────────────────────────────
namespace {

Value* image(const Graph::ValueMap& known, Value* v) {
  auto it = known.find(v);
  return it == known.end() ? v : it->second;
}

}  // namespace

void Graph::copy_block(const Block& from, Block& to, ValueMap& known) {
  for (Value* p : from.parameters()) known[p] = add_parameter(to, p->type(), p->name());
  InsertAt inside(*this, to);
  set_yields(to, copy_nodes(from, known), from.end()->site());
}

Node* Graph::copy_node(const Node& from, ValueMap& known) {
  Operands operands;
  operands.attrs = from.attrs();
  operands.places = from.places();
  for (Value* v : from.in()) operands.in.push_back(image(known, v));
  TypeList types;
  for (Value* v : from.out()) types.push_back(v->type());
  Node* n = make_node(from.structure(), std::move(operands), std::move(types), from.site());
  n->op_ = from.op_;
  n->callee_ = from.callee_;
  n->detached_ = from.detached_;
  link(n, at_block_, at_before_);
  for (size_t i = 0; i < n->out_.size(); ++i) {
    n->out_[i]->name_ = from.out(i)->name();
    known[from.out(i)] = n->out_[i];
  }
  for (Block* b : from.blocks()) copy_block(*b, add_block(n), known);
  return n;
}

Values Graph::copy_nodes(const Block& from, ValueMap& known) {
  for (Node* n = from.first(); n != nullptr; n = n->next()) copy_node(*n, known);
  Values out;
  for (Value* v : from.yields()) out.push_back(image(known, v));
  return out;
}

Graph Graph::clone(ValueMap* images) const {
  Graph g(name_);
  ValueMap own;
  ValueMap& known = images != nullptr ? *images : own;
  g.copy_block(*body_, *g.body_, known);
  for (Value* v : written_) g.written_.push_back(known.at(v));
  g.symbols_ = symbols_;
  g.assumptions_ = assumptions_;
  g.checks_ = checks_;
  g.constants_ = constants_;
  g.constant_index_ = constant_index_;
  for (const auto& f : functions_) g.functions_.push_back(std::make_unique<Graph>(f->clone()));
  g.gradients_ = gradients_;
  return g;
}

// ── walks ───────────────────────────────────────────────────────────────────────────────────────

void for_each_node(const Block& block, const std::function<void(Node*)>& visit) {
  for (Node* n : block.nodes()) {
    visit(n);
    for (Block* b : n->blocks()) for_each_node(*b, visit);
  }
}

size_t Graph::node_count() const {
  size_t count = 0;
  for_each_node(*body_, [&](Node*) { ++count; });
  for (const auto& f : functions_) count += f->node_count();
  return count;
}

bool encloses(const Block& outer, const Block* inner) {
  while (inner != nullptr) {
    if (inner == &outer) return true;
    inner = inner->owner() != nullptr ? inner->owner()->parent() : nullptr;
  }
  return false;
}

bool visible_from(const Value* v, const Block& at) {
  if (encloses(*v->block(), &at)) return true;
  const Node* owner = v->block()->owner();
  return v->node() == nullptr && owner != nullptr && owner->is(Structure::while_) &&
         owner->blocks().size() == 2 && encloses(owner->block(1), &at);
}

namespace {

void collect_free(const Block& root, const Block& block, absl::flat_hash_set<Value*>& seen,
                  Values& out) {
  auto use = [&](Value* v) {
    if (!encloses(root, v->block()) && seen.insert(v).second) out.push_back(v);
  };
  for (Node* n = block.first(); n != nullptr; n = n->next()) {
    for (Value* v : n->in()) use(v);
    for (Block* b : n->blocks()) collect_free(root, *b, seen, out);
  }
  for (Value* v : block.yields()) use(v);
}

}  // namespace

Values free_values(const Block& block) {
  absl::flat_hash_set<Value*> seen;
  Values out;
  collect_free(block, block, seen, out);
  return out;
}

uint64_t Graph::hash() const {
  return StableHash().add(print(*this, {.names = false, .sites = false, .hints = false})).value();
}

// ── effects ─────────────────────────────────────────────────────────────────────────────────────
namespace {

bool body_can_fail(const Op& op, DType dtype) {
  if (!op.extra.domain.has(dtype)) return false;
  for (const ExprNode& e : op.scalar(dtype).graph.nodes())
    if (e.prim == Prim::check) return true;
  return false;
}

Effects effects_of_op(const Node& node) {
  const Op& op = *node.op();
  if (op.schema.writes() || op.kind == Kind::random) return Effects::ordered;
  if (op.extra.host != HostCall::none)
    return op.extra.host == HostCall::pure ? Effects::pure : Effects::ordered;
  switch (op.kind) {
    case Kind::index:
      return op.put_of != nullptr || op.index.inside ? Effects::pure : Effects::fails;
    case Kind::opaque:
    case Kind::composite:  // taken whole: its parts may check their operands
      return Effects::fails;
    case Kind::elementwise: {
      // Integers are checked in most bodies (division by zero), floats in few (probabilities).
      bool integers = true;
      for (Value* v : node.in())
        if (const TensorType* t = v->type().tensor()) integers &= is_integer(t->dtype);
      return body_can_fail(op, integers ? DType::i64 : DType::f32) ? Effects::fails : Effects::pure;
    }
    default:
      return Effects::pure;
  }
}

Effects effects_of_block(const Block& block, const Graph& graph, std::vector<const Graph*>& calls);

Effects effects_of(const Node& node, const Graph& graph, std::vector<const Graph*>& calls) {
  Effects worst = Effects::pure;
  switch (node.structure()) {
    case Structure::op:
      return effects_of_op(node);
    case Structure::call: {
      const Graph* callee = graph.function(node.callee());
      // A function that calls itself may not end; then the order of what surrounds it is seen.
      if (callee == nullptr || std::find(calls.begin(), calls.end(), callee) != calls.end())
        return Effects::ordered;
      if (!callee->writes().empty()) return Effects::ordered;
      calls.push_back(callee);
      worst = effects_of_block(callee->body(), graph, calls);
      calls.pop_back();
      return worst;
    }
    default:
      for (const Block* b : node.blocks())
        worst = std::max(worst, effects_of_block(*b, graph, calls));
      return worst;
  }
}

Effects effects_of_block(const Block& block, const Graph& graph, std::vector<const Graph*>& calls) {
  Effects worst = Effects::pure;
  for (Node* n = block.first(); n != nullptr && worst != Effects::ordered; n = n->next())
    worst = std::max(worst, effects_of(*n, graph, calls));
  return worst;
}

}  // namespace

Effects effects(const Node& node, const Graph& graph) {
  std::vector<const Graph*> calls;
  return effects_of(node, graph, calls);
}

// ── symbols ─────────────────────────────────────────────────────────────────────────────────────
namespace {

void note_sources(Value* v, std::vector<SymbolSource>& sources) {
  auto note = [&](Int e, int axis) {
    if (e.known() || e.expr()->kind != SymKind::symbol) return;
    uint32_t k = e.expr()->symbol;
    if (k < sources.size() && sources[k].value == nullptr) sources[k] = {v, axis};
  };
  if (const TensorType* t = v->type().tensor()) {
    for (size_t i = 0; i < t->shape.size(); ++i) note(t->shape[i], static_cast<int>(i));
  } else if (const Scalar* s = v->type().scalar(); s != nullptr && s->value) {
    note(*s->value, -1);
  }
}

void note_sources(const Block& block, std::vector<SymbolSource>& sources) {
  for (Value* v : block.parameters()) note_sources(v, sources);
  for (Node* n = block.first(); n != nullptr; n = n->next()) {
    // A constant's integer is computed from symbols, so it cannot be what says them.
    if (n->is(Structure::constant)) continue;
    for (Block* b : n->blocks()) note_sources(*b, sources);
    for (Value* v : n->out()) note_sources(v, sources);
  }
}

}  // namespace

bool SymbolSource::is_parameter_of(const Block& block) const {
  return value != nullptr && value->node() == nullptr && value->block() == &block;
}

Int said(const SymbolSource& source, const Datum& argument) {
  if (source.axis < 0) return argument.integer();
  const Geometry& g = argument.tensor().geometry();
  return (source.stride ? g.strides : g.shape)[static_cast<size_t>(source.axis)];
}
Int said(const SymbolSource& source, const Data& arguments) {
  return said(source, arguments[source.value->index()]);
}

bool Graph::inputs_say(Int e, absl::Span<const SymbolSource> sources) const {
  return absl::c_all_of(symbols_of(e), [&](uint32_t k) {
    return k < sources.size() && sources[k].is_parameter_of(body());
  });
}

std::vector<SymbolSource> Graph::sources(size_t count) const {
  std::vector<SymbolSource> out(count);
  note_sources(*body_, out);
  return out;
}

void enter_symbols(const Graph& graph, SymScope& scope) {
  const std::vector<SymbolSource> sources = graph.sources();
  for (size_t k = 0; k < sources.size(); ++k) {
    const SymbolInfo& s = graph.symbols()[k];
    sources[k].is_parameter_of(graph.body()) ? scope.fresh(s.hint, s.is_size)
                                             : scope.fresh_inside(s.hint, s.is_size);
  }
}

GraphScope::GraphScope(const Graph& graph) {
  enter_symbols(graph, scope_);
  scope_.enter();
  auto wrong = [&](const SymFact& fact) {
    scope_.leave();
    throw ValueError({.op = absl::StrCat("graph ", graph.name()),
                      .problem = "the sizes at the first call contradict what the graph states",
                      .got = to_string(fact),
                      .site = fact.site});
  };
  // What is true in every round of a loop need not be at the first call, which may run none.
  const std::vector<SymbolSource> sources = graph.sources();
  auto stated = [&](const SymFact& f) {
    if (graph.inputs_say(f.a, sources) && graph.inputs_say(f.b, sources))
      return scope_.require(f.relation, f.a, f.b);
    scope_.assume(f.relation, f.a, f.b);
    return scope_.prove(f.relation, f.a, f.b) != SymScope::Truth::no;
  };
  auto is_plain = [](Int e) { return e.known() || e.expr()->kind == SymKind::symbol; };
  // Plain equalities first: they say which symbol is written for which, and sizes are folded with
  // them.
  for (bool plain : {true, false}) {
    auto now = [&](const SymFact& f) {
      bool simple = f.relation == Relation::eq && f.holds && is_plain(f.a) && is_plain(f.b);
      return simple == plain;
    };
    for (const SymFact& f : graph.assumptions())
      if (now(f) && scope_.decide(f.relation, f.a, f.b) != f.holds) wrong(f);
    for (const SymFact& f : graph.checks())
      if (now(f) && !stated(f)) wrong(f);
  }
  // What was stated before all was known folds further now, as sizes inferred from here on do.
  auto anew = [&](SymFact f) {
    for (Int* e : {&f.a, &f.b})
      if (!e->known()) *e = substitute(scope_.simplify(*e), symbol);
    return f;
  };
  auto is_new = [](const SymFact& now, const SymFact& f) {
    return !identical(now.a, f.a) || !identical(now.b, f.b);
  };
  for (const SymFact& f : graph.assumptions()) {
    const SymFact now = anew(f);
    if (is_new(now, f) && scope_.decide(f.relation, now.a, now.b) != f.holds) wrong(f);
  }
  // Of a loop that runs no round a check may fold to what is never so: nothing comes of it.
  for (const SymFact& f : graph.checks())
    if (const SymFact now = anew(f); is_new(now, f)) stated(now);
  facts_ = scope_.guards().size() + scope_.checks().size();
}

}  // namespace lathe::ir
