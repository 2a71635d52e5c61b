#include "python/bindings/witness.h"

#include <absl/container/flat_hash_set.h>

#include <nanobind/stl/vector.h>

#include <algorithm>
#include <bit>
#include <string_view>

#include "autodiff/tape.h"
#include "core/base/error.h"
#include "core/dispatch/call.h"
#include "python/bindings/build.h"
#include "python/bindings/tensor.h"
#include "python/bindings/values.h"

namespace lathe::py {
namespace {

bool same_number(PyObject* a, PyObject* b) {
  if (a == b) return true;
  if (Py_TYPE(a) != Py_TYPE(b)) return false;
  if (PyFloat_Check(a))
    return std::bit_cast<uint64_t>(PyFloat_AS_DOUBLE(a)) ==
           std::bit_cast<uint64_t>(PyFloat_AS_DOUBLE(b));
  if (!PyLong_CheckExact(a) && !PyUnicode_CheckExact(a) && !PyBytes_CheckExact(a)) return false;
  int equal = PyObject_RichCompareBool(a, b, Py_EQ);
  if (equal < 0) PyErr_Clear();
  return equal == 1;
}

PyObject* names_of_type(PyObject* type) { return reinterpret_cast<PyTypeObject*>(type)->tp_dict; }

/// The __dict__ of an object, made if need be. A new reference, or null.
nb::object attributes_of(PyObject* o) {
  PyObject* dict = PyObject_GenericGetDict(o, nullptr);
  if (dict == nullptr) PyErr_Clear();
  return nb::steal(dict);
}

nb::object at(nb::handle tuple, Py_ssize_t i) {
  return nb::borrow(PyTuple_GET_ITEM(tuple.ptr(), i));
}

}  // namespace

// ── reading what state.py recorded ──────────────────────────────────────────────────────────────

Witness::Node Witness::read(nb::handle tuple) {
  constexpr std::string_view kNames[] = {"is",    "equal", "float",  "tensor",   "array",  "again",
                                         "items", "dict",  "set",    "function", "method", "object",
                                         "space", "named", "absent", "cell"};
  if (!PyTuple_CheckExact(tuple.ptr()) || PyTuple_GET_SIZE(tuple.ptr()) != 7)
    throw TypeError({.op = "trace", .problem = "not a witness", .got = "another tuple"});
  std::string_view name = text_of(at(tuple, 0).ptr());
  const auto* found = std::find(std::begin(kNames), std::end(kNames), name);
  if (found == std::end(kNames))
    throw TypeError({.op = "trace", .problem = "not a witness", .got = std::string(name)});
  Node n;
  n.kind = static_cast<Kind>(found - std::begin(kNames));
  n.a = at(tuple, 1);
  n.b = at(tuple, 2);
  n.number = PyLong_AsLong(at(tuple, 3).ptr());
  n.flag = at(tuple, 4).ptr() == Py_True;
  for (nb::handle h : nb::borrow<nb::tuple>(at(tuple, 5))) n.more.push_back(nb::borrow(h));
  for (nb::handle h : nb::borrow<nb::tuple>(at(tuple, 6))) n.kids.push_back(read(h));
  return n;
}

Witness::Witness(nb::handle arguments, nb::handle function, const std::vector<size_t>& varying)
    : arguments_(read(arguments)),
      function_(read(function)),
      grad_mode_(thread_state().grad_enabled),
      autocast_(thread_state().autocast),
      default_dtype_(default_dtype()) {
  varying_ = varying.size();
  for (size_t i = 0; i < varying.size(); ++i) {
    if (slots_.size() <= varying[i]) slots_.resize(varying[i] + 1, -1);
    slots_[varying[i]] = static_cast<int>(i);
  }
  auto count = [](const auto& self, const Node& n) -> size_t {
    size_t sum = n.kind == Kind::tensor || n.kind == Kind::array;
    for (const Node& k : n.kids) sum += self(self, k);
    return sum;
  };
  counted_ = count(count, arguments_);
  places_ = counted_ + count(count, function_);
}

// ── asking ──────────────────────────────────────────────────────────────────────────────────────

class Witness::Walk {
 public:
  Walk(const std::vector<int>& slots, Tensors& tensors, Reals& reals)
      : slots_(slots), tensors_(tensors), reals_(reals) {}

  bool value(const Node& n, PyObject* v) {
    switch (n.kind) {
      case Kind::is:
        return v == n.a.ptr();
      case Kind::equal:
        return same_number(v, n.a.ptr());
      case Kind::real:
        return real(n, v);
      case Kind::tensor:
        return is_tensor(v) && Py_TYPE(v) == type_of_object(n.a) && tensor(n, v);
      case Kind::array:
        return Py_TYPE(v) == type_of_object(n.a) && array(n, v);
      case Kind::again:
        return objects_[static_cast<size_t>(n.number)] == v;
      case Kind::items:
        return items(n, v);
      case Kind::dict:
        return dict(n, v);
      case Kind::set:
        return set(n, v);
      case Kind::function:
        return function(n, v);
      case Kind::method:
        return PyMethod_Check(v) && value(n.kids[0], PyMethod_GET_SELF(v)) &&
               value(n.kids[1], PyMethod_GET_FUNCTION(v));
      case Kind::object:
        return object(n, v);
      case Kind::space:
        return space(n, v);
      default:
        return false;  // these have no value of their own
    }
  }

