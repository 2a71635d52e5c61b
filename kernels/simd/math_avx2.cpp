#include "kernels/simd/simd_avx2.h"
// after the vectors it is made of
#include "kernels/simd/math_loops.h"

namespace lathe {
void add_math_avx2(SimdLoops& set) { add_math(set); }
}  // namespace lathe
