#include "kernels/simd/simd_portable.h"
// after the vectors it is made of
#include "kernels/simd/cast_loops.h"

namespace lathe {
void add_cast_portable(SimdLoops& set) { add_cast(set); }
}  // namespace lathe
