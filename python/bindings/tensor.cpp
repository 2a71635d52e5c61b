#include "python/bindings/tensor.h"

#include <structmember.h>

#include "core/base/error.h"
#include "core/tensor/print.h"
#include "python/bindings/errors.h"
#include "python/bindings/print.h"

namespace lathe::py {

PyTypeObject* tensor_type = nullptr;

namespace {

// Objects of the exact type, kept for the next one: malloc and the type's own allocator would be a
// fifth of a small op.
constexpr int kSpare = 256;
constinit TensorObject* spare[kSpare];
constinit int spares = 0;
using Notice = void (*)();
constinit Notice first_tensor = nullptr;
constinit uint64_t changes_of_layout = 0, last_serial = 0;  // under Python's lock

void dealloc(PyObject* self) {
  auto* o = reinterpret_cast<TensorObject*>(self);
  if (o->weakrefs != nullptr) PyObject_ClearWeakRefs(self);
  { Tensor last(std::exchange(o->impl, nullptr)); }
  PyTypeObject* type = Py_TYPE(self);
  if (type == tensor_type && spares < kSpare)
    spare[spares++] = o;
  else
    type->tp_free(self);
  Py_DECREF(type);
}

PyObject* repr(PyObject* self) {
  return guarded([&] {
    Tensor t = tensor_of(self);
    reading(t, "repr");
    PrintOptions options = print_options();
    if (t.requires_grad()) options.suffixes.push_back(history_text(t));
    return text(print_tensor(t, options));
  });
}

Py_hash_t hash(PyObject* self) {
  if (!impl_of(self)->storage) {
    raise(TraceError({.op = "hash",
                      .problem = "a set or dict would find this tensor while tracing only",
                      .got = to_string(type_of(tensor_of(self))),
                      .next = "keep tensors in lists, or under names"}));
    return -1;
  }
  return static_cast<Py_hash_t>(reinterpret_cast<uintptr_t>(self) >> 4);  // by identity
}

PyMemberDef members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(TensorObject, weakrefs), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

constexpr const char* kDoc =
    "An n-dimensional array of one dtype on one device, with gradients where asked for.\n\n"
    "Made by lathe.tensor(data), lathe.zeros(2, 3), ...; every op whose first argument is a "
    "tensor\n"
    "is a method too, and elementwise ops have an in-place form with a trailing underscore.";

template <class F>
void* slot(F* f) {
  return reinterpret_cast<void*>(f);
}

}  // namespace

uint64_t layout_changes() { return changes_of_layout; }
void note_layout_change() { ++changes_of_layout; }

void before_first_tensor(void (*call)()) { first_tensor = call; }

PyObject* wrap_as(PyTypeObject* type, Tensor t) {
  if (!t.defined()) Py_RETURN_NONE;
  TensorObject* o;
  if (type == tensor_type) [[likely]] {
    if (spares > 0) {
      o = spare[--spares];
    } else {
      if (first_tensor != nullptr) std::exchange(first_tensor, nullptr)();
      o = static_cast<TensorObject*>(PyObject_Malloc(sizeof(TensorObject)));
      if (o == nullptr) return PyErr_NoMemory();
    }
    PyObject_Init(&o->ob_base, type);
  } else {
    o = reinterpret_cast<TensorObject*>(type->tp_alloc(type, 0));
    if (o == nullptr) return nullptr;
  }
  o->weakrefs = nullptr;
  o->impl = t.release();
  o->serial = ++last_serial;
  return &o->ob_base;
}

PyObject* wrap(Tensor t) { return wrap_as(tensor_type, std::move(t)); }

PyObject* wrap_list(absl::Span<const Tensor> ts) {
  nb::object list = owned(PyList_New(static_cast<Py_ssize_t>(ts.size())));
  for (size_t i = 0; i < ts.size(); ++i)
    PyList_SET_ITEM(list.ptr(), static_cast<Py_ssize_t>(i), checked(wrap(ts[i])));
  return list.release().ptr();
}

void add_tensor_type(nb::module_& m) {
  std::vector<PyType_Slot> slots = {
      {Py_tp_dealloc, slot(dealloc)},    {Py_tp_repr, slot(repr)},
      {Py_tp_hash, slot(hash)},          {Py_tp_doc, const_cast<char*>(kDoc)},
      {Py_tp_members, members},          {Py_tp_getset, tensor_attributes()},
      {Py_tp_methods, tensor_methods()},
  };
  append_new_slots(slots);
  append_number_slots(slots);
  append_index_slots(slots);
  append_buffer_slots(slots);
  slots.push_back({0, nullptr});
  PyType_Spec spec{"lathe.Tensor", sizeof(TensorObject), 0,
                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots.data()};
  tensor_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)));
  m.attr("_Tensor") = nb::handle(reinterpret_cast<PyObject*>(tensor_type));
}

}  // namespace lathe::py
