#include "python/bindings/real.h"

#include <string_view>

namespace lathe::py {
namespace {

nb::object number(const SymFloat& a) { return owned(PyFloat_FromDouble(a.here().value())); }

/// An operand that arithmetic on floats converts to one; false leaves it to the operand, as tensors
/// and sizes of the trace are.
bool operand(PyObject* o, SymFloat& out) {
  if (is_symbolic_real(o)) {
    out = *nb::inst_ptr<SymFloat>(o);
    return true;
  }
  double value = 0;
  if (PyFloat_Check(o)) {
    value = PyFloat_AS_DOUBLE(o);
  } else if (PyLong_Check(o)) {
    value = PyLong_AsDouble(o);  // OverflowError, as Python has it
    if (value == -1.0 && PyErr_Occurred() != nullptr) throw nb::python_error();
  } else {
    return false;
  }
  out = {value, value};
  out.numpy = is_numpy_float64(o);
  return true;
}

/// Comparisons with integers are exact in Python: only those that a double holds are converted.
bool comparable(PyObject* o, SymFloat& out) {
  if (PyLong_Check(o)) {
    constexpr long long kExact = 1LL << 53;
    int overflow = 0;
    long long v = PyLong_AsLongLongAndOverflow(o, &overflow);
    if (overflow != 0 || v > kExact || v < -kExact) return false;
  }
  return operand(o, out);
}

/// f of both, as an expression and at once: to evaluate each expression anew would take time
/// exponential in the steps of `r = r * r`.
template <class F, class... Operands>
nb::object made(F f, const Operands&... operands) {
  const Real value = f(operands.here()...);  // first: where it raises, a guard says why
  std::optional<double> now;
  if ((operands.now && ...)) now = f(Real(*operands.now)...).value();
  return owned(from_real(value, now, (operands.numpy || ...)));
}

nb::object as_here(const SymFloat& a) { return owned(from_real(a.here(), a.now, a.numpy)); }

Real quotient(Real a, Real b) {
  if (b == 0.0) {
    PyErr_SetString(PyExc_ZeroDivisionError, "float division by zero");
    throw nb::python_error();
  }
  return a / b;
}

template <class F>
auto arithmetic(F f, binaryfunc python) {
  return [f, python](const SymFloat& a, nb::handle b) -> nb::object {
    SymFloat other;
    if (operand(b.ptr(), other)) return made(f, a, other);
    if (PyComplex_Check(b.ptr())) return owned(python(number(a).ptr(), b.ptr()));
    return nb::borrow(Py_NotImplemented);
  };
}
template <class F>
auto reflected(F f, binaryfunc python) {
  return [f, python](const SymFloat& a, nb::handle b) -> nb::object {
    SymFloat other;
    if (operand(b.ptr(), other)) return made(f, other, a);
    if (PyComplex_Check(b.ptr())) return owned(python(b.ptr(), number(a).ptr()));
    return nb::borrow(Py_NotImplemented);
  };
}
/// What is no expression: Python's own, on the number.
auto of_numbers(binaryfunc python) {
  return
      [python](const SymFloat& a, nb::handle b) { return owned(python(number(a).ptr(), b.ptr())); };
}
auto of_numbers_reflected(binaryfunc python) {
  return
      [python](const SymFloat& a, nb::handle b) { return owned(python(b.ptr(), number(a).ptr())); };
}
auto method(const char* name) {
  return [name](const SymFloat& a, nb::args args) {
    nb::object f = owned(PyObject_GetAttrString(number(a).ptr(), name));
    return owned(PyObject_CallObject(f.ptr(), args.ptr()));
  };
}
PyObject* power(PyObject* a, PyObject* b) { return PyNumber_Power(a, b, Py_None); }

template <class F>
auto comparison(F f, int python) {
  return [f, python](const SymFloat& a, nb::handle b) -> nb::object {
    SymFloat other;
    if (comparable(b.ptr(), other))
      return nb::borrow(f(a.here(), other.here()) ? Py_True : Py_False);
    if (!PyLong_Check(b.ptr()) && !PyComplex_Check(b.ptr())) return nb::borrow(Py_NotImplemented);
    return owned(PyObject_RichCompare(number(a).ptr(), b.ptr(), python));
  };
}

}  // namespace

PyObject* from_real(Real value, std::optional<double> now, bool numpy) {
  if (value.known()) return PyFloat_FromDouble(value.value());
  return nb::cast(SymFloat{.value = value, .now = now, .numpy = numpy}).release().ptr();
}

bool read_real(PyObject* o, Real& out) {
  if (PyFloat_Check(o)) {
    out = PyFloat_AS_DOUBLE(o);
    return true;
  }
  if (!is_symbolic_real(o)) return false;
  out = nb::inst_ptr<SymFloat>(o)->here();
  return true;
}

bool is_numpy_float64(PyObject* o) {
  if (is_symbolic_real(o)) return nb::inst_ptr<SymFloat>(o)->numpy;
  return PyFloat_Check(o) && !PyFloat_CheckExact(o) &&
         std::string_view(Py_TYPE(o)->tp_name) == "numpy.float64";
}

void add_real(nb::module_& m) {
  // A float to isinstance, but not to code in C, which would read the number without a word.
  static PyGetSetDef attributes[] = {
      {"__class__",
       [](PyObject*, void*) { return new_ref(reinterpret_cast<PyObject*>(&PyFloat_Type)); },
       nullptr, nullptr, nullptr},
      {nullptr, nullptr, nullptr, nullptr, nullptr}};
  PyType_Slot slots[] = {{Py_tp_getset, attributes}, {0, nullptr}};
  nb::class_<SymFloat> c(
      m, "SymFloat", nb::type_slots(slots),
      "A float that a traced function reads and that changes from call to call: + - * /, abs()\n"
      "and comparisons with it work as with any float. A comparison makes the compiled program\n"
      "hold only for numbers that answer alike; float(), **, math's functions and text make it\n"
      "hold for this number only.");
  auto add = [](Real a, Real b) { return a + b; };
  auto sub = [](Real a, Real b) { return a - b; };
  auto mul = [](Real a, Real b) { return a * b; };
  c.def("__add__", arithmetic(add, PyNumber_Add)).def("__radd__", reflected(add, PyNumber_Add));
  c.def("__sub__", arithmetic(sub, PyNumber_Subtract))
      .def("__rsub__", reflected(sub, PyNumber_Subtract));
  c.def("__mul__", arithmetic(mul, PyNumber_Multiply))
      .def("__rmul__", reflected(mul, PyNumber_Multiply));
  c.def("__truediv__", arithmetic(quotient, PyNumber_TrueDivide));
  c.def("__rtruediv__", reflected(quotient, PyNumber_TrueDivide));
  c.def("__neg__", [](const SymFloat& a) { return made([](Real x) { return -x; }, a); });
  c.def("__pos__", as_here);
  c.def("__abs__", [](const SymFloat& a) { return made([](Real x) { return abs(x); }, a); });
  c.def("__floordiv__", of_numbers(PyNumber_FloorDivide));
  c.def("__rfloordiv__", of_numbers_reflected(PyNumber_FloorDivide));
  c.def("__mod__", of_numbers(PyNumber_Remainder));
  c.def("__rmod__", of_numbers_reflected(PyNumber_Remainder));
  c.def("__divmod__", of_numbers(PyNumber_Divmod));
  c.def("__rdivmod__", of_numbers_reflected(PyNumber_Divmod));
  c.def("__pow__", of_numbers(power)).def("__rpow__", of_numbers_reflected(power));
  c.def("__eq__", comparison([](Real a, Real b) { return a == b; }, Py_EQ), nb::arg().none());
  c.def("__ne__", comparison([](Real a, Real b) { return !(a == b); }, Py_NE), nb::arg().none());
  c.def("__lt__", comparison([](Real a, Real b) { return a < b; }, Py_LT));
  c.def("__le__", comparison([](Real a, Real b) { return a <= b; }, Py_LE));
  c.def("__gt__", comparison([](Real a, Real b) { return a > b; }, Py_GT));
  c.def("__ge__", comparison([](Real a, Real b) { return a >= b; }, Py_GE));
  c.def("__bool__", [](const SymFloat& a) { return !(a.here() == 0.0); });
  c.def("__float__", [](const SymFloat& a) { return a.here().value(); });
  for (const char* name : {"__int__", "__round__", "__trunc__", "__floor__", "__ceil__", "__repr__",
                           "__str__", "__format__", "__hash__"})
    c.def(name, method(name));
  c.def("__getattr__", [](const SymFloat& a, nb::handle name) {  // is_integer, hex, real ...
    auto* type = reinterpret_cast<PyObject*>(&PyFloat_Type);
    if (PyObject_HasAttr(type, name.ptr()) == 0) {  // asking makes no guard
      PyErr_Format(PyExc_AttributeError, "'float' object has no attribute '%U'", name.ptr());
      throw nb::python_error();
    }
    return owned(PyObject_GetAttr(number(a).ptr(), name.ptr()));
  });
  c.def("__reduce__", [](const SymFloat& a) {
    // Other bytes than a float's: as for all code that takes floats only, a TypeError.
    if (!a.here().known()) throw nb::type_error("a float of a trace cannot be pickled");
    return nb::make_tuple(nb::borrow(reinterpret_cast<PyObject*>(&PyFloat_Type)),
                          nb::make_tuple(number(a)));
  });
  c.def("__copy__", as_here);
  c.def("__deepcopy__", [](const SymFloat& a, nb::handle) { return as_here(a); });
  c.attr("__array_ufunc__") = nb::none();  // NumPy's numbers leave their operators to this class
  c.def_prop_ro(
      "hint", [](const SymFloat& a) { return a.here().hint(); },
      "The value at this call, without a guard: for messages only.");
  c.def_prop_ro(
      "settled",
      [](const SymFloat& a) {
        Real r = a.here();
        return r.known() ? nb::object(nb::float_(r.value())) : nb::object(nb::none());
      },
      "The float that it is on this thread; None inside its capture.");
}

}  // namespace lathe::py
