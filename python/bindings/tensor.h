// lathe.Tensor, the Python type. It is written by hand (PyType_FromSpec and slots) because a small
// op is worth 60 ns from Python to Python, and a binding layer's dispatch alone costs that.
//
// A TensorObject owns one TensorImpl and nothing else, so the type takes no part in garbage
// collection; a Python subclass (nn.Parameter) gets a __dict__ and collection from Python itself.
// The type's methods come from three places: the definitions (ops.cpp), tensor_methods.cpp for what
// needs data or autograd, and lathe/_tensor.py for conveniences made of other methods.
#pragma once

#include "core/tensor/tensor.h"
#include "python/bindings/python.h"

namespace lathe::py {

struct TensorObject {
  PyObject ob_base;
  TensorImpl* impl;  // owned, never null nor another
  PyObject* weakrefs;
  uint64_t serial;  // no other object has had it: addresses are used again
};

extern PyTypeObject* tensor_type;

inline bool is_tensor(PyObject* o) {
  return Py_TYPE(o) == tensor_type || PyType_IsSubtype(Py_TYPE(o), tensor_type);
}
/// Borrowed; `o` must be a tensor.
inline TensorImpl* impl_of(PyObject* o) { return reinterpret_cast<TensorObject*>(o)->impl; }
inline uint64_t serial_of(PyObject* o) { return reinterpret_cast<TensorObject*>(o)->serial; }
inline Tensor tensor_of(PyObject* o) { return Tensor::borrow(impl_of(o)); }

/// TraceError if a trace is under way: what is read would be part of the program, and no guard
/// could see it change. Before any look at a tensor's elements.
void reading(const Tensor& t, const char* op);
/// A new Python object; None for an undefined tensor.
PyObject* wrap(Tensor t);
/// The same for a given class, tensor_type or derived from it.
PyObject* wrap_as(PyTypeObject* type, Tensor t);
/// Makes the first tensor of the process call this before it is there.
void before_first_tensor(void (*call)());
/// A list of tensors.
PyObject* wrap_list(absl::Span<const Tensor> ts);
/// Makes `t` a tensor over the memory of `v`, of its dtype, shape and device; `t` is no view then.
void take_memory(const Tensor& t, const Tensor& v);
/// How often a tensor was given another memory, dtype, shape or strides: while it is the same, each
/// lies as it lay. Whoever does so says it.
uint64_t layout_changes();
void note_layout_change();

/// Makes the type; its slots, attributes and methods are collected from the files named here.
void add_tensor_type(nb::module_& m);
void append_new_slots(std::vector<PyType_Slot>& slots);     // build.cpp
void append_number_slots(std::vector<PyType_Slot>& slots);  // tensor_numbers.cpp
void append_index_slots(std::vector<PyType_Slot>& slots);   // tensor_index.cpp
void append_buffer_slots(std::vector<PyType_Slot>& slots);  // buffer.cpp
PyGetSetDef* tensor_attributes();                           // tensor_attributes.cpp
PyMethodDef* tensor_methods();                              // tensor_methods.cpp

}  // namespace lathe::py

namespace nanobind::detail {

/// Tensors as arguments and results of nanobind functions. None is an undefined tensor.
template <>
struct type_caster<lathe::Tensor> {
  NB_TYPE_CASTER(lathe::Tensor, const_name("lathe.Tensor"))

  bool from_python(handle src, uint8_t, cleanup_list*) noexcept {
    if (src.is_none()) {
      value = lathe::Tensor();
      return true;
    }
    if (!lathe::py::is_tensor(src.ptr())) return false;
    value = lathe::py::tensor_of(src.ptr());
    return true;
  }
  static handle from_cpp(const lathe::Tensor& t, rv_policy, cleanup_list*) noexcept {
    return lathe::py::wrap(t);
  }
};

}  // namespace nanobind::detail
