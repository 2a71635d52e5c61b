#include "kernels/simd/simd_portable.h"
// after the vectors it is made of
#include "kernels/simd/basic_strips.h"

namespace lathe {
void add_basic_portable(StripSet& set) { add_basic(set); }
}  // namespace lathe
