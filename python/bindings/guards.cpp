#include "python/bindings/guards.h"

#include <absl/container/flat_hash_set.h>

#include <algorithm>
#include <array>
#include <bit>

#include "autodiff/tape.h"
#include "core/base/error.h"
#include "python/bindings/autograd.h"
#include "python/bindings/build.h"
#include "python/bindings/tensor.h"
#include "python/bindings/values.h"

namespace lathe::py {
namespace {

/// Plain values: numbers, texts, and tuples and frozensets of them; other types of ours and of
/// Python's compare as they do.
bool same_plain(PyObject* a, PyObject* b) {
  if (a == b) return true;
  if (Py_TYPE(a) != Py_TYPE(b)) return false;
  if (PyFloat_Check(a))
    return std::bit_cast<uint64_t>(PyFloat_AS_DOUBLE(a)) ==
           std::bit_cast<uint64_t>(PyFloat_AS_DOUBLE(b));
  if (PyComplex_CheckExact(a)) {
    const Py_complex x = PyComplex_AsCComplex(a), y = PyComplex_AsCComplex(b);
    return std::bit_cast<std::array<uint64_t, 2>>(x) == std::bit_cast<std::array<uint64_t, 2>>(y);
  }
  if (PyTuple_CheckExact(a) || PyList_CheckExact(a)) {
    const Py_ssize_t size = PySequence_Fast_GET_SIZE(a);
    if (size != PySequence_Fast_GET_SIZE(b)) return false;
    for (Py_ssize_t i = 0; i < size; ++i)
      if (!same_plain(PySequence_Fast_GET_ITEM(a, i), PySequence_Fast_GET_ITEM(b, i))) return false;
    return true;
  }
  const int equal = PyObject_RichCompareBool(a, b, Py_EQ);
  if (equal < 0) PyErr_Clear();
  return equal == 1;
}

PyObject* referent(PyObject* weak) {
#if PY_VERSION_HEX >= 0x030d0000
  PyObject* o = nullptr;
  if (PyWeakref_GetRef(weak, &o) <= 0) return nullptr;
  Py_DECREF(o);  // borrowed: who holds it holds it while rows are evaluated
  return o;
#else
  PyObject* o = PyWeakref_GetObject(weak);
  return o == Py_None ? nullptr : o;
#endif
}

Py_ssize_t length_of(PyObject* o) {
  if (PyTuple_Check(o)) return PyTuple_GET_SIZE(o);
  if (PyList_Check(o)) return PyList_GET_SIZE(o);
  if (PyDict_Check(o)) return PyDict_GET_SIZE(o);
  if (PyAnySet_Check(o)) return PySet_GET_SIZE(o);
  return -1;
}

/// The dict of an object or module, made if need be: borrowed from it, or null.
PyObject* dict_of(PyObject* o) {
  if (PyModule_Check(o)) return PyModule_GetDict(o);
  PyObject* dict = PyObject_GenericGetDict(o, nullptr);
  if (dict == nullptr) {
    PyErr_Clear();
    return nullptr;
  }
  Py_DECREF(dict);
  return dict;
}

/// Another one after each write to the dict; 0: there is none to ask for.
uint64_t version_of([[maybe_unused]] PyObject* dict) {
#if PY_VERSION_HEX < 0x030d0000
  _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wdeprecated-declarations\"");
  const uint64_t version = reinterpret_cast<PyDictObject*>(dict)->ma_version_tag;
  _Pragma("GCC diagnostic pop");
  return version;
#else
  return 0;
#endif
}

PyObject* class_dict(PyObject* type) { return reinterpret_cast<PyTypeObject*>(type)->tp_dict; }

bool same_keys(PyObject* dict, PyObject* wanted) {
  if (!PyDict_Check(dict) || PyDict_GET_SIZE(dict) != PyTuple_GET_SIZE(wanted)) return false;
  Py_ssize_t place = 0;
  PyObject *key = nullptr, *item = nullptr;
  for (Py_ssize_t i = 0; PyDict_Next(dict, &place, &key, &item); ++i)
    if (!same_plain(key, PyTuple_GET_ITEM(wanted, i))) return false;
  return true;
}

template <class Kind, size_t n>
Kind named(nb::handle text, const std::string_view (&names)[n]) {
  const std::string_view name = text_of(text.ptr());
  const auto* found = std::find(std::begin(names), std::end(names), name);
  if (found == std::end(names))
    throw TypeError({.op = "trace", .problem = "no such row", .got = std::string(name)});
  return static_cast<Kind>(found - std::begin(names));
}

}  // namespace

