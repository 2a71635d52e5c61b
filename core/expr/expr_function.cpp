// Finished bodies: building one from a C++ function, lowering its transcendental primitives,
// calling one from another.
#include <absl/strings/str_cat.h>

#include "core/base/error.h"
#include "core/base/stable_hash.h"
#include "core/expr/expr.h"
#include "core/expr/expr_internal.h"

namespace lathe {

using namespace expr_detail;

namespace expr_detail {
namespace {

/// Marks and copies what `root` needs; a stack instead of recursion, because scans make deep
/// graphs.
void copy_reachable(const ExprGraph& from, uint32_t root, ExprGraph& to,
                    std::vector<uint32_t>& renamed) {
  constexpr uint32_t kUnseen = ~0u;
  struct Visit {
    uint32_t id;
    uint8_t next;
  };
  std::vector<Visit> stack;
  if (renamed[root] == kUnseen) stack.push_back({root, 0});
  while (!stack.empty()) {
    Visit& top = stack.back();
    ExprNode node = from[top.id];
    if (top.next < node.arity) {
      const uint32_t arg = node.args[top.next++];
      if (renamed[arg] == kUnseen) stack.push_back({arg, 0});
      continue;
    }
    for (uint8_t i = 0; i < node.arity; ++i) node.args[i] = renamed[node.args[i]];
    renamed[top.id] = to.intern(node);
    stack.pop_back();
  }
}

}  // namespace

ScalarFunction extract(const ExprGraph& graph, absl::Span<const Expr> outputs,
                       absl::Span<const DType> inputs) {
  ScalarFunction f;
  if (graph.keeps_complex()) f.graph = ExprGraph(ComplexAs::whole);
  f.inputs.assign(inputs.begin(), inputs.end());
  std::vector<uint32_t> renamed(graph.size(), ~0u);
  for (Expr e : outputs) {
    copy_reachable(graph, e.id(), f.graph, renamed);
    f.outputs.push_back(renamed[e.id()]);
  }
  return f;
}

std::vector<Expr> replay(const ScalarFunction& f, absl::Span<const Expr> inputs) {
  LATHE_CHECK(inputs.size() == f.inputs.size());
  Exprs given(inputs.begin(), inputs.end());
  for (size_t i = 0; i < given.size(); ++i) {
    if (given[i].literal()) given[i] = constant(f.inputs[i], given[i].literal_value());
    if (given[i].dtype() != f.inputs[i])
      throw DTypeError(
          {.problem = absl::StrCat("argument ", i, " of a scalar function has another type"),
           .got = std::string(name(given[i].dtype())),
           .expected = std::string(name(f.inputs[i]))});
  }
  std::vector<Expr> nodes;
  nodes.reserve(f.graph.size());
  for (const ExprNode& node : f.graph.nodes()) {
    absl::InlinedVector<Expr, 3> args;
    bool complex_node = is_complex(node.dtype);
    for (uint8_t i = 0; i < node.arity; ++i) {
      args.push_back(nodes[node.args[i]]);
      complex_node |= is_complex(args[i].dtype());
    }
    if (node.prim == Prim::input)
      nodes.push_back(given[node.payload]);
    else if (complex_node)
      nodes.push_back(replay_complex(node, args));
    else
      nodes.push_back(make(node.prim, node.dtype, args, node.payload));
  }
  return nodes;
}

Exprs pack_outputs(const ScalarFunction& f, const std::vector<Expr>& nodes) {
  Exprs packed;
  size_t next = 0;
  for (DType type : f.output_types) {
    const Expr first = nodes[f.outputs[next++]];
    const bool pair = is_complex(type) && !f.graph.keeps_complex();
    packed.push_back(pair ? complex(first, nodes[f.outputs[next++]]) : first);
  }
  return packed;
}

namespace {

/// The current graph's `outputs` as a function: complex ones as pairs unless the graph keeps them,
/// dead nodes dropped.
ScalarFunction finish(absl::Span<const Expr> outputs, absl::Span<const DType> inputs) {
  Exprs parts;
  std::vector<DType> types;
  for (Expr e : outputs) {
    types.push_back(e.dtype());
    const bool pair = is_complex(e.dtype()) && !current_exprs().keeps_complex();
    parts.push_back(pair ? real(e) : e);
    if (pair) parts.push_back(imag(e));
  }
  ScalarFunction f = extract(current_exprs(), parts, inputs);
  f.output_types = std::move(types);
  return f;
}

Exprs make_inputs(absl::Span<const DType> types) {
  Exprs inputs;
  for (size_t i = 0; i < types.size(); ++i) inputs.push_back(input(static_cast<int>(i), types[i]));
  return inputs;
}

}  // namespace
}  // namespace expr_detail

ScalarFunction build(const BodyFn& body, absl::Span<const DType> inputs, ComplexAs complex_as) {
  ExprGraph graph(complex_as);
  const ExprScope scope(graph);
  return finish(body(make_inputs(inputs)), inputs);
}

ScalarFunction lower(const ScalarFunction& f) {
  ExprGraph graph;
  const ExprScope scope(graph);
  const Exprs inputs = make_inputs(f.inputs);
  std::vector<Expr> nodes;
  nodes.reserve(f.graph.size());
  for (const ExprNode& node : f.graph.nodes()) {
    absl::InlinedVector<Expr, 3> args;
    for (uint8_t i = 0; i < node.arity; ++i) args.push_back(nodes[node.args[i]]);
    if (info(node.prim).transcendental) {
      nodes.push_back(expand(node.prim, args));
    } else if (node.prim == Prim::fmod) {
      nodes.push_back(expand_remainder(args[0], args[1]));
    } else if (node.prim == Prim::input) {
      nodes.push_back(inputs[node.payload]);
    } else {
      nodes.push_back(make(node.prim, node.dtype, args, node.payload));
    }
  }
  return finish(pack_outputs(f, nodes), f.inputs);
}

Exprs inline_call(const ScalarFunction& f, absl::Span<const Expr> inputs) {
  return pack_outputs(f, replay(f, inputs));
}

uint64_t ScalarFunction::hash() const {
  StableHash h;
  h.add(inputs.size());
  for (DType d : inputs) h.add(static_cast<uint64_t>(d));
  h.add(graph.size());
  for (const ExprNode& node : graph.nodes()) {
    h.add(static_cast<uint64_t>(node.prim) | static_cast<uint64_t>(node.dtype) << 8 |
          static_cast<uint64_t>(node.arity) << 16);
    for (uint8_t i = 0; i < node.arity; ++i) h.add(node.args[i]);
    h.add(node.payload);
  }
  for (uint32_t id : outputs) h.add(id);
  for (DType d : output_types) h.add(static_cast<uint64_t>(d));
  return h.value();
}

}  // namespace lathe
