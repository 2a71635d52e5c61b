#include "python/bindings/build.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/strip.h>

#include <cmath>

#include "autodiff/tape.h"
#include "core/base/error.h"
#include "core/dispatch/fn.h"
#include "core/infer/rules.h"
#include "core/scalar/element.h"
#include "include/lathe/ops/create.h"
#include "include/lathe/ops/math.h"
#include "include/lathe/ops/shape.h"
#include "kernels/runtime/pool.h"
#include "python/bindings/constants.h"
#include "python/bindings/real.h"
#include "python/bindings/values.h"

namespace lathe::py {
namespace {

constexpr int kMostAxes = 64;  // deeper is a list that contains itself
constexpr int64_t kMostElements = int64_t{1} << 40;

[[noreturn]] void no_number(PyObject* o) {
  throw TypeError({.op = "tensor",
                   .problem = "the data holds something that is no number",
                   .got = Py_TYPE(o)->tp_name,
                   .expected = "numbers, or sequences of numbers, nested to equal lengths",
                   .next = "convert the items to numbers first"});
}

void store_number(DType dtype, std::byte* at, PyObject* complex) {
  Py_complex c = PyComplex_AsCComplex(complex);
  if (PyErr_Occurred() != nullptr) throw nb::python_error();
  store_complex(dtype, at, c.real, c.imag);
}

bool is_scalar_tensor(PyObject* o) { return is_tensor(o) && impl_of(o)->geometry.rank() == 0; }

bool is_array(PyObject* o) {
  return !is_tensor(o) && !PyLong_Check(o) && !PyFloat_Check(o) &&
         std::string_view(Py_TYPE(o)->tp_name) == "numpy.ndarray";
}

/// A leaf as a Python number where it is an array without axes, which has the slots of all kinds of
/// numbers.
nb::object leaf_of(PyObject* o) {
  if (!is_array(o)) return nb::borrow(o);
  return owned(PyObject_CallMethod(o, "item", nullptr));
}

/// The dtype of NumPy's numbers, by the name of their type.
std::optional<DType> numpy_dtype(const char* type_name) {
  std::string_view text = type_name;
  DType found;
  if (!absl::ConsumePrefix(&text, "numpy.")) return std::nullopt;
  if (text == "bool_") return DType::bool_;  // before NumPy 2
  if (text == "longlong") return DType::i64;
  if (text == "ulonglong") return DType::u64;
  if (!parse_dtype(text, found) || name(found) != text) return std::nullopt;
  return found;
}

/// What a leaf is as data: Python's numbers are of no size, others keep theirs.
DType dtype_of_leaf(PyObject* o) {
  if (PyFloat_CheckExact(o)) return default_dtype();
  if (PyBool_Check(o)) return DType::bool_;
  if (PyLong_CheckExact(o)) return DType::i64;
  if (is_scalar_tensor(o)) return impl_of(o)->dtype;
  if (is_symbolic_real(o)) return is_numpy_float64(o) ? DType::f64 : default_dtype();
  if (is_array(o)) {
    nb::object type = nb::borrow(o).attr("dtype").attr("type");
    if (auto found = numpy_dtype(reinterpret_cast<PyTypeObject*>(type.ptr())->tp_name))
      return *found;
  } else if (auto found = numpy_dtype(Py_TYPE(o)->tp_name)) {
    return *found;
  }
  const nb::object number = leaf_of(o);
  o = number.ptr();
  if (PyFloat_Check(o)) return default_dtype();
  if (PyLong_Check(o)) return DType::i64;
  if (is_complex_number(o)) return complex_type(default_dtype());
  if (PyIndex_Check(o)) return DType::i64;
  if (PyNumber_Check(o)) return default_dtype();
  no_number(o);
}

bool is_sequence(PyObject* o) {
  if (PyList_Check(o) || PyTuple_Check(o)) return true;
  return !PyUnicode_Check(o) && !PyBytes_Check(o) && !is_scalar_tensor(o) && has_items(o);
}

/// Reads nested sequences twice: once for shape and dtype, once for the elements.
class NestedReader {
 public:
  void measure(PyObject* data) {
    // Along the first items for the shape, then over everything for the kind of number.
    nb::object at = nb::borrow(data);
    int64_t count = 1;
    while (is_sequence(at.ptr())) {
      if (shape_.size() >= kMostAxes)
        throw ValueError({.op = "tensor",
                          .problem = "the data is nested too deep, or contains itself",
                          .got = absl::StrCat("more than ", kMostAxes, " levels"),
                          .expected = absl::StrCat("at most ", kMostAxes, " levels"),
                          .next = "flatten the data, and reshape() the tensor"});
      Items items(at.ptr());
      shape_.push_back(Int(static_cast<int64_t>(items.size())));
      if (items.size() == 0) return;
      // A list that holds another one twice, and that one a third ..., has 2^n elements.
      if (__builtin_mul_overflow(count, items.size(), &count) || count > kMostElements)
        throw MemoryError({.op = "tensor",
                           .problem = "the data has more elements than memory could hold",
                           .got = absl::StrCat("the shape ", lathe::to_string(shape_), " or more"),
                           .expected = absl::StrCat("at most ", kMostElements, " elements"),
                           .next = "make the tensor in parts"});
      at = items.at(0);
    }
    look(data, 0);
  }

