#include "kernels/strips/simd_avx2.h"
// after the vectors it is made of
#include "kernels/strips/cast_strips.h"

namespace lathe {
void add_cast_avx2(StripSet& set) { add_cast(set); }
}  // namespace lathe
