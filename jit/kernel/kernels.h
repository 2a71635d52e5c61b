// Where machine code comes from: this process already has it, the cache folder has it, or LLVM
// makes it.
#pragma once

#include "jit/kernel/codegen.h"

namespace lathe::jit {

enum class KernelFrom : uint8_t { memory, disk, compiler };

struct LoadedKernel {
  LoadedCodeRef code;  // keeps `fn` callable
  KernelFn fn = nullptr;
  KernelFrom from = KernelFrom::compiler;
};

/// The kernel for `spec` on this machine, by flag `isa`; looked for under flag `cache_dir`, and
/// kept there. Any thread. The error says why there is none: no LLVM, or what it could not do.
Result<LoadedKernel> get_kernel(const ElementwiseSpec& spec);
Result<LoadedKernel> get_kernel(const Kernel& kernel);

/// Everything the code for `spec` depends on, as text: the cache's key.
std::string kernel_key(const ElementwiseSpec& spec, const Target& target);
std::string kernel_key(const Kernel& kernel, const Target& target);

}  // namespace lathe::jit
