// a * b + c rounded once, on vectors of 16 bytes, for code that is compiled for every processor of
// a family, whether it has an instruction for it or not.
#pragma once

#include <cstdint>

#include "core/scalar/scalar.h"

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

/// With no instruction for it: floats by double arithmetic, doubles by the C library.
Floats fma_by_arithmetic(Floats a, Floats b, Floats c);
Doubles fma_by_arithmetic(Doubles a, Doubles b, Doubles c);

#if defined(__x86_64__)  // not all of which have it
/// Does this processor? Set by find_fma_instruction, before there are strips.
extern bool has_fma_instruction;
void find_fma_instruction();

/// In place: around a call the caller would keep all that it holds in memory. In the assembler's
/// words, since the code around it is compiled for processors without.
[[gnu::always_inline]] inline Floats fma_by_instruction(Floats a, Floats b, Floats c) {
  asm("vfmadd231ps %2, %1, %0" : "+x"(c) : "x"(a), "x"(b));
  return c;
}
[[gnu::always_inline]] inline Doubles fma_by_instruction(Doubles a, Doubles b, Doubles c) {
  asm("vfmadd231pd %2, %1, %0" : "+x"(c) : "x"(a), "x"(b));
  return c;
}

template <class V>
[[gnu::always_inline]] inline V portable_fma(V a, V b, V c) {
  if (has_fma_instruction) [[likely]]
    return fma_by_instruction(a, b, c);
  return fma_by_arithmetic(a, b, c);
}
#else
inline void find_fma_instruction() {}

template <class V>
[[gnu::always_inline]] inline V portable_fma(V a, V b, V c) {
  V r;
  for (size_t i = 0; i < sizeof(V) / sizeof(r[0]); ++i) r[i] = scalar::fma(a[i], b[i], c[i]);
  return r;
}
#endif

}  // namespace lathe
