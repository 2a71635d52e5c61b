// Python's operators on tensors. Each slot knows its definition by the name C++ callers use for it
// (include/lathe/ops), builds the arguments on the stack and calls.
#include "core/base/error.h"
#include "core/dispatch/fn.h"
#include "core/scalar/element.h"
#include "include/lathe/ops/arithmetic.h"
#include "include/lathe/ops/math.h"
#include "include/lathe/ops/nn.h"
#include "include/lathe/ops/reduce.h"
#include "python/bindings/arguments.h"
#include "python/bindings/build.h"
#include "python/bindings/call.h"
#include "python/bindings/tensor.h"

namespace lathe::py {
namespace {

using A = arithmetic_ops<Tensor>;
using M = math_ops<Tensor>;
using N = nn_ops<Tensor>;
using R = reduce_ops<Tensor>;

/// Operands of one operator, and what had to be made for them.
struct Pair {
  Arg args[2];
  Tensor kept[2];
  bool read(PyObject* a, PyObject* b) {
    if (!operand(a, args[0], kept[0]) || !operand(b, args[1], kept[1])) return false;
    PyObject* both[] = {a, b};
    for (size_t k = 0; k < 2; ++k)
      if (kept[k].defined() && is_complex_number(both[k])) [[unlikely]]
        fit_complex_numbers(absl::MakeSpan(args), absl::MakeSpan(&kept[k], 1));
    return true;
  }
  Args view() const { return Args(args, 2); }
};

template <auto& F>
PyObject* binary(PyObject* a, PyObject* b) {
  return guarded([&]() -> PyObject* {
    Pair p;
    if (!p.read(a, b)) Py_RETURN_NOTIMPLEMENTED;
    return wrap(run_one(*F.op(), p.view()));
  });
}

template <auto& F>
PyObject* inplace(PyObject* a, PyObject* b) {
  return guarded([&]() -> PyObject* {
    Pair p;
    if (!p.read(a, b)) Py_RETURN_NOTIMPLEMENTED;
    run(*F.op(), p.view(), CallForm::in_place);
    return new_ref(a);
  });
}

template <auto& F>
PyObject* unary(PyObject* a) {
  return guarded([&] {
    Arg arg;
    arg.tag = Tag::tensor;
    arg.tensor_ = impl_of(a);
    return wrap(run_one(*F.op(), Args(&arg, 1)));
  });
}

PyObject* power(PyObject* a, PyObject* b, PyObject* modulus) {
  if (modulus != Py_None) Py_RETURN_NOTIMPLEMENTED;
  return binary<M::pow>(a, b);
}
PyObject* power_inplace(PyObject* a, PyObject* b, PyObject*) { return inplace<M::pow>(a, b); }
PyObject* positive(PyObject* a) { return new_ref(a); }

PyObject* compare(PyObject* a, PyObject* b, int how) {
  switch (how) {
    case Py_EQ:
      return binary<M::eq>(a, b);
    case Py_NE:
      return binary<M::ne>(a, b);
    case Py_LT:
      return binary<M::lt>(a, b);
    case Py_LE:
      return binary<M::le>(a, b);
    case Py_GT:
      return binary<M::gt>(a, b);
    default:
      return binary<M::ge>(a, b);
  }
}

/// `value in x`: whether any element equals it.
int contains(PyObject* self, PyObject* value) {
  return guarded_int([&] {
    Pair p;
    if (!p.read(self, value)) return 0;
    Tensor hit = R::any(run(*M::eq.op(), p.view())[0]);
    return hit.item_int() != 0 ? 1 : 0;
  });
}

int truth(PyObject* self) {
  return guarded_int([&] {
    Tensor t = tensor_of(self);
    reading(t, "bool");
    alignas(16) std::byte room[16];
    t.item_bytes(room);
    const bool zero =
        element_double(t.dtype(), room) == 0 && element_imaginary(t.dtype(), room) == 0;
    return zero ? 0 : 1;
  });
}
PyObject* to_float(PyObject* self) {
  return guarded([&] {
    reading(tensor_of(self), "float");
    return PyFloat_FromDouble(tensor_of(self).item_double());
  });
}
PyObject* whole_number(const Tensor& t) {
  if (t.dtype() == DType::u64) return PyLong_FromUnsignedLongLong(t.item_bits());
  return PyLong_FromLongLong(t.item_int());
}
PyObject* to_long(PyObject* self) {
  return guarded([&] {
    Tensor t = tensor_of(self);
    reading(t, "int");
    if (is_floating(t.dtype())) return PyLong_FromDouble(t.item_double());  // refuses inf and nan
    return whole_number(t);
  });
}
PyObject* to_index(PyObject* self) {
  return guarded([&] {
    Tensor t = tensor_of(self);
    if (!is_integer(t.dtype()) && t.dtype() != DType::bool_)
      throw TypeError({.op = "index",
                       .problem = "only an integer tensor of one element is an index",
                       .got = to_string(type_of(t)),
                       .expected = "integers or bools",
                       .next = "convert with int()"});
    reading(t, "index");
    return whole_number(t);
  });
}

template <class F>
void* slot(F* f) {
  return reinterpret_cast<void*>(f);
}

}  // namespace

void append_number_slots(std::vector<PyType_Slot>& slots) {
  std::initializer_list<PyType_Slot> mine = {
      {Py_nb_add, slot(binary<M::add>)},
      {Py_nb_subtract, slot(binary<M::sub>)},
      {Py_nb_multiply, slot(binary<M::mul>)},
      {Py_nb_true_divide, slot(binary<M::div>)},
      {Py_nb_floor_divide, slot(binary<M::floor_divide>)},
      {Py_nb_remainder, slot(binary<M::remainder>)},
      {Py_nb_matrix_multiply, slot(binary<N::matmul>)},
      {Py_nb_power, slot(power)},
      {Py_nb_and, slot(binary<M::bitwise_and>)},
      {Py_nb_or, slot(binary<M::bitwise_or>)},
      {Py_nb_xor, slot(binary<M::bitwise_xor>)},
      {Py_nb_lshift, slot(binary<A::bitwise_left_shift>)},
      {Py_nb_rshift, slot(binary<A::bitwise_right_shift>)},
      {Py_nb_inplace_add, slot(inplace<M::add>)},
      {Py_nb_inplace_subtract, slot(inplace<M::sub>)},
      {Py_nb_inplace_multiply, slot(inplace<M::mul>)},
      {Py_nb_inplace_true_divide, slot(inplace<M::div>)},
      {Py_nb_inplace_floor_divide, slot(inplace<M::floor_divide>)},
      {Py_nb_inplace_remainder, slot(inplace<M::remainder>)},
      {Py_nb_inplace_power, slot(power_inplace)},
      {Py_nb_inplace_and, slot(inplace<M::bitwise_and>)},
      {Py_nb_inplace_or, slot(inplace<M::bitwise_or>)},
      {Py_nb_inplace_xor, slot(inplace<M::bitwise_xor>)},
      {Py_nb_inplace_lshift, slot(inplace<A::bitwise_left_shift>)},
      {Py_nb_inplace_rshift, slot(inplace<A::bitwise_right_shift>)},
      {Py_nb_negative, slot(unary<M::neg>)},
      {Py_nb_positive, slot(positive)},
      {Py_nb_absolute, slot(unary<M::abs>)},
      {Py_nb_invert, slot(unary<M::bitwise_not>)},
      {Py_nb_bool, slot(truth)},
      {Py_nb_float, slot(to_float)},
      {Py_nb_int, slot(to_long)},
      {Py_nb_index, slot(to_index)},
      {Py_sq_contains, slot(contains)},
      {Py_tp_richcompare, slot(compare)},
  };
  slots.insert(slots.end(), mine);
}

}  // namespace lathe::py
