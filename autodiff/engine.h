// Backward: walks history once, newest node first, iteratively.
//
// The order is part of the definition of a gradient's bits: nodes in descending sequence, within a
// node arguments in ascending slot; a cotangent is the sum of its contributions in that order of
// arrival. `differentiate` on graphs follows the same order. Leaves come last, in the order in
// which something first arrived at them.
#pragma once

#include <functional>

#include "core/tensor/tensor.h"

namespace lathe {

struct BackwardOptions {
  bool retain_graph = false;      // keep saved tensors for another backward
  bool create_graph = false;      // record the backward itself (higher order)
  bool allow_unused = false;      // grad(): an input that does not matter gives an undefined tensor
  bool zeros_for_unused = false;  // with allow_unused: zeros in place of an undefined tensor
  bool check_nan = false;         // a NaN that a derivative makes is an AutogradError with the line
  /// Asked between nodes; true stops with a CancelledError before any leaf's `.grad` has changed.
  bool (*cancelled)() noexcept = nullptr;
};

/// Gradients of sum(ys * dys) by xs. dys may hold undefined tensors for real scalars: ones. Only
/// history that leads to xs is gone through, and released.
Tensors grad(const Tensors& ys, const Tensors& dys, const Tensors& xs,
             BackwardOptions options = {});

/// The same for each row of dys, which have one more axis in front than ys. So have the gradients.
Tensors grad_of_rows(const Tensors& ys, const Tensors& dys, const Tensors& xs,
                     BackwardOptions options = {});

/// The innermost backward that runs on this thread, by a number of its own; 0: none does.
uint64_t current_backward();
/// Calls f when that one has ended without an error.
void after_backward(std::function<void()> f);

/// Adds the gradients to the `.grad` of every leaf that ys depend on.
void backward(const Tensors& ys, const Tensors& dys = {}, BackwardOptions options = {});

}  // namespace lathe
