#include <llvm/IR/Module.h>

#include "jit/llvm/threads.h"
#include "jit/llvm/vector_ops.h"

namespace lathe::jit {
namespace {

using llvm::Value;

/// The exact remainder (core/scalar/scalar.h: fmod): of the significands, where that of `a` is
/// doubled, and taken modulo, once for each power of two that it is above that of `b`.
class Remainder {
 public:
  Remainder(llvm::Function& function, DType dtype)
      : f_(function),
        b_(llvm::BasicBlock::Create(function.getContext(), "entry", &function)),
        float_(function.getReturnType()),
        mantissa_(dtype == DType::f64 ? 52 : 23),
        bits_(dtype == DType::f64 ? 64 : 32) {
    f_.setLinkage(llvm::GlobalValue::InternalLinkage);
  }

  void emit() {
    Value *a = f_.getArg(0), *b = f_.getArg(1);
    Value *x = magnitude(a), *y = magnitude(b);
    Value* inf = llvm::ConstantFP::getInfinity(float_);
    Value* finite = b_.CreateFCmpOLT(x, inf);
    Value* divides = b_.CreateFCmpOGT(y, llvm::ConstantFP::getZero(float_));
    return_unless(b_.CreateAnd(finite, divides), llvm::ConstantFP::getQNaN(float_));
    return_unless(b_.CreateNot(b_.CreateFCmpOLT(x, y)), a);
    const auto [mx, ex] = split(x);
    const auto [my, ey] = split(y);
    Value* m = doubled(b_.CreateURem(mx, my), my, b_.CreateSub(ex, ey));
    Value* word = together(m, ey);
    Value* sign = b_.CreateAnd(word_of(a), i64(uint64_t{1} << (bits_ - 1)));
    b_.CreateRet(float_of(b_.CreateOr(word, sign)));
  }

 private:
  Value* i64(uint64_t value) { return b_.getInt64(value); }
  llvm::BasicBlock* block(const char* name) {
    return llvm::BasicBlock::Create(f_.getContext(), name, &f_);
  }
  Value* magnitude(Value* x) { return b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x); }
  Value* word_of(Value* x) {
    return b_.CreateZExt(b_.CreateBitCast(x, b_.getIntNTy(bits_)), b_.getInt64Ty());
  }
  Value* float_of(Value* word) {
    return b_.CreateBitCast(b_.CreateTrunc(word, b_.getIntNTy(bits_)), float_);
  }
  void return_unless(Value* condition, Value* result) {
    llvm::BasicBlock *out = block("out"), *on = block("on");
    b_.CreateCondBr(condition, on, out);
    b_.SetInsertPoint(out);
    b_.CreateRet(result);
    b_.SetInsertPoint(on);
  }
  Value* implicit() { return i64(uint64_t{1} << mantissa_); }
  Value* fraction(Value* word) { return b_.CreateAnd(word, i64((uint64_t{1} << mantissa_) - 1)); }
  /// Significand and exponent, of which the least is 1.
  std::pair<Value*, Value*> split(Value* x) {
    Value *word = word_of(x), *exponent = b_.CreateLShr(word, mantissa_);
    Value* subnormal = b_.CreateICmpEQ(exponent, i64(0));
    Value* m = b_.CreateSelect(subnormal, fraction(word), b_.CreateOr(fraction(word), implicit()));
    return {m, b_.CreateSelect(subnormal, i64(1), exponent)};
  }
  /// m * 2^times mod my
  Value* doubled(Value* m, Value* my, Value* times) {
    llvm::BasicBlock *before = b_.GetInsertBlock(), *again = block("double"), *done = block("done");
    b_.CreateCondBr(b_.CreateICmpSGT(times, i64(0)), again, done);
    b_.SetInsertPoint(again);
    llvm::PHINode *left = b_.CreatePHI(b_.getInt64Ty(), 2), *now = b_.CreatePHI(b_.getInt64Ty(), 2);
    Value* twice = b_.CreateShl(now, 1);
    Value* next = b_.CreateSelect(b_.CreateICmpUGE(twice, my), b_.CreateSub(twice, my), twice);
    Value* fewer = b_.CreateSub(left, i64(1));
    left->addIncoming(times, before);
    left->addIncoming(fewer, again);
    now->addIncoming(m, before);
    now->addIncoming(next, again);
    b_.CreateCondBr(b_.CreateICmpSGT(fewer, i64(0)), again, done);
    b_.SetInsertPoint(done);
    llvm::PHINode* all = b_.CreatePHI(b_.getInt64Ty(), 2);
    all->addIncoming(m, before);
    all->addIncoming(next, again);
    return all;
  }
  /// The bits of m in units of the last place of exponent e: zero, subnormal, or normalised.
  Value* together(Value* m, Value* e) {
    Value* zeros =
        b_.CreateIntrinsic(llvm::Intrinsic::ctlz, llvm::ArrayRef<llvm::Type*>{b_.getInt64Ty()},
                           llvm::ArrayRef<Value*>{m, b_.getFalse()});
    Value* wanted = b_.CreateSub(zeros, i64(63 - mantissa_));
    Value* most = b_.CreateSub(e, i64(1));
    Value* up = b_.CreateSelect(b_.CreateICmpSLT(wanted, most), wanted, most);
    Value* shifted = b_.CreateShl(m, up);
    Value* normal = b_.CreateOr(b_.CreateShl(b_.CreateSub(e, up), mantissa_), fraction(shifted));
    Value* small = b_.CreateICmpULT(shifted, implicit());
    Value* word = b_.CreateSelect(small, shifted, normal);
    return b_.CreateSelect(b_.CreateICmpEQ(m, i64(0)), i64(0), word);
  }

  llvm::Function& f_;
  llvm::IRBuilder<> b_;
  llvm::Type* float_;
  const unsigned mantissa_, bits_;
};

}  // namespace

void define_remainders(llvm::Module& module) {
  if (llvm::Function* f = module.getFunction(kFmod32)) Remainder(*f, DType::f32).emit();
  if (llvm::Function* f = module.getFunction(kFmod64)) Remainder(*f, DType::f64).emit();
}

}  // namespace lathe::jit
