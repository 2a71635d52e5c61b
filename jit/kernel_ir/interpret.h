// What a kernel means: its statements, one element at a time, in the order that they are written.
// Slow; every other engine must give its bits.
#pragma once

#include <functional>

#include "jit/kernel_ir/kernel.h"

namespace lathe::jit {

/// Runs a kernel that verify() passes and that has no checks, positions or random words.
/// `arguments`: where inputs, then outputs begin; `uniforms`: bits; `value`: of an Int.
void interpret(const Kernel& kernel, absl::Span<std::byte* const> arguments,
               absl::Span<const uint64_t> uniforms, const std::function<int64_t(Int)>& value);

}  // namespace lathe::jit
