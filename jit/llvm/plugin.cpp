// The plug-in's one exported function, and the Codegen behind it.
#include <llvm/Support/raw_ostream.h>

#include "jit/codegen.h"
#include "jit/llvm/elementwise.h"
#include "jit/llvm/engine.h"
#include "jit/llvm/target.h"

namespace lathe::jit {
namespace {

class LlvmCodegen final : public Codegen {
 public:
  Target host() const override { return host_target(); }
  Result<Target> target(std::string_view name) const override { return named_target(name); }

  Result<std::string> compile(const ElementwiseSpec& spec, const Target& target) override {
    auto module = generate(spec, target);
    if (!module) return {{}, module.error};
    return compile_module(std::move(module.value), target);
  }

  Result<std::string> print(const ElementwiseSpec& spec, const Target& target) override {
    auto module = generate(spec, target);
    if (!module) return {{}, module.error};
    std::string text;
    llvm::raw_string_ostream(text) << *module.value.module;
    return {std::move(text), {}};
  }

  Result<LoadedCodeRef> load(std::string_view object) override { return load_object(object); }

 private:
  static Result<OwnedModule> generate(const ElementwiseSpec& spec, const Target& target) {
    Result<OwnedModule> result;
    const std::string error = guarded([&] {
      ElementwiseEmitter emitter(spec, target);
      result = emitter.emit();
      if (result) result.error = prepare_module(*result.value.module, target);
    });
    if (!error.empty()) return {{}, error};
    return result;
  }
};

}  // namespace
}  // namespace lathe::jit

extern "C" [[gnu::visibility("default")]] lathe::jit::Codegen* lathe_codegen(uint32_t abi) {
  static lathe::jit::LlvmCodegen codegen;
  return abi == lathe::jit::kCodegenAbi ? &codegen : nullptr;
}
