// A stretch of elements along one axis, as bodies are run over it: by the SIMD interpreter, or by
// the reference.
#pragma once

#include <absl/types/span.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace lathe {

struct LineOperand {
  std::byte* data = nullptr;  // of the first element
  int64_t stride = 0;         // in elements, from one to the next
};

/// The failed `check` with the lowest logical index wins, whatever ran first.
struct CheckSlot {
  std::atomic<uint64_t> lowest{UINT64_MAX};  // index << 8 | code

  void failed(int64_t index, uint32_t code) {
    uint64_t mine = static_cast<uint64_t>(index) << 8 | code;
    uint64_t seen = lowest.load(std::memory_order_relaxed);
    while (mine < seen && !lowest.compare_exchange_weak(seen, mine, std::memory_order_relaxed)) {
    }
  }
};

/// What bodies may read besides their operands.
struct LineContext {
  uint64_t seed = 0, call = 0;  // of the random primitive
  int64_t linear = 0;  // row-major logical index of the first element; the next has one more
  absl::Span<const int64_t> index = {};  // its index by axis
  int axis = -1;                         // which of those grows along the line
  CheckSlot* checks = nullptr;
};

}  // namespace lathe
