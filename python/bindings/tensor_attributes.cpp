// Properties of lathe.Tensor.
#include <algorithm>
#include <numeric>

#include "autodiff/tape.h"
#include "core/base/error.h"
#include "core/dispatch/assign.h"
#include "core/dispatch/call.h"
#include "core/dispatch/fn.h"
#include "core/infer/rules.h"
#include "graph/trace/tracer.h"
#include "include/lathe/ops/math.h"
#include "include/lathe/ops/shape.h"
#include "python/bindings/autograd.h"
#include "python/bindings/build.h"
#include "python/bindings/constants.h"
#include "python/bindings/jit.h"
#include "python/bindings/tensor.h"
#include "python/bindings/values.h"

namespace lathe::py {
namespace {

using S = shape_ops<Tensor>;

PyObject* shape(PyObject* self, void*) {
  return guarded([&] { return from_shape(impl_of(self)->geometry.shape); });
}
PyObject* dtype(PyObject* self, void*) { return new_ref(dtype_object(impl_of(self)->dtype)); }
PyObject* device(PyObject* self, void*) {
  return guarded([&] { return device_object(impl_of(self)->device); });
}
PyObject* ndim(PyObject* self, void*) { return PyLong_FromLong(impl_of(self)->geometry.rank()); }
PyObject* itemsize(PyObject* self, void*) {
  return PyLong_FromSize_t(size_of(impl_of(self)->dtype));
}
PyObject* nbytes(PyObject* self, void*) {
  return guarded([&] {
    Tensor t = tensor_of(self);
    return from_int(t.numel() * Int(size_of(t.dtype())));
  });
}

PyObject* requires_grad(PyObject* self, void*) {
  return guarded([&] {
    Tensor t = tensor_of(self);
    if (t.impl()->view) refresh(t);
    return new_ref(t.requires_grad() ? Py_True : Py_False);
  });
}
int put_requires_grad(PyObject* self, PyObject* value, void*) {
  return guarded_int([&] {
    int on = value == nullptr ? 0 : PyObject_IsTrue(value);
    checked(on);
    Tensor t = tensor_of(self);
    set_requires_grad(t, on == 1);
    return 0;
  });
}

PyObject* grad(PyObject* self, void*) {
  return guarded([&] {
    TapeMeta* m = meta(tensor_of(self));
    return wrap(m == nullptr ? Tensor() : m->grad.get());
  });
}
int put_grad(PyObject* self, PyObject* value, void*) {
  return guarded_int([&] {
    Tensor t = tensor_of(self);
    if (value == nullptr || value == Py_None) {
      if (TapeMeta* m = meta(t)) m->grad.set(Tensor());
      return 0;
    }
    if (!is_tensor(value))
      throw TypeError({.op = "grad",
                       .problem = "a gradient is a tensor or None",
                       .got = Py_TYPE(value)->tp_name});
    Tensor g = tensor_of(value);
    if (!require_equal(g.shape(), t.shape()))
      throw ShapeError({.op = "grad",
                        .problem = "the gradient has another shape than the tensor",
                        .got = lathe::to_string(g.shape()),
                        .expected = lathe::to_string(t.shape())});
    if (g.dtype() != t.dtype() || g.device() != t.device())
      throw TypeError({.op = "grad",
                       .problem = "the gradient has another dtype or device than the tensor",
                       .got = lathe::to_string(type_of(g)),
                       .expected = lathe::to_string(type_of(t)),
                       .next = "convert it with .to()"});
    meta_or_new(t).grad.set(g);
    return 0;
  });
}

PyObject* data(PyObject* self, void*) {
  return guarded([&] { return wrap(without_history(tensor_of(self))); });
}
/// x.data = y: x has y's memory from then on, whatever its own history; what shared the old one
/// keeps that. In a trace, where only values are known, see Tracer::renew().
int put_data(PyObject* self, PyObject* value, void*) {
  return guarded_int([&] {
    if (value == nullptr || !is_tensor(value))
      throw TypeError({.op = "data",
                       .problem = "a tensor expected",
                       .got = value == nullptr ? "nothing" : Py_TYPE(value)->tp_name});
    Tensor t = tensor_of(self), v = tensor_of(value);
    if (t.impl() == v.impl()) return 0;
    if (ir::Tracer* tracer = ir::Tracer::current(); tracer != nullptr && !is_constant(t)) {
      tracer->renew(t, v);
      return 0;
    }
    const GradMode off(false);
    if (t.symbolic() || v.symbolic())
      assign(t, v);
    else
      take_memory(t, overlaps_itself(v) ? math_ops<Tensor>::clone(v) : v);
    return 0;
  });
}

PyObject* transposed(PyObject* self, void*) {
  return guarded([&] {
    Tensor t = tensor_of(self);
    Shape dims;
    for (int i = t.rank(); i-- > 0;) dims.push_back(Int(i));
    return wrap(S::permute(t, dims));
  });
}
PyObject* matrix_transposed(PyObject* self, void*) {
  return guarded([&] { return wrap(S::transpose(tensor_of(self), -2, -1)); });
}

PyObject* adjoint(const Tensor& t) {
  Tensor out = S::adjoint(t);
  out.impl()->refuses_writes |= is_complex(t.dtype());
  return wrap(std::move(out));
}
PyObject* conjugate_transposed(PyObject* self, void*) {
  return guarded([&] { return adjoint(tensor_of(self)); });
}
PyObject* hermitian(PyObject* self, void*) {
  return guarded([&] {
    Tensor t = tensor_of(self);
    if (t.rank() == 0 || t.rank() == 2) return adjoint(t);
    throw ShapeError({.op = "H",
                      .problem = "this is for a matrix",
                      .got = to_string(type_of(t)),
                      .expected = "2 axes",
                      .next = "use mH for a batch of matrices"});
  });
}

PyObject* is_leaf(PyObject* self, void*) {
  return guarded([&] {
    Tensor t = tensor_of(self);
    if (t.impl()->view) refresh(t);
    TapeMeta* m = meta(t);
    bool leaf = !t.requires_grad() || m == nullptr || m->is_leaf;
    return new_ref(leaf ? Py_True : Py_False);
  });
}
PyObject* retains_grad(PyObject* self, void*) {
  return guarded([&] {
    Tensor t = tensor_of(self);
    TapeMeta* m = meta(t);
    return new_ref(m != nullptr && m->retain ? Py_True : Py_False);
  });
}
PyObject* grad_fn(PyObject* self, void*) {
  return guarded([&] { return grad_fn_of(tensor_of(self)).release().ptr(); });
}
PyObject* version(PyObject* self, void*) {
  return PyLong_FromUnsignedLong(tensor_of(self).version());
}

// A text begins with the attribute's type, for the stubs.
PyGetSetDef attributes[] = {
    {"shape", shape, nullptr, "tuple[int, ...]: Sizes, as a tuple; SymInts under a trace.",
     nullptr},
    {"dtype", dtype, nullptr, "dtype: The elements' type.", nullptr},
    {"device", device, nullptr, "device: Where the elements are.", nullptr},
    {"ndim", ndim, nullptr, "int: Number of axes.", nullptr},
    {"itemsize", itemsize, nullptr, "int: Bytes of one element.", nullptr},
    {"nbytes", nbytes, nullptr, "int: Bytes of all elements.", nullptr},
    {"requires_grad", requires_grad, put_requires_grad,
     "bool: Whether operations on this tensor are recorded. Only leaves can be set.", nullptr},
    {"grad", grad, put_grad,
     "Tensor | None: The gradient that backward() has added up here, or None.", nullptr},
    {"data", data, put_data, "Tensor: The same elements without history.", nullptr},
    {"T", transposed, nullptr, "Tensor: All axes in reverse order; a view.", nullptr},
    {"mT", matrix_transposed, nullptr, "Tensor: The last two axes exchanged; a view.", nullptr},
    {"mH", conjugate_transposed, nullptr,
     "Tensor: The last two axes exchanged and each element conjugated; a view if it is real.",
     nullptr},
    {"H", hermitian, nullptr, "Tensor: The conjugate transpose of a matrix; a view if it is real.",
     nullptr},
    {"is_leaf", is_leaf, nullptr, "bool: True for tensors that no recorded operation made.",
     nullptr},
    {"retains_grad", retains_grad, nullptr,
     "bool: Whether retain_grad() keeps the gradient of this computed tensor.", nullptr},
    {"grad_fn", grad_fn, nullptr, "Any: The recorded operation that made this tensor, or None.",
     nullptr},
    {"_version", version, nullptr, "int: How often the elements were written to.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

}  // namespace

void take_memory(const Tensor& t, const Tensor& v) {
  TensorImpl& impl = *t.impl();
  impl.storage = v.impl()->storage;
  impl.geometry = v.geometry();
  impl.dtype = v.dtype();
  impl.device = v.device();
  impl.view.reset();
  impl.refuses_writes = false;
  impl.renewed = ++impl.version;
  note_layout_change();
}

PyGetSetDef* tensor_attributes() { return attributes; }

}  // namespace lathe::py
