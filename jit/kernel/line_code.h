// Machine code for lines of eager elementwise ops.
#pragma once

#include "kernels/own/line_code.h"

namespace lathe::jit {

/// An own::LineCodeMaker: what is not at hand is compiled in the background. Null where the flag
/// `engine` wants the interpreter.
const own::LineCode* line_code(const ScalarFunction& body, unsigned splat);

}  // namespace lathe::jit
