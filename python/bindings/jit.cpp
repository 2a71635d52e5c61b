#include "python/bindings/jit.h"

#include <absl/container/flat_hash_map.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <nanobind/stl/string.h>

#include "core/error.h"
#include "core/inplace.h"
#include "graph/text.h"
#include "jit/function.h"
#include "python/bindings/call.h"
#include "python/bindings/tensor.h"

namespace lathe::py {
namespace {

/// The tensors of one call: arguments first, then all that the traced code can reach. A path is a
/// place in this list, so a rebound parameter is found again, and a tensor that is nowhere in it is
/// refused.
class State final : public jit::FrontEnd {
 public:
  explicit State(const Tensors& tensors) : tensors_(tensors) {
    for (size_t i = 0; i < tensors_.size(); ++i) places_.try_emplace(tensors_[i].impl(), i);
  }

  Found find(const Tensor& t) override {
    auto it = places_.find(t.impl());
    if (it != places_.end()) return {Found::How::path, {absl::StrCat("t", it->second)}};
    return {Found::How::refused, {}};
  }
  Tensor read(const ir::Path& path) override {
    size_t i = 0;
    if (!absl::SimpleAtoi(std::string_view(path.text).substr(1), &i) || i >= tensors_.size())
      return {};
    return tensors_[i];
  }

 private:
  const Tensors& tensors_;
  absl::flat_hash_map<const TensorImpl*, size_t> places_;
};

Tensors tensor_list(nb::handle list) {
  Tensors out;
  for (nb::handle h : list) {
    if (!is_tensor(h.ptr()))
      throw TypeError({.op = "trace",
                       .problem = "a traced function gave back what is not a tensor",
                       .got = Py_TYPE(h.ptr())->tp_name});
    out.push_back(tensor_of(h.ptr()));
  }
  return out;
}

class Function {
 public:
  explicit Function(std::string name) : engine_(std::move(name)) {}
  Function(const Function&) = delete;

  /// `tensors`: arguments, then state; `arguments` of them are handed to `body`, which gives a
  /// list.
  nb::list call(nb::list tensors, size_t arguments, nb::callable body) {
    Tensors all = tensor_list(tensors);
    State state(all);
    ir::Data inputs;
    std::vector<std::string> names;
    for (size_t i = 0; i < arguments; ++i) {
      if (all[i].impl()->view) refresh(all[i]);
      inputs.emplace_back(all[i]);
      names.push_back(absl::StrCat("t", i));
    }
    auto traced = [&](const ir::Data& in) {
      nb::list xs;
      for (const ir::Datum& d : in) xs.append(owned(wrap(d.tensor())));
      nb::object result = body(xs);
      ir::Data out;
      for (Tensor& t : tensor_list(result)) out.emplace_back(std::move(t));
      return out;
    };
    ir::Data results = engine_(inputs, names, traced, state);
    nb::list out;
    for (const ir::Datum& d : results) out.append(owned(wrap(d.tensor())));
    return out;
  }

  std::string explain() const { return engine_.explain(); }
  std::string graph() const {
    std::string out;
    for (const auto& c : engine_.compiled()) out += ir::print(c->traced.graph);
    return out;
  }
  std::string optimised() const {
    std::string out;
    for (const auto& c : engine_.compiled()) out += ir::print(c->program->graph());
    return out;
  }
  nb::dict counts() const {
    nb::dict d;
    d["calls"] = engine_.counts().calls;
    d["traces"] = engine_.counts().traces;
    d["node_by_node"] = engine_.counts().node_by_node;
    int64_t generated = 0, strips = 0, ops = 0;
    for (const auto& c : engine_.compiled()) {
      if (!c->context) continue;
      generated += c->context->counts().kernels_generated;
      strips += c->context->counts().kernels_strips;
      ops += c->context->counts().ops;
    }
    d["kernels_generated"] = generated;
    d["kernels_strips"] = strips;
    d["ops"] = ops;
    return d;
  }

 private:
  jit::Function engine_;
};

}  // namespace

void add_jit(nb::module_& m) {
  nb::class_<Function>(m, "Function", "The engine under lathe.trace.")
      .def(nb::init<std::string>())
      .def("call", &Function::call)
      .def("explain", &Function::explain)
      .def("graph", &Function::graph)
      .def("optimised", &Function::optimised)
      .def("counts", &Function::counts);
  m.def("_symbolic", [](const Tensor& t) { return t.defined() && t.symbolic(); });
  m.def("_tracing", [] { return thread_state().trace_epoch != 0; });
}

}  // namespace lathe::py
