#include "core/dispatch/assign.h"

#include <absl/strings/str_cat.h>

#include "core/base/error.h"
#include "core/dispatch/call.h"
#include "core/dispatch/fn.h"
#include "core/dispatch/leaf.h"
#include "core/dispatch/view_path.h"
#include "core/sizes/symexpr.h"
#include "include/lathe/ops/math.h"
#include "include/lathe/ops/shape.h"

namespace lathe {

bool overlaps_itself(const Tensor& t) {
  const ViewOf* view = t.impl()->view.get();
  if (view != nullptr) return view->path->overlaps;
  if (t.symbolic()) return false;
  // Memory of another library, seen with strides of 0.
  const Geometry& g = t.geometry();
  if (numel(g.shape) == Int(0)) return false;  // strides of no elements mean nothing
  for (size_t i = 0; i < g.shape.size(); ++i)
    if (g.strides[i] == Int(0) && Int(1) < g.shape[i]) return true;
  return false;
}

namespace {

/// Are the sizes equal, and written alike by what is known of them? Asks what `expand` asks.
bool same_size(Int from, Int to) {
  if (identical(from, to)) return true;
  if (!(from == Int(1) ? to == Int(1) : require(Relation::eq, from, to))) return false;
  const SymScope* scope = SymScope::current();
  return scope == nullptr || identical(scope->simplify(from), scope->simplify(to));
}

/// `value` in dst's dtype and shape. Where no size changes there is no expand, whatever symbols
/// stand for the sizes: it would be one more step on a gradient's way, which then arrives in
/// another order than eagerly.
Tensor fitted(const Tensor& dst, const Tensor& value) {
  Tensor v = cast_for(dst, value);
  bool same = v.rank() == dst.rank();
  for (int i = 0; same && i < v.rank(); ++i) same = same_size(v.size(i), dst.size(i));
  return same ? v : shape_ops<Tensor>::expand(v, dst.shape());
}

}  // namespace

Tensor cast_for(const Tensor& dst, const Tensor& value) {
  if (value.dtype() == dst.dtype()) return value;
  if (is_complex(value.dtype()) && !is_complex(dst.dtype()))
    throw DTypeError({.op = "assign",
                      .problem = "a complex value is written into a tensor that is not",
                      .got = std::string(name(value.dtype())),
                      .expected = std::string(name(dst.dtype())),
                      .next = "write its real part: lathe.real(value)"});
  return math_ops<Tensor>::cast(value, dst.dtype());
}

void require_assignable(const Tensor& dst) {
  if (dst.impl()->view) refresh(dst);
  const TensorImpl& owner = dst.impl()->view ? *dst.impl()->view->base.impl() : *dst.impl();
  if (owner.refuses_writes)
    throw AliasError(
        {.op = "assign",
         .problem = "conj(), adjoint(), mH and H of a complex tensor are copies, so the "
                    "write would not reach the tensor itself",
         .got = to_string(type_of(dst)),
         .expected = "a tensor that is no conjugate of another",
         .next = "write the conjugate to the tensor itself, or write to conj_physical() "
                 "or a clone(), which are tensors of their own"});
  if (overlaps_itself(dst))
    throw AliasError({.op = "assign",
                      .problem = "the destination overlaps itself",
                      .got = absl::StrCat("a view of shape ", to_string(dst.shape()),
                                          " with strides ", to_string(dst.geometry().strides)),
                      .expected = "each element at an address of its own",
                      .next = "clone() the expanded tensor before writing to it"});
  bool leaf = is_leaf(dst);
  // A view that was made a leaf by the user, or a view of one: its base has no history, and would
  // take it over with the write.
  if (const ViewOf* view = dst.impl()->view.get())
    leaf |= is_leaf(view->base) || (dst.requires_grad() && !view->base.requires_grad());
  if (thread_state().grad_enabled && leaf)
    throw AutogradError({.op = "assign",
                         .problem = "a leaf that requires grad cannot be written in place",
                         .got = to_string(type_of(dst)),
                         .expected = "a tensor without grad, or one that was computed",
                         .next = "wrap the write in lt.no_grad(), or write to a clone()"});
  if (!thread_state().grad_enabled || !dst.impl()->view || !differentiable.has(dst.dtype())) return;
  if (dst.impl()->view->base.requires_grad() && !dst.requires_grad())
    throw AutogradError({.op = "assign",
                         .problem = "a view that was taken with gradients off is written to with "
                                    "gradients on",
                         .got = to_string(type_of(dst)),
                         .expected = "a view with the history of the tensor that it shows",
                         .next = "wrap the write in lt.no_grad(), or take the view outside of it"});
}

Tensor assign(Tensor dst, const Tensor& value) {
  Backend& backend = current_backend();
  require_assignable(dst);
  if (dst.impl() == value.impl()) return dst;  // its history would begin with itself
  if (value.impl()->view) refresh(value);
  if (value.device() != dst.device())
    throw DeviceError(
        {.op = "assign",
         .problem = "the value is on another device than what it is written to",
         .got = absl::StrCat(to_string(value.device()), " to ", to_string(dst.device())),
         .expected = "one device",
         .next = "move the value with .to(device)"});
  Tensor v = fitted(dst, value);
  // A value that reads what is being written must be read in full first.
  if (may_share_memory(dst, v) && !same(dst, v)) v = math_ops<Tensor>::clone(v);
  const bool recorded = thread_state().grad_enabled && tape() != nullptr &&
                        (dst.requires_grad() || v.requires_grad());
  // What is replaced as a whole by numbers stays in the history, with a gradient of zeros. Of a
  // view of what has a history the put says so.
  const ViewOf* view = dst.impl()->view.get();
  if (recorded && !v.requires_grad() && (view == nullptr || !view->base.requires_grad()))
    v = math_ops<Tensor>::filled(dst, v);
  backend.write(dst, v);
  if (recorded) tape()->wrote(dst, v);
  for (Observer* o = thread_state().observers; o != nullptr; o = o->next) o->wrote(dst, v);
  return dst;
}

bool may_overwrite(const Tensor& dst) {
  const ThreadState& state = thread_state();
  const TensorImpl* t = dst.impl();
  return state.backend == nullptr && state.observers == nullptr &&
         !(state.grad_enabled && t->requires_grad) && t->view == nullptr && !t->refuses_writes &&
         t->device.kind == DeviceKind::cpu && t->storage && !t->storage->ready;
}

}  // namespace lathe
