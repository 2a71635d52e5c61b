#include "kernels/simd/simd_portable.h"
// after the vectors they are made of
#include "kernels/simd/pick_loops.h"
#include "kernels/simd/reduce_loops.h"

namespace lathe {
void add_reductions_portable(SimdLoops& set) {
  add_reduction(set);
  add_pick(set);
}
}  // namespace lathe
