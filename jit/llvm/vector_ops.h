// The scalar language's primitives as LLVM instructions on vectors of `lanes` elements (on plain
// scalars when there is one). What each means is in core/scalar/scalar.h; here is only how it is
// said without undefined behaviour, fast-math flags or approximations.
#pragma once

#include <absl/types/span.h>
#include <llvm/IR/IRBuilder.h>

#include "core/expr/expr.h"
#include "jit/kernel/codegen.h"

namespace lathe::jit {

class VectorOps {
 public:
  VectorOps(llvm::IRBuilder<>& builder, const Target& target, unsigned lanes)
      : b(builder), target_(target), lanes_(lanes) {}

  unsigned lanes() const { return lanes_; }
  /// bool is i1; f16 and bf16 travel as their bits.
  llvm::Type* scalar_type(DType dtype) const;
  llvm::Type* type(DType dtype) const { return widen(scalar_type(dtype)); }
  llvm::Type* widen(llvm::Type* scalar) const;
  llvm::Value* splat(llvm::Value* scalar);
  llvm::Value* constant(DType dtype, uint64_t bits);
  /// 0, 1, 2 ... as i64.
  llvm::Value* lane_numbers();
  /// first + (i + lane) * step, all i64; `first`, `step` and `i` scalars.
  llvm::Value* ramp(llvm::Value* first, llvm::Value* step, llvm::Value* i);
  /// The mask of the first `count` (a scalar i64) lanes.
  llvm::Value* first_lanes(llvm::Value* count) { return mask_of(lanes_, nullptr, count); }
  /// Of `count` lanes from `first` (null: 0) on, for a vector of `lanes`.
  llvm::Value* mask_of(unsigned lanes, llvm::Value* first, llvm::Value* count);

  /// Any primitive that has arguments, but rare, check, complex, real and imag.
  llvm::Value* apply(const ExprNode& node, absl::Span<const DType> types,
                     absl::Span<llvm::Value* const> args);
  llvm::Value* cast(llvm::Value* x, DType from, DType to);
  /// Whether any lane of a mask is set, as i1.
  llvm::Value* any(llvm::Value* mask);

  llvm::IRBuilder<>& b;  // shared with whoever places code around these

 private:
  llvm::Value* float_op(Prim prim, DType dtype, absl::Span<llvm::Value* const> args);
  llvm::Value* integer_op(Prim prim, DType dtype, absl::Span<llvm::Value* const> args);
  llvm::Value* compare(Prim prim, DType dtype, llvm::Value* x, llvm::Value* y);
  llvm::Value* divide(Prim prim, DType dtype, llvm::Value* x, llvm::Value* y);
  llvm::Value* truncated_quotient(DType dtype, llvm::Value* x, llvm::Value* y);
  llvm::Value* remainder_by_call(DType dtype, llvm::Value* x, llvm::Value* y);
  llvm::Value* shift(Prim prim, DType dtype, llvm::Value* x, llvm::Value* count);
  llvm::Value* intrinsic(llvm::Intrinsic::ID id, absl::Span<llvm::Value* const> args);
  llvm::Value* bits_of(llvm::Value* x, DType dtype, bool raw);
  llvm::Value* integer_constant(llvm::Type* type, uint64_t value);
  llvm::Value* float_to_integer(llvm::Value* x, DType from, DType to);
  llvm::Value* f16_to_f32(llvm::Value* x);
  llvm::Value* f32_to_f16(llvm::Value* x);
  llvm::Value* bf16_to_f32(llvm::Value* x);
  llvm::Value* f32_to_bf16(llvm::Value* x);

  const Target& target_;
  unsigned lanes_;
};

// Functions that generated code may call; engine.cpp says where they are.
inline constexpr const char* kFmod32 = "lathe_fmod32";
inline constexpr const char* kFmod64 = "lathe_fmod64";

}  // namespace lathe::jit
