#include "python/bindings/ops.h"

#include <absl/strings/str_cat.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <structmember.h>

#include <map>

#include "core/base/error.h"
#include "python/bindings/callable.h"
#include "python/bindings/tensor.h"

namespace lathe::py {
namespace {

struct OpObject {
  PyObject ob_base;
  vectorcallfunc vectorcall;
  const Callable* callable;
  PyObject* name;
  PyObject* path;
};

constinit PyTypeObject* function_type = nullptr;
constinit PyTypeObject* method_type = nullptr;

OpObject* op_of(PyObject* o) { return reinterpret_cast<OpObject*>(o); }

PyObject* call_op(PyObject* callable, PyObject* const* args, size_t flags, PyObject* names) {
  return guarded([&]() -> PyObject* {
    return op_of(callable)->callable->call(args, PyVectorcall_NARGS(flags), names);
  });
}

PyObject* bind(PyObject* self, PyObject* object, PyObject*) {
  return object == nullptr ? new_ref(self) : PyMethod_New(self, object);
}

void dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  delete op_of(self)->callable;
  Py_XDECREF(op_of(self)->name);
  Py_XDECREF(op_of(self)->path);
  type->tp_free(self);
  Py_DECREF(type);
}

const Op& first_of(PyObject* self) { return *op_of(self)->callable->overloads[0].op; }

PyObject* repr(PyObject* self) {
  return PyUnicode_FromFormat("<lathe op %s>", first_of(self).schema.text.c_str());
}
PyObject* get_name(PyObject* self, void*) { return new_ref(op_of(self)->name); }
PyObject* get_schema(PyObject* self, void*) { return text(first_of(self).schema.text); }
PyObject* get_schemas(PyObject* self, void*) {
  return guarded([&] {
    nb::list texts;
    for (const Overload& o : op_of(self)->callable->overloads) texts.append(o.op->schema.text);
    return nb::tuple(texts).release().ptr();
  });
}
PyObject* get_doc(PyObject* self, void*) {
  return guarded([&] { return text(op_of(self)->callable->doc()); });
}
/// A text: copy and pickle then take what stands there in lathe.
PyObject* reduce(PyObject* self, PyObject*) { return new_ref(op_of(self)->path); }

PyMethodDef methods[] = {{"__reduce__", reduce, METH_NOARGS, nullptr},
                         {nullptr, nullptr, 0, nullptr}};
PyGetSetDef attributes[] = {
    {"__name__", get_name, nullptr, nullptr, nullptr},
    {"__qualname__", get_name, nullptr, nullptr, nullptr},
    {"__doc__", get_doc, nullptr, nullptr, nullptr},
    {"schema", get_schema, nullptr, "The signature of the first overload.", nullptr},
    {"schemas", get_schemas, nullptr, "The signatures of all overloads, in order.", nullptr},
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

nb::object make(std::unique_ptr<Callable> callable) {
  PyTypeObject* type = callable->place == kMethod ? method_type : function_type;
  auto* o = reinterpret_cast<OpObject*>(checked(type->tp_alloc(type, 0)));
  nb::object made = nb::steal(&o->ob_base);
  o->vectorcall = call_op;
  o->name = checked(text(callable->name));
  o->path = checked(text(callable->path));
  o->callable = callable.release();
  return made;
}

/// "function", "method", "functional", "" for anywhere, else a module of lathe: "special".
Where where_named(std::string_view place) {
  if (place == "function") return {kFunction};
  if (place == "functional") return {kFunctional, "nn.functional"};
  if (place == "method") return {kMethod};
  return {kNowhere, place};
}

/// What find() gave, for the life of the process: a name is one object, however often it is asked
/// for. Used under the interpreter's lock.
std::map<std::string, PyObject*>& found_before() {
  static auto& all = *new std::map<std::string, PyObject*>;
  return all;
}

/// The callable of that name at a place (see where_named), or None.
nb::object find(std::string_view name, std::string_view place) {
  std::string key = absl::StrCat(place, " ", name);
  auto it = found_before().find(key);
  if (it != found_before().end()) return nb::borrow(it->second);
  std::unique_ptr<Callable> found = find_callable(name, where_named(place));
  if (found == nullptr) return nb::none();
  nb::object made = make(std::move(found));
  found_before()[key] = nb::object(made).release().ptr();
  return made;
}

void set_on_tensor(const std::string& name, const nb::object& value) {
  auto* tensor = reinterpret_cast<PyObject*>(tensor_type);
  if (PyObject_SetAttrString(tensor, name.c_str(), value.ptr()) != 0) throw nb::python_error();
}

void publish_method(const std::string& name) {
  if (std::unique_ptr<Callable> found = find_callable(name, {kMethod}))
    set_on_tensor(name, make(std::move(found)));
}

/// Names and meanings of ops that are attributes of a tensor, as lathe/_tensor.py listed them.
nb::dict& attribute_ops() {
  static auto& listed = *new nb::dict;
  return listed;
}

void publish_attributes() {
  const nb::handle property(reinterpret_cast<PyObject*>(&PyProperty_Type));
  for (auto [name, doc] : attribute_ops()) {
    const std::string key(text_of(name.ptr()));
    const nb::object get = find(key, "");
    // They are views: what is assigned is written through them.
    const nb::object set = nb::cpp_function(
        [get](nb::handle self, nb::handle value) { get(self).attr("copy_")(value); });
    set_on_tensor(key, property(get, set, nb::none(), doc));
  }
}

/// lathe._lathe.Tensor, when it is first asked for: with the class come its methods.
nb::object module_attribute(nb::handle module, std::string_view name) {
  if (name != "Tensor") {
    PyErr_Format(PyExc_AttributeError, "module 'lathe._lathe' has no attribute '%s'",
                 std::string(name).c_str());
    throw nb::python_error();
  }
  publish_methods();
  nb::object tensor = nb::borrow(reinterpret_cast<PyObject*>(tensor_type));
  nb::setattr(module, "Tensor", tensor);
  return tensor;
}

}  // namespace

void publish_methods() {
  static bool done = false;  // under the interpreter's lock
  if (std::exchange(done, true)) return;
  const nb::dict there = nb::borrow<nb::dict>(tensor_type->tp_dict);
  for (const std::string& name : names_at({kMethod}))
    if (!there.contains(name.c_str())) publish_method(name);  // lathe/_tensor.py came first
  publish_attributes();
}

void publish(const Op& op) {
  publish_methods();
  const std::string& name = op.public_name();
  for (const char* place : {"function", "functional", "method", ""})
    found_before().erase(absl::StrCat(place, " ", name));
  publish_method(name);
  if (has_inplace_form(op)) publish_method(name + "_");
}

void add_ops(nb::module_& m) {
  before_first_tensor(publish_methods);
  function_type = make_type("lathe.Op", false);
  method_type = make_type("lathe.OpMethod", true);
  m.attr("Op") = nb::handle(reinterpret_cast<PyObject*>(function_type));
  m.def("_find", find);
  m.def("_result_type", [](std::string_view name) {
    PyTypeObject* type = result_type(name);
    return type == nullptr ? nb::none() : nb::borrow(reinterpret_cast<PyObject*>(type));
  });
  m.def("_names", [](std::string_view place) {
    nb::list names;
    for (const std::string& name : names_at(where_named(place))) names.append(name);
    return names;
  });
  m.def("_attribute_ops", [](nb::kwargs listed) { attribute_ops() = std::move(listed); });
  m.def("_is_made", [](std::string_view op) { return find_op(op) != nullptr; });  // for tests
  m.def("__getattr__",
        [module = m.ptr()](std::string_view name) { return module_attribute(module, name); });
}

}  // namespace lathe::py
