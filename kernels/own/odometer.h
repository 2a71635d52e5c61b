// Walking an index space without a division for each step: a line may have two elements.
#pragma once

#include <array>

#include "kernels/problem/operand.h"

namespace lathe::own {

/// The leading axes of a shape (all but the last `inner`) in row-major order, with the offsets of N
/// operands.
template <size_t N>
class Odometer {
 public:
  Odometer(absl::Span<const int64_t> shape, std::array<const Sizes*, N> strides, size_t inner = 1)
      : shape_(shape), strides_(strides), at_(shape.size() - inner, 0) {}
  int64_t count() const {
    int64_t n = 1;
    for (size_t axis = 0; axis < at_.size(); ++axis) n *= shape_[axis];
    return n;
  }
  void seek(int64_t position) {
    offset.fill(0);
    for (size_t axis = at_.size(); axis-- > 0; position /= shape_[axis]) {
      at_[axis] = position % shape_[axis];
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
