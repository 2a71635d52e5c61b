// The rows of guards that begin at what is always there, and what may have changed about them since
// they were all found to hold.
//
// While a dict was not written to (dict_version.h) its keys are not looked up. What a row found is
// compared by address with what it found before. Where that is another object, from which other
// rows begin or which no other row may have found, the plan says nothing about the call.
//
// What its rows have found stays from call to call (FoundRows), and so do the inputs that are made
// of it: of a tensor that is found without a look, only what may be changed about it is asked.
//
// A plan keeps no object alive: each is reached through those before it, whose versions and
// addresses say that it is still there.
#pragma once

#include <absl/container/flat_hash_set.h>

#include <optional>
#include <vector>

#include "python/bindings/dict_version.h"
#include "python/bindings/guard_rows.h"

namespace lathe::py {

class GuardPlan {
 public:
  /// Of rows that all hold, and have found this. `fixed`: what no loose row may find.
  GuardPlan(const std::vector<GuardRow>& rows, const absl::flat_hash_set<const void*>& fixed,
            const FoundRows& found);

  enum class Answer : uint8_t { yes, no, unknown };
  /// Do all rows hold? Of `found` is kept what another call has left there.
  Answer ask(PyObject* args, PyObject* kwargs, FoundRows& found) const;
  /// Says of what was found for making the plan that it is what the plan knows.
  void mark(FoundRows& found) const;
  /// Does the row find a tensor that FoundRows::settled is about?
  bool settles_tensor(int row) const { return tensor_at_[static_cast<size_t>(row)] >= 0; }

 private:
  /// A step to what may not be there any more. In the order of the rows: each is only safe to look
  /// at where those before it hold.
  struct Way {
    enum class Kind : uint8_t {
      alive,  // what `weak` refers to is still `object`
      dict,   // `object` was not written to since its rows held
      place,  // at `place`, which stays, is `object`: all that the row asks
      row,    // the row finds what it found
    };
    Kind kind;
    int row = -1;
    PyObject* object = nullptr;
    PyObject* weak = nullptr;
    PyObject** place = nullptr;      // of a dict: where its owner has it; null: nowhere else
    uint32_t covered = 0, past = 0;  // the rows of a dict, in covered_
    std::optional<DictVersion> version = {};  // of a dict, when they held
  };
  struct OfType {  // classes can be assigned to
    PyObject* object;
    const void* type;
  };
  struct OfTensor {
    PyObject* object;
    const void* type;
    uint64_t serial;
    TensorImpl* impl;
    bool requires_grad;
    bool hookless;  // there must be no hooks
  };

  bool settles(const GuardRow& r) const;
  void watch(int row, const FoundRows& found, std::vector<std::vector<int>>& covered);
  void watch_row(int row, const FoundRows& found);
  void watch_dict(int row, PyObject* dict, const FoundRows& found);
  void watch_value(int row, PyObject* object);
  Answer look(Way& w, bool unwritten, RowEvaluation& evaluation, FoundRows& found) const;
  Answer look_at_tensors() const;
  Answer find_again(int row, RowEvaluation& evaluation, FoundRows& found) const;
  bool is_another(int row, PyObject* now) const;
  bool replace_tensor(int row, PyObject* now) const;

  const std::vector<GuardRow>& rows_;
  const absl::flat_hash_set<const void*>& fixed_;
  std::vector<int> covered_;
  std::vector<int> rest_;          // rows that begin at arguments or at what is made anew
  std::vector<char> settled_;      // by row: it is none of them
  std::vector<char> depended_on_;  // by row: others of these begin at what it finds, or ask for it
  std::vector<int> dict_at_;       // by row: where ways_ has its dict; or -1
  std::vector<int> tensor_at_;     // by row: where tensors_ has its tensor; or -1
  std::vector<int> type_at_;       // by row: where types_ has its object; or -1
  // As of the last call whose rows all held, under Python's lock:
  mutable std::vector<Way> ways_;
  mutable std::vector<OfTensor> tensors_;
  mutable std::vector<OfType> types_;
  mutable std::vector<PyObject*> objects_;          // by row
  mutable absl::flat_hash_set<const void*> loose_;  // what settled rows found that are loose
  mutable uint64_t writes_ = 0;                     // DictVersion::writes()
  mutable uint64_t hooks_ = 0;                      // how many hooks had been added
  mutable uint64_t layouts_ = 0;                    // layout_changes()
  mutable uint64_t state_, tensors_state_;          // FoundRows::state, FoundRows::settled
};

/// Have these of the rows, as far as they are loose, found what neither another of them nor one of
/// `others` has found? A tensor counts as what the Python object holds: a gradient is another
/// object at each look.
bool are_distinct(const std::vector<GuardRow>& rows, absl::Span<const int> which,
                  const FoundRows& found, const absl::flat_hash_set<const void*>& fixed,
                  const absl::flat_hash_set<const void*>& others);

}  // namespace lathe::py
