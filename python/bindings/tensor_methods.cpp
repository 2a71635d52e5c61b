// Methods of lathe.Tensor that are no ops: they ask for sizes or data, or change where a tensor is.
#include <absl/strings/str_cat.h>

#include "autodiff/tape.h"
#include "core/base/error.h"
#include "core/dispatch/assign.h"
#include "core/dispatch/call.h"
#include "core/dispatch/fn.h"
#include "core/ops/families.h"
#include "include/lathe/ops/math.h"
#include "kernels/runtime/pool.h"
#include "python/bindings/arguments.h"
#include "python/bindings/build.h"
#include "python/bindings/constants.h"
#include "python/bindings/jit.h"
#include "python/bindings/keywords.h"
#include "python/bindings/tensor.h"
#include "python/bindings/values.h"

namespace lathe::py {
namespace {

using M = math_ops<Tensor>;
using Items = PyObject* const*;

/// The one argument of size() and stride(), or null.
PyObject* axis_argument(const char* method, Items args, Py_ssize_t count, PyObject* names) {
  auto [dim] = bind_arguments<1>(method, {"dim"}, 1, args, count, names);
  return dim == Py_None ? nullptr : dim;
}

PyObject* size(PyObject* self, Items args, Py_ssize_t count, PyObject* names) {
  return guarded([&]() -> PyObject* {
    PyObject* dim = axis_argument("size", args, count, names);
    Tensor t = tensor_of(self);
    if (dim == nullptr) return from_shape(t.shape());
    return from_int(t.size(size_axis("size", to_int(dim).value(), t.rank())));
  });
}
PyObject* dim(PyObject* self, PyObject*) { return PyLong_FromLong(impl_of(self)->geometry.rank()); }
PyObject* numel_of(PyObject* self, PyObject*) {
  return guarded([&] { return from_int(tensor_of(self).numel()); });
}
PyObject* stride(PyObject* self, Items args, Py_ssize_t count, PyObject* names) {
  return guarded([&] {
    PyObject* dim = axis_argument("stride", args, count, names);
    Tensor t = tensor_of(self);
    if (dim == nullptr) return from_shape(t.geometry().strides);
    int axis = size_axis("stride", to_int(dim).value(), t.rank());
    return from_int(t.geometry().strides[static_cast<size_t>(axis)]);
  });
}
PyObject* storage_offset(PyObject* self, PyObject*) {
  return guarded([&] { return from_int(impl_of(self)->geometry.offset); });
}
PyObject* is_contiguous(PyObject* self, Items args, Py_ssize_t count, PyObject* names) {
  return guarded([&] {
    auto [format] = bind_arguments<1>("is_contiguous", {"memory_format"}, 0, args, count, names);
    const Geometry& g = impl_of(self)->geometry;
    const auto order =
        format_order("is_contiguous", memory_format_name("is_contiguous", format), g.rank());
    const bool yes = order.empty() ? g.is_contiguous() : g.permute(order).is_contiguous();
    return new_ref(yes ? Py_True : Py_False);
  });
}
PyObject* data_ptr(PyObject* self, PyObject*) {
  return guarded([&] {
    reading(tensor_of(self), "data_ptr");
    return PyLong_FromVoidPtr(tensor_of(self).address());
  });
}
PyObject* element_size(PyObject* self, PyObject*) {
  return PyLong_FromSize_t(size_of(impl_of(self)->dtype));
}

PyObject* item(PyObject* self, PyObject*) {
  return guarded([&] {
    reading(tensor_of(self), "item");
    alignas(16) std::byte room[16];
    tensor_of(self).item_bytes(room);
    return element_object(impl_of(self)->dtype, room);
  });
}

PyObject* list_axis(const Tensor& t, const std::byte* at, int axis, Pace& pace) {
  if (axis == t.rank()) {
    pace.after(1);
    return element_object(t.dtype(), at);
  }
  int64_t size = t.shape()[static_cast<size_t>(axis)].value();
  int64_t step = t.geometry().strides[static_cast<size_t>(axis)].value() *
                 static_cast<int64_t>(size_of(t.dtype()));
  nb::object list = owned(PyList_New(size));
  for (int64_t i = 0; i < size; ++i)
    PyList_SET_ITEM(list.ptr(), i, checked(list_axis(t, at + i * step, axis + 1, pace)));
  return list.release().ptr();
}
PyObject* tolist(PyObject* self, PyObject*) {
  return guarded([&] {
    reading(tensor_of(self), "tolist");
    Tensor t = on_host(tensor_of(self));
    Pace pace;
    return list_axis(t, t.data(), 0, pace);
  });
}

PyObject* detached(PyObject* self, PyObject*) {
  return guarded([&] { return wrap(without_history(tensor_of(self))); });
}
PyObject* requires_grad_(PyObject* self, Items args, Py_ssize_t count, PyObject* names) {
  return guarded([&] {
    auto [on] = bind_arguments<1>("requires_grad_", {"requires_grad"}, 1, args, count, names);
    Tensor t = tensor_of(self);
    set_requires_grad(t, flag_or("requires_grad_", "requires_grad", on, true));
    return new_ref(self);
  });
}

/// x.to(dtype), x.to(device, dtype), x.to(tensor), each with non_blocking and copy behind, and the
/// same by name.
struct Target {
  std::optional<DType> dtype = {};
  std::optional<Device> device = {};
  PyObject* flags[2] = {};  // non_blocking, which changes nothing here, and copy
  int placed = 0;           // of these, by place
  std::string format = "preserve_format";

