#include "kernels/strips/simd_avx512.h"
// after the vectors it is made of
#include "kernels/strips/math_strips.h"

namespace lathe {
void add_math_avx512(StripSet& set) { add_math(set); }
}  // namespace lathe
