#include "python/bindings/guard_plan.h"

#include <algorithm>

#include "core/dispatch/replay.h"
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
  return now != nullptr && is_tensor(now) ? impl_of(now) : found.impl(row);
}

/// May another class be assigned to its __class__?
bool may_change_class(PyObject* o) {
  return !(PyFunction_Check(o) || PyCFunction_Check(o) || PyDict_CheckExact(o) ||
           PyList_CheckExact(o) || PyTuple_CheckExact(o));
}

/// Does it have no parts that could be assigned to?
bool cannot_change(PyObject* o) {
  if (PyTuple_CheckExact(o)) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(o); ++i)
      if (!cannot_change(PyTuple_GET_ITEM(o, i))) return false;
    return true;
  }
  return o == Py_None || PyBool_Check(o) || PyLong_CheckExact(o) || PyFloat_CheckExact(o) ||
         PyUnicode_CheckExact(o) || PyCode_Check(o);
}

/// Do the row's step and test say that it is this very object, and not another one that has got its
/// address since?
bool says_which(const GuardRow& r, PyObject* now) {
  return r.step == RowStep::constant || r.test == RowTest::is ||
         (r.test == RowTest::equal && now == r.wanted.ptr() && cannot_change(now));
}

/// Where what a row finds is held as long as the parent is there; null: it may move.
PyObject** place_of(const GuardRow& r, PyObject* parent) {
  if (r.step == RowStep::cell && PyCell_Check(parent))
    return &reinterpret_cast<PyCellObject*>(parent)->ob_ref;
  if (r.step == RowStep::item && PyTuple_CheckExact(parent))
    return &PyTuple_GET_ITEM(parent, PyLong_AsSsize_t(r.key.ptr()));
  if (r.step != RowStep::part || !PyFunction_Check(parent)) return nullptr;
  auto* function = reinterpret_cast<PyFunctionObject*>(parent);
  const std::string_view name = text_of(r.key.ptr());
  if (name == "__code__") return &function->func_code;
  if (name == "__defaults__") return &function->func_defaults;
  if (name == "__kwdefaults__") return &function->func_kwdefaults;
  return nullptr;
}

/// Is the row's test the same as whether an object is at this address? That of a tensor is
/// compared by its serial number, and classes that may change are, elsewhere.
bool address_says_all(const GuardRow& r, PyObject* now) {
  switch (r.test) {
    case RowTest::any:
    case RowTest::tensor:
    case RowTest::hooked:
      return true;
    case RowTest::is:  // the row keeps it, so that no other can have the address
      return !r.weak;
    case RowTest::equal:
      return now == r.wanted.ptr() && cannot_change(now);
    case RowTest::type:
      return now != nullptr && may_change_class(now);
    default:
      return false;
  }
}

