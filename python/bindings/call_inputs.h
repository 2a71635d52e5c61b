// What one call of a captured function works with: what its guards have found, and the inputs of
// its program. It is kept for the next call, which makes only those inputs anew that are not the
// tensors of before.
//
// Between calls it owns nothing that it did not make: a parameter that is taken away is freed at
// once. During a call each tensor is held through the Python object that rows have found.
#pragma once

#include <absl/types/span.h>

#include <memory>
#include <vector>

#include "graph/ir/datum.h"
#include "python/bindings/guards.h"

namespace lathe::py {

/// The row that finds an input of a program, and what is made of it.
struct ProgramInput {
  int row;
  Guards::InputKind kind;
};

class CallInputs {
 public:
  CallInputs() = default;
  ~CallInputs() { give_back(); }
  CallInputs(const CallInputs&) = delete;

  /// Of the program of a trace with these guards: always the same of one CallInputs. False: they do
  /// not hold. After true and before the next call, let_go().
  /// What the rows in `wanted` have found stays until then, whatever the program lets others do.
  bool find(const Guards& guards, PyObject* args, PyObject* kwargs,
            absl::Span<const ProgramInput> inputs, absl::Span<const int> wanted);
  void let_go();

  const FoundRows& found() const { return found_; }
  const ir::Data& all() const { return all_; }
  /// While it is the same number, the inputs that are not among these are as they were.
  uint64_t settled() const { return settled_; }
  absl::Span<const size_t> fresh() const { return fresh_; }

 private:
  void sort_inputs(const Guards& guards, absl::Span<const ProgramInput> inputs);
  void give_back();

  FoundRows found_;
  ir::Data all_;
  std::vector<size_t> fresh_;           // places of what is made at each call
  std::vector<size_t> lent_;            // places of the others, which are not counted as owners
  std::vector<size_t> views_;           // those of them that are views
  std::vector<PyObject*> held_;         // the objects of lent_: owned during a call only
  std::vector<PyObject*> wanted_;       // what the wanted rows have found, the same
  std::vector<Tensor> wanted_tensors_;  // or this, where there is no object
  bool holds_ = false;                  // that is now
  uint64_t settled_ = 0;
};

}  // namespace lathe::py
