// Guards: what a capture read of Python's state, as rows that every later call evaluates.
//
// A row is one read: a step from the value of an earlier row (an attribute, a key, the content of a
// cell ...), and a test of what is found there. lathe.jit.observe records the rows, in an order in
// which parents come first. All of them holding means that the traced code would read again what it
// read then, so the program of that trace is right for this call. Evaluating runs no code of the
// user's.
//
// What has not changed is not read again: a dict has a version, which the interpreter changes with
// each write to it, and so has a class. (From Python 3.13 on dicts have none, and are read.)
//
// Rows keep nothing alive that can be referred to weakly: an object that is gone fails its row.
#pragma once

#include <absl/container/flat_hash_set.h>

#include <string>
#include <string_view>
#include <vector>

#include "core/tensor/tensor.h"
#include "graph/ir/datum.h"
#include "python/bindings/python.h"

namespace lathe::py {

/// What evaluating found, by row. It borrows from Python's state: no code runs while it is used.
struct FoundRows {
  absl::InlinedVector<PyObject*, 64> objects;   // null: nothing there, or no object was made of it
  std::vector<nb::object> made;                 // what only evaluating has made
  std::vector<std::pair<int, Tensor>> tensors;  // of rows that are gradients or arrays

  Tensor tensor(int row) const;  // undefined: there is none
};

class Guards {
 public:
  /// From a list of (step, parent, key, test, wanted, (loose, by_row, weak)). TypeError for any
  /// other.
  explicit Guards(nb::list rows);

  bool hold(PyObject* args, PyObject* kwargs, FoundRows& found) const;
  /// The rows that do not hold, in order, as (number, what is there now): all whose parents hold.
  nb::list misses(nb::tuple args, nb::dict kwargs) const;
  /// A tensor or float of the program's inputs.
  static ir::Datum input(const FoundRows& found, int row);

  int traverse(visitproc visit, void* arg) const;
  void clear() { rows_.clear(); }

 private:
  enum class Step : uint8_t {
    arguments,   // the tuple of the call
    named,       // its dict of keyword arguments
    constant,    // `key` itself
    dict,        // the __dict__ of an object
    key,         // of a dict: `key`, or the value of a row
    item,        // of a list or tuple
    cell,        // the content of a cell
    member,      // of a slot: `key` is its descriptor
    part,        // an attribute of what only C has made: a function's code, a method's self
    type,        // of an object
    class_dict,  // of a class: what it has itself under a name
    content,     // of a set, frozenset or deque, or the keys of a dict: a list
    answer,      // of a function in C: `key` is (function, arguments)
    of_value,    // of a function in C about the parent
    gradient,    // of a tensor
    reference,   // what a weak reference refers to
    value,       // of the row itself: for one more test
  };
  enum class Test : uint8_t {
    any,     // whatever it is: only other rows begin here
    is,      // this object
    equal,   // the same plain value
    type,    // of this type
    absent,  // nothing
    length,  // of this type, and with so many items
    keys,    // a dict with these keys, in this order
    tensor,  // a tensor of this type, without hooks
    array,   // NumPy's, of this dtype and shape
    real,    // a float: any
    again,   // what the row of this number found
    bundle,  // a class: its mro, then (base, name, value) that are what they were; no value: the
             // name is absent; name "": so many special names
    hooked,  // a tensor of this type
  };
  struct Row {
    Step step;
    Test test;
    bool weak = false;      // `wanted` is a weak reference to what is wanted
    bool loose = false;     // its object may be another one at each call, but no other row's
    bool by_row = false;    // the key is the value of a row
    bool has_rows = false;  // others begin here
    int parent = -1;
    long number = 0;  // of an item, a length or a row
    int by = -1;      // the row whose value is the key
    // When all rows held last: what was found, and the version of a class or dict that it is.
    mutable PyObject* last = nullptr;
    mutable uint64_t version = 0;
    PyTypeObject* type = nullptr;  // of what is to be the very same object
    nb::object key, wanted;
  };
  class Evaluation;

  std::vector<Row> rows_;
  bool any_loose_ = false;
  void remember(const FoundRows& found) const;
  absl::flat_hash_set<PyObject*> fixed_;  // what rows that hold have found to be the very same
};

void add_guards(nb::module_& m);

}  // namespace lathe::py
