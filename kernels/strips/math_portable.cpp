#include "kernels/strips/simd_portable.h"
// after the vectors it is made of
#include "kernels/strips/math_strips.h"

namespace lathe {
void add_math_portable(StripSet& set) { add_math(set); }
}  // namespace lathe
