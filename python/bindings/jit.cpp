#include "python/bindings/jit.h"
#include "python/bindings/constants.h"

#include <absl/cleanup/cleanup.h>
#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>
#include <absl/strings/str_cat.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <charconv>

#include "autodiff/tape.h"
#include "core/base/presumption.h"
#include "core/dispatch/assign.h"
#include "core/dispatch/call.h"
#include "core/dispatch/callback.h"
#include "core/dispatch/fn.h"
#include "graph/ir/text.h"
#include "graph/trace/tracer.h"
#include "include/lathe/ops/math.h"
#include "jit/composites.h"
#include "jit/debug.h"
#include "jit/function.h"
#include "jit/gradients.h"
#include "kernels/table/table.h"
#include "python/bindings/call.h"
#include "python/bindings/call_inputs.h"
#include "python/bindings/errors.h"
#include "python/bindings/guards.h"
#include "python/bindings/integer.h"
#include "python/bindings/observer.h"
#include "python/bindings/picture.h"
#include "python/bindings/real.h"
#include "python/bindings/tensor.h"
#include "python/bindings/values.h"

namespace lathe::py {
namespace {

/// What is kept of a trace beside its program.
struct Kept {
  nb::object guards;                       // a Guards
  std::vector<ProgramInput> inputs;        // of the program
  std::vector<std::pair<int, int>> grads;  // (row of a leaf, result that its gradient becomes)
  std::vector<size_t> unwritable;          // results that refuse writes
  std::vector<int> wanted;                 // rows whose objects the results are made with
  std::vector<int> used;                   // those of both, which are read when it has run
  bool single = false;                     // the only result is a tensor, and nothing else is done
  mutable std::vector<std::unique_ptr<CallInputs>> idle = {};  // of calls that have ended
};

/// Serves a call: its inputs are what the rows of a trace find.
class Call final : public jit::FunctionCallbacks {
 public:
  using KeptTraces = absl::flat_hash_map<int64_t, std::shared_ptr<const Kept>>;
  Call(const KeptTraces& kept, PyObject* args, PyObject* kwargs)
      : kept_(kept), args_(args), kwargs_(kwargs) {}

  ~Call() override { end(); }
  Call(const Call&) = delete;

  bool inputs(int64_t id, absl::Span<const ir::Path> /*captured*/, const ir::Data& /*given*/,
              jit::FoundInputs& out) override {
    end();
    auto it = kept_.find(id);
    if (it == kept_.end()) return false;  // another thread is about to say what is kept
    if (thread_state().backend != nullptr) return false;
    begin(id, it->second);
    if (!inputs_->find(*nb::inst_ptr<Guards>(kept->guards), args_, kwargs_, kept->inputs,
                       kept->used))
      return false;
    out.all = &inputs_->all();
    out.settled = inputs_->settled();
    out.fresh = inputs_->fresh();
    return true;
  }

  const FoundRows& found() const { return inputs_->found(); }
  /// Is it as if the call had not been made, where its program raises? It has then written nothing;
  /// has it called nobody, since there were so many calls, nor met an error of earlier work, which
  /// a device tells late?
  bool unseen(uint64_t calls) const {
    const auto elsewhere = [](const ir::Datum& d) {
      return d.is_tensor() && d.tensor().device().kind != DeviceKind::cpu;
    };
    return ordered_calls() == calls && inputs_ != nullptr &&
           std::none_of(inputs_->all().begin(), inputs_->all().end(), elsewhere);
  }
  int64_t trace_id = 0;
  std::shared_ptr<const Kept> kept;  // another thread may take the trace away

 private:
  void begin(int64_t id, std::shared_ptr<const Kept> of) {
    trace_id = id;
    kept = std::move(of);
    if (kept->idle.empty()) {
      inputs_ = std::make_unique<CallInputs>();
      return;
    }
    inputs_ = std::move(kept->idle.back());
    kept->idle.pop_back();
  }
  void end() {
    if (inputs_ == nullptr) return;
    inputs_->let_go();
    kept->idle.push_back(std::move(inputs_));
  }

