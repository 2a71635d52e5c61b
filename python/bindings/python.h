// What every file of the bindings starts with: Python, nanobind, and the two directions of an
// error.
//
// C++ called from a slot must not throw into the interpreter, and Python called from C++ reports by
// a null pointer: `guarded` is the one door outwards, `checked` the one inwards.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <nanobind/nanobind.h>

#include <string_view>

namespace lathe::py {

namespace nb = nanobind;

/// Makes the C++ exception that is being handled the current Python one.
void raise_active() noexcept;

template <class F>
PyObject* guarded(F f) noexcept {
  try {
    return f();
  } catch (...) {
    raise_active();
    return nullptr;
  }
}

/// The same for slots that answer with an int: -1 says that an error is set.
template <class F>
int guarded_int(F f) noexcept {
  try {
    return f();
  } catch (...) {
    raise_active();
    return -1;
  }
}

/// Null means that Python has set an error: it travels on as a C++ exception.
inline PyObject* checked(PyObject* o) {
  if (o == nullptr) [[unlikely]]
    throw nb::python_error();
  return o;
}
inline void checked(int status) {
  if (status < 0) [[unlikely]]
    throw nb::python_error();
}
/// A new reference, owned.
inline nb::object owned(PyObject* o) { return nb::steal(checked(o)); }

inline PyObject* text(std::string_view s) {
  return PyUnicode_FromStringAndSize(s.data(), static_cast<Py_ssize_t>(s.size()));
}
inline std::string_view text_of(PyObject* unicode) {
  Py_ssize_t size = 0;
  const char* data = PyUnicode_AsUTF8AndSize(unicode, &size);
  if (data == nullptr) throw nb::python_error();
  return {data, static_cast<size_t>(size)};
}

inline PyObject* new_ref(PyObject* o) {
  Py_INCREF(o);
  return o;
}

}  // namespace lathe::py
