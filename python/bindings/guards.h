// Guards: what a capture read of Python's state, as rows that every later call evaluates.
//
// A row is one read: a step from the value of an earlier row (an attribute, a key, the content of a
// cell ...), and a test of what is found there. lathe.jit.observe records the rows, in an order in
// which parents come first. All of them holding means that the traced code would read again what it
// read then, so the program of that trace is right for this call. Rows that call a function are
// asked first, before anything is borrowed: Python code may run there, and change what it likes.
// Evaluating the others runs none.
//
// Most of what a module reads does not change from call to call. After a call whose rows all hold
// a plan is made (guard_plan.h) of the rows that begin at what is always there: of those, only what
// may have changed is looked at.
//
// Rows keep nothing alive that can be referred to weakly: an object that is gone fails its row.
#pragma once

#include <absl/container/flat_hash_set.h>

#include <memory>
#include <vector>

#include "graph/ir/datum.h"
#include "python/bindings/guard_plan.h"
#include "python/bindings/guard_rows.h"
#include "python/bindings/python.h"

namespace lathe::py {

class Guards {
 public:
  /// From a list of (step, parent, key, test, wanted, (loose, by_row, weak)). TypeError for any
  /// other.
  explicit Guards(nb::list rows);

  bool hold(PyObject* args, PyObject* kwargs, FoundRows& found) const;
  /// The rows that do not hold, in order, as (number, what is there now): all whose parents hold.
  nb::list misses(nb::tuple args, nb::dict kwargs) const;
  /// The tensors that rows find, as (number, tensor): of rows that all hold.
  nb::list tensors(nb::tuple args, nb::dict kwargs) const;
  enum class InputKind : uint8_t { tensor, real, integer };
  /// Is it one of the tensors that FoundRows::settled is about? Of rows that were found to hold.
  bool settles_tensor(int row) const { return plan_ != nullptr && plan_->settles_tensor(row); }
  /// What an input of the program is at this call: an integer may be one as a float as well.
  ir::Datum input(const FoundRows& found, int row, InputKind kind) const;

  int traverse(visitproc visit, void* arg) const;
  void clear() {
    rows_.clear();
    first_.clear();
    plan_.reset();
  }

 private:
  std::vector<AskedRow> ask_first(PyObject* args, PyObject* kwargs) const;

  std::vector<GuardRow> rows_;
  std::vector<int> first_;  // rows that call, and those that they begin at, in order
  absl::flat_hash_set<const void*> fixed_;  // what rows that hold have found to be the very same
  mutable std::shared_ptr<const GuardPlan> plan_;  // of the last call whose rows all held
};

void add_guards(nb::module_& m);

}  // namespace lathe::py
