// Where machine code comes from: it was compiled with the library, this process already has it, the
// cache folder has it, or LLVM makes it.
#pragma once

#include "jit/kernel/codegen.h"

namespace lathe::jit {

enum class KernelFrom : uint8_t { shipped, memory, disk, compiler };

struct LoadedKernel {
  LoadedCodeRef code;  // keeps `fn` callable
  KernelFn fn = nullptr;
  KernelFrom from = KernelFrom::compiler;
};

/// How far to go for it: what is at hand takes less than a millisecond.
enum class Effort : uint8_t { at_hand, compile };

/// What the generator takes: every function in primitives that machines have.
Kernel with_lowered_functions(Kernel kernel);

/// The code of `kernel`, whose functions need not be lowered, on this machine, by flag `isa`;
/// looked for under flag `cache_dir`, and kept there. Any thread. The error says why there is none:
/// no LLVM, or what it could not do. With flag `engine` at llvm none is taken that was compiled
/// with the library.
Result<LoadedKernel> get_kernel(const Kernel& kernel, Effort effort = Effort::compile);

/// Is told what code is asked for, in place of anything that would make it: how what is to be
/// compiled ahead is found out (jit/ahead). Null: none is. To be set where nothing else runs.
class KernelCollector {
 public:
  virtual ~KernelCollector() = default;
  virtual void add(const Kernel& kernel) = 0;
  /// Does it look on only, while the code is made? It is told from any thread then.
  virtual bool looks_on() const { return false; }
};
void set_kernel_collector(KernelCollector* collector);
bool kernels_are_collected();

/// Everything the code depends on but for the machine.
std::string kernel_text(const Kernel& kernel);
/// The cache's key of the code of that text.
std::string kernel_key(std::string_view text, const Target& target);

}  // namespace lathe::jit
