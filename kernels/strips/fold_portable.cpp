#include "kernels/strips/simd_portable.h"
// after the vectors it is made of
#include "kernels/strips/fold_strips.h"

namespace lathe {
void add_fold_portable(StripSet& set) { add_fold(set); }
}  // namespace lathe