Tensor FoundRows::tensor(int row) const {
  PyObject* o = objects[static_cast<size_t>(row)];
  if (o != nullptr && is_tensor(o)) return tensor_of(o);
  for (const auto& [at, t] : tensors)
    if (at == row) return t;
  return {};
}

// ── reading what was recorded ───────────────────────────────────────────────────────────────────

Guards::Guards(nb::list rows) {
  constexpr std::string_view kSteps[] = {
      "arguments", "named", "constant", "dict",   "key",      "item", "cell",      "member", "part",
      "type",      "class", "content",  "answer", "of_value", "grad", "reference", "value"};
  constexpr std::string_view kTests[] = {"anything", "is",     "equal",  "type",  "absent",
                                         "length",   "keys",   "tensor", "array", "float",
                                         "again",    "bundle", "hooked"};
  for (nb::handle h : rows) {
    auto t = nb::borrow<nb::tuple>(h);
    if (t.size() != 6) throw TypeError({.op = "trace", .problem = "a row has six parts"});
    Row r;
    r.step = named<Step>(t[0], kSteps);
    r.parent = nb::cast<int>(t[1]);
    r.key = nb::borrow(t[2]);
    r.test = named<Test>(t[3], kTests);
    r.wanted = nb::borrow(t[4]);
    auto flags = nb::borrow<nb::tuple>(t[5]);
    r.loose = nb::cast<bool>(flags[0]);
    r.by_row = nb::cast<bool>(flags[1]);
    r.weak = nb::cast<bool>(flags[2]);
    const bool numbered = r.step == Step::item || r.by_row;
    if (r.test == Test::length || r.test == Test::again)
      r.number = nb::cast<long>(
          r.test == Test::length ? nb::object(nb::borrow<nb::tuple>(r.wanted)[1]) : r.wanted);
    if (numbered && !PyLong_Check(r.key.ptr()))
      throw TypeError({.op = "trace", .problem = "a place is a number"});
    if (r.parent >= static_cast<int>(rows_.size()) ||
        (r.parent < 0 && r.step != Step::arguments && r.step != Step::named &&
         r.step != Step::constant && r.step != Step::answer))
      throw TypeError({.op = "trace", .problem = "a row without the one that it begins at"});
    if (r.parent >= 0) rows_[static_cast<size_t>(r.parent)].has_rows = true;
    if (r.by_row) rows_[nb::cast<size_t>(r.key)].has_rows = true;
    any_loose_ |= r.loose;
    if (r.by_row) r.by = nb::cast<int>(r.key);
    if (r.test == Test::is || r.step == Step::constant) {
      PyObject* same = r.weak ? referent(r.wanted.ptr()) : r.wanted.ptr();
      if (same != nullptr) r.type = Py_TYPE(same);
      fixed_.insert(same);
    }
    rows_.push_back(std::move(r));
  }
}

// ── evaluating ──────────────────────────────────────────────────────────────────────────────────

class Guards::Evaluation {
 public:
  Evaluation(const std::vector<Row>& rows, PyObject* args, PyObject* kwargs, FoundRows& found)
      : rows_(rows), args_(args), kwargs_(kwargs), found_(found) {
    found_.objects.assign(rows.size(), nullptr);
    fresh_.assign(rows.size(), 0);
  }
  static PyObject* const kNothing;

  /// Is row i as it was when all rows held? Not an answer to whether it holds.
  bool unchanged(size_t i) {
    const Row& r = rows_[i];
    const bool reads = r.step == Step::key || (r.step == Step::value && r.test == Test::keys);
    if (!reads || r.by_row || r.last == nullptr) return false;
    if (!fresh_[static_cast<size_t>(r.parent)]) return false;
    found_.objects[i] = r.last;
    return r.test != Test::hooked && r.test != Test::array && r.test != Test::again;
  }

