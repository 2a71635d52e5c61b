#include "python/bindings/jit.h"
#include "python/bindings/constants.h"

#include <absl/cleanup/cleanup.h>
#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>
#include <absl/strings/str_cat.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <charconv>

#include "autodiff/tape.h"
#include "core/base/error.h"
#include "core/dispatch/assign.h"
#include "core/dispatch/call.h"
#include "graph/ir/text.h"
#include "graph/trace/tracer.h"
#include "jit/function.h"
#include "kernels/table/table.h"
#include "python/bindings/call.h"
#include "python/bindings/real.h"
#include "python/bindings/tensor.h"
#include "python/bindings/values.h"
#include "python/bindings/witness.h"

namespace lathe::py {
namespace {

/// The tensors of one call: arguments first, then all that the traced code can reach. A path is a
/// place in this list, so a rebound parameter is found again, and a tensor that is nowhere in it is
/// refused.
class State final : public jit::FunctionCallbacks {
 public:
  explicit State(const Tensors& tensors) : tensors_(tensors) {}

  Found find(const Tensor& t) override {
    if (places_.empty())  // only a trace asks
      for (size_t i = 0; i < tensors_.size(); ++i) places_.try_emplace(tensors_[i].impl(), i);
    auto it = places_.find(t.impl());
    if (it != places_.end())
      return {Found::How::path, {absl::StrCat("t", it->second)}};  // not an op: a name of a value
    if (is_constant(t)) return {Found::How::constant, {}};
    return {Found::How::refused, {}};
  }
  Tensor read(const ir::Path& path) override {
    size_t i = 0;
    const char* end = path.text.data() + path.text.size();
    auto read = std::from_chars(path.text.data() + 1, end, i);
    return read.ptr == end && i < tensors_.size() ? tensors_[i] : Tensor();
  }

  int64_t trace_id() override { return trace_id_; }
  void on_run(int64_t trace_id) override { trace_id_ = trace_id; }

 private:
  const Tensors& tensors_;
  int64_t trace_id_ = 0;
  ConstantScope constants_;
  absl::flat_hash_map<const TensorImpl*, size_t> places_;
};

/// What a traced function gives: tensors, and sizes and floats of the trace.
ir::Data results_of(nb::handle list) {
  ir::Data out;
  for (nb::handle h : list) {
    if (Real r; is_tensor(h.ptr()))
      out.emplace_back(tensor_of(h.ptr()));
    else if (read_real(h.ptr(), r))
      out.emplace_back(Arg(r));
    else
      out.emplace_back(Arg(to_int(h.ptr())));
  }
  return out;
}

using KnownObjects = absl::flat_hash_map<const TensorImpl*, nb::handle>;

/// Results as Python objects: what is a tensor of the caller's, or given twice, is the same object.
nb::list objects_of(const ir::Data& results, KnownObjects& known) {
  nb::list out;
  if (results.size() == 1 && results[0].is_tensor() && known.empty()) {
    out.append(owned(wrap(results[0].tensor())));
    return out;
  }
  for (const ir::Datum& d : results) {
    if (!d.is_tensor()) {
      out.append(owned(d.is_integer() ? from_int(d.integer()) : from_real(d.arg().real())));
      continue;
    }
    auto [it, fresh] = known.try_emplace(d.tensor().impl(), nb::handle());
    out.append(fresh ? owned(wrap(d.tensor())) : nb::borrow(it->second));
    if (fresh) it->second = out[out.size() - 1];
  }
  return out;
}

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

  /// `tensors`: arguments, then state; `arguments` of them, and then `reals`, are handed to `body`,
  /// which gives a list, and a number for the trace. Results, and the number of the trace that they
  /// are of.
  nb::tuple call(nb::list tensors, size_t arguments, const std::vector<double>& reals,
                 nb::callable body) {
    Tensors all = tensor_list(tensors);
    KnownObjects known;
    for (size_t i = 0; i < all.size(); ++i) known.try_emplace(all[i].impl(), tensors[i]);
    int64_t trace_id = 0;
    ir::Data results = run(all, arguments, reals, body, trace_id);
    put_grads(results, all, trace_id);
    return nb::make_tuple(objects_of(results, known), trace_id);
  }

  /// Of a trace: the last results are gradients of the tensors at `grads`; the others may be one
  /// tensor that is the result.
  void keep(int64_t trace_id, std::vector<size_t> grads, bool single) {
    kept_[trace_id] = {std::move(grads), single};
  }
  /// The labels of traces whose programs are gone; what was kept of them goes too. Calls that are
  /// under way may still run the last of them.
  std::vector<int64_t> forget() {
    absl::flat_hash_set<int64_t> live;
    int64_t newest = 0;
    for (const auto& c : engine_.compiled()) {
      live.insert(c->trace_id);
      newest = std::max(newest, c->trace_id);
    }
    std::vector<int64_t> gone;
    for (const auto& [trace_id, kept] : kept_)
      if (trace_id < newest - kSpared && !live.contains(trace_id)) gone.push_back(trace_id);
    for (int64_t trace_id : gone) kept_.erase(trace_id);
    return gone;
  }

