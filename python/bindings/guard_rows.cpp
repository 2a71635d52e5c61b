#include "python/bindings/guard_rows.h"

#include <algorithm>
#include <array>
#include <bit>

#include "autodiff/tape.h"
#include "core/base/error.h"
#include "core/dispatch/call.h"
#include "python/bindings/autograd.h"
#include "python/bindings/build.h"
#include "python/bindings/integer.h"
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

PyObject* class_dict(PyObject* type) { return reinterpret_cast<PyTypeObject*>(type)->tp_dict; }

bool same_keys(PyObject* dict, PyObject* wanted) {
  if (!PyDict_Check(dict) || PyDict_GET_SIZE(dict) != PyTuple_GET_SIZE(wanted)) return false;
  Py_ssize_t place = 0;
  PyObject *key = nullptr, *item = nullptr;
  for (Py_ssize_t i = 0; PyDict_Next(dict, &place, &key, &item); ++i)
    if (!same_plain(key, PyTuple_GET_ITEM(wanted, i))) return false;
  return true;
}

bool of_type(const GuardRow& r, PyObject* now) {
  return now != nullptr && reinterpret_cast<PyObject*>(Py_TYPE(now)) == r.wanted.ptr();
}

/// How many names that begin with "__" a class has itself.
long special_names(PyObject* cls) {
  long count = 0;
  Py_ssize_t place = 0;
  PyObject *key = nullptr, *item = nullptr;
  while (PyDict_Next(class_dict(cls), &place, &key, &item) != 0)
    if (PyUnicode_Check(key)) count += text_of(key).starts_with("__") ? 1 : 0;
  return count;
}

/// Names are only looked up where the interpreter says that the class or a base has changed.
bool bundle(const GuardRow& r, PyObject* cls) {
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
  Py_XDECREF(PyObject_GetAttrString(cls, "__doc__"));  // gives the class a version, if it has none
  PyErr_Clear();
  r.version = type->tp_version_tag;
  return true;
}

}  // namespace

PyObject* referent(PyObject* weak) {
#if PY_VERSION_HEX >= 0x030d0000
  PyObject* o = nullptr;
  if (PyWeakref_GetRef(weak, &o) <= 0) return nullptr;
  Py_DECREF(o);  // borrowed: who holds it holds it while rows are evaluated
  return o;
#else
  PyObject* o = PyWeakref_GET_OBJECT(weak);
  return o == Py_None ? nullptr : o;
#endif
}

std::optional<int64_t> integer_of(PyObject* o) {
  int overflow = 0;
  const int64_t v = PyLong_AsLongLongAndOverflow(o, &overflow);
  if (overflow != 0 || v > SymInt::kMostRead || v < -SymInt::kMostRead) return {};
  return v;
}

bool has_hooks(PyObject* now) {
  const TapeMeta* m = meta(tensor_of(now));
  return m != nullptr && !hooks_on(*m).empty() && hooks_of(tensor_of(now)).size() != 0;
}

PyObject* RowEvaluation::kept(PyObject* made) {
  if (made == nullptr) {
    PyErr_Clear();
    return nullptr;
  }
  found_.made.push_back(nb::steal(made));
  return made;
}

namespace {

/// The new object that a row's function gives, or what a dict has for a key whose methods may be
/// Python's; null: nothing.
PyObject* call_for(const GuardRow& r, PyObject* from, PyObject* key) {
  if (r.step == RowStep::answer)
    return PyObject_CallObject(PyTuple_GET_ITEM(key, 0), PyTuple_GET_ITEM(key, 1));
  if (from == nullptr || key == nullptr) return nullptr;
  if (r.step == RowStep::of_value) return PyObject_CallOneArg(key, from);
  return PyDict_Check(from) ? Py_XNewRef(PyDict_GetItemWithError(from, key)) : nullptr;
}

}  // namespace

