// How a view comes from its base: the steps, in order. Views of views share the steps they have in
// common, so a chain of n views holds n of them.
#pragma once

#include "core/op/op.h"

namespace lathe {

struct ViewStep {
  const Op* op;  // a view definition
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
/// Steps in the order they are taken. Valid as long as what holds them.
using ViewSteps = absl::InlinedVector<const ViewStep*, 4>;
ViewSteps steps_of(const ViewOf& view);

/// Makes `out`, a fresh result of view definition `op` on `x`, remember where it comes from.
void remember_view(Tensor& out, const Tensor& x, const Op& op, Args args);

}  // namespace lathe
