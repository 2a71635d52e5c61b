#include "kernels/simd/simd_portable.h"
// after the vectors it is made of
#include "kernels/simd/math_loops.h"

namespace lathe {
void add_math_portable(SimdLoops& set) { add_math(set); }
}  // namespace lathe
