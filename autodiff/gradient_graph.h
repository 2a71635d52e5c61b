// The gradient of a graph as one graph: the copied program, and behind it the adjoints. This is
// what a text declares ("gradient @g of @f wrt 1, 2"), and what lt.jit.Program.deriv gives. What
// the gradient does not need of the program, eliminate_dead takes away.
#pragma once

#include <absl/functional/function_ref.h>

#include "graph/ir/ir.h"

namespace lathe {

struct GradientOf {
  const ir::Value* of = nullptr;  // of the graph's body: a result, or any other
  ir::Values wrt;                 // inputs and constants
  ir::Values keeping = {};        // values that are given behind the gradients
  bool seeded = false;            // the cotangent is one more input, the last; else ones
};

/// Is told of a graph under way: what was just done, and the graph.
using SeeStage = absl::FunctionRef<void(std::string_view, const ir::Graph&)>;

/// `module`: has the functions that are called. Writes of the program are left out. AutogradError
/// where an op on the way has no derivative, and for what is no float.
ir::Graph gradient_graph(const ir::Graph& graph, const ir::Graph& module, std::string name,
                         const GradientOf& what, SeeStage see);

/// Writes each function that a module declares, in order. How many. NameError, IndexError, and
/// TypeError where the types that a declaration states are not those of the gradient.
int derive_gradients(ir::Graph& module, SeeStage see);

}  // namespace lathe
