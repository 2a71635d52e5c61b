// What a schedule stages: before a box of a kernel runs, the elements that it reads of some inputs
// are copied into memory of its own, side by side along the last axis.
#pragma once

#include <absl/types/span.h>

#include <vector>

#include "jit/kernel_ir/kernel.h"

namespace lathe::jit {

class Staging {
 public:
  explicit Staging(const Kernel& kernel);

  bool any() const { return !slots_.empty(); }
  /// Is a box one line along all axes?
  bool flat() const { return flat_; }
  /// The axis along which what is staged lies side by side, by the strides of all operands.
  size_t runs_along(const std::vector<int64_t>& strides, size_t axes) const;

  /// For boxes of some sizes.
  struct Bound {
    std::vector<int64_t> strides;  // bytes; by operand, one an axis: of what is staged, in a box
    std::vector<size_t> begins;    // by what is staged: where it begins in the memory of a box
    size_t bytes = 0;              // of that memory
  };
  /// `box`: positions an axis; `strides`: of all operands as they lie.
  Bound bind(absl::Span<const int64_t> box, const std::vector<int64_t>& strides) const;

  /// Copies what the box of `count` positions from `first` on reads into `room`. `places`: by
  /// operand, where position 0 is; afterwards, by the strides of `bound`, of what is staged.
  /// `again`: `room` holds what a box of at least as many positions read, which began elsewhere
  /// along so many of the first axes.
  void copy(const Bound& bound, absl::Span<const int64_t> first, absl::Span<const int64_t> count,
            const std::vector<int64_t>& strides, absl::Span<std::byte*> places, std::byte* room,
            size_t again = SIZE_MAX) const;

 private:
  struct Slot {
    DType dtype;
    bool along;                    // code goes along the last axis, whatever the stride is
    bool spread;                   // and what is repeated along another axis is there as often
    std::vector<size_t> operands;  // that read the same elements
    /// Is there one element for all positions of an axis?
    bool repeated(absl::Span<const int64_t> strides, size_t axis) const {
      if (spread) return false;
      return axis + 1 == strides.size() ? !along : strides[axis] == 0;
    }
  };
  std::vector<Slot> slots_;
  bool flat_;
};

}  // namespace lathe::jit
