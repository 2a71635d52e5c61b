// Moving the elements of one operand into another.
#pragma once

#include "kernels/problem/operand.h"

namespace lathe::own {

/// Copies the elements as they are, before it returns. The dtypes agree.
void copy_elements(const Operand& from, const Operand& to);

/// Row-major, without gaps.
bool row_major(const Operand& o);

}  // namespace lathe::own
