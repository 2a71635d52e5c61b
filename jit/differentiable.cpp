#include "jit/differentiable.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <functional>

#include "core/base/error.h"
#include "core/dispatch/backend.h"
#include "core/dispatch/fn.h"
#include "core/dispatch/leaf.h"
#include "graph/trace/interpret.h"
#include "include/lathe/ops/math.h"
#include "jit/build_lock.h"

namespace lathe::jit {
namespace {

using From = Vjp::Read::From;

}  // namespace

std::vector<int> tracked_inputs(const ir::Data& inputs) {
  std::vector<int> out;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].is_tensor() && inputs[i].tensor().requires_grad())
      out.push_back(static_cast<int>(i));
  return out;
}

/// Do all hold for symbols of these values?
static bool hold_for(absl::Span<const SymFact> facts, const std::function<Int(uint32_t)>& values) {
  return absl::c_all_of(facts, [&](const SymFact& f) {
    return lathe::decide(f.relation, substitute(f.a, values), substitute(f.b, values)) == f.holds;
  });
}

bool facts_hold(absl::Span<const ir::SymbolSource> sources, absl::Span<const SymFact> facts,
                const ir::Data& inputs) {
  return hold_for(facts, [&](uint32_t k) { return ir::said(sources[k], inputs); });
}

/// What inputs of `graph` say, said of those of another graph, which has the same ones.
static std::vector<ir::SymbolSource> sources_in(const ir::Graph& other, const ir::Graph& graph) {
  std::vector<ir::SymbolSource> sources = graph.sources();
  for (ir::SymbolSource& s : sources)
    if (s.value != nullptr)
      s.value = s.is_parameter_of(graph.body()) ? other.inputs()[s.value->index()] : nullptr;
  return sources;
}

/// The graph as if it had been captured on these inputs. As it is, where that contradicts what it
/// takes for granted of a size that only running it tells.
static ir::Graph as_for(const ir::Graph& graph, const ir::Data& inputs) {
  ir::Graph g = graph.clone();
  const std::vector<ir::SymbolSource> sources = g.sources();
  for (size_t k = 0; k < sources.size(); ++k)
    if (sources[k].value != nullptr && sources[k].is_parameter_of(g.body()))
      g.symbols()[k].hint = ir::said(sources[k], inputs).value();
  const bool agrees =
      hold_for(g.assumptions(), [&](uint32_t k) { return Int(g.symbols()[k].hint); });
  return agrees ? std::move(g) : graph.clone();
}

constexpr size_t kMostVariants = 64;  // of one derivative; beyond, the oldest is made again

std::shared_ptr<Differentiable> Differentiable::fitting(Variants& variants, const ir::Data& inputs,
                                                        const ir::Graph& graph,
                                                        const std::vector<int>& wrt,
                                                        const Terms& terms) {
  for (const auto& d : variants)
    if (d->fits(inputs)) return d;
  if (variants.size() == kMostVariants) variants.erase(variants.begin());
  const auto& made = variants.emplace_back(
      std::make_shared<Differentiable>(as_for(graph, inputs), wrt, std::nullopt,
                                       absl::Span<ir::Value* const>(), std::vector<bool>(), terms));
  LATHE_CHECK(made->fits(inputs));
  return made;
}

