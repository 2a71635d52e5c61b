// Mutation, once: every x.op_(...), x[...] = v, out= and buffer update is `assign`, for the eager
// tape, for traces and for scripts alike.
//
// A view remembers its base and the steps from it. After a write through any of them, the others
// are stale in *history* (eager: the bytes are shared, so data is never stale); a stale view
// replays its steps on the base's new value when it is next used. Views of views share the steps
// they have in common, so a chain of n views holds n of them.
#pragma once

#include "core/dispatch/dispatch.h"

namespace lathe {

struct ViewStep {
  const Op* op;  // a view row
  ArgVec args;   // its arguments; the tensor slot is None
};
/// The last step of a view's way from its base, and those before it.
struct ViewPath {
  std::shared_ptr<const ViewPath> before;  // null: `step` is taken on the base
  ViewStep step;
  size_t length;  // steps in all
  bool overlaps;  // one of them may show an element twice

  ViewPath(std::shared_ptr<const ViewPath> path, ViewStep last);
  ~ViewPath();
  ViewPath(const ViewPath&) = delete;
};
struct ViewOf {
  Tensor base;  // never itself a view
  std::shared_ptr<const ViewPath> path;
  uint32_t version;  // the base's TensorImpl::version this view is right for
};
/// Steps in the order they are taken. Valid as long as what holds them.
using ViewSteps = absl::InlinedVector<const ViewStep*, 4>;
ViewSteps steps_of(const ViewOf& view);

/// Makes `out`, a fresh result of view row `op` on `x`, remember where it comes from.
void remember_view(Tensor& out, const Tensor& x, const Op& op, Args args);

/// dst[...] = value, with broadcasting and a cast to dst's dtype. AliasError if dst overlaps
/// itself; AutogradError for a leaf that requires grad while grad is on. Returns dst.
Tensor assign(Tensor dst, const Tensor& value);

/// `value` in dst's dtype, as a write takes it: DTypeError for a complex value where dst is real.
Tensor cast_for(const Tensor& dst, const Tensor& value);

/// May an element of one lie at the address of an element of the other? Compares the ranges of
/// addresses from first to last element, whatever storage they are reached by: NumPy's slices and
/// DLPack's tensors over one buffer come with a storage each. No: one has no elements, no data
/// (symbolic tensors), or they are on different devices.
bool may_share_memory(const TensorImpl& a, const TensorImpl& b);
inline bool may_share_memory(const Tensor& a, const Tensor& b) {
  return may_share_memory(*a.impl(), *b.impl());
}

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
Tensor put_through(const Tensor& base, absl::Span<const ViewStep* const> path, const Tensor& value);
/// Runs the steps again.
Tensor replay(const Tensor& base, absl::Span<const ViewStep* const> path);

}  // namespace lathe
