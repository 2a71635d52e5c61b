// How it works
//
// A Tracer goes on recording at the end of the program, so that the derivative rules, which are
// ordinary calls, append the backward pass to it. Backprop walks nodes from last to first and keeps
// for each value the sum of what has arrived. What was there before is then cut from what was
// added: values of the first part that the second uses are the residuals, and sizes it mentions but
// cannot see are passed as integers.
//
// Structures. A block is differentiated by copying its nodes to where the gradient is computed (the
// part is run again, from what it was given) and walking the copy. An `if` becomes an `if` whose
// branches do that. A loop runs again with what it carries kept round by round in stacks, then once
// more from the last round to the first. A `while` counts its rounds in the forward pass. Sums that
// were begun outside go into a block and come out of it, so that additions happen in the tape's
// order; where one branch adds to a value and the other does not, the missing sum is -0.0. Calls
// and groups are inlined first.
#include "autodiff/differentiate.h"

#include <absl/strings/str_cat.h>

#include "autodiff/backprop.h"
#include "core/base/error.h"
#include "core/dispatch/grad.h"
#include "graph/ir/arguments.h"

namespace lathe {

using namespace ir;  // NOLINT: everything here is about graphs

namespace {

/// Tensors that rules make from numbers are part of the program.
class RuleHost : public TraceCallbacks {
 public:
  Found find(const Tensor&) override { return {Found::How::constant, {}}; }
};

constexpr int kMostInlined = 4096;

// ── before: only ops with a rule, constants, if, for, while ─────────────────────────────────────

class Flatten {
 public:
  Flatten(Tracer& tracer, const Graph& module)
      : tracer_(tracer), g_(tracer.graph()), module_(module) {}

  void block(Block& b) {
    for (Node* n = b.first(); n != nullptr;) {
      Node* before = n->previous();
      if (flatten(*n)) {
        n = before != nullptr ? before->next() : b.first();
        continue;
      }
      for (Block* inner : n->blocks()) block(*inner);
      n = n->next();
    }
  }

 private:
  bool flatten(Node& n) {
    if (n.is(Structure::group)) {
      inline_group(g_, &n);
      return true;
    }
    if (n.is(Structure::call)) {
      const Graph* callee = module_.function(n.callee());
      if (callee == nullptr)
        throw NameError({.op = n.callee(), .problem = "there is no such function"});
      if (++inlined_ > kMostInlined)
        throw AutogradError({.op = n.callee(),
                             .problem = "the derivative of a function that calls itself",
                             .next = "write it as a loop",
                             .site = n.site()});
      inline_call(g_, &n, *callee, tracer_.scope());
      return true;
    }
    if (!n.is(Structure::op) || n.op()->kind != Kind::composite || has_gradient(*n.op()))
      return false;
    expand(n);
    return true;
  }

  /// A composite that a backend takes whole has no rule of its own: its parts have.
  void expand(Node& n) {
    InsertAt here(g_, &n);
    SiteScope site(n.site());
    Tensors held;
    std::vector<Arg> values;
    for (Value* v : n.in()) {
      if (v->type().tensor() != nullptr) {
        held.push_back(tracer_.tensor_for(v));
        values.push_back(Arg(held.back()));
      } else {
        values.push_back(tracer_.number_for(v));
      }
    }
    Filled args = fill(n.attrs(), n.places(), values);
    Values results;
    for (const Tensor& t : lathe::expand(*n.op(), args.args()))
      results.push_back(tracer_.value_of(t));
    g_.replace(&n, results);
  }

  Tracer& tracer_;
  Graph& g_;
  const Graph& module_;
  int inlined_ = 0;
};

// ── after: two graphs from one ──────────────────────────────────────────────────────────────────

struct Joint {
  Graph graph;
  absl::flat_hash_set<const Node*> forward;  // nodes of the body that belong to the program
  size_t inputs;                             // of the program; the rest are cotangents
  size_t yields;
  Values gradients;
};

class Cut {
 public:
  explicit Cut(Joint& joint) : j_(joint) {}

  void run(Vjp& out) {
    find_residuals();
    out.residuals = static_cast<int>(residuals_.size() + sizes_.size());
    build_forward(out.forward);
    build_backward(out.backward);
  }

