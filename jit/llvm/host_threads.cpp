// A thread program for this machine: all phases in one function, which is one thread's.
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/Pass.h>
#include <llvm/Transforms/Utils.h>

#include "jit/llvm/threads.h"
#include "jit/simt/host.h"

namespace lathe::jit {
namespace {

using llvm::Value;
using simt::HostThread;

class HostPhase final : public PhaseEmitter {
 public:
  using PhaseEmitter::PhaseEmitter;

 private:
  llvm::Function* begin(size_t phase) override {
    auto* type = llvm::FunctionType::get(b_.getVoidTy(), {b_.getPtrTy()}, false);
    return llvm::Function::Create(type, llvm::Function::InternalLinkage,
                                  std::string(simt::kEntry) + std::to_string(phase), module_);
  }

  Value* self() const { return function_->getArg(0); }
  Value* field(size_t offset, llvm::Type* type) {
    return b_.CreateLoad(type, b_.CreateConstGEP1_64(b_.getInt8Ty(), self(), offset));
  }
  std::vector<Value*> list(size_t offset, llvm::Type* type, size_t count) {
    std::vector<Value*> all;
    Value* begin = field(offset, b_.getPtrTy());
    for (size_t k = 0; k < count; ++k)
      all.push_back(b_.CreateLoad(type, b_.CreateConstGEP1_64(type, begin, k)));
    return all;
  }

  Known known() override {
    llvm::Type *word = b_.getInt64Ty(), *pointer = b_.getPtrTy();
    Known k;
    k.thread = field(offsetof(HostThread, thread), word);
    k.block = field(offsetof(HostThread, block), word);
    k.grid = field(offsetof(HostThread, grid), word);
    k.memories = list(offsetof(HostThread, memories), pointer, separate_memories());
    k.numbers = list(offsetof(HostThread, numbers), word, p_.numbers.size());
    k.uniforms = list(offsetof(HostThread, uniforms), word, p_.uniforms.size());
    k.seed = field(offsetof(HostThread, seed), word);
    k.call = field(offsetof(HostThread, call), word);
    k.error = field(offsetof(HostThread, error), pointer);
    k.shared = field(offsetof(HostThread, shared), pointer);
    return k;
  }

  void barrier() override {
    auto* type = llvm::FunctionType::get(b_.getVoidTy(), {b_.getPtrTy()}, false);
    b_.CreateCall(type, field(offsetof(HostThread, barrier), b_.getPtrTy()), {self()});
  }
  Value* down(Value* word, int distance) override {
    llvm::Type* i32 = b_.getInt32Ty();
    auto* type = llvm::FunctionType::get(i32, {b_.getPtrTy(), i32, i32}, false);
    return b_.CreateCall(type, field(offsetof(HostThread, shuffle), b_.getPtrTy()),
                         {self(), word, b_.getInt32(static_cast<unsigned>(distance))});
  }
};

/// The one function: the phase that its thread says.
void add_entry(llvm::Module& module, const std::vector<llvm::Function*>& phases) {
  llvm::IRBuilder<> b(module.getContext());
  auto* type = llvm::FunctionType::get(b.getVoidTy(), {b.getPtrTy()}, false);
  auto* entry = llvm::Function::Create(type, llvm::Function::ExternalLinkage,
                                       std::string(kKernelSymbol), module);
  const auto block = [&] { return llvm::BasicBlock::Create(module.getContext(), "", entry); };
  llvm::BasicBlock *begin = block(), *end = block();
  b.SetInsertPoint(end);
  b.CreateRetVoid();
  b.SetInsertPoint(begin);
  Value* which = b.CreateLoad(b.getInt64Ty(), b.CreateConstGEP1_64(b.getInt8Ty(), entry->getArg(0),
                                                                   offsetof(HostThread, phase)));
  llvm::SwitchInst* choose = b.CreateSwitch(which, end);
  for (size_t phase = 0; phase < phases.size(); ++phase) {
    llvm::BasicBlock* call = block();
    choose->addCase(b.getInt64(phase), call);
    b.SetInsertPoint(call);
    b.CreateCall(phases[phase], {entry->getArg(0)});
    b.CreateBr(end);
  }
}

OwnedModule module_of(const simt::Program& program, const Target& target) {
  OwnedModule owned{std::make_unique<llvm::LLVMContext>(), nullptr};
  owned.module = std::make_unique<llvm::Module>("lathe", *owned.context);
  std::vector<llvm::Function*> phases;
  for (size_t phase = 0; phase < program.phases.size(); ++phase)
    phases.push_back(HostPhase(program, *owned.module, target).emit(phase));
  add_entry(*owned.module, phases);
  define_remainders(*owned.module);
  llvm::legacy::PassManager passes;
  passes.add(llvm::createPromoteMemoryToRegisterPass());
  passes.run(*owned.module);
  return owned;
}

}  // namespace

Result<std::string> host_threads_of(const simt::Program& program, const Target& target) {
  if (std::string why = check_threads(program); !why.empty()) return {{}, why};
  Result<OwnedModule> module;
  const std::string error = guarded([&] {
    module.value = module_of(program, target);
    module.error = prepare_module(*module.value.module, target);
  });
  if (!error.empty()) return {{}, error};
  if (!module) return {{}, module.error};
  return compile_module(std::move(module.value), target);
}

}  // namespace lathe::jit
