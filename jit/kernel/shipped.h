// Kernels that were compiled when the library was built: what common ops are made of, so that these
// run as machine code at once and where there is no LLVM. The first level of the cache of compiled
// kernels, by the same keys: a kernel that is not here is looked for further on.
//
// They are a shared object, liblathe_shipped.so, which jit/ahead makes; it is opened by the first
// kernel that is asked for.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "jit/kernel/codegen.h"

namespace lathe::jit {

struct ShippedKernel {
  uint64_t hash;    // shipped_hash() of its key: they are in this order
  const char* key;  // kernel_key(), for a Target of the level alone
  KernelFn fn;
};
/// What the shared object gives.
struct ShippedKernels {
  int version;  // kCodegenVersion of the build that made it
  const ShippedKernel* kernels;
  size_t count;
};
inline constexpr const char* kShippedEntry = "lathe_kernels";  // a ShippedKernels

uint64_t shipped_hash(std::string_view key);

/// The levels that kernels are compiled for, least first; LLVM's Codegen::target() knows them.
inline constexpr std::string_view kShippedLevels[] = {"avx2", "avx512"};

/// The one for this processor, by flag `isa`; empty if there is none.
std::string shipped_level();
/// Null: it was not compiled ahead, or the shared object is not there or of another build.
KernelFn find_shipped(const std::string& key);

}  // namespace lathe::jit
