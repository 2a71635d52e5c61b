#include "jit/llvm/threads.h"

#include <llvm/IR/IntrinsicsNVPTX.h>

#include "jit/llvm/body.h"
#include "jit/llvm/vector_ops.h"

namespace lathe::jit {
namespace {

using llvm::Value;
using namespace simt;  // NOLINT(google-build-using-namespace): its statements

constexpr unsigned kGlobal = 1, kShared = 3;  // address spaces

/// One phase.
class PhaseEmitter {
 public:
  PhaseEmitter(const Program& program, size_t phase, llvm::Module& module, const Target& target)
      : p_(program), module_(module), b_(module.getContext()), ops_(b_, target, 1) {
    begin(phase);
    registers();
    memories();
    steps(p_.phases[phase].body);
    b_.CreateRetVoid();
  }

 private:
  // ── the entry ──

  void begin(size_t phase) {
    llvm::Type *pointer = llvm::PointerType::get(b_.getContext(), kGlobal), *word = b_.getInt64Ty();
    std::vector<llvm::Type*> types;
    for (const Memory& m : p_.memories)
      if (m.where != Where::shared) types.push_back(pointer);
    types.resize(types.size() + p_.numbers.size() + p_.uniforms.size() + 2, word);
    types.push_back(pointer);
    function_ = llvm::Function::Create(llvm::FunctionType::get(b_.getVoidTy(), types, false),
                                       llvm::Function::ExternalLinkage,
                                       std::string(kEntry) + std::to_string(phase), module_);
    function_->setCallingConv(llvm::CallingConv::PTX_Kernel);
    b_.SetInsertPoint(block("entry"));
    // As many threads as a block has: the assembler shares registers out by it.
    llvm::Metadata* const most[] = {
        llvm::ValueAsMetadata::get(function_), llvm::MDString::get(b_.getContext(), "maxntidx"),
        llvm::ConstantAsMetadata::get(b_.getInt32(static_cast<unsigned>(p_.threads)))};
    module_.getOrInsertNamedMetadata("nvvm.annotations")
        ->addOperand(llvm::MDNode::get(b_.getContext(), most));
    const auto special = [&](llvm::Intrinsic::ID id) {
      return b_.CreateZExt(b_.CreateIntrinsic(id, {}, {}), b_.getInt64Ty());
    };
    thread_ = special(llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x);
    this_block_ = special(llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x);
    grid_ = special(llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_x);
  }
  llvm::BasicBlock* block(const char* name) {
    return llvm::BasicBlock::Create(b_.getContext(), name, function_);
  }
  Value* argument(size_t k) const { return function_->getArg(static_cast<unsigned>(k)); }
  Value* i64(int64_t value) { return b_.getInt64(static_cast<uint64_t>(value)); }

  /// On the stack: what LLVM then makes values of.
  void registers() {
    for (DType d : p_.registers) registers_.push_back(b_.CreateAlloca(ops_.type(d)));
  }
  llvm::Type* type(int reg) { return ops_.type(p_.registers[static_cast<size_t>(reg)]); }
  Value* get(int reg) { return b_.CreateLoad(type(reg), registers_[static_cast<size_t>(reg)]); }
  void put(int reg, Value* value) { b_.CreateStore(value, registers_[static_cast<size_t>(reg)]); }

