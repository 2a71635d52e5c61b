// Views in the middle of a composite. A view remembers its way from its base, for those who record
// and for writes to come; where nobody records, one that nobody else sees needs none of that.
#pragma once

#include "core/tensor/tensor.h"

namespace lathe {

/// Does nobody record what is done with this tensor, on this thread and now?
bool unwatched(const Tensor& x);

/// unsqueeze(x, dim): to be read, and then forgotten.
Tensor with_axis(const Tensor& x, Int dim);

/// squeeze(x, dim) of a fresh tensor that nobody else has; that axis has size 1.
Tensor without_axis(const Tensor& x, int dim);

}  // namespace lathe
