// A float of a traced function, in Python.
#pragma once

#include <optional>
#include <thread>

#include "core/sizes/real.h"
#include "python/bindings/python.h"

namespace lathe::py {

/// Arithmetic stays symbolic; a comparison records its answer as a guard of the trace under way,
/// and whatever needs the number itself (float(), **, math, text) that number.
///
/// A capture puts some into dicts and cells, where other threads find them: to those they are the
/// floats that they stand for, and to everyone once the capture is over.
struct SymFloat {
  Real value;
  std::optional<double> now;  // the number at this call, of what a capture has put somewhere
  std::thread::id thread = std::this_thread::get_id();  // of the capture
  bool numpy = false;  // a float64 of NumPy's, which tensors made of it are too

  Real here() const { return !now || thread == std::this_thread::get_id() ? value : Real(*now); }
};
/// A Python float where the number is known. A new reference.
PyObject* from_real(Real value, std::optional<double> now = {}, bool numpy = false);
/// Is it a float of Python's or of a trace? Then `out` is it.
bool read_real(PyObject* o, Real& out);
/// Is it a float64 of NumPy's, or stands for one?
bool is_numpy_float64(PyObject* o);
inline bool is_symbolic_real(PyObject* o) { return nb::isinstance<SymFloat>(o); }

void add_real(nb::module_& m);

}  // namespace lathe::py
