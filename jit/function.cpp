#include "jit/function.h"

#include <absl/container/flat_hash_set.h>
#include <absl/strings/str_cat.h>

#include <algorithm>

#include "autodiff/tape.h"
#include "core/base/error.h"
#include "core/base/flags.h"
#include "core/base/presumption.h"
#include "core/dispatch/assign.h"
#include "core/dispatch/callback.h"
#include "core/dispatch/fn.h"
#include "core/dispatch/profile.h"
#include "core/dispatch/replay.h"
#include "core/tensor/random.h"
#include "core/tensor/shared_memory.h"
#include "graph/ir/query.h"
#include "graph/trace/interpret.h"

namespace lathe::jit {

using ir::Guard;
using ir::GuardKind;

namespace {

constexpr size_t kMostPrograms = 64;

ir::InputSpec spec_for(const ir::Datum& d, const std::string& name) {
  if (d.is_tensor()) return ir::spec_of(d.tensor(), name);
  ir::InputSpec s;
  s.name = name;
  const Arg a = d.arg();
  s.type = a.tag == Tag::flag   ? ir::flag_type()
           : a.tag == Tag::real ? ir::float_type()
                                : ir::integer_type(a.integer());
  if (a.tag == Tag::real) s.number = a.real().value();
  return s;
}

/// What the captured graph calls its floats.
auto names_in(const ir::Traced& traced) {
  return [&traced](const RealExpr* symbol) -> std::string {
    for (const auto& [known, input] : traced.numbers)
      if (known == symbol) return traced.graph.inputs()[input]->name();
    return "?";
  };
}

}  // namespace

std::vector<const Program*> Function::Compiled::programs() const {
  if (program) return {program.get()};
  return tracked ? tracked->programs() : std::vector<const Program*>();
}

/// A written input and another over the same memory: the order of reads and writes between them is
/// not in the graph.
static void refuse_shared(const Function::Compiled& c, const ir::Data& inputs) {
  ir::Data all = inputs;
  all.insert(all.end(), c.traced.captured_now.begin(), c.traced.captured_now.end());
  SharedMemory memory;
  for (const ir::Datum& d : all) memory.add(d.tensor().impl());
  for (const ir::Write& w : c.traced.graph.writes()) {
    const Tensor& written = all[w.input->index()].tensor();
    const auto other = [&](size_t k) { return !same(all[k].tensor(), written); };
    if (memory.any(*written.impl(), other))
      throw TraceError({.op = c.traced.graph.name(),
                        .problem = "a tensor is written whose memory another input shares",
                        .got = to_string(type_of(written)),
                        .next = "clone() one of them, or make the view inside the function"});
  }
}

/// A graph that runs under the tape has the derivatives of its ops, not one that the program wrote.
static void refuse_own_derivative(const Tensor& result) {
  const TapeNode* own = own_in_history(result);
  if (own == nullptr) return;
  throw TraceError({.op = own->name(),
                    .problem = "a derivative of the program's own would be lost: the gradient of a "
                               "result is taken outside of the traced function",
                    .got = to_string(type_of(result)),
                    .expected = "results that need no gradient",
                    .next = "call backward() inside of the traced function, or leave it untraced",
                    .site = own->site});
}

/// A leaf that is none of the inputs, nor a tensor from outside.
static bool made_inside(const Tensor& t, const ir::Data& inputs) {
  const TapeMeta* m = meta(t);
  if (m == nullptr || !m->is_leaf || t.impl()->storage) return false;
  return std::none_of(inputs.begin(), inputs.end(),
                      [&](const ir::Datum& d) { return d.is_tensor() && same(d.tensor(), t); });
}

/// (written, whose history it has) of inputs that were written to with another one as it is.
/// histories: has an input one of its own making at the end?
static std::vector<std::pair<size_t, size_t>> handed_on(const ir::Graph& graph,
                                                        const std::vector<bool>& histories) {
  std::vector<std::pair<size_t, size_t>> found;
  for (const ir::Write& w : graph.writes()) {
    const auto written = static_cast<size_t>(w.input->index());
    if (w.value->node() == nullptr && written < histories.size() && histories[written])
      found.emplace_back(written, static_cast<size_t>(w.value->index()));
  }
  return found;
}

/// The graph has no history of what is written to a leaf with gradients off, though to the tape it
/// is the leaf as before. `rewritten`: inputs that have another history at the end.
static void refuse_written_leaves(const ir::Traced& traced, const std::vector<Edge>& inputs,
                                  const std::vector<bool>& rewritten,
                                  const absl::flat_hash_set<const TapeNode*>& leaves) {
  for (const ir::Write& w : traced.graph.writes()) {
    const size_t i = w.input->index();
    const Edge of =
        i < inputs.size() ? inputs[i] : edge_of(traced.captured_now[i - inputs.size()].tensor());
    const ir::Node* by = w.value->node();
    if (!leaves.contains(of.node.get())) continue;
    if (by == nullptr && i < rewritten.size() && rewritten[i]) continue;  // it was handed on
    throw TraceError(
        {.op = traced.graph.name(),
         .problem = "a result leads back to a leaf that is written to inside, and its gradient is "
                    "taken outside of the traced function",
         .got = to_string(w.input->type()),
         .expected = "results that need no gradient",
         .next = "call backward() inside of the traced function, or detach() the result",
         .site = by != nullptr ? by->site() : Site()});
  }
}

Function::CompiledRef Function::capture(const ir::Data& inputs, absl::Span<const std::string> names,
                                        ir::TracedFunction body, FunctionCallbacks& host) {
  std::optional<Span> span;
  if (profiling()) span.emplace(SpanKind::capture, name_, here());
  std::vector<ir::InputSpec> specs;
  for (size_t i = 0; i < inputs.size(); ++i) specs.push_back(spec_for(inputs[i], names[i]));
  auto c = std::make_shared<Compiled>();
  c->grad_enabled = thread_state().grad_enabled;
  c->autocast = thread_state().autocast;
  if (terms_) c->terms = *terms_;
  std::vector<bool> live;                       // by result: gradients may be asked for through it
  bool written = false;                         // the same of an input that was written to
  std::vector<Edge> histories;                  // of the inputs
  std::vector<bool> rewritten;                  // inputs that have another history at the end
  absl::flat_hash_set<const TapeNode*> leaves;  // that live results lead to
  auto watched = [&](const ir::Data& in) {
    ir::Data out = body(in);
    for (const ir::Datum& d : out) {
      if (d.is_tensor() && d.tensor().impl()->view) refresh(d.tensor());  // its base may be written
      const bool tracked = d.is_tensor() && d.tensor().requires_grad();
      const TapeNode* spent = tracked ? spent_in_history(d.tensor()) : nullptr;
      if (spent != nullptr) c->spent.emplace_back(live.size(), spent_history(*spent));
      const bool leaf = tracked && made_inside(d.tensor(), in);
      if (leaf) c->leaves.push_back(live.size());
      live.push_back(tracked && spent == nullptr && !leaf);
      if (!live.back()) continue;
      refuse_own_derivative(d.tensor());
      for (const TapeNode* n : leaves_of(d.tensor())) leaves.insert(n);
    }
    for (const ir::Datum& d : in)
      histories.push_back(d.is_tensor() && d.tensor().requires_grad() ? edge_of(d.tensor())
                                                                      : Edge{});
    // An input that was written to under the tape has the history of what was written.
    for (const ir::Datum& d : in) {
      const TapeMeta* m = d.is_tensor() ? meta(d.tensor()) : nullptr;
      rewritten.push_back(m != nullptr && !m->is_leaf && d.tensor().requires_grad());
      if (m != nullptr)
        written |=
            m->edge.node != nullptr && !m->is_leaf && spent_in_history(d.tensor()) == nullptr;
    }
    return out;
  };
  c->traced = ir::trace(watched, specs, host, {.name = name_});
  c->trace_id = host.trace_id();
  c->handed_on = handed_on(c->traced.graph, rewritten);
  written |= !c->handed_on.empty();
  refuse_shared(*c, inputs);
  refuse_written_leaves(c->traced, histories, rewritten, leaves);
  c->prepare_guards(names);
  ir::Data all = inputs;
  all.insert(all.end(), c->traced.captured_now.begin(), c->traced.captured_now.end());
  make_program(*c, all, live, written);
  CompiledRef oldest;  // whoever runs it keeps it; what goes with it may call this function
  std::lock_guard hold(mutex_);
  ++counts_.traces;
  if (compiled_.size() >= kMostPrograms) {
    oldest = std::move(compiled_.back());
    compiled_.pop_back();
  }
  compiled_.insert(compiled_.begin(), c);
  return c;
}

/// Which of the graph's results, then `views`, then writes, the function's live results are. A
/// result that is an input itself has the input's history.
static std::vector<int> results_behind(const ir::Traced& traced, const std::vector<bool>& live,
                                       size_t views) {
  std::vector<int> out;
  const ir::Values& yields = traced.graph.body().yields();
  const size_t results = traced.graph.outputs().size();
  for (size_t i = 0; i < live.size(); ++i) {
    const ir::Returned& r = traced.returns[i];
    if (!live[i] || r.how != ir::Returned::How::output) continue;
    if (yields[r.index]->node() != nullptr) out.push_back(static_cast<int>(r.index));
  }
  for (size_t k = 0; k < views; ++k) out.push_back(static_cast<int>(results + k));
  for (size_t k = results; k < yields.size(); ++k)
    if (yields[k]->node() != nullptr) out.push_back(static_cast<int>(k + views));
  return out;
}

void Function::make_program(Compiled& c, const ir::Data& all, const std::vector<bool>& live,
                            bool written) {
  const ir::Graph& graph = c.traced.graph;
  if (written || std::count(live.begin(), live.end(), true) > 0) {
    ir::Values views;
    for (size_t i = 0; i < live.size(); ++i) {
      if (!live[i] || c.traced.returns[i].how != ir::Returned::How::view) continue;
      c.live_views.push_back(i);
      views.push_back(c.traced.returns[i].value);
    }
    try {
      c.tracked = std::make_shared<Differentiable>(graph, tracked_inputs(all),
                                                   results_behind(c.traced, live, views.size()),
                                                   views, c.traced.strided, c.terms);
      c.note_derivative_facts();
    } catch (const AutogradError& e) {  // its calls are counted, and explain() says why
      c.why_by_nodes = e.parts().problem;
    }
    return;
  }
  ir::Graph optimised = graph.clone();
  c.report = ir::optimise(optimised, {.rules = c.terms.rules});
  c.program =
      std::make_unique<Program>(std::move(optimised), c.traced.strided, c.terms.keeps_arena);
}

/// A view among the results is made from its base at the end, but has the history of the value it
/// is in the graph: what arrives there meets what ops inside of the function add.
static ir::Data run_tracked(const Function::Compiled& c, const ir::Data& all) {
  std::vector<Edge> histories;
  ir::Data outputs = c.tracked->run(all, &histories);
  for (const auto& [written, source] : c.handed_on) {
    Tensor t = all[written].tensor();
    if (all[source].tensor().requires_grad()) tape()->wrote(t, all[source].tensor());
  }
  if (c.live_views.empty()) return ir::returned(c.traced, all, std::move(outputs));
  const GradMode off(false);
  ir::Data results = ir::returned(c.traced, all, std::move(outputs));
  for (size_t k = 0; k < histories.size(); ++k) {
    Tensor view = results[c.live_views[k]].tensor();
    if (histories[k].node) set_history(view, histories[k]);
  }
  return results;
}

ir::Data Function::run(const CompiledRef& kept, const ir::Data& all) {
  const Compiled& c = *kept;
  {
    std::lock_guard hold(mutex_);
    ++counts_.calls;
  }
  // The capture met another one than this, which may be a view of a leaf.
  for (const ir::Write& w : c.traced.graph.writes())
    if (const Tensor& t = all[static_cast<size_t>(w.input->index())].tensor(); t.impl()->view)
      require_assignable(t);
  ir::Data results = c.may_draw ? run_drawing(c, all) : run_program(c, all);
  for (const auto& [i, history] : c.spent) {
    Tensor result = results[i].tensor();
    if (!result.requires_grad()) set_history(result, spent_history(*history.node));
  }
  for (size_t i : c.leaves) {
    Tensor result = results[i].tensor();
    if (!result.requires_grad()) set_requires_grad(result, true);
  }
  return results;
}

/// A program writes when nothing fails any more. What one that fails has drawn it gives back, where
/// it has called nobody: then it is as if it had not run.
ir::Data Function::run_drawing(const Compiled& c, const ir::Data& all) {
  const RandomState drawn = random_state();
  const uint64_t calls = ordered_calls();
  try {
    return run_program(c, all);
  } catch (...) {
    if (ordered_calls() == calls) set_random_state(drawn);
    throw;
  }
}

ir::Data Function::run_program(const Compiled& c, const ir::Data& all) {
  const AutocastScope over(DType::f32);  // the casts are in the graph
  if (!node_by_node_wanted() && c.program) return ir::returned(c.traced, all, c.program->run(all));
  if (!node_by_node_wanted() && c.tracked) return run_tracked(c, all);
  // The graph runs node by node, under the tape where gradients are asked for.
  if (!node_by_node_wanted() && flag_on(Flag::fallback_is_error))
    throw UnsupportedError(
        {.op = name_,
         .problem = absl::StrCat("this call would run node by node: ", c.why_by_nodes),
         .next = "take the gradient inside the traced function, or call it under no_grad"});
  {
    std::lock_guard hold(mutex_);
    ++counts_.node_by_node;
  }
  // What ran without gradients when it was captured says so, node by node.
  GradMode recorded(c.grad_enabled || !c.program);
  return ir::returned(c.traced, all, ir::interpret(c.traced.graph, all));
}

Function::CompiledRef Function::find(const ir::Data& given, FunctionCallbacks& host,
                                     FoundInputs& found) {
  CompiledRef last;
  {
    std::lock_guard hold(mutex_);
    if (compiled_.empty()) return nullptr;
    last = compiled_.front();
  }
  if (fits(*last, host, given, found)) return last;
  for (const CompiledRef& c : compiled()) {
    if (c == last || !fits(*c, host, given, found)) continue;
    std::lock_guard hold(mutex_);
    auto at = std::find(compiled_.begin(), compiled_.end(), c);
    if (at != compiled_.end()) std::rotate(compiled_.begin(), at, at + 1);
    return c;
  }
  return nullptr;
}

std::vector<Function::CompiledRef> Function::compiled() const {
  std::lock_guard hold(mutex_);
  return compiled_;
}

FunctionCounts Function::counts() const {
  std::lock_guard hold(mutex_);
  return counts_;
}

void Function::drop(int64_t trace_id) {
  std::vector<CompiledRef> dropped;  // gone when the lock is: they may call this function
  std::lock_guard hold(mutex_);
  const auto first =
      std::stable_partition(compiled_.begin(), compiled_.end(),
                            [&](const CompiledRef& c) { return c->trace_id != trace_id; });
  dropped.assign(std::move_iterator(first), std::move_iterator(compiled_.end()));
  compiled_.erase(first, compiled_.end());
}

std::optional<ir::Data> Function::serve(const ir::Data& inputs, FunctionCallbacks& host) {
  FoundInputs found;
  CompiledRef c = find(inputs, host, found);
  if (c == nullptr) return std::nullopt;
  return run(c, *found.all);
}

std::function<ir::Data()> Function::bound(const ir::Data& inputs, FunctionCallbacks& host) {
  FoundInputs found;
  CompiledRef c = find(inputs, host, found);
  if (c == nullptr || !(c->program || c->tracked)) return {};
  return [c, all = *found.all] {
    const AutocastScope over(DType::f32);
    if (c->program) return ir::returned(c->traced, all, c->program->run(all));
    return run_tracked(*c, all);
  };
}

std::optional<DebugReport> Function::debug(const ir::Data& inputs, FunctionCallbacks& host) {
  FoundInputs found;
  const CompiledRef c = find(inputs, host, found);
  if (c == nullptr) return std::nullopt;
  const std::vector<const Program*> programs = c->programs();
  if (programs.empty())
    throw UnsupportedError(
        {.op = name_,
         .problem = absl::StrCat("this call runs node by node, as eager does: ", c->why_by_nodes),
         .next = "debug it under no_grad, or with the gradient taken inside"});
  return jit::debug(c->traced.graph, *programs[0], c->terms.rules, *found.all);
}

ir::Data Function::operator()(ir::Data inputs, absl::Span<const std::string> names,
                              ir::TracedFunction body, FunctionCallbacks& host) {
  if (std::optional<ir::Data> out = serve(inputs, host)) return *std::move(out);
  CompiledRef c = capture(inputs, names, body, host);
  inputs.insert(inputs.end(), c->traced.captured_now.begin(), c->traced.captured_now.end());
  return run(c, inputs);
}

Outputs Function::operator()(const Tensors& inputs,
                             absl::FunctionRef<Outputs(const Tensors&)> body) {
  ir::Data data;
  std::vector<std::string> names;
  for (size_t i = 0; i < inputs.size(); ++i) {
    data.emplace_back(inputs[i]);
    names.push_back(absl::StrCat("x", i));
  }
  FunctionCallbacks host;
  auto traced = [&](const ir::Data& in) {
    Tensors xs;
    for (const ir::Datum& d : in) xs.push_back(d.tensor());
    ir::Data out;
    for (Tensor& t : body(xs)) out.emplace_back(std::move(t));
    return out;
  };
  ir::Data results = (*this)(std::move(data), names, traced, host);
  Outputs out;
  for (const ir::Datum& d : results) out.push_back(d.tensor());
  return out;
}

std::string Function::explain(ir::Detail detail) const {
  std::vector<CompiledRef> all = compiled();
  FunctionCounts n = counts();
  std::string out = absl::StrCat(name_, ": ", all.size(), " programs, ", n.traces, " traces, ",
                                 n.calls, " calls\n");
  for (const CompiledRef& c : all) {
    for (const ir::Repeated& line : ir::repeated_lines(c->traced.graph))
      absl::StrAppend(&out, "written out ", line.times, " times, ", line.nodes, " of ",
                      c->traced.graph.node_count(), " nodes  ", to_string(line.site), "\n");
    for (const Guard& g : c->traced.guards)
      if (g.kind == GuardKind::number)
        absl::StrAppend(&out, "holds while ", to_string(*g.number, names_in(c->traced)), "  ",
                        to_string(g.site), "\n");
    if (c->program)
      absl::StrAppend(&out, c->report.print(detail), c->program->explain(detail));
    else if (c->tracked)
      absl::StrAppend(&out, c->tracked->explain(detail));
    else
      absl::StrAppend(&out, "runs node by node under the tape: ", c->why_by_nodes, "\n");
  }
  return out;
}

}  // namespace lathe::jit
