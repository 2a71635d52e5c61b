// Walking an index space without a division for each step: rows may be of two elements.
#pragma once

#include <array>

#include "kernels/operand.h"

namespace lathe::own {

/// The leading axes of a shape (all but the last `inner`) in row-major order, with the offsets of N
/// operands.
template <size_t N>
class Rows {
 public:
  Rows(absl::Span<const int64_t> shape, std::array<const Sizes*, N> strides, size_t inner = 1)
      : shape_(shape), strides_(strides), at_(shape.size() - inner, 0) {}
  void seek(int64_t row) {
    offset.fill(0);
    for (size_t axis = at_.size(); axis-- > 0; row /= shape_[axis]) {
      at_[axis] = row % shape_[axis];
      for (size_t k = 0; k < N; ++k) offset[k] += at_[axis] * (*strides_[k])[axis];
    }
  }
  void next() {
    for (size_t axis = at_.size(); axis-- > 0;) {
      for (size_t k = 0; k < N; ++k) offset[k] += (*strides_[k])[axis];
      if (++at_[axis] < shape_[axis]) return;
      for (size_t k = 0; k < N; ++k) offset[k] -= at_[axis] * (*strides_[k])[axis];
      at_[axis] = 0;
    }
  }
  std::array<int64_t, N> offset{};

 private:
  absl::Span<const int64_t> shape_;
  std::array<const Sizes*, N> strides_;
  Sizes at_;
};

}  // namespace lathe::own
