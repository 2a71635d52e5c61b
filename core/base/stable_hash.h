// A 64-bit hash that is the same in every process, on every machine and in every release: for file
// names, cache keys and plan hashes. (absl::Hash is seeded per process, on purpose.) Not
// cryptographic.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace lathe {

class StableHash {
 public:
  explicit constexpr StableHash(uint64_t seed = 0) : state_(seed ^ 0x9e3779b97f4a7c15u) {}

  StableHash& add(uint64_t word) {
    state_ = mix(state_ ^ mix(word + 0x9e3779b97f4a7c15u)) + 0x632be59bd9b4e019u;
    return *this;
  }
  /// The length counts, so that ("ab", "c") and ("a", "bc") differ.
  StableHash& add(std::string_view text) {
    add(text.size());
    for (size_t i = 0; i < text.size(); i += 8) {
      uint64_t word = 0;  // little-endian, whatever the machine
      for (size_t k = 0; k < 8 && i + k < text.size(); ++k)
        word |= static_cast<uint64_t>(static_cast<unsigned char>(text[i + k])) << (8 * k);
      add(word);
    }
    return *this;
  }
  uint64_t value() const { return mix(state_); }

 private:
  /// The finaliser of SplitMix64 (Stafford's variant 13).
  static constexpr uint64_t mix(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
  }
  uint64_t state_;
};

}  // namespace lathe
