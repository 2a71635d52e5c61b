#include "python/bindings/errors.h"

#include <array>
#include <new>

#include "python/bindings/signals.h"

namespace lathe::py {
namespace {

constinit std::array<PyObject*, kErrorKinds> classes{};
constinit PyObject* base = nullptr;

/// The built-ins a kind also is, ended by null. RuntimeError where PyTorch raises that.
std::array<PyObject*, 4> builtins(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::shape:
    case ErrorKind::device:
    case ErrorKind::alias:
    case ErrorKind::value:
      return {PyExc_RuntimeError, PyExc_ValueError};
    case ErrorKind::dtype:
      return {PyExc_RuntimeError, PyExc_TypeError};
    case ErrorKind::index:
      return {PyExc_RuntimeError, PyExc_IndexError};
    case ErrorKind::type:
      return {PyExc_TypeError};
    case ErrorKind::overflow:
      return {PyExc_RuntimeError, PyExc_OverflowError, PyExc_ValueError};
    case ErrorKind::file:
      return {PyExc_OSError};
    case ErrorKind::memory:
      return {PyExc_RuntimeError, PyExc_MemoryError};
    case ErrorKind::cancelled:
      return {PyExc_KeyboardInterrupt};
    case ErrorKind::unsupported:
      return {PyExc_NotImplementedError};
    case ErrorKind::name:
      return {PyExc_AttributeError};
    case ErrorKind::trace:
    case ErrorKind::script:
    case ErrorKind::autograd:
    case ErrorKind::internal:
    case ErrorKind::linalg:
      return {PyExc_RuntimeError};
  }
  return {PyExc_RuntimeError};
}

const char* meaning(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::shape:
      return "Sizes do not fit together.";
    case ErrorKind::dtype:
      return "An element type the op is not defined for.";
    case ErrorKind::device:
      return "Operands on different devices, or an unknown device.";
    case ErrorKind::index:
      return "An axis or an element index out of range.";
    case ErrorKind::value:
      return "An argument outside its domain.";
    case ErrorKind::type:
      return "An argument of the wrong kind altogether.";
    case ErrorKind::overflow:
      return "A size or count outside the range of a size.";
    case ErrorKind::trace:
      return "Something a trace cannot capture.";
    case ErrorKind::script:
      return "Something a script cannot express.";
    case ErrorKind::alias:
      return "A write that overlaps itself or another operand.";
    case ErrorKind::autograd:
      return "Backward without history, or a saved value that changed.";
    case ErrorKind::file:
      return "A damaged, unknown or unreadable file.";
    case ErrorKind::memory:
      return "Out of memory, or over the flag max_memory.";
    case ErrorKind::cancelled:
      return "Stopped before it was done.";
    case ErrorKind::unsupported:
      return "Valid, but this build or device has no way to do it.";
    case ErrorKind::name:
      return "An op, flag or attribute that does not exist.";
    case ErrorKind::internal:
      return "A fault in Lathe itself; please report it.";
    case ErrorKind::linalg:
      return "A matrix that has no such decomposition or inverse.";
  }
  return "";
}

/// What went wrong may quote bytes of a file or a path that are no text.
PyObject* shown(std::string_view s) {
  return PyUnicode_DecodeUTF8(s.data(), static_cast<Py_ssize_t>(s.size()), "backslashreplace");
}

void set_text(PyObject* o, const char* attribute, std::string_view value) {
  PyObject* s = shown(value);
  if (s == nullptr || PyObject_SetAttrString(o, attribute, s) < 0) PyErr_Clear();
  Py_XDECREF(s);
}

}  // namespace

static void (*refused)(PyObject*) noexcept = nullptr;
void when_refused(void (*note)(PyObject*) noexcept) { refused = note; }

PyObject* error_class(ErrorKind kind) { return classes[static_cast<size_t>(kind)]; }

void add_errors(nb::module_& m) {
  base = checked(PyErr_NewExceptionWithDoc(
      "lathe.Error",
      "What Lathe raises. op, problem, got, expected, next (what to do) and site (the line of the\n"
      "program that asked for it) are attributes; str() is all of them.",
      PyExc_Exception, nullptr));
  m.attr("Error") = nb::handle(base);
  for (int i = 0; i < kErrorKinds; ++i) {
    auto kind = static_cast<ErrorKind>(i);
    auto also = builtins(kind);
    nb::object bases = also[1] != nullptr ? owned(PyTuple_Pack(3, base, also[0], also[1]))
                                          : owned(PyTuple_Pack(2, base, also[0]));
    std::string name = std::string("lathe.") + error_name(kind);
    PyObject* cls =
        checked(PyErr_NewExceptionWithDoc(name.c_str(), meaning(kind), bases.ptr(), nullptr));
    classes[static_cast<size_t>(i)] = cls;
    m.attr(error_name(kind)) = nb::handle(cls);
  }
}

void raise(const Error& error) noexcept {
  PyObject* cls = error_class(error.kind());
  PyObject* message = shown(error.what());
  PyObject* e = message == nullptr ? nullptr : PyObject_CallOneArg(cls, message);
  Py_XDECREF(message);
  if (e == nullptr) return;  // no memory left for it: MemoryError is set
  const ErrorParts& parts = error.parts();
  set_text(e, "op", parts.op);
  set_text(e, "problem", parts.problem);
  set_text(e, "got", parts.got);
  set_text(e, "expected", parts.expected);
  set_text(e, "next", parts.next);
  set_text(e, "site", to_string(parts.site));
  if (error.kind() == ErrorKind::trace && refused != nullptr) refused(e);
  PyErr_SetObject(cls, e);
  Py_DECREF(e);
}

namespace {

/// Memory for a few words is nearly always left after a large request failed.
void raise_out_of_memory() noexcept {
  try {
    raise(MemoryError({.op = "lathe",
                       .problem = "out of memory",
                       .got = "a request that the system refused",
                       .expected = "less memory in use, or a higher limit",
                       .next = "free tensors, or make the batch smaller"}));
  } catch (...) {
    PyErr_SetString(error_class(ErrorKind::memory), "out of memory");
  }
}

}  // namespace

void raise_active() noexcept {
  try {
    throw;
  } catch (nb::python_error& e) {
    e.restore();
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::cancelled || !restore_interrupt()) raise(e);
  } catch (const std::bad_alloc&) {
    raise_out_of_memory();
  } catch (const std::exception& e) {
    PyErr_Format(error_class(ErrorKind::internal), "unexpected C++ exception: %s", e.what());
  } catch (...) {
    PyErr_SetString(error_class(ErrorKind::internal), "unexpected C++ exception");
  }
}

nb::object active_exception() {
  raise_active();
  return nb::borrow(nb::python_error().value());
}

}  // namespace lathe::py
