// Object bytes → callable code: JITLink in this process, no compiler, no file, no thread of its
// own.
#pragma once

#include <string_view>

#include "jit/kernel/codegen.h"

namespace lathe::jit {

Result<LoadedCodeRef> load_object(std::string_view object);

}  // namespace lathe::jit
