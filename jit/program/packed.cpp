#include "jit/program/packed.h"

namespace lathe::jit {

PackedRef PackedOperands::find(const std::string& name, size_t operand, const PreparedCall& call,
                               const std::byte* data) {
  if (call.entry->pack == nullptr) return nullptr;
  const std::pair key{name, call.entry};
  PackedRef before;
  {
    std::lock_guard hold(mutex_);
    if (const auto known = known_.find(key); known != known_.end()) before = known->second;
  }
  PackedRef now =
      call.entry->pack(*call.entry, *call.plan, static_cast<int>(operand), data, before);
  if (now == nullptr || now == before) return now;
  std::lock_guard hold(mutex_);
  known_[key] = now;
  return now;
}

}  // namespace lathe::jit
