// Contractions of host operands in the result's dtype, which run without dispatch.
#pragma once

#include <array>

#include "jit/packed.h"
#include "jit/steps.h"

namespace lathe::jit {

/// Runs a step that has operands. `in`: the tensors in its slots; `symbols`: what each is now. Who
/// runs it, and how, is chosen when sizes or flags have changed, and kept in `bound`.
void run_contraction(const Step& step, Bound::OfStep& bound, std::array<const Tensor*, 2> in,
                     absl::Span<const int64_t> symbols, PackedOperands& packed, const Tensor& out,
                     Epilogue epilogue);

}  // namespace lathe::jit
