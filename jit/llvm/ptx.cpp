// PTX: what is NVIDIA's about a thread, and LLVM's NVPTX backend.
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Utils.h>

#include <mutex>
#include <stdexcept>

#include "jit/llvm/threads.h"

namespace lathe::jit {
namespace {

using llvm::Value;
using simt::kHalfWarp;

constexpr const char* kTriple = "nvptx64-nvidia-cuda";
constexpr unsigned kGlobal = 1, kShared = 3;  // address spaces

class PtxPhase final : public PhaseEmitter {
 public:
  using PhaseEmitter::PhaseEmitter;

 private:
  llvm::Type* pointer() { return llvm::PointerType::get(b_.getContext(), kGlobal); }

  /// An entry with what a launch is given as parameters, one by one.
  llvm::Function* begin(size_t phase) override {
    std::vector<llvm::Type*> types(separate_memories(), pointer());
    types.resize(types.size() + p_.numbers.size() + p_.uniforms.size() + 2, b_.getInt64Ty());
    types.push_back(pointer());
    auto* made = llvm::Function::Create(llvm::FunctionType::get(b_.getVoidTy(), types, false),
                                        llvm::Function::ExternalLinkage,
                                        std::string(simt::kEntry) + std::to_string(phase), module_);
    made->setCallingConv(llvm::CallingConv::PTX_Kernel);
    // As many threads as a block has: the assembler shares registers out by it.
    llvm::Metadata* const most[] = {
        llvm::ValueAsMetadata::get(made), llvm::MDString::get(b_.getContext(), "maxntidx"),
        llvm::ConstantAsMetadata::get(b_.getInt32(static_cast<unsigned>(p_.threads)))};
    module_.getOrInsertNamedMetadata("nvvm.annotations")
        ->addOperand(llvm::MDNode::get(b_.getContext(), most));
    return made;
  }

  Known known() override {
    const auto special = [&](llvm::Intrinsic::ID id) {
      return b_.CreateZExt(b_.CreateIntrinsic(id, {}, {}), b_.getInt64Ty());
    };
    unsigned next = 0;
    const auto take = [&](size_t count) {
      std::vector<Value*> all;
      for (; count > 0; --count) all.push_back(function_->getArg(next++));
      return all;
    };
    Known k;
    k.thread = special(llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x);
    k.block = special(llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x);
    k.grid = special(llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_x);
    k.memories = take(separate_memories());
    k.numbers = take(p_.numbers.size());
    k.uniforms = take(p_.uniforms.size());
    k.seed = take(1)[0];
    k.call = take(1)[0];
    k.error = take(1)[0];
    k.shared = separate_memories() < p_.memories.size() ? shared() : nullptr;
    return k;
  }
  /// As much as the launch says.
  Value* shared() {
    constexpr const char* kName = "lathe_shared";
    if (auto* there = module_.getNamedGlobal(kName)) return there;
    auto* made = new llvm::GlobalVariable(module_, llvm::ArrayType::get(b_.getInt8Ty(), 0), false,
                                          llvm::GlobalValue::ExternalLinkage, nullptr, kName,
                                          nullptr, llvm::GlobalValue::NotThreadLocal, kShared);
    made->setAlignment(llvm::Align(simt::kSharedAlignment));
    return made;
  }

  void barrier() override { b_.CreateIntrinsic(llvm::Intrinsic::nvvm_barrier0, {}, {}); }