  const KeptTraces& kept_;
  PyObject *args_, *kwargs_;
  std::unique_ptr<CallInputs> inputs_;
};

/// Captures: a tensor that is met is asked for by the number of its row.
class Capture final : public jit::FunctionCallbacks {
 public:
  Capture(nb::callable find, size_t given) : find_(std::move(find)), outer_(t_capture) {
    for (size_t i = 0; i < given; ++i) inputs_.push_back({-1, Kind::tensor});
    t_capture = this;
  }
  /// Which rows find what was given: known when the code has run, which may read it from anywhere.
  void found_in(const std::vector<int>& rows) {
    for (size_t i = 0; i < rows.size(); ++i) inputs_[i].row = rows[i];
  }
  ~Capture() override { t_capture = outer_; }
  /// The innermost one of this thread, or null.
  static Capture* current() { return t_capture; }

  Found find(const Tensor& t) override {
    nb::gil_scoped_acquire locked;  // backward() runs without it
    nb::object row = find_(owned(wrap(t)), identity(t));
    if (!row.is_none()) return {Found::How::path, next(Kind::tensor, nb::cast<int>(row))};
    if (is_constant(t)) return {Found::How::constant, {}};
    return {Found::How::refused, {}};
  }
  int64_t trace_id() override { return id; }

  using Kind = Guards::InputKind;
  /// The name of one more input, which that row finds: t0, r1, i2, ...
  ir::Path next(Kind kind, int row) {
    inputs_.push_back({row, kind});
    return {absl::StrCat(std::string(1, "tri"[static_cast<size_t>(kind)]), inputs_.size() - 1)};
  }
  const std::vector<ProgramInput>& inputs() const { return inputs_; }

  /// An integer that the traced code reads; and the same as a float, if that is asked for.
  nb::object integer(ir::Tracer& tracer, int row, int64_t now) {
    const Int n = tracer.capture_number(next(Kind::integer, row), now);
    integers_[n.expr()->symbol] = {row, now, {}};
    return owned(read_int(n, now));
  }
  std::optional<Real> real_of(uint32_t symbol) {
    auto it = integers_.find(symbol);
    if (it == integers_.end()) return {};
    Integer& n = it->second;
    if (!n.real)
      n.real = ir::Tracer::current()->capture_number(next(Kind::real, n.row),
                                                     static_cast<double>(n.now));
    return n.real;
  }

  std::vector<size_t> unwritable;  // Kept

  static uint64_t identity(const Tensor& t) { return reinterpret_cast<uint64_t>(t.impl()); }
  int64_t id = 0;

 private:
  static thread_local Capture* t_capture;
  nb::callable find_;
  struct Integer {
    int row = 0;
    int64_t now = 0;
    std::optional<Real> real = {};
  };
  std::vector<ProgramInput> inputs_;                 // of the graph
  absl::flat_hash_map<uint32_t, Integer> integers_;  // by symbol
  Capture* outer_;
  ConstantScope constants_;
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

thread_local Capture* Capture::t_capture = nullptr;

nb::list objects_of(const ir::Data& results) {
  nb::list out;
  for (const ir::Datum& d : results)
    out.append(owned(d.is_tensor()    ? wrap(d.tensor())
                     : d.is_integer() ? from_int(d.integer())
                                      : from_real(d.arg().real())));
  return out;
}

class Function {
 public:
  explicit Function(std::string name) : engine_(std::move(name)) {}
  Function(const Function&) = delete;

