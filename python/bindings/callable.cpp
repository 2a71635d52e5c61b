#include "python/bindings/callable.h"

#include <absl/strings/str_cat.h>
#include <structmember.h>

#include <deque>
#include <map>

#include "autodiff/tape.h"
#include "core/base/error.h"
#include "core/dispatch/assign.h"
#include "core/dispatch/call.h"
#include "core/dispatch/fn.h"
#include "include/lathe/ops/math.h"
#include "python/bindings/arguments.h"
#include "python/bindings/call.h"
#include "python/bindings/generator.h"
#include "python/bindings/tensor.h"
#include "python/bindings/values.h"

namespace lathe::py {
namespace {

/// A keyword's name and value as given.
struct Keyword {
  PyObject* name;
  PyObject* value;
};

bool is_named(PyObject* name, const char* text) {
  return PyUnicode_CompareWithASCIIString(name, text) == 0;
}

/// Arguments of PyTorch's creators for which only these values mean something here.
void require_default(const std::string& op, PyObject* name, PyObject* value) {
  std::string_view key = text_of(name);
  bool fine = value == Py_None || value == Py_False;
  if (!fine && PyUnicode_Check(value)) {
    std::string_view given = text_of(value);
    fine = given == "strided" || given == "contiguous_format" || given == "preserve_format";
  }
  if (fine) return;
  throw UnsupportedError({.op = op,
                          .problem = absl::StrCat("this value of '", key, "' is not supported"),
                          .got = PyUnicode_Check(value) ? std::string(text_of(value))
                                                        : std::string(Py_TYPE(value)->tp_name),
                          .expected = "the default",
                          .next = "leave the argument out"});
}

bool flag_argument(const std::string& op, const char* name, PyObject* value) {
  if (PyBool_Check(value)) return value == Py_True;
  throw TypeError({.op = op,
                   .problem = absl::StrCat("argument '", name, "' has the wrong type"),
                   .got = Py_TYPE(value)->tp_name,
                   .expected = "bool",
                   .next = "give True or False"});
}

/// What users take for a view of `operand`: the operand itself where nothing changes.
PyObject* wrap_as_view(Tensor out, PyObject* operand) {
  if (is_complex(out.dtype()))
    out.impl()->refuses_writes = true;
  else if (!out.impl()->view && operand != nullptr && is_tensor(operand))
    return new_ref(operand);
  return wrap(std::move(out));
}

PyObject* wrap_outputs(const Overload& overload, Args args, Outputs out) {
  const Op& op = *overload.op;
  const auto& results = op.schema.results;
  const bool lone = op.extra.lone != nullptr && out.size() == 1 && op.extra.lone(args);
  if (results.size() == 1 && results[0].list && !lone) {
    nb::object list = owned(wrap_list(out));
    return PyList_AsTuple(list.ptr());
  }
  if (out.size() == 1) return wrap(std::move(out[0]));
  if (overload.results == nullptr) Py_RETURN_NONE;
  nb::object tuple = owned(PyStructSequence_New(overload.results));
  const size_t single = results.size() - (results.back().list ? 1 : 0);
  for (size_t i = 0; i < single; ++i)
    PyStructSequence_SetItem(tuple.ptr(), static_cast<Py_ssize_t>(i),
                             checked(wrap(std::move(out[i]))));
  if (single < results.size()) {  // a list comes last, and has all that is left
    nb::object list =
        owned(wrap_list(Outputs(out.begin() + static_cast<int64_t>(single), out.end())));
    PyStructSequence_SetItem(tuple.ptr(), static_cast<Py_ssize_t>(single),
                             checked(PyList_AsTuple(list.ptr())));
  }
  return tuple.release().ptr();
}

/// Does nothing else show the memory of `result`, which two handles may name? An op may give an
/// operand as it is, or a view of one.
bool alone(const Tensor& result) {
  const TensorImpl& impl = *result.impl();
  return impl.view == nullptr && impl.refs.load() <= 2 && impl.storage.get() != nullptr &&
         impl.storage->refs.load() == 1;
}

/// Writes `value` into what `out` names. exact: that has to have the result's dtype.
void write_out(const std::string& op, PyObject* out, const Tensor& value, bool exact) {
  if (!is_tensor(out))
    throw TypeError({.op = op,
                     .problem = "argument 'out' has the wrong type",
                     .got = Py_TYPE(out)->tp_name,
                     .expected = "a tensor for each result",
                     .next = "make one with lt.empty(...)"});
  Tensor dst = tensor_of(out);
  if (thread_state().grad_enabled && (dst.requires_grad() || value.requires_grad()))
    throw AutogradError({.op = op,
                         .problem = "out= has no derivative, and an argument requires grad",
                         .got = to_string(type_of(dst)),
                         .expected = "arguments that do not require grad",
                         .next = "leave out= away, or call under lt.no_grad()"});
  if (exact ? value.dtype() != dst.dtype() : category(value.dtype()) > category(dst.dtype()))
    throw DTypeError({.op = op,
                      .problem = "the result does not fit into the dtype of out",
                      .got = std::string(name(value.dtype())),
                      .expected = std::string(name(dst.dtype())),
                      .next = "give an out of the dtype of the result"});
  // PyTorch's idiom out=lt.empty(0): the tensor becomes the result, in its own dtype.
  bool nothing = dst.impl()->view == nullptr && !dst.symbolic() && !value.symbolic() &&
                 identical(dst.numel(), Int(0));
  if (nothing && value.device() == dst.device()) {
    const Tensor fitting = cast_for(dst, value);
    return take_memory(dst, alone(fitting) ? fitting : math_ops<Tensor>::clone(fitting));
  }
  bool same = dst.rank() == value.rank();
  for (int i = 0; same && i < dst.rank(); ++i)
    same = require(Relation::eq, dst.size(i), value.size(i));
  if (!same && dst.symbolic())
    throw TraceError({.op = op,
                      .problem = "a trace cannot give out another shape",
                      .got = to_string(dst.shape()),
                      .expected = to_string(value.shape()),
                      .next = "give an out of the shape of the result, or leave it away"});
  if (!same)
    throw ShapeError({.op = op,
                      .problem = "out has another shape than the result",
                      .got = to_string(dst.shape()),
                      .expected = to_string(value.shape()),
                      .next = "give an out of the shape of the result"});
  assign(dst, value);
}

PyObject* write_all(const std::string& op, PyObject* out, const Outputs& values, bool exact) {
  if (values.size() == 1 && is_tensor(out)) {
    write_out(op, out, values[0], exact);
    return new_ref(out);
  }
  const auto count = static_cast<Py_ssize_t>(values.size());
  if (!has_items(out) || Items(out).size() != count)
    throw TypeError({.op = op,
                     .problem = "argument 'out' has the wrong type",
                     .got = Py_TYPE(out)->tp_name,
                     .expected = absl::StrCat(values.size(), " tensors"),
                     .next = "give one tensor for each result"});
  const Items items(out);
  for (Py_ssize_t i = 0; i < count; ++i)
    write_out(op, items.at(i).ptr(), values[static_cast<size_t>(i)], exact);
  return new_ref(out);
}

/// lathe.return_types.<op>, with the names of the definition's results.
PyTypeObject* make_result_type(const Op& op) {
  // Python keeps pointers to the texts.
  static auto& texts = *new std::deque<std::string>;
  std::vector<PyStructSequence_Field> fields;
  for (const Result& r : op.schema.results)
    fields.push_back({texts.emplace_back(r.name).c_str(), nullptr});
  fields.push_back({nullptr, nullptr});
  std::string name(op.public_name());
  PyStructSequence_Desc desc{texts.emplace_back("lathe.return_types." + name).c_str(), nullptr,
                             fields.data(), static_cast<int>(op.schema.results.size())};
  PyTypeObject* type = PyStructSequence_NewType(&desc);
  if (type == nullptr) throw nb::python_error();
  return type;
}

/// One type for each public name and list of results, whatever the place it is called at.
PyTypeObject* result_type(const Op& op) {
  if (op.schema.results.size() < 2) return nullptr;
  static auto& made = *new std::map<std::string, PyTypeObject*>;
  std::string key(op.public_name());
  for (const Result& r : op.schema.results) absl::StrAppend(&key, " ", r.name);
  auto [it, fresh] = made.try_emplace(key, nullptr);
  if (fresh) it->second = make_result_type(op);
  return it->second;
}

bool draws(const Op& op) { return op.kind == Kind::random || op.extra.draws; }

bool creates(const Op& op) {
  int i = op.schema.find("dtype"), k = op.schema.find("device");
  return i >= 0 && k >= 0 && op.schema.params[static_cast<size_t>(i)].optional;
}

/// The commonest call: all arguments of the first overload given, none to be converted.
bool plain(const Op& op, PyObject* const* args, size_t count, Arg* given) {
  if (count != op.schema.params.size()) return false;
  bool tensors = !op.schema.wants_tensor;
  for (size_t i = 0; i < count; ++i) {
    const Param& p = op.schema.params[i];
    if (!simple(args[i], given[i])) return false;
    bool tensor = given[i].tag == Tag::tensor;
    tensors |= tensor;
    if (p.type == ArgType::tensor ? !(tensor || p.number) : tensor || p.type != ArgType::scalar)
      return false;
  }
  return tensors;
}

std::string types_of(PyObject* const* args, Py_ssize_t count, absl::Span<const Keyword> keywords) {
  std::string out;
  for (Py_ssize_t i = 0; i < count; ++i)
    absl::StrAppend(&out, out.empty() ? "" : ", ", Py_TYPE(args[i])->tp_name);
  for (const Keyword& k : keywords)
    absl::StrAppend(&out, out.empty() ? "" : ", ", text_of(k.name), "=", Py_TYPE(k.value)->tp_name);
  return absl::StrCat("(", out, ")");
}

}  // namespace

struct Callable::Extras {
  PyObject* out = nullptr;
  RandomState* generator = nullptr;
  bool requires_grad = false, inplace = false;
  absl::InlinedVector<Keyword, 4> keywords;  // those that are the schema's