  /// Pointers come first; what is shared lies behind each other.
  void memories() {
    size_t next = 0;
    for (const Memory& m : p_.memories)
      if (m.where != Where::shared) ++next;
    first_number_ = next;
    first_uniform_ = first_number_ + p_.numbers.size();
    seed_ = argument(first_uniform_ + p_.uniforms.size());
    call_ = argument(first_uniform_ + p_.uniforms.size() + 1);
    error_ = argument(first_uniform_ + p_.uniforms.size() + 2);
    next = 0;
    Value* end = i64(0);
    for (const Memory& m : p_.memories) {
      if (m.where != Where::shared) {
        begins_.push_back(argument(next++));
        continue;
      }
      end = b_.CreateAnd(b_.CreateAdd(end, i64(kSharedAlignment - 1)), i64(-kSharedAlignment));
      begins_.push_back(b_.CreateGEP(b_.getInt8Ty(), shared(), end));
      Value* bytes = b_.CreateMul(number(m.elements), i64(static_cast<int64_t>(size_of(m.dtype))));
      end = b_.CreateAdd(end, bytes);
    }
  }
  /// As much as the launch says.
  Value* shared() {
    constexpr const char* kName = "lathe_shared";
    if (auto* known = module_.getNamedGlobal(kName)) return known;
    auto* made = new llvm::GlobalVariable(module_, llvm::ArrayType::get(b_.getInt8Ty(), 0), false,
                                          llvm::GlobalValue::ExternalLinkage, nullptr, kName,
                                          nullptr, llvm::GlobalValue::NotThreadLocal, kShared);
    made->setAlignment(llvm::Align(kSharedAlignment));
    return made;
  }

  // ── integers ──

  Value* number(const Ix& ix) {
    switch (ix->op) {
      case IxOp::constant:
        return i64(ix->value);
      case IxOp::number:
        return argument(first_number_ + static_cast<size_t>(ix->value));
      case IxOp::reg:
        return get(static_cast<int>(ix->value));
      case IxOp::block:
        return this_block_;
      case IxOp::thread:
        return thread_;
      case IxOp::grid:
        return grid_;
      default:
        return operation(ix->op, number(ix->a), ix->op < IxOp::zeros ? number(ix->b) : nullptr);
    }
  }
  Value* operation(IxOp op, Value* x, Value* y) {
    switch (op) {
      case IxOp::add:
        return b_.CreateAdd(x, y);
      case IxOp::sub:
        return b_.CreateSub(x, y);
      case IxOp::mul:
        return b_.CreateMul(x, y);
      case IxOp::div:
        return b_.CreateUDiv(x, y);
      case IxOp::mod:
        return b_.CreateURem(x, y);
      case IxOp::least:
        return b_.CreateSelect(b_.CreateICmpSLT(x, y), x, y);
      case IxOp::most:
        return b_.CreateSelect(b_.CreateICmpSGT(x, y), x, y);
      case IxOp::shl:
        return b_.CreateShl(x, y);
      case IxOp::shr:
        return b_.CreateAShr(x, y);
      case IxOp::band:
        return b_.CreateAnd(x, y);
      case IxOp::zeros:
        return counted(llvm::Intrinsic::cttz, x);
      case IxOp::ones:
        return b_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, x);
      default:
        return b_.CreateSub(i64(64), counted(llvm::Intrinsic::ctlz, x));
    }
  }
  Value* counted(llvm::Intrinsic::ID id, Value* x) {
    return b_.CreateIntrinsic(id, llvm::ArrayRef<llvm::Type*>{b_.getInt64Ty()},
                              llvm::ArrayRef<Value*>{x, b_.getFalse()});
  }

  // ── statements ──

  void steps(const Steps& all) {
    for (const Step& s : all) std::visit([&](const auto& node) { step(node); }, s.node);
  }
  void step(const Let& s) { put(s.reg, number(s.value)); }
  void step(const Set& s) {
    put(s.reg, ops_.constant(p_.registers[static_cast<size_t>(s.reg)], s.bits));
  }
  void step(const Copy& s) { put(s.reg, get(s.from)); }
  void step(const Fetch& s) {
    Value* word = argument(first_uniform_ + static_cast<size_t>(s.uniform));
    llvm::Type* to = type(s.reg);
    word = b_.CreateTrunc(word, b_.getIntNTy(to->getPrimitiveSizeInBits()));
    put(s.reg, b_.CreateBitCast(word, to));
  }