  /// The result of a call that a program serves; None: none does. A single tensor as it is; else
  /// (results, number of the trace, objects of the rows that were asked for). Of a program that
  /// raises: (exception, number, before anybody has seen something of it, its data are not as it
  /// presumes).
  nb::object serve(nb::tuple args, nb::dict kwargs) {
    Call call(kept_, args.ptr(), kwargs.ptr());
    std::optional<ir::Data> results;
    const uint64_t calls = ordered_calls();
    try {
      results = engine_.serve({}, call);
    } catch (const PresumptionError&) {
      return nb::make_tuple(active_exception(), call.trace_id, call.unseen(calls), true);
    } catch (...) {
      return nb::make_tuple(active_exception(), call.trace_id, call.unseen(calls), false);
    }
    if (!results) return nb::none();
    const Kept& kept = *call.kept;
    for (const auto& [row, result] : kept.grads)
      meta_or_new(*call.found().impl(row))
          .grad.set(result < 0 ? Tensor() : (*results)[static_cast<size_t>(result)].tensor());
    for (size_t i : kept.unwritable) (*results)[i].tensor().impl()->refuses_writes = true;
    if (kept.single) return owned(wrap((*results)[0].tensor()));
    nb::list objects;
    for (int row : kept.wanted) {
      PyObject* o = call.found().objects[static_cast<size_t>(row)];
      Tensor t = o == nullptr ? call.found().tensor(row) : Tensor();
      objects.append(o == nullptr ? owned(wrap(t)) : nb::borrow(o));
    }
    return nb::make_tuple(objects_of(*results), call.trace_id, objects);
  }

  /// Runs the program that serves this call without a guard, as often as it is called; None: there
  /// is none. For benches.
  nb::object bound(nb::tuple args, nb::dict kwargs) {
    Call call(kept_, args.ptr(), kwargs.ptr());
    std::function<ir::Data()> run = engine_.bound({}, call);
    if (!run) return nb::none();
    return nb::cpp_function([run = std::move(run)] { return objects_of(run()); });
  }

  /// One more program. `tensors`: inputs of any size. `body` gets what stands for them in a list,
  /// and gives (list of results, number of the trace, the rows that find these tensors); `find`
  /// says which row a tensor is of that is met on the way, or None.
  void capture(nb::list tensors, nb::callable body, nb::callable find) {
    Capture host(std::move(find), tensors.size());
    ir::Data inputs;
    std::vector<std::string> names;
    for (size_t i = 0; i < tensors.size(); ++i) {
      const Tensor& t = tensor_of(tensors[i].ptr());
      if (t.impl()->view) refresh(t);
      inputs.emplace_back(t);
      names.push_back(absl::StrCat("t", i));  // not an op: a name of a value
    }
    auto traced = [&](const ir::Data& in) {
      nb::list xs;
      for (const ir::Datum& d : in) xs.append(owned(wrap(d.tensor())));
      nb::object made = body(xs);
      host.id = nb::cast<int64_t>(made[1]);
      host.found_in(nb::cast<std::vector<int>>(made[2]));
      ir::Data results = results_of(made[0]);
      host.unwritable.clear();
      for (size_t i = 0; i < results.size(); ++i)
        if (results[i].is_tensor() && results[i].tensor().impl()->refuses_writes)
          host.unwritable.push_back(i);
      return results;
    };
    engine_.capture(inputs, names, traced, host);
    captured_[host.id] = {host.inputs(), host.unwritable};
  }

  /// What is kept of a trace: without it, no call is served.
  void keep(int64_t trace_id, nb::object guards, std::vector<std::pair<int, int>> grads,
            std::vector<int> wanted, bool single) {
    std::vector<int> used = wanted;
    for (const auto& [row, result] : grads) used.push_back(row);
    Captured& captured = captured_[trace_id];
    kept_[trace_id] = std::make_shared<const Kept>(
        Kept{std::move(guards), std::move(captured.inputs), std::move(grads),
             std::move(captured.unwritable), std::move(wanted), std::move(used), single});
    captured_.erase(trace_id);
  }
  /// The traces whose programs are gone; what was kept of them goes too.
  std::vector<int64_t> forget() {
    absl::flat_hash_set<int64_t> live;
    for (const auto& c : engine_.compiled()) live.insert(c->trace_id);
    std::vector<int64_t> gone;
    for (const auto& [trace_id, kept] : kept_)
      if (!live.contains(trace_id)) gone.push_back(trace_id);
    for (int64_t trace_id : gone) kept_.erase(trace_id);
    return gone;
  }
  /// No call is served by this trace any more.
  void drop(int64_t trace_id) {
    engine_.drop(trace_id);
    kept_.erase(trace_id);
  }
  /// The traces, the one that served last first.
  std::vector<int64_t> traces() const {
    std::vector<int64_t> out;
    for (const auto& c : engine_.compiled()) out.push_back(c->trace_id);
    return out;
  }

