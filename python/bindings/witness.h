// A witness: what one walk over the Python state of a traced call found, kept so that the next call
// can ask "is all as it was?" without walking in Python.
//
// lathe.jit.state builds it, as nested tuples, while it makes the key of a call. Each node says
// what a value has to be: this very object, an equal number, a container with these items, a
// tensor. A witness that holds means that the walk would give the same key again; one that does not
// hold means nothing, and the walk is made. So it may be stricter than the key, never laxer.
#pragma once

#include <vector>

#include "core/tensor/tensor.h"
#include "python/bindings/python.h"

namespace lathe::py {

using Reals = absl::InlinedVector<double, 8>;

class Witness {
 public:
  /// From the nodes of the arguments (a tuple and a dict) and of the function. `varying`: which of
  /// the floats, by the numbers of their nodes, may be any. TypeError, if they are not what
  /// state.py makes.
  Witness(nb::handle arguments, nb::handle function, const std::vector<size_t>& varying);

  /// True if all is as it was; then `tensors` are those of the walk, in its order, arguments first,
  /// and `reals` the varying floats, in the order of their numbers.
  bool holds(PyObject* args, PyObject* kwargs, Tensors& tensors, Reals& reals) const;
  size_t arguments() const { return counted_; }

  int traverse(visitproc visit, void* arg) const;
  void clear();

 private:
  enum class Kind : uint8_t {
    is,        // this object
    equal,     // the same type and value: numbers, texts
    real,      // a float: a varying one, or the same
    tensor,    // a tensor at a new place; its gradient, if that counts
    array,     // a NumPy array at a new place: dtype, sizes
    again,     // the tensor at this place
    items,     // a tuple or list: type, items; flag: the last is its class
    dict,      // type, keys in order, values
    set,       // type, numbers and texts in order
    function,  // its code, defaults and closure; what it reads
    method,    // self, function
    object,    // this object of this type; its class, its __dict__
    space,     // this module or class, with so many names (-1: any number); what is read of it
    named,     // of this dict, at this key: a value
    absent,    // nothing at this key of this dict
    cell,      // the content of this cell; none: it is empty
  };
  struct Node {
    Kind kind = Kind::is;
    bool flag = false;
    long number = 0;
    nb::object a, b;
    std::vector<nb::object> more;
    std::vector<Node> kids;
  };
  class Walk;

  static Node read(nb::handle tuple);
  static void visit_all(const Node& node, visitproc visit, void* arg, int& result);

  Node arguments_, function_;
  size_t counted_ = 0, places_ = 0;
  std::vector<int> slots_;  // by the number of a float: which of the varying ones it is, or -1
  size_t varying_ = 0;
  bool grad_mode_;
  DType autocast_;
  DType default_dtype_;
};

void add_witness(nb::module_& m);

}  // namespace lathe::py
