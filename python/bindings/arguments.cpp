#include "python/bindings/arguments.h"
#include "python/bindings/constants.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <string>

#include "core/base/error.h"
#include "core/dispatch/call.h"
#include "core/dispatch/fn.h"
#include "core/ops/families.h"
#include "include/lathe/ops/math.h"
#include "python/bindings/build.h"
#include "python/bindings/jit.h"
#include "python/bindings/real.h"
#include "python/bindings/values.h"

namespace lathe::py {
namespace {

constexpr Py_ssize_t kMostItems = 1 << 24;  // of a list; a range can claim to have 2^62

[[noreturn]] void refuse(const Schema& schema, PyObject* o, const Param* p) {
  throw TypeError({.op = schema.name,
                   .problem = p == nullptr
                                  ? std::string("an argument has the wrong type")
                                  : absl::StrCat("argument '", p->name, "' has the wrong type"),
                   .got = Py_TYPE(o)->tp_name,
                   .expected = p == nullptr ? "numbers, tensors, dtypes, texts, or lists of them"
                               : p->list    ? "a list or tuple whose items are no lists"
                                            : "one value",
                   .next = absl::StrCat("the signature is ", schema.text)});
}

[[noreturn]] void refuse_iterator(const Schema& schema, PyObject* o, const Param& p) {
  throw TypeError(
      {.op = schema.name,
       .problem = absl::StrCat("argument '", p.name, "' is an iterator, whose end nobody knows"),
       .got = Py_TYPE(o)->tp_name,
       .expected = "a list, a tuple or another sequence with a length",
       .next = "make a list of it first: list(...)"});
}

/// What NumPy's scalars, and others that are numbers but not Python's, are as Python numbers.
bool foreign_number(PyObject* o, Arg& out) {
  if (PySequence_Check(o) || PyUnicode_Check(o) || PyBytes_Check(o)) return false;
  if (nb::isinstance<SymInt>(o)) {  // __index__ would guard its value
    out = Arg(to_int(o));
    return true;
  }
  if (PyIndex_Check(o)) {
    nb::object number = as_number(PyNumber_Index(o));  // an array without axes may be a float's
    if (number.is_valid()) {
      out = Arg(to_int(number.ptr()));
      return true;
    }
    if (has_buffer(o)) return false;
  }
  PyNumberMethods* n = Py_TYPE(o)->tp_as_number;
  if (n == nullptr || n->nb_float == nullptr) return false;
  std::string_view type = Py_TYPE(o)->tp_name;
  if (type == "numpy.bool" || type == "numpy.bool_") {
    out = Arg(PyObject_IsTrue(o) == 1);
    return true;
  }
  // A date of NumPy's has the slot as well, and no number.
  nb::object number = as_number(PyNumber_Float(o));
  if (!number.is_valid()) return false;
  out = Arg(PyFloat_AS_DOUBLE(number.ptr()));
  return true;
}

/// The position of a parameter by its name, or by the name that NumPy has for it, as in PyTorch:
/// axis, keepdims, x, a, x1 and x2. `self` is what PyTorch calls a number in the place of input.
/// -1: there is none.
int spelled(const Schema& schema, std::string_view name) {
  struct Alias {
    std::string_view theirs, ours;
  };
  constexpr Alias kAliases[] = {{"axis", "dim"},  {"keepdims", "keepdim"}, {"x", "input"},
                                {"a", "input"},   {"x1", "input"},         {"x2", "other"},
                                {"self", "input"}};
  int found = schema.find(name);
  for (const Alias& alias : kAliases)
    if (found < 0 && alias.theirs == name) found = schema.find(alias.ours);
  return found;
}

/// A tensor that can stand for an integer.
bool is_whole_number(PyObject* o) {
  return is_tensor(o) && impl_of(o)->geometry.rank() == 0 && category(impl_of(o)->dtype) < 2;
}

}  // namespace

bool operand(PyObject* o, Arg& out, Tensor& kept) {
  if (simple(o, out)) return true;
  kept = stand_in_tensor(o);
  if (kept.defined()) {
    out = Arg(kept);
    return true;
  }
  if (Real r; read_real(o, r)) {
    out = Arg(r);
    return true;
  }
  if (is_complex_number(o)) {
    kept = complex_tensor(o);
    out = Arg(kept);
    return true;
  }
  if (foreign_number(o, out)) return true;
  // An array joins in as a tensor. In a trace it is one whose elements are guarded, or made of
  // such.
  if (!has_buffer(o)) return false;
  kept = copy_buffer(o);
  note_constant(kept);
  out = Arg(kept);
  return true;
}

void fit_complex_numbers(absl::Span<Arg> args, absl::Span<Tensor> numbers) {
  auto number_of = [&](const Arg& a) -> Tensor* {
    for (Tensor& t : numbers)
      if (a.tag == Tag::tensor && a.tensor_ == t.impl()) return &t;
    return nullptr;
  };
  DType part = DType::bool_;  // of the floats among the others, and of a dtype that is asked for
  auto meet = [&](DType d) {
    if (category(d) >= 2) part = promote(part, real_type(d));
  };
  for (const Arg& a : args) {
    if (a.tag == Tag::tensor && number_of(a) == nullptr) meet(a.tensor_->dtype);
    if (a.tag == Tag::dtype) meet(a.dtype_);
  }
  if (complex_type(is_floating(part) ? part : default_dtype()) == DType::c128) return;
  for (Arg& a : args)
    if (Tensor* t = number_of(a)) {
      *t = narrow_complex(*t);
      a = Arg(*t);
    }
}

int gathering_parameter(const Schema& schema) {
  for (size_t i = 0; i < schema.params.size(); ++i) {
    const Param& p = schema.params[i];
    if (p.keyword_only) return -1;
    if (p.fixed_size < 0) return static_cast<int>(i);
    if (!p.list || p.type != ArgType::integer || p.fixed_size > 0) continue;
    if (i + 1 == schema.params.size()) return static_cast<int>(i);
    const Param& next = schema.params[i + 1];
    bool clear = next.keyword_only ||
                 (!next.list && (next.type == ArgType::flag || next.type == ArgType::dtype ||
                                 next.type == ArgType::device || next.type == ArgType::text));
    return clear ? static_cast<int>(i) : -1;
  }
  return -1;
}

bool Arguments::read_number(PyObject* o, const Param& p, Arg& out) const {
  const bool number = p.type == ArgType::integer || p.type == ArgType::real ||
                      p.type == ArgType::scalar || p.type == ArgType::flag;
  if (!read_tensors_ || !number || !is_tensor(o) || impl_of(o)->geometry.rank() != 0) return false;
  const Tensor t = tensor_of(o);
  const DType d = t.dtype();
  const bool whole = is_integer(d) || d == DType::bool_;
  // As in PyTorch: no fraction is cut off, and no history is lost without a word.
  if (is_complex(d) || t.requires_grad() || (p.type == ArgType::integer && !whole) ||
      (p.type == ArgType::flag && d != DType::bool_))
    return false;
  if (t.symbolic() && p.type == ArgType::integer && !absl::StartsWith(p.name, "dim")) {
    out = Arg(size_in(math_ops<Tensor>::cast(t, DType::i64)));  // a size that data decides
    return true;
  }
  reading(t, schema_.name.c_str());
  if (d == DType::bool_ && p.type != ArgType::integer)
    out = Arg(t.item_int() != 0);
  else
    out = whole ? Arg(t.item_int()) : Arg(t.item_double());
  return true;
}

Arg Arguments::convert(PyObject* o, const Param* p) {
  Arg out;
  if (p != nullptr && read_number(o, *p, out)) [[unlikely]]
    return out;
  if (simple(o, out)) [[likely]]
    return out;
  if (PyTuple_CheckExact(o)) return list_of(&PyTuple_GET_ITEM(o, 0), PyTuple_GET_SIZE(o), p);
  if (PyList_CheckExact(o)) return list_of(o, p);
  if (p != nullptr && p->list && !PyUnicode_Check(o)) {
    if (has_items(o)) return list_of(o, p);
    if (PyIter_Check(o) != 0) refuse_iterator(schema_, o, *p);
  }
  return convert_item(o, p);
}

Arg Arguments::convert_item(PyObject* o, const Param* p) {
  Arg out;
  if (p != nullptr && read_number(o, *p, out)) [[unlikely]]
    return out;
  if (simple(o, out)) [[likely]]
    return out;
  if (o == Py_None) return Arg();
  bool wants_dtype = p != nullptr && p->type == ArgType::dtype;
  bool wants_device = p != nullptr && p->type == ArgType::device;
  DType dtype;
  if ((wants_dtype || is_dtype(o)) && read_dtype(o, dtype)) return Arg(dtype);
  if (wants_device || is_device(o)) return Arg(to_device(o));
  if (PyUnicode_Check(o)) {
    const char* s = PyUnicode_AsUTF8(o);
    if (s == nullptr) throw nb::python_error();
    return Arg(s);
  }
  Tensor made;
  if (operand(o, out, made)) {
    if (made.defined())
      (is_complex_number(o) ? complex_numbers_ : kept_).push_back(std::move(made));
    return out;
  }
  refuse(schema_, o, p);
}

Arg Arguments::list_of(PyObject* sequence, const Param* p) {
  Items items(sequence);
  if (items.size() > kMostItems)
    throw ValueError({.op = schema_.name,
                      .problem = "a list is longer than any argument can be",
                      .got = absl::StrCat(items.size(), " items"),
                      .expected = absl::StrCat("at most ", kMostItems),
                      .next = "make a tensor of many numbers with lathe.tensor()"});
  List& made = new_list();
  for (Py_ssize_t i = 0; i < items.size(); ++i) {
    nb::object item = items.at(i);
    add(made, item.ptr(), p);
    // Its text is borrowed; whoever made the item may not keep it.
    if (made.items.back().tag == Tag::text) texts_.push_back(std::move(item));
  }
  return closed(made);
}

Arg Arguments::list_of(PyObject* const* items, Py_ssize_t count, const Param* p) {
  List& made = new_list();
  for (Py_ssize_t i = 0; i < count; ++i) add(made, items[i], p);
  return closed(made);
}

Arguments::List& Arguments::new_list() {
  lists_.push_back(std::make_unique<List>());
  return *lists_.back();
}

void Arguments::add(List& made, PyObject* o, const Param* p) {
  Arg item = convert_item(o, p);
  // The list could lose its item while the call runs without the lock.
  if (item.tag == Tag::tensor) kept_.push_back(item.tensor());
  made.items.push_back(item);
}

Arg Arguments::closed(List& made) {
  made.list = {made.items.data(), made.items.size()};
  return Arg(made.list);
}

bool Arguments::gathers(const Param& p, PyObject* o) const {
  if (p.fixed_size < 0) return is_tensor(o);
  return is_int(o) || (read_tensors_ && is_whole_number(o));
}

void Arguments::positional(PyObject* const* args, Py_ssize_t count, int gather) {
  for (Py_ssize_t i = 0; i < count; ++i) {
    size_t at = given_.size();
    const Param* p = at < schema_.params.size() ? &schema_.params[at] : nullptr;
    Py_ssize_t end = i;
    if (static_cast<int>(at) == gather)
      while (end < count && gathers(*p, args[end])) ++end;
    if (end > i) {
      given_.push_back(list_of(args + i, end - i, p));
      i = end - 1;
    } else {
      given_.push_back(convert(args[i], p));
    }
  }
}

void Arguments::named(PyObject* name, PyObject* value) {
  std::string_view key = text_of(name);
  int i = spelled(schema_, key);
  const Param* p = i >= 0 ? &schema_.params[static_cast<size_t>(i)] : nullptr;
  named_.push_back({p != nullptr ? std::string_view(p->name) : key, convert(value, p)});
}

int Arguments::parameter(PyObject* name) const { return spelled(schema_, text_of(name)); }

bool Arguments::fit() const { return accepts(schema_, given_, named_, Caller::python); }

Args Arguments::complete() {
  complete_call(schema_, given_, named_, full_, pool_, Caller::python);
  if (!complex_numbers_.empty())
    fit_complex_numbers(absl::MakeSpan(full_), absl::MakeSpan(complex_numbers_));
  return Args(full_.data(), full_.size());
}

}  // namespace lathe::py