Differentiable::Differentiable(const ir::Graph& graph, std::vector<int> wrt,
                               std::optional<absl::Span<const int>> active,
                               absl::Span<ir::Value* const> hidden, std::vector<bool> strided,
                               Terms terms)
    : own_{.name = graph.name(),
           .run = [this](const std::shared_ptr<TapeNode>& node, const Tensors& dys,
                         Tensors sums) { return derive(node, dys, std::move(sums)); },
           .continues = true},
      wrt_(std::move(wrt)),
      terms_(std::move(terms)) {
  vjp_ = differentiate(graph, wrt_, {.active = active, .hidden = hidden});
  sources_ = sources_in(vjp_.whole, graph);
  sources_of_whole_ = vjp_.whole.sources();
  derived_ = vjp_.results + vjp_.hidden + static_cast<size_t>(vjp_.extra);
  writes_ = vjp_.forward.writes();
  ir::Graph forward = vjp_.forward.clone();
  report_ = ir::optimise(forward, {.rules = terms_.rules});
  strided.resize(vjp_.results);
  strided.resize(forward.outputs().size(), true);  // what is read by programs alone
  forward_ = std::make_unique<Program>(std::move(forward), std::move(strided), terms_.keeps_arena);
  for (size_t i = 0; i < vjp_.reads.size(); ++i) {
    const Vjp::Read& r = vjp_.reads[i];
    if (r.axis >= 0) continue;
    if (vjp_.backward.inputs()[i]->type().tensor() == nullptr)
      numbers_.push_back(r);
    else
      (r.from == From::input ? saved_inputs_ : saved_results_).push_back(r.index);
  }
  // The derivative for other results, and those of higher order, may ask for other sizes.
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    const Vjp::Read r{From::input, i};
    const bool known = std::find(numbers_.begin(), numbers_.end(), r) != numbers_.end();
    if (graph.inputs()[i]->type().tensor() == nullptr && !known) numbers_.push_back(r);
  }
  for (const Vjp::Read& r : vjp_.reads) places_.push_back(place_of(r));
  left_out_ = std::make_unique<bool[]>(vjp_.active.size());
  for (size_t k = 0; k < vjp_.active.size(); ++k) {
    const ir::Value* v = vjp_.whole.body().yields()[k];
    const bool own = k < vjp_.results || k >= derived_ + static_cast<size_t>(vjp_.derived);
    passed_on_.push_back(own && v->node() == nullptr ? static_cast<int>(v->index()) : -1);
    left_out_[k] = !vjp_.active[k] || passed_on_[k] >= 0;
  }
}

// ── forward ─────────────────────────────────────────────────────────────────────────────────────

ir::Data Differentiable::run(const ir::Data& inputs, std::vector<Edge>* hidden) const {
  ir::Data out;
  {
    const GradMode off(false);  // what the program computes and writes is this node's
    out = forward_->run(inputs);
  }
  Tensors xs, ys = results_of(inputs, out);
  xs.reserve(inputs.size());
  for (const ir::Datum& d : inputs) xs.push_back(d.tensor());
  const auto node = record_function({shared_from_this(), &own_}, xs, ys,
                                    absl::MakeConstSpan(left_out_.get(), ys.size()),
                                    {.inputs = saved_inputs_,
                                     .results = saved_results_,
                                     .inner_first = vjp_.results + vjp_.hidden,
                                     .inner_last = derived_});
  for (const Vjp::Read& r : numbers_)
    node->attrs.push((r.from == From::input ? inputs[r.index] : out[vjp_.given_at(r.index)]).arg());
  for (size_t k = 0; k < ys.size(); ++k)  // to the tape it is the input, with the input's history
    if (passed_on_[k] >= 0 && ys[k].defined() && vjp_.active[k])
      set_history(ys[k], edge_of(xs[static_cast<size_t>(passed_on_[k])]));
  pass_on_writes(inputs, ys);
  for (size_t k = 0; k < vjp_.hidden && hidden != nullptr; ++k) {
    const bool active = vjp_.active[vjp_.results + k];
    hidden->push_back(active ? Edge{node, static_cast<uint32_t>(vjp_.results + k)} : Edge{});
  }
  out.resize(vjp_.results);
  return out;
}

/// As they are numbered in Vjp::whole; undefined where only the history has a place.
Tensors Differentiable::results_of(const ir::Data& inputs, const ir::Data& given) const {
  Tensors out;
  out.reserve(vjp_.active.size());
  for (size_t k = 0; k < given.size(); ++k) {
    if (k == vjp_.results) out.resize(k + vjp_.hidden);
    out.push_back(given[k].tensor());
  }
  out.resize(derived_ + static_cast<size_t>(vjp_.derived));
  for (const ir::Write& w : writes_) out.push_back(detach(inputs[w.input->index()].tensor()));
  return out;
}

