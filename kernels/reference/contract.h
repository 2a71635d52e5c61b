// The contraction read straight off its formula, one output at a time: slow, and the meaning of the
// rest.
#pragma once

#include "kernels/problem/contraction.h"

namespace lathe::reference {

/// Writes every output. Any dtypes that tensors may have, summed in any but f16 and bf16; pointers
/// as make_contraction's operands had them.
void contract(const Contraction& c, DType accumulator, const std::byte* a, const std::byte* b,
              std::byte* out);

}  // namespace lathe::reference
