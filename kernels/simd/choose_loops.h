// The strip kernels this process uses: the widest instruction set that the processor has, unless
// the flag `isa` names another. All give the same bits.
#pragma once

#include <absl/types/span.h>

#include <string_view>

#include "kernels/simd/simd_loops.h"

namespace lathe {

/// Chosen by the flag `isa`; UnsupportedError if the processor lacks what it names.
const SimdLoops& simd_loops();

/// Every set that this processor can run; `portable` first.
absl::Span<const SimdLoops* const> simd_loop_sets();

/// The row of SimdLoops::prim that a node belongs to: its result's dtype, but for comparisons and
/// bits that of their operand.
DType strip_key(Prim prim, DType result, DType operand);

}  // namespace lathe
