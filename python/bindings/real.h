// A float of a traced function, in Python.
#pragma once

#include "core/sizes/real.h"
#include "python/bindings/python.h"

namespace lathe::py {

/// Arithmetic stays symbolic; a comparison records its answer as a guard of the trace under way,
/// and whatever needs the number itself (float(), **, math, text) that number.
struct SymFloat {
  Real value;
};
/// A Python float where the number is known. A new reference.
PyObject* from_real(Real value);
/// Is it a float of Python's or of a trace? Then `out` is it.
bool read_real(PyObject* o, Real& out);
inline bool is_symbolic_real(PyObject* o) { return nb::isinstance<SymFloat>(o); }

void add_real(nb::module_& m);

}  // namespace lathe::py
