#include "kernels/simd/simd_avx512.h"
// after the vectors they are made of
#include "kernels/simd/fold_strips.h"
#include "kernels/simd/pick_strips.h"

namespace lathe {
void add_fold_avx512(StripSet& set) {
  add_fold(set);
  add_pick(set);
}
}  // namespace lathe
