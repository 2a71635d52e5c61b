#include "python/bindings/structures.h"

#include <nanobind/stl/string.h>

#include "autodiff/control.h"
#include "core/base/error.h"
#include "jit/composites.h"
#include "python/bindings/tensor.h"
#include "python/bindings/values.h"

namespace lathe::py {
namespace {

/// The parts come from lathe/_structures.py, which hands on nothing but lists of tensors.
Tensors tensors_of(nb::handle list) {
  Tensors out;
  for (nb::handle h : list) out.push_back(tensor_of(h.ptr()));
  return out;
}

nb::list list_of(const Tensors& tensors) {
  nb::list out;
  for (const Tensor& t : tensors) out.append(owned(wrap(t)));
  return out;
}

nb::list cond_(const Tensor& condition, nb::callable yes, nb::callable no) {
  return list_of(cond(
      condition, [&] { return tensors_of(nb::object(yes())); },
      [&] { return tensors_of(nb::object(no())); }));
}

nb::list while_loop_(nb::callable condition, nb::callable body, nb::list carried) {
  return list_of(while_loop(
      [&](const Tensors& now) {
        nb::object answer = condition(list_of(now));
        return tensor_of(answer.ptr());
      },
      [&](const Tensors& now) { return tensors_of(nb::object(body(list_of(now)))); },
      tensors_of(carried)));
}

nb::list fori_loop_(nb::object lower, nb::object upper, nb::callable body, nb::list carried) {
  return list_of(fori_loop(
      to_int(lower.ptr()), to_int(upper.ptr()),
      [&](Int i, const Tensors& now) {
        return tensors_of(nb::object(body(owned(from_int(i)), list_of(now))));
      },
      tensors_of(carried)));
}

/// Of a pair of lists, which a round gives.
Scanned scanned_of(const nb::object& pair) {
  return {tensors_of(nb::object(pair[0])), tensors_of(nb::object(pair[1]))};
}

nb::tuple scan_(nb::callable round, nb::list carried, nb::list xs, nb::object length,
                bool reverse) {
  auto one = [&](const Tensors& now, const Tensors& rows) {
    return scanned_of(round(list_of(now), list_of(rows)));
  };
  Scanned out = scan(one, tensors_of(carried), tensors_of(xs), to_int(length.ptr()), reverse);
  return nb::make_tuple(list_of(out.carried), list_of(out.stacked));
}

/// Of a name that says all of `round`, which gets the tensors that it reads besides as a third
/// list: so eager code runs it as a program.
nb::tuple scan_of_a_kind(const std::string& name, nb::callable round, nb::list carried, nb::list xs,
                         nb::list constants, bool reverse) {
  const Tensors first = tensors_of(carried), along = tensors_of(xs);
  Tensors inputs = first;
  inputs.insert(inputs.end(), along.begin(), along.end());
  for (nb::handle h : constants) inputs.push_back(tensor_of(h.ptr()));
  const auto part = [](const Tensors& all, size_t from, size_t count) {
    const auto begin = all.begin() + static_cast<ptrdiff_t>(from);
    return Tensors(begin, begin + static_cast<ptrdiff_t>(count));
  };
  const auto whole = [&](const Tensors& in) {
    const size_t read = first.size() + along.size();
    const nb::list besides = list_of(part(in, read, in.size() - read));
    const Tensors rows = part(in, first.size(), along.size());
    Scanned out = scan(
        [&](const Tensors& now, const Tensors& row) {
          return scanned_of(round(list_of(now), list_of(row), besides));
        },
        part(in, 0, first.size()), rows, rows[0].size(0), reverse);
    out.carried.insert(out.carried.end(), out.stacked.begin(), out.stacked.end());
    return std::move(out.carried);
  };
  std::optional<Tensors> results = jit::run_loop(name, inputs, whole);
  if (!results) results = whole(inputs);
  return nb::make_tuple(list_of(part(*results, 0, first.size())),
                        list_of(part(*results, first.size(), results->size() - first.size())));
}

nb::list associative_scan_(nb::callable combine, nb::list elems, int64_t dim, bool reverse) {
  return list_of(associative_scan(
      [&](const Tensors& a, const Tensors& b) {
        return tensors_of(nb::object(combine(list_of(a), list_of(b))));
      },
      tensors_of(elems), dim, reverse));
}

}  // namespace

void add_structures(nb::module_& m) {
  m.def("_cond", cond_);
  m.def("_while_loop", while_loop_);
  m.def("_fori_loop", fori_loop_);
  m.def("_scan", scan_);
  m.def("_scan_of_a_kind", scan_of_a_kind);
  m.def("_associative_scan", associative_scan_);
}

}  // namespace lathe::py