void RowEvaluation::ask(absl::Span<const int> rows, std::vector<AskedRow>& asked) {
  std::vector<nb::object> held;
  for (int row : rows) {
    const GuardRow& r = rows_[static_cast<size_t>(row)];
    PyObject*& now = found_.objects[static_cast<size_t>(row)];
    if (!r.asked) {
      now = look(r, row);
    } else {
      AskedRow a{row, nb::borrow(parent_of(r)), nb::borrow(key_of(r)), {}};
      a.answer =
          r.calls ? nb::steal(call_for(r, a.from.ptr(), a.key.ptr())) : nb::borrow(look(r, row));
      PyErr_Clear();
      now = a.answer.ptr();
      asked.push_back(std::move(a));
    }
    held.push_back(nb::borrow(now));
  }
}

/// What the row got when it asked, if it was asked of the same objects.
PyObject* RowEvaluation::answer(int row, PyObject* from, PyObject* key) const {
  for (const AskedRow& a : found_.asked)
    if (a.row == row && a.from.ptr() == from && a.key.ptr() == key) return a.answer.ptr();
  return nullptr;
}

PyObject* RowEvaluation::parent_of(const GuardRow& r) const {
  return r.parent >= 0 ? found_.objects[static_cast<size_t>(r.parent)] : nullptr;
}
PyObject* RowEvaluation::key_of(const GuardRow& r) const {
  return r.by_row ? found_.objects[static_cast<size_t>(r.by)] : r.key.ptr();
}

PyObject* RowEvaluation::step(const GuardRow& r, int row) {
  return r.asked ? answer(row, parent_of(r), key_of(r)) : look(r, row);
}

PyObject* RowEvaluation::look(const GuardRow& r, int row) {
  PyObject *from = parent_of(r), *key = key_of(r);
  switch (r.step) {
    case RowStep::arguments:
      return args_;
    case RowStep::named:
      return kwargs_;
    case RowStep::constant:
      return r.weak ? referent(r.wanted.ptr()) : r.wanted.ptr();
    case RowStep::dict:
      return from == nullptr ? nullptr : dict_of(from);
    case RowStep::key: {
      if (from == nullptr || !PyDict_Check(from)) return nullptr;
      PyObject* now = key == nullptr ? nullptr : PyDict_GetItemWithError(from, key);
      if (now == nullptr) PyErr_Clear();
      return now;
    }
    case RowStep::item: {
      const Py_ssize_t i = PyLong_AsSsize_t(key);
      if (from == nullptr || i >= length_of(from)) return nullptr;
      return PyTuple_Check(from)  ? PyTuple_GET_ITEM(from, i)
             : PyList_Check(from) ? PyList_GET_ITEM(from, i)
                                  : nullptr;
    }
    case RowStep::cell:
      return from != nullptr && PyCell_Check(from) ? PyCell_GET(from) : nullptr;
    case RowStep::member:
      return from == nullptr ? nullptr
                             : kept(Py_TYPE(key)->tp_descr_get(
                                   key, from, reinterpret_cast<PyObject*>(Py_TYPE(from))));
    case RowStep::part:
      return from == nullptr ? nullptr : part(from, key);
    case RowStep::type:
      return from == nullptr ? nullptr : reinterpret_cast<PyObject*>(Py_TYPE(from));
    case RowStep::class_dict: {
      if (from == nullptr || !PyType_Check(from)) return nullptr;
      PyObject* now = PyDict_GetItemWithError(class_dict(from), key);
      if (now == nullptr) PyErr_Clear();
      return now;
    }
    case RowStep::content: {
      PyObject* items = from == nullptr ? nullptr : kept(PyObject_CallOneArg(key, from));
      return items == nullptr ? nullptr : kept(PySequence_List(items));
    }
    case RowStep::default_dtype:
      return dtype_object(default_dtype());
    case RowStep::answer:
    case RowStep::of_value:
      break;  // they are asked
    case RowStep::gradient:
      return gradient(r, row, from);
    case RowStep::reference:
      return from == nullptr || !PyWeakref_Check(from) ? nullptr : referent(from);
    case RowStep::value:
      return from;
  }
  return nullptr;
}

