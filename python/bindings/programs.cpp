#include "python/bindings/programs.h"

#include <absl/container/flat_hash_map.h>
#include <absl/strings/str_cat.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include "core/base/error.h"
#include "core/dispatch/assign.h"
#include "core/dispatch/call.h"
#include "graph/ir/text.h"
#include "jit/saved_program.h"
#include "python/bindings/call.h"
#include "python/bindings/tensor.h"
#include "python/bindings/values.h"

namespace lathe::py {
namespace {

using jit::SavedProgram;
using ProgramRef = std::shared_ptr<SavedProgram>;

Tensors tensors_in(nb::handle items, const char* op) {
  Tensors out;
  for (nb::handle h : items) {
    if (!is_tensor(h.ptr()))
      throw TypeError({.op = op,
                       .problem = "a program takes and gives tensors",
                       .got = Py_TYPE(h.ptr())->tp_name,
                       .expected = "lathe.Tensor"});
    out.push_back(tensor_of(h.ptr()));
  }
  return out;
}

/// Every tensor that the function meets besides its arguments becomes a constant, named after where
/// Python keeps it if that is known.
class Weights final : public ir::TraceCallbacks {
 public:
  explicit Weights(nb::list names) {
    for (nb::handle pair : names)
      names_.emplace(impl_of(nb::object(pair[0]).ptr()), nb::cast<std::string>(pair[1]));
  }
  Found find(const Tensor& t) override {
    auto it = names_.find(t.impl());
    std::string name = it != names_.end() ? it->second : absl::StrCat("constant_", met_++);
    return {Found::How::path, {std::move(name)}};
  }

 private:
  absl::flat_hash_map<const TensorImpl*, std::string> names_;
  int met_ = 0;
};

/// `inputs`: (tensor, name, bits of the axes whose sizes are fixed). `body` takes a list of
/// tensors and gives one.
ir::Graph captured(std::string name, nb::list inputs, nb::list weights, nb::callable body) {
  std::vector<ir::InputSpec> specs;
  for (nb::handle item : inputs) {
    auto t = nb::cast<Tensor>(item[0]);
    if (t.impl()->view) refresh(t);
    ir::InputSpec spec = ir::spec_of(t, nb::cast<std::string>(item[1]));
    spec.strides.clear();  // a program is given row-major elements, whatever the example's are
    spec.fixed_axes = nb::cast<uint64_t>(item[2]);
    specs.push_back(std::move(spec));
  }
  Weights host(weights);
  auto traced = [&](const ir::Data& in) {
    nb::list xs;
    for (const ir::Datum& d : in) xs.append(owned(wrap(d.tensor())));
    ir::Data out;
    for (Tensor& t : tensors_in(body(xs), "save")) out.emplace_back(std::move(t));
    return out;
  };
  return jit::capture(traced, specs, host, std::move(name));
}

ProgramRef capture(std::string name, nb::list inputs, nb::list weights, nb::callable body,
                   bool freeze, std::string note) {
  ir::Graph g = captured(std::move(name), inputs, weights, body);
  if (freeze) absl::StrAppend(&note, note.empty() ? "" : "; ", jit::freeze(g));
  return std::make_shared<SavedProgram>(std::move(g), std::move(note));
}

nb::list run_program(const ProgramRef& p, nb::handle tensors) {
  ir::Data inputs;
  for (Tensor& t : tensors_in(tensors, p->graph().name().c_str())) {
    if (t.impl()->view) refresh(t);
    inputs.emplace_back(std::move(t));
  }
  ir::Data results = released([&] { return p->run(inputs); });
  nb::list out;
  for (const ir::Datum& d : results) {
    if (d.is_tensor())
      out.append(owned(wrap(d.tensor())));
    else if (d.is_integer())
      out.append(nb::borrow(owned(from_int(d.integer()))));
    else
      out.append(nb::float_(d.arg().real().value()));
  }
  return out;
}

/// (name, dtype, shape with None for free sizes) of each tensor.
nb::list slots(absl::Span<ir::Value* const> values) {
  nb::list out;
  for (const ir::Value* v : values) {
    const TensorType* t = v->type().tensor();
    nb::list shape;
    if (t != nullptr)
      for (Int s : t->shape)
        shape.append(s.known() ? nb::object(nb::int_(s.value())) : nb::object(nb::none()));
    out.append(nb::make_tuple(v->name(),
                              t != nullptr ? nb::borrow(dtype_object(t->dtype)) : nb::none(),
                              nb::tuple(shape)));
  }
  return out;
}

/// (input, axis, size, where) of each free size of an input that the program holds for one value
/// of.
nb::list pinned(const ir::Graph& g) {
  nb::list out;
  for (const SymFact& fact : g.assumptions()) {
    const bool first = fact.a.known();
    if (fact.relation != Relation::eq || !fact.holds || first == fact.b.known()) continue;
    const Int size = first ? fact.a : fact.b, asked = first ? fact.b : fact.a;
    for (size_t i = 0; i < g.inputs().size(); ++i) {
      const TensorType* t = g.inputs()[i]->type().tensor();
      for (size_t axis = 0; t != nullptr && axis < t->shape.size(); ++axis)
        if (identical(t->shape[axis], asked))
          out.append(nb::make_tuple(i, axis, size.value(), to_string(fact.site)));
    }
  }
  return out;
}

}  // namespace

void add_programs(nb::module_& m) {
  nb::class_<SavedProgram>(m, "Program", "The engine under lathe.jit.Program.")
      .def("run", run_program)
      .def("save",
           [](const ProgramRef& p, const std::string& path) {
             released([&] {
               p->save(path);
               return 0;
             });
           })
      .def("explain", &SavedProgram::explain)
      .def("compile", &SavedProgram::compile)
      .def("graph", [](const SavedProgram& p) { return ir::print(p.graph()); })
      .def("optimised", [](const SavedProgram& p) { return ir::print(p.optimised()); })
      .def("pinned", [](const SavedProgram& p) { return pinned(p.graph()); })
      .def("peak_bytes", &SavedProgram::peak_bytes)
      .def("inputs", [](const SavedProgram& p) { return slots(p.graph().inputs()); })
      .def("outputs", [](const SavedProgram& p) { return slots(p.graph().outputs()); })
      .def_prop_ro("name", [](const SavedProgram& p) { return p.graph().name(); })
      .def_prop_ro("note", &SavedProgram::note);
  m.def("_capture", capture);
  m.def("_load_program",
        [](const std::string& path) { return released([&] { return SavedProgram::load(path); }); });
  m.def("_parse_program", [](nb::bytes data, const std::string& name) {
    return SavedProgram::parse({data.c_str(), data.size()}, name);
  });
}

}  // namespace lathe::py
