#include "kernels/simd/simd_avx2.h"
// after the vectors it is made of
#include "kernels/simd/basic_loops.h"

namespace lathe {
void add_basic_avx2(SimdLoops& set) { add_basic(set); }
}  // namespace lathe
