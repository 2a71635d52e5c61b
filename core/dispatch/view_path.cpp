#include "core/dispatch/view_path.h"

namespace lathe {

void remember_view(Tensor& out, const Tensor& x, const Op& op, Args args) {
  auto view = std::make_unique<ViewOf>();
  const ViewOf* from = x.impl()->view.get();
  view->base = from != nullptr ? from->base : x;
  absl::InlinedVector<Arg, 8> attrs(args.begin(), args.end());
  attrs[0] = Arg();
  view->path =
      std::make_shared<const ViewPath>(from != nullptr ? from->path : nullptr,
                                       ViewStep{&op, ArgVec(Args(attrs.data(), attrs.size()))});
  view->version = view->base.impl()->version;
  out.impl()->view = std::move(view);
}

ViewPath::ViewPath(std::shared_ptr<const ViewPath> path, ViewStep last)
    : before(std::move(path)),
      step(std::move(last)),
      length(before ? before->length + 1 : 1),
      overlaps(step.op->put == nullptr || (before && before->overlaps)) {}

// Without recursion: a chain may be longer than the stack is deep.
ViewPath::~ViewPath() {
  std::shared_ptr<const ViewPath> rest = std::move(before);
  while (rest && rest.use_count() == 1) {
    std::shared_ptr<const ViewPath> next = std::move(const_cast<ViewPath&>(*rest).before);
    rest = std::move(next);
  }
}

ViewSteps steps_of(const ViewOf& view) {
  ViewSteps steps(view.path->length);
  const ViewPath* p = view.path.get();
  for (size_t i = steps.size(); i-- > 0; p = p->before.get()) steps[i] = &p->step;
  return steps;
}

}  // namespace lathe