  /// The row holds because nothing was written since it did last.
  bool still_holds(size_t i) {
    const Row& r = rows_[i];
    if (r.last == kNothing) {
      found_.objects[i] = nullptr;
      return true;
    }
    PyObject* now = r.last;
    if (r.test == Test::tensor && (!of_type(r, now) || has_hooks(now))) return false;
    if (r.test == Test::type && !of_type(r, now)) return false;
    if (r.test == Test::is && Py_TYPE(now) != r.type) return false;
    note(i, now);
    return true;
  }
  /// Is there a dict that was written to, or another object where any may be?
  bool moved = false;

  bool holds(size_t i) {
    if (unchanged(i)) return still_holds(i);
    const Row& r = rows_[i];
    PyObject* now = step(r, static_cast<int>(i));
    found_.objects[i] = now;
    if (!tests(r, static_cast<int>(i), now)) return false;
    moved |= r.loose && (now != r.last || now == nullptr);
    note(i, now);
    return true;
  }

  /// The rows whose objects may be any are each another's than all that others found.
  bool distinct(const absl::flat_hash_set<PyObject*>& fixed) {
    absl::InlinedVector<PyObject*, 64> loose;
    for (size_t i = 0; i < rows_.size(); ++i)
      if (rows_[i].loose && rows_[i].test != Test::tensor && rows_[i].test != Test::hooked &&
          found_.objects[i] != nullptr)
        loose.push_back(found_.objects[i]);
    absl::InlinedVector<TensorImpl*, 64> tensors;  // a gradient is a new object at each look
    for (size_t i = 0; i < rows_.size(); ++i)
      if (rows_[i].test == Test::tensor || rows_[i].test == Test::hooked)
        if (Tensor t = found_.tensor(static_cast<int>(i)); t.defined()) tensors.push_back(t.impl());
    std::sort(tensors.begin(), tensors.end());
    if (std::adjacent_find(tensors.begin(), tensors.end()) != tensors.end()) return false;
    std::sort(loose.begin(), loose.end());
    if (std::adjacent_find(loose.begin(), loose.end()) != loose.end()) return false;
    return std::none_of(loose.begin(), loose.end(), [&](PyObject* o) { return fixed.contains(o); });
  }

 private:
  void note(size_t i, PyObject* now) {
    const Row& r = rows_[i];
    if (!r.has_rows || now == nullptr || r.step == Step::named || !PyDict_Check(now)) return;
    const uint64_t version = version_of(now);
    fresh_[i] = now == r.last && version != 0 && version == r.version;
    moved |= fresh_[i] == 0;
  }

  PyObject* kept(PyObject* made) {
    if (made == nullptr) {
      PyErr_Clear();
      return nullptr;
    }
    found_.made.push_back(nb::steal(made));
    return made;
  }

  PyObject* step(const Row& r, int row) {
    PyObject* from = r.parent >= 0 ? found_.objects[static_cast<size_t>(r.parent)] : nullptr;
    PyObject* key = r.key.ptr();
    switch (r.step) {
      case Step::arguments:
        return args_;
      case Step::named:
        return kwargs_;
      case Step::constant:
        return r.weak ? referent(r.wanted.ptr()) : r.wanted.ptr();
      case Step::dict:
        return from == nullptr ? nullptr : dict_of(from);
      case Step::key: {
        if (from == nullptr || !PyDict_Check(from)) return nullptr;
        if (r.by_row) key = found_.objects[static_cast<size_t>(r.by)];
        PyObject* now = key == nullptr ? nullptr : PyDict_GetItemWithError(from, key);
        if (now == nullptr) PyErr_Clear();
        return now;
      }
      case Step::item: {
        const Py_ssize_t i = PyLong_AsSsize_t(key);
        if (from == nullptr || i >= length_of(from)) return nullptr;
        return PyTuple_Check(from)  ? PyTuple_GET_ITEM(from, i)
               : PyList_Check(from) ? PyList_GET_ITEM(from, i)
                                    : nullptr;
      }
      case Step::cell:
        return from != nullptr && PyCell_Check(from) ? PyCell_GET(from) : nullptr;
      case Step::member:
        return from == nullptr ? nullptr
                               : kept(Py_TYPE(key)->tp_descr_get(
                                     key, from, reinterpret_cast<PyObject*>(Py_TYPE(from))));
      case Step::part:
        return from == nullptr ? nullptr : kept(PyObject_GetAttr(from, key));
      case Step::type:
        return from == nullptr ? nullptr : reinterpret_cast<PyObject*>(Py_TYPE(from));
      case Step::class_dict: {
        if (from == nullptr || !PyType_Check(from)) return nullptr;
        PyObject* now = PyDict_GetItemWithError(class_dict(from), key);
        if (now == nullptr) PyErr_Clear();
        return now;
      }
      case Step::content:
        return from == nullptr ? nullptr : kept(PySequence_List(from));
      case Step::answer:
        return kept(PyObject_CallObject(PyTuple_GET_ITEM(key, 0), PyTuple_GET_ITEM(key, 1)));
      case Step::of_value:
        return from == nullptr ? nullptr : kept(PyObject_CallOneArg(key, from));
      case Step::gradient:
        return gradient(r, row, from);
      case Step::reference:
        return from == nullptr || !PyWeakref_Check(from) ? nullptr : referent(from);
      case Step::value:
        return from;
    }
    return nullptr;
  }

