#include "kernels/strips/simd_avx512.h"
// after the vectors it is made of
#include "kernels/strips/fold_strips.h"

namespace lathe {
void add_fold_avx512(StripSet& set) { add_fold(set); }
}  // namespace lathe
