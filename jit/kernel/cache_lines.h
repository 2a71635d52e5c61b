// Room in whole lines of a cache: what begins behind it is aligned, and shares no line with it.
#pragma once

#include <cstdint>

namespace lathe::jit {

inline constexpr int64_t kCacheLine = 64;

constexpr int64_t whole_lines(int64_t bytes) {
  return (bytes + kCacheLine - 1) / kCacheLine * kCacheLine;
}

}  // namespace lathe::jit
