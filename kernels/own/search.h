// Opaque definitions of ours: each is an entry of its own in kernels/entries.cpp.
#pragma once

#include "core/dispatch/call.h"

namespace lathe::own {

/// (sorted, values, right): where each value would go into an ascending sequence, the only one or
/// that of its row.
void run_searchsorted(const Call& call, Outputs& outputs);
/// (x, ranks): where the elements lie that sorting the last axis would bring there.
void run_places_of_ranks(const Call& call, Outputs& outputs);
/// (windows, size, stride, dilation): windows added up where they lie.
void run_overlap_add(const Call& call, Outputs& outputs);
/// (x, shift, dim)
void run_rolled(const Call& call, Outputs& outputs);
/// (mask, size, fill): coordinates of the first `size` true elements; `fill` where there are fewer.
void run_true_positions(const Call& call, Outputs& outputs);
/// (count): so many False.
void run_sized_by(const Call& call, Outputs& outputs);
/// (a, relation, b): PresumptionError unless it holds.
void run_check_size(const Call& call, Outputs& outputs);

}  // namespace lathe::own
