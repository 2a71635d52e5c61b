// A 64-bit hash that is the same in every process, on every machine and in every release: for file
// names, cache keys and plan hashes. (absl::Hash is seeded per process, on purpose.) Not
// cryptographic.
#pragma once

#include <bit>
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
    for (; text.size() >= 8; text.remove_prefix(8)) add(word_of(text.substr(0, 8)));
    if (!text.empty()) add(word_of(text));
    return *this;
  }
  uint64_t value() const { return mix(state_); }

 private:
  /// Little-endian, whatever the machine.
  static uint64_t word_of(std::string_view bytes) {
    if (std::endian::native == std::endian::little && bytes.size() == 8) {
      uint64_t word;
      std::memcpy(&word, bytes.data(), 8);
      return word;
    }
    uint64_t word = 0;
    for (size_t k = 0; k < bytes.size(); ++k)
      word |= static_cast<uint64_t>(static_cast<unsigned char>(bytes[k])) << (8 * k);
    return word;
  }
  /// The finaliser of SplitMix64 (Stafford's variant 13).
  static constexpr uint64_t mix(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
  }
  uint64_t state_;
};

}  // namespace lathe