  PyObject* gradient(const Row& r, int row, PyObject* from) {
    Tensor t = from != nullptr && is_tensor(from) ? tensor_of(from) : found_.tensor(r.parent);
    const TapeMeta* m = t.defined() ? meta(t) : nullptr;
    Tensor grad = m != nullptr ? m->grad.get() : Tensor();
    if (!grad.defined()) return nullptr;
    if (r.has_rows) return kept(wrap(grad));
    found_.tensors.emplace_back(row, std::move(grad));
    return nullptr;
  }

  bool array(const Row& r, int row, PyObject* now) {
    auto wanted = nb::borrow<nb::tuple>(r.wanted);
    if (now == nullptr || reinterpret_cast<PyObject*>(Py_TYPE(now)) != wanted[0].ptr())
      return false;
    Tensor t;
    try {
      t = share_buffer(now, false);
    } catch (...) {  // it lies as no tensor does now
      return false;
    }
    auto shape = nb::borrow<nb::tuple>(wanted[2]);
    if (dtype_object(t.dtype()) != wanted[1].ptr() || static_cast<size_t>(t.rank()) != shape.size())
      return false;
    for (int i = 0; i < t.rank(); ++i)
      if (t.size(i).value() != nb::cast<int64_t>(shape[static_cast<size_t>(i)])) return false;
    found_.tensors.emplace_back(row, std::move(t));
    return true;
  }

  bool tests(const Row& r, int row, PyObject* now) {
    PyObject* wanted = r.wanted.ptr();
    switch (r.test) {
      case Test::any:
        return now != nullptr;
      case Test::is:
        return now != nullptr && now == (r.weak ? referent(wanted) : wanted) &&
               Py_TYPE(now) == r.type;
      case Test::equal:
        return now != nullptr && same_plain(now, wanted);
      case Test::type:
        return now != nullptr && reinterpret_cast<PyObject*>(Py_TYPE(now)) == wanted;
      case Test::absent:
        return now == nullptr && (r.step != Step::gradient || !found_.tensor(row).defined());
      case Test::length:
        return now != nullptr &&
               reinterpret_cast<PyObject*>(Py_TYPE(now)) == PyTuple_GET_ITEM(wanted, 0) &&
               length_of(now) == r.number;
      case Test::keys:
        return now != nullptr && same_keys(now, wanted);
      case Test::tensor:
        if (r.step == Step::gradient) return found_.tensor(row).defined();
        return of_type(r, now) && !has_hooks(now);
      case Test::hooked:
        return of_type(r, now);
      case Test::array:
        return array(r, row, now);
      case Test::real:
        return of_type(r, now);
      case Test::again:
        return again(r, row, now);
      case Test::bundle:
        return now != nullptr && PyType_Check(now) && bundle(r, now);
    }
    return false;
  }

  static bool of_type(const Row& r, PyObject* now) {
    return now != nullptr && reinterpret_cast<PyObject*>(Py_TYPE(now)) == r.wanted.ptr();
  }
  static bool has_hooks(PyObject* now) {
    const TapeMeta* m = meta(tensor_of(now));
    return m != nullptr && !hooks_on(*m).empty() && hooks_of(tensor_of(now)).size() != 0;
  }

  /// How many names that begin with "__" a class has itself.
  static long special_names(PyObject* cls) {
    long count = 0;
    Py_ssize_t place = 0;
    PyObject *key = nullptr, *item = nullptr;
    while (PyDict_Next(class_dict(cls), &place, &key, &item) != 0)
      if (PyUnicode_Check(key)) count += text_of(key).starts_with("__") ? 1 : 0;
    return count;
  }