/// The history of what was written with gradients on, as the write itself would have left it.
void Differentiable::pass_on_writes(const ir::Data& inputs, const Tensors& results) const {
  const size_t first = results.size() - writes_.size();
  for (size_t i = 0; i < writes_.size(); ++i) {
    Tensor written = inputs[writes_[i].input->index()].tensor();
    const ir::Node* by = writes_[i].value->node();
    // To a leaf nobody writes with gradients on: it stays one.
    const bool recorded = by != nullptr && !by->detached() && !is_leaf(written);
    const Tensor& value = results[first + i];
    if (recorded && (value.requires_grad() || written.requires_grad()))
      tape()->wrote(written, value);
  }
}

// ── backward ────────────────────────────────────────────────────────────────────────────────────

/// Gradients lie in row-major order, each in memory of its own. The copies that takes are steps of
/// the program, where they may be part of another, not ops that are called when it has run.
static void copy_views_among_results(ir::Graph& g) {
  const Op& clone = *math_ops<Tensor>::clone.op();
  ir::Node* end = g.body().end();
  const ir::InsertAt behind_all(g, g.body());
  for (size_t i = 0; i < end->in().size(); ++i) {
    ir::Value* v = end->in(i);
    const ir::Node* by = v->node();
    if (by == nullptr || by->op() == nullptr || by->op()->kind != Kind::view) continue;
    g.set_input(end, i, g.add(clone, {v}, {v->type()}, by->site())->out(0));
  }
}

const Program& Differentiable::Backward::plan() {
  const BuildLock hold(mutex);
  if (!program) {
    ir::Graph g = vjp.backward.clone();
    copy_views_among_results(g);
    ir::optimise(g, {.rules = terms.rules});
    program = std::make_unique<Program>(std::move(g), std::vector<bool>(), terms.keeps_arena);
  }
  return *program;
}

void Differentiable::Backward::add_programs(std::vector<const Program*>& out) const {
  const std::lock_guard hold(mutex);
  if (program) out.push_back(program.get());
  for (const auto& [wrt, variants] : again)
    for (const auto& differentiable : variants)
      for (const Program* p : differentiable->programs()) out.push_back(p);
}

/// In a trace its ops are recorded; where a second order is asked for it is a node of history too.
ir::Data Differentiable::Backward::run(const ir::Data& inputs) {
  const bool symbolic = std::any_of(inputs.begin(), inputs.end(), [](const ir::Datum& d) {
    return d.is_tensor() && d.tensor().symbolic();
  });
  if (symbolic) return ir::interpret(vjp.backward, inputs);
  const std::vector<int> wrt =
      thread_state().grad_enabled ? tracked_inputs(inputs) : std::vector<int>();
  if (wrt.empty()) {
    const GradMode off(false);
    return plan().run(inputs);
  }
  std::shared_ptr<Differentiable> program;
  {
    const BuildLock hold(mutex);
    program = fitting(again[wrt], inputs, vjp.backward, wrt, terms);
  }
  return program->run(inputs);
}

/// What the node was called with, but for the elements.
ir::Data Differentiable::like_inputs(const TapeNode& node) const {
  ir::Data out;
  for (size_t i = 0; i < node.x_types.size(); ++i) {
    const Vjp::Read number{From::input, i};
    const auto at = std::find(numbers_.begin(), numbers_.end(), number);
    if (at == numbers_.end())
      out.emplace_back(ir::stand_in(node.x_types[i]));
    else
      out.emplace_back(node.attrs[static_cast<size_t>(at - numbers_.begin())]);
  }
  return out;
}

