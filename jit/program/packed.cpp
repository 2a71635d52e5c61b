#include "jit/program/packed.h"

#include "jit/program/held_packed.h"

namespace lathe::jit {

PackedRef PackedOperands::find(const std::string& name, size_t operand, const PreparedCall& call,
                               const Tensor& whole, const lathe::Operand& seen, bool alone) {
  const Entry& entry = *call.entry;
  if (entry.pack == nullptr) {
    host_wait(whole.impl()->storage->ready);
    return nullptr;
  }
  const std::lock_guard hold(mutex_);
  PackedRef& known = known_[{name, &entry}];
  const int k = static_cast<int>(operand);
  if (PackedRef same = entry.pack(entry, *call.plan, k, nullptr, known)) return same;
  PackedRef made = packed_form(call, operand, whole, seen, alone);
  if (made != nullptr) known = made;
  return made;
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
