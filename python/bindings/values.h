// The small values that travel beside tensors: dtypes, devices, and sizes that may be symbolic.
#pragma once

#include "core/scalar/dtype.h"
#include "core/sizes/int.h"
#include "core/tensor/device.h"
#include "python/bindings/integer.h"
#include "python/bindings/python.h"

namespace lathe::py {

/// lathe.float32 and its like: one object for each code, so `is` compares them.
struct DTypeObject {
  PyObject ob_base;
  DType dtype;
};
extern PyTypeObject* dtype_type;
inline bool is_dtype(PyObject* o) { return Py_TYPE(o) == dtype_type; }
PyObject* dtype_object(DType dtype);  // borrowed
/// One stored element as a Python number.
PyObject* element_object(DType dtype, const std::byte* at);
/// A dtype object, its name, or the Python types bool, int, float and complex. False: none of them.
bool read_dtype(PyObject* o, DType& out);
/// The same; TypeError or ValueError says what would do.
DType to_dtype(PyObject* o);

PyObject* device_object(Device device);
/// A lathe.device or its text; TypeError otherwise.
Device to_device(PyObject* o);
bool is_device(PyObject* o);

/// A Python int for each size that is known: a tuple.
PyObject* from_shape(IntSpan shape);
/// A list of integers, or one.
Shape to_shape(PyObject* o);

/// The items of a sequence, one at a time: each may run Python code that changes the sequence, and
/// none but those that its length announces is asked for.
class Items {
 public:
  /// Python's own error if the object has no length.
  explicit Items(PyObject* sequence);
  Py_ssize_t size() const { return size_; }
  /// IndexError if the sequence has fewer items by now.
  nb::object at(Py_ssize_t i) const;

 private:
  PyObject* sequence_;
  Py_ssize_t size_;
};
/// Whether it is a sequence with a length. An iterator is none, nor is an array without axes.
bool has_items(PyObject* o);

void add_values(nb::module_& m);

}  // namespace lathe::py
