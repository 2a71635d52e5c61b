// philox4x32-10, the counter-based generator behind every random definition (Salmon, Moraes, Dror,
// Shaw, "Parallel Random Numbers: As Easy as 1, 2, 3", 2011). Written once, for any W that behaves
// as a 32-bit word: a plain integer, a strip's lanes, or a value of generated code. W offers
// W(uint32_t), * (low half), + and ^, all wrapping, and `mulhi(W, W)` found by its namespace.
//
// A stream is addressed, never stepped: the word an element gets depends on the seed, on which
// random call this is, and on the element's logical index; so eager, traced and threaded runs draw
// the same numbers.
#pragma once

#include <array>
#include <cstdint>

namespace lathe {

inline uint32_t mulhi(uint32_t a, uint32_t b) {
  return static_cast<uint32_t>((static_cast<uint64_t>(a) * b) >> 32);
}

template <class W>
struct PhiloxKey {
  W low, high;  // of the seed
};

template <class W>
std::array<W, 4> philox4x32_10(std::array<W, 4> counter, PhiloxKey<W> key) {
  const W m0(0xD2511F53u), m1(0xCD9E8D57u);
  const W w0(0x9E3779B9u), w1(0xBB67AE85u);
  for (int round = 0; round < 10; ++round) {
    if (round > 0) {
      key.low = key.low + w0;
      key.high = key.high + w1;
    }
    const W high0 = mulhi(m0, counter[0]), low0 = m0 * counter[0];
    const W high1 = mulhi(m1, counter[2]), low1 = m1 * counter[2];
    counter = {high1 ^ counter[1] ^ key.low, low1, high0 ^ counter[3] ^ key.high, low0};
  }
  return counter;
}

/// Where Prim::random finds its word k: element in the first two words, random call in the last
/// two, and in the top eight bits of the fourth which block of four words (a call index stays below
/// 2^56).
inline constexpr int kPhiloxBlockShift = 24;

template <class W>
std::array<W, 4> philox_counter(W linear_low, W linear_high, W call_low, W call_high,
                                uint32_t block) {
  return {linear_low, linear_high, call_low, call_high ^ W(block << kPhiloxBlockShift)};
}

/// Word k (0 <= k < 1024) of the element with this row-major logical index.
inline uint32_t philox_word(uint64_t seed, uint64_t call, uint64_t linear, uint32_t k) {
  const auto low = [](uint64_t x) { return static_cast<uint32_t>(x); };
  const auto high = [](uint64_t x) { return static_cast<uint32_t>(x >> 32); };
  return philox4x32_10<uint32_t>(
      philox_counter<uint32_t>(low(linear), high(linear), low(call), high(call), k / 4),
      {low(seed), high(seed)})[k % 4];
}

}  // namespace lathe
