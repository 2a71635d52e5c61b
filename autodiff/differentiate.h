// Graph to graph: from a program its forward pass, which also gives what the backward pass needs,
// and its backward pass. The backward is written by the very rules the tape runs
// (core/dispatch/grad.h), recorded on symbolic tensors, in the tape's order: nodes from last to
// first, arguments in order, a cotangent the sum of its contributions in order of arrival. So the
// bits of gradients are those of eager, and both graphs can be differentiated again.
//
// What the forward pass keeps for the backward and what the backward computes again is said in
// cut.h.
#pragma once

#include <optional>
#include <vector>

#include "autodiff/vjp.h"

namespace lathe {

struct VjpOptions {
  /// Which results (own, hidden, then writes) may be given a cotangent; none: all that are
  /// floating.
  std::optional<absl::Span<const int>> active = std::nullopt;
  /// Values that may be given one as well, though `forward` does not give them: results whose
  /// elements are had otherwise.
  absl::Span<ir::Value* const> hidden = {};
  /// Inputs among the wanted ones whose sum of cotangents so far is given to the backward, which
  /// goes on with it.
  absl::Span<const int> continued = {};
  /// The forward pass has been made already, and the graph is its Vjp::whole: the backward may read
  /// this of it and nothing else. No other graph is made.
  const std::vector<Vjp::Read>* reads = nullptr;
  bool higher = false;  // the backward is to be differentiated
};

/// Gradients by the inputs `wrt`. AutogradError where an op on the way has no derivative, a loop
/// that must be run again draws random numbers, or a wanted input is written to with gradients off.
Vjp differentiate(const ir::Graph& graph, absl::Span<const int> wrt,
                  const VjpOptions& options = {});

}  // namespace lathe
