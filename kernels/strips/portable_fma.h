// a * b + c rounded once, on vectors of 16 bytes, for code that is compiled for every processor of
// a family, whether it has an instruction for it or not.
#pragma once

#include <cstdint>

namespace lathe {

/// 16 bytes of T, and of integers as wide. (Of a T that is not known yet g++ makes no vectors.)
template <class T>
struct Vectors;
template <>
struct Vectors<float> {
  using Values [[gnu::vector_size(16)]] = float;
  using Words [[gnu::vector_size(16)]] = uint32_t;
  using Ints [[gnu::vector_size(16)]] = int32_t;
};
template <>
struct Vectors<double> {
  using Values [[gnu::vector_size(16)]] = double;
  using Words [[gnu::vector_size(16)]] = uint64_t;
  using Ints [[gnu::vector_size(16)]] = int64_t;
};
using Floats = Vectors<float>::Values;
using Doubles = Vectors<double>::Values;

struct PortableFma {
  Floats (*floats)(Floats a, Floats b, Floats c);
  Doubles (*doubles)(Doubles a, Doubles b, Doubles c);
};
/// By double arithmetic, and by the C library.
extern const PortableFma fma_by_arithmetic;
/// The instruction, on a processor that has it; else the above.
PortableFma best_portable_fma();

/// What the portable strips call: best_portable_fma(), once there are strips.
extern PortableFma portable_fma;

}  // namespace lathe
