// Operands of contractions in the form that an entry packs them into: those that never change are
// packed once for all calls, those that several steps read alike once a run.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <mutex>
#include <string>
#include <utility>

#include "core/tensor/tensor.h"
#include "kernels/table/prepared.h"

namespace lathe::jit {

/// Packed once for all sizes and threads.
class PackedOperands {
 public:
  /// Operand `operand` of a call, which stays as it is from call to call and has this name; it is
  /// `seen` of `whole`. Null: the entry has no better form for it, and the plain elements are
  /// there. `alone`: nothing else of the program reads `whole` (held_packed.h).
  PackedRef find(const std::string& name, size_t operand, const PreparedCall& call,
                 const Tensor& whole, const lathe::Operand& seen, bool alone);

 private:
  std::mutex mutex_;
  absl::flat_hash_map<std::pair<std::string, const Entry*>, PackedRef> known_;
};

/// Is this the larger operand, and would the call without a packed form of it make one itself, each
/// time? False also where the form takes more than a run should keep.
bool packs_each_time(const PreparedCall& call, size_t operand);

/// What several steps of a run share: packed by the first of them.
class SharedOperand {
 public:
  /// Null: the entry has no better form for it.
  const Packed* get(const PreparedCall& call, size_t operand, const std::byte* data);

 private:
  const Entry* entry_ = nullptr;
  PackedRef form_;
};

}  // namespace lathe::jit
