// Operands of contractions that never change, in the form that an entry packs them into.
#pragma once

#include <mutex>
#include <vector>

#include "kernels/table/prepared.h"

namespace lathe::jit {

struct Step;

/// Packed once for all sizes and threads.
class PackedOperands {
 public:
  /// Of an operand that stays as it is from call to call. Null: the entry has no better form for
  /// it.
  PackedRef find(const Step& step, size_t operand, const PreparedCall& call, const std::byte* data);

 private:
  struct Known {
    const Step* step;
    size_t operand;
    const Entry* entry;
    PackedRef packed;
  };
  std::mutex mutex_;
  std::vector<Known> known_;
};

}  // namespace lathe::jit