PyObject* RowEvaluation::gradient(const GuardRow& r, int row, PyObject* from) {
  const TensorImpl* t = from != nullptr && is_tensor(from) ? impl_of(from) : found_.impl(r.parent);
  const TapeMeta* m = t != nullptr ? meta(*t) : nullptr;
  Tensor grad = m != nullptr ? m->grad.get() : Tensor();
  if (!grad.defined()) return nullptr;
  if (r.has_rows) return kept(wrap(grad));
  found_.tensors.emplace_back(row, std::move(grad));
  return nullptr;
}

bool RowEvaluation::array(const GuardRow& r, int row, PyObject* now) {
  auto wanted = nb::borrow<nb::tuple>(r.wanted);
  if (now == nullptr || reinterpret_cast<PyObject*>(Py_TYPE(now)) != wanted[0].ptr()) return false;
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

bool RowEvaluation::tests(const GuardRow& r, int row, PyObject* now) {
  PyObject* wanted = r.wanted.ptr();
  switch (r.test) {
    case RowTest::any:
      return now != nullptr;
    case RowTest::is:
      return now != nullptr && now == (r.weak ? referent(wanted) : wanted) &&
             Py_TYPE(now) == r.type;
    case RowTest::equal:
      return now != nullptr && same_plain(now, wanted);
    case RowTest::type:
      return now != nullptr && reinterpret_cast<PyObject*>(Py_TYPE(now)) == wanted;
    case RowTest::absent:
      return now == nullptr && (r.step != RowStep::gradient || found_.impl(row) == nullptr);
    case RowTest::length:
      return now != nullptr &&
             reinterpret_cast<PyObject*>(Py_TYPE(now)) == PyTuple_GET_ITEM(wanted, 0) &&
             length_of(now) == r.number;
    case RowTest::keys:
      return now != nullptr && same_keys(now, wanted);
    case RowTest::tensor:
      if (r.step == RowStep::gradient) return found_.impl(row) != nullptr;
      return of_type(r, now) && !has_hooks(now);
    case RowTest::hooked:
      return of_type(r, now);
    case RowTest::array:
      return array(r, row, now);
    case RowTest::real:
      return of_type(r, now);
    case RowTest::integer:
      return now != nullptr && PyLong_CheckExact(now) && integer_of(now).has_value();
    case RowTest::again:
      return again(r, row, now);
    case RowTest::bundle:
      return now != nullptr && PyType_Check(now) && bundle(r, now);
  }
  return false;
}

bool RowEvaluation::again(const GuardRow& r, int row, PyObject* now) {
  const int other = static_cast<int>(r.number);
  if (now != nullptr && now == found_.objects[static_cast<size_t>(other)]) return true;
  const TensorImpl* mine = found_.impl(row);
  return mine != nullptr && mine == found_.impl(other);
}

/// Of Python's functions without a look at what attributes they have.
PyObject* RowEvaluation::part(PyObject* from, PyObject* key) {
  if (PyFunction_Check(from)) {
    const std::string_view name = text_of(key);
    auto there = [](PyObject* o) { return o == nullptr ? Py_None : o; };
    if (name == "__code__") return PyFunction_GET_CODE(from);
    if (name == "__defaults__") return there(PyFunction_GET_DEFAULTS(from));
    if (name == "__kwdefaults__") return there(PyFunction_GET_KW_DEFAULTS(from));
  }
  return kept(PyObject_GetAttr(from, key));
}

bool RowEvaluation::holds(size_t row) {
  const GuardRow& r = rows_[row];
  PyObject* now = step(r, static_cast<int>(row));
  found_.objects[row] = now;
  return tests(r, static_cast<int>(row), now);
}

TensorImpl* FoundRows::impl(int row) const {
  PyObject* o = objects[static_cast<size_t>(row)];
  if (o != nullptr && is_tensor(o)) return impl_of(o);
  auto it = std::lower_bound(tensors.begin(), tensors.end(), row,
                             [](const auto& entry, int n) { return entry.first < n; });
  return it != tensors.end() && it->first == row ? it->second.impl() : nullptr;
}

}  // namespace lathe::py
