// Runs thread programs that LLVM has compiled for this machine (jit/simt/host.h): the threads of a
// block take turns, each on a stack of its own, and change over where they meet.
#pragma once

#include "jit/kernel/codegen.h"
#include "jit/simt/run.h"

namespace lathe::testing {

/// The thread sanitizer does not know of stacks that change.
#if defined(__SANITIZE_THREAD__)
inline constexpr bool kRunsOnHost = false;
#else
inline constexpr bool kRunsOnHost = true;
#endif

/// As simt::run(), but that nothing is checked. `code` is that of the program.
void run_on_host(const jit::simt::Program& program, const jit::LoadedCode& code,
                 const jit::simt::Launch& launch);

}  // namespace lathe::testing