std::shared_ptr<Differentiable::Backward> Differentiable::backward_for(const TapeNode& node,
                                                                       const Tensors& dys,
                                                                       const Tensors& sums) const {
  const bool higher = thread_state().grad_enabled;
  Arrived arrived((1 + dys.size() + wrt_.size() + 63) / 64);
  size_t bit = 0;
  auto note = [&](bool is) {
    arrived[bit / 64] |= static_cast<uint64_t>(is) << bit % 64;
    ++bit;
  };
  note(higher);
  for (const Tensor& dy : dys) note(dy.defined());
  for (int i : wrt_) note(sums[static_cast<size_t>(i)].defined());
  const BuildLock hold(mutex_);
  std::vector<std::shared_ptr<Backward>>& variants = backwards_[arrived];
  for (const auto& b : variants)
    if (b->vjp.asked.empty() || facts_hold(sources_of_whole_, b->vjp.asked, like_inputs(node)))
      return b;
  std::vector<int> active, continued;
  for (size_t k = 0; k < dys.size(); ++k)
    if (dys[k].defined()) active.push_back(static_cast<int>(k));
  for (int i : wrt_)
    if (sums[static_cast<size_t>(i)].defined()) continued.push_back(i);
  if (variants.size() == kMostVariants) variants.erase(variants.begin());
  const auto& made = variants.emplace_back(make_backward(node, active, continued, higher));
  LATHE_CHECK(facts_hold(sources_of_whole_, made->vjp.asked, like_inputs(node)));
  return made;
}

std::shared_ptr<Differentiable::Backward> Differentiable::make_backward(
    const TapeNode& node, absl::Span<const int> active, absl::Span<const int> continued,
    bool higher) const {
  auto b = std::make_shared<Backward>();
  b->terms = terms_;
  if (!higher && active == absl::MakeConstSpan(vjp_.cotangents) && continued.empty()) {
    b->vjp.backward = vjp_.backward.clone();
    b->vjp.reads = vjp_.reads;
    b->vjp.cotangents = vjp_.cotangents;
    b->vjp.gradients = vjp_.gradients;
  } else {
    const auto* reads = higher ? &vjp_.direct_reads : &vjp_.reads;
    b->vjp =
        differentiate(as_for(vjp_.whole, like_inputs(node)), wrt_,
                      {.active = active, .continued = continued, .reads = reads, .higher = higher});
  }
  for (int i : continued) b->continued.push_back(static_cast<size_t>(i));
  for (const Vjp::Read& r : b->vjp.reads) {
    b->places.push_back(place_of(r));
    b->reads_derived |= is_derived(r);
  }
  return b;
}

bool Differentiable::is_derived(const Vjp::Read& r) const {
  return r.from == From::result && r.index >= derived_ &&
         r.index < derived_ + static_cast<size_t>(vjp_.derived);
}

Differentiable::Place Differentiable::place_of(const Vjp::Read& r) const {
  using Of = Place::Of;
  if (is_derived(r)) return {Of::derived, r.index - derived_};
  if (r.axis >= 0) return {Of::size};
  auto find = [](const std::vector<size_t>& in, auto same) {
    return static_cast<size_t>(std::find_if(in.begin(), in.end(), same) - in.begin());
  };
  const bool input = r.from == From::input;
  const auto& saved = input ? saved_inputs_ : saved_results_;
  size_t at = find(saved, [&](size_t index) { return index == r.index; });
  if (at < saved.size()) return {input ? Of::input : Of::result, at};
  at = static_cast<size_t>(std::find(numbers_.begin(), numbers_.end(), r) - numbers_.begin());
  LATHE_CHECK(at < numbers_.size());
  return {Of::number, at};
}