  DType natural_dtype() const { return natural_.value_or(default_dtype()); }

  /// Is there something among the leaves whose elements only a run of the program knows?
  bool symbolic() const { return symbolic_; }

  /// The elements joined by ops, each a tensor without history.
  Tensor join(PyObject* data, DType dtype) {
    dtype_ = dtype;
    std::vector<Tensor> leaves;
    gather(data, 0, leaves);
    GradMode off(false);
    return shape_ops<Tensor>::reshape(shape_ops<Tensor>::stack(leaves, Int(0)), shape_);
  }

  Tensor read(PyObject* data, DType dtype) {
    Tensor t = empty({dtype, shape_, {}});
    at_ = t.mutable_data();
    dtype_ = dtype;
    write(data, 0);
    return t;
  }

 private:
  void look(PyObject* o, size_t level) {
    if (level < shape_.size()) {
      if (!is_sequence(o)) ragged(o, level);
      Items items(o);
      if (items.size() != shape_[level].value()) ragged(o, level);
      for (Py_ssize_t i = 0; i < items.size(); ++i) look(items.at(i).ptr(), level + 1);
      return;
    }
    pace_.after(1);
    if (is_sequence(o)) ragged(o, level);
    const DType dtype = dtype_of_leaf(o);
    symbolic_ |= is_symbolic_leaf(o);
    natural_ = natural_ ? promote(*natural_, dtype) : dtype;
  }

  [[noreturn]] void ragged(PyObject* o, size_t level) const {
    throw ValueError(
        {.op = "tensor",
         .problem = absl::StrCat("the sequences at depth ", level, " differ in length"),
         .got = is_sequence(o) && level < shape_.size()
                    ? absl::StrCat(Items(o).size(), " items where ", to_string(shape_[level]),
                                   " were before")
                    : std::string(Py_TYPE(o)->tp_name),
         .expected = absl::StrCat("the shape of the first items, ", lathe::to_string(shape_)),
         .next = "pad the short ones, or make a tensor of each"});
  }

  static bool is_symbolic_leaf(PyObject* o) {
    if (is_scalar_tensor(o)) return tensor_of(o).symbolic();
    Real r;
    return is_symbolic_real(o) && read_real(o, r) && !r.known();
  }

  void gather(PyObject* o, size_t level, std::vector<Tensor>& leaves) {
    if (level < shape_.size()) {
      Items items(o);
      for (Py_ssize_t i = 0; i < items.size(); ++i) gather(items.at(i).ptr(), level + 1, leaves);
      return;
    }
    Real r;
    if (is_scalar_tensor(o)) {
      leaves.push_back(math_ops<Tensor>::cast(detach(tensor_of(o)), dtype_));
    } else if (is_symbolic_leaf(o) && read_real(o, r)) {
      leaves.push_back(number_tensor(Arg(r), dtype_, Device{}));
    } else {
      BuildOptions options;
      options.dtype = dtype_;
      leaves.push_back(build(o, options));
    }
  }