  struct Place {
    Value* pointer;
    DType part;
    llvm::Align alignment;
  };
  Place place(int memory, const Ix& index, size_t part) {
    const Memory& m = p_.memories[static_cast<size_t>(memory)];
    const DType d = real_type(m.dtype);
    const auto item = static_cast<int64_t>(size_of(m.dtype));
    const auto skip = static_cast<int64_t>(part * size_of(d));
    Value* bytes = b_.CreateAdd(b_.CreateMul(number(index), i64(item)), i64(skip));
    Value* begin = begins_[static_cast<size_t>(memory)];
    return {b_.CreateGEP(b_.getInt8Ty(), begin, bytes), d, llvm::Align(size_of(d))};
  }
  void step(const Load& s) {
    for (size_t part = 0; part < s.regs.size(); ++part) {
      const Place at = place(s.memory, s.index, part);
      const bool is_bool = at.part == DType::bool_;
      Value* x = b_.CreateAlignedLoad(is_bool ? b_.getInt8Ty() : ops_.type(at.part), at.pointer,
                                      at.alignment);
      put(s.regs[part], is_bool ? b_.CreateICmpNE(x, b_.getInt8(0)) : x);
    }
  }
  void step(const Store& s) {
    for (size_t part = 0; part < s.regs.size(); ++part) {
      const Place at = place(s.memory, s.index, part);
      Value* x = get(s.regs[part]);
      if (at.part == DType::bool_) x = b_.CreateZExt(x, b_.getInt8Ty());
      b_.CreateAlignedStore(x, at.pointer, at.alignment);
    }
  }

  void step(const Barrier&) { b_.CreateIntrinsic(llvm::Intrinsic::nvvm_barrier0, {}, {}); }

  /// A word at a time, among the lanes of this half-warp.
  void step(const Shuffle& s) {
    Value* x = get(s.from);
    llvm::Type* as = x->getType();
    const auto bits = static_cast<unsigned>(as->getPrimitiveSizeInBits());
    Value* word = b_.CreateBitCast(x, b_.getIntNTy(bits));
    if (bits < 32) word = b_.CreateZExt(word, b_.getInt32Ty());
    if (bits > 32) {
      Value* low = down(b_.CreateTrunc(word, b_.getInt32Ty()), s.distance);
      Value* high = down(b_.CreateTrunc(b_.CreateLShr(word, 32), b_.getInt32Ty()), s.distance);
      word = b_.CreateOr(b_.CreateShl(b_.CreateZExt(high, b_.getInt64Ty()), 32),
                         b_.CreateZExt(low, b_.getInt64Ty()));
    } else {
      word = b_.CreateTrunc(down(word, s.distance), b_.getIntNTy(bits));
    }
    put(s.reg, b_.CreateBitCast(word, as));
  }
  Value* down(Value* word, int distance) {
    constexpr unsigned kWarp = 32, kAll = (1u << kHalfWarp) - 1;
    constexpr unsigned kInHalves = (kWarp - kHalfWarp) << 8 | (kWarp - 1);
    Value* lanes = b_.CreateShl(
        b_.getInt32(kAll),
        b_.CreateAnd(b_.CreateTrunc(thread_, b_.getInt32Ty()), b_.getInt32(kHalfWarp)));
    return b_.CreateIntrinsic(
        llvm::Intrinsic::nvvm_shfl_sync_down_i32, llvm::ArrayRef<llvm::Type*>{},
        llvm::ArrayRef<Value*>{lanes, word, b_.getInt32(static_cast<unsigned>(distance)),
                               b_.getInt32(kInHalves)});
  }

