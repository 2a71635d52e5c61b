// The derivative of contractions: their adjoints, which follow from the index formula.
#pragma once

#include "core/dispatch/grad.h"

namespace lathe {

/// The cotangents of both operands, as far as they are wanted, before they are summed to the
/// operands' shapes.
Grads contract_gradient(Grad g);

}  // namespace lathe
