// Moving the elements of one operand into another of another dtype.
#pragma once

#include "kernels/problem/operand.h"

namespace lathe::own {

/// Sets to[...] = from[...], converted as the op `cast` does, before it returns: on a device's
/// stream, not beside it. The shapes agree; strides of `from` may be 0.
void convert(const Operand& from, const Operand& to);

}  // namespace lathe::own
