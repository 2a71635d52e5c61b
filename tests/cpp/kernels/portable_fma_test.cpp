// Each way to multiply and add with one rounding against the C library's, bit for bit (NaN is one
// value).
#include "kernels/simd/portable_fma.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

#include "tests/cpp/support/random_expr.h"

namespace lathe {
namespace {

struct Triple {
  float a, b, c;
};

/// Where a * b + c lies next to the middle between two floats, at a distance that a double does not
/// see: c and almost half of its last place, (1 + d)(1 - e) of it.
Triple near_middle(std::mt19937_64& rng) {
  auto upto = [&](int n) { return static_cast<int>(rng() % static_cast<uint64_t>(n)); };
  int exponent = upto(200) - 100;
  float c = std::ldexp(static_cast<float>((1 << 23) + upto(1 << 23)), exponent);
  // (1 + m 2^-23)(1 - (2 m - 1) 2^-24) is a little more than 1 below m = 2048, less above it.
  int m = 2020 + upto(60);
  float a = std::ldexp(static_cast<float>((1 << 23) + m), exponent - 24);
  float b = std::ldexp(static_cast<float>((1 << 24) - (2 * m - 1)), -24);
  return {rng() % 2 == 0 ? a : -a, b, rng() % 2 == 0 ? c : -c};
}
/// Numbers whose product or sum is about the smallest normal float, or far below it.
Triple small(std::mt19937_64& rng) {
  auto any = [&](int exponent) {
    auto sign = static_cast<uint32_t>(rng()) & 0x80000000u;
    auto word = static_cast<uint32_t>(rng() % 0x800000u) | 0x3f800000u | sign;
    return std::ldexp(std::bit_cast<float>(word), exponent);
  };
  int e = static_cast<int>(rng() % 60);
  return {any(-40 - e), any(-100 + e), any(-126 - static_cast<int>(rng() % 24))};
}
/// c is the product, rounded, with the other sign: what is left is the rounding error.
Triple cancelling(std::mt19937_64& rng) {
  auto a = std::bit_cast<float>(static_cast<uint32_t>(rng()));
  auto b = std::bit_cast<float>(static_cast<uint32_t>(rng()));
  return {a, b, -(a * b)};
}
Triple any(std::mt19937_64& rng) {
  auto value = [&] { return std::bit_cast<float>(static_cast<uint32_t>(rng())); };
  float a = value(), b = value();
  return {a, b, value()};
}

using FmaOfFloats = Floats (*)(Floats, Floats, Floats);
using FmaOfDoubles = Doubles (*)(Doubles, Doubles, Doubles);

/// How many of n triples, and of all triples of special values, differ from std::fma.
int differences(FmaOfFloats fma, Triple (*triple)(std::mt19937_64&), int n) {
  std::mt19937_64 rng(7);
  std::vector<Triple> triples;
  for (int i = 0; i < n; ++i) triples.push_back(triple(rng));
  auto special = testing::special_values(DType::f32);
  auto value = [](uint64_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits)); };
  for (uint64_t a : special)
    for (uint64_t b : special)
      for (uint64_t c : special) triples.push_back({value(a), value(b), value(c)});
  while (triples.size() % 4 != 0) triples.push_back({0, 0, 0});
  int count = 0;
  for (size_t i = 0; i < triples.size(); i += 4) {
    const Triple* t = &triples[i];
    Floats a = {t[0].a, t[1].a, t[2].a, t[3].a}, b = {t[0].b, t[1].b, t[2].b, t[3].b};
    Floats c = {t[0].c, t[1].c, t[2].c, t[3].c}, got = fma(a, b, c);
    for (size_t k = 0; k < 4; ++k) {
      float want = std::fma(t[k].a, t[k].b, t[k].c);
      bool same = std::isnan(want)
                      ? std::isnan(got[k])
                      : std::bit_cast<uint32_t>(want) == std::bit_cast<uint32_t>(got[k]);
      count += !same;
    }
  }
  return count;
}

constexpr int kMany = 400'000;

TEST(PortableFma, FloatsAreRoundedOnce) {
  find_fma_instruction();
  for (FmaOfFloats fma : {FmaOfFloats{fma_by_arithmetic}, FmaOfFloats{portable_fma}}) {
    EXPECT_EQ(differences(fma, near_middle, kMany), 0);
    EXPECT_EQ(differences(fma, small, kMany), 0);
    EXPECT_EQ(differences(fma, cancelling, kMany), 0);
    EXPECT_EQ(differences(fma, any, kMany), 0);
  }
}

/// The sum in double, rounded twice, is what the odd rounding is there to prevent.
Floats rounded_twice(Floats a, Floats b, Floats c) {
  Floats r;
  for (int i = 0; i < 4; ++i) r[i] = static_cast<float>(double{a[i]} * b[i] + c[i]);
  return r;
}
TEST(PortableFma, TheseFloatsTellOneRoundingFromTwo) {
  EXPECT_GT(differences(rounded_twice, near_middle, kMany), kMany / 10);
  EXPECT_GT(differences(rounded_twice, small, kMany), 0);
}

TEST(PortableFma, DoublesAreRoundedOnce) {
  find_fma_instruction();
  std::mt19937_64 rng(7);
  for (int i = 0; i < kMany; ++i) {
    double x[6];
    for (double& v : x) v = std::bit_cast<double>(rng());
    if (i % 2 == 0) x[4] = -(x[0] * x[2]);
    for (FmaOfDoubles fma : {FmaOfDoubles{fma_by_arithmetic}, FmaOfDoubles{portable_fma}}) {
      Doubles a = {x[0], x[1]}, b = {x[2], x[3]}, c = {x[4], x[5]}, got = fma(a, b, c);
      for (int k = 0; k < 2; ++k) {
        double want = std::fma(x[k], x[2 + k], x[4 + k]);
        EXPECT_TRUE(want == got[k] || (std::isnan(want) && std::isnan(got[k])));
      }
    }
  }
}

}  // namespace
}  // namespace lathe
