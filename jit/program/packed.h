// Operands of contractions that never change, in the form that an entry packs them into.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <mutex>
#include <string>
#include <utility>

#include "kernels/table/prepared.h"

namespace lathe::jit {

struct Step;

/// Which of a program's own values operand k of a contraction is, and as what its op reads it:
/// steps of one name are given the same packed form (each step of an unrolled recurrent network).
std::string packed_name(const Step& step, size_t operand);

/// Packed once for all sizes and threads.
class PackedOperands {
 public:
  /// Of an operand that stays as it is from call to call. Null: the entry has no better form for
  /// it.
  PackedRef find(const Step& step, size_t operand, const PreparedCall& call, const std::byte* data);

 private:
  std::mutex mutex_;
  absl::flat_hash_map<std::pair<std::string, const Entry*>, PackedRef> known_;
};

}  // namespace lathe::jit
