#include "kernels/strips/simd_avx512.h"
// after the vectors it is made of
#include "kernels/strips/cast_strips.h"

namespace lathe {
void add_cast_avx512(StripSet& set) { add_cast(set); }
}  // namespace lathe
