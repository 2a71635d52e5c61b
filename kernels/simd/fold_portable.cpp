#include "kernels/simd/simd_portable.h"
// after the vectors they are made of
#include "kernels/simd/fold_strips.h"
#include "kernels/simd/pick_strips.h"

namespace lathe {
void add_fold_portable(StripSet& set) {
  add_fold(set);
  add_pick(set);
}
}  // namespace lathe
