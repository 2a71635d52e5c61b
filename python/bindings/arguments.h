// The arguments of one op call, from Python objects to core's tagged values.
//
// Tensors are borrowed from their Python objects, which the caller holds; everything that has no
// Python object to live in (lists, a complex number's tensor) lives here until the call is over.
#pragma once

#include <memory>

#include "core/op/schema.h"
#include "python/bindings/tensor.h"
#include "python/bindings/values.h"

namespace lathe::py {

class Arguments {
 public:
  /// `read_tensors`: a tensor without axes stands for its number where only a number fits.
  Arguments(const Schema& schema, bool read_tensors)
      : schema_(schema), read_tensors_(read_tensors) {}
  Arguments(const Arguments&) = delete;

  /// `gather`: the parameter that takes all remaining positional integers, x.view(2, 3), or
  /// tensors, meshgrid(x, y); or -1.
  void positional(PyObject* const* args, Py_ssize_t count, int gather);
  /// PyTorch's and NumPy's spellings (input, other, axis, keepdims ...) find their parameter too.
  void named(PyObject* name, PyObject* value);
  /// Whether a call of so many arguments by position and these names could be meant for this
  /// schema, whatever their values. `name_at(i)`: the name of keyword i, a str.
  template <class Names>
  bool could_be(Py_ssize_t count, int gather, size_t named, Names name_at) const {
    if (gather < 0 && static_cast<size_t>(count) > schema_.positional()) return false;
    absl::InlinedVector<bool, 8> given(schema_.params.size(), false);
    std::fill_n(given.begin(), std::min(given.size(), static_cast<size_t>(count)), true);
    for (size_t i = 0; i < named; ++i) {
      const int at = parameter(name_at(i));
      if (at < 0) return false;
      given[static_cast<size_t>(at)] = true;
    }
    for (size_t i = 0; i < given.size(); ++i)
      if (!given[i] && !schema_.params[i].has_default) return false;
    return true;
  }
  /// Whether complete() would take what was given.
  bool fit() const;
  /// Defaults filled in, every tag checked. TypeError names the parameter and the signature.
  Args complete();

  /// One value, for parameter `p` or (null) for none in particular.
  Arg convert(PyObject* o, const Param* p);

 private:
  struct List {
    absl::InlinedVector<Arg, 8> items;
    ArgList list;
  };
  /// Of any sequence. Its items are no sequences themselves: no list of lists is an argument.
  Arg list_of(PyObject* sequence, const Param* p);
  Arg list_of(PyObject* const* items, Py_ssize_t count, const Param* p);
  List& new_list();
  void add(List& made, PyObject* o, const Param* p);
  static Arg closed(List& made);
  /// May it be one of the arguments that a parameter takes together?
  bool gathers(const Param& p, PyObject* o) const;
  /// What is no list, or an item of one.
  Arg convert_item(PyObject* o, const Param* p);
  /// Whether a value in this place is a tensor that stands for a number, which goes to `out`.
  bool read_number(PyObject* o, const Param& p, Arg& out) const;
  int parameter(PyObject* name) const;  // -1: none of that name

  const Schema& schema_;
  const bool read_tensors_;
  absl::InlinedVector<Arg, 8> given_, full_;
  absl::InlinedVector<NamedArg, 4> named_;
  absl::InlinedVector<std::unique_ptr<List>, 2> lists_;
  Tensors kept_, complex_numbers_;
  absl::InlinedVector<nb::object, 1> texts_;
  ArgVec pool_;
};

/// An operand of an operator: a tensor or a number. False: neither, so that Python may ask the
/// other operand. `kept` holds what has to be made for it.
bool operand(PyObject* o, Arg& out, Tensor& kept);

/// Makes complex numbers among `args`, tensors of complex128 that `numbers` holds, of the width
/// that a number has beside the others: complex64, unless there are floats of 64 bits, or the
/// default dtype is float64.
void fit_complex_numbers(absl::Span<Arg> args, absl::Span<Tensor> numbers);

/// The values that need no conversion: tensors (borrowed) and numbers. False: something else.
inline bool simple(PyObject* o, Arg& out) {
  if (Py_TYPE(o) == tensor_type) [[likely]] {
    out.tag = Tag::tensor;
    out.tensor_ = impl_of(o);
  } else if (PyFloat_CheckExact(o)) {
    out = Arg(PyFloat_AS_DOUBLE(o));
  } else if (PyLong_CheckExact(o)) {
    out = Arg(to_int(o));
  } else if (PyBool_Check(o)) {
    out = Arg(o == Py_True);
  } else if (is_tensor(o)) {
    out.tag = Tag::tensor;
    out.tensor_ = impl_of(o);
  } else if (PyFloat_Check(o)) {
    out = Arg(PyFloat_AS_DOUBLE(o));
  } else {
    return false;
  }
  return true;
}

/// A parameter that x.view(2, 3) may spell as several arguments: an int[] that nothing integral can
/// follow, or one that the schema says is variadic. -1: none.
int gathering_parameter(const Schema& schema);

}  // namespace lathe::py
