#include "kernels/simd/simd_portable.h"
// after the vectors it is made of
#include "kernels/simd/math_strips.h"

namespace lathe {
void add_math_portable(StripSet& set) { add_math(set); }
}  // namespace lathe
