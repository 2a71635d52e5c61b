// Tensors that take another shape where they are: x.t_(), x.resize_(2, 3).
#include "python/bindings/reshaped.h"

#include <absl/strings/str_cat.h>

#include <cstring>

#include "autodiff/tape.h"
#include "core/base/error.h"
#include "core/dispatch/assign.h"
#include "core/dispatch/call.h"
#include "core/dispatch/leaf.h"
#include "core/dispatch/view_path.h"
#include "python/bindings/tensor.h"
#include "python/bindings/values.h"

namespace lathe::py {
namespace {

void require_eager(const char* op, const Tensor& t, const char* next) {
  if (t.symbolic())
    throw TraceError({.op = op,
                      .problem = "a trace cannot give a tensor another shape",
                      .got = to_string(type_of(t)),
                      .expected = "a tensor that is not traced",
                      .next = next});
}

/// What `t` was until now, under another identity: `t` becomes a view of it.
Tensor former(const Tensor& t) {
  auto* impl = new TensorImpl;
  Tensor base(impl);
  impl->dtype = t.dtype();
  impl->device = t.device();
  impl->requires_grad = t.impl()->requires_grad;
  impl->version = t.impl()->version;
  impl->geometry = t.geometry();
  impl->storage = t.impl()->storage;
  impl->autograd = t.impl()->autograd;
  return base;
}

/// A leaf that is to be trained takes another shape without grad mode, its gradient with it, and
/// stays a leaf.
void become_as_leaf(const char* op, const Tensor& t, const nb::callable& view_of) {
  if (t.impl()->view)
    throw AutogradError({.op = op,
                         .problem = "a leaf that is a view of another tensor keeps its shape",
                         .got = to_string(type_of(t)),
                         .expected = "a leaf with memory of its own",
                         .next = "clone() it before it is to be trained"});
  Tensor base = detach(t);
  Tensor seen = nb::cast<Tensor>(view_of(base));
  if (same(seen, base)) return;
  auto& grad = meta_or_new(t).grad;
  if (Tensor dy = grad.get(); dy.defined()) grad.set(nb::cast<Tensor>(view_of(detach(dy))));
  t.impl()->geometry = seen.geometry();
  note_layout_change();
}

/// t becomes what `view_of` gives for it, a view of the same memory. With a history, other views of
/// t would go on to take it for what they are views of. A history goes on without grad mode, too:
/// the elements are the same.
void become(const char* op, const Tensor& t, const nb::callable& view_of) {
  require_eager(op, t, "use the form without the underscore and its result");
  if (thread_state().grad_enabled) require_assignable(t);
  const bool shared = t.impl()->storage->refs.load() > 1 && !t.impl()->view;
  if (shared && t.requires_grad())
    throw AutogradError({.op = op,
                         .problem = "another tensor is a view of this one, whose history would be "
                                    "that of another shape",
                         .got = to_string(type_of(t)),
                         .expected = "a tensor without views",
                         .next = "use the form without the underscore and its result"});
  if (t.requires_grad() && is_leaf(t)) return become_as_leaf(op, t, view_of);
  const GradMode tracked(thread_state().grad_enabled || t.requires_grad());
  Tensor base = t.impl()->view ? t : former(t);
  Tensor seen = nb::cast<Tensor>(view_of(base));
  if (same(seen, t) || same(seen, base)) return;
  if (seen.impl()->storage.get() != t.impl()->storage.get() || !seen.impl()->view)
    throw InternalError({.op = op, .problem = "not a view of the tensor"});
  TensorImpl& to = *t.impl();
  TensorImpl& from = *seen.impl();
  to.geometry = from.geometry;
  to.autograd = from.autograd;
  to.requires_grad = from.requires_grad;
  to.view = std::move(from.view);
  note_layout_change();
}

/// The first elements stay, in the order of the memory; new ones are zeros.
void resize(const Tensor& t, const Shape& shape) {
  require_eager("resize_", t, "use reshape(), or pad() for more elements");
  if (t.requires_grad())
    throw AutogradError({.op = "resize_",
                         .problem = "a tensor that requires grad cannot be resized",
                         .got = to_string(type_of(t)),
                         .expected = "a tensor without grad",
                         .next = "use reshape(), or detach() first"});
  for (Int size : shape)
    if (size < Int(0))
      throw ValueError({.op = "resize_",
                        .problem = "a negative size",
                        .got = to_string(shape),
                        .expected = "sizes of 0 or more",
                        .next = "check how the size was computed"});
  TensorImpl& impl = *t.impl();
  if (identical(impl.geometry.shape, shape)) return;
  const size_t item = size_of(t.dtype());
  const auto begin = static_cast<size_t>(impl.geometry.offset.value());
  const size_t needed = (begin + static_cast<size_t>(numel(shape).value())) * item;
  if (needed > impl.storage->bytes) {
    if (impl.view)
      throw ValueError(
          {.op = "resize_",
           .problem = "a view cannot grow beyond the memory it shows",
           .got = absl::StrCat(to_string(shape), " of ", impl.storage->bytes, " bytes"),
           .expected = absl::StrCat("at most ", impl.storage->bytes / item - begin, " elements"),
           .next = "clone() it first"});
    StorageRef grown = new_storage(t.device(), needed);
    Tensor old =
        make_tensor(impl.storage, DType::u8, Geometry::contiguous({Int(impl.storage->bytes)}));
    Tensor all = make_tensor(grown, DType::u8, Geometry::contiguous({Int(needed)}));
    std::memset(all.mutable_data(), 0, needed);
    std::memcpy(all.mutable_data(), old.data(), impl.storage->bytes);
    impl.storage = grown;
  }
  const Int offset = impl.geometry.offset;
  impl.geometry = Geometry::contiguous(shape);
  impl.geometry.offset = offset;
  impl.view.reset();
  note_layout_change();
}

}  // namespace

void add_reshaped(nb::module_& m) {
  m.def("_become", [](const char* op, const Tensor& t, const nb::callable& view_of) {
    become(op, t, view_of);
  });
  m.def("_resize", [](const Tensor& t, nb::handle shape) { resize(t, to_shape(shape.ptr())); });
}

}  // namespace lathe::py
