// The definitions that programs are made of: those with samples, and the dtypes that each one's own
// rule takes.
#pragma once

#include <vector>

#include "tests/cpp/support/samples.h"

namespace lathe::bits_test {

inline constexpr DType kTensorTypes[] = {DType::bool_, DType::u8,  DType::i8,  DType::i16,
                                         DType::i32,   DType::i64, DType::f16, DType::bf16,
                                         DType::f32,   DType::f64, DType::c64, DType::u16,
                                         DType::u32,   DType::u64, DType::c128};

struct Row {
  const Op* op;
  std::vector<const testing::Sample*> samples;
  /// What the samples' tensors may be (those that make nothing from tensors: what they make). Found
  /// by asking the definition: its shape and dtype rule, or for a composite what it is made of.
  DTypeSet takes;
};

const std::vector<Row>& rows();
/// Of an op that has samples.
const Row& row_of(const Op& op);

/// Masks and indexes are what they are in every program; the other operands are of any dtype.
inline bool any_dtype(char kind) { return kind != 'b' && kind != 'n'; }
/// Does the definition's result have the dtype that is asked for, and no tensor's?
bool makes_from_nothing(const Op& op);

}  // namespace lathe::bits_test
