#include "python/bindings/guards.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "core/base/error.h"
#include "core/dispatch/call.h"
#include "python/bindings/tensor.h"
#include "python/bindings/values.h"

namespace lathe::py {
namespace {

template <class Kind, size_t n>
Kind named(nb::handle text, const std::string_view (&names)[n]) {
  const std::string_view name = text_of(text.ptr());
  const auto* found = std::find(std::begin(names), std::end(names), name);
  if (found == std::end(names))
    throw TypeError({.op = "trace", .problem = "no such row", .got = std::string(name)});
  return static_cast<Kind>(found - std::begin(names));
}

}  // namespace

// ── reading what was recorded ───────────────────────────────────────────────────────────────────

Guards::Guards(nb::list rows) {
  constexpr std::string_view kSteps[] = {
      "arguments", "named",         "constant", "dict", "key",       "item",
      "cell",      "member",        "part",     "type", "class",     "content",
      "answer",    "default_dtype", "of_value", "grad", "reference", "value"};
  constexpr std::string_view kTests[] = {"anything", "is",    "equal",  "type",  "absent",
                                         "length",   "keys",  "tensor", "array", "float",
                                         "integer",  "again", "bundle", "hooked"};
  for (nb::handle h : rows) {
    auto t = nb::borrow<nb::tuple>(h);
    if (t.size() != 6) throw TypeError({.op = "trace", .problem = "a row has six parts"});
    GuardRow r;
    r.step = named<RowStep>(t[0], kSteps);
    r.parent = nb::cast<int>(t[1]);
    r.key = nb::borrow(t[2]);
    r.test = named<RowTest>(t[3], kTests);
    r.wanted = nb::borrow(t[4]);
    auto flags = nb::borrow<nb::tuple>(t[5]);
    r.loose = nb::cast<bool>(flags[0]);
    r.by_row = nb::cast<bool>(flags[1]);
    r.weak = nb::cast<bool>(flags[2]);
    const bool numbered = r.step == RowStep::item || r.by_row;
    if (r.test == RowTest::length || r.test == RowTest::again)
      r.number = nb::cast<long>(
          r.test == RowTest::length ? nb::object(nb::borrow<nb::tuple>(r.wanted)[1]) : r.wanted);
    if (numbered && !PyLong_Check(r.key.ptr()))
      throw TypeError({.op = "trace", .problem = "a place is a number"});
    if (r.parent >= static_cast<int>(rows_.size()) ||
        (r.parent < 0 && r.step != RowStep::arguments && r.step != RowStep::named &&
         r.step != RowStep::constant && r.step != RowStep::answer &&
         r.step != RowStep::default_dtype))
      throw TypeError({.op = "trace", .problem = "a row without the one that it begins at"});
    if (r.parent >= 0) rows_[static_cast<size_t>(r.parent)].has_rows = true;
    if (r.by_row) rows_[nb::cast<size_t>(r.key)].has_rows = true;
    if (r.by_row) r.by = nb::cast<int>(r.key);
    if (r.test == RowTest::is || r.step == RowStep::constant) {
      PyObject* same = r.weak ? referent(r.wanted.ptr()) : r.wanted.ptr();
      if (same != nullptr) r.type = Py_TYPE(same);
      fixed_.insert(same);
    }
    // A tensor's hash and a plain value's are C's.
    auto in_c = [](const GuardRow& by) {
      return by.test == RowTest::tensor || by.test == RowTest::hooked || by.test == RowTest::equal;
    };
    r.calls = r.step == RowStep::answer || r.step == RowStep::of_value ||
              (r.by_row && !in_c(rows_[static_cast<size_t>(r.by)]));
    rows_.push_back(std::move(r));
  }
  std::set<int> first;
  for (int i = static_cast<int>(rows_.size()); i-- > 0;) {
    GuardRow& r = rows_[static_cast<size_t>(i)];
    if (!r.calls && !first.contains(i)) continue;
    r.asked = r.calls || r.step == RowStep::member || r.step == RowStep::part ||
              r.step == RowStep::content || (r.step == RowStep::gradient && r.has_rows);
    for (int from : {i, r.parent, r.by})
      if (from >= 0) first.insert(from);
  }
  first_.assign(first.begin(), first.end());
}

// ── evaluating ──────────────────────────────────────────────────────────────────────────────────

/// The answers of the rows that call.
std::vector<AskedRow> Guards::ask_first(PyObject* args, PyObject* kwargs) const {
  std::vector<AskedRow> asked;
  if (first_.empty()) return asked;
  FoundRows found;  // of this alone: what is borrowed is looked up again afterwards
  found.objects.assign(rows_.size(), nullptr);
  RowEvaluation(rows_, args, kwargs, found).ask(first_, asked);
  return asked;
}

bool Guards::hold(PyObject* args, PyObject* kwargs, FoundRows& found) const {
  found.asked = ask_first(args, kwargs);
  if (rows_.empty()) return false;  // the collector has cleared them
  if (const std::shared_ptr<const GuardPlan> plan = plan_) {
    const GuardPlan::Answer answer = plan->ask(args, kwargs, found);
    if (answer != GuardPlan::Answer::unknown) return answer == GuardPlan::Answer::yes;
    found.forget();
  }
  found.state = 0;
  found.objects.assign(rows_.size(), nullptr);
  RowEvaluation evaluation(rows_, args, kwargs, found);
  std::vector<int> all(rows_.size());
  std::iota(all.begin(), all.end(), 0);
  for (int i : all)
    if (!evaluation.holds(static_cast<size_t>(i))) return false;
  if (!are_distinct(rows_, all, found, fixed_, {})) return false;
  plan_ = std::make_shared<const GuardPlan>(rows_, fixed_, found);
  plan_->mark(found);
  return true;
}

nb::list Guards::misses(nb::tuple args, nb::dict kwargs) const {
  FoundRows found;
  found.asked = ask_first(args.ptr(), kwargs.ptr());
  found.objects.assign(rows_.size(), nullptr);
  RowEvaluation e(rows_, args.ptr(), kwargs.ptr(), found);
  std::vector<bool> lost(rows_.size(), false);
  nb::list out;
  for (size_t i = 0; i < rows_.size(); ++i) {
    const GuardRow& r = rows_[i];
    if (r.parent >= 0 && lost[static_cast<size_t>(r.parent)]) {
      lost[i] = true;
      continue;
    }
    if (e.holds(i)) continue;
    lost[i] = true;
    PyObject* now = found.objects[i];
    nb::object shown = now != nullptr ? nb::borrow(now) : nb::none();
    if (now == nullptr)
      if (Tensor t = found.tensor(static_cast<int>(i)); t.defined()) shown = owned(wrap(t));
    out.append(nb::make_tuple(i, shown));
  }
  return out;
}

nb::list Guards::tensors(nb::tuple args, nb::dict kwargs) const {
  FoundRows found;
  nb::list out;
  if (!hold(args.ptr(), kwargs.ptr(), found)) return out;
  for (size_t i = 0; i < rows_.size(); ++i)
    if (rows_[i].test == RowTest::tensor)
      if (Tensor t = found.tensor(static_cast<int>(i)); t.defined())
        out.append(nb::make_tuple(i, owned(wrap(t))));
  return out;
}

ir::Datum Guards::input(const FoundRows& found, int row, InputKind kind) const {
  PyObject* o = found.objects[static_cast<size_t>(row)];
  const RowTest test = rows_[static_cast<size_t>(row)].test;
  if (kind != InputKind::tensor) {
    if (o == nullptr) return Arg(Real(0.0));  // never of a row that holds
    if (PyFloat_Check(o)) return Arg(Real(PyFloat_AS_DOUBLE(o)));
    const int64_t n = integer_of(o).value_or(0);
    return kind == InputKind::real ? Arg(Real(static_cast<double>(n))) : Arg(Int(n));
  }
  Tensor t = o != nullptr && (test == RowTest::tensor || test == RowTest::hooked)
                 ? tensor_of(o)  // of which nobody need ask whether it is one
                 : found.tensor(row);
  if (t.defined() && t.impl()->view) refresh(t);
  return t;
}

// ── for Python's collector ──────────────────────────────────────────────────────────────────────

int Guards::traverse(visitproc visit, void* arg) const {
  for (const GuardRow& r : rows_) {
    Py_VISIT(r.key.ptr());
    Py_VISIT(r.wanted.ptr());
  }
  return 0;
}

namespace {

int traverse_guards(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  return nb::inst_ptr<Guards>(self)->traverse(visit, arg);
}
int clear_guards(PyObject* self) {
  if (nb::inst_ready(self)) nb::inst_ptr<Guards>(self)->clear();
  return 0;
}
PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse_guards)},
                       {Py_tp_clear, reinterpret_cast<void*>(clear_guards)},
                       {0, nullptr}};

}  // namespace

void add_guards(nb::module_& m) {
  nb::class_<Guards>(m, "Guards", nb::type_slots(slots),
                     "What a capture read of Python's state, to be asked whether it still holds.")
      .def(nb::init<nb::list>())
      .def("misses", &Guards::misses)
      .def("tensors", &Guards::tensors)
      .def("hold", [](const Guards& g, nb::tuple args, nb::dict kwargs) {
        FoundRows found;
        return g.hold(args.ptr(), kwargs.ptr(), found);
      });
}

}  // namespace lathe::py
