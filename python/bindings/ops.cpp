#include "python/bindings/ops.h"

#include <absl/strings/str_cat.h>
#include <structmember.h>

#include <deque>

#include "autodiff/tape.h"
#include "core/error.h"
#include "python/bindings/arguments.h"
#include "python/bindings/call.h"
#include "python/bindings/tensor.h"

namespace lathe::py {
namespace {

struct OpObject {
  PyObject ob_base;
  vectorcallfunc vectorcall;
  const Op* op;
  PyTypeObject* results;  // a named tuple where there are several; else null
  PyObject* name;
  int gather;  // see Arguments::positional
  bool inplace;
  bool grad_keyword;  // zeros(2, requires_grad=True)
};

constinit PyTypeObject* function_type = nullptr;
constinit PyTypeObject* method_type = nullptr;
constinit PyObject* functions = nullptr;     // the module `ops`
constinit PyObject* return_types = nullptr;  // the module of named tuples

OpObject* op_of(PyObject* o) { return reinterpret_cast<OpObject*>(o); }

PyObject* wrap_outputs(const OpObject* self, Args args, Outputs out) {
  if (self->op->schema.results.size() == 1 && self->op->schema.results[0].list)
    return wrap_list(out);
  if (out.size() == 1) return wrap(std::move(out[0]));
  if (self->results == nullptr) Py_RETURN_NONE;
  nb::object tuple = owned(PyStructSequence_New(self->results));
  for (size_t i = 0; i < out.size(); ++i)
    PyStructSequence_SetItem(tuple.ptr(), static_cast<Py_ssize_t>(i),
                             checked(wrap(std::move(out[i]))));
  (void)args;
  return tuple.release().ptr();
}

bool is_grad_keyword(const OpObject* self, PyObject* name) {
  return self->grad_keyword && PyUnicode_CompareWithASCIIString(name, "requires_grad") == 0;
}

/// The commonest call, all arguments given and none to be converted, where core knows a short way.
PyObject* quick(OpObject* self, PyObject* const* args, size_t count) {
  constexpr size_t kMost = 3;
  if (count == 0 || count > kMost || count != self->op->schema.params.size()) return nullptr;
  Arg given[kMost];
  for (size_t i = 0; i < count; ++i)
    if (!simple(args[i], given[i])) return nullptr;
  if (!self->inplace) {
    Tensor out = shortcut(*self->op, Args(given, count));
    return out.defined() ? wrap(std::move(out)) : nullptr;
  }
  return shortcut_into(*self->op, Args(given, count)) ? new_ref(args[0]) : nullptr;
}

PyObject* call_op(PyObject* callable, PyObject* const* args, size_t flags, PyObject* names) {
  return guarded([&]() -> PyObject* {
    OpObject* self = op_of(callable);
    const Op& op = *self->op;
    Py_ssize_t count = PyVectorcall_NARGS(flags);
    if (names == nullptr && op.kind == Kind::elementwise)
      if (PyObject* out = quick(self, args, static_cast<size_t>(count))) return out;
    Arguments given(op.schema);
    given.positional(args, count, self->gather);
    bool tracked = false;
    if (names != nullptr) {
      for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); ++i) {
        PyObject* name = PyTuple_GET_ITEM(names, i);
        if (is_grad_keyword(self, name))
          tracked = PyObject_IsTrue(args[count + i]) == 1;
        else
          given.named(name, args[count + i]);
      }
    }
    Args complete = given.complete();
    if (self->inplace) {
      // The object given is the one that changed, so it is also the answer.
      Tensor out = run_inplace(op, complete);
      return count > 0 && is_tensor(args[0]) ? new_ref(args[0]) : wrap(std::move(out));
    }
    Outputs out = run(op, complete);
    if (tracked) set_requires_grad(out[0], true);
    // contiguous() or dropout() in evaluation give back what they got.
    if (out.size() == 1 && count > 0 && is_tensor(args[0]) && out[0].impl() == impl_of(args[0]))
      return new_ref(args[0]);
    return wrap_outputs(self, complete, std::move(out));
  });
}

PyObject* bind(PyObject* self, PyObject* object, PyObject*) {
  return object == nullptr ? new_ref(self) : PyMethod_New(self, object);
}

void dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  Py_XDECREF(op_of(self)->results);
  Py_XDECREF(op_of(self)->name);
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject* repr(PyObject* self) {
  return PyUnicode_FromFormat("<lathe op %s>", op_of(self)->op->schema.text.c_str());
}
PyObject* get_name(PyObject* self, void*) { return new_ref(op_of(self)->name); }
PyObject* get_schema(PyObject* self, void*) { return text(op_of(self)->op->schema.text); }
PyObject* get_doc(PyObject* self, void*) {
  return guarded([&] {
    const Op& op = *op_of(self)->op;
    return text(absl::StrCat(op.schema.text, "\n\n", doc_of(op)));
  });
}
/// A text: copy and pickle then take lathe's function of that name.
PyObject* reduce(PyObject* self, PyObject*) { return new_ref(op_of(self)->name); }

PyMethodDef methods[] = {{"__reduce__", reduce, METH_NOARGS, nullptr},
                         {nullptr, nullptr, 0, nullptr}};