  /// No two places are one tensor object.
  bool distinct() const {
    if (objects_.size() <= 32) {
      for (size_t i = 0; i < objects_.size(); ++i)
        for (size_t k = 0; k < i; ++k)
          if (objects_[i] != nullptr && objects_[i] == objects_[k]) return false;
      return true;
    }
    absl::flat_hash_set<PyObject*> seen;
    return std::all_of(objects_.begin(), objects_.end(),
                       [&](PyObject* o) { return o == nullptr || seen.insert(o).second; });
  }

 private:
  static PyTypeObject* type_of_object(const nb::object& o) {
    return reinterpret_cast<PyTypeObject*>(o.ptr());
  }

  /// number: of the float, in the order of the walk; a: what it was.
  bool real(const Node& n, PyObject* v) {
    const auto k = static_cast<size_t>(n.number);
    if (k >= slots_.size() || slots_[k] < 0) return same_number(v, n.a.ptr());
    if (Py_TYPE(v) != Py_TYPE(n.a.ptr())) return false;
    reals_[static_cast<size_t>(slots_[k])] = PyFloat_AS_DOUBLE(v);
    return true;
  }

  /// flag: it asks for a gradient. kids: what its gradient is, where that counts.
  bool tensor(const Node& n, PyObject* v) {
    const Tensor& t = tensor_of(v);
    if (t.requires_grad() != n.flag) return false;
    const TapeMeta* m = meta(t);
    const bool counts = n.flag && m != nullptr && m->is_leaf;
    if (counts != !n.kids.empty() || (counts && !hooks_on(*m).empty())) return false;
    tensors_.push_back(t);
    objects_.push_back(v);
    if (!counts) return true;
    const Node& grad = n.kids[0];
    Tensor now = m->grad.get();
    if (grad.kind != Kind::tensor) return !now.defined();
    if (!now.defined() || now.requires_grad() != grad.flag) return false;
    tensors_.push_back(std::move(now));
    objects_.push_back(nullptr);  // each look at .grad gives a new object
    return true;
  }

  bool array(const Node& n, PyObject* v) {
    Tensor t;
    try {
      t = share_buffer(v, false);
    } catch (...) {  // it lies as no tensor does now
      return false;
    }
    if (dtype_object(t.dtype()) != n.more[0].ptr()) return false;
    if (static_cast<size_t>(t.rank()) + 1 != n.more.size()) return false;
    for (int i = 0; i < t.rank(); ++i)
      if (t.size(i).value() != PyLong_AsLongLong(n.more[static_cast<size_t>(i) + 1].ptr()))
        return false;
    tensors_.push_back(std::move(t));
    objects_.push_back(v);
    return true;
  }

  bool items(const Node& n, PyObject* v) {
    if (Py_TYPE(v) != type_of_object(n.b) || (!n.a.is_none() && v != n.a.ptr())) return false;
    const bool list = PyList_CheckExact(v);
    const Py_ssize_t size = list ? PyList_GET_SIZE(v) : PyTuple_GET_SIZE(v);
    if (static_cast<size_t>(size) + static_cast<size_t>(n.flag) != n.kids.size()) return false;
    if (n.flag && !value(n.kids.back(), n.b.ptr())) return false;
    for (Py_ssize_t i = 0; i < size; ++i)
      if (!value(n.kids[static_cast<size_t>(i)],
                 list ? PyList_GET_ITEM(v, i) : PyTuple_GET_ITEM(v, i)))
        return false;
    return true;
  }

  bool dict(const Node& n, PyObject* v) {
    if (Py_TYPE(v) != type_of_object(n.b) || (!n.a.is_none() && v != n.a.ptr())) return false;
    if (static_cast<size_t>(PyDict_GET_SIZE(v)) != n.kids.size()) return false;
    Py_ssize_t place = 0;
    PyObject *key = nullptr, *item = nullptr;
    for (size_t i = 0; PyDict_Next(v, &place, &key, &item); ++i)
      if (!same_number(key, n.more[i].ptr()) || !value(n.kids[i], item)) return false;
    return true;
  }

  bool set(const Node& n, PyObject* v) {
    if (v != n.a.ptr() || Py_TYPE(v) != type_of_object(n.b)) return false;
    if (static_cast<size_t>(PySet_GET_SIZE(v)) != n.more.size()) return false;
    size_t i = 0;
    for (nb::handle item : nb::borrow<nb::iterable>(v))
      if (!same_number(item.ptr(), n.more[i++].ptr())) return false;
    return true;
  }

