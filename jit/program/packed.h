// Operands of contractions that never change, in the form that an entry packs them into.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <mutex>
#include <string>
#include <utility>

#include "kernels/table/prepared.h"

namespace lathe::jit {

/// Packed once for all sizes and threads.
class PackedOperands {
 public:
  /// Operand `operand` of a call, which stays as it is from call to call and has this name. Null:
  /// the entry has no better form for it.
  PackedRef find(const std::string& name, size_t operand, const PreparedCall& call,
                 const std::byte* data);

 private:
  std::mutex mutex_;
  absl::flat_hash_map<std::pair<std::string, const Entry*>, PackedRef> known_;
};

}  // namespace lathe::jit
