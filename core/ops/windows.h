// Sliding windows, as poolings and foldings see them.
#pragma once

#include "core/ops/families.h"

namespace lathe {

/// What slides over the last axes of a tensor: one number each.
struct Slide {
  Shape kernel, stride, dilation;
  size_t axes() const { return kernel.size(); }
  /// How many elements a window reaches over.
  Int span(size_t k) const { return dilation[k] * (kernel[k] - 1) + 1; }
};

/// One number for every axis, from one for all or one for each. ValueError names `op` and `param`.
Shape per_axis(std::string_view op, std::string_view param, const Shape& given, size_t axes);

/// Do the windows lie beside each other, without a gap or an overlap?
bool side_by_side(const Slide& slide);

/// A place in a window.
using Tap = std::vector<int64_t>;
/// Goes through all places of a window in row-major order: from zeros on; false behind the last.
bool advance(Tap& tap, const Shape& kernel);
/// The elements of x at that place of each window, as a view: x's last axes become `counts`, of
/// windows along each.
Tensor at_tap(const Tensor& x, const Slide& slide, const Shape& counts, const Tap& tap);

/// The reverse of the view `windows`: elements of x[..., counts, kernel] added where they came from
/// in a tensor of this shape. Each place of the window in turn adds its elements, to +0: a defined
/// order. Windows side by side are moved, with the -0.0 that are in them.
Tensor overlap_add(const Tensor& x, const Shape& shape, const Slide& slide);
/// The same, but no -0.0 stays one.
Tensor overlap_added(const Tensor& x, const Shape& shape, const Slide& slide);

/// 0, 1, ... size - 1 as int64, along axis k of as many axes.
Tensor counted(Int size, size_t k, size_t axes, Device device);

/// The last `axes` of a tensor: -axes, ... -1.
Shape last_axes(size_t axes);

/// The shape with other sizes on its last axes.
Shape with_last(const Shape& shape, const Shape& sizes);

/// What no element of the dtype is below: a border that no maximum picks.
Arg lowest_number(DType dtype);

}  // namespace lathe