/// A number that no state of any plan has.
uint64_t next_state() {
  static uint64_t last = 0;  // under Python's lock
  return ++last;
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
      depended_on_(rows.size(), 0),
      dict_at_(rows.size(), -1),
      tensor_at_(rows.size(), -1),
      type_at_(rows.size(), -1),
      objects_(found.objects.begin(), found.objects.end()),
      hooks_(hooks_added()),
      layouts_(layout_changes()),
      state_(next_state()),
      tensors_state_(next_state()) {
  std::vector<std::vector<int>> covered(rows.size());  // by the row of a dict
  for (int i = 0; i < static_cast<int>(rows.size()); ++i) {
    const GuardRow& r = rows[static_cast<size_t>(i)];
    settled_[static_cast<size_t>(i)] = settles(r);
    if (!settles(r)) {
      rest_.push_back(i);
      continue;
    }
    depended_on_[static_cast<size_t>(i)] |= r.has_rows;
    if (r.test == RowTest::again) depended_on_[static_cast<size_t>(r.number)] = 1;
    if (const void* now = r.loose ? identity_of(r, i, found) : nullptr) loose_.insert(now);
    watch(i, found, covered);
  }
  for (Way& w : ways_) {
    if (w.kind != Way::Kind::dict) continue;
    w.covered = static_cast<uint32_t>(covered_.size());
    const std::vector<int>& its = covered[static_cast<size_t>(w.row)];
    covered_.insert(covered_.end(), its.begin(), its.end());
    w.past = static_cast<uint32_t>(covered_.size());
  }
  writes_ = DictVersion::writes();
}

void GuardPlan::mark(FoundRows& found) const {
  found.state = state_;
  found.settled = tensors_state_;
}

/// Is what the row finds reached from what is always there, and the same object at each look?
bool GuardPlan::settles(const GuardRow& r) const {
  if (r.test == RowTest::array) return false;
  if (r.test == RowTest::again && settled_[static_cast<size_t>(r.number)] == 0) return false;
  // The key has been looked at before the dict is; it says by itself what it equals.
  if (r.by_row && !(r.by < r.parent && tensor_at_[static_cast<size_t>(r.by)] >= 0)) return false;
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
  const bool of_dict = r.parent >= 0 && dict_at_[static_cast<size_t>(r.parent)] >= 0;
  if (r.step == RowStep::constant) {
    if (r.weak)
      ways_.push_back(
          {.kind = Way::Kind::alive, .row = row, .object = now, .weak = r.wanted.ptr()});
  } else if ((r.step == RowStep::key || r.step == RowStep::value) && of_dict) {
    covered[static_cast<size_t>(r.parent)].push_back(row);
  } else if (r.step != RowStep::dict ||
             place_of_dict(found.objects[static_cast<size_t>(r.parent)]) == nullptr) {
    watch_row(row, found);
  }
  if (r.step == RowStep::value || now == nullptr) return;
  watch_value(row, now);
  if (r.has_rows && PyDict_Check(now)) watch_dict(row, now, found);
}

void GuardPlan::watch_row(int row, const FoundRows& found) {
  const GuardRow& r = rows_[static_cast<size_t>(row)];
  PyObject* now = found.objects[static_cast<size_t>(row)];
  Way w{.kind = Way::Kind::row, .row = row};
  const auto parent = static_cast<size_t>(std::max(r.parent, 0));
  PyObject* from = r.parent < 0 ? nullptr : found.objects[parent];
  PyObject** place =
      from != nullptr && says_which(rows_[parent], from) ? place_of(r, from) : nullptr;
  // A function without defaults has a null where Python shows None.
  if (place != nullptr && address_says_all(r, now) &&
      (*place == now || (*place == nullptr && now == Py_None))) {
    w.kind = Way::Kind::place;
    w.place = place;
    w.object = *place;
  }
  ways_.push_back(std::move(w));
}

void GuardPlan::watch_dict(int row, PyObject* dict, const FoundRows& found) {
  const GuardRow& r = rows_[static_cast<size_t>(row)];
  dict_at_[static_cast<size_t>(row)] = static_cast<int>(ways_.size());
  Way w{.kind = Way::Kind::dict, .row = row, .object = dict, .version = DictVersion(dict)};
  if (r.step == RowStep::dict)
    w.place = place_of_dict(found.objects[static_cast<size_t>(r.parent)]);
  ways_.push_back(std::move(w));
}

/// What the object may have become since, without a write to where it was found.
void GuardPlan::watch_value(int row, PyObject* object) {
  const GuardRow& r = rows_[static_cast<size_t>(row)];
  if (is_of_tensor(r)) {
    tensor_at_[static_cast<size_t>(row)] = static_cast<int>(tensors_.size());
    tensors_.push_back({.object = object,
                        .type = r.wanted.ptr(),
                        .serial = serial_of(object),
                        .impl = impl_of(object),
                        .requires_grad = impl_of(object)->requires_grad,
                        .hookless = r.test == RowTest::tensor});
  } else if ((r.test == RowTest::is || r.test == RowTest::type) && may_change_class(object)) {
    type_at_[static_cast<size_t>(row)] = static_cast<int>(types_.size());
    types_.push_back(
        {object, r.test == RowTest::is ? static_cast<const void*>(r.type) : r.wanted.ptr()});
  }
}

// ── asking ──────────────────────────────────────────────────────────────────────────────────────

GuardPlan::Answer GuardPlan::ask(PyObject* args, PyObject* kwargs, FoundRows& found) const {
  if (std::exchange(found.state, 0) != state_)
    found.objects.assign(objects_.begin(), objects_.end());
  RowEvaluation evaluation(rows_, args, kwargs, found);
  const uint64_t writes = DictVersion::writes();
  const bool unwritten = writes != 0 && writes == writes_;
  for (Way& w : ways_)
    if (const Answer a = look(w, unwritten, evaluation, found); a != Answer::yes) return a;
  writes_ = writes;
  for (const OfType& t : types_)
    if (Py_TYPE(t.object) != t.type) return Answer::no;
  if (const Answer a = look_at_tensors(); a != Answer::yes) return a;
  for (int i : rest_)
    if (!evaluation.holds(static_cast<size_t>(i))) return Answer::no;
  if (!are_distinct(rows_, rest_, found, fixed_, loose_)) return Answer::no;
  mark(found);
  return Answer::yes;
}

GuardPlan::Answer GuardPlan::look(Way& w, bool unwritten, RowEvaluation& evaluation,
                                  FoundRows& found) const {
  switch (w.kind) {
    case Way::Kind::alive:
      return referent(w.weak) == w.object ? Answer::yes : Answer::no;
    case Way::Kind::place:
      if (*w.place == w.object) return Answer::yes;
      w.kind = Way::Kind::row;  // another that will do as well
      return find_again(w.row, evaluation, found);
    case Way::Kind::row:
      return find_again(w.row, evaluation, found);
    case Way::Kind::dict: {
      if (w.place != nullptr && *w.place != w.object) return Answer::unknown;
      if (unwritten || w.version->holds(w.object)) return Answer::yes;
      for (uint32_t k = w.covered; k < w.past; ++k)
        if (const Answer a = find_again(covered_[k], evaluation, found); a != Answer::yes) return a;
      w.version.emplace(w.object);
      return Answer::yes;
    }
  }
  return Answer::unknown;
}

GuardPlan::Answer GuardPlan::look_at_tensors() const {
  bool same = layouts_ == layout_changes();
  for (OfTensor& t : tensors_) {
    if (Py_TYPE(t.object) != t.type) return Answer::no;
    if (serial_of(t.object) != t.serial) return Answer::unknown;
    if (t.impl->view) refresh(tensor_of(t.object));  // its base may have another history by now
    if (t.impl->requires_grad == t.requires_grad) continue;
    t.requires_grad = t.impl->requires_grad;
    same = false;
  }
  if (hooks_ != hooks_added()) {
    for (const OfTensor& t : tensors_)
      if (t.hookless && has_hooks(t.object)) return Answer::no;
    hooks_ = hooks_added();
  }
  if (same) return Answer::yes;
  layouts_ = layout_changes();
  tensors_state_ = next_state();
  return Answer::yes;
}

/// Another object than before will do where nothing else depends on which it is.
GuardPlan::Answer GuardPlan::find_again(int row, RowEvaluation& evaluation,
                                        FoundRows& found) const {
  const bool holds = evaluation.holds(static_cast<size_t>(row));
  const GuardRow& r = rows_[static_cast<size_t>(row)];
  if (!holds && r.test != RowTest::again) return Answer::no;  // of that the other may be to come
  PyObject* now = found.objects[static_cast<size_t>(row)];
  PyObject*& before = objects_[static_cast<size_t>(row)];
  if (now == before && !(is_of_tensor(r) && is_another(row, now))) return Answer::yes;
  if (depended_on_[static_cast<size_t>(row)] != 0 || r.test == RowTest::again)
    return Answer::unknown;
  if (is_of_tensor(r) ? !replace_tensor(row, now) : r.loose) return Answer::unknown;
  if (const int at = type_at_[static_cast<size_t>(row)]; at >= 0) {
    if (now == nullptr) return Answer::unknown;
    types_[static_cast<size_t>(at)].object = now;
  }
  before = now;
  state_ = next_state();
  return Answer::yes;
}

/// Is it another tensor than the row found before? Addresses are used again.
bool GuardPlan::is_another(int row, PyObject* now) const {
  return serial_of(now) !=
         tensors_[static_cast<size_t>(tensor_at_[static_cast<size_t>(row)])].serial;
}

/// The row finds another tensor from now on; false: another row has found it.
bool GuardPlan::replace_tensor(int row, PyObject* now) const {
  OfTensor& t = tensors_[static_cast<size_t>(tensor_at_[static_cast<size_t>(row)])];
  if (rows_[static_cast<size_t>(row)].loose) {
    if (fixed_.contains(impl_of(now))) return false;
    loose_.erase(t.impl);
    if (!loose_.insert(impl_of(now)).second) return false;
  }
  t.object = now;
  t.serial = serial_of(now);
  t.impl = impl_of(now);
  t.requires_grad = t.impl->requires_grad;
  tensors_state_ = next_state();
  return true;
}

}  // namespace lathe::py
