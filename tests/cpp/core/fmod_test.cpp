// The remainder of floats against the C library's, which is exact too, bit for bit.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

#include "core/scalar/scalar.h"
#include "tests/cpp/support/random_expr.h"

namespace lathe {
namespace {

template <class T>
void expect_fmod(T x, T y) {
  using Word = scalar::WordOf<T>;
  T got = scalar::fmod(x, y), want = std::fmod(x, y);
  if (std::isnan(want) && std::isnan(got)) return;
  EXPECT_EQ(std::bit_cast<Word>(got), std::bit_cast<Word>(want)) << x << " fmod " << y;
}

template <class T>
void expect_fmod_of_all_kinds(DType dtype) {
  using Word = scalar::WordOf<T>;
  auto of = [](uint64_t bits) { return std::bit_cast<T>(static_cast<Word>(bits)); };
  for (uint64_t x : testing::special_values(dtype))
    for (uint64_t y : testing::special_values(dtype)) expect_fmod(of(x), of(y));
  std::mt19937_64 rng(11);
  constexpr int mantissa = std::numeric_limits<T>::digits - 1;
  for (int i = 0; i < 60'000; ++i) {
    expect_fmod(of(rng()), of(rng()));
    T x = of(rng());
    // A divisor of few bits, whose remainders are often 0; one just below the dividend; subnormals.
    expect_fmod(x, of(rng() >> (rng() % (mantissa - 1)) << (mantissa - 2)));
    expect_fmod(x, of(std::bit_cast<Word>(x) - rng() % 4));
    expect_fmod(x, of(rng() >> (64 - mantissa + rng() % mantissa)));
  }
}

TEST(Fmod, FloatsAreExact) { expect_fmod_of_all_kinds<float>(DType::f32); }
TEST(Fmod, DoublesAreExact) { expect_fmod_of_all_kinds<double>(DType::f64); }

}  // namespace
}  // namespace lathe