  /// more: code, defaults, keyword defaults, closure.
  bool function(const Node& n, PyObject* v) {
    if (v != n.a.ptr()) return false;
    auto is = [&](size_t i, PyObject* now) {
      return (now == nullptr ? Py_None : now) == n.more[i].ptr();
    };
    if (!is(0, PyFunction_GET_CODE(v)) || !is(1, PyFunction_GET_DEFAULTS(v)) ||
        !is(2, PyFunction_GET_KW_DEFAULTS(v)) || !is(3, PyFunction_GET_CLOSURE(v)))
      return false;
    return all(n.kids);
  }

  bool object(const Node& n, PyObject* v) {
    if (v != n.a.ptr() || Py_TYPE(v) != type_of_object(n.b)) return false;
    if (n.kids.size() == 2 && !value(n.kids[0], n.b.ptr())) return false;
    nb::object attributes = attributes_of(v);
    return attributes.is_valid() && value(n.kids.back(), attributes.ptr());
  }

  bool space(const Node& n, PyObject* v) {
    if (v != n.a.ptr()) return false;
    if (n.number >= 0 && PyDict_GET_SIZE(names_of_type(v)) != n.number) return false;
    return all(n.kids);
  }

  bool all(const std::vector<Node>& reads) {
    return std::all_of(reads.begin(), reads.end(), [&](const Node& n) { return read(n); });
  }

  /// What a function or a class reads, wherever it is.
  bool read(const Node& n) {
    switch (n.kind) {
      case Kind::named: {
        PyObject* now = look_up(n);
        return now != nullptr && value(n.kids[0], now);
      }
      case Kind::absent:
        return look_up(n) == nullptr;
      case Kind::cell: {
        PyObject* now = PyCell_GET(n.a.ptr());
        return n.kids.empty() ? now == nullptr : now != nullptr && value(n.kids[0], now);
      }
      case Kind::items:  // defaults: their object was compared with the function
      case Kind::dict:
      case Kind::is:
      case Kind::equal:
        return value(n, n.a.ptr());
      default:
        return false;
    }
  }
  static PyObject* look_up(const Node& n) {
    PyObject* names = PyType_Check(n.a.ptr()) ? names_of_type(n.a.ptr()) : n.a.ptr();
    PyObject* now = PyDict_GetItemWithError(names, n.b.ptr());
    if (now == nullptr) PyErr_Clear();
    return now;
  }

  const std::vector<int>& slots_;
  Tensors& tensors_;
  Reals& reals_;
  absl::InlinedVector<PyObject*, 16> objects_;  // at each place
};

bool Witness::holds(PyObject* args, PyObject* kwargs, Tensors& tensors, Reals& reals) const {
  const ThreadState& state = thread_state();
  if (state.backend != nullptr || state.grad_enabled != grad_mode_ || state.autocast != autocast_ ||
      default_dtype() != default_dtype_)
    return false;
  if (arguments_.kids.size() != 2) return false;  // cleared by the collector
  tensors.reserve(places_);
  reals.resize(varying_);
  Walk walk(slots_, tensors, reals);
  return walk.value(arguments_.kids[0], args) && walk.value(arguments_.kids[1], kwargs) &&
         walk.value(function_, function_.a.ptr()) && walk.distinct();
}

// ── for Python's collector: a witness holds what may hold it ────────────────────────────────────

int Witness::traverse(visitproc visit, void* arg) const {
  int result = 0;
  visit_all(arguments_, visit, arg, result);
  visit_all(function_, visit, arg, result);
  return result;
}

void Witness::visit_all(const Node& n, visitproc visit, void* arg, int& result) {
  auto see = [&](const nb::object& o) {
    if (result == 0 && o.is_valid()) result = visit(o.ptr(), arg);
  };
  see(n.a);
  see(n.b);
  for (const nb::object& o : n.more) see(o);
  for (const Node& k : n.kids) visit_all(k, visit, arg, result);
}

void Witness::clear() {
  arguments_ = {};
  function_ = {};
}

namespace {

int traverse_witness(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  return nb::inst_ptr<Witness>(self)->traverse(visit, arg);
}
int clear_witness(PyObject* self) {
  if (nb::inst_ready(self)) nb::inst_ptr<Witness>(self)->clear();
  return 0;
}
PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse_witness)},
                       {Py_tp_clear, reinterpret_cast<void*>(clear_witness)},
                       {0, nullptr}};

}  // namespace

void add_witness(nb::module_& m) {
  nb::class_<Witness>(m, "Witness", nb::type_slots(slots),
                      "What a traced call found in Python, to be asked whether it still holds.")
      .def(nb::init<nb::handle, nb::handle, const std::vector<size_t>&>());
}

}  // namespace lathe::py
