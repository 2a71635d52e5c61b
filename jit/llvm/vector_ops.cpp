// Primitives as instructions, in the order of enum Prim: floats, integers, comparison, and `apply`,
// which picks by dtype. Conversions are in vector_cast.cpp.
#include "jit/llvm/vector_ops.h"

#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Module.h>

#include "core/base/error.h"
#include "core/scalar/scalar.h"

namespace lathe::jit {

using llvm::Value;

llvm::Type* VectorOps::scalar_type(DType dtype) const {
  switch (dtype) {
    case DType::bool_:
      return b.getInt1Ty();
    case DType::u8:
    case DType::i8:
      return b.getInt8Ty();
    case DType::i16:
    case DType::u16:
    case DType::f16:
    case DType::bf16:
      return b.getInt16Ty();
    case DType::i32:
    case DType::u32:
      return b.getInt32Ty();
    case DType::i64:
    case DType::u64:
      return b.getInt64Ty();
    case DType::f32:
      return b.getFloatTy();
    case DType::f64:
      return b.getDoubleTy();
    default:
      LATHE_INTERNAL("generated code on a reserved dtype");
  }
}

llvm::Type* VectorOps::widen(llvm::Type* scalar) const {
  return lanes_ == 1 ? scalar : llvm::FixedVectorType::get(scalar, lanes_);
}

Value* VectorOps::splat(Value* scalar) {
  return lanes_ == 1 ? scalar : b.CreateVectorSplat(lanes_, scalar);
}

Value* VectorOps::integer_constant(llvm::Type* type, uint64_t value) {
  return llvm::ConstantInt::get(type, value);
}

Value* VectorOps::constant(DType dtype, uint64_t bits) {
  llvm::Type* scalar = scalar_type(dtype);
  if (scalar->isIntegerTy()) return integer_constant(widen(scalar), bits);
  const llvm::APInt pattern(scalar->getScalarSizeInBits(), bits);
  return llvm::ConstantFP::get(widen(scalar), llvm::APFloat(scalar->getFltSemantics(), pattern));
}

Value* VectorOps::lane_numbers() {
  if (lanes_ == 1) return b.getInt64(0);
  std::vector<llvm::Constant*> numbers;
  for (unsigned i = 0; i < lanes_; ++i) numbers.push_back(b.getInt64(i));
  return llvm::ConstantVector::get(numbers);
}

Value* VectorOps::ramp(Value* first, Value* step, Value* i) {
  Value* start = b.CreateAdd(first, b.CreateMul(i, step));
  return b.CreateAdd(splat(start), b.CreateMul(lane_numbers(), splat(step)));
}

Value* VectorOps::mask_of(unsigned lanes, Value* first, Value* count) {
  std::vector<llvm::Constant*> list;
  for (unsigned i = 0; i < lanes; ++i) list.push_back(b.getInt32(i));
  const auto spread = [&](Value* x) {
    x = b.CreateTrunc(x, b.getInt32Ty());
    return lanes == 1 ? x : b.CreateVectorSplat(lanes, x);
  };
  Value* numbers = lanes == 1 ? static_cast<Value*>(list[0]) : llvm::ConstantVector::get(list);
  if (first != nullptr) numbers = b.CreateSub(numbers, spread(first));
  return b.CreateICmpULT(numbers, spread(count));
}

Value* VectorOps::any(Value* mask) {
  if (lanes_ == 1) return mask;
  llvm::Type* word = b.getIntNTy(lanes_);
  return b.CreateICmpNE(b.CreateBitCast(mask, word), llvm::ConstantInt::get(word, 0));
}

Value* VectorOps::intrinsic(llvm::Intrinsic::ID id, absl::Span<Value* const> args) {
  return b.CreateIntrinsic(id, llvm::ArrayRef<llvm::Type*>{args[0]->getType()},
                           llvm::ArrayRef<Value*>(args.data(), args.size()));
}

Value* VectorOps::bits_of(Value* x, DType dtype, bool raw) {
  const DType word = dtype == DType::f64 ? DType::u64 : DType::u32;
  Value* bits = b.CreateBitCast(x, type(word));
  if (raw) return bits;
  const uint64_t quiet = dtype == DType::f64 ? 0x7ff8000000000000u : 0x7fc00000u;
  return b.CreateSelect(b.CreateFCmpUNO(x, x), constant(word, quiet), bits);
}

// ── floats ──────────────────────────────────────────────────────────────────────────────────────
/// fma(x, c, magic) if `rounded` is a round_magic, fma(x, c, magic) - magic; else null.
static Value* before_rounding(Value* rounded, Value* magic) {
  auto* difference = llvm::dyn_cast<llvm::BinaryOperator>(rounded);
  if (difference == nullptr || difference->getOpcode() != llvm::Instruction::FSub ||
      difference->getOperand(1) != magic)
    return nullptr;
  auto* sum = llvm::dyn_cast<llvm::IntrinsicInst>(difference->getOperand(0));
  bool is = sum != nullptr && sum->getIntrinsicID() == llvm::Intrinsic::fma &&
            sum->getArgOperand(2) == magic;
  return is ? sum : nullptr;
}

Value* VectorOps::float_op(Prim prim, DType dtype, absl::Span<Value* const> args) {
  const bool wide = dtype == DType::f64;
  const auto magic = [&] {
    return constant(dtype, wide ? std::bit_cast<uint64_t>(scalar::magic<double>)
                                : std::bit_cast<uint32_t>(scalar::magic<float>));
  };
  Value *x = args[0], *y = args.size() > 1 ? args[1] : nullptr;
  switch (prim) {
    case Prim::add:
      return b.CreateFAdd(x, y);
    case Prim::sub:
      return b.CreateFSub(x, y);
    case Prim::mul:
      return b.CreateFMul(x, y);
    case Prim::div:
      return b.CreateFDiv(x, y);
    case Prim::fma:
      return intrinsic(llvm::Intrinsic::fma, args);
    case Prim::neg:
      return b.CreateFNeg(x);
    case Prim::abs:
      return intrinsic(llvm::Intrinsic::fabs, args);
    case Prim::sqrt:
      return intrinsic(llvm::Intrinsic::sqrt, args);
    // These selects are what minps and maxps do, for NaN and zeros too.
    case Prim::pmin:
      return b.CreateSelect(b.CreateFCmpOLT(x, y), x, y);
    case Prim::pmax:
      return b.CreateSelect(b.CreateFCmpOGT(x, y), x, y);
    case Prim::floor:
      return intrinsic(llvm::Intrinsic::floor, args);
    case Prim::ceil:
      return intrinsic(llvm::Intrinsic::ceil, args);
    case Prim::trunc:
      return intrinsic(llvm::Intrinsic::trunc, args);
    case Prim::rint:
      return intrinsic(llvm::Intrinsic::roundeven, args);
    case Prim::fmod:
      return remainder_by_call(dtype, x, y);
    case Prim::round_magic: {
      Value* const terms[] = {x, y, magic()};
      return b.CreateFSub(intrinsic(llvm::Intrinsic::fma, terms), magic());
    }
    case Prim::addexp: {
      const DType word = wide ? DType::u64 : DType::u32;
      // Of a round_magic, adding would give what it subtracted from.
      Value* sum = before_rounding(y, magic());
      if (sum == nullptr) sum = b.CreateFAdd(y, magic());
      Value* n = b.CreateBitCast(sum, type(word));
      Value* shifted = b.CreateShl(n, constant(word, wide ? 52 : 23));
      return b.CreateBitCast(b.CreateAdd(b.CreateBitCast(x, type(word)), shifted), type(dtype));
    }
    default:
      LATHE_INTERNAL("a primitive reached code generation unlowered");
  }
}

/// Exact remainders take a loop a lane; they are rare enough to be a call.
Value* VectorOps::remainder_by_call(DType dtype, Value* x, Value* y) {
  llvm::Type* scalar = scalar_type(dtype);
  llvm::Module* module = b.GetInsertBlock()->getModule();
  llvm::FunctionCallee callee =
      module->getOrInsertFunction(dtype == DType::f64 ? kFmod64 : kFmod32,
                                  llvm::FunctionType::get(scalar, {scalar, scalar}, false));
  auto* function = llvm::cast<llvm::Function>(callee.getCallee());
  function->setDoesNotThrow();
  function->setDoesNotAccessMemory();
  if (lanes_ == 1) return b.CreateCall(callee, {x, y});
  Value* result = llvm::PoisonValue::get(type(dtype));
  for (uint64_t i = 0; i < lanes_; ++i) {
    Value* lane =
        b.CreateCall(callee, {b.CreateExtractElement(x, i), b.CreateExtractElement(y, i)});
    result = b.CreateInsertElement(result, lane, i);
  }
  return result;
}

// ── integers ────────────────────────────────────────────────────────────────────────────────────
/// x / y towards zero; y is neither 0 nor -1. Up to 32 bits the quotient of the doubles, cut, is
/// exact, and there are vector instructions for it; there are none for integers.
Value* VectorOps::truncated_quotient(DType dtype, Value* x, Value* y) {
  const bool sign = is_signed(dtype);
  if (size_of(dtype) == 8 || llvm::isa<llvm::Constant>(y))
    return sign ? b.CreateSDiv(x, y) : b.CreateUDiv(x, y);
  llvm::Type* wide = type(size_of(dtype) < 4 ? DType::f32 : DType::f64);
  const auto real = [&](Value* v) {
    return sign ? b.CreateSIToFP(v, wide) : b.CreateUIToFP(v, wide);
  };
  Value* quotient = b.CreateFDiv(real(x), real(y));
  return sign ? b.CreateFPToSI(quotient, type(dtype)) : b.CreateFPToUI(quotient, type(dtype));
}

Value* VectorOps::divide(Prim prim, DType dtype, Value* x, Value* y) {
  Value *zero = constant(dtype, 0), *one = constant(dtype, 1);
  Value* by_zero = b.CreateICmpEQ(y, zero);
  if (!is_signed(dtype)) {
    Value* safe = b.CreateSelect(by_zero, one, y);
    Value* quotient = truncated_quotient(dtype, x, safe);
    if (prim == Prim::floor_div) return b.CreateSelect(by_zero, zero, quotient);
    return b.CreateSub(x, b.CreateMul(quotient, safe));  // 0 where y is: safe is 1 there
  }
  Value* minus_one = b.CreateICmpEQ(y, llvm::Constant::getAllOnesValue(type(dtype)));
  Value* safe = b.CreateSelect(b.CreateOr(by_zero, minus_one), one, y);
  Value* quotient = truncated_quotient(dtype, x, safe);
  Value* remainder = b.CreateSub(x, b.CreateMul(quotient, safe));
  Value* opposite = b.CreateICmpSLT(b.CreateXor(remainder, safe), zero);
  Value* adjust = b.CreateAnd(b.CreateICmpNE(remainder, zero), opposite);
  if (prim == Prim::mod) return b.CreateAdd(remainder, b.CreateSelect(adjust, safe, zero));
  quotient = b.CreateAdd(quotient, b.CreateSExt(adjust, type(dtype)));
  quotient = b.CreateSelect(minus_one, b.CreateNeg(x), quotient);
  return b.CreateSelect(by_zero, zero, quotient);
}

Value* VectorOps::shift(Prim prim, DType dtype, Value* x, Value* count) {
  count = b.CreateAnd(count, constant(dtype, 8 * size_of(dtype) - 1));
  if (prim == Prim::shl) return b.CreateShl(x, count);
  return is_signed(dtype) ? b.CreateAShr(x, count) : b.CreateLShr(x, count);
}

Value* VectorOps::integer_op(Prim prim, DType dtype, absl::Span<Value* const> args) {
  const bool sign = is_signed(dtype);
  Value *x = args[0], *y = args.size() > 1 ? args[1] : nullptr;
  const auto less = [&](Value* p, Value* q) {
    return sign ? b.CreateICmpSLT(p, q) : b.CreateICmpULT(p, q);
  };
  switch (prim) {
    case Prim::add:
      return b.CreateAdd(x, y);
    case Prim::sub:
      return b.CreateSub(x, y);
    case Prim::mul:
      return b.CreateMul(x, y);
    case Prim::fma:
      return b.CreateAdd(b.CreateMul(x, y), args[2]);
    case Prim::neg:
      return b.CreateNeg(x);
    case Prim::abs:
      return sign ? b.CreateSelect(b.CreateICmpSLT(x, constant(dtype, 0)), b.CreateNeg(x), x) : x;
    case Prim::pmin:
      return b.CreateSelect(less(x, y), x, y);
    case Prim::pmax:
      return b.CreateSelect(less(y, x), x, y);
    case Prim::floor:
    case Prim::ceil:
    case Prim::trunc:
    case Prim::rint:
      return x;
    case Prim::floor_div:
    case Prim::mod:
      return divide(prim, dtype, x, y);
    case Prim::mulhi: {
      llvm::Type* wide = type(DType::u64);
      Value* product = b.CreateMul(b.CreateZExt(x, wide), b.CreateZExt(y, wide));
      return b.CreateTrunc(b.CreateLShr(product, 32), type(dtype));
    }
    case Prim::bit_and:
      return b.CreateAnd(x, y);
    case Prim::bit_or:
      return b.CreateOr(x, y);
    case Prim::bit_xor:
      return b.CreateXor(x, y);
    case Prim::bit_not:
      return b.CreateNot(x);
    case Prim::shl:
    case Prim::shr:
      return shift(prim, dtype, x, y);
    default:
      LATHE_INTERNAL("a primitive that integers lack");
  }
}

Value* VectorOps::compare(Prim prim, DType dtype, Value* x, Value* y) {
  if (is_floating(dtype)) {
    switch (prim) {
      case Prim::lt:
        return b.CreateFCmpOLT(x, y);
      case Prim::le:
        return b.CreateFCmpOLE(x, y);
      case Prim::eq:
        return b.CreateFCmpOEQ(x, y);
      default:
        return b.CreateFCmpUNE(x, y);
    }
  }
  const bool sign = is_signed(dtype);
  switch (prim) {
    case Prim::lt:
      return sign ? b.CreateICmpSLT(x, y) : b.CreateICmpULT(x, y);
    case Prim::le:
      return sign ? b.CreateICmpSLE(x, y) : b.CreateICmpULE(x, y);
    case Prim::eq:
      return b.CreateICmpEQ(x, y);
    default:
      return b.CreateICmpNE(x, y);
  }
}

Value* VectorOps::apply(const ExprNode& node, absl::Span<const DType> types,
                        absl::Span<Value* const> args) {
  switch (node.prim) {
    case Prim::lt:
    case Prim::le:
    case Prim::eq:
    case Prim::ne:
      return compare(node.prim, types[0], args[0], args[1]);
    case Prim::select:
      return b.CreateSelect(args[0], args[1], args[2]);
    case Prim::cast:
      return cast(args[0], types[0], node.dtype);
    case Prim::bits:
      return bits_of(args[0], types[0], node.payload != 0);
    case Prim::frombits:
      return b.CreateBitCast(args[0], type(node.dtype));
    default:
      return is_floating(types[0]) ? float_op(node.prim, types[0], args)
                                   : integer_op(node.prim, types[0], args);
  }
}

}  // namespace lathe::jit
