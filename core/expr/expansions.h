// What transcendental primitives come to, as part of a text that code is looked up by: a function
// is printed as it was written, and code made of it holds what lower() makes of it.
#pragma once

#include <string>

#include "core/expr/expr.h"

namespace lathe {

/// A line for each transcendental primitive and dtype in the functions: its name, and a hash of the
/// primitives that lower() puts in its place. Sorted; "" where there is none. Any thread.
std::string expansions(absl::Span<const ScalarFunction* const> functions);

}  // namespace lathe
