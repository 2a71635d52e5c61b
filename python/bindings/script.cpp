#include "python/bindings/script.h"

#include <nanobind/stl/string.h>

#include <algorithm>

#include "autodiff/tape.h"
#include "core/base/error.h"
#include "core/ops/families.h"
#include "core/sizes/symexpr.h"
#include "graph/trace/tracer.h"
#include "python/bindings/tensor.h"
#include "python/bindings/values.h"

namespace lathe::py {
namespace {

ir::Tracer& tracer() {
  ir::Tracer* t = ir::Tracer::current();
  if (t == nullptr)
    throw ScriptError({.op = "script",
                       .problem = "a condition that data decides, and nothing is being captured",
                       .next = "call the function that lathe.script gave"});
  return *t;
}

ir::Data data_of(nb::handle list) {
  ir::Data out;
  for (nb::handle h : list) {
    if (!is_tensor(h.ptr()))
      throw TypeError({.op = "script",
                       .problem = "a part of a script gave back what is not a tensor",
                       .got = Py_TYPE(h.ptr())->tp_name});
    out.emplace_back(tensor_of(h.ptr()));
  }
  return out;
}

nb::list list_of(const ir::Data& data) {
  nb::list out;
  for (const ir::Datum& d : data) out.append(owned(wrap(d.tensor())));
  return out;
}

/// `yes` and `no` give lists of tensors; `pairs`, asked after both, which of them are one result.
nb::list record_if(const Tensor& condition, nb::callable yes, nb::callable no, nb::callable pairs) {
  auto branch = [](const nb::callable& f) {
    return [&f] {
      nb::object list = f();
      return data_of(list);
    };
  };
  auto chosen = [&] {
    ir::Tracer::Pairs out;
    nb::object list = pairs();
    for (nb::handle pair : list)
      out.emplace_back(nb::cast<size_t>(pair[0]), nb::cast<size_t>(pair[1]));
    return out;
  };
  return list_of(tracer().record_if(ir::Datum(condition), branch(yes), branch(no), chosen));
}

/// `condition` and `body` take the carried tensors as a list.
nb::list record_while(nb::callable condition, nb::callable body, nb::list start) {
  auto ask = [&](const ir::Data& carried) {
    nb::object answer = condition(list_of(carried));
    if (PyBool_Check(answer.ptr())) return ir::Datum(Arg(answer.ptr() == Py_True));
    return data_of(nb::make_tuple(answer))[0];
  };
  auto round = [&](const ir::Data& carried) {
    nb::object list = body(list_of(carried));
    return data_of(list);
  };
  return list_of(tracer().record_while(ask, round, data_of(start)));
}

/// `body` takes the arguments as a list. None: it did not call itself.
nb::object record_recursion(std::string name, nb::callable body, nb::list start) {
  auto once = [&](const ir::Data& arguments) {
    nb::object list = body(list_of(arguments));
    return data_of(list);
  };
  const auto out = tracer().record_recursion(std::move(name), once, data_of(start));
  return out ? nb::object(list_of(*out)) : nb::none();
}

/// None: what it gives is not known yet.
nb::object record_recursive_call(size_t which, nb::list arguments) {
  const auto out = tracer().record_recursive_call(which, data_of(arguments));
  return out ? nb::object(list_of(*out)) : nb::none();
}

}  // namespace

void add_script(nb::module_& m) {
  m.def("_record_if", record_if, nb::arg("condition"), nb::arg("yes"), nb::arg("no"),
        nb::arg("pairs"));
  m.def("_record_while", record_while, nb::arg("condition"), nb::arg("body"), nb::arg("start"));
  m.def("_record_recursion", record_recursion, nb::arg("name"), nb::arg("body"), nb::arg("start"));
  m.def("_record_recursive_call", record_recursive_call, nb::arg("which"), nb::arg("arguments"));
  m.def(
      "_sizes_fit", [](size_t which) { return tracer().sizes_fit(which); }, nb::arg("which"));
  // Without a guard, as == would make one.
  m.def("_proven_equal", [](nb::object a, nb::object b) {
    return tracer().scope().prove(Relation::eq, to_int(a.ptr()), to_int(b.ptr())) ==
           SymScope::Truth::yes;
  });
  // A tensor that stands for what eagerly has the memory of others, as a row of a list has.
  m.def("_note_shared", [](const Tensor& t, nb::list others) {
    for (nb::handle other : others) tracer().note_picked(t, tensor_of(other.ptr()), {});
  });
  m.def("_same_tensor", [](const Tensor& a, const Tensor& b) { return a.impl() == b.impl(); });
  // A gradient as it was at another time: no check of its shape, which may be symbolic.
  m.def(
      "_put_grad", [](const Tensor& t, const Tensor& g) { meta_or_new(t).grad.set(g); },
      nb::arg("tensor"), nb::arg("grad").none());
  // Does what is being recorded draw random numbers, print, or write to what was there before?
  m.def("_block_is_ordered", [] {
    if (tracer().block_writes()) return true;
    const ir::Graph& g = tracer().graph();
    for (const ir::Node* n = g.insertion_block().first(); n != nullptr; n = n->next())
      if (effects(*n, g) == ir::Effects::ordered) return true;
    return false;
  });
  m.def("_size_in", [](const Tensor& count) { return owned(from_int(size_in(count))); });
  m.def("_symbol_count", [] { return tracer().scope().symbol_count(); });
  m.def(
      "_sizes_before",
      [](const Tensor& t, uint32_t count) {
        auto old = [&](Int size) {
          const std::vector<uint32_t>& used = symbols_of(size);
          return std::all_of(used.begin(), used.end(), [&](uint32_t k) { return k < count; });
        };
        Shape sizes;
        for (Int size : t.shape()) sizes.push_back(old(size) ? size : Int(0));
        return owned(from_shape(sizes));
      },
      nb::arg("tensor"), nb::arg("count"));
  m.def("_recording", [] {
    ir::Tracer* t = ir::Tracer::current();
    return t != nullptr ? t->depth() : 0;
  });
}

}  // namespace lathe::py
