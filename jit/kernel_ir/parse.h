// Reads the text of a kernel (print.cpp).
#pragma once

#include <string_view>

#include "jit/kernel_ir/kernel.h"

namespace lathe::jit {

/// The kernel whose print() gives this text, with its facts counted. A statement belongs to a loop
/// by its indentation. Throws ValueError "file:line:column: problem" for what is no such text; what
/// verify() asks of a kernel is not asked here. Sizes mean what they mean in the SymScope under
/// way.
Kernel parse_kernel(std::string_view text, std::string_view file = "kernel");

}  // namespace lathe::jit
