#include "kernels/strips/simd_avx2.h"
// after the vectors they are made of
#include "kernels/strips/fold_strips.h"
#include "kernels/strips/pick_strips.h"

namespace lathe {
void add_fold_avx2(StripSet& set) {
  add_fold(set);
  add_pick(set);
}
}  // namespace lathe