  void take(PyObject* o) {
    DType d;
    if (o == Py_None) return;
    if (is_tensor(o)) {
      dtype = impl_of(o)->dtype;
      device = impl_of(o)->device;
    } else if (is_device(o)) {
      device = py::to_device(o);
    } else if (PyUnicode_Check(o) && !parse_dtype(text_of(o), d)) {
      device = py::to_device(o);
    } else if (PyBool_Check(o) && placed < 2) {
      flags[placed++] = o;
    } else {
      dtype = to_dtype(o);
    }
  }
  void take(std::string_view name, PyObject* o) {
    if (name == "non_blocking" || name == "copy") {
      flags[name == "copy"] = o;
    } else if (name == "dtype" || name == "device" || name == "tensor" || name == "other") {
      take(o);
    } else if (name == "memory_format") {
      format = memory_format_name("to", o);
    } else {
      throw TypeError({.op = "to",
                       .problem = absl::StrCat("there is no parameter '", name, "'"),
                       .got = absl::StrCat("'", name, "'"),
                       .expected = "dtype, device, tensor, non_blocking, copy or memory_format",
                       .next = "help(lt.Tensor.to) shows the ways to call it"});
    }
  }
};

PyObject* to(PyObject* self, Items args, Py_ssize_t count, PyObject* names) {
  return guarded([&] {
    Target target;
    for (Py_ssize_t i = 0; i < count; ++i) target.take(args[i]);
    for (Py_ssize_t i = 0; names != nullptr && i < PyTuple_GET_SIZE(names); ++i)
      target.take(text_of(PyTuple_GET_ITEM(names, i)), args[count + i]);
    flag_or("to", "non_blocking", target.flags[0], false);
    const bool copy = flag_or("to", "copy", target.flags[1], false);
    Tensor t = tensor_of(self);
    if (target.dtype && *target.dtype != t.dtype()) t = M::cast(t, *target.dtype);
    if (target.device) t = py::to_device(t, *target.device);
    if (target.format != "preserve_format")
      t = in_format("to", t, Arg(target.format.c_str()), copy && t.impl() == impl_of(self));
    if (t.impl() != impl_of(self)) return wrap(std::move(t));
    return copy ? wrap(M::clone(t)) : new_ref(self);
  });
}

/// A NumPy array over the tensor's memory; forced, of its values, history or not.
PyObject* numpy(PyObject* self, Items args, Py_ssize_t count, PyObject* names) {
  return guarded([&] {
    auto [force] = bind_arguments<1>("numpy", {"force"}, 0, args, count, names);
    Tensor own = tensor_of(self);
    if (flag_or("numpy", "force", force, false)) own = without_history(own);
    Tensor t = on_host(own);
    nb::object same = t.impl() == impl_of(self) ? nb::borrow(self) : owned(wrap(t));
    nb::object view = owned(PyMemoryView_FromObject(same.ptr()));
    return nb::module_::import_("numpy").attr("asarray")(view).release().ptr();
  });
}

/// Writes a tensor or a number over this one.
PyObject* write_over(const char* method, PyObject* self, PyObject* from) {
  if (from == nullptr)
    throw TypeError({.op = method,
                     .problem = "the source is missing",
                     .got = "nothing",
                     .expected = "a tensor or a number",
                     .next = "pass what is to be copied"});
  Tensor t = tensor_of(self), kept;
  Arg value;
  if (!operand(from, value, kept))
    throw TypeError({.op = method,
                     .problem = "a tensor or a number expected",
                     .got = Py_TYPE(from)->tp_name,
                     .expected = "a tensor or a number",
                     .next = "make a tensor of it with lt.tensor()"});
  Tensor source =
      value.tag == Tag::tensor ? value.tensor() : number_tensor(value, t.dtype(), t.device());
  assign(t, py::to_device(source, t.device()));
  return new_ref(self);
}
PyObject* copy_(PyObject* self, Items args, Py_ssize_t count, PyObject* names) {
  return guarded([&] {
    auto [other, later] =
        bind_arguments<2>("copy_", {"other", "non_blocking"}, 2, args, count, names);
    flag_or("copy_", "non_blocking", later, false);  // every copy is in order: it changes nothing
    return write_over("copy_", self, other);
  });
}
PyObject* fill_(PyObject* self, Items args, Py_ssize_t count, PyObject* names) {
  return guarded([&] {
    auto [value] = bind_arguments<1>("fill_", {"value"}, 1, args, count, names);
    if (is_tensor(value) && tensor_of(value).rank() != 0)
      throw ShapeError({.op = "fill_",
                        .problem = "the value is more than one number",
                        .got = to_string(tensor_of(value).shape()),
                        .expected = "a number, or a tensor without axes",
                        .next = "use copy_() for a tensor of values"});
    return write_over("fill_", self, value);
  });
}
PyObject* zero_(PyObject* self, PyObject*) {
  return guarded([&] {
    Tensor t = tensor_of(self);
    assign(t, number_tensor(Arg(0), t.dtype(), t.device()));
    return new_ref(self);
  });
}

template <class F>
PyCFunction fast(F* f) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(f));
}
constexpr int kNamed = METH_FASTCALL | METH_KEYWORDS;

}  // namespace

