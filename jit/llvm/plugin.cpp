// The plug-in's one exported function, and the Codegen behind it.
#include <llvm/Support/raw_ostream.h>

#include "core/base/fork.h"
#include "jit/kernel/codegen.h"
#include "jit/llvm/engine.h"
#include "jit/llvm/kernel.h"
#include "jit/llvm/target.h"
#include "jit/llvm/threads.h"

namespace lathe::jit {
namespace {

class LlvmCodegen final : public Codegen {
 public:
  /// From here on this plug-in's locks are known to forks (jit/kernel/background.cpp).
  LlvmCodegen() {
    static constinit ForkSafeMutex first;
    const std::lock_guard<ForkSafeMutex> listed(first);
  }
  Target host() const override { return host_target(); }
  Result<Target> target(std::string_view name, bool to_run) const override {
    return named_target(name, to_run);
  }

  Result<std::string> compile(const Kernel& kernel, const Target& target) override {
    return object_of(generate(kernel, target), target);
  }
  Result<std::string> print(const Kernel& kernel, const Target& target) override {
    return text_of(generate(kernel, target));
  }
  Result<std::string> ptx(const simt::Program& program) override { return ptx_of(program); }
  Result<std::string> host_threads(const simt::Program& program, const Target& target) override {
    return host_threads_of(program, target);
  }
  Result<LoadedCodeRef> load(std::string_view object) override { return load_object(object); }

 private:
  static Result<OwnedModule> generate(const Kernel& kernel, const Target& target) {
    Result<OwnedModule> result;
    const std::string error = guarded([&] {
      result.error = check_kernel(kernel);
      if (!result) return;
      result.value = KernelEmitter(kernel, target).emit();
      result.error = prepare_module(*result.value.module, target);
    });
    if (!error.empty()) return {{}, error};
    return result;
  }

  static Result<std::string> object_of(Result<OwnedModule> module, const Target& target) {
    if (!module) return {{}, module.error};
    return compile_module(std::move(module.value), target);
  }

  static Result<std::string> text_of(const Result<OwnedModule>& module) {
    if (!module) return {{}, module.error};
    std::string text;
    llvm::raw_string_ostream(text) << *module.value.module;
    return {std::move(text), {}};
  }
};

}  // namespace
}  // namespace lathe::jit

/// What registers the destructors of static objects, for this plug-in alone, which is never closed:
/// none of its is taken down at the end of the process, since a thread may be compiling then.
extern "C" [[gnu::visibility("hidden")]] int __cxa_atexit(  // NOLINT(bugprone-reserved-identifier)
    void (*)(void*), void*, void*) noexcept {
  return 0;
}

extern "C" [[gnu::visibility("default")]] lathe::jit::Codegen* lathe_codegen(uint32_t abi) {
  static lathe::jit::LlvmCodegen codegen;
  return abi == lathe::jit::kCodegenAbi ? &codegen : nullptr;
}
