// Graph to graph: from a program its forward pass, which also gives what the backward pass needs,
// and its backward pass. The backward is written by the very rules the tape runs
// (core/dispatch/grad.h), recorded on symbolic tensors, in the tape's order: nodes from last to
// first, arguments in order, a cotangent the sum of its contributions in order of arrival. So the
// bits of gradients are those of eager, and both graphs can be differentiated again.
#pragma once

#include <vector>

#include "graph/ir/ir.h"

namespace lathe {

struct Vjp {
  /// The program, with `residuals` more outputs at the end: tensors, and sizes as integers.
  ir::Graph forward;
  /// Inputs: the residuals, then one cotangent for each of `cotangents`. Outputs: gradients.
  ir::Graph backward;
  int residuals = 0;
  std::vector<int> cotangents;  // which results of the program have one (results, then writes)
  std::vector<int>
      gradients;  // by wanted input: which output of `backward`; -1: it has no influence
};

/// Gradients by the inputs `wrt`. `active`: which results (then writes) may be given a cotangent;
/// empty: all that are floating. AutogradError where an op on the way has no derivative, a loop
/// that must be run again draws random numbers, or a wanted input is written to with gradients off.
Vjp differentiate(const ir::Graph& graph, absl::Span<const int> wrt,
                  absl::Span<const int> active = {});

}  // namespace lathe