  void step(const Loop& s) {
    Value *last = number(s.last), *by = number(s.step);
    put(s.reg, number(s.first));
    llvm::BasicBlock *again = block("again"), *body = block("body"), *done = block("done");
    b_.CreateBr(again);
    b_.SetInsertPoint(again);
    b_.CreateCondBr(b_.CreateICmpSLT(get(s.reg), last), body, done);
    b_.SetInsertPoint(body);
    steps(s.body);
    put(s.reg, b_.CreateAdd(get(s.reg), by));
    b_.CreateBr(again);
    b_.SetInsertPoint(done);
  }
  void step(const When& s) {
    Value *x = number(s.a), *y = number(s.b);
    Value* is = s.how == Compare::less ? b_.CreateICmpSLT(x, y) : b_.CreateICmpEQ(x, y);
    llvm::BasicBlock *yes = block("then"), *no = block("otherwise"), *join = block("join");
    b_.CreateCondBr(is, yes, no);
    b_.SetInsertPoint(yes);
    steps(s.then);
    b_.CreateBr(join);
    b_.SetInsertPoint(no);
    steps(s.otherwise);
    b_.CreateBr(join);
    b_.SetInsertPoint(join);
  }

  class Context final : public BodyContext {
   public:
    Context(PhaseEmitter& e, const ScalarFunction& f, const Call& s) : e_(e), s_(s) {
      size_t at = 0;
      for (DType d : f.inputs) {
        first_.push_back(at);
        at += parts_of(d);
      }
      if (!s.position.is(0)) position_ = e.number(s.position);
    }
    Value* input(uint32_t which, int part) override {
      return e_.get(s_.inputs[first_[which] + static_cast<size_t>(part)]);
    }
    Value* linear() override { return position_ != nullptr ? position_ : e_.i64(0); }
    Value* seed() override { return e_.seed_; }
    Value* call() override { return e_.call_; }
    void failed(Value* lanes, uint32_t code) override { e_.report(lanes, linear(), code); }

   private:
    PhaseEmitter& e_;
    const Call& s_;
    std::vector<size_t> first_;
    Value* position_ = nullptr;
  };
  void step(const Call& s) {
    const ScalarFunction& f = p_.functions[static_cast<size_t>(s.f)];
    Context context(*this, f, s);
    const std::vector<Value*> results = BodyEmitter(ops_, f, context).emit();
    for (size_t k = 0; k < results.size(); ++k) put(s.regs[k], results[k]);
  }
  /// A failed check: the least position wins.
  void report(Value* is, Value* position, uint32_t code) {
    llvm::BasicBlock *bad = block("failed"), *good = block("checked");
    b_.CreateCondBr(is, bad, good);
    b_.SetInsertPoint(bad);
    Value* word = b_.CreateOr(b_.CreateShl(position, 16), i64(code));
    b_.CreateAtomicRMW(llvm::AtomicRMWInst::UMin, error_, word, llvm::MaybeAlign(8),
                       llvm::AtomicOrdering::Monotonic);
    b_.CreateBr(good);
    b_.SetInsertPoint(good);
  }

  const Program& p_;
  llvm::Module& module_;
  llvm::IRBuilder<> b_;
  VectorOps ops_;
  llvm::Function* function_ = nullptr;
  Value *thread_ = nullptr, *this_block_ = nullptr, *grid_ = nullptr;
  std::vector<Value*> registers_, begins_;
  size_t first_number_ = 0, first_uniform_ = 0;
  Value *seed_ = nullptr, *call_ = nullptr, *error_ = nullptr;
};

}  // namespace

std::string check_threads(const Program& program) {
  // Arguments of a kernel: 4 KiB on every device.
  constexpr size_t kMostArguments = 512;
  const size_t all = program.memories.size() + program.numbers.size() + program.uniforms.size() + 3;
  if (all > kMostArguments)
    return std::to_string(all) + " arguments; at most " + std::to_string(kMostArguments);
  for (const ScalarFunction& f : program.functions)
    if (std::string error = check_body(f); !error.empty()) return error;
  return {};
}

OwnedModule emit_threads(const Program& program, const Target& target) {
  OwnedModule owned{std::make_unique<llvm::LLVMContext>(), nullptr};
  owned.module = std::make_unique<llvm::Module>("lathe", *owned.context);
  for (size_t phase = 0; phase < program.phases.size(); ++phase)
    PhaseEmitter(program, phase, *owned.module, target);
  return owned;
}

}  // namespace lathe::jit
