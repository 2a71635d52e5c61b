// The end of a trace: results, writes, guards, names; and giving results back as eager would.
#include <absl/algorithm/container.h>
#include <absl/container/flat_hash_set.h>
#include <absl/strings/str_cat.h>

#include "core/base/error.h"
#include "core/dispatch/replay.h"
#include "core/tensor/shared_memory.h"
#include "graph/ir/arguments.h"
#include "graph/ir/text.h"
#include "graph/trace/tracer.h"

namespace lathe::ir {

void Tracer::written_inputs(std::vector<Write>& writes) {
  auto add = [&](Value* input, Value* value) {
    if (input != value) writes.push_back({input, value});
  };
  for (size_t i = 0; i < inputs_.size(); ++i)
    if (inputs_[i].defined()) add(graph_.inputs()[i], now(inputs_[i]));
  for (const TensorImpl* impl : captured_order_) {
    const Captured& l = captured_.at(impl);
    if (l.input >= 0) add(l.start, l.now);
    if (l.by_identity && l.start != l.now)
      throw TraceError({.problem = "the traced code writes to a tensor that it captured: later "
                                   "calls would not repeat the write",
                        .got = lathe::to_string(type_of(l.tensor)),
                        .next = "pass the tensor as an argument"});
  }
}

Tensors Tracer::written() const {
  Tensors out;
  for (size_t i = 0; i < inputs_.size(); ++i)
    if (inputs_[i].defined() && now(inputs_[i]) != graph_.inputs()[i]) out.push_back(inputs_[i]);
  for (const TensorImpl* impl : captured_order_)
    if (const Captured& l = captured_.at(impl); l.now != l.start) out.push_back(l.tensor);
  return out;
}

std::optional<size_t> Tracer::as_input(const Tensor& t) const {
  for (size_t i = 0; i < inputs_.size(); ++i)
    if (inputs_[i].defined() && same(inputs_[i], t)) return i;
  auto it = captured_.find(t.impl());
  if (it != captured_.end() && it->second.input >= 0) return static_cast<size_t>(it->second.input);
  return std::nullopt;
}

static bool is_view(const Tensor& t) { return t.impl()->view != nullptr && !t.impl()->storage; }

/// A view by sizes that only running tells, of what nobody else gets: it goes out by itself.
bool Tracer::is_lone_view(const Tensor& t, const Data& results) const {
  bool told = true;
  auto look = [&](Int e) {
    told = told && !scope_.inside(e);
    return e;
  };
  for (const ViewStep* step : steps_of(*t.impl()->view)) map_ints(step->args, look);
  if (told) return false;
  const Tensor& base = t.impl()->view->base;
  auto of_base = [&](const Datum& d) {
    if (!d.is_tensor()) return false;
    const Tensor& r = d.tensor();
    return same(r, base) || (!same(r, t) && is_view(r) && same(r.impl()->view->base, base));
  };
  return !as_input(base) && absl::c_none_of(results, of_base);
}

/// What shares the memory of others comes last: those may be results of their own.
void Tracer::give_back(const Data& results, Values& outputs, bool aliases, Traced& traced) {
  std::vector<Returned>& out = traced.returns;
  out.resize(results.size());
  std::vector<std::pair<Tensor, size_t>> known;  // tensors that are outputs
  auto output_of = [&](const Tensor& t) {
    for (auto& [k, index] : known)
      if (same(k, t)) return index;
    known.emplace_back(t, outputs.size());
    outputs.push_back(value_of(t));
    traced.strided.push_back(!identical(t.geometry().strides, row_major(t.shape())));
    return outputs.size() - 1;
  };
  // Of a view of one from outside, whose base nothing finds: that one, and the steps from there.
  auto under = [&](Returned& r, const Tensor& t) {
    const ViewOf& view = *t.impl()->view;
    if (as_input(view.base)) return false;
    for (const ViewPath* p = view.path->before.get(); p != nullptr; p = p->before.get()) {
      auto is_it = [&](const Tensor& x) {
        return x.impl()->view && x.impl()->view->path.get() == p;
      };
      for (const TensorImpl* impl : captured_order_)
        if (const Captured& l = captured_.at(impl); l.input >= 0 && is_it(l.tensor)) {
          r.base->how = Returned::How::input;
          r.base->index = static_cast<size_t>(l.input);
          const ViewSteps steps = steps_of(view);
          for (size_t k = p->length; k < steps.size(); ++k) r.path.push_back(*steps[k]);
          return true;
        }
    }
    return false;
  };
  std::function<void(Returned&, const Tensor&)> describe = [&](Returned& r, const Tensor& t) {
    const Tensor source = aliases ? detached_from(t) : Tensor();
    r.requires_grad = t.requires_grad();
    if (std::optional<size_t> input = aliases ? as_input(t) : std::nullopt) {
      r.how = Returned::How::input;
      r.index = *input;
    } else if (source.defined() || (aliases && is_view(t) && !is_lone_view(t, results))) {
      r.how = Returned::How::view;
      r.detached = source.defined();
      r.base = std::make_unique<Returned>();
      if (!r.detached && under(r, t)) return;
      if (!r.detached)
        for (const ViewStep* step : steps_of(*t.impl()->view)) r.path.push_back(*step);
      describe(*r.base, r.detached ? source : t.impl()->view->base);
    } else {
      r.index = output_of(t);
    }
  };
  for (bool late : {false, true}) {
    for (size_t i = 0; i < results.size(); ++i) {
      Returned& r = out[i];
      if (!results[i].is_tensor()) {
        if (late) continue;
        r.index = outputs.size();
        outputs.push_back(value_of(results[i]));
        traced.strided.push_back(false);
        continue;
      }
      const Tensor& t = results[i].tensor();
      if (t.impl()->view) refresh(t);  // its base may have another history by now
      if ((aliases && (is_view(t) || detached_from(t).defined())) != late) continue;
      r.requires_grad = t.requires_grad();
      for (size_t k = 0; k < i && late && r.how != Returned::How::same; ++k) {
        if (!results[k].is_tensor() || !same(results[k].tensor(), t) || as_input(t)) continue;
        r.how = Returned::How::same;
        r.index = k;
      }
      if (r.how == Returned::How::same) continue;
      describe(r, t);
      if (r.how == Returned::How::view && r.requires_grad) r.value = value_of(t);
    }
  }
}

/// What the tensor is detached of; undefined: it is not.
Tensor Tracer::detached_from(const Tensor& t) const {
  for (const Chosen& c : chosen_)
    if (same(c.tensor, t)) return c.source;
  return {};
}

/// The tensor whose memory it has: what it is a view or detached of, in however many steps.
Tensor Tracer::memory_of(const Tensor& t) const {
  Tensor root = root_of(t);
  for (Tensor from = detached_from(root); from.defined(); from = detached_from(root))
    root = root_of(from);
  return root;
}

/// Two tensors met in the traced code share memory, and one is written: the order of reads and
/// writes between them is not in the graph.
void Tracer::refuse_shared_memory(absl::Span<const Write> writes) const {
  absl::flat_hash_set<const Value*> written;
  for (const Write& w : writes) written.insert(w.input);
  SharedMemory memory;
  for (const TensorImpl* t : captured_order_) memory.add(t);
  for (const TensorImpl* t : captured_order_) {
    const Captured& c = captured_.at(t);
    if (written.contains(c.start) &&
        memory.any(*t, [&](size_t other) { return captured_order_[other] != t; }))
      throw TraceError({.problem = "the traced code writes to a tensor that shares its memory with "
                                   "another one it uses",
                        .got = lathe::to_string(type_of(c.tensor)),
                        .next = "make the view inside the traced function"});
  }
}

void Tracer::name_values() {
  auto name = [&](Graph& g, Node* n) {
    bool last = n->next() == nullptr || !(n->next()->site() == n->site());
    if (!last || !n->site().known() || n->out().empty() || !n->out(0)->name().empty()) return;
    if (n->is(Structure::constant)) return;
    std::string named = host_.name_at(n->site());
    if (!named.empty()) g.set_name(n->out(0), std::move(named));
  };
  for_each_node(graph_.body(), [&](Node* n) { name(graph_, n); });
  for (const auto& f : graph_.functions()) for_each_node(f->body(), [&](Node* n) { name(*f, n); });
}

static void map_steps(std::vector<Returned>& returns, const std::function<Int(Int)>& change) {
  for (Returned& r : returns)
    for (Returned* part = &r; part != nullptr; part = part->base.get())
      for (ViewStep& step : part->path) step.args = map_ints(step.args, change);
}

/// Whether a side of it has such a symbol: their difference may not, by what the trace knows.
static bool mentions(const SymFact& fact, absl::FunctionRef<bool(uint32_t)> such) {
  return absl::c_any_of(symbols_of(fact.a), such) || absl::c_any_of(symbols_of(fact.b), such);
}

/// Graphs take inputs that lie in any way: their strides are no symbols of a graph. Where the
/// trace's mentions one it is the number that it is now, by a guard. Takes the graph; returns what
/// was taken for granted about strides, as the trace numbers symbols.
std::vector<SymFact> Tracer::part_from_strides(Traced& traced) {
  const auto is_stride = [&](uint32_t k) {
    return absl::c_any_of(strides_, [&](const StrideSymbol& s) { return s.symbol == k; });
  };
  absl::flat_hash_map<uint32_t, Int> fixed;
  const auto look = [&](Int e) {
    for (uint32_t k : symbols_of(e))
      if (is_stride(k)) fixed.emplace(k, scope_.hint(symbol(k)));
    return e;
  };
  if (!strides_.empty()) {
    map_ints(graph_, look);
    map_steps(traced.returns, look);
    for (const auto* facts : {&scope_.guards(), &scope_.checks()})
      for (const SymFact& f : *facts)
        if (mentions(f, [&](uint32_t k) { return !given_.contains(k); })) look(f.a), look(f.b);
    for (const auto& [k, now] : fixed) (void)scope_.require(Relation::eq, symbol(k), now);
  }
  traced.graph = take();
  std::vector<SymFact> of_strides;
  for (auto* facts : {&traced.graph.assumptions(), &traced.graph.checks()})
    for (const SymFact& f : *facts)
      if (mentions(f, is_stride)) of_strides.push_back(f);
  if (fixed.empty()) return of_strides;
  const std::function<Int(Int)> fix = [&](Int e) {
    return substitute(e, [&](uint32_t k) {
      const auto it = fixed.find(k);
      return it == fixed.end() ? symbol(k) : it->second;
    });
  };
  map_ints(traced.graph, fix);
  map_steps(traced.returns, fix);
  return of_strides;
}

/// The symbols of strides follow those of the graph. `change`: of the latter, when they were
/// numbered anew.
void Tracer::give_strides(Traced& traced, std::vector<SymFact> facts,
                          const std::function<Int(Int)>& change) {
  const size_t own = traced.graph.symbols().size();
  SymScope plain;
  for (const SymbolInfo& info : traced.graph.symbols()) plain.fresh(info.hint, info.is_size);
  absl::flat_hash_map<uint32_t, Int> now;
  for (const StrideSymbol& s : strides_) {
    now.emplace(s.symbol, symbol(static_cast<uint32_t>(own + traced.strides.size())));
    plain.fresh(scope_.hint(symbol(s.symbol)));
    traced.strides.push_back(s.of);
  }
  const auto anew = [&](Int e) {
    return substitute(e, [&](uint32_t k) {
      const auto it = now.find(k);
      return it == now.end() ? change(symbol(k)) : it->second;
    });
  };
  plain.enter();
  for (SymFact& f : facts) {
    f.a = anew(f.a), f.b = anew(f.b);
    traced.guards.push_back({.kind = GuardKind::relation, .fact = f, .site = f.site});
  }
  plain.leave();
}

void Tracer::add_guards(Traced& traced) {
  traced.guards = std::move(guards_);
  for (const SymFact& f : traced.graph.assumptions())
    traced.guards.push_back({.kind = GuardKind::relation, .fact = f, .site = f.site});
  for (const RealFact& f : reals_.facts())
    traced.guards.push_back({.kind = GuardKind::number, .number = f, .site = f.site});
  for (const Write& w : traced.graph.writes()) {
    size_t i = w.input->index();
    Path path = i < specs_.size() ? specs_[i].path : paths_[i - specs_.size()];
    traced.guards.push_back({.kind = GuardKind::alias, .path = std::move(path)});
  }
}

/// A trace made with gradients off throughout need not say so at every line: nothing asks for them.
/// With gradients on, a function may do nothing but what has none, as drawing random numbers.
void Tracer::tidy_detached() {
  if (thread_state().grad_enabled) return;
  bool all = true;
  auto each = [&](const std::function<void(Graph&, Node*)>& visit) {
    auto look = [&](Graph& g) {
      for_each_node(g.body(), [&](Node* n) {
        if (n->is(Structure::op)) visit(g, n);
      });
    };
    look(graph_);
    for (const auto& f : graph_.functions()) look(*f);
  };
  each([&](Graph&, Node* n) { all &= n->detached(); });
  if (all) each([&](Graph& g, Node* n) { g.set_detached(n, false); });
}

std::vector<SymbolInfo> Tracer::symbol_infos() const {
  std::vector<SymbolInfo> out;
  for (uint32_t k = 0; k < scope_.symbol_count(); ++k) {
    SymbolInfo info{scope_.hint(symbol(k)), true};
    info.is_size = scope_.prove(Relation::le, 0, symbol(k)) == SymScope::Truth::yes;
    out.push_back(info);
  }
  return out;
}

Graph Tracer::take() {
  graph_.symbols() = symbol_infos();
  graph_.assumptions() = scope_.guards();
  graph_.checks() = scope_.checks();
  return std::move(graph_);
}

Traced Tracer::finish(const Data& results, bool aliases) {
  Traced traced;
  Values outputs;
  for (const Datum& d : results)
    if (d.is_tensor()) refresh(d.tensor());
  give_back(results, outputs, aliases, traced);
  std::vector<Write> writes;
  written_inputs(writes);
  refuse_shared_memory(writes);
  graph_.set_results(std::move(outputs), writes, here());
  graph_.drop_uncalled_functions();
  name_values();
  const auto has_history = [&](const Datum& d) {  // an `if` has handed it on
    return d.is_tensor() && d.tensor().requires_grad() && !as_input(d.tensor());
  };
  if (absl::c_none_of(results, has_history)) tidy_detached();
  traced.captured = paths_;
  for (Value* v : graph_.inputs())
    for (const auto& [symbol, value] : real_values_)
      if (value == v) traced.numbers.emplace_back(symbol, v->index());
  traced.captured_now = std::move(captured_now_);
  std::vector<SymFact> of_strides = part_from_strides(traced);
  auto change = compact_symbols(traced.graph);
  for (Guard& g : guards_)
    if (g.kind == GuardKind::layout) g.type = *map_ints(Type(g.type), change).tensor();
  map_steps(traced.returns, change);
  add_guards(traced);
  give_strides(traced, std::move(of_strides), change);
  return traced;
}

Traced trace(TracedFunction function, absl::Span<const InputSpec> inputs, TraceCallbacks& host,
             const TraceOptions& options) {
  Tracer tracer(options.name, host);
  if (options.any_history) tracer.expect_any_history();
  Data arguments;
  for (const InputSpec& spec : inputs) arguments.push_back(tracer.add_input(spec));
  return tracer.finish(function(arguments), options.aliases);
}

Traced trace(TracedFunction function, absl::Span<const InputSpec> inputs) {
  TraceCallbacks host;
  return trace(function, inputs, host);
}

// ── results as eager gives them ─────────────────────────────────────────────────────────────────
namespace {

Datum one_returned(const Traced& traced, const Returned& r, const Data& inputs, const Data& outputs,
                   const Data& earlier) {
  switch (r.how) {
    case Returned::How::output:
      return outputs[r.index];
    case Returned::How::input:
      return inputs[r.index];
    case Returned::How::same:
      return earlier[r.index];
    case Returned::How::view:
      break;
  }
  Datum base = one_returned(traced, *r.base, inputs, outputs, earlier);
  if (r.detached) return alias(base.tensor());
  // The steps may mention sizes: those of this call.
  std::vector<std::optional<Int>> sizes(traced.graph.symbols().size());
  auto sources = traced.graph.sources();
  for (size_t k = 0; k < sources.size(); ++k) {
    if (sources[k].is_parameter_of(traced.graph.body())) sizes[k] = said(sources[k], inputs);
  }
  std::function<Int(Int)> change = [&](Int e) {
    return substitute(e, [&](uint32_t k) {
      if (k < sizes.size() && sizes[k]) return *sizes[k];
      throw TraceError(
          {.problem = "a view that is returned depends on a size that only the program knows",
           .next = "clone() it"});
    });
  };
  // One that was taken with gradients off has no history.
  const GradMode mode(thread_state().grad_enabled && r.requires_grad);
  Tensor view = base.tensor();
  for (const ViewStep& step : r.path) {
    Filled filled = fill(step.args, {}, {}, &change);
    const ViewStep now{step.op, ArgVec(filled.args())};
    const ViewStep* path[] = {&now};
    view = replay(view, path);
  }
  return view;
}

}  // namespace

Data returned(const Traced& traced, const Data& inputs, Data outputs) {
  const std::vector<Returned>& wanted = traced.returns;
  auto is_output = [&](const Returned& r) {
    return r.how == Returned::How::output && r.index == static_cast<size_t>(&r - wanted.data());
  };
  if (wanted.size() == outputs.size() && absl::c_all_of(wanted, is_output)) return outputs;
  Data out;
  out.reserve(wanted.size());
  for (const Returned& r : traced.returns)
    out.push_back(one_returned(traced, r, inputs, outputs, out));
  return out;
}

}  // namespace lathe::ir
