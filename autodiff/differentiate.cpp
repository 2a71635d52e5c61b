// How it works
//
// A Tracer goes on recording at the end of the program, so that the derivative rules, which are
// ordinary calls, append the backward pass to it. Backprop walks nodes from last to first and keeps
// for each value the sum of what has arrived. What was there before is then cut from what was
// added (cut.h).
//
// Structures. A block is differentiated by copying its nodes to where the gradient is computed (the
// part is run again, from what it was given) and walking the copy. An `if` becomes an `if` whose
// branches do that. Of a loop that is done from the last round to the first: a `for` keeps what its
// rounds' derivatives read (backprop_kept.cpp), a `while`, or a `for` that would keep too much,
// runs again with what it carries kept in stacks. A `while` counts its rounds in the forward pass.
// Sums that were begun outside go into a block and come out of it, so that additions happen in the
// tape's order; where one branch adds to a value and the other does not, the missing sum is -0.0.
// A sum that data may leave empty so comes with a flag, which goes on to what is derived from it
// (arrival.h): what the derivative of an op makes of nothing is nothing, not 0 times infinity.
// Calls and groups are inlined first.
#include "autodiff/differentiate.h"

#include <absl/algorithm/container.h>
#include <absl/strings/str_cat.h>

#include "autodiff/backprop.h"
#include "autodiff/cut.h"
#include "autodiff/flatten.h"
#include "core/base/error.h"

namespace lathe {

using namespace ir;  // NOLINT: everything here is about graphs

namespace {

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

Graph with_hidden(const Graph& graph, absl::Span<Value* const> hidden) {
  Graph::ValueMap known;
  Graph g = graph.clone(&known);
  if (hidden.empty()) return g;
  Values results(g.outputs().begin(), g.outputs().end());
  for (const Value* v : hidden) results.push_back(known.at(v));
  const std::vector<Write> writes = g.writes();
  g.set_results(std::move(results), writes, g.body().end()->site());
  return g;
}

/// What is granted here and not by the graph, of what its inputs say.
std::vector<SymFact> granted_besides(const Graph& graph, absl::Span<const SymFact> granted) {
  const std::vector<SymbolSource> sources = graph.sources();
  const auto known = [&](Int e) {
    for (uint32_t k : symbols_of(e))
      if (k >= sources.size()) return false;
    return graph.inputs_say(e, sources);
  };
  std::vector<SymFact> out;
  for (const SymFact& f : granted) {
    const bool stated = absl::c_any_of(graph.assumptions(), [&](const SymFact& g) {
      return g.relation == f.relation && g.holds == f.holds && identical(g.a, f.a) &&
             identical(g.b, f.b);
    });
    if (!stated && known(f.a) && known(f.b)) out.push_back(f);
  }
  return out;
}

}  // namespace

Vjp differentiate(const Graph& graph, absl::Span<const int> wrt, const VjpOptions& options) {
  refuse_detached_writes(graph, wrt);
  Vjp out;
  GradMode on(
      true);  // so that what rules record is not marked as detached; nothing here requires grad
  const AutocastScope over(DType::f32);
  RuleHost host;
  Tracer tracer(with_hidden(graph, options.hidden), host);
  Graph& g = tracer.graph();
  Joint joint{.graph = Graph(), .inputs = g.inputs().size(), .hidden = options.hidden.size()};
  Flatten(tracer, graph).block(g.body());

  Backprop backprop(tracer, options.reads == nullptr, options.higher);
  auto input = [&](int i) { return g.inputs()[static_cast<size_t>(i)]; };
  for (int i : wrt) backprop.activate(input(i));
  backprop.spread(g.body());
  backprop.count_rounds(g.body());
  Values yields = g.body().yields();
  Node* last = g.body().last();
  for (size_t k = 0; k < yields.size(); ++k) {
    bool chosen = !options.active;
    for (int i : options.active.value_or(absl::Span<const int>()))
      chosen |= static_cast<size_t>(i) == k;
    if (!chosen || !backprop.active(yields[k])) continue;
    out.cotangents.push_back(static_cast<int>(k));
    std::string name = yields[k]->name();
    Value* dy = g.add_input(yields[k]->type(), absl::StrCat("d", name.empty() ? "y" : "_" + name));
    backprop.arrive(yields[k], tracer.tensor_for(dy));
  }
  for (int i : options.continued)
    backprop.arrive(input(i), tracer.tensor_for(g.add_input(input(i)->type())));
  backprop.walk(last);
  int count = 0;
  for (int i : wrt) {
    Tensor dx = backprop.sum(input(i));
    joint.gradients.push_back(dx.defined() ? tracer.value_of(dx) : nullptr);
    out.gradients.push_back(dx.defined() ? count++ : -1);
  }
  for (Node* n = g.body().first(); last != nullptr; n = n->next()) {
    joint.forward.insert(n);
    if (n == last) break;
  }
  joint.active = backprop.all_active();
  joint.graph = tracer.take();
  out.asked = granted_besides(graph, joint.graph.assumptions());
  const auto results = static_cast<int>(joint.graph.outputs().size());
  Cut(joint, options.reads).run(out);
  for (int& k : out.cotangents)
    if (k >= results) k += out.extra + out.derived;
  return out;
}

}  // namespace lathe
