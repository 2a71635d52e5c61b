#include "kernels/strips/portable_fma.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace lathe {
namespace {

using Wide [[gnu::vector_size(32)]] = double;  // what four floats become
using WideWords [[gnu::vector_size(32)]] = uint64_t;

// In double the product of floats is exact. Its sum with c is rounded to 53 bits and then to 24,
// which is the same as rounding once, unless the first rounding ends on the middle between two
// floats, or the result is subnormal and the middle elsewhere.

/// The sum is rounded to odd: of the two neighbours of an inexact one that whose last bit is 1. It
/// is no middle between floats, and on the same side of every middle as the sum, since a double has
/// more than two bits more than a float, subnormal or not.
[[gnu::noinline, gnu::cold]] Floats floats_by_odd(Floats x, Floats y, Floats z) {
  Wide product = __builtin_convertvector(x, Wide) * __builtin_convertvector(y, Wide);
  Wide c = __builtin_convertvector(z, Wide), sum = product + c, back = sum - product;
  Wide lost = (product - (sum - back)) + (c - back);
  auto word = (WideWords)sum, sign = (WideWords)lost ^ word;
  auto odd = (word - (sign >> 63)) | 1;  // the one below, where the sum was rounded up
  auto inexact = (WideWords)(lost < 0) | (WideWords)(lost > 0);  // not where it is NaN
  return __builtin_convertvector((Wide)((odd & inexact) | (word & ~inexact)), Floats);
}
Floats floats_by_doubles(Floats x, Floats y, Floats z) {
  using Words = Vectors<float>::Words;
  Wide sum = __builtin_convertvector(x, Wide) * __builtin_convertvector(y, Wide) +
             __builtin_convertvector(z, Wide);
  Floats result = __builtin_convertvector(sum, Floats);
  auto middle = (__builtin_convertvector((WideWords)sum, Words) & 0x1fffffffu) == 0x10000000u;
  auto subnormal = ((Words)result << 1) - 1 < 0x1000000u;  // or the first normal; not 0
  auto doubtful = (Vectors<double>::Words)(middle | subnormal);
  if ((doubtful[0] | doubtful[1]) != 0) [[unlikely]]
    return floats_by_odd(x, y, z);
  return result;
}
Doubles doubles_one_by_one(Doubles a, Doubles b, Doubles c) {
  return Doubles{__builtin_fma(a[0], b[0], c[0]), __builtin_fma(a[1], b[1], c[1])};
}

#if defined(__x86_64__)
[[gnu::target("fma")]]  // not an op: an instruction set
Floats
floats_by_instruction(Floats a, Floats b, Floats c) {
  return _mm_fmadd_ps(a, b, c);
}
[[gnu::target("fma")]]  // not an op: an instruction set
Doubles
doubles_by_instruction(Doubles a, Doubles b, Doubles c) {
  return _mm_fmadd_pd(a, b, c);
}
#endif

}  // namespace

const PortableFma fma_by_arithmetic = {floats_by_doubles, doubles_one_by_one};

PortableFma best_portable_fma() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("fma"))  // not an op: an instruction set
    return {floats_by_instruction, doubles_by_instruction};
#endif
  return fma_by_arithmetic;
}

PortableFma portable_fma = fma_by_arithmetic;

}  // namespace lathe
