// Running the steps of a view again, on its base or on another tensor in its place.
#pragma once

#include "core/base/error.h"
#include "core/dispatch/fn.h"
#include "core/dispatch/view_path.h"
#include "include/lathe/ops/math.h"

namespace lathe {

/// The view that these steps show of `base`, by calls of their ops: traced, and seen by the tape.
Tensor replay(const Tensor& base, absl::Span<const ViewStep* const> path);

/// The same value, sharing storage or symbol, without history.
Tensor alias(const Tensor& t);

/// What each step of the path is taken on, from the base. One that a write replaces as a whole has
/// no history of its own there: its gradient would be zeros, added to all of the base.
Tensors parents_of(const Tensor& base, absl::Span<const ViewStep* const> path);

/// The base's new value after `value` is written through `path`.
Tensor put_through(const Tensor& base, absl::Span<const ViewStep* const> path, const Tensor& value);

/// Do the elements lie in row-major order? A symbolic tensor, which has no memory, counts as in
/// order.
inline bool in_rows(const Tensor& x) { return !x.impl()->storage || x.geometry().is_contiguous(); }

/// f(x), where some views name no order for the elements of an x that does not lie in rows: it is
/// given a copy then. What f refuses of a tensor in rows it refuses.
template <class F>
auto in_rows_if_refused(const Tensor& x, const F& f) {
  try {
    return f(x);
  } catch (const ShapeError&) {
    if (in_rows(x)) throw;
  }
  return f(math_ops<Tensor>::clone(x));
}

}  // namespace lathe
