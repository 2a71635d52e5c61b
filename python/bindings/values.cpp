#include "python/bindings/values.h"

#include <nanobind/stl/string.h>

#include <array>

#include "core/base/error.h"
#include "core/scalar/element.h"
#include "core/sizes/symexpr.h"
#include "python/bindings/real.h"
#include "python/bindings/tensor.h"

namespace lathe::py {

PyTypeObject* dtype_type = nullptr;

namespace {

constinit std::array<PyObject*, kDTypeCodes> dtypes{};

DType dtype_of(PyObject* o) { return reinterpret_cast<DTypeObject*>(o)->dtype; }

PyObject* dtype_repr(PyObject* self) {
  return guarded([&] { return text(std::string("lathe.") + std::string(name(dtype_of(self)))); });
}
/// A text: copy and pickle then take the object of that name in lathe.
PyObject* dtype_reduce(PyObject* self, PyObject*) { return text(name(dtype_of(self))); }
PyObject* dtype_name(PyObject* self, void*) { return text(name(dtype_of(self))); }
PyObject* dtype_itemsize(PyObject* self, void*) {
  return PyLong_FromSize_t(size_of(dtype_of(self)));
}
PyObject* dtype_floating(PyObject* self, void*) {
  return PyBool_FromLong(is_floating(dtype_of(self)));
}
PyObject* dtype_complex(PyObject* self, void*) {
  return PyBool_FromLong(is_complex(dtype_of(self)));
}
PyObject* dtype_signed(PyObject* self, void*) { return PyBool_FromLong(is_signed(dtype_of(self))); }

PyObject* dtype_real(PyObject* self, PyObject*) {
  return new_ref(dtype_object(real_type(dtype_of(self))));
}

PyObject* dtype_to_complex(PyObject* self, PyObject*) {
  return guarded([&] {
    const DType d = dtype_of(self);
    if (is_floating(d) || is_complex(d)) return new_ref(dtype_object(complex_type(d)));
    throw TypeError({.op = "to_complex",
                     .problem = "there is no complex dtype with such parts",
                     .got = std::string(name(d)),
                     .expected = "a floating dtype",
                     .next = "choose one: lathe.float32.to_complex()"});
  });
}

PyMethodDef dtype_methods[] = {
    {"__reduce__", dtype_reduce, METH_NOARGS, nullptr},
    {"to_complex", dtype_to_complex, METH_NOARGS,
     "The complex dtype with parts of this floating one, at least of "
     "float32."},
    {"to_real", dtype_real, METH_NOARGS, "The dtype of a complex one's parts; a real one itself."},
    {nullptr, nullptr, 0, nullptr}};
PyGetSetDef dtype_attributes[] = {
    {"name", dtype_name, nullptr, "As users write it: 'float32'.", nullptr},
    {"itemsize", dtype_itemsize, nullptr, "Bytes of one element.", nullptr},
    {"is_floating_point", dtype_floating, nullptr, "True for float16, bfloat16, float32, float64.",
     nullptr},
    {"is_complex", dtype_complex, nullptr, "True for complex64 and complex128.", nullptr},
    {"is_signed", dtype_signed, nullptr, "True where there are negative numbers.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

void add_dtypes(nb::module_& m) {
  PyType_Slot slots[] = {
      {Py_tp_repr, reinterpret_cast<void*>(dtype_repr)},
      {Py_tp_methods, dtype_methods},
      {Py_tp_getset, dtype_attributes},
      {Py_tp_doc, const_cast<char*>("The type of a tensor's elements.")},
      {0, nullptr},
  };
  PyType_Spec spec{"lathe.dtype", sizeof(DTypeObject), 0,
                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  dtype_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)));
  m.attr("dtype") = nb::handle(reinterpret_cast<PyObject*>(dtype_type));
  for (int code = 0; code < kDTypeCodes; ++code) {
    auto d = static_cast<DType>(code);
    if (!info(d).tensor) continue;
    auto* o = PyObject_New(DTypeObject, dtype_type);
    if (o == nullptr) throw nb::python_error();
    o->dtype = d;
    dtypes[static_cast<size_t>(code)] = &o->ob_base;
    m.attr(std::string(name(d)).c_str()) = nb::handle(&o->ob_base);
  }
}

void add_device(nb::module_& m) {
  nb::class_<Device> c(m, "device", "Where a tensor lives: device('cpu'), device('sim').");
  c.def(
      "__init__",
      [](Device* self, nb::handle type, nb::handle index) {
        // Written as the text that names both, which is where it is checked.
        nb::object what = nb::borrow(type);
        if (!index.is_none()) what = nb::str("{}:{}").format(type, index);
        new (self) Device(to_device(what.ptr()));
      },
      nb::arg("type"), nb::arg("index") = nb::none());
  c.def_prop_ro("type", [](Device d) {
    std::string all = to_string(d);
    return all.substr(0, all.find(':'));
  });
  c.def_prop_ro("index", [](Device d) { return d.index; });
  c.def("__str__", [](Device d) { return to_string(d); });
  c.def("__repr__", [](Device d) {
    const std::string all = to_string(d), kind = all.substr(0, all.find(':'));
    return kind == all ? absl::StrCat("device(type='", kind, "')")
                       : absl::StrCat("device(type='", kind, "', index=", d.index, ")");
  });
  c.def("__eq__", [](Device a, nb::handle b) {
    return (is_device(b.ptr()) || PyUnicode_Check(b.ptr())) && a == to_device(b.ptr());
  });
  c.def("__hash__", [](Device d) { return static_cast<int>(d.kind) * 256 + d.index; });
  c.def("__reduce__", [c](Device d) { return nb::make_tuple(c, nb::make_tuple(to_string(d))); });
  // `with device:` makes it the default, as set_default_device() does: the cpu, which stays it.
  c.def("__enter__", [](nb::object self) {
    nb::module_::import_("lathe").attr("set_default_device")(self);
    return self;
  });
  c.def("__exit__", [](Device, nb::args) {});
}

}  // namespace

PyObject* dtype_object(DType dtype) { return dtypes[static_cast<size_t>(dtype)]; }

PyObject* element_object(DType d, const std::byte* at) {
  if (d == DType::bool_) return new_ref(element_int(d, at) != 0 ? Py_True : Py_False);
  if (is_complex(d)) return PyComplex_FromDoubles(element_double(d, at), element_imaginary(d, at));
  if (is_floating(d)) return PyFloat_FromDouble(element_double(d, at));
  if (d == DType::u64) return PyLong_FromUnsignedLongLong(element_bits(d, at));
  return PyLong_FromLongLong(element_int(d, at));
}

bool read_dtype(PyObject* o, DType& out) {
  if (is_dtype(o)) {
    out = dtype_of(o);
  } else if (PyUnicode_Check(o)) {
    std::string_view s = text_of(o);
    if (s.substr(0, 6) == "lathe.") s.remove_prefix(6);
    if (!parse_dtype(s, out) || !info(out).tensor)
      throw ValueError({.op = "dtype",
                        .problem = "there is no such dtype",
                        .got = std::string(s),
                        .expected = "a name like 'float32' or 'int64'",
                        .next = "lathe.float32 and its like are the dtypes"});
  } else if (o == reinterpret_cast<PyObject*>(&PyFloat_Type)) {
    out = DType::f64;  // as NumPy and PyTorch read it
  } else if (o == reinterpret_cast<PyObject*>(&PyLong_Type)) {
    out = DType::i64;
  } else if (o == reinterpret_cast<PyObject*>(&PyBool_Type)) {
    out = DType::bool_;
  } else if (o == reinterpret_cast<PyObject*>(&PyComplex_Type)) {
    out = DType::c128;
  } else {
    return false;
  }
  return true;
}

DType to_dtype(PyObject* o) {
  DType d;
  if (read_dtype(o, d)) return d;
  throw TypeError({.problem = "a dtype expected",
                   .got = Py_TYPE(o)->tp_name,
                   .expected = "lathe.float32, 'float32', ..."});
}

PyObject* device_object(Device device) { return nb::cast(device).release().ptr(); }
bool is_device(PyObject* o) { return nb::isinstance<Device>(o); }

Device to_device(PyObject* o) {
  if (PyUnicode_Check(o)) return parse_device(text_of(o));
  if (is_device(o)) return *nb::inst_ptr<Device>(o);
  throw TypeError({.problem = "a device expected",
                   .got = Py_TYPE(o)->tp_name,
                   .expected = "a text like 'cpu', or a lathe.device"});
}

PyObject* from_shape(IntSpan shape) {
  nb::object tuple = owned(PyTuple_New(static_cast<Py_ssize_t>(shape.size())));
  for (size_t i = 0; i < shape.size(); ++i)
    PyTuple_SET_ITEM(tuple.ptr(), static_cast<Py_ssize_t>(i), checked(from_int(shape[i])));
  return tuple.release().ptr();
}

Shape to_shape(PyObject* o) {
  if (is_int(o)) return {to_int(o)};
  if (!has_items(o))
    throw TypeError({.op = "size",
                     .problem = "a sequence of integers expected",
                     .got = Py_TYPE(o)->tp_name,
                     .expected = "an integer, or a list or tuple of integers",
                     .next = "make a list of it first: list(...)"});
  Items items(o);
  Shape shape;
  for (Py_ssize_t i = 0; i < items.size(); ++i) shape.push_back(to_int(items.at(i).ptr()));
  return shape;
}

Items::Items(PyObject* sequence) : sequence_(sequence), size_(PySequence_Size(sequence)) {
  checked(static_cast<int>(size_ < 0 ? -1 : 0));
}

nb::object Items::at(Py_ssize_t i) const {
  if (PyTuple_CheckExact(sequence_)) return nb::borrow(PyTuple_GET_ITEM(sequence_, i));
  PyObject* item = PySequence_GetItem(sequence_, i);
  if (item == nullptr && PyErr_ExceptionMatches(PyExc_NotImplementedError) != 0) {
    PyErr_Clear();  // a memoryview of several axes has a length, and no items
    throw TypeError({.problem = "a sequence that does not give its items",
                     .got = Py_TYPE(sequence_)->tp_name,
                     .expected = "a list or a tuple",
                     .next = "make a list of it first: x.tolist()"});
  }
  return owned(item);
}

bool has_items(PyObject* o) {
  if (PyList_CheckExact(o) || PyTuple_CheckExact(o)) return true;
  if (PySequence_Check(o) == 0) return false;
  if (PySequence_Size(o) >= 0) return true;
  PyErr_Clear();
  return false;
}

void add_values(nb::module_& m) {
  add_dtypes(m);
  m.def("_to_dtype", [](nb::handle d) { return nb::borrow(dtype_object(to_dtype(d.ptr()))); });
  m.def(
      "promote_types",
      [](nb::handle a, nb::handle b) {
        return nb::borrow(dtype_object(promote(to_dtype(a.ptr()), to_dtype(b.ptr()))));
      },
      nb::arg("type1"), nb::arg("type2"),
      "The least dtype that both can be converted to. DTypeError where there is none.");
  add_symint(m);
  add_real(m);
  add_device(m);
}

}  // namespace lathe::py
