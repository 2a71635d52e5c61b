#include "kernels/simd/simd_portable.h"
// after the vectors it is made of
#include "kernels/simd/basic_loops.h"

namespace lathe {
void add_basic_portable(SimdLoops& set) { add_basic(set); }
}  // namespace lathe