  /// Names are only looked up where the interpreter says that the class or a base has changed.
  static bool bundle(const Row& r, PyObject* cls) {
    auto* type = reinterpret_cast<PyTypeObject*>(cls);
    if (r.version != 0 && type->tp_version_tag == r.version) return true;  // never of a dict
    PyObject* wanted = r.wanted.ptr();
    if (PyTuple_GET_ITEM(wanted, 0) != type->tp_mro) return false;
    for (Py_ssize_t i = 1; i < PyTuple_GET_SIZE(wanted); ++i) {
      nb::handle h = PyTuple_GET_ITEM(wanted, i);
      if (PyUnicode_GET_LENGTH(PyTuple_GET_ITEM(h.ptr(), 1)) == 0) {
        if (special_names(PyTuple_GET_ITEM(h.ptr(), 0)) !=
            PyLong_AsLong(PyTuple_GET_ITEM(h.ptr(), 2)))
          return false;
        continue;
      }
      PyObject* now = PyDict_GetItemWithError(class_dict(PyTuple_GET_ITEM(h.ptr(), 0)),
                                              PyTuple_GET_ITEM(h.ptr(), 1));
      if (now == nullptr) PyErr_Clear();
      const bool absent = PyTuple_GET_SIZE(h.ptr()) == 2;
      if (absent != (now == nullptr)) return false;
      if (!absent && !same_plain(now, PyTuple_GET_ITEM(h.ptr(), 2))) return false;
    }
    Py_XDECREF(
        PyObject_GetAttrString(cls, "__doc__"));  // gives the class a version, if it has none
    PyErr_Clear();
    r.version = type->tp_version_tag;
    return true;
  }

  bool again(const Row& r, int row, PyObject* now) {
    const int other = static_cast<int>(r.number);
    if (now != nullptr && now == found_.objects[static_cast<size_t>(other)]) return true;
    Tensor a = found_.tensor(row), b = found_.tensor(other);
    return a.defined() && b.defined() && same(a, b);
  }

  const std::vector<Row>& rows_;
  PyObject *args_, *kwargs_;
  FoundRows& found_;
  absl::InlinedVector<char, 64> fresh_;  // by row: a dict that was not written to
};

PyObject* const Guards::Evaluation::kNothing = reinterpret_cast<PyObject*>(1);

void Guards::remember(const FoundRows& found) const {
  for (size_t i = 0; i < rows_.size(); ++i) {
    const Row& r = rows_[i];
    PyObject* now = found.objects[i];
    r.last = now == nullptr ? Evaluation::kNothing : now;
    if (r.has_rows && now != nullptr && PyDict_Check(now)) r.version = version_of(now);
  }
}

bool Guards::hold(PyObject* args, PyObject* kwargs, FoundRows& found) const {
  if (rows_.empty()) return false;  // the collector has cleared them
  Evaluation e(rows_, args, kwargs, found);
  for (size_t i = 0; i < rows_.size(); ++i)
    if (!e.holds(i)) return false;
  if (!e.moved) return true;
  if (any_loose_ && !e.distinct(fixed_)) return false;
  remember(found);
  return true;
}

nb::list Guards::misses(nb::tuple args, nb::dict kwargs) const {
  FoundRows found;
  Evaluation e(rows_, args.ptr(), kwargs.ptr(), found);
  std::vector<bool> lost(rows_.size(), false);
  nb::list out;
  for (size_t i = 0; i < rows_.size(); ++i) {
    const Row& r = rows_[i];
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

ir::Datum Guards::input(const FoundRows& found, int row) {
  if (Tensor t = found.tensor(row); t.defined()) {
    if (t.impl()->view) refresh(t);
    return t;
  }
  PyObject* o = found.objects[static_cast<size_t>(row)];
  return Arg(Real(o != nullptr && PyFloat_Check(o) ? PyFloat_AS_DOUBLE(o) : 0.0));
}

// ── for Python's collector ──────────────────────────────────────────────────────────────────────

int Guards::traverse(visitproc visit, void* arg) const {
  for (const Row& r : rows_) {
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
      .def("hold", [](const Guards& g, nb::tuple args, nb::dict kwargs) {
        FoundRows found;
        return g.hold(args.ptr(), kwargs.ptr(), found);
      });
}

}  // namespace lathe::py
