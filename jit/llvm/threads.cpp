#include "jit/llvm/threads.h"

#include "jit/llvm/vector_ops.h"

namespace lathe::jit {

using llvm::Value;
using namespace simt;  // NOLINT(google-build-using-namespace): its statements

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

llvm::Function* PhaseEmitter::emit(size_t phase) {
  function_ = begin(phase);
  b_.SetInsertPoint(block("entry"));
  k_ = known();
  // On the stack: what LLVM then makes values of.
  for (DType d : p_.registers) registers_.push_back(b_.CreateAlloca(ops_.type(d)));
  place_memories();
  steps(p_.phases[phase].body);
  b_.CreateRetVoid();
  return function_;
}

llvm::BasicBlock* PhaseEmitter::block(const char* name) {
  return llvm::BasicBlock::Create(b_.getContext(), name, function_);
}

size_t PhaseEmitter::separate_memories() const {
  size_t count = 0;
  for (const simt::Memory& m : p_.memories)
    if (m.where != Where::shared) ++count;
  return count;
}

/// What is shared lies one behind the other.
void PhaseEmitter::place_memories() {
  size_t next = 0;
  Value* end = i64(0);
  for (const simt::Memory& m : p_.memories) {
    if (m.where != Where::shared) {
      begins_.push_back(k_.memories[next++]);
      continue;
    }
    end = b_.CreateAnd(b_.CreateAdd(end, i64(kSharedAlignment - 1)), i64(-kSharedAlignment));
    begins_.push_back(b_.CreateGEP(b_.getInt8Ty(), k_.shared, end));
    Value* bytes = b_.CreateMul(number(m.elements), i64(static_cast<int64_t>(size_of(m.dtype))));
    end = b_.CreateAdd(end, bytes);
  }
}

Value* PhaseEmitter::get(int reg) {
  return b_.CreateLoad(type(reg), registers_[static_cast<size_t>(reg)]);
}
void PhaseEmitter::put(int reg, Value* value) {
  b_.CreateStore(value, registers_[static_cast<size_t>(reg)]);
}

// ── integers ────────────────────────────────────────────────────────────────────────────────────

Value* PhaseEmitter::number(const Ix& ix) {
  switch (ix->op) {
    case IxOp::constant:
      return i64(ix->value);
    case IxOp::number:
      return k_.numbers[static_cast<size_t>(ix->value)];
    case IxOp::reg:
      return get(static_cast<int>(ix->value));
    case IxOp::block:
      return k_.block;
    case IxOp::thread:
      return k_.thread;
    case IxOp::grid:
      return k_.grid;
    default:
      return operation(ix->op, number(ix->a), ix->op < IxOp::zeros ? number(ix->b) : nullptr);
  }
}

Value* PhaseEmitter::operation(IxOp op, Value* x, Value* y) {
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

Value* PhaseEmitter::counted(llvm::Intrinsic::ID id, Value* x) {
  return b_.CreateIntrinsic(id, llvm::ArrayRef<llvm::Type*>{b_.getInt64Ty()},
                            llvm::ArrayRef<Value*>{x, b_.getFalse()});
}

// ── statements ──────────────────────────────────────────────────────────────────────────────────

void PhaseEmitter::steps(const Steps& all) {
  for (const Step& s : all) std::visit([&](const auto& node) { step(node); }, s.node);
}

void PhaseEmitter::step(const Let& s) { put(s.reg, number(s.value)); }
void PhaseEmitter::step(const Set& s) {
  put(s.reg, ops_.constant(p_.registers[static_cast<size_t>(s.reg)], s.bits));
}
void PhaseEmitter::step(const Copy& s) { put(s.reg, get(s.from)); }
void PhaseEmitter::step(const Fetch& s) {
  llvm::Type* to = type(s.reg);
  const auto bits = static_cast<unsigned>(to->getPrimitiveSizeInBits());
  Value* word = k_.uniforms[static_cast<size_t>(s.uniform)];
  put(s.reg, b_.CreateBitCast(b_.CreateTrunc(word, b_.getIntNTy(bits)), to));
}

PhaseEmitter::Place PhaseEmitter::place(int memory, const Ix& index, size_t part) {
  const simt::Memory& m = p_.memories[static_cast<size_t>(memory)];
  const DType d = real_type(m.dtype);
  const auto item = static_cast<int64_t>(size_of(m.dtype));
  const auto skip = static_cast<int64_t>(part * size_of(d));
  Value* bytes = b_.CreateAdd(b_.CreateMul(number(index), i64(item)), i64(skip));
  Value* begin = begins_[static_cast<size_t>(memory)];
  return {b_.CreateGEP(b_.getInt8Ty(), begin, bytes), d, llvm::Align(size_of(d))};
}

void PhaseEmitter::step(const Load& s) {
  for (size_t part = 0; part < s.regs.size(); ++part) {
    const Place at = place(s.memory, s.index, part);
    const bool is_bool = at.part == DType::bool_;
    llvm::Type* as = is_bool ? b_.getInt8Ty() : ops_.type(at.part);
    Value* x = b_.CreateAlignedLoad(as, at.pointer, at.alignment);
    put(s.regs[part], is_bool ? b_.CreateICmpNE(x, b_.getInt8(0)) : x);
  }
}

void PhaseEmitter::step(const Store& s) {
  for (size_t part = 0; part < s.regs.size(); ++part) {
    const Place at = place(s.memory, s.index, part);
    Value* x = get(s.regs[part]);
    if (at.part == DType::bool_) x = b_.CreateZExt(x, b_.getInt8Ty());
    b_.CreateAlignedStore(x, at.pointer, at.alignment);
  }
}

/// A word of 32 bits at a time.
void PhaseEmitter::step(const Shuffle& s) {
  Value* x = get(s.from);
  llvm::Type* as = x->getType();
  const auto bits = static_cast<unsigned>(as->getPrimitiveSizeInBits());
  Value* word = b_.CreateBitCast(x, b_.getIntNTy(bits));
  if (bits > 32) {
    Value* low = down(b_.CreateTrunc(word, b_.getInt32Ty()), s.distance);
    Value* high = down(b_.CreateTrunc(b_.CreateLShr(word, 32), b_.getInt32Ty()), s.distance);
    word = b_.CreateOr(b_.CreateShl(b_.CreateZExt(high, b_.getInt64Ty()), 32),
                       b_.CreateZExt(low, b_.getInt64Ty()));
  } else {
    word =
        b_.CreateTrunc(down(b_.CreateZExt(word, b_.getInt32Ty()), s.distance), b_.getIntNTy(bits));
  }
  put(s.reg, b_.CreateBitCast(word, as));
}

void PhaseEmitter::step(const Loop& s) {
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

void PhaseEmitter::step(const When& s) {
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

// ── functions ───────────────────────────────────────────────────────────────────────────────────

class PhaseEmitter::Context final : public BodyContext {
 public:
  Context(PhaseEmitter& e, const ScalarFunction& f, const Call& s)
      : e_(e), s_(s), position_(e.number(s.position)) {
    size_t at = 0;
    for (DType d : f.inputs) {
      first_.push_back(at);
      at += parts_of(d);
    }
  }
  Value* input(uint32_t which, int part) override {
    return e_.get(s_.inputs[first_[which] + static_cast<size_t>(part)]);
  }
  Value* linear() override { return position_; }
  Value* seed() override { return e_.k_.seed; }
  Value* call() override { return e_.k_.call; }
  void failed(Value* lanes, uint32_t code) override { e_.report(lanes, position_, code); }

 private:
  PhaseEmitter& e_;
  const Call& s_;
  Value* position_;
  std::vector<size_t> first_;
};

void PhaseEmitter::step(const Call& s) {
  const ScalarFunction& f = p_.functions[static_cast<size_t>(s.f)];
  Context context(*this, f, s);
  const std::vector<Value*> results = BodyEmitter(ops_, f, context).emit();
  for (size_t k = 0; k < results.size(); ++k) put(s.regs[k], results[k]);
}

/// A failed check: the least position wins.
void PhaseEmitter::report(Value* is, Value* position, uint32_t code) {
  llvm::BasicBlock *bad = block("failed"), *good = block("checked");
  b_.CreateCondBr(is, bad, good);
  b_.SetInsertPoint(bad);
  Value* word = b_.CreateOr(b_.CreateShl(position, 16), i64(code));
  b_.CreateAtomicRMW(llvm::AtomicRMWInst::UMin, k_.error, word, llvm::MaybeAlign(8),
                     llvm::AtomicOrdering::Monotonic);
  b_.CreateBr(good);
  b_.SetInsertPoint(good);
}

}  // namespace lathe::jit
