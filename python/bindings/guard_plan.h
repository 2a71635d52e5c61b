// The rows of guards that begin at what is always there, and what may have changed about them since
// they were all found to hold.
//
// A dict has a version, which the interpreter changes with each write to it: while it is the same,
// the dict's keys are not looked up. (From Python 3.13 on dicts have none, and are looked at.) What
// a row found is compared by address with what it found before. Where that is another object, from
// which other rows begin or which no other row may have found, the plan says nothing about the
// call.
//
// A plan keeps no object alive: each is reached through those before it, whose versions and
// addresses say that it is still there.
#pragma once

#include <absl/container/flat_hash_set.h>

#include <vector>

#include "python/bindings/guard_rows.h"

namespace lathe::py {

class GuardPlan {
 public:
  /// Of rows that all hold, and have found this. `fixed`: what no loose row may find.
  GuardPlan(const std::vector<GuardRow>& rows, const absl::flat_hash_set<const void*>& fixed,
            const FoundRows& found);

  enum class Answer : uint8_t { yes, no, unknown };
  /// Do all rows hold?
  Answer ask(PyObject* args, PyObject* kwargs, FoundRows& found) const;

 private:
  struct Watch {
    enum class Kind : uint8_t {
      alive,   // what `wanted` refers to weakly is still there
      dict,    // `object` was not written to since its rows held
      type,    // `object` is of the type `wanted`: classes can be assigned to
      tensor,  // the same, and it is still the tensor `inner`
      row,     // the row finds `object` again
    };
    Kind kind;
    int row = -1;
    PyObject* object = nullptr;
    const void* wanted = nullptr;
    const void* inner = nullptr;
    PyObject** place = nullptr;      // where the owner of a dict has it; null: nowhere else
    uint32_t covered = 0, past = 0;  // the rows of a dict, in covered_
    uint64_t version = 0;            // of a dict, when they held
  };

  bool settles(const GuardRow& r) const;
  void watch(int row, const FoundRows& found, std::vector<std::vector<int>>& covered);
  void watch_dict(int row, PyObject* dict, const FoundRows& found);
  void watch_value(int row, PyObject* object);
  Answer look(Watch& w, RowEvaluation& evaluation, FoundRows& found) const;
  Answer find_again(int row, RowEvaluation& evaluation, FoundRows& found) const;
  bool replace_tensor(int row, PyObject* now) const;

  const std::vector<GuardRow>& rows_;
  const absl::flat_hash_set<const void*>& fixed_;
  std::vector<int> covered_;
  std::vector<int> rest_;      // rows that begin at arguments or at what is made anew
  std::vector<char> settled_;  // by row: it is none of them
  // As of the last call whose rows all held, under Python's lock:
  mutable std::vector<Watch> watches_;
  mutable std::vector<PyObject*> objects_;          // by row
  mutable std::vector<int> watch_of_;               // by row: of its dict or tensor; or -1
  mutable absl::flat_hash_set<const void*> loose_;  // what settled rows found that are loose
  mutable uint64_t hooks_ = 0;                      // how many hooks had been added
};

/// Have these of the rows, as far as they are loose, found what neither another of them nor one of
/// `others` has found? A tensor counts as what the Python object holds: a gradient is another
/// object at each look.
bool are_distinct(const std::vector<GuardRow>& rows, absl::Span<const int> which,
                  const FoundRows& found, const absl::flat_hash_set<const void*>& fixed,
                  const absl::flat_hash_set<const void*>& others);

}  // namespace lathe::py