  /// None: no program serves this call. Else (values of the captured graph in order, each (op,
  /// "file:line", tensor); which of them is wrong in the program, or -1; what it is there; cause).
  nb::object debug(nb::tuple args, nb::dict kwargs) {
    Call call(kept_, args.ptr(), kwargs.ptr());
    std::optional<jit::DebugReport> report = engine_.debug({}, call);
    if (!report) return nb::none();
    nb::list values;
    for (const jit::DebugReport::Value& v : report->values)
      values.append(nb::make_tuple(v.op, to_string(v.site), owned(wrap(v.is))));
    nb::object got = report->first < 0 ? nb::none() : owned(wrap(report->got));
    return nb::make_tuple(values, report->first, got, report->cause);
  }

  int traverse(visitproc visit, void* arg) const {
    for (const auto& [id, kept] : kept_) Py_VISIT(kept->guards.ptr());
    return 0;
  }
  void clear() { kept_.clear(); }

  std::string explain(bool verbose) const {
    return engine_.explain(verbose ? ir::Detail::verbose : ir::Detail::brief);
  }
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
  /// Of the graph that was captured, or of what its program runs (None: it has no program), as
  /// py::picture() says; how many there are, if not so many.
  nb::object picture(size_t index, bool optimised) const {
    const auto programs = engine_.compiled();
    if (index >= programs.size()) return nb::int_(programs.size());
    const jit::Function::Compiled& c = *programs[index];
    if (!optimised) return py::picture(c.traced.graph, nullptr);
    const auto all = c.programs();
    return all.empty() ? nb::none() : nb::object(py::picture(all[0]->graph(), all[0]));
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
    d["alike_rounds"] = runs.alike_rounds;
    d["in_panels"] = runs.in_panels;
    d["op_runs"] = runs.ops;
    return d;
  }

 private:
  jit::Function engine_;
  // By trace; under Python's lock.
  Call::KeptTraces kept_;
  struct Captured {
    std::vector<ProgramInput> inputs;
    std::vector<size_t> unwritable;
  };
  absl::flat_hash_map<int64_t, Captured> captured_;  // of what is not yet kept
};

int traverse_function(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  return nb::inst_ptr<Function>(self)->traverse(visit, arg);
}
int clear_function(PyObject* self) {
  if (nb::inst_ready(self)) nb::inst_ptr<Function>(self)->clear();
  return 0;
}
PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse_function)},
                       {Py_tp_clear, reinterpret_cast<void*>(clear_function)},
                       {0, nullptr}};

/// Sees the calls of eager code, for lathe.debug.
class Calls final : public Observer {
 public:
  Calls() {
    next = thread_state().observers;
    thread_state().observers = this;
  }
  ~Calls() override { thread_state().observers = next; }
  Calls(const Calls&) = delete;

  void saw(const Op& op, Args /*args*/, Outputs& outputs) override {
    if (inside_) return;          // the copies made here
    nb::gil_scoped_acquire lock;  // a backward has given it away
    inside_ = true;
    const GradMode off(false);
    for (const Tensor& t : outputs)
      made.append(
          nb::make_tuple(op.name(), to_string(here()), owned(wrap(math_ops<Tensor>::clone(t)))));
    inside_ = false;
  }
  void wrote(Tensor& /*dst*/, const Tensor& /*value*/) override {}
  void saw_part(std::string_view /*name*/, const Tensors& /*in*/, Tensors& /*out*/) override {}

  nb::list made;

 private:
  bool inside_ = false;
};

/// (what `run` gives, what ops it called: (op, "file:line", result) of each result).
nb::object watched(nb::callable run) {
  Calls calls;
  nb::object result = run();
  return nb::make_tuple(result, calls.made);
}

