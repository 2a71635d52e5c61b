#include "kernels/simd/simd_avx512.h"
// after the vectors it is made of
#include "kernels/simd/cast_loops.h"

namespace lathe {
void add_cast_avx512(SimdLoops& set) { add_cast(set); }
}  // namespace lathe
