// Opaque definitions of ours: each is an entry of its own in kernels/entries.cpp.
#pragma once

#include "core/dispatch/call.h"

namespace lathe::own {

/// (sorted, values, right): where each value would go into an ascending 1-d sequence.
void run_searchsorted(const Call& call, Outputs& outputs);

}  // namespace lathe::own
