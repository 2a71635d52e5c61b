#include "python/bindings/integer.h"

#include <absl/strings/str_cat.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/sizes/symexpr.h"
#include "python/bindings/real.h"
#include "python/bindings/tensor.h"

namespace lathe::py {
namespace {

constexpr double kMostSize = 1LL << 40;    // what a size is taken to be beside an integer
constexpr double kMostResult = 1LL << 61;  // an Int has room for twice that
constexpr double kMostExact = 1LL << 53;   // up to which every integer is a double

bool is_symbolic(nb::handle h) { return nb::isinstance<SymInt>(h); }

/// Any integer operand of a SymInt's operator; false leaves it to Python.
bool operand(nb::handle h, SymInt& out) {
  if (is_symbolic(h)) {
    out = *nb::inst_ptr<SymInt>(h);
    return true;
  }
  if (!is_int(h.ptr()) && !PyBool_Check(h.ptr())) return false;
  int overflow = 0;
  nb::object number = owned(PyNumber_Index(h.ptr()));
  const long long v = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  if (overflow != 0 || std::abs(static_cast<double>(v)) > kMostResult) return false;
  out = {.value = Int(static_cast<int64_t>(v)), .now = v};
  return true;
}

/// Python's int: the program then holds for this number only.
nb::object pinned(const SymInt& a) { return owned(PyLong_FromLongLong(a.here().value())); }
nb::object number(nb::handle h) {
  return is_symbolic(h) ? pinned(*nb::inst_ptr<SymInt>(h)) : nb::borrow(h);
}
bool is_real(nb::handle h) { return PyFloat_Check(h.ptr()) || is_symbolic_real(h.ptr()); }
/// Is it a number that Python's own operators take beside an int?
bool is_number(nb::handle h) {
  return PyLong_Check(h.ptr()) || PyComplex_Check(h.ptr()) || is_symbolic(h) || is_real(h);
}

/// A float where it can be one without a guard; else a number.
nb::object as_real(const SymInt& a) {
  std::optional<Real> r = real_of(a);
  if (!r) return pinned(a);
  std::optional<double> now;
  if (a.now) now = static_cast<double>(*a.now);
  return owned(from_real(*r, now));
}
nb::object as_real(nb::handle h) {
  return is_symbolic(h) ? as_real(*nb::inst_ptr<SymInt>(h)) : nb::borrow(h);
}

nb::object made(Int value, double most, std::optional<int64_t> now) {
  if (value.known()) return owned(PyLong_FromLongLong(value.value()));
  return nb::cast(SymInt{.value = value, .most = most, .now = now});
}

/// How far from 0 an operand may be, beside one that was read.
double most_of(const SymInt& a) {
  if (a.most != 0) return a.most;
  return a.value.known() ? std::abs(static_cast<double>(a.value.value())) : kMostSize;
}

/// f as an expression; nothing, where it might be out of range. `bound`: of its absolute value.
template <class F, class Bound>
std::optional<nb::object> expression(F f, Bound bound, const SymInt& a, const SymInt& b) {
  const Int x = a.here(), y = b.here();
  if (a.most == 0 && b.most == 0) return owned(from_int(f(x, y)));  // sizes
  const double most = bound(most_of(a), most_of(b));
  if (most > kMostResult) return std::nullopt;
  std::optional<int64_t> now;
  if (a.now && b.now) now = f(Int(*a.now), Int(*b.now)).value();
  return made(f(x, y), std::max(most, 1.0), now);
}

template <class F, class Bound>
auto arithmetic(F f, Bound bound, binaryfunc python) {
  return [f, bound, python](const SymInt& a, nb::handle b) -> nb::object {
    SymInt other;
    if (operand(b, other))
      if (auto made = expression(f, bound, a, other)) return *made;
    if (!is_number(b)) return nb::borrow(Py_NotImplemented);
    if (is_real(b)) return owned(python(as_real(a).ptr(), b.ptr()));
    return owned(python(pinned(a).ptr(), number(b).ptr()));
  };
}
template <class F, class Bound>
auto reflected(F f, Bound bound, binaryfunc python) {
  return [f, bound, python](const SymInt& a, nb::handle b) -> nb::object {
    SymInt other;
    if (operand(b, other))
      if (auto made = expression(f, bound, other, a)) return *made;
    if (!is_number(b)) return nb::borrow(Py_NotImplemented);
    if (is_real(b)) return owned(python(b.ptr(), as_real(a).ptr()));
    return owned(python(number(b).ptr(), pinned(a).ptr()));
  };
}
/// The answer that Python's code goes on with: of what only running tells there is none.
bool asked(Relation relation, Int a, Int b) {
  const SymScope* scope = SymScope::current();
  if (scope != nullptr && (scope->inside(a) || scope->inside(b)) &&
      scope->prove(relation, a, b) == SymScope::Truth::unknown)
    throw TraceError(
        {.problem = "the code branches on a size that only running the program tells",
         .got = absl::StrCat("the question how ", to_string(a), " compares with ", to_string(b)),
         .expected = "sizes that follow from those of the arguments",
         .next = "capture it with lathe.script, where such a question is part of the "
                 "program"});
  return decide(relation, a, b);
}

/// not_this: the answer is the other one of the relation's.
auto comparison(Relation relation, bool not_this, bool swapped, int python) {
  return [=](const SymInt& a, nb::handle b) -> nb::object {
    SymInt other;
    if (operand(b, other)) {
      const Int x = a.here(), y = other.here();
      const bool answer = swapped ? asked(relation, y, x) : asked(relation, x, y);
      return nb::borrow(answer != not_this ? Py_True : Py_False);
    }
    if (!is_number(b)) return nb::borrow(Py_NotImplemented);
    return owned(
        PyObject_RichCompare((is_real(b) ? as_real(a) : pinned(a)).ptr(), b.ptr(), python));
  };
}
/// The quotient of integers is a float: exactly that of both as floats, where they are exact.
nb::object quotient(nb::handle a, nb::handle b) {
  if (!is_number(a) || !is_number(b)) return nb::borrow(Py_NotImplemented);
  nb::object x = as_real(a), y = as_real(b);
  auto exact = [](nb::handle h) {
    return !PyLong_Check(h.ptr()) || std::abs(PyLong_AsDouble(h.ptr())) < kMostExact;
  };
  const bool fits = exact(x) && exact(y);
  PyErr_Clear();
  return fits ? owned(PyNumber_TrueDivide(x.ptr(), y.ptr()))
              : owned(PyNumber_TrueDivide(number(a).ptr(), number(b).ptr()));
}
/// An operator whose result is no expression over integers.
auto of_numbers(binaryfunc python) {
  return [python](const SymInt& a, nb::handle b) {
    return owned(python(pinned(a).ptr(), number(b).ptr()));
  };
}
auto of_numbers_reflected(binaryfunc python) {
  return [python](const SymInt& a, nb::handle b) {
    return owned(python(number(b).ptr(), pinned(a).ptr()));
  };
}
PyObject* power(PyObject* a, PyObject* b) { return PyNumber_Power(a, b, Py_None); }
nb::object minus(const SymInt& a) {
  if (a.most == 0) return owned(from_int(-a.here()));
  return made(-a.here(), a.most, a.now ? std::optional(-*a.now) : std::nullopt);
}

/// A polynomial over integers that were read, as a float that is exact at every step.
std::optional<Real> polynomial(Int e) {
  if (e.known()) return Real(static_cast<double>(e.value()));
  const SymExpr& x = *e.expr();
  if (x.kind == SymKind::symbol) return real_of_symbol(x.symbol);
  if (x.kind != SymKind::sum) return std::nullopt;
  double most = std::abs(static_cast<double>(x.constant));
  std::optional<Real> sum;
  for (const SymTerm& term : x.terms) {
    double bound = std::abs(static_cast<double>(term.coefficient));
    Real product = static_cast<double>(term.coefficient);
    for (const SymExpr* factor : term.factors) {
      if (factor->kind != SymKind::symbol) return std::nullopt;
      std::optional<Real> r = real_of_symbol(factor->symbol);
      if (!r) return std::nullopt;
      product = product * *r;
      bound *= static_cast<double>(SymInt::kMostRead);
    }
    most += bound;
    sum = sum ? *sum + product : product;
  }
  if (most > kMostExact) return std::nullopt;
  return x.constant == 0 ? sum : *sum + Real(static_cast<double>(x.constant));
}

}  // namespace

std::optional<Real> real_of(const SymInt& a) {
  if (a.most == 0) return std::nullopt;
  return polynomial(a.here());
}

PyObject* read_int(Int value, int64_t now) {
  return made(value, static_cast<double>(SymInt::kMostRead), now).release().ptr();
}

PyObject* from_int(Int value) {
  if (value.known()) return PyLong_FromLongLong(value.value());
  return nb::cast(SymInt{.value = value}).release().ptr();
}

bool is_int(PyObject* o) {
  if (PyLong_CheckExact(o)) return true;
  if (PyBool_Check(o) || is_tensor(o)) return false;
  return PyIndex_Check(o) && !PySequence_Check(o);  // an array of one number has an index too
}

Int to_int(PyObject* o) {
  if (!PyLong_Check(o)) {
    if (nb::isinstance<SymInt>(o)) {
      // By what is known now: a quotient of a size that was found to be 8 is a number.
      const Int value = nb::inst_ptr<SymInt>(o)->here();
      const SymScope* scope = SymScope::current();
      return scope != nullptr ? scope->simplify(value) : value;
    }
    if (!PyIndex_Check(o))
      throw TypeError({.problem = "an integer expected", .got = Py_TYPE(o)->tp_name});
    nb::object number = as_number(PyNumber_Index(o));
    if (!number.is_valid())
      throw TypeError({.problem = "an integer expected",
                       .got = absl::StrCat(Py_TYPE(o)->tp_name, ", which stands for none"),
                       .next = "convert it first: int(...)"});
    return to_int(number.ptr());
  }
  int overflow = 0;
  long long v = PyLong_AsLongLongAndOverflow(o, &overflow);
  if (overflow != 0)
    throw OverflowError({.op = "size",
                         .problem = "an integer outside the range of int64",
                         .got = std::string(text_of(owned(PyObject_Repr(o)).ptr())),
                         .expected = "-2^62 to 2^62 - 1",
                         .next = "check how the number was computed"});
  return Int(static_cast<int64_t>(v));
}

nb::object as_number(PyObject* converted) {
  if (converted == nullptr && PyErr_ExceptionMatches(PyExc_TypeError) != 0) {
    PyErr_Clear();
    return {};
  }
  return owned(converted);
}

void add_symint(nb::module_& m) {
  nb::class_<SymInt> c(
      m, "SymInt",
      "An integer of a trace: a size of a tensor, or one that the code reads and that\n"
      "changes from call to call; a number, or an expression over the trace's symbols. A\n"
      "comparison, bool(), int() and range() make the compiled program hold only for\n"
      "integers that answer alike.");
  auto sum_of = [](double a, double b) { return a + b; };
  auto product_of = [](double a, double b) { return a * b; };
  auto first_of = [](double a, double) { return a; };
  auto second_of = [](double, double b) { return b; };
  auto add = [](Int a, Int b) { return a + b; };
  auto sub = [](Int a, Int b) { return a - b; };
  auto mul = [](Int a, Int b) { return a * b; };
  auto div = [](Int a, Int b) { return floor_div(a, b); };
  auto rem = [](Int a, Int b) { return mod(a, b); };
  c.def("__add__", arithmetic(add, sum_of, PyNumber_Add))
      .def("__radd__", reflected(add, sum_of, PyNumber_Add));
  c.def("__sub__", arithmetic(sub, sum_of, PyNumber_Subtract))
      .def("__rsub__", reflected(sub, sum_of, PyNumber_Subtract));
  c.def("__mul__", arithmetic(mul, product_of, PyNumber_Multiply))
      .def("__rmul__", reflected(mul, product_of, PyNumber_Multiply));
  c.def("__floordiv__", arithmetic(div, first_of, PyNumber_FloorDivide))
      .def("__rfloordiv__", reflected(div, first_of, PyNumber_FloorDivide));
  c.def("__mod__", arithmetic(rem, second_of, PyNumber_Remainder))
      .def("__rmod__", reflected(rem, second_of, PyNumber_Remainder));
  c.def("__pow__", of_numbers(power)).def("__rpow__", of_numbers_reflected(power));
  c.def("__and__", of_numbers(PyNumber_And)).def("__rand__", of_numbers_reflected(PyNumber_And));
  c.def("__or__", of_numbers(PyNumber_Or)).def("__ror__", of_numbers_reflected(PyNumber_Or));
  c.def("__xor__", of_numbers(PyNumber_Xor)).def("__rxor__", of_numbers_reflected(PyNumber_Xor));
  c.def("__divmod__", of_numbers(PyNumber_Divmod));
  c.def("__rdivmod__", of_numbers_reflected(PyNumber_Divmod));
  c.def("__abs__", [](const SymInt& a) {
    if (a.most == 0) return owned(PyNumber_Absolute(pinned(a).ptr()));
    return asked(Relation::lt, a.here(), Int(0)) ? minus(a) : nb::cast(a);
  });
  c.def("__invert__", [](const SymInt& a) { return owned(PyNumber_Invert(pinned(a).ptr())); });
  c.def("__pos__", [](const SymInt& a) { return a; });
  c.def("__lshift__", of_numbers(PyNumber_Lshift));
  c.def("__rlshift__", of_numbers_reflected(PyNumber_Lshift));
  c.def("__rshift__", of_numbers(PyNumber_Rshift));
  c.def("__rrshift__", of_numbers_reflected(PyNumber_Rshift));
  c.def("__neg__", minus);
  c.def("__eq__", comparison(Relation::eq, false, false, Py_EQ), nb::arg().none());
  c.def("__ne__", comparison(Relation::eq, true, false, Py_NE), nb::arg().none());
  c.def("__lt__", comparison(Relation::lt, false, false, Py_LT));
  c.def("__le__", comparison(Relation::le, false, false, Py_LE));
  c.def("__gt__", comparison(Relation::lt, false, true, Py_GT));
  c.def("__ge__", comparison(Relation::le, false, true, Py_GE));
  c.def("__bool__", [](const SymInt& a) { return !asked(Relation::eq, a.here(), Int(0)); });
  c.def("__int__", [](const SymInt& a) { return a.here().value(); });
  c.def("__index__", [](const SymInt& a) { return a.here().value(); });
  c.def("__float__", [](const SymInt& a) { return static_cast<double>(a.here().value()); });
  c.def("__truediv__", [](nb::handle a, nb::handle b) { return quotient(a, b); });
  c.def("__rtruediv__", [](nb::handle a, nb::handle b) { return quotient(b, a); });
  c.def("__hash__", [](const SymInt& a) { return nb::hash(pinned(a)); });
  c.def("__copy__", [](nb::handle a) { return nb::borrow(a); });
  c.def("__deepcopy__", [](nb::handle a, nb::handle) { return nb::borrow(a); });
  // Text is Python's: the program then holds for this number only.
  c.def("__repr__", [](const SymInt& a) { return std::to_string(a.here().value()); });
  c.def("__format__", [](const SymInt& a, nb::handle spec) {
    return owned(PyObject_Format(pinned(a).ptr(), spec.ptr()));
  });
  c.def_prop_ro(
      "inside",
      [](const SymInt& a) {
        const SymScope* scope = SymScope::current();
        return scope != nullptr && scope->inside(a.here());
      },
      "Does only running the program tell it?");
  c.def_prop_ro(
      "hint", [](const SymInt& a) { return a.here().hint(); },
      "The value at this call, without a guard: for messages only.");
}

}  // namespace lathe::py
