// Two lines of elements that meet, one by one, in the arithmetic of their dtype.
#pragma once

#include "core/op/op.h"
#include "kernels/simd/program.h"

namespace lathe::own {

/// (place, value) to what the place holds then, made once; null for complex numbers. Halves are
/// rounded each time.
const SimdProgram* line_fold(DType dtype, Fold fold);

}  // namespace lathe::own
