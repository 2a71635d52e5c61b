// Reads the text of a scalar function (expr_print.cpp).
#pragma once

#include <string_view>

#include "core/expr/expr.h"

namespace lathe {

/// The function whose print() gives this text: what build() made comes back node by node, so that
/// its hash() is the same. Blanks and ends of lines mean nothing. `file` and `line`, that of the
/// text's begin, are what messages call the place. Throws ValueError with line and column for what
/// is no such text, has operands that a primitive is not defined for, or keeps complex values
/// whole.
ScalarFunction parse_function(std::string_view text, std::string_view file = "function",
                              int line = 1);

}  // namespace lathe