  void write(PyObject* o, size_t level) {
    if (level < shape_.size()) {
      // The list may have changed since it was measured: reading a number can run Python code.
      if (!is_sequence(o)) ragged(o, level);
      Items items(o);
      if (items.size() != shape_[level].value()) ragged(o, level);
      for (Py_ssize_t i = 0; i < items.size(); ++i) write(items.at(i).ptr(), level + 1);
      return;
    }
    pace_.after(1);
    if (is_tensor(o)) reading(tensor_of(o), "tensor");
    const nb::object number = leaf_of(o);
    o = number.ptr();
    if (PyFloat_CheckExact(o)) {
      put(PyFloat_AS_DOUBLE(o));
    } else if (is_scalar_tensor(o) && impl_of(o)->dtype != dtype_) {
      Tensor t = tensor_of(o);
      if (is_complex(t.dtype()) && is_complex(dtype_)) {
        alignas(16) std::byte room[16];
        t.item_bytes(room);
        store_complex(dtype_, at_, element_double(t.dtype(), room),
                      element_imaginary(t.dtype(), room));
      } else {
        is_floating(t.dtype()) ? put(t.item_double()) : put_integer(o);
      }
    } else if (is_scalar_tensor(o)) {
      tensor_of(o).item_bytes(at_);
    } else if (is_complex_number(o)) {
      put_complex(o);
    } else if (PyLong_Check(o) || PyIndex_Check(o)) {
      put_integer(o);
    } else {
      nb::object real = as_number(PyNumber_Float(o));
      if (!real.is_valid()) no_number(o);
      put(PyFloat_AS_DOUBLE(real.ptr()));
    }
    at_ += size_of(dtype_);
  }

  void put(double value) {
    require_in_range("tensor", dtype_, value);
    store_element(dtype_, at_, value);
  }
  void put_integer(PyObject* o) {
    nb::object number = as_number(PyNumber_Index(o));
    if (!number.is_valid()) no_number(o);
    int overflow = 0;
    long long value = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
    if (overflow > 0 && dtype_ == DType::u64) {
      unsigned long long wide = PyLong_AsUnsignedLongLong(number.ptr());
      if (PyErr_Occurred() == nullptr)
        return store_element(dtype_, at_, static_cast<int64_t>(wide));
      PyErr_Clear();
    }
    if (overflow != 0) {
      if (is_floating(dtype_) || is_complex(dtype_)) {
        double wide = PyLong_AsDouble(number.ptr());
        if (PyErr_Occurred() != nullptr) throw nb::python_error();
        return put(wide);
      }
      throw OverflowError({.op = "tensor",
                           .problem = absl::StrCat("an integer outside the range of ",
                                                   dtype_ == DType::u64 ? "uint64" : "int64"),
                           .got = std::string(text_of(owned(PyObject_Str(number.ptr())).ptr())),
                           .expected = dtype_ == DType::u64 ? "0 to 2^64 - 1" : "-2^63 to 2^63 - 1",
                           .next = "ask for dtype=lathe.float64"});
    }
    require_in_range("tensor", dtype_, static_cast<int64_t>(value));
    store_element(dtype_, at_, static_cast<int64_t>(value));
  }
  void put_complex(PyObject* o) {
    if (!is_complex(dtype_))
      throw TypeError({.op = "tensor",
                       .problem = "a complex number does not fit the dtype",
                       .got = std::string(name(dtype_)),
                       .expected = "a complex dtype",
                       .next = "ask for dtype=lathe.complex64"});
    store_number(dtype_, at_, o);
  }

