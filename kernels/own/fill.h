// One value over a line.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

namespace lathe::own {

/// to[0 .. n) = value, 32 bytes at a time: plain loops are not made into vectors at -O2.
template <class T>
void fill(T* to, T value, int64_t n) {
  constexpr int64_t kLanes = 32 / sizeof(T);
  std::array<T, kLanes> block;
  block.fill(value);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) std::memcpy(to + i, block.data(), sizeof block);
  for (; i < n; ++i) to[i] = value;
}

}  // namespace lathe::own
