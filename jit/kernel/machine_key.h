#pragma once

#include <string>

namespace lathe::jit {

/// Which processor this is, to the last feature bit, without a compiler's help: two machines of one
/// key are one target. Empty where there is no way to say it.
std::string machine_key();

}  // namespace lathe::jit
