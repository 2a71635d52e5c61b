#include "kernels/simd/simd_avx2.h"
// after the vectors they are made of
#include "kernels/simd/pick_loops.h"
#include "kernels/simd/reduce_loops.h"

namespace lathe {
void add_fold_avx2(SimdLoops& set) {
  add_reduction(set);
  add_pick(set);
}
}  // namespace lathe