  /// The same for a call whose state is as the witness says; None if it is not. `body` takes args
  /// and kwargs before the symbolic tensors. Gradients go where keep() said; a single tensor is
  /// given as it is.
  nb::object call_if(const Witness& witness, nb::tuple args, nb::dict kwargs, nb::callable body) {
    Tensors all;
    Reals reals;
    if (!witness.holds(args.ptr(), kwargs.ptr(), all, reals)) return nb::none();
    auto traced = [&](const nb::list& xs) { return body(args, kwargs, xs); };
    int64_t trace_id = 0;
    ir::Data results = run(all, witness.arguments(), reals, traced, trace_id);
    put_grads(results, all, trace_id);
    if (kept_.at(trace_id).single) return owned(wrap(results[0].tensor()));
    KnownObjects known;
    return nb::make_tuple(objects_of(results, known), trace_id);
  }

  std::string explain() const { return engine_.explain(); }
  std::string graph() const {
    std::string out;
    for (const auto& c : engine_.compiled()) out += ir::print(c->traced.graph);
    return out;
  }
  std::string optimised() const {
    std::string out;
    for (const auto& c : engine_.compiled())
      for (const jit::Program* p : c->programs()) out += ir::print(p->graph());
    return out;
  }
  nb::dict counts() const {
    nb::dict d;
    const jit::FunctionCounts calls = engine_.counts();
    const auto programs = engine_.compiled();
    d["calls"] = calls.calls;
    d["traces"] = calls.traces;
    d["node_by_node"] = calls.node_by_node;
    jit::RunCounts runs;
    int64_t kernels = 0;
    for (const auto& c : programs)
      for (const jit::Program* p : c->programs()) {
        kernels += p->kernels();
        runs += p->counts();
      }
    d["programs"] = static_cast<int64_t>(programs.size());
    d["kernels"] = kernels;
    d["generated_runs"] = runs.kernels_generated;
    d["simd_runs"] = runs.kernels_simd;
    d["moved_runs"] = runs.kernels_moved;
    d["op_runs"] = runs.ops;
    return d;
  }

 private:
  /// The last results become the gradients that keep() said they are.
  void put_grads(ir::Data& results, const Tensors& all, int64_t trace_id) const {
    const std::vector<size_t>& grads = kept_.at(trace_id).grads;
    const size_t count = results.size() - grads.size();
    for (size_t i = 0; i < grads.size(); ++i)
      meta_or_new(all[grads[i]]).grad.set(results[count + i].tensor());
    results.resize(count);
  }

  /// `body` takes a list of symbolic tensors and floats and gives a list of results and the trace's
  /// number; trace_id: that of the trace whose program ran.
  template <class F>
  ir::Data run(const Tensors& all, size_t arguments, absl::Span<const double> reals, F body,
               int64_t& trace_id) {
    State state(all);
    ir::Data inputs;
    inputs.reserve(arguments + reals.size());
    for (size_t i = 0; i < arguments; ++i) {
      if (all[i].impl()->view) refresh(all[i]);
      inputs.emplace_back(all[i]);
    }
    for (double r : reals) inputs.emplace_back(Arg(r));
    auto traced = [&](const ir::Data& in) {
      nb::list xs;
      for (const ir::Datum& d : in) {
        if (d.is_tensor()) {
          xs.append(owned(wrap(d.tensor())));
        } else {
          const Real r = d.arg().real();
          xs.append(owned(from_real(r, r.hint())));
        }
      }
      absl::Cleanup settle = [&] {
        for (nb::handle x : xs) settle_real(x.ptr());
      };
      nb::object made = body(xs);
      state.on_run(nb::cast<int64_t>(made[1]));
      return results_of(made[0]);
    };
    const Names names = names_of(arguments, reals.size());
    ir::Data results = engine_(std::move(inputs), *names, traced, state);
    trace_id = state.trace_id();
    return results;
  }

  /// t0, t1, ..., r0, r1, ... A call holds the list it began with: while it traces, another thread
  /// may ask for another one.
  using Names = std::shared_ptr<const std::vector<std::string>>;
  Names names_of(size_t arguments, size_t reals) {
    if (names_->size() != arguments + reals) {
      auto made = std::make_shared<std::vector<std::string>>();
      for (size_t i = 0; i < arguments; ++i)
        made->push_back(absl::StrCat("t", i));  // not an op: a name of a value
      for (size_t i = 0; i < reals; ++i) made->push_back(absl::StrCat("r", i));
      names_ = std::move(made);
    }
    return names_;
  }

  struct Kept {
    std::vector<size_t> grads;
    bool single = false;
  };
  jit::Function engine_;
  static constexpr int64_t kSpared = 64;
  absl::flat_hash_map<int64_t, Kept> kept_;  // by trace; under Python's lock
  Names names_ = std::make_shared<std::vector<std::string>>();
};

}  // namespace

void add_jit(nb::module_& m) {
  add_witness(m);
  nb::class_<Function>(m, "Function", "The engine under lathe.trace.")
      .def(nb::init<std::string>())
      .def("call", &Function::call)
      .def("call_if", &Function::call_if)
      .def("keep", &Function::keep)
      .def("forget", &Function::forget)
      .def("explain", &Function::explain)
      .def("graph", &Function::graph)
      .def("optimised", &Function::optimised)
      .def("counts", &Function::counts);
  m.def("_reasons", [] {
    nb::list sentences;
    for (int i = 1; i < kReasons; ++i) sentences.append(sentence(static_cast<Reason>(i)));
    return sentences;
  });
  m.def("_symbolic", [](const Tensor& t) { return t.defined() && t.symbolic(); });
  m.def("_tracing", [] { return thread_state().trace_epoch != 0; });
}

}  // namespace lathe::py
