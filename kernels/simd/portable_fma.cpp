#include "kernels/simd/portable_fma.h"

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

}  // namespace

Floats fma_by_arithmetic(Floats x, Floats y, Floats z) {
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
Doubles fma_by_arithmetic(Doubles a, Doubles b, Doubles c) {
  return Doubles{__builtin_fma(a[0], b[0], c[0]), __builtin_fma(a[1], b[1], c[1])};
}

#if defined(__x86_64__)
bool has_fma_instruction = false;
void find_fma_instruction() {
  has_fma_instruction = __builtin_cpu_supports("fma");  // not an op: an instruction set
}
#endif

}  // namespace lathe
