#include "graph/ir/query.h"

#include <absl/container/btree_map.h>
#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <absl/strings/strip.h>

#include <algorithm>
#include <numeric>

#include "core/base/error.h"
#include "graph/ir/text.h"

namespace lathe::ir {
namespace {

constexpr size_t kMostNamed = 20;  // in a message

[[noreturn]] void refuse_name(const Graph& graph, std::string_view name, std::string_view what,
                              std::vector<std::string> known) {
  if (known.size() > kMostNamed) known.resize(kMostNamed);
  throw NameError({.op = graph.name(),
                   .problem = absl::StrCat("there is no ", what, " of this name"),
                   .got = std::string(name),
                   .expected = absl::StrJoin(known, ", "),
                   .next = "print the graph to see its names"});
}

bool is_constant(const Value* v) {
  return v->node() != nullptr && v->node()->is(Structure::constant);
}

}  // namespace

Value* named_value(const Graph& graph, std::string_view name) {
  absl::ConsumePrefix(&name, "%");
  const auto names = printed_names(graph);
  std::vector<std::string> known;
  Value* by_user = nullptr;
  for (const auto& [printed, v] : names) {
    if (v->block() != &graph.body()) continue;
    if (printed == name) return v;
    if (v->name() == name) by_user = v;
    known.push_back(printed);
  }
  if (by_user != nullptr) return by_user;
  refuse_name(graph, name, "value", std::move(known));
}

std::vector<Node*> nodes_for(const Graph& graph, const Value* value) {
  absl::flat_hash_set<const Value*> needed{value};
  std::vector<Node*> out;
  std::vector<Node*> nodes = graph.body().nodes();
  for (size_t i = nodes.size(); i-- > 0;) {
    Node* n = nodes[i];
    bool wanted = false;
    for (const Value* v : n->out()) wanted |= needed.contains(v);
    if (!wanted) continue;
    out.push_back(n);
    needed.insert(n->in().begin(), n->in().end());
    for (const Block* b : n->blocks())
      for (const Value* v : free_values(*b)) needed.insert(v);
  }
  return {out.rbegin(), out.rend()};
}

Values variables_of(const Graph& graph, const Value* value) {
  absl::flat_hash_set<const Value*> read{value};
  Values out, constants;
  for (const Node* n : nodes_for(graph, value)) {
    read.insert(n->in().begin(), n->in().end());
    for (const Block* b : n->blocks())
      for (const Value* v : free_values(*b)) read.insert(v);
    if (n->is(Structure::constant) && !n->out(0)->name().empty()) constants.push_back(n->out(0));
  }
  for (Value* v : graph.inputs())
    if (read.contains(v)) out.push_back(v);
  out.insert(out.end(), constants.begin(), constants.end());
  return out;
}

Graph with_results(const Graph& graph, absl::Span<const Value* const> results) {
  Graph::ValueMap known;
  Graph g = graph.clone(&known);
  Values out;
  for (const Value* v : results) out.push_back(known.at(v));
  g.set_results(std::move(out), {}, g.body().end()->site());
  return g;
}

Graph with_inputs(const Graph& graph, absl::Span<const std::string> constants) {
  Graph g = graph.clone();
  std::vector<std::string> known;
  for (const auto& [name, v] : printed_names(g))
    if (is_constant(v) && v->block() == &g.body() && v->type().tensor() != nullptr)
      known.push_back(name);
  for (const std::string& name : constants) {
    Value* v = named_value(g, name);
    if (!is_constant(v) || v->type().tensor() == nullptr)
      refuse_name(graph, name, "constant", known);
    Value* input = g.add_input(v->type(), v->name());
    g.replace(v, input);
    g.erase(v->node());
  }
  g.drop_unused_constants();
  return g;
}

Graph module_of(const Graph& module, std::string_view function) {
  if (module.name() == function) return module.clone();
  const Graph* first = module.function(function);
  if (first == nullptr) {
    std::vector<std::string> known{module.name()};
    for (const auto& f : module.functions()) known.push_back(f->name());
    refuse_name(module, function, "function", std::move(known));
  }
  Graph out = first->clone();
  std::vector<const Graph*> open{first};
  while (!open.empty()) {
    const Graph* at = open.back();
    open.pop_back();
    for_each_node(at->body(), [&](Node* n) {
      if (!n->is(Structure::call) || n->callee() == out.name() ||
          out.function(n->callee()) != nullptr)
        return;
      const Graph* f = n->callee() == module.name() ? &module : module.function(n->callee());
      if (f == nullptr) return;  // verify() says so
      auto copy = std::make_unique<Graph>(f->clone());
      copy->drop_functions();
      copy->gradients().clear();
      out.add_function(std::move(copy));
      open.push_back(f);
    });
  }
  return out;
}

std::vector<Repeated> repeated_lines(const Graph& graph) {
  constexpr size_t kLeast = 4;  // what one line says of itself is less: a * b + c * d
  absl::btree_map<uint32_t, absl::flat_hash_map<const Op*, size_t>> lines;
  auto count = [&](const Graph& g) {
    for_each_node(g.body(), [&](const Node* n) {
      if (n->is(Structure::op) && n->site().known()) ++lines[n->site().id][n->op()];
    });
  };
  count(graph);
  for (const auto& f : graph.functions()) count(*f);
  std::vector<Repeated> out;
  for (const auto& [id, ops] : lines) {
    Repeated line{Site{id}, 0, 0};
    for (const auto& [op, n] : ops) {
      line.times = std::gcd(line.times, n);
      line.nodes += n;
    }
    if (line.times >= kLeast) out.push_back(line);
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const Repeated& a, const Repeated& b) { return a.nodes > b.nodes; });
  return out;
}

}  // namespace lathe::ir
