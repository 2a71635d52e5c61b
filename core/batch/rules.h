// How a call on one example becomes a call on all of them.
#pragma once

#include "core/batch/batch.h"

namespace lathe {

/// Runs the call for all examples, which lie along axis 0 of the results; to be called Below.
/// False, and nothing is done: there is no rule for these operands.
bool run_batched(const Batch& batch, const Call& call, Outputs& outputs);

}  // namespace lathe
