// Loads an object without LLVM: a kernel from the cache is to run before a compiler could even be
// mapped. Only what kernels mostly are is known here, code and constants that refer to each other
// (ELF for x86-64, relative addresses); any other object is refused with the reason, and LLVM's
// linker takes it.
#pragma once

#include <string_view>

#include "jit/kernel/codegen.h"

namespace lathe::jit {

Result<LoadedCodeRef> load_image(std::string_view object);

}  // namespace lathe::jit
