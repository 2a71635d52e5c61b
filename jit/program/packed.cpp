#include "jit/program/packed.h"

#include <algorithm>

namespace lathe::jit {

PackedRef PackedOperands::find(const Step& step, size_t operand, const PreparedCall& call,
                               const std::byte* data) {
  if (call.entry->pack == nullptr) return nullptr;
  auto known = [&] {
    return std::find_if(known_.begin(), known_.end(), [&](const Known& k) {
      return k.step == &step && k.operand == operand && k.entry == call.entry;
    });
  };
  PackedRef before;
  {
    std::lock_guard hold(mutex_);
    if (auto k = known(); k != known_.end()) before = k->packed;
  }
  PackedRef now =
      call.entry->pack(*call.entry, *call.plan, static_cast<int>(operand), data, before);
  if (now == nullptr || now == before) return now;
  std::lock_guard hold(mutex_);
  auto k = known();
  if (k == known_.end())
    known_.push_back({&step, operand, call.entry, now});
  else
    k->packed = now;
  return now;
}

}  // namespace lathe::jit
