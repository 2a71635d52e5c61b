// Noise that definitions of several files draw.
#pragma once
#include "core/tensor/tensor.h"

namespace lathe {

/// Exponential variables with mean 1, of x's shape, in the dtype that x is computed in. None is 0
/// once it is in x's dtype, so logarithms may be taken of them.
Tensor exponential_noise(const Tensor& x);

}  // namespace lathe
