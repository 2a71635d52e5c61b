// Mutation, once: every x.op_(...), x[...] = v, out= and buffer update is `assign`, for the eager
// tape, for traces and for scripts alike.
//
// A view remembers its base and the steps from it (view_path.h). After a write through any of them,
// the others are stale in *history* (eager: the bytes are shared, so data is never stale); a stale
// view replays its steps on the base's new value when it is next used (refresh()).
#pragma once

#include "core/tensor/tensor.h"

namespace lathe {

/// dst[...] = value, with broadcasting and a cast to dst's dtype. AliasError if dst overlaps
/// itself; AutogradError for a leaf that requires grad while grad is on. Returns dst.
Tensor assign(Tensor dst, const Tensor& value);

/// `value` in dst's dtype, as a write takes it: DTypeError for a complex value where dst is real.
Tensor cast_for(const Tensor& dst, const Tensor& value);

/// May two elements of one tensor share an address? Then writing through it has no defined meaning.
bool overlaps_itself(const Tensor& t);

/// Throws what assign() would for this destination, whatever the value.
void require_assignable(const Tensor& dst);

/// May dst's elements be overwritten without assign(): a host tensor, no view, with nobody who has
/// to be told (a tape, an observer, another backend)? Then call storage->written().
bool may_overwrite(const Tensor& dst);

}  // namespace lathe