/// A tensor from outside that the traced code looks at: an input of the program, so that its layout
/// is guarded.
void touch(const Tensor& t) {
  ir::Tracer* tracer = ir::Tracer::current();
  if (tracer != nullptr && t.impl()->storage) tracer->value_of(t);
}

/// A symbolic tensor that is what the concrete one is now.
Tensor lift(const Tensor& t) {
  ir::Tracer* tracer = ir::Tracer::current();
  if (tracer == nullptr || !t.impl()->storage) return t;
  return tracer->tensor_for(tracer->value_of(t));
}

/// A float or int that the traced code reads, as one more input of the program.
nb::object capture_number(int row, nb::handle now) {
  ir::Tracer* tracer = ir::Tracer::current();
  Capture* capture = Capture::current();
  if (tracer == nullptr || capture == nullptr)
    throw TraceError({.op = "trace", .problem = "a number is captured outside of a trace"});
  if (PyLong_Check(now.ptr())) return capture->integer(*tracer, row, integer_of(now.ptr()).value());
  const double value = PyFloat_AsDouble(now.ptr());
  const Real r = tracer->capture_number(capture->next(Capture::Kind::real, row), value);
  return owned(from_real(r, value, is_numpy_float64(now.ptr())));
}

/// What counted before, innermost last: each object lives as long as it counts.
thread_local std::vector<std::pair<nb::object, jit::CompositeChoices*>>* t_choices = nullptr;

void push_choices(nb::object choices, bool follow) {
  if (t_choices == nullptr) t_choices = new std::remove_pointer_t<decltype(t_choices)>;
  auto& made = nb::cast<jit::CompositeChoices&>(choices);
  made.follows = follow;
  made.next = 0;
  t_choices->emplace_back(std::move(choices), jit::set_choices(&made));
}

void pop_choices() {
  jit::set_choices(t_choices->back().second);
  t_choices->pop_back();
}

}  // namespace

std::optional<Real> real_of_symbol(uint32_t symbol) {
  Capture* capture = Capture::current();
  if (capture == nullptr || ir::Tracer::current() == nullptr) return {};
  return capture->real_of(symbol);
}

void add_jit(nb::module_& m) {
  add_guards(m);
  add_observer(m);
  nb::class_<Function>(m, "Function", nb::type_slots(slots), "The engine under lathe.trace.")
      .def(nb::init<std::string>())
      .def("serve", &Function::serve)
      .def("bound", &Function::bound)
      .def("capture", &Function::capture)
      .def("keep", &Function::keep)
      .def("forget", &Function::forget)
      .def("drop", &Function::drop)
      .def("traces", &Function::traces)
      .def("explain", &Function::explain)
      .def("graph", &Function::graph)
      .def("optimised", &Function::optimised)
      .def("picture", &Function::picture)
      .def("debug", &Function::debug)
      .def("counts", &Function::counts);
  m.def("_reasons", [] {
    nb::list sentences;
    for (int i = 1; i < kReasons; ++i) sentences.append(sentence(static_cast<Reason>(i)));
    return sentences;
  });
  m.def("_capture_number", &capture_number);
  m.def("_touch", &touch);
  m.def("_lift", &lift);
  m.def("_watched", &watched);
  m.def("_same_elements", &jit::same_elements);
  m.def("_identity", &Capture::identity);
  m.def("_symbolic", [](const Tensor& t) { return t.defined() && t.symbolic(); });
  m.def("_composites", &jit::composites_text);
  m.def("_gradients", &jit::gradients_text);
  nb::class_<jit::CompositeChoices>(m, "_CompositeChoices").def(nb::init<>());
  m.def("_push_choices", push_choices);
  m.def("_pop_choices", pop_choices);
  m.def("_presumes", [] {
    ir::Tracer* tracer = ir::Tracer::current();
    return tracer != nullptr && jit::asks_of_data(tracer->graph());
  });
  m.def("_tracing", [] { return thread_state().trace_epoch != 0; });
}

}  // namespace lathe::py