 private:
  bool is_forward(const Value* v) const {
    if (v->node() != nullptr) return j_.forward.contains(v->node());
    return v->block() == &j_.graph.body() && v->index() < j_.inputs;
  }
  static bool is_constant(const Value* v) {
    return v->node() != nullptr && v->node()->is(Structure::constant);
  }

  std::vector<Node*> added_nodes() const {
    std::vector<Node*> out;
    for (Node* n : j_.graph.body().nodes())
      if (!j_.forward.contains(n)) out.push_back(n);
    return out;
  }

  void need(Value* v) {
    if (!is_forward(v) || !seen_.insert(v).second) return;
    (is_constant(v) ? constants_ : residuals_).push_back(v);
  }

  void find_residuals() {
    for (Node* n : added_nodes()) {
      for (Value* v : n->in()) need(v);
      for (Block* b : n->blocks())
        for (Value* v : free_values(*b)) need(v);
    }
    for (Value* v : j_.gradients)
      if (v != nullptr) need(v);
    // Sizes that the second part mentions, and that neither its inputs nor its own nodes say.
    absl::flat_hash_set<uint32_t> mentioned;
    auto mention = [&](Int e) {
      for (uint32_t k : symbols_of(e)) mentioned.insert(k);
    };
    std::function<void(const Node&)> walk = [&](const Node& n) {
      for (const Arg& a : n.attrs().view()) {
        if (a.tag == Tag::integer) mention(a.integer());
        if (a.tag != Tag::list) continue;
        for (size_t i = 0; i < a.list_->size; ++i)
          if (a.list_->data[i].tag == Tag::integer) mention(a.list_->data[i].integer());
      }
      for (Value* v : n.out()) for_each_int(v->type(), mention);
      for (Block* b : n.blocks()) {
        for (Value* p : b->parameters()) for_each_int(p->type(), mention);
        for (Node* inner = b->first(); inner != nullptr; inner = inner->next()) walk(*inner);
      }
    };
    for (Node* n : added_nodes()) walk(*n);
    for (Value* v : constants_) walk(*v->node());
    for (Value* v : residuals_) for_each_int(v->type(), mention);
    for (size_t i = j_.inputs; i < j_.graph.inputs().size(); ++i)
      for_each_int(j_.graph.inputs()[i]->type(), mention);
    auto said_alone = [&](const Value* v) {
      auto drop = [&](Int e) {
        if (!e.known() && e.expr()->kind == SymKind::symbol) mentioned.erase(e.expr()->symbol);
      };
      if (const TensorType* t = v->type().tensor())
        for (Int e : t->shape) drop(e);
    };
    for (Value* v : residuals_) said_alone(v);
    for (size_t i = j_.inputs; i < j_.graph.inputs().size(); ++i) said_alone(j_.graph.inputs()[i]);
    auto sources = j_.graph.sources();
    for (uint32_t k = 0; k < sources.size(); ++k) {
      const Value* v = sources[k].value;
      bool outside = v != nullptr && is_top(v) && is_forward(v);
      if (mentioned.contains(k) && outside) sizes_.push_back(k);
    }
  }
  bool is_top(const Value* v) const { return v->block() == &j_.graph.body(); }

  void share(Graph& g) const {
    g.symbols() = j_.graph.symbols();
    g.assumptions() = j_.graph.assumptions();
    g.checks() = j_.graph.checks();
    for (const Tensor& t : j_.graph.constants()) g.add_large_constant(t);
    g.drop_unused_constants();
    compact_symbols(g);
  }

  void build_forward(Graph& f) {
    f = Graph(absl::StrCat(j_.graph.name(), "_forward"));
    Graph::ValueMap known;
    for (size_t i = 0; i < j_.inputs; ++i) {
      Value* in = j_.graph.inputs()[i];
      known[in] = f.add_input(in->type(), in->name());
    }
    for (Node* n : j_.graph.body().nodes())
      if (j_.forward.contains(n)) f.copy_node(*n, known);
    Values outputs;
    for (size_t i = 0; i < j_.graph.outputs().size(); ++i)
      outputs.push_back(known.at(j_.graph.outputs()[i]));
    for (Value* v : residuals_) outputs.push_back(known.at(v));
    for (uint32_t k : sizes_) outputs.push_back(f.add_constant(Arg(symbol(k))));
    std::vector<Write> writes;
    for (const Write& w : j_.graph.writes())
      writes.push_back({known.at(w.input), known.at(w.value)});
    f.set_results(std::move(outputs), writes, j_.graph.body().end()->site());
    share(f);
  }

