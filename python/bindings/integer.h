// An integer of a traced function, in Python: a size of a tensor, or one that the code reads.
#pragma once

#include <optional>
#include <thread>

#include "core/sizes/int.h"
#include "core/sizes/real.h"
#include "python/bindings/python.h"

namespace lathe::py {

/// Arithmetic stays symbolic; asking it for its number, or for a truth, records a guard in the
/// trace under way.
///
/// Integers that the code reads are Python's, which know no bounds: a row says that they are at
/// most kMostRead, and arithmetic whose result might be out of an Int's range takes the number
/// itself. A capture puts some into dicts and cells: to other threads they are what they stand for.
struct SymInt {
  Int value;
  double most = 0;             // of what was read: its absolute value is at most this; 0: a size
  std::optional<int64_t> now;  // of what was read: the number at this call
  std::thread::id thread = std::this_thread::get_id();  // of the capture

  static constexpr int64_t kMostRead = int64_t{1} << 30;
  Int here() const { return !now || thread == std::this_thread::get_id() ? value : Int(*now); }
};

/// A Python int where the number is known.
PyObject* from_int(Int value);
/// True for SymInt and whatever has __index__ but bool and tensors.
bool is_int(PyObject* o);
/// OverflowError outside of an Int's range; TypeError for what is no integer.
Int to_int(PyObject* o);
/// What PyNumber_Index or PyNumber_Float gave, owned; not valid where the object has the slot but
/// stands for no such number (a TypeError, which is cleared). Other errors travel on.
nb::object as_number(PyObject* converted);

/// One that the code reads.
PyObject* read_int(Int value, int64_t now);
/// What was read as a float, which is exactly that number; nothing, if that cannot be said.
std::optional<Real> real_of(const SymInt& a);
/// The input of the trace under way that is the integer of this symbol, as a float; nothing, if the
/// symbol is a size.
std::optional<Real> real_of_symbol(uint32_t symbol);

void add_symint(nb::module_& m);

}  // namespace lathe::py
