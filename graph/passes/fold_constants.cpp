#include "core/base/error.h"
#include "core/dispatch/call.h"
#include "graph/ir/arguments.h"
#include "graph/ir/literal.h"
#include "graph/passes/passes.h"
#include "graph/trace/structure.h"

namespace lathe::ir {
namespace {

bool is_constant(const Value* v) {
  return v->node() != nullptr && v->node()->is(Structure::constant);
}

int64_t bytes_of(const TensorType& t) {
  Int n = numel(t.shape);
  return n.known() ? n.value() * static_cast<int64_t>(size_of(t.dtype)) : -1;
}

/// Known operands, and a result that is not worth computing at every run.
bool foldable(const Graph& graph, const Node& n) {
  if (!n.is(Structure::op) || effects(n, graph) == Effects::ordered || n.in().empty()) return false;
  if (n.op()->extra.host != HostCall::none) return false;  // a call of the front end may raise
  int64_t in = 0, out = 0;
  for (const Value* v : n.in()) {
    if (!is_constant(v)) return false;
    const Arg& a = v->node()->literal(0);
    if (a.tag == Tag::integer && !a.integer().known()) return false;
    if (const TensorType* t = v->type().tensor()) in += bytes_of(*t);
  }
  for (const Arg& a : n.attrs().view()) {
    if (a.tag == Tag::integer && !a.integer().known()) return false;
    if (a.tag == Tag::list)
      for (size_t i = 0; i < a.list_->size; ++i)
        if (a.list_->data[i].tag == Tag::integer && !a.list_->data[i].integer().known())
          return false;
  }
  for (const Value* v : n.out()) {
    const TensorType* t = v->type().tensor();
    if (t == nullptr) continue;
    if (!(t->device == Device{}) || bytes_of(*t) < 0) return false;
    out += bytes_of(*t);
  }
  return out <= std::max<int64_t>(in, kInlineElements * 8);
}

bool fold(Graph& graph, Node* n, Rewrites& rewrites) {
  if (rewrites.off("fold_constants")) return false;
  std::vector<Arg> values;
  for (const Value* v : n->in()) values.push_back(v->node()->literal(0));
  Filled f = fill(n->attrs(), n->places(), values);
  Values results;
  InsertAt here(graph, n);
  std::vector<Arg> made;
  Outputs outputs;
  try {
    // The kernels that would run it: same bits. What raises must raise when the program runs.
    BackendScope eager(nullptr);
    GradMode off(false);
    SiteScope site(n->site());
    if (scalar_result(*n->op(), f.args()))
      made.push_back(evaluate_scalar(*n->op(), f.args()));
    else
      outputs = call(*n->op(), f.args());
  } catch (const Error&) {
    return false;
  }
  if (!rewrites.allow("fold_constants")) return false;
  for (Tensor& t : outputs) {
    t = packed(t);
    if (!writes_inline(t)) graph.add_large_constant(t);
    made.push_back(Arg(t));
  }
  for (const Arg& a : made) results.push_back(graph.add_constant(a, n->site()));
  graph.replace(n, results);
  return true;
}

/// An if on a constant is its branch.
bool take_branch(Graph& graph, Node* n, Rewrites& rewrites) {
  if (!n->is(Structure::if_) || !is_constant(n->in(0)) || !rewrites.allow("fold_constants"))
    return false;
  const Block& taken = n->block(truth(Datum(n->in(0)->node()->literal(0))) ? 0 : 1);
  // Moved rather than copied: what says a symbol must stay the only one.
  for (Node* inner : taken.nodes()) graph.move_before(inner, n);
  Values results = taken.yields();
  graph.replace(n, results);
  return true;
}

int walk(Graph& graph, Block& block, Rewrites& rewrites) {
  int changes = 0;
  for (Node* n : block.nodes()) {
    if (take_branch(graph, n, rewrites)) {
      ++changes;
      continue;
    }
    for (Block* b : n->blocks())
      if (!n->is(Structure::group)) changes += walk(graph, *b, rewrites);
    if (foldable(graph, *n) && fold(graph, n, rewrites)) ++changes;
  }
  return changes;
}

}  // namespace

int fold_constants(Graph& graph, Rewrites& rewrites) { return walk(graph, graph.body(), rewrites); }

}  // namespace lathe::ir
