#pragma once

#include "core/op/op.h"

namespace lathe::ir {

/// f(x, y) == f(y, x), as the body itself shows.
bool commutative(const Op& op);

}  // namespace lathe::ir
