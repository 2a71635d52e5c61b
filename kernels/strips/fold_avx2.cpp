#include "kernels/strips/simd_avx2.h"
// after the vectors it is made of
#include "kernels/strips/fold_strips.h"

namespace lathe {
void add_fold_avx2(StripSet& set) { add_fold(set); }
}  // namespace lathe
