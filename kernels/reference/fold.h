// The defined order of reductions, by the reference engine.
//
// The reduced index space is flattened row-major. Each block of 512 elements has 16 lanes; lane l starts from the unit
// and takes elements l, l + 16, l + 32 ... of its block in order; then lanes 8-15 are folded into 0-7, 4-7
// into 0-3, and so on. Blocks are combined by a binary counter: two neighbours of 2^k blocks each make one of
// 2^(k+1); what is left at the end is folded from the right. No elements: the unit.
#pragma once

#include <absl/functional/function_ref.h>

#include "kernels/reference/body.h"

namespace lathe::reference {

/// `element(i)`: the bits of element i of the reduced space.
State fold_tree(const FoldBodies& fold, int64_t count, absl::FunctionRef<uint64_t(int64_t)> element);

}  // namespace lathe::reference
