#include "kernels/simd/simd_portable.h"
// after the vectors it is made of
#include "kernels/simd/cast_strips.h"

namespace lathe {
void add_cast_portable(StripSet& set) { add_cast(set); }
}  // namespace lathe
