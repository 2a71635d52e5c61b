#include "core/dispatch/replay.h"

#include "core/dispatch/backend.h"
#include "core/dispatch/call.h"

namespace lathe {
namespace {

absl::InlinedVector<Arg, 8> with_input(const ViewStep& step, const Tensor& x) {
  Args kept = step.args.view();
  absl::InlinedVector<Arg, 8> args(kept.begin(), kept.end());
  args[0] = Arg(x);
  return args;
}

}  // namespace

Tensor alias(const Tensor& t) {
  auto* impl = new TensorImpl;
  const TensorImpl* from = t.impl();
  impl->dtype = from->dtype;
  impl->device = from->device;
  impl->geometry = from->geometry;
  impl->storage = from->storage;
  impl->symbol = from->symbol;
  impl->refuses_writes = from->refuses_writes;
  impl->version = from->version;  // a trace asks whether the tensor was written to since
  return Tensor(impl);
}

Tensor replay(const Tensor& base, absl::Span<const ViewStep* const> path) {
  Tensor x = base;
  for (const ViewStep* step : path) {
    auto args = with_input(*step, x);
    x = call(*step->op, absl::MakeConstSpan(args))[0];
  }
  return x;
}

Tensor put_through(const Tensor& base, absl::Span<const ViewStep* const> path,
                   const Tensor& value) {
  if (path.empty()) return value;
  Tensors parents{base};
  for (const ViewStep* step : path.subspan(0, path.size() - 1))
    parents.push_back(replay(parents.back(), absl::MakeConstSpan(&step, 1)));
  Tensor v = value;
  for (size_t i = path.size(); i-- > 0;) {
    auto args = with_input(*path[i], parents[i]);
    args.insert(args.begin() + 1, Arg(v));
    v = call(*path[i]->op->put, absl::MakeConstSpan(args))[0];
  }
  return v;
}

void refresh(const Tensor& x) {
  const ViewOf* view = x.impl()->view.get();
  if (view == nullptr || view->version == view->base.impl()->version) return;
  // Whoever reads it first: a reader without gradients must not leave the view without its history.
  const GradMode recorded(true);
  Tensor now = replay(view->base, steps_of(*view));
  TensorImpl* impl = x.impl();
  impl->autograd = now.impl()->autograd;
  impl->requires_grad = now.impl()->requires_grad;
  impl->symbol = now.impl()->symbol;
  if (impl->symbol.batched.defined()) {  // inside a vmap a write gives the base another layout
    impl->geometry = now.impl()->geometry;
    impl->storage = {};
  }
  impl->view->version = impl->view->base.impl()->version;
}

}  // namespace lathe
