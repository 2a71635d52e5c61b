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

/// From which step on each shows all elements of what it is taken on.
static size_t last_selection(const Tensor& base, absl::Span<const ViewStep* const> path) {
  size_t from = 0;
  Geometry g = base.geometry();
  for (size_t i = 0; i < path.size(); ++i) {
    const auto args = with_input(*path[i], base);
    Geometry next = path[i]->op->geometry(g, absl::MakeConstSpan(args));
    if (!identical(numel(next.shape), numel(g.shape))) from = i + 1;
    g = std::move(next);
  }
  return from;
}

Tensors parents_of(const Tensor& base, absl::Span<const ViewStep* const> path) {
  Tensors parents{base};
  if (path.size() < 2) return parents;
  const size_t whole = last_selection(base, path);
  for (size_t i = 1; i < path.size(); ++i) {
    const GradMode mode(thread_state().grad_enabled && i < whole);
    parents.push_back(replay(parents.back(), path.subspan(i - 1, 1)));
  }
  return parents;
}

Tensor put_through(const Tensor& base, absl::Span<const ViewStep* const> path,
                   const Tensor& value) {
  if (path.empty()) return value;
  const Tensors parents = parents_of(base, path);
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
  if (view->version < view->base.impl()->renewed) return x.impl()->view.reset();
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