  Value* down(Value* word, int distance) override {
    constexpr unsigned kWarp = 32, kAll = (1u << kHalfWarp) - 1;
    constexpr unsigned kInHalves = (kWarp - kHalfWarp) << 8 | (kWarp - 1);
    Value* half = b_.CreateAnd(b_.CreateTrunc(k_.thread, b_.getInt32Ty()), b_.getInt32(kHalfWarp));
    Value* lanes = b_.CreateShl(b_.getInt32(kAll), half);
    return b_.CreateIntrinsic(
        llvm::Intrinsic::nvvm_shfl_sync_down_i32, llvm::ArrayRef<llvm::Type*>{},
        llvm::ArrayRef<Value*>{lanes, word, b_.getInt32(static_cast<unsigned>(distance)),
                               b_.getInt32(kInHalves)});
  }
};

Result<std::unique_ptr<llvm::TargetMachine>> make_machine(const Target& target) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  std::string error;
  const llvm::Target* found = llvm::TargetRegistry::lookupTarget(kTriple, error);
  if (found == nullptr) return {nullptr, error};
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;  // a * b + c is never made an FMA
  options.UnsafeFPMath = false;                        // so div.rn and sqrt.rn, not approximations
  return {std::unique_ptr<llvm::TargetMachine>(found->createTargetMachine(
              kTriple, target.cpu, target.features, options, llvm::Reloc::PIC_)),
          {}};
}

/// LLVM takes x < y ? x : y for a minimum, of which it says that either zero may come out; min.f32
/// says -0, where x is -0 and y is 0, and the choice says y. Of y <= x ? y : x, with NaN the other
/// way round, it knows that zeros matter.
void keep_signed_zeros(llvm::Module& module) {
  using llvm::FCmpInst;
  for (llvm::Function& function : module)
    for (llvm::Instruction& i : llvm::instructions(function)) {
      auto* select = llvm::dyn_cast<llvm::SelectInst>(&i);
      auto* less = select == nullptr ? nullptr : llvm::dyn_cast<FCmpInst>(select->getCondition());
      if (less == nullptr) continue;
      const auto p = less->getPredicate();
      if (p != FCmpInst::FCMP_OLT && p != FCmpInst::FCMP_OGT && p != FCmpInst::FCMP_ULT &&
          p != FCmpInst::FCMP_UGT)
        continue;
      llvm::IRBuilder<> b(select);
      select->setCondition(
          b.CreateFCmp(less->getInversePredicate(), less->getOperand(0), less->getOperand(1)));
      select->swapValues();
    }
}

OwnedModule module_of(const simt::Program& program, const Target& target) {
  OwnedModule owned{std::make_unique<llvm::LLVMContext>(), nullptr};
  owned.module = std::make_unique<llvm::Module>("lathe", *owned.context);
  for (size_t phase = 0; phase < program.phases.size(); ++phase)
    PtxPhase(program, *owned.module, target).emit(phase);
  define_remainders(*owned.module);
  keep_signed_zeros(*owned.module);
  return owned;
}

Result<std::string> text_of(OwnedModule owned, llvm::TargetMachine& machine) {
  owned.module->setTargetTriple(kTriple);
  owned.module->setDataLayout(machine.createDataLayout());
  std::string problem;
  llvm::raw_string_ostream stream(problem);
  if (llvm::verifyModule(*owned.module, &stream))
    return {{}, "generated code is malformed: " + problem};
  auto passes = std::make_unique<llvm::legacy::PassManager>();
  llvm::SmallVector<char, 0> text;
  llvm::raw_svector_ostream out(text);
  const std::string error = guarded([&] {
    passes->add(llvm::createTargetTransformInfoWrapperPass(machine.getTargetIRAnalysis()));
    passes->add(llvm::createPromoteMemoryToRegisterPass());
    if (machine.addPassesToEmitFile(*passes, out, nullptr, llvm::CodeGenFileType::AssemblyFile))
      throw std::runtime_error("this target cannot write text");
    passes->run(*owned.module);
  });
  if (!error.empty()) {
    // Half-done work of LLVM's cannot be taken down safely.
    (void)passes.release();
    (void)owned.module.release();
    (void)owned.context.release();
    return {{}, error};
  }
  return {std::string(text.begin(), text.end()), {}};
}

}  // namespace

Result<std::string> ptx_of(const simt::Program& program, std::string_view gpu) {
  if (std::string why = check_threads(program); !why.empty()) return {{}, why};
  const Target target{std::string(gpu), ""};
  Result<std::string> result;
  const std::string error = guarded([&] {
    auto machine = make_machine(target);
    if (!machine) {
      result.error = machine.error;
      return;
    }
    result = text_of(module_of(program, target), *machine.value);
    if (!result) (void)machine.value.release();
  });
  if (!error.empty()) return {{}, error};
  return result;
}

}  // namespace lathe::jit
