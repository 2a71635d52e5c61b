#include "graph/ir/inline.h"

#include <absl/strings/str_cat.h>

#include "core/base/error.h"
#include "graph/ir/text.h"

namespace lathe::ir {
namespace {

std::function<Int(Int)> substitution(const SymbolMap& symbols) {
  return [&symbols](Int e) {
    if (e.known() || symbols.empty()) return e;
    return substitute(e, [&](uint32_t k) {
      auto it = symbols.find(k);
      return it == symbols.end() ? symbol(k) : it->second;
    });
  };
}

}  // namespace

Values copy_fresh(Graph& to, const Graph& from, const Block& block, Graph::ValueMap& known,
                  SymbolMap& symbols, SymScope& scope) {
  size_t count = std::max<size_t>(from.symbols().size(), scope.symbol_count());
  auto sources = from.sources(count);
  for (uint32_t k = 0; k < sources.size(); ++k) {
    const Value* v = sources[k].value;
    if (v == nullptr || symbols.contains(k) || !encloses(block, v->block())) continue;
    bool other = k < from.symbols().size();
    int64_t hint = other ? from.symbols()[k].hint : scope.hint(symbol(k));
    bool is_size = other ? from.symbols()[k].is_size : sources[k].axis >= 0;
    symbols[k] = scope.fresh_inside(hint, is_size);
  }
  auto change = substitution(symbols);
  for (Node* n = block.first(); n != nullptr; n = n->next())
    map_ints(to, to.copy_node(*n, known), change);
  Values out;
  for (Value* v : block.yields()) {
    auto it = known.find(v);
    out.push_back(it == known.end() ? v : it->second);
  }
  return out;
}

void inline_call(Graph& graph, Node* call, const Graph& callee, SymScope& scope) {
  Graph::ValueMap known;
  SymbolMap symbols;
  auto sources = callee.sources();
  for (size_t i = 0; i < call->in().size(); ++i) known[callee.inputs()[i]] = call->in(i);
  for (uint32_t k = 0; k < sources.size(); ++k) {
    const Value* v = sources[k].value;
    if (v == nullptr || v->node() != nullptr || v->block() != &callee.body()) continue;
    const Type& type = call->in(v->index())->type();
    if (sources[k].axis >= 0)
      symbols[k] = type.tensor()->shape[static_cast<size_t>(sources[k].axis)];
    else if (type.scalar()->value)
      symbols[k] = *type.scalar()->value;
  }
  auto change = substitution(symbols);
  InsertAt here(graph, call);
  Values results = copy_fresh(graph, callee, callee.body(), known, symbols, scope);
  for (const SymFact& f : callee.assumptions()) {
    if (scope.decide(f.relation, change(f.a), change(f.b)) == f.holds) continue;
    throw ValueError({.op = callee.name(),
                      .problem = "the function is called with sizes it was not made for",
                      .got = to_string(f),
                      .site = call->site()});
  }
  for (const SymFact& f : callee.checks()) {
    if (scope.require(f.relation, change(f.a), change(f.b))) continue;
    throw ShapeError({.op = callee.name(),
                      .problem = "the sizes of the arguments do not fit together",
                      .got = to_string(f),
                      .site = call->site()});
  }
  results.resize(call->out().size());
  graph.replace(call, results);
}

void inline_group(Graph& graph, Node* group) {
  Graph::ValueMap known;
  const Block& body = group->block(0);
  for (size_t i = 0; i < group->in().size(); ++i) known[body.parameters()[i]] = group->in(i);
  InsertAt here(graph, group);
  Values results = graph.copy_nodes(body, known);
  // Its nodes are gone when it is; the copies keep their names.
  graph.replace(group, results);
}

}  // namespace lathe::ir
