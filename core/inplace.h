// Mutation, once: every x.op_(...), x[...] = v, out= and buffer update is `assign`, for the eager
// tape, for traces and for scripts alike.
//
// A view remembers its base and the steps from it. After a write through any of them, the others
// are stale in *history* (eager: the bytes are shared, so data is never stale); a stale view
// replays its steps on the base's new value when it is next used.
#pragma once

#include "core/dispatch.h"

namespace lathe {

struct ViewStep {
  const Op* op;  // a view row
  ArgVec args;   // its arguments; the tensor slot is None
};
struct ViewOf {
  Tensor base;  // never itself a view
  absl::InlinedVector<ViewStep, 2> path;
  uint32_t version;  // the base's TensorImpl::version this view is right for
};

/// Makes `out`, a fresh result of view row `op` on `x`, remember where it comes from.
void remember_view(Tensor& out, const Tensor& x, const Op& op, Args args);

/// dst[...] = value, with broadcasting and a cast to dst's dtype. AliasError if dst overlaps
/// itself; AutogradError for a leaf that requires grad while grad is on. Returns dst.
Tensor assign(Tensor dst, const Tensor& value);

/// `value` in dst's dtype, as a write takes it: DTypeError for a complex value where dst is real.
Tensor cast_for(const Tensor& dst, const Tensor& value);

/// Throws what assign() would for this destination, whatever the value.
void require_assignable(const Tensor& dst);

/// May dst's elements be overwritten without assign(): a host tensor, no view, with nobody who has
/// to be told (a tape, an observer, another backend)? Then call storage->written().
bool may_overwrite(const Tensor& dst);

/// x.op_(...): assign(x, op(x, ...)), computed in place where nothing can tell.
Tensor call_inplace(const Op& op, Args args);

/// Brings a view up to date with its base, by replaying its steps, if a write made it stale.
void refresh(const Tensor& x);

/// The base's new value after `value` is written through `path`.
Tensor put_through(const Tensor& base, absl::Span<const ViewStep> path, const Tensor& value);
/// Runs the steps again.
Tensor replay(const Tensor& base, absl::Span<const ViewStep> path);

}  // namespace lathe
