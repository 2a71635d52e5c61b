// From a fused group of the graph to a loop nest.
#pragma once

#include "graph/passes/passes.h"
#include "jit/kernel/loop_ir.h"

namespace lathe::jit {

/// A number the loop nest takes at run time: a number-typed input of the group, or an expression
/// over symbols.
struct Number {
  int input = -1;  // of the group; -1: `expr`
  Int expr = 0;
  DType dtype;
};

struct Lowered {
  LoopNest nest;                // argument buffers: the tensors below, then the outputs
  std::vector<int> tensors;     // which inputs of the group they are
  std::vector<Number> numbers;  // by uniform slot
};

/// `geometries`: how each tensor input of the group lies in its buffer, symbolically. Needs the
/// graph's SymScope entered. Every node of the group is pointwise, and all results have one shape.
Lowered lower(const ir::Node& group, absl::Span<const Geometry> geometries);
/// The same for a single pointwise node.
Lowered lower_node(const ir::Node& node, absl::Span<const Geometry> geometries);

/// Drops axes of extent 1 and merges axes that are one to every operand. Changes no bit.
LoopNest schedule(LoopNest nest);

}  // namespace lathe::jit
