#include "kernels/simd/simd_avx512.h"
// after the vectors it is made of
#include "kernels/simd/math_loops.h"

namespace lathe {
void add_math_avx512(SimdLoops& set) { add_math(set); }
}  // namespace lathe
