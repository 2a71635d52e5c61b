// Distances from a mean, for the composites that are made of them: variances, norms, covariances.
#pragma once

#include <absl/functional/function_ref.h>

#include "core/op/op.h"

namespace lathe {

/// x - mean(x). mean: as what it is given, with axes of 1 where it has reduced.
///
/// The mean of values far from 0 has an error that may be larger than their spread, and all
/// distances from it would share that error. They are near 0, though, so that their own mean is
/// exact to the digits that count: it is taken off again (the idea of the corrected two-pass
/// algorithm of Chan, Golub and LeVeque 1983, and of Neely 1966). It is 0 but for rounding, and so
/// takes no part in the derivative.
Tensor centred(const Tensor& x, absl::FunctionRef<Tensor(const Tensor&)> mean);
/// The same from a mean that is known, as it meets x.
Tensor centred(const Tensor& x, const Tensor& mean, absl::FunctionRef<Tensor(const Tensor&)> again);

}  // namespace lathe
