// When a program of a function serves a call: what is read off its graph once, and asked each time.
#include <absl/algorithm/container.h>

#include "core/base/error.h"
#include "core/dispatch/fn.h"
#include "core/tensor/shared_memory.h"
#include "graph/ir/query.h"
#include "include/lathe/ops/index.h"
#include "jit/function.h"

namespace lathe::jit {

using ir::Guard;
using ir::GuardKind;

namespace {

bool layout_holds(const Guard& g, const Tensor& t) {
  bool same_type = t.defined() && t.dtype() == g.type.dtype && t.device() == g.type.device &&
                   t.rank() == static_cast<int>(g.type.shape.size()) &&
                   t.requires_grad() == g.requires_grad;
  if (!same_type) return false;
  const Shape& shape = t.geometry().shape;
  for (size_t i = 0; i < shape.size(); ++i)
    if (g.type.shape[i].known() && !identical(g.type.shape[i], shape[i])) return false;
  return ir::stride_class(t.geometry(), g.any_strides) == g.expected;
}

/// Does it draw random numbers, or call what may?
bool may_draw(const ir::Graph& graph) {
  bool found = false;
  ir::for_each_node(graph.body(), [&](const ir::Node* n) {
    found |= ir::effects(*n, graph) == ir::Effects::ordered ||
             (n->op() != nullptr && n->op()->extra.host != HostCall::none);
  });
  return found;
}

}  // namespace

bool asks_of_data(const ir::Graph& graph) {
  bool asks = false;
  ir::for_each_node(graph.body(), [&](const ir::Node* n) {
    using I = index_ops<Tensor>;
    asks |= n->op() != nullptr && (n->op() == I::sized_by.op() || n->op() == I::check_size.op());
  });
  return asks;
}

void Function::Compiled::prepare_guards(absl::Span<const std::string> names) {
  sources = traced.graph.sources();
  for (const ir::Traced::Stride& s : traced.strides)
    sources.push_back({traced.graph.inputs()[s.input], s.axis, /*stride=*/true});
  presumes = asks_of_data(traced.graph);
  may_draw = jit::may_draw(traced.graph);
  auto from_inputs = [&](Int e) { return traced.graph.inputs_say(e, sources); };
  auto of_sizes = [&](Int e) {
    return absl::c_all_of(symbols_of(e), [&](uint32_t k) { return sources[k].axis >= 0; });
  };
  auto relate = [&](const SymFact& f) {
    if (!from_inputs(f.a) || !from_inputs(f.b)) return;
    (of_sizes(f.a) && of_sizes(f.b) ? relations : of_integers).push_back(f);
  };
  // Where a check fails the function is captured anew: it meets the error itself, at its own line,
  // and may catch it.
  for (const SymFact& f : traced.graph.checks()) relate(f);
  for (const Guard& g : traced.guards) {
    if (g.kind == GuardKind::relation) relate(g.fact);
    size_t at = names.size() + traced.captured.size();  // none
    for (size_t i = traced.captured.size(); i-- > 0;)
      if (traced.captured[i] == g.path) at = names.size() + i;
    for (size_t i = names.size(); i-- > 0;)
      if (names[i] == g.path.text) at = i;
    if (g.kind != GuardKind::layout && g.kind != GuardKind::relation)
      asked.push_back(guarded.size());
    guarded.push_back(at);
  }
}

void Function::Compiled::note_derivative_facts() {
  const ir::Graph& graph = tracked->forward_graph();
  derivative_sources = graph.sources();
  presumes |= asks_of_data(graph);
  for (const SymFact& f : graph.assumptions())
    if (graph.inputs_say(f.a, derivative_sources) && graph.inputs_say(f.b, derivative_sources))
      of_derivative.push_back(f);
}

bool FunctionCallbacks::inputs(int64_t /*trace_id*/, absl::Span<const ir::Path> captured,
                               const ir::Data& given, FoundInputs& out) {
  out.all = &given;
  if (captured.empty()) return true;
  out.made = given;
  for (const ir::Path& p : captured) {
    ir::Datum d = read(p);
    if (!d.is_tensor() && d.arg().tag != Tag::real) return false;
    out.made.push_back(std::move(d));
  }
  out.all = &out.made;
  return true;
}

namespace {

using Seen = Function::Compiled::Seen;

/// Hands on what guards about layouts and sizes depend on, one word after the other, as long as the
/// answer is yes.
template <class Take>
bool each_word(const ir::Datum& d, Take take) {
  if (!d.is_tensor()) return take(static_cast<uint64_t>(d.arg().tag));
  const TensorImpl& t = *d.tensor().impl();
  const Geometry& g = t.geometry;
  const uint64_t kind = uint64_t{1} << 63 | static_cast<uint64_t>(g.shape.size()) << 32 |
                        static_cast<uint64_t>(t.requires_grad) << 24 |
                        static_cast<uint64_t>(t.device.kind) << 16 |
                        static_cast<uint64_t>(t.device.index) << 8 | static_cast<uint64_t>(t.dtype);
  if (!take(kind)) return false;
  for (Int n : g.shape)
    if (!take(n.word())) return false;
  for (Int n : g.strides)
    if (!take(n.word())) return false;
  return true;
}

std::shared_ptr<const Seen> note_layouts(const ir::Data& all) {
  auto seen = std::make_shared<Seen>();
  for (const ir::Datum& d : all) {
    seen->begins.push_back(seen->words.size());
    each_word(d, [&](uint64_t word) {
      seen->words.push_back(word);
      return true;
    });
  }
  seen->begins.push_back(seen->words.size());
  return seen;
}

bool lies_as_seen(const Seen& seen, size_t input, const ir::Datum& d) {
  const uint64_t* next = seen.words.data() + seen.begins[input];
  const uint64_t* end = seen.words.data() + seen.begins[input + 1];
  return each_word(d, [&](uint64_t word) { return next != end && *next++ == word; }) && next == end;
}

/// Do all inputs lie so? `settled`: those that are not fresh do.
bool lie_as_seen(const Seen& seen, const FoundInputs& found, bool settled) {
  const ir::Data& all = *found.all;
  if (settled)
    return absl::c_all_of(found.fresh, [&](size_t i) { return lies_as_seen(seen, i, all[i]); });
  for (size_t i = 0; i < all.size(); ++i)
    if (!lies_as_seen(seen, i, all[i])) return false;
  return true;
}

/// Does no other input share memory with one that is written to? Those that are not fresh did not,
/// if they are settled.
class Apart {
 public:
  Apart(const FoundInputs& found, bool settled) : found_(found), settled_(settled) {}