PyGetSetDef attributes[] = {{"__name__", get_name, nullptr, nullptr, nullptr},
                            {"__qualname__", get_name, nullptr, nullptr, nullptr},
                            {"__doc__", get_doc, nullptr, nullptr, nullptr},
                            {"schema", get_schema, nullptr, "The row's signature.", nullptr},
                            {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(OpObject, vectorcall), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

template <class F>
void* slot(F* f) {
  return reinterpret_cast<void*>(f);
}

PyTypeObject* make_type(const char* name, bool binds) {
  std::vector<PyType_Slot> slots = {
      {Py_tp_dealloc, slot(dealloc)},
      {Py_tp_repr, slot(repr)},
      {Py_tp_call, slot(PyVectorcall_Call)},
      {Py_tp_methods, methods},
      {Py_tp_getset, attributes},
      {Py_tp_members, members},
  };
  if (binds) slots.push_back({Py_tp_descr_get, slot(bind)});
  slots.push_back({0, nullptr});
  unsigned long flags =
      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION;
  if (binds) flags |= Py_TPFLAGS_METHOD_DESCRIPTOR;
  PyType_Spec spec{name, sizeof(OpObject), 0, static_cast<unsigned int>(flags), slots.data()};
  return reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)));
}

/// lathe.return_types.<op>, with the names of the row's results.
PyTypeObject* result_type(const Op& op) {
  if (op.schema.results.size() < 2) return nullptr;
  // Python keeps pointers to the texts.
  static auto& texts = *new std::deque<std::string>;
  std::vector<PyStructSequence_Field> fields;
  for (const Result& r : op.schema.results)
    fields.push_back({texts.emplace_back(r.name).c_str(), nullptr});
  fields.push_back({nullptr, nullptr});
  PyStructSequence_Desc desc{texts.emplace_back("lathe.return_types." + op.name()).c_str(), nullptr,
                             fields.data(), static_cast<int>(op.schema.results.size())};
  auto* type = PyStructSequence_NewType(&desc);
  if (type == nullptr) throw nb::python_error();
  return type;
}

bool takes_grad_keyword(const Op& op) {
  int i = op.schema.find("dtype");
  return i >= 0 && op.schema.params[static_cast<size_t>(i)].optional;
}

nb::object make(const Op& op, PyTypeObject* type, PyTypeObject* results, bool inplace) {
  auto* o = reinterpret_cast<OpObject*>(checked(type->tp_alloc(type, 0)));
  nb::object made = nb::steal(&o->ob_base);
  o->vectorcall = call_op;
  o->op = &op;
  Py_XINCREF(results);
  o->results = results;
  o->name = checked(text(absl::StrCat(op.name(), inplace ? "_" : "")));
  o->gather = gathering_parameter(op.schema);
  o->inplace = inplace;
  o->grad_keyword = takes_grad_keyword(op);
  return made;
}

}  // namespace

bool is_method(const Op& op) {
  return !op.schema.params.empty() && op.schema.params[0].type == ArgType::tensor &&
         !op.schema.params[0].list;
}

bool has_inplace_form(const Op& op) {
  if (!is_method(op) || op.schema.results.size() != 1) return false;
  // A cast, or the complex number made of two reals, would be cast back at once.
  if (op.kind == Kind::elementwise)
    return op.extra.promote != Promote::attribute && op.extra.promote != Promote::complex;
  return op.kind == Kind::scan ||
         (op.kind == Kind::index && op.index.source >= 0);  // scatter and its like
}

std::string doc_of(const Op& op) {
  if (op.put_of == nullptr || !op.extra.doc.empty()) return std::string(op.extra.doc);
  return absl::StrCat("x with value written through ", op.put_of->name(), "().");
}

void publish(const Op& op) {
  PyTypeObject* results = result_type(op);
  nb::object keep = nb::steal(reinterpret_cast<PyObject*>(results));
  if (results != nullptr)
    checked(PyObject_SetAttrString(return_types, op.name().c_str(), keep.ptr()));
  nb::object function = make(op, function_type, results, false);
  checked(PyObject_SetAttrString(functions, op.name().c_str(), function.ptr()));
  if (!is_method(op)) return;
  auto* tensor = reinterpret_cast<PyObject*>(tensor_type);
  nb::object method = make(op, method_type, results, false);
  checked(PyObject_SetAttrString(tensor, op.name().c_str(), method.ptr()));
  if (!has_inplace_form(op)) return;
  nb::object inplace = make(op, method_type, results, true);
  std::string name = op.name() + "_";
  checked(PyObject_SetAttrString(tensor, name.c_str(), inplace.ptr()));
}

void add_ops(nb::module_& m) {
  function_type = make_type("lathe.Op", false);
  method_type = make_type("lathe.OpMethod", true);
  m.attr("Op") = nb::handle(reinterpret_cast<PyObject*>(function_type));
  functions = m.def_submodule("ops", "Every row as a function.").release().ptr();
  return_types = m.def_submodule("return_types", "Named tuples of results.").release().ptr();
  for (const Op* op : all_ops()) publish(*op);
}

}  // namespace lathe::py
