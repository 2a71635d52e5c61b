// The defined order of reductions, by the reference engine.
//
// The order is that of simd/reduce.h: lanes, halving, and the tree of blocks, here by a binary
// counter.
#pragma once

#include <absl/functional/function_ref.h>

#include "kernels/reference/body.h"

namespace lathe::reference {

/// `element(i)`: the bits of element i of the reduced space.
State reduce_tree(const ReduceBodies& fold, int64_t count,
                  absl::FunctionRef<State(int64_t)> element);

}  // namespace lathe::reference