  void build_backward(Graph& b) {
    b = Graph(absl::StrCat(j_.graph.name(), "_backward"));
    Graph::ValueMap known;
    for (Value* v : residuals_) known[v] = b.add_input(v->type(), v->name());
    for (uint32_t k : sizes_) b.add_input(integer_type(symbol(k)));
    for (size_t i = j_.inputs; i < j_.graph.inputs().size(); ++i) {
      Value* in = j_.graph.inputs()[i];
      known[in] = b.add_input(in->type(), in->name());
    }
    for (Value* v : constants_) b.copy_node(*v->node(), known);
    for (Node* n : added_nodes()) b.copy_node(*n, known);
    Values outputs;
    for (Value* v : j_.gradients)
      if (v != nullptr) outputs.push_back(known.at(v));
    b.set_results(std::move(outputs));
    share(b);
  }

  Joint& j_;
  absl::flat_hash_set<const Value*> seen_;
  Values residuals_, constants_;
  std::vector<uint32_t> sizes_;
};

/// To the tape, a leaf that was written to with gradients off is still that leaf, and what is read
/// of it afterwards counts. A graph has only values, and this one has no way back to the input.
void refuse_detached_writes(const Graph& g, absl::Span<const int> wrt) {
  for (const Write& w : g.writes()) {
    const Node* n = w.value->node();
    if (n != nullptr && !n->detached()) continue;
    for (int i : wrt)
      if (w.input == g.inputs()[static_cast<size_t>(i)])
        throw AutogradError({.op = g.name(),
                             .problem = "an input that a derivative is asked by is written to with "
                                        "gradients off",
                             .got = w.input->name(),
                             .next = "give the program a clone() of it, or write to it afterwards",
                             .site = n != nullptr ? n->site() : Site{}});
  }
}

}  // namespace

Vjp differentiate(const Graph& graph, absl::Span<const int> wrt, absl::Span<const int> active) {
  refuse_detached_writes(graph, wrt);
  Vjp out;
  GradMode on(
      true);  // so that what rules record is not marked as detached; nothing here requires grad
  RuleHost host;
  Tracer tracer(graph.clone(), host);
  Graph& g = tracer.graph();
  Joint joint{Graph(), {}, g.inputs().size(), g.body().yields().size(), {}};
  Flatten(tracer, graph).block(g.body());

  Backprop backprop(tracer);
  for (int i : wrt) backprop.activate(g.inputs()[static_cast<size_t>(i)]);
  backprop.spread(g.body());
  backprop.count_rounds(g.body());
  for (Node* n : g.body().nodes()) joint.forward.insert(n);

  Values yields = g.body().yields();
  Node* last = g.body().last();
  for (size_t k = 0; k < yields.size(); ++k) {
    bool chosen = active.empty();
    for (int i : active) chosen |= static_cast<size_t>(i) == k;
    if (!chosen || !backprop.active(yields[k])) continue;
    out.cotangents.push_back(static_cast<int>(k));
    std::string name = yields[k]->name();
    Value* dy = g.add_input(yields[k]->type(), absl::StrCat("d", name.empty() ? "y" : "_" + name));
    backprop.arrive(yields[k], tracer.tensor_for(dy));
  }
  backprop.walk(last, nullptr);
  int count = 0;
  for (int i : wrt) {
    Tensor dx = backprop.sum(g.inputs()[static_cast<size_t>(i)]);
    joint.gradients.push_back(dx.defined() ? tracer.value_of(dx) : nullptr);
    out.gradients.push_back(dx.defined() ? count++ : -1);
  }
  joint.graph = tracer.take();
  Cut(joint).run(out);
  return out;
}

}  // namespace lathe