ir::Datum Differentiable::read(const Vjp::Read& r, Place place,
                               const std::shared_ptr<TapeNode>& node, const Tensors& derived) {
  auto size_along = [&](const Shape& shape) {
    return ir::Datum(Arg(shape[static_cast<size_t>(r.axis)]));
  };
  const Saved* saved = nullptr;
  switch (place.of) {
    case Place::Of::size:
      return size_along(
          (r.from == From::input ? node->x_types[r.index] : node->y_types[r.index]).shape);
    case Place::Of::number:
      return ir::Datum(node->attrs[place.at]);
    case Place::Of::derived:
      if (r.axis >= 0) return size_along(derived[place.at].shape());
      return ir::Datum(derived[place.at]);
    case Place::Of::input:
      saved = &node->xs[place.at].second;
      break;
    case Place::Of::result:
      saved = &node->ys[place.at].second;
      break;
  }
  const bool history = thread_state().grad_enabled;
  return ir::Datum(history ? unpack(*saved, node) : unpack_value(*saved, *node));
}

/// To a derivative of higher order they are results of the node, whether or not they were kept.
Tensors Differentiable::derived_values(const std::shared_ptr<TapeNode>& node) const {
  {
    const BuildLock hold(mutex_);
    if (!again_) {
      ir::Graph g = vjp_.again.clone();
      ir::optimise(g, {.rules = terms_.rules});
      again_ = std::make_unique<Program>(std::move(g), std::vector<bool>(), terms_.keeps_arena);
    }
  }
  ir::Data out;
  {
    const GradMode off(false);
    ir::Data in;
    for (size_t i = 0; i < places_.size(); ++i)
      in.push_back(read(vjp_.reads[i], places_[i], node, {}));
    out = again_->run(in);
  }
  Tensors values;
  for (size_t i = 0; i < out.size(); ++i) {
    values.push_back(out[i].tensor());
    if (vjp_.active[derived_ + i])
      set_history(values.back(), {node, static_cast<uint32_t>(derived_ + i)});
  }
  return values;
}

Tensors Differentiable::derive(const std::shared_ptr<TapeNode>& node, const Tensors& dys,
                               Tensors sums) const {
  const AutocastScope over(DType::f32);  // the casts are in the graph
  const std::shared_ptr<Backward> kept = backward_for(*node, dys, sums);
  Backward& b = *kept;
  Tensors derived;
  if (b.reads_derived) derived = derived_values(node);
  ir::Data in;
  in.reserve(b.places.size() + b.vjp.cotangents.size() + b.continued.size());
  for (size_t i = 0; i < b.places.size(); ++i)
    in.push_back(read(b.vjp.reads[i], b.places[i], node, derived));
  for (int k : b.vjp.cotangents) in.emplace_back(dys[static_cast<size_t>(k)]);
  for (size_t slot : b.continued) in.emplace_back(std::move(sums[slot]));
  const ir::Data out = b.run(in);
  for (size_t i = 0; i < wrt_.size(); ++i)
    if (b.vjp.gradients[i] >= 0)
      sums[static_cast<size_t>(wrt_[i])] = out[static_cast<size_t>(b.vjp.gradients[i])].tensor();
  return sums;
}

std::vector<const Program*> Differentiable::programs() const {
  std::vector<const Program*> out{forward_.get()};
  const std::lock_guard hold(mutex_);
  for (const auto& [arrived, variants] : backwards_)
    for (const auto& b : variants) b->add_programs(out);
  return out;
}

std::string Differentiable::explain(ir::Detail detail) const {
  const auto kept = std::count_if(vjp_.reads.begin(), vjp_.reads.end(), [](const Vjp::Read& r) {
    return r.from == From::result && r.axis < 0;
  });
  std::string out =
      absl::StrCat(report_.print(detail), "one node of the tape; the derivative reads ", kept,
                   " of its results\n", forward_->explain(detail));
  const std::vector<const Program*> all = programs();
  for (size_t i = 1; i < all.size(); ++i)
    absl::StrAppend(&out, all[i]->graph().name(), "\n", all[i]->explain(detail));
  return out;
}

}  // namespace lathe::jit
