// Whether two maps name the same elements.
#pragma once

#include "jit/kernel_ir/kernel.h"

namespace lathe::jit {

/// At every position, by what is known of sizes without asking.
inline bool same_place(const IndexMap& a, const IndexMap& b) {
  const size_t axes = std::max(a.strides.size(), b.strides.size());
  bool same = identical(a.offset, b.offset);
  for (size_t axis = 0; axis < axes; ++axis) same = same && identical(a.along(axis), b.along(axis));
  return same;
}

}  // namespace lathe::jit
