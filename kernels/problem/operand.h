// A tensor in plain numbers, as kernels see it: where its elements lie and how far apart they are.
#pragma once

#include <absl/container/inlined_vector.h>

#include "core/tensor/tensor.h"

namespace lathe {

using Sizes = absl::InlinedVector<int64_t, 6>;

struct Operand {
  std::byte* data = nullptr;  // of the element at index 0; may be null if there are no elements
  DType dtype = DType::f32;
  Sizes shape;
  Sizes strides;  // in elements; 0 where broadcast

  int rank() const { return static_cast<int>(shape.size()); }
  int64_t numel() const {
    int64_t n = 1;
    for (int64_t s : shape) n *= s;
    return n;
  }
};

/// Of a concrete tensor. Does not wait for work under way: the pointer is for use on the device's
/// stream.
Operand operand(const Tensor& t);

/// Row-major strides in elements.
Sizes contiguous_strides(absl::Span<const int64_t> shape);

/// The numbers behind a known shape.
Sizes sizes(IntSpan shape);

/// The operand as seen under the broadcast `shape`: stride 0 along its axes of size 1 and new axes.
Operand broadcast_to(const Operand& x, absl::Span<const int64_t> shape);

/// A set of operands walked together over one index space. Axes of extent 1 go, neighbours that are
/// one axis to every operand merge; which element meets which does not change. Operand 0 leads:
/// with `reorder`, axes are sorted by its strides, largest outermost.
struct Walk {
  Sizes shape;
  absl::InlinedVector<Sizes, 4> strides;  // by operand, then axis
};
Walk make_walk(absl::Span<const Operand* const> operands, absl::Span<const int64_t> shape,
               bool reorder);

/// The offset of every operand at row-major position `linear` of a walk's outer axes [0, axes).
void walk_offsets(const Walk& walk, int axes, int64_t linear, absl::Span<int64_t> offsets);

}  // namespace lathe
