// Random scalar programs over all dtypes and primitives, for tests that compare engines, and the
// values on which engines tend to differ.
#pragma once

#include <random>
#include <vector>

#include "core/expr/expr.h"

namespace lathe::testing {

inline constexpr DType kScalarTypes[] = {DType::bool_, DType::u8,   DType::i8,  DType::i16,
                                         DType::i32,   DType::i64,  DType::u32, DType::u64,
                                         DType::f16,   DType::bf16, DType::f32, DType::f64};
inline constexpr DType kTensorTypes[] = {DType::bool_, DType::u8,  DType::i8,  DType::i16,
                                         DType::i32,   DType::i64, DType::f16, DType::bf16,
                                         DType::f32,   DType::f64};

/// Bits of values at the edges: zeros, ones, extremes, infinities, NaN, subnormals, powers of two.
std::vector<uint64_t> special_values(DType dtype);
/// Special values half of the time, else a random number of moderate or any size.
uint64_t random_value(DType dtype, std::mt19937_64& rng);

/// Equal bits, or both NaN.
bool same_value(DType dtype, uint64_t a, uint64_t b);

struct ProgramOptions {
  int steps = 12;
  bool transcendental = true;
  bool leaves = false;                            // positions and random words, too
  absl::Span<const DType> inputs = kScalarTypes;  // what inputs are drawn from
};

/// A list of nodes: the first ones are inputs and constants, each later one takes earlier ones.
struct RandomProgram {
  std::vector<DType> inputs;
  std::vector<ExprNode> nodes;
  std::vector<uint32_t> outputs;

  /// The nodes as they are, no simplification.
  ScalarFunction raw() const;
  /// The same through `make`.
  ScalarFunction built() const;
};
RandomProgram random_program(std::mt19937_64& rng, const ProgramOptions& options);

}  // namespace lathe::testing
