// Reducing and scanning rows over whole tensors.
#pragma once

#include "kernels/bodies.h"
#include "kernels/operand.h"

namespace lathe::own {

/// The bodies of a row for these types, made once.
const FoldBodies& fold_of(const Op& op, const ElementTypes& types, DType stored);

/// An operand's axes, parted into those kept (with the results' strides) and those reduced.
struct Parted {
  Walk kept;     // operand 0: x; then one a result
  Walk reduced;  // x alone
  int64_t outputs = 1, count = 1;
};

}  // namespace lathe::own
