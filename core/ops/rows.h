// Composites of several passes over rows, evaluated on some rows at a time.
#pragma once

#include <absl/functional/function_ref.h>

#include "core/op/op.h"

namespace lathe {

/// of(x), where of() makes each index of the leading axes [0, axes) by itself, in x's dtype and
/// shape. Eager code that takes no derivative gives it a part of x after the other, so that what
/// one step of of() leaves for the next is still in the cache. `args`: the composite's.
Tensor by_rows(Args args, const Tensor& x, int axes, absl::FunctionRef<Tensor(const Tensor&)> of);

}  // namespace lathe
