// From a fused group of the graph to a kernel.
#pragma once

#include "graph/passes/passes.h"
#include "jit/kernel/compose.h"

namespace lathe::jit {

struct Lowered {
  Kernel kernel;                // argument buffers: the tensors below, then the outputs
  std::vector<int> tensors;     // which inputs of the group they are
  std::vector<Number> numbers;  // by uniform slot
};

/// `geometries`: how each tensor input of the group lies in its buffer, symbolically. Needs the
/// graph's SymScope entered. Every node of the group is pointwise, and all results have one shape.
/// Its axes are joined, and nothing is said of how it is walked.
Lowered lower(const ir::Node& group, absl::Span<const Geometry> geometries);
/// The same for a single pointwise node.
Lowered lower_node(const ir::Node& node, absl::Span<const Geometry> geometries);

/// Drops parallel axes of extent 1 and merges those that are one to every operand; one is left.
/// Changes no bit.
Kernel join_axes(Kernel kernel);

}  // namespace lathe::jit
