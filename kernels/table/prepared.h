// Contractions and reductions that this thread has prepared before: the entry and its plan, by all
// that they were worked out from.
#pragma once

#include <memory>

#include "kernels/table/table.h"

namespace lathe {

struct PreparedCall {
  const Entry* entry = nullptr;
  std::shared_ptr<const Prepared> plan;
};

/// For operands of these shapes and strides (data pointers are not looked at), those of
/// contractions in the dtype they meet in, and this call's attributes. A few dozen are kept a
/// thread; flags that change empty it.
PreparedCall prepared_call(const Call& call, absl::Span<const Operand> in, const Operand& out);

}  // namespace lathe
