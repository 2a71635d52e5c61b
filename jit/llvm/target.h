// Targets, and from module to object bytes.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <functional>
#include <memory>
#include <string>

#include "jit/kernel/codegen.h"

namespace lathe::jit {

Target host_target();
/// Codegen::target().
Result<Target> named_target(std::string_view name, bool to_run);

/// A module and what it lives in; abandoned, not destroyed, when LLVM gave up in the middle of it.
struct OwnedModule {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
};

/// Sets triple and data layout, and what every function of ours is: for this target, and nounwind.
/// Fails only if the target does not exist in this LLVM.
std::string prepare_module(llvm::Module& module, const Target& target);

/// Object bytes. The module is used up. A fatal error inside LLVM comes back as text.
Result<std::string> compile_module(OwnedModule owned, const Target& target);

/// Runs `f`; a fatal error of LLVM in it comes back as text, and what f was working on must not be
/// destroyed.
std::string guarded(const std::function<void()>& f);

}  // namespace lathe::jit
