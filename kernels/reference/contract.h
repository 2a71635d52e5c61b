// The contraction read straight off its formula, one output at a time: slow, and the meaning of the
// rest.
#pragma once

#include "kernels/contraction.h"

namespace lathe::reference {

/// Writes every output. Any dtype a tensor may have; pointers as make_contraction's operands had
/// them.
void contract(const Contraction& c, const std::byte* a, const std::byte* b, std::byte* out);

}  // namespace lathe::reference
