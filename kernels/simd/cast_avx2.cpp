#include "kernels/simd/simd_avx2.h"
// after the vectors it is made of
#include "kernels/simd/cast_loops.h"

namespace lathe {
void add_cast_avx2(SimdLoops& set) { add_cast(set); }
}  // namespace lathe
