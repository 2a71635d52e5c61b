// Conversions. LLVM leaves float → int out of range undefined, and its saturating form is not
// vectorised; its conversion to bf16 may flush subnormals. So both are spelt out.
#include <llvm/IR/Intrinsics.h>

#include <cmath>

#include "core/base/error.h"
#include "jit/llvm/vector_ops.h"

namespace lathe::jit {

using llvm::Value;

Value* VectorOps::cast(Value* x, DType from, DType to) {
  if (from == to) return x;
  if (from == DType::f16) return cast(f16_to_f32(x), DType::f32, to);
  if (from == DType::bf16) return cast(bf16_to_f32(x), DType::f32, to);
  if (to == DType::f16) return f32_to_f16(cast(x, from, DType::f32));
  if (to == DType::bf16) return f32_to_bf16(cast(x, from, DType::f32));
  if (from == DType::bool_) {
    const uint64_t one = to == DType::f32   ? 0x3f800000u
                         : to == DType::f64 ? 0x3ff0000000000000u
                                            : 1;
    return b.CreateSelect(x, constant(to, one), constant(to, 0));
  }
  const bool from_float = is_floating(from), to_float = is_floating(to);
  if (to == DType::bool_)
    return from_float ? b.CreateFCmpUNE(x, constant(from, 0))
                      : b.CreateICmpNE(x, constant(from, 0));
  if (from_float && to_float)
    return to == DType::f64 ? b.CreateFPExt(x, type(to)) : b.CreateFPTrunc(x, type(to));
  if (from_float) return float_to_integer(x, from, to);
  if (to_float) return is_signed(from) ? b.CreateSIToFP(x, type(to)) : b.CreateUIToFP(x, type(to));
  return is_signed(from) ? b.CreateSExtOrTrunc(x, type(to)) : b.CreateZExtOrTrunc(x, type(to));
}

/// Saturating; NaN gives 0. Lanes that do not fit are converted as 0 and replaced.
Value* VectorOps::float_to_integer(Value* x, DType from, DType to) {
  const int width = 8 * static_cast<int>(size_of(to));
  const bool sign = is_signed(to);
  const auto number = [&](double value) {
    return constant(from, from == DType::f64 ? std::bit_cast<uint64_t>(value)
                                             : std::bit_cast<uint32_t>(static_cast<float>(value)));
  };
  Value* above = number(std::ldexp(1.0, sign ? width - 1 : width));  // the first that is too large
  Value* least = number(sign ? -std::ldexp(1.0, width - 1) : 0.0);
  Value* fits = b.CreateAnd(b.CreateFCmpOGE(x, least), b.CreateFCmpOLT(x, above));
  Value* safe = b.CreateSelect(fits, x, number(0));
  Value* result = sign ? b.CreateFPToSI(safe, type(to)) : b.CreateFPToUI(safe, type(to));
  const uint64_t all = width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
  result = b.CreateSelect(b.CreateFCmpOGE(x, above), constant(to, sign ? all >> 1 : all), result);
  if (!sign) return result;  // below 0 it is 0 already
  return b.CreateSelect(b.CreateFCmpOLT(x, least), constant(to, (all >> 1) + 1), result);
}

Value* VectorOps::bf16_to_f32(Value* x) {
  Value* wide = b.CreateZExt(x, type(DType::u32));
  return b.CreateBitCast(b.CreateShl(wide, 16), type(DType::f32));
}

/// As core/scalar/dtype.h: to nearest, ties to even, on the bits; NaN made quiet.
Value* VectorOps::f32_to_bf16(Value* x) {
  Value* u = b.CreateBitCast(x, type(DType::u32));
  Value* upper = b.CreateLShr(u, 16);
  Value* odd = b.CreateAnd(upper, constant(DType::u32, 1));
  Value* rounded = b.CreateLShr(b.CreateAdd(b.CreateAdd(u, constant(DType::u32, 0x7fff)), odd), 16);
  Value* quiet = b.CreateOr(upper, constant(DType::u32, 0x40));
  Value* result = b.CreateSelect(b.CreateFCmpUNO(x, x), quiet, rounded);
  return b.CreateTrunc(result, type(DType::bf16));
}

Value* VectorOps::f16_to_f32(Value* x) {
  if (target_.has("f16c")) {
    Value* half = b.CreateBitCast(x, widen(b.getHalfTy()));
    return b.CreateFPExt(half, type(DType::f32));
  }
  const auto word = [&](uint64_t bits) { return constant(DType::u32, bits); };
  Value* wide = b.CreateZExt(x, type(DType::u32));
  Value* sign = b.CreateShl(b.CreateAnd(wide, word(0x8000)), 16);
  Value* magnitude = b.CreateAnd(wide, word(0x7fff));
  Value* shifted = b.CreateShl(magnitude, 13);
  Value* normal = b.CreateAdd(shifted, word(0x38000000));
  Value* quiet = b.CreateSelect(b.CreateICmpUGT(magnitude, word(0x7c00)), word(0x400000), word(0));
  Value* special = b.CreateOr(b.CreateOr(word(0x7f800000), shifted), quiet);
  // Subnormals are small integers times 2^-24, exactly.
  Value* small = b.CreateBitCast(
      b.CreateFMul(b.CreateSIToFP(magnitude, type(DType::f32)), constant(DType::f32, 0x33800000)),
      type(DType::u32));
  Value* bits = b.CreateSelect(b.CreateICmpUGE(magnitude, word(0x7c00)), special, normal);
  bits = b.CreateSelect(b.CreateICmpULT(magnitude, word(0x400)), small, bits);
  return b.CreateBitCast(b.CreateOr(bits, sign), type(DType::f32));
}

Value* VectorOps::f32_to_f16(Value* x) {
  if (target_.has("f16c"))
    return b.CreateBitCast(b.CreateFPTrunc(x, widen(b.getHalfTy())), type(DType::f16));
  const auto word = [&](uint64_t bits) { return constant(DType::u32, bits); };
  Value* u = b.CreateBitCast(x, type(DType::u32));
  Value* sign = b.CreateAnd(b.CreateLShr(u, 16), word(0x8000));
  Value* magnitude = b.CreateAnd(u, word(0x7fffffff));
  Value* odd = b.CreateAnd(b.CreateLShr(magnitude, 13), word(1));
  Value* biased = b.CreateSub(magnitude, word(0x38000000));
  Value* normal = b.CreateLShr(b.CreateAdd(b.CreateAdd(biased, word(0xfff)), odd), 13);
  // Below 2^-14: adding 0.5 leaves the value, rounded to a multiple of 2^-24, in the low bits.
  Value* sum =
      b.CreateFAdd(b.CreateBitCast(magnitude, type(DType::f32)), constant(DType::f32, 0x3f000000));
  Value* small = b.CreateSub(b.CreateBitCast(sum, type(DType::u32)), word(0x3f000000));
  Value* payload = b.CreateAnd(b.CreateLShr(magnitude, 13), word(0x1ff));
  Value* bits = b.CreateSelect(b.CreateICmpULT(magnitude, word(0x38800000)), small, normal);
  bits = b.CreateSelect(b.CreateICmpUGE(magnitude, word(0x477ff000)), word(0x7c00), bits);
  bits = b.CreateSelect(b.CreateICmpUGT(magnitude, word(0x7f800000)),
                        b.CreateOr(word(0x7e00), payload), bits);
  return b.CreateTrunc(b.CreateOr(bits, sign), type(DType::f16));
}

}  // namespace lathe::jit
