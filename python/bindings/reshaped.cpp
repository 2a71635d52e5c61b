// Tensors that take another shape where they are: x.t_(), x.resize_(2, 3).
#include "python/bindings/reshaped.h"

#include <absl/strings/str_cat.h>

#include <cstring>

#include "autodiff/tape.h"
#include "core/base/error.h"
#include "core/dispatch/assign.h"
#include "core/dispatch/call.h"
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

/// t becomes what `view_of` gives for it, a view of the same memory. With a history, other views of
/// t would go on to take it for what they are views of.
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
