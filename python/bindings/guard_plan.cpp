#include "python/bindings/guard_plan.h"

#include <algorithm>

#include "python/bindings/autograd.h"
#include "python/bindings/tensor.h"

namespace lathe::py {
namespace {

bool is_of_tensor(const GuardRow& r) {
  return r.test == RowTest::tensor || r.test == RowTest::hooked;
}

/// What a loose row found, as an address that tells it from all else; null: nothing.
const void* identity_of(const GuardRow& r, int row, const FoundRows& found) {
  PyObject* now = found.objects[static_cast<size_t>(row)];
  if (!is_of_tensor(r)) return now;
  return now != nullptr && is_tensor(now) ? impl_of(now) : found.tensor(row).impl();
}

/// May another class be assigned to its __class__?
bool may_change_class(PyObject* o) {
  return !(PyFunction_Check(o) || PyCFunction_Check(o) || PyDict_CheckExact(o) ||
           PyList_CheckExact(o) || PyTuple_CheckExact(o));
}

/// Where an object has its dict; null: it is a module's, whose dict never changes.
PyObject** place_of_dict(PyObject* owner) {
  return PyModule_Check(owner) ? nullptr : _PyObject_GetDictPtr(owner);
}

}  // namespace

bool are_distinct(const std::vector<GuardRow>& rows, absl::Span<const int> which,
                  const FoundRows& found, const absl::flat_hash_set<const void*>& fixed,
                  const absl::flat_hash_set<const void*>& others) {
  absl::InlinedVector<const void*, 16> loose;
  for (int i : which) {
    const GuardRow& r = rows[static_cast<size_t>(i)];
    const void* now = r.loose ? identity_of(r, i, found) : nullptr;
    if (now == nullptr) continue;
    if (fixed.contains(now) || others.contains(now)) return false;
    loose.push_back(now);
  }
  if (loose.size() < 2) return true;
  std::sort(loose.begin(), loose.end());
  return std::adjacent_find(loose.begin(), loose.end()) == loose.end();
}

// ── making it ───────────────────────────────────────────────────────────────────────────────────

GuardPlan::GuardPlan(const std::vector<GuardRow>& rows,
                     const absl::flat_hash_set<const void*>& fixed, const FoundRows& found)
    : rows_(rows),
      fixed_(fixed),
      settled_(rows.size(), 0),
      objects_(found.objects.begin(), found.objects.end()),
      watch_of_(rows.size(), -1),
      hooks_(hooks_added()) {
  std::vector<std::vector<int>> covered(rows.size());  // by the row of a dict
  for (int i = 0; i < static_cast<int>(rows.size()); ++i) {
    const GuardRow& r = rows[static_cast<size_t>(i)];
    settled_[static_cast<size_t>(i)] = settles(r);
    if (!settles(r)) {
      rest_.push_back(i);
      continue;
    }
    if (const void* now = r.loose ? identity_of(r, i, found) : nullptr) loose_.insert(now);
    watch(i, found, covered);
  }
  for (Watch& w : watches_) {
    if (w.kind != Watch::Kind::dict) continue;
    w.covered = static_cast<uint32_t>(covered_.size());
    const std::vector<int>& its = covered[static_cast<size_t>(w.row)];
    covered_.insert(covered_.end(), its.begin(), its.end());
    w.past = static_cast<uint32_t>(covered_.size());
  }
}

/// Is what the row finds reached from what is always there, and the same object at each look?
bool GuardPlan::settles(const GuardRow& r) const {
  if (r.by_row || r.test == RowTest::array || r.test == RowTest::again) return false;
  switch (r.step) {
    case RowStep::constant:
      return true;
    case RowStep::dict:
    case RowStep::key:
    case RowStep::item:
    case RowStep::cell:
    case RowStep::member:
    case RowStep::part:
    case RowStep::type:
    case RowStep::class_dict:
    case RowStep::reference:
    case RowStep::value:
      return settled_[static_cast<size_t>(r.parent)] != 0;
    case RowStep::arguments:
    case RowStep::named:
    case RowStep::content:
    case RowStep::answer:
    case RowStep::default_dtype:
    case RowStep::of_value:
    case RowStep::gradient:
      return false;
  }
  return false;
}

void GuardPlan::watch(int row, const FoundRows& found, std::vector<std::vector<int>>& covered) {
  const GuardRow& r = rows_[static_cast<size_t>(row)];
  PyObject* now = found.objects[static_cast<size_t>(row)];
  auto of_dict = [&] {  // of a dict that is watched
    const int at = r.parent < 0 ? -1 : watch_of_[static_cast<size_t>(r.parent)];
    return at >= 0 && watches_[static_cast<size_t>(at)].kind == Watch::Kind::dict;
  };
  if (r.step == RowStep::constant) {
    if (r.weak)
      watches_.push_back(
          {.kind = Watch::Kind::alive, .row = row, .object = now, .wanted = r.wanted.ptr()});
  } else if ((r.step == RowStep::key || r.step == RowStep::value) && of_dict()) {
    covered[static_cast<size_t>(r.parent)].push_back(row);
  } else if (r.step != RowStep::dict ||
             place_of_dict(found.objects[static_cast<size_t>(r.parent)]) == nullptr) {
    watches_.push_back({.kind = Watch::Kind::row, .row = row, .object = now});
  }
  if (r.step == RowStep::value || now == nullptr) return;
  watch_value(row, now);
  if (r.has_rows && PyDict_Check(now)) watch_dict(row, now, found);
}

void GuardPlan::watch_dict(int row, PyObject* dict, const FoundRows& found) {
  const GuardRow& r = rows_[static_cast<size_t>(row)];
  watch_of_[static_cast<size_t>(row)] = static_cast<int>(watches_.size());
  Watch w{.kind = Watch::Kind::dict, .row = row, .object = dict, .version = version_of(dict)};
  if (r.step == RowStep::dict)
    w.place = place_of_dict(found.objects[static_cast<size_t>(r.parent)]);
  watches_.push_back(w);
}

/// What the object may have become since, without a write to where it was found.
void GuardPlan::watch_value(int row, PyObject* object) {
  const GuardRow& r = rows_[static_cast<size_t>(row)];
  Watch w{.kind = Watch::Kind::type, .row = row, .object = object};
  if (is_of_tensor(r)) {
    w.kind = Watch::Kind::tensor;
    w.wanted = r.wanted.ptr();
    w.inner = impl_of(object);
    watch_of_[static_cast<size_t>(row)] = static_cast<int>(watches_.size());
  } else if ((r.test == RowTest::is || r.test == RowTest::type) && may_change_class(object)) {
    w.wanted = r.test == RowTest::is ? static_cast<const void*>(r.type) : r.wanted.ptr();
  } else {
    return;
  }
  watches_.push_back(w);
}

// ── asking ──────────────────────────────────────────────────────────────────────────────────────

GuardPlan::Answer GuardPlan::ask(PyObject* args, PyObject* kwargs, FoundRows& found) const {
  found.objects.assign(objects_.begin(), objects_.end());
  RowEvaluation evaluation(rows_, args, kwargs, found);
  for (Watch& w : watches_)
    if (const Answer a = look(w, evaluation, found); a != Answer::yes) return a;
  if (hooks_ != hooks_added()) {
    for (const Watch& w : watches_)
      if (w.kind == Watch::Kind::tensor &&
          rows_[static_cast<size_t>(w.row)].test == RowTest::tensor && has_hooks(w.object))
        return Answer::no;
    hooks_ = hooks_added();
  }
  for (int i : rest_)
    if (!evaluation.holds(static_cast<size_t>(i))) return Answer::no;
  return are_distinct(rows_, rest_, found, fixed_, loose_) ? Answer::yes : Answer::no;
}

GuardPlan::Answer GuardPlan::look(Watch& w, RowEvaluation& evaluation, FoundRows& found) const {
  const auto type = [&] { return static_cast<const void*>(Py_TYPE(w.object)); };
  switch (w.kind) {
    case Watch::Kind::alive: {
      PyObject* weak = static_cast<PyObject*>(const_cast<void*>(w.wanted));
      return referent(weak) == w.object ? Answer::yes : Answer::no;
    }
    case Watch::Kind::type:
      return type() == w.wanted ? Answer::yes : Answer::no;
    case Watch::Kind::tensor:
      if (type() != w.wanted) return Answer::no;
      return impl_of(w.object) == w.inner ? Answer::yes : Answer::unknown;
    case Watch::Kind::row:
      return find_again(w.row, evaluation, found);
    case Watch::Kind::dict: {
      if (w.place != nullptr && *w.place != w.object) return Answer::unknown;
      const uint64_t version = version_of(w.object);
      if (version == w.version && version != 0) return Answer::yes;
      for (uint32_t k = w.covered; k < w.past; ++k)
        if (const Answer a = find_again(covered_[k], evaluation, found); a != Answer::yes) return a;
      w.version = version;
      return Answer::yes;
    }
  }
  return Answer::unknown;
}

/// Another object than before will do where nothing else depends on which it is.
GuardPlan::Answer GuardPlan::find_again(int row, RowEvaluation& evaluation,
                                        FoundRows& found) const {
  if (!evaluation.holds(static_cast<size_t>(row))) return Answer::no;
  const GuardRow& r = rows_[static_cast<size_t>(row)];
  PyObject* now = found.objects[static_cast<size_t>(row)];
  PyObject*& before = objects_[static_cast<size_t>(row)];
  if (now == before) return Answer::yes;
  if (r.has_rows) return Answer::unknown;
  if (r.loose && !(is_of_tensor(r) && replace_tensor(row, now))) return Answer::unknown;
  before = now;
  return Answer::yes;
}

/// The row finds another tensor from now on; false: another row has found it.
bool GuardPlan::replace_tensor(int row, PyObject* now) const {
  Watch& w = watches_[static_cast<size_t>(watch_of_[static_cast<size_t>(row)])];
  if (fixed_.contains(impl_of(now)) || !loose_.insert(impl_of(now)).second) return false;
  loose_.erase(w.inner);
  w.object = now;
  w.inner = impl_of(now);
  return true;
}

}  // namespace lathe::py
