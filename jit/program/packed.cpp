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

bool packs_each_time(const PreparedCall& call, size_t operand) {
  constexpr size_t kMost = size_t{16} << 20;
  const Entry& entry = *call.entry;
  if (entry.pack == nullptr || entry.room == nullptr) return false;
  const auto room = [&](bool first, bool second) {
    return entry.room(entry, *call.plan, {first, second});
  };
  const Room given = room(operand == 0, operand == 1);
  return given.kept > room(operand == 1, operand == 0).kept && given.kept <= kMost &&
         given.during < room(false, false).during;
}

const Packed* SharedOperand::get(const PreparedCall& call, size_t operand, const std::byte* data) {
  if (entry_ != call.entry) form_ = nullptr;
  entry_ = call.entry;
  form_ = entry_->pack(*entry_, *call.plan, static_cast<int>(operand), data, form_);
  return form_.get();
}

}  // namespace lathe::jit