// The first line of a text is the signature, for help() and the stubs.
PyMethodDef* tensor_methods() {
  static PyMethodDef methods[] = {
      {"size", fast(size), kNamed, "size(dim=None) -> Any\n\nAll sizes, or the one of an axis."},
      {"dim", dim, METH_NOARGS, "dim() -> int\n\nNumber of axes."},
      {"ndimension", dim, METH_NOARGS, "ndimension() -> int\n\nNumber of axes."},
      {"numel", numel_of, METH_NOARGS, "numel() -> int\n\nNumber of elements."},
      {"stride", fast(stride), kNamed,
       "stride(dim=None) -> Any\n\nSteps between neighbours along each axis, or one, in "
       "elements."},
      {"storage_offset", storage_offset, METH_NOARGS,
       "storage_offset() -> int\n\nWhere the first element is, in elements."},
      {"is_contiguous", fast(is_contiguous), kNamed,
       "is_contiguous(*, memory_format=None) -> bool\n\nWhether elements lie in row-major order."},
      {"data_ptr", data_ptr, METH_NOARGS, "data_ptr() -> int\n\nAddress of the first element."},
      {"element_size", element_size, METH_NOARGS, "element_size() -> int\n\nBytes of one element."},
      {"item", item, METH_NOARGS,
       "item() -> Any\n\nThe only element, as a Python number. ValueError if there is not one."},
      {"tolist", tolist, METH_NOARGS, "tolist() -> Any\n\nThe elements as nested lists."},
      {"detach", detached, METH_NOARGS, "detach() -> Tensor\n\nThe same elements without history."},
      {"requires_grad_", fast(requires_grad_), kNamed,
       "requires_grad_(requires_grad=True) -> Tensor\n\nRecords what is done with this leaf from "
       "now on."},
      {"to", fast(to), kNamed,
       "to(dtype, non_blocking=False, copy=False, *, memory_format=None) -> Tensor\n"
       "to(device=None, dtype=None, non_blocking=False, copy=False, *, memory_format=None) -> "
       "Tensor\n"
       "to(tensor, non_blocking=False, copy=False, *, memory_format=None) -> Tensor\n\n"
       "Converted to a dtype, moved to a device, or both, or like another tensor; itself if it is\n"
       "there already, unless a copy is asked for. non_blocking changes nothing."},
      {"numpy", fast(numpy), kNamed,
       "numpy(*, force=False) -> Any\n\nA NumPy array over the same memory (a copy from other "
       "devices).\n"
       "AutogradError if the tensor requires grad, unless forced; DTypeError for bfloat16."},
      {"copy_", fast(copy_), kNamed,
       "copy_(other, non_blocking=False) -> Tensor\n\nother's elements, broadcast and cast, in "
       "place."},
      {"fill_", fast(fill_), kNamed, "fill_(value) -> Tensor\n\nvalue everywhere, in place."},
      {"zero_", zero_, METH_NOARGS, "zero_() -> Tensor\n\nZeros, in place."},
      {nullptr, nullptr, 0, nullptr}};
  return methods;
}

}  // namespace lathe::py
