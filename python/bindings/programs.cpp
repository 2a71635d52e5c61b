#include "python/bindings/programs.h"

#include <absl/container/flat_hash_map.h>
#include <absl/strings/str_cat.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "autodiff/gradient_graph.h"
#include "core/base/error.h"
#include "core/dispatch/assign.h"
#include "core/dispatch/call.h"
#include "core/dispatch/fn.h"
#include "core/tensor/allocator.h"
#include "graph/ir/query.h"
#include "graph/ir/text.h"
#include "graph/ir/verify.h"
#include "graph/passes/partition.h"
#include "include/lathe/ops/math.h"
#include "jit/saved_program.h"
#include "python/bindings/call.h"
#include "python/bindings/callback.h"
#include "python/bindings/picture.h"
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
/// tensors and gives one, or a tuple where the function gave several.
ir::Graph captured(std::string name, nb::list inputs, nb::list weights, nb::callable body,
                   bool& is_tuple) {
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
    const nb::object made = body(xs);
    is_tuple = nb::isinstance<nb::tuple>(made);
    for (Tensor& t : tensors_in(made, "save")) out.emplace_back(std::move(t));
    return out;
  };
  return jit::capture(traced, specs, host, std::move(name));
}

ProgramRef capture(std::string name, nb::list inputs, nb::list weights, nb::callable body,
                   bool freeze, std::string note) {
  bool is_tuple = false;
  ir::Graph g = captured(std::move(name), inputs, weights, body, is_tuple);
  if (freeze) absl::StrAppend(&note, note.empty() ? "" : "; ", jit::freeze(g));
  const bool of_one = is_tuple && g.outputs().size() == 1;
  return std::make_shared<SavedProgram>(std::move(g), std::move(note), of_one);
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

// ── graphs as texts and as parts of each other ──

using Stages = std::vector<std::pair<std::string, std::string>>;

nb::list as_pairs(const Stages& stages) {
  nb::list out;
  for (const auto& [name, text] : stages) out.append(nb::make_tuple(name, text));
  return out;
}

/// (stage, text) of each step that writes the gradients which a text declares.
nb::list derive(const std::string& text, const std::string& file) {
  ir::Graph module = ir::parse(text, {}, {}, file);
  Stages stages{{"parsed", ir::print(module)}};
  derive_gradients(module, [&](std::string_view what, const ir::Graph& g) {
    stages.emplace_back(what, ir::print(g));
  });
  ir::verify(module);
  stages.emplace_back("derived", ir::print(module));
  return as_pairs(stages);
}

/// (pass, text) after each of these passes, one after the other.
nb::list run_passes(const SavedProgram& p, const std::vector<std::string>& passes) {
  ir::Graph g = p.graph().clone();
  Stages stages;
  for (const std::string& pass : passes) {
    ir::run_pass(pass, g);
    stages.emplace_back(pass, ir::print(g));
  }
  return as_pairs(stages);
}

std::vector<std::string> pass_names() {
  const std::vector<std::string_view> names = ir::pass_names();
  return {names.begin(), names.end()};
}

/// The value that a result's number or a name stands for.
const ir::Value* value_at(const ir::Graph& g, nb::handle which) {
  if (nb::isinstance<nb::str>(which)) return ir::named_value(g, nb::cast<std::string>(which));
  int64_t at = nb::cast<int64_t>(which);
  const auto count = static_cast<int64_t>(g.outputs().size());
  if (at < 0) at += count;
  if (at < 0 || at >= count)
    throw IndexError({.op = g.name(),
                      .problem = "the program has no result of this number",
                      .got = nb::cast<std::string>(nb::str(which)),
                      .expected = absl::StrCat("less than ", count)});
  return g.outputs()[static_cast<size_t>(at)];
}

ProgramRef part(const SavedProgram& p, ir::Graph g, bool tuple_of_one = false) {
  ir::verify(g);
  return std::make_shared<SavedProgram>(std::move(g), p.note(), tuple_of_one);
}

ProgramRef only(const SavedProgram& p, nb::list results) {
  std::vector<const ir::Value*> wanted;
  for (nb::handle which : results) wanted.push_back(value_at(p.graph(), which));
  return part(p, ir::with_results(p.graph(), wanted));
}

ProgramRef deriv(const SavedProgram& p, nb::handle of, const std::vector<std::string>& wrt) {
  GradientOf what{.of = value_at(p.graph(), of)};
  for (const std::string& name : wrt) what.wrt.push_back(ir::named_value(p.graph(), name));
  return part(p, gradient_graph(p.graph(), p.graph(), p.graph().name() + "_gradient", what,
                                [](std::string_view, const ir::Graph&) {}));
}

std::vector<std::string> variables(const SavedProgram& p, nb::handle of) {
  const ir::Values found = ir::variables_of(p.graph(), value_at(p.graph(), of));
  std::vector<std::string> out;
  for (const auto& [name, v] : ir::printed_names(p.graph()))
    if (std::find(found.begin(), found.end(), v) != found.end()) out.push_back(name);
  return out;
}

/// (op or structure, "file:line") of each.
nb::list ordered_ops(const SavedProgram& p, nb::handle of) {
  nb::list out;
  for (const ir::Node* n : ir::nodes_for(p.graph(), value_at(p.graph(), of)))
    out.append(nb::make_tuple(
        n->is(ir::Structure::op) ? n->op()->name() : std::string(ir::name(n->structure())),
        n->site().known() ? to_string(n->site()) : ""));
  return out;
}

/// (dtype, sizes) of each tensor.
nb::list specs(absl::Span<ir::Value* const> values) {
  nb::list out;
  for (const ir::Value* v : values)
    out.append(nb::make_tuple(nb::borrow(dtype_object(v->tensor().dtype)),
                              owned(from_shape(v->tensor().shape))));
  return out;
}

/// (the program with parts that a back end computes, (op, part or -1, why it stays, line) of each
/// node). `refuses` gets an op's name, what its inputs are and what its results are, and gives
/// "" where the back end takes it; `compile` gets a part as a program and gives a function from a
/// list of tensors to one.
nb::tuple partition(const SavedProgram& p, const std::string& name, nb::callable refuses,
                    nb::callable compile) {
  ir::Graph g = p.graph().clone();
  ir::run_pass("eliminate_dead", g);
  auto refused = [&](const ir::Node& n) {
    return nb::cast<std::string>(refuses(n.op()->name(), specs(n.in()), specs(n.out())));
  };
  auto compiled = [&](ir::Graph part) {
    ir::verify(part);
    std::vector<HostFunction::Declared> results;
    for (const ir::Value* v : part.outputs())
      results.push_back({v->tensor().dtype, static_cast<int>(v->tensor().shape.size()), Device{}});
    std::string title = absl::StrCat(name, " ", part.name());
    nb::object call = compile(std::make_shared<SavedProgram>(std::move(part)));
    return python_function(std::move(title), std::move(results), std::move(call));
  };
  const std::vector<ir::PartitionRow> rows = ir::partition(g, refused, compiled);
  nb::list told;
  for (const ir::PartitionRow& r : rows)
    told.append(
        nb::make_tuple(r.op, r.part, r.why, r.site.known() ? to_string(r.site) : std::string()));
  return nb::make_tuple(part(p, std::move(g), p.tuple_of_one()), told);
}

size_t peak_bytes(const SavedProgram& p, nb::list shapes) {
  std::vector<Sizes> sizes;
  for (nb::handle shape : shapes) {
    Sizes one;
    for (nb::handle n : shape) one.push_back(nb::cast<int64_t>(n));
    sizes.push_back(std::move(one));
  }
  return p.peak_bytes(sizes);
}

nb::dict counts(const SavedProgram& p) {
  const jit::RunCounts c = p.counts();
  nb::dict out;
  out["op_runs"] = c.ops;
  out["generated_runs"] = c.kernels_generated;
  out["simd_runs"] = c.kernels_simd;
  out["moved_runs"] = c.kernels_moved;
  out["alike_rounds"] = c.alike_rounds;
  out["in_panels"] = c.in_panels;
  out["bindings"] = c.bindings;
  const jit::ArenaSize peak = p.peak();
  out["peak_bytes"] = peak.bytes;
  out["least_bytes"] = peak.least;
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
      .def("explain",
           [](const SavedProgram& p, bool verbose) {
             return p.explain(verbose ? ir::Detail::verbose : ir::Detail::brief);
           })
      .def("compile", &SavedProgram::compile)
      .def("graph", [](const SavedProgram& p) { return ir::print(p.graph()); })
      .def("optimised", [](const SavedProgram& p) { return ir::print(p.optimised()); })
      .def("hash", [](const SavedProgram& p) { return p.graph().hash(); })
      .def("kernels",
           [](const SavedProgram& p) {
             nb::list out;
             for (const jit::Program::NodeKernel& n : p.program().node_kernels())
               out.append(nb::make_tuple(n.op, n.kernel, n.site.known() ? to_string(n.site) : ""));
             return out;
           })
      .def("instructions", &SavedProgram::instructions)
      .def("loops", &SavedProgram::loops)
      .def("vectors", &SavedProgram::vectors)
      .def("peak_bytes", peak_bytes)
      .def("counts", counts)
      .def("passes", run_passes)
      .def("only", only)
      .def("partition", partition)
      .def("deriv", deriv)
      .def("trainable",
           [](const SavedProgram& p, const std::vector<std::string>& constants) {
             return part(p, ir::with_inputs(p.graph(), constants), p.tuple_of_one());
           })
      .def("variables", variables)
      .def("ordered_ops", ordered_ops)
      .def("picture",
           [](const SavedProgram& p, size_t index, bool optimised) -> nb::object {
             if (index > 0) return nb::int_(1);
             return optimised ? picture(p.optimised(), &p.program()) : picture(p.graph(), nullptr);
           })
      .def("pinned", [](const SavedProgram& p) { return pinned(p.graph()); })
      .def("inputs", [](const SavedProgram& p) { return slots(p.graph().inputs()); })
      .def("outputs", [](const SavedProgram& p) { return slots(p.graph().outputs()); })
      .def_prop_ro("name", [](const SavedProgram& p) { return p.graph().name(); })
      .def_prop_ro("note", &SavedProgram::note)
      .def_prop_ro("tuple_of_one", &SavedProgram::tuple_of_one);
  m.def("_capture", capture);
  m.def("_load_program",
        [](const std::string& path) { return released([&] { return SavedProgram::load(path); }); });
  m.def("_program_of_text",
        [](const std::string& text, const std::string& function, const std::string& file) {
          return SavedProgram::from_text(text, function, file);
        });
  m.def("_derive_text", derive);
  m.def("_pass_names", pass_names);
  m.def("_memory_stats", [] {
    const MemoryStats s = memory_stats(Device{});
    return nb::make_tuple(s.allocated, s.peak);
  });
  m.def("_reset_memory_peak", [] { reset_peak(Device{}); });
  m.def("_parse_program", [](nb::bytes data, const std::string& name) {
    return SavedProgram::parse({data.c_str(), data.size()}, name);
  });
}

}  // namespace lathe::py
