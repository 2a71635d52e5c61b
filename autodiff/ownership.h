// Who holds the memory of a gradient: what a backward may write to where it lies, and what it gives
// away.
#pragma once

#include "core/tensor/tensor.h"

namespace lathe {

/// A gradient to give away, with memory that is its alone, element by element: two leaves of one
/// sum get the same one, that of a sum is one element shown many times, and whoever scales a
/// gradient in place means just that.
Tensor own(Tensor dy);

/// May it be written to: a sum that one backward has made, and nobody else has?
bool is_own(const Tensor& sum);

/// Are both all of what they are views of, in the same other order, as gradients by transposed
/// weights are, and is the sum's memory its own?
bool is_turned_alike(const Tensor& sum, const Tensor& dy);

}  // namespace lathe