  Shape shape_;
  std::optional<DType> natural_;  // of the leaves that were looked at
  bool symbolic_ = false;
  Pace pace_;
  DType dtype_ = DType::f32;
  std::byte* at_ = nullptr;
};

void require_unpinned(bool pin_memory) {
  if (pin_memory)
    throw UnsupportedError({.op = "tensor",
                            .problem = "there is no pinned memory: no device here reads it faster",
                            .got = "pin_memory=True",
                            .expected = "pin_memory=False",
                            .next = "leave the argument out"});
}

Tensor converted(Tensor t, const BuildOptions& options) {
  if (options.dtype && *options.dtype != t.dtype()) t = math_ops<Tensor>::cast(t, *options.dtype);
  return options.device ? to_device(t, *options.device) : t;
}

[[noreturn]] void no_legacy_data(std::string got, std::string expected) {
  throw TypeError({.op = "Tensor",
                   .problem = "a tensor cannot be made of this",
                   .got = std::move(got),
                   .expected = std::move(expected),
                   .next = "use lt.tensor(), which takes any data and a dtype"});
}

/// Of sizes, of a sequence or array, or of a tensor (which is shared): what PyTorch's constructors
/// make of their arguments. `dtype`: none means the default one, or that of a tensor.
Tensor legacy(PyObject* args, std::optional<DType> dtype) {
  const Py_ssize_t count = PyTuple_GET_SIZE(args);
  const DType made = dtype.value_or(default_dtype());
  Shape sizes;
  while (static_cast<Py_ssize_t>(sizes.size()) < count) {
    PyObject* o = PyTuple_GET_ITEM(args, static_cast<Py_ssize_t>(sizes.size()));
    if (!is_int(o)) break;
    sizes.push_back(to_int(o));
  }
  if (static_cast<Py_ssize_t>(sizes.size()) == count)
    return create_ops<Tensor>::zeros(count == 0 ? Shape{Int(0)} : sizes, made, Device{});
  if (count > 1) no_legacy_data(absl::StrCat(count, " arguments"), "sizes, or one sequence");
  PyObject* data = PyTuple_GET_ITEM(args, 0);
  if (is_tensor(data)) {
    if (dtype && impl_of(data)->dtype != *dtype)
      no_legacy_data(std::string(name(impl_of(data)->dtype)), std::string(name(*dtype)));
    return without_history(tensor_of(data));
  }
  if (!is_sequence(data) && !has_buffer(data))
    no_legacy_data(Py_TYPE(data)->tp_name, "sizes, or a sequence of numbers");
  BuildOptions options;
  options.dtype = made;
  return build(data, options);
}

/// Tensor(*sizes) and Tensor(data=[]): in the default dtype, as PyTorch's constructor.
/// lathe.tensor keeps the data's.
PyObject* make(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  return guarded([&]() -> PyObject* {
    nb::object given = nb::borrow(args);
    if (kwargs != nullptr) {
      static const char* names[] = {"data", nullptr};
      PyObject* data = nullptr;
      if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:Tensor", const_cast<char**>(names), &data))
        return nullptr;
      given = data == nullptr ? owned(PyTuple_New(0)) : owned(PyTuple_Pack(1, data));
    }
    Tensor t = legacy(given.ptr(), {});
    // The object is a new one, which may be of a class derived from Tensor.
    return wrap_as(type, std::move(t));
  });
}

}  // namespace

Tensor build(PyObject* data, const BuildOptions& options) {
  if (is_tensor(data)) {
    GradMode off(false);  // a copy of the values, without history
    Tensor t = converted(tensor_of(data), options);
    return t.impl() == impl_of(data) ? math_ops<Tensor>::clone(t) : t;
  }
  if (Tensor t = stand_in_tensor(data); t.defined())
    return converted(math_ops<Tensor>::clone(t), options);
  if (Real r; read_real(data, r) && !r.known())
    return number_tensor(Arg(r), options.dtype.value_or(dtype_of_leaf(data)),
                         options.device.value_or(Device{}));
  // NumPy's numbers are arrays too; for an integer dtype they are looked at as numbers are.
  bool number = options.dtype && is_integer(*options.dtype) && !PySequence_Check(data) &&
                PyNumber_Check(data);
  if (has_buffer(data) && !number) {
    Tensor t = copy_buffer(data);
    note_constant(t);
    return converted(t, options);
  }
  NestedReader reader;
  reader.measure(data);
  const DType dtype = options.dtype.value_or(reader.natural_dtype());
  if (reader.symbolic()) {
    Tensor joined = reader.join(data, dtype);
    return options.device ? to_device(joined, *options.device) : joined;
  }
  Tensor t = reader.read(data, dtype);
  note_constant(t);
  return options.device ? to_device(t, *options.device) : t;
}

bool is_complex_number(PyObject* o) {
  // NumPy's complex64 is none of Python's, and its __float__ drops a part.
  return PyComplex_Check(o) || std::string_view(Py_TYPE(o)->tp_name).starts_with("numpy.complex");
}

Tensor complex_tensor(PyObject* number) {
  alignas(16) std::byte element[16];
  store_number(DType::c128, element, number);
  Tensor t = from_host(element, DType::c128, {});
  note_constant(t);
  return t;
}

Tensor narrow_complex(const Tensor& wide) {
  alignas(16) std::byte from[16], to[8];
  wide.item_bytes(from);
  store_complex(DType::c64, to, element_double(DType::c128, from),
                element_imaginary(DType::c128, from));
  Tensor t = from_host(to, DType::c64, {});
  note_constant(t);
  return t;
}

Tensor number_tensor(const Arg& number, DType dtype, Device device) {
  require_in_range("assign", dtype, number);
  return create_ops<Tensor>::full(Shape{}, number, dtype, device);
}

Tensor to_device(const Tensor& t, Device device) {
  if (t.device() == device) return t;
  if (t.requires_grad() && thread_state().grad_enabled)
    throw AutogradError({.op = "to",
                         .problem = "a copy to another device has no derivative yet",
                         .got = absl::StrCat(to_string(type_of(t)), " to ", to_string(device)),
                         .next = "detach() it, and move parameters before the first step"});
  Tensor packed = shape_ops<Tensor>::contiguous(t);
  if (t.device().kind == DeviceKind::cpu)
    return from_host(packed.data(), t.dtype(), t.shape(), device);
  if (device.kind != DeviceKind::cpu) return to_device(to_device(t, Device{}), device);
  Tensor out = empty({t.dtype(), t.shape(), device});
  Stream& stream = current_stream(t.device());
  stream.wait(packed.impl()->storage->ready);
  stream.copy(out.mutable_data(), packed.address(), out.impl()->storage->bytes);
  stream.synchronize();
  return out;
}

Tensor on_host(const Tensor& t) {
  if (t.symbolic() || device_api(t.device()).facts().host_readable) return t;
  return to_device(detach(t), Device{});
}

void append_new_slots(std::vector<PyType_Slot>& slots) {
  slots.push_back({Py_tp_new, reinterpret_cast<void*>(make)});
}

void add_build(nb::module_& m) {
  m.def("_legacy_tensor",
        [](nb::handle dtype, nb::tuple args) { return legacy(args.ptr(), to_dtype(dtype.ptr())); });
  m.def(
      "tensor",
      [](nb::handle data, nb::handle dtype, nb::handle device, bool requires_grad,
         bool pin_memory) {
        require_unpinned(pin_memory);
        BuildOptions options;
        if (!dtype.is_none()) options.dtype = to_dtype(dtype.ptr());
        if (!device.is_none()) options.device = to_device(device.ptr());
        Tensor t = build(data.ptr(), options);
        if (requires_grad) set_requires_grad(t, true);
        return t;
      },
      nb::arg("data"), nb::kw_only(), nb::arg("dtype") = nb::none(), nb::arg("device") = nb::none(),
      nb::arg("requires_grad") = false, nb::arg("pin_memory") = false,
      "A copy of data: a number, nested sequences of numbers, a tensor, or whatever has the "
      "buffer\n"
      "protocol (a NumPy array keeps its dtype). Python floats take the default dtype, ints "
      "int64;\n"
      "NumPy's numbers and tensors in a sequence keep theirs, and the whole takes what holds all.\n"
      "ValueError for ragged sequences, TypeError for what is no number.");
  m.def(
      "from_numpy",
      [](nb::handle array) {
        Tensor t = stand_in_tensor(array.ptr());
        return t.defined() ? without_history(t) : share_buffer(array.ptr());
      },
      nb::arg("array"),
      "A tensor over the array's own memory: what one writes the other sees. The array must be\n"
      "writable and its strides not negative; lathe.tensor(array) copies any.");
}

}  // namespace lathe::py
