#include "autodiff/ownership.h"

#include "autodiff/tape.h"
#include "core/dispatch/fn.h"
#include "include/lathe/ops/math.h"

namespace lathe {
namespace {

template <class Counted>
bool once(const Counted& counted) {
  return counted.refs.load(std::memory_order_acquire) == 1;
}

}  // namespace

Tensor own(Tensor dy) {
  const bool view = dy.impl()->view != nullptr;
  const bool handle = once(*dy.impl()) && !view && !dy.impl()->autograd;
  Tensor g = handle ? std::move(dy) : detach(dy);
  dy = Tensor();  // if nobody else holds its memory it is g's now
  if (g.symbolic() ? !view : once(*g.impl()->storage) && g.geometry().is_contiguous()) return g;
  GradMode off(false);
  return math_ops<Tensor>::clone(g);
}

bool is_own(const Tensor& sum) {
  const TensorImpl& t = *sum.impl();
  if (sum.symbolic()) return true;
  return once(t) && t.view == nullptr && !t.autograd && once(*t.storage) &&
         owns_memory(*t.storage) && t.geometry.is_contiguous();
}

bool is_turned_alike(const Tensor& sum, const Tensor& dy) {
  const TensorImpl &s = *sum.impl(), &d = *dy.impl();
  if (!s.view || !d.view || !once(s) || s.autograd ||
      !identical(s.geometry.strides, d.geometry.strides))
    return false;
  const TensorImpl &into = *s.view->base.impl(), &added = *d.view->base.impl();
  return once(into) && !into.autograd && into.storage->refs.load(std::memory_order_acquire) == 2 &&
         owns_memory(*into.storage) && into.geometry.is_contiguous() &&
         added.geometry.is_contiguous() && identical(into.geometry.shape, added.geometry.shape) &&
         identical(into.geometry.offset, s.geometry.offset) &&
         identical(added.geometry.offset, d.geometry.offset) &&
         numel(into.geometry.shape) == numel(s.geometry.shape);
}

}  // namespace lathe
