// Positions of axes by their number in row-major order.
#pragma once

#include <absl/types/span.h>

#include "kernels/problem/operand.h"

namespace lathe::jit {

/// Where position `number` is among so many an axis, none of which is 0.
inline Sizes position_of(int64_t number, absl::Span<const int64_t> extents) {
  Sizes at(extents.size());
  for (size_t axis = at.size(); axis-- > 0; number /= extents[axis])
    at[axis] = number % extents[axis];
  return at;
}

}  // namespace lathe::jit
