#include "jit/program/packed.h"

#include <absl/strings/str_cat.h>

#include "core/op/op.h"
#include "jit/program/steps.h"

namespace lathe::jit {

std::string packed_name(const Step& step, size_t operand) {
  const Geometry& lies = step.operands[operand];
  std::string name = absl::StrCat(step.node->op()->name(), " ", operand, " of b", step.in[operand],
                                  " from ", to_string(step.shifts[operand]), " ",
                                  to_string(lies.shape), " ", to_string(lies.strides));
  const Args args = step.node->attrs();
  for (const Arg& arg : args) absl::StrAppend(&name, ", ", to_string(arg));
  return name;
}

PackedRef PackedOperands::find(const Step& step, size_t operand, const PreparedCall& call,
                               const std::byte* data) {
  if (call.entry->pack == nullptr) return nullptr;
  const std::pair key{packed_name(step, operand), call.entry};
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
