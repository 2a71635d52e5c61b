#include "kernels/strips/simd_portable.h"
// after the vectors it is made of
#include "kernels/strips/cast_strips.h"

namespace lathe {
void add_cast_portable(StripSet& set) { add_cast(set); }
}  // namespace lathe
