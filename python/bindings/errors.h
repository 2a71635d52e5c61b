// lathe.Error and its children: one Python class for each ErrorKind, which is also the built-in
// exception a Python programmer would catch for that fault.
#pragma once

#include "core/base/error.h"
#include "python/bindings/python.h"

namespace lathe::py {

/// Makes the classes and puts them into the module.
void add_errors(nb::module_& m);
/// The class of a kind, borrowed.
PyObject* error_class(ErrorKind kind);
/// Who is told of each TraceError before it is raised: code may swallow it and go on.
void when_refused(void (*note)(PyObject* error) noexcept);
/// Sets `error` as Python's current exception, with its parts as attributes.
void raise(const Error& error) noexcept;
/// The C++ exception that is being handled, as Python's.
nb::object active_exception();

}  // namespace lathe::py