  Extras(const Callable& c, PyObject* const* args, Py_ssize_t& count, PyObject* names) {
    Py_ssize_t named = names == nullptr ? 0 : PyTuple_GET_SIZE(names);
    const Op& first = *c.overloads[0].op;
    const auto full = static_cast<Py_ssize_t>(first.schema.params.size());
    const Py_ssize_t given = count;
    if (c.inplace_argument && given == full + 1)
      inplace = flag_argument(c.name, "inplace", args[--count]);
    for (Py_ssize_t i = 0; i < named; ++i) {
      PyObject* name = PyTuple_GET_ITEM(names, i);
      PyObject* value = args[given + i];
      if (c.inplace_argument && is_named(name, "inplace"))
        inplace = flag_argument(c.name, "inplace", value);
      else if (!c.inplace && c.place != kMethod && is_named(name, "out"))
        out = value == Py_None ? nullptr : value;
      else if (c.creates && is_named(name, "requires_grad"))
        requires_grad = flag_argument(c.name, "requires_grad", value);
      else if (c.draws && is_named(name, "generator"))
        generator = generator_state(c.name, value);
      else if (c.creates && (is_named(name, "layout") || is_named(name, "pin_memory") ||
                             is_named(name, "generator") || is_named(name, "memory_format")))
        require_default(c.name, name, value);
      else
        keywords.push_back({name, value});
    }
  }
};

PyObject* Callable::call_with(const Overload& overload, Args complete, const Extras& extras,
                              PyObject* first) const {
  const Op& op = *overload.op;
  const RandomScope drawn_from(extras.generator);
  if (inplace || extras.inplace) {
    // The object given is the one that changed, so it is also the answer.
    run(op, complete, CallForm::in_place);
    return first != nullptr && is_tensor(first) ? new_ref(first) : wrap(complete.tensor(0));
  }
  Outputs out = run(op, complete);
  if (extras.out != nullptr) {
    // As in PyTorch, what picks elements, or gives several results, does not convert them.
    const bool exact =
        op.kind == Kind::index || out.size() > 1 || op.extra.promote == Promote::complex;
    return write_all(name, extras.out, out, exact);
  }
  if (taken_for_view) return wrap_as_view(std::move(out[0]), first);
  if (extras.requires_grad) set_requires_grad(out[0], true);
  // contiguous() or dropout() in evaluation give back what they got.
  if (out.size() == 1 && first != nullptr && is_tensor(first) && out[0].impl() == impl_of(first))
    return new_ref(first);
  return wrap_outputs(overload, complete, std::move(out));
}

PyObject* Callable::call(PyObject* const* args, Py_ssize_t count, PyObject* names) const {
  constexpr size_t kMostPlain = 3;
  const Overload& first = overloads[0];
  PyObject* lead = count > 0 ? args[0] : nullptr;
  if (names == nullptr && first.op->kind == Kind::elementwise) {
    Arg given[kMostPlain];
    const auto size = static_cast<size_t>(count);
    if (size <= kMostPlain && plain(*first.op, args, size, given)) {
      if (inplace) {
        run(*first.op, Args(given, size), CallForm::in_place);
        return new_ref(lead);
      }
      if (taken_for_view) return wrap_as_view(run_one(*first.op, Args(given, size)), lead);
      return wrap(run_one(*first.op, Args(given, size)));
    }
  }
  const Extras extras(*this, args, count, names);
  for (const Keyword& k : extras.keywords)  // relu(input=x, inplace=True) gives x itself
    if (lead == nullptr && !first.op->schema.params.empty() &&
        text_of(k.name) == first.op->schema.params[0].name)
      lead = k.value;
  auto fill = [&](Arguments& given, const Overload& o) {
    given.positional(args, count, o.gather);
    for (const Keyword& k : extras.keywords) given.named(k.name, k.value);
  };
  // With one overload, or where the number and names of the arguments leave one, its own errors say
  // most.
  const Overload* only = overloads.size() == 1 ? &first : nullptr;
  // A tensor is read as a number only where no overload takes it as a tensor.
  for (const bool read_tensors : {false, true}) {
    if (only != nullptr) break;
    int likely = 0;
    for (const Overload& o : overloads) {
      Arguments given(o.op->schema, read_tensors);
      if (!given.could_be(count, o.gather, extras.keywords.size(),
                          [&](size_t i) { return extras.keywords[i].name; }))
        continue;
      ++likely;
      only = &o;
      bool fits = false;
      try {
        fill(given, o);
        fits = given.fit();
      } catch (const TypeError&) {  // a value that no parameter of this overload takes
      }
      if (fits) return call_with(o, given.complete(), extras, lead);
    }
    if (likely != 1) only = nullptr;
  }
  if (only != nullptr) {
    Arguments given(only->op->schema, true);
    fill(given, *only);
    return call_with(*only, given.complete(), extras, lead);
  }
  std::string signatures;
  for (const Overload& o : overloads)
    absl::StrAppend(&signatures, signatures.empty() ? "" : "; ", o.op->schema.text);
  throw TypeError({.op = name,
                   .problem = "no overload takes these arguments",
                   .got = types_of(args, count, extras.keywords),
                   .expected = signatures,
                   .next = "check the types and the names of the arguments"});
}

std::string Callable::doc() const {
  std::string out;
  for (const Overload& o : overloads)
    absl::StrAppend(&out, out.empty() ? "" : "\n\n", o.op->schema.text, "\n\n", doc_of(*o.op));
  return out;
}

PyTypeObject* result_type(std::string_view public_name) {
  for (const Op* op : overloads(public_name))
    if (PyTypeObject* type = result_type(*op)) return type;
  return nullptr;
}

bool is_method(const Op& op) {
  return (op.extra.places & kMethod) != 0 && !op.schema.params.empty() &&
         op.schema.params[0].type == ArgType::tensor && !op.schema.params[0].list;
}

bool has_inplace_form(const Op& op) {
  bool writes_first = !op.schema.params.empty() && op.schema.params[0].type == ArgType::tensor &&
                      !op.schema.params[0].list;
  if (!writes_first || op.schema.results.size() != 1) return false;
  if (op.kind == Kind::composite) return op.extra.inplace;
  // A cast, or the complex number made of two reals, would be cast back at once.
  if (op.kind == Kind::elementwise)
    return op.extra.promote != Promote::attribute && op.extra.promote != Promote::complex &&
           op.extra.fixed.empty();
  return op.kind == Kind::scan ||
         (op.kind == Kind::index && op.index.source >= 0);  // scatter and its like
}

bool is_inplace_method(const Op& op) {
  return (op.extra.places & (kMethod | kInPlace)) != 0 && has_inplace_form(op);
}

std::string doc_of(const Op& op) {
  if (op.role != 0 && op.extra.doc.empty())
    return absl::StrCat("Gradient of ", op.roles[0]->name(), "() by its operand ",
                        op.roles[0]->schema.params[static_cast<size_t>(op.role - 1)].name, ".");
  if (op.put_of == nullptr || !op.extra.doc.empty()) return std::string(op.extra.doc);
  return absl::StrCat("x with value written through ", op.put_of->name(), "().");
}

namespace {

/// Whether the definition, or its in-place form, is found at `place` under the names that are not a
/// module's.
bool stands_at(const Op& op, Place place, bool inplace = false) {
  if (inplace && !has_inplace_form(op)) return false;
  if (place == kNowhere) return true;
  if (place != kMethod) return (op.extra.places & place) != 0;
  return inplace ? is_inplace_method(op) : is_method(op);
}

}  // namespace

std::unique_ptr<Callable> find_callable(std::string_view name, Where where) {
  auto made = std::make_unique<Callable>();
  made->name = name;
  made->path = where.module.empty() ? made->name : absl::StrCat(where.module, ".", name);
  made->place = where.place;
  std::vector<const Op*> all;
  if (!where.module.empty()) all = overloads(absl::StrCat(where.module, ".", name));
  auto take = [&](std::string_view public_name) {
    for (const Op* op : overloads(public_name))
      if (stands_at(*op, where.place, made->inplace)) all.push_back(op);
  };
  if (all.empty() && (where.place != kNowhere || where.anywhere())) {
    const bool full = name.find('.') != std::string_view::npos;  // one overload, in lathe.ops
    if (const Op* op = full ? find_op(name) : nullptr)
      all = {op};
    else
      take(name);
    made->inplace = all.empty() && name.size() > 1 && name.back() == '_';
    if (made->inplace) take(name.substr(0, name.size() - 1));
  }
  for (const Op* op : all) {
    made->overloads.push_back({op, result_type(*op), gathering_parameter(op->schema)});
    made->creates |= creates(*op);
    made->draws |= draws(*op);
    made->taken_for_view |= op->extra.taken_for_view == name;
    made->inplace_argument |= where.place == kFunctional && op->extra.inplace_argument;
  }
  return made->overloads.empty() ? nullptr : std::move(made);
}

std::set<std::string> names_at(Where where) {
  std::set<std::string> names;
  for (const Op* op : all_ops()) {
    if (op->extra.host != HostCall::none) continue;
    const bool named = where.place != kNowhere || where.anywhere();
    auto add = [&](std::string_view name) {
      if (named && where.place == kMethod && is_inplace_method(*op))
        names.insert(absl::StrCat(name, "_"));
      if (named && stands_at(*op, where.place)) names.emplace(name);
    };
    add(op->public_name());
    for (std::string_view also : op->extra.also) {
      const size_t dot = also.rfind('.');
      if (dot == std::string_view::npos)
        add(also);
      else if (!where.module.empty() && also.substr(0, dot) == where.module)
        names.emplace(also.substr(dot + 1));
    }
  }
  return names;
}

}  // namespace lathe::py
