// Running the steps of a view again, on its base or on another tensor in its place.
#pragma once

#include "core/dispatch/view_path.h"

namespace lathe {

/// The view that these steps show of `base`, by calls of their ops: traced, and seen by the tape.
Tensor replay(const Tensor& base, absl::Span<const ViewStep* const> path);

/// The base's new value after `value` is written through `path`.
Tensor put_through(const Tensor& base, absl::Span<const ViewStep* const> path, const Tensor& value);

}  // namespace lathe
