// The rows of guards, one by one: where each begins, what it finds, and whether that is what is
// wanted. Private to guards.h and what implements it.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/tensor/tensor.h"
#include "python/bindings/python.h"

namespace lathe::py {

/// What a row got when it was asked before anything is borrowed, as Python code may run.
struct AskedRow {
  int row;
  nb::object from, key;  // of whom
  nb::object answer;     // null: there is none
};

/// What evaluating found, by row. It borrows from Python's state: no code runs while it is used.
/// It may be kept for the next call once it was told let_go().
struct FoundRows {
  absl::InlinedVector<PyObject*, 64> objects;   // null: nothing there, or no object was made of it
  std::vector<nb::object> made;                 // what only evaluating has made
  std::vector<std::pair<int, Tensor>> tensors;  // of gradients and arrays, by ascending row
  std::vector<AskedRow> asked;                  // by ascending row
  uint64_t state = 0;  // of the plan whose rows have found these objects; 0: of none
  /// While it is the same number, the rows of which a plan says settles_tensor() have found the
  /// same tensors, which lie as they lay and require grad if they did.
  uint64_t settled = 0;

  /// Keeps nothing alive from now on.
  void let_go() {
    forget();
    asked.clear();
  }
  /// All but the answers, which hold for the whole call.
  void forget() {
    made.clear();
    tensors.clear();
  }
  TensorImpl* impl(int row) const;  // borrowed; null: there is none
  Tensor tensor(int row) const {    // undefined: there is none
    TensorImpl* t = impl(row);
    return t == nullptr ? Tensor() : Tensor::borrow(t);
  }
};

enum class RowStep : uint8_t {
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
  content,     // of a set, frozenset or deque, or the keys of a dict: a list, by `key`, the
               // __iter__ of the class in C
  answer,      // of a function in C: `key` is (function, arguments)
  default_dtype,
  of_value,   // of a function in C about the parent
  gradient,   // of a tensor
  reference,  // what a weak reference refers to
  value,      // of the row itself: for one more test
};

enum class RowTest : uint8_t {
  any,      // whatever it is: only other rows begin here
  is,       // this object
  equal,    // the same plain value
  type,     // of this type
  absent,   // nothing
  length,   // of this type, and with so many items
  keys,     // a dict with these keys, in this order
  tensor,   // a tensor of this type, without hooks
  array,    // NumPy's, of this dtype and shape
  real,     // a float: any
  integer,  // an int: any up to SymInt::kMostRead
  again,    // what the row of this number found
  bundle,   // a class: its mro, then (base, name, value) that are what they were; no value: the
            // name is absent; name "": so many special names
  hooked,   // a tensor of this type
};

struct GuardRow {
  RowStep step;
  RowTest test;
  bool weak = false;      // `wanted` is a weak reference to what is wanted
  bool loose = false;     // its object may be another one at each call, but no other row's
  bool by_row = false;    // the key is the value of a row
  bool has_rows = false;  // others begin here
  bool calls = false;     // a function, or methods of the key: Python code may run
  bool asked = false;     // it calls, or makes an object that a row which calls begins at
  int parent = -1;
  long number = 0;               // of an item, a length or a row
  int by = -1;                   // the row whose value is the key
  mutable uint64_t version = 0;  // of the class that a bundle is about, when it held last
  PyTypeObject* type = nullptr;  // of what is to be the very same object
  nb::object key, wanted;
};

/// Evaluates rows at one call. A row reads `found.objects` of its parent.
class RowEvaluation {
 public:
  RowEvaluation(const std::vector<GuardRow>& rows, PyObject* args, PyObject* kwargs,
                FoundRows& found)
      : rows_(rows), args_(args), kwargs_(kwargs), found_(found) {}

  /// The evaluation before the one that borrows: `rows` are those that call, and all they begin at,
  /// in order.
  void ask(absl::Span<const int> rows, std::vector<AskedRow>& asked);
  /// Notes what the row finds, and says whether that is what is wanted.
  bool holds(size_t row);

 private:
  PyObject* step(const GuardRow& r, int row);
  PyObject* parent_of(const GuardRow& r) const;
  PyObject* key_of(const GuardRow& r) const;
  PyObject* answer(int row, PyObject* from, PyObject* key) const;
  PyObject* look(const GuardRow& r, int row);
  PyObject* part(PyObject* from, PyObject* key);
  PyObject* gradient(const GuardRow& r, int row, PyObject* from);
  PyObject* kept(PyObject* made);
  bool tests(const GuardRow& r, int row, PyObject* now);
  bool array(const GuardRow& r, int row, PyObject* now);
  bool again(const GuardRow& r, int row, PyObject* now);

  const std::vector<GuardRow>& rows_;
  PyObject *args_, *kwargs_;
  FoundRows& found_;
};

/// What a weak reference refers to, borrowed: who holds it holds it while rows are evaluated.
PyObject* referent(PyObject* weak);
/// What an int is that can be an input; nothing, if it is too large.
std::optional<int64_t> integer_of(PyObject* o);
/// Has the tensor hooks of Python's?
bool has_hooks(PyObject* tensor);

}  // namespace lathe::py
