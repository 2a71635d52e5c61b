// Numbers of the file format, for writer and reader.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace lathe::ir::file {

static_assert(std::endian::native == std::endian::little,
              "weights are used where they lie in the file");

inline constexpr std::string_view kMagic{"LATHE\r\n\x1a", 8};
inline constexpr uint32_t kVersion = 1;
inline constexpr size_t kHeader = 32, kHashAt = 24, kEntry = 40, kAlign = 64, kTensor = 64;
inline constexpr uint32_t kMostRank = 5;

enum Section : uint32_t { program = 1, tensors = 2, weight = 3, note = 4 };

inline uint64_t aligned(uint64_t n) { return (n + kAlign - 1) / kAlign * kAlign; }

template <class T>
void put(std::string& out, T v) {
  out.append(reinterpret_cast<const char*>(&v), sizeof v);
}
template <class T>
T get(std::string_view bytes, size_t at) {
  T v;
  std::memcpy(&v, bytes.data() + at, sizeof v);
  return v;
}

}  // namespace lathe::ir::file