  bool lies_alone(size_t input) {
    const ir::Data& all = *found_.all;
    const bool known = settled_ && !absl::c_binary_search(found_.fresh, input);
    std::optional<SharedMemory>& memory = known ? fresh_ : all_;
    if (!memory) {
      memory.emplace();
      if (known)
        for (size_t i : found_.fresh) memory->add(all[i].tensor().impl());
      else
        for (const ir::Datum& d : all) memory->add(d.tensor().impl());
    }
    const TensorImpl* written = all[input].tensor().impl();
    return !memory->any(*written, [&](size_t k) {
      return all[known ? found_.fresh[k] : k].tensor().impl() != written;
    });
  }

 private:
  const FoundInputs& found_;
  bool settled_;
  std::optional<SharedMemory> fresh_, all_;
};

}  // namespace

bool Function::fits(Compiled& c, FunctionCallbacks& host, const ir::Data& given,
                    FoundInputs& found) const {
  const ThreadState& state = thread_state();
  if (c.grad_enabled != state.grad_enabled || c.autocast != state.autocast) return false;
  if (!host.inputs(c.trace_id, c.traced.captured, given, found) ||
      found.all->size() != c.traced.graph.inputs().size())
    return false;
  std::shared_ptr<const Seen> seen;
  {
    std::lock_guard hold(mutex_);
    seen = c.seen;
  }
  const bool settled = seen != nullptr && found.settled != 0 &&
                       seen->settled.load(std::memory_order_relaxed) == found.settled;
  if (seen == nullptr || !lie_as_seen(*seen, found, settled)) {
    if (!layouts_hold(c, *found.all)) return false;
    seen = note_layouts(*found.all);
    std::lock_guard hold(mutex_);
    c.seen = seen;
  }
  if (!facts_hold(c.sources, c.of_integers, *found.all) || !asked_hold(c, found, settled))
    return false;
  seen->settled.store(found.settled, std::memory_order_relaxed);
  return true;
}

bool Function::asked_hold(const Compiled& c, const FoundInputs& found, bool settled) {
  auto number = [&](const RealExpr* symbol) {
    for (const auto& [known, input] : c.traced.numbers)
      if (known == symbol) return (*found.all)[input].arg().real().value();
    LATHE_INTERNAL("a guard about a number that is no input");
  };
  Apart apart(found, settled);
  for (size_t i : c.asked) {
    const Guard& guard = c.traced.guards[i];
    if (guard.kind == GuardKind::number) {
      const RealFact& f = *guard.number;
      if (compare(f.relation, evaluate(f.a, number), evaluate(f.b, number)) != f.holds)
        return false;
    } else if (guard.kind == GuardKind::identity) {
      if (guard.tensor.version() != guard.expected ||
          guard.tensor.requires_grad() != guard.requires_grad)
        return false;
    } else if (!apart.lies_alone(c.guarded[i])) {
      return false;
    }
  }
  return true;
}

bool Function::layouts_hold(const Compiled& c, const ir::Data& all) {
  const ir::Graph& g = c.traced.graph;
  // Kinds first: symbols can be read off inputs of the right ranks only.
  for (size_t i = 0; i < all.size(); ++i) {
    bool wants_tensor = g.inputs()[i]->type().tensor() != nullptr;
    if (wants_tensor != all[i].is_tensor()) return false;
    if (wants_tensor) continue;
    constexpr Tag kTags[] = {Tag::flag, Tag::integer, Tag::real};
    if (all[i].arg().tag != kTags[static_cast<int>(g.inputs()[i]->type().scalar()->kind)])
      return false;
  }
  const Tensor none;
  const auto& guards = c.traced.guards;
  for (size_t i = 0; i < guards.size(); ++i) {
    const size_t at = c.guarded[i];
    if (guards[i].kind == GuardKind::layout &&
        !layout_holds(guards[i], at < all.size() ? all[at].tensor() : none))
      return false;
  }
  return facts_hold(c.sources, c.relations, all) &&
         facts_hold(c.derivative_sources, c.of_derivative, all);
}

}  // namespace lathe::jit
