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

/// The same over the outer axes of a walk, for as many operands as it has.
class WalkOdometer {
 public:
  WalkOdometer(const Walk& walk, size_t axes, int64_t position)
      : walk_(walk), at_(axes), offset_(walk.strides.size()) {
    walk_offsets(walk, static_cast<int>(axes), position, absl::MakeSpan(offset_));
    for (size_t axis = axes; axis-- > 0; position /= walk.shape[axis])
      at_[axis] = position % walk.shape[axis];
  }
  void next() {
    for (size_t axis = at_.size(); axis-- > 0;) {
      const bool on = ++at_[axis] < walk_.shape[axis];
      if (!on) at_[axis] = 0;
      for (size_t k = 0; k < offset_.size(); ++k) {
        const int64_t stride = walk_.strides[k][axis];
        offset_[k] += on ? stride : -stride * (walk_.shape[axis] - 1);
      }
      if (on) return;
    }
  }
  int64_t offset(size_t operand) const { return offset_[operand]; }
  absl::Span<const int64_t> at() const { return at_; }

 private:
  const Walk& walk_;
  Sizes at_, offset_;
};

}  // namespace lathe::own
