#include "autodiff/cut.h"

#include <absl/algorithm/container.h>
#include <absl/strings/str_cat.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/dispatch/fn.h"
#include "include/lathe/ops/index.h"
#include "include/lathe/ops/shape.h"

namespace lathe {

using namespace ir;  // NOLINT: everything here is about graphs

bool is_step(const Node* n) {
  return is_kind(n, Kind::elementwise) ||
         (n != nullptr && n->op() == shape_ops<Tensor>::rolled.op());
}

namespace {

bool is_constant(const Value* v) {
  return v->node() != nullptr && v->node()->is(Structure::constant);
}

bool is_view(const Value* v) { return is_kind(v->node(), Kind::view); }

/// The symbols that the value's type has standing alone: it says what they are.
void note_said(const Value* v, absl::flat_hash_set<uint32_t>& symbols) {
  const auto note = [&](Int e) {
    if (!e.known() && e.expr()->kind == SymKind::symbol) symbols.insert(e.expr()->symbol);
  };
  if (const TensorType* t = v->type().tensor())
    for (Int size : t->shape) note(size);
  else if (const Scalar* s = v->type().scalar(); s != nullptr && s->value)
    note(*s->value);
}

absl::flat_hash_set<uint32_t> said_by_inputs(const Joint& joint) {
  absl::flat_hash_set<uint32_t> out;
  for (size_t i = 0; i < joint.inputs; ++i) note_said(joint.graph.inputs()[i], out);
  return out;
}

/// A size that data decides has no value at the first call, only one that is presumed of it. Where
/// the graph states what the size is, or what it is within, the presumed one is made to agree: in
/// a piece that is given the size such a statement is about arguments, and asked of those.
void presume_what_is_stated(Joint& j) {
  std::vector<SymbolInfo>& symbols = j.graph.symbols();
  const absl::flat_hash_set<uint32_t> given = said_by_inputs(j);
  const auto by_data = [&](uint32_t k) { return !given.contains(k); };
  std::vector<SymFact> stated;
  for (const auto* facts : {&j.graph.checks(), &j.graph.assumptions()})
    for (const SymFact& f : *facts)
      if (absl::c_any_of(symbols_of(f.a), by_data) || absl::c_any_of(symbols_of(f.b), by_data))
        stated.push_back(f.holds ? f : opposite(f));
  const auto value = [&](Int e) {
    return substitute(e, [&](uint32_t k) { return Int(symbols[k].hint); }).value();
  };
  const auto settle = [&](Int size, Int other, int64_t agreeing) {
    if (size.known() || size.expr()->kind != SymKind::symbol) return false;
    const uint32_t k = size.expr()->symbol;
    if (!by_data(k) || absl::c_linear_search(symbols_of(other), k)) return false;
    if (symbols[k].is_size && agreeing < 0) return false;
    symbols[k].hint = agreeing;
    return true;
  };
  const auto agrees = [&](const SymFact& f) {
    return decide(f.relation, Int(value(f.a)), Int(value(f.b)));
  };
  // What stands in a formula is looked for, the ordinary sizes first.
  const auto search = [&](const SymFact& f, uint32_t k) {
    constexpr int64_t kMost = 64;
    const int64_t before = symbols[k].hint;
    for (int64_t h = 2; h <= kMost + 2; ++h) {
      symbols[k].hint = h <= kMost ? h : h - kMost - 1;
      if (agrees(f)) return true;
    }
    symbols[k].hint = before;
    return false;
  };
  // All sizes of a sum may have to be small at once.
  const auto search_together = [&](const SymFact& f) {
    const std::vector<SymbolInfo> before = symbols;
    for (int64_t h : {2, 1, 0}) {
      for (Int e : {f.a, f.b})
        for (uint32_t k : symbols_of(e))
          if (by_data(k)) symbols[k].hint = h;
      if (agrees(f)) return true;
    }
    symbols = before;
    return false;
  };
  const auto settled = [&](const SymFact& f) {
    const int64_t apart = f.relation == Relation::lt ? 1 : 0;
    if (settle(f.a, f.b, value(f.b) - apart) || settle(f.b, f.a, value(f.a) + apart)) return true;
    const auto found = [&](uint32_t k) { return by_data(k) && search(f, k); };
    return absl::c_any_of(symbols_of(f.a), found) || absl::c_any_of(symbols_of(f.b), found) ||
           search_together(f);
  };
  // Each pass may undo what another size was settled by, but not for ever.
  bool changed = true;
  for (size_t pass = 0; changed && pass <= stated.size(); ++pass) {
    changed = false;
    for (const SymFact& f : stated) changed |= !agrees(f) && settled(f);
  }
}

}  // namespace

Cut::Cut(Joint& joint, const std::vector<Vjp::Read>* reads) : j_(joint), fixed_(reads) {
  if (fixed_ == nullptr) ask_in_forward();
  for (Node* n : j_.graph.body().nodes())
    if (!j_.forward.contains(n)) added_.push_back(n);
  for (const Write& w : j_.graph.writes()) written_.insert(w.input);
  auto offer = [&](const Value* v, Vjp::Read read) {
    if (may_read(read)) stands_.try_emplace(v, read);
  };
  for (size_t i = 0; i < j_.inputs; ++i)
    if (!written_.contains(j_.graph.inputs()[i]))
      offer(j_.graph.inputs()[i], {Vjp::Read::From::input, i});
  for (size_t k = 0; k < shown(); ++k) offer(j_.graph.outputs()[k], {Vjp::Read::From::result, k});
}

/// What the derivative presumes of sizes that data decides is asked by the forward pass, whose
/// caller can still run the program as it is; so far as the forward pass knows these sizes.
void Cut::ask_in_forward() {
  std::vector<const Node*> asking;
  for (const Node* n : j_.graph.body().nodes())
    if (n->op() == index_ops<Tensor>::check_size.op() && !j_.forward.contains(n))
      asking.push_back(n);
  if (asking.empty()) return;
  absl::flat_hash_set<uint32_t> known = said_by_inputs(j_);
  for (const Node* n : j_.forward)
    for (const Value* v : n->out()) note_said(v, known);
  for (const Node* n : asking) {
    const auto are_known = [&](size_t arg) {
      return absl::c_all_of(symbols_of(n->attrs()[arg].integer()),
                            [&](uint32_t k) { return known.contains(k); });
    };
    if (are_known(0) && are_known(2)) j_.forward.insert(n);
  }
}

void Cut::run(Vjp& out) {
  presume_what_is_stated(j_);
  find_needed();
  direct_ = needed_;
  choose_kept();
  for (Value* v : direct_)
    if (!is_kept_.contains(v)) derived_.push_back(v);
  find_sizes();
  const size_t extra = j_.graph.outputs().size();
  const size_t derived = extra + extra_.size() + extra_sizes_.size();
  auto place = [](const Values& in, const Value* v) {
    return static_cast<size_t>(std::find(in.begin(), in.end(), v) - in.begin());
  };
  auto read_of = [&](const Value* v) {
    if (auto at = at_hand(v)) return *at;
    const bool kept = is_kept_.contains(v);
    return Vjp::Read{Vjp::Read::From::result,
                     kept ? extra + place(extra_, v) : derived + place(derived_, v)};
  };
  for (const Value* v : kept_) out.reads.push_back(read_of(v));
  for (const auto& [k, read] : sizes_) out.reads.push_back(read);
  build_backward(out.backward);
  if (fixed_ != nullptr) return;
  for (const Value* v : direct_) out.direct_reads.push_back(read_of(v));
  for (const auto& [k, read] : sizes_) out.direct_reads.push_back(read);
  out.results = shown();
  out.hidden = j_.hidden;
  out.extra = static_cast<int>(derived - extra);
  out.derived = static_cast<int>(derived_.size());
  const Values whole = results_with(true, derived_);
  for (const Value* v : whole) out.active.push_back(v != nullptr && j_.active.contains(v));
  for (const Write& w : j_.graph.writes()) out.active.push_back(j_.active.contains(w.value));
  build_forward(out.forward, "_forward", results_with(false, {}));
  build_forward(out.whole, "", whole);
  build_again(out.again);
}

/// The program's, extra ones (null: a size) and these.
Values Cut::results_with(bool hidden, const Values& derived) const {
  const auto own = j_.graph.outputs().subspan(0, hidden ? j_.graph.outputs().size() : shown());
  Values out(own.begin(), own.end());
  out.insert(out.end(), extra_.begin(), extra_.end());
  out.resize(out.size() + extra_sizes_.size());
  out.insert(out.end(), derived.begin(), derived.end());
  return out;
}

bool Cut::may_read(const Vjp::Read& read) const {
  return fixed_ == nullptr || std::find(fixed_->begin(), fixed_->end(), read) != fixed_->end();
}

bool Cut::is_forward(const Value* v) const {
  if (v->node() != nullptr) return j_.forward.contains(v->node());
  return v->block() == &j_.graph.body() && v->index() < j_.inputs;
}

// ── what is kept ────────────────────────────────────────────────────────────────────────────────

void Cut::need(Value* v) {
  if (!is_forward(v) || !seen_.insert(v).second) return;
  (is_constant(v) ? constants_ : needed_).push_back(v);
}

void Cut::need_operands(const Node& n) {
  for (Value* v : n.in()) need(v);
  for (Block* b : n.blocks())
    for (Value* v : free_values(*b)) need(v);
}

void Cut::find_needed() {
  for (Node* n : added_) need_operands(*n);
  for (Value* v : j_.gradients)
    if (v != nullptr) need(v);
}

std::optional<Vjp::Read> Cut::at_hand(const Value* v) const {
  auto at = stands_.find(v);
  if (at == stands_.end()) return std::nullopt;
  return at->second;
}

/// Does the forward pass put the value into memory anyway, because something other than a kernel
/// of such steps reads it?
bool Cut::lies_in_memory(const Value* v) const {
  return std::any_of(v->uses().begin(), v->uses().end(), [&](const Use& u) {
    if (u.node->parent() != &j_.graph.body()) return true;
    if (!j_.forward.contains(u.node) || is_step(u.node)) return false;
    return !is_kind(u.node, Kind::view) || lies_in_memory(u.node->out(0));
  });
}

void Cut::keep(Value* v) {
  if (!is_kept_.insert(v).second) return;
  kept_.push_back(v);
  if (!at_hand(v)) extra_.push_back(v);
}

void Cut::refuse_unkept(const Value& v) const {
  throw AutogradError({.op = j_.graph.name(),
                       .problem = "a derivative of this order reads what the forward pass of the "
                                  "program did not keep",
                       .got = ir::to_string(v.type()),
                       .next = "take the gradient inside of the traced function",
                       .site = v.node() != nullptr ? v.node()->site() : Site{}});
}

void Cut::compute_again(Value* v) {
  if (v->node() == nullptr || effects(*v->node(), j_.graph) == Effects::ordered) refuse_unkept(*v);
  again_.insert(v->node());
  need_operands(*v->node());
}

/// `needed_` grows while values that are computed again ask for their operands.
void Cut::choose_kept() {
  absl::flat_hash_set<const Value*> open;  // steps, and not yet decided
  for (size_t i = 0; i < needed_.size(); ++i) {
    Value* v = needed_[i];
    if (at_hand(v))
      keep(v);
    else if (fixed_ != nullptr || is_view(v))
      compute_again(v);
    else if (!is_step(v->node()) || lies_in_memory(v))
      keep(v);
    else
      open.insert(v);
  }
  if (open.empty()) return;
  // In the program's order, so that a value finds its operands decided.
  absl::flat_hash_set<const Value*> from_kept;
  for (const Node* n : j_.graph.body().nodes())
    for (Value* v : n->out()) {
      const bool steps = (is_step(v->node()) || is_view(v)) &&
                         std::all_of(n->in().begin(), n->in().end(), [&](const Value* x) {
                           return is_constant(x) || at_hand(x) || from_kept.contains(x);
                         });
      if (open.contains(v) && !steps) keep(v);
      if (steps || is_kept_.contains(v)) from_kept.insert(v);
    }
  for (size_t i = 0; i < needed_.size(); ++i) {
    Value* v = needed_[i];
    if (is_kept_.contains(v) || again_.contains(v->node())) continue;
    if (at_hand(v))
      keep(v);
    else
      compute_again(v);
  }
}

// ── sizes that the backward mentions, and that neither its inputs nor its own nodes say ─────────

void Cut::find_sizes() {
  // What is computed again is also a graph of its own, which has no cotangents to read sizes off.
  absl::flat_hash_set<uint32_t> again, beyond, *mentioned = &again;
  auto mention = [&](Int e) {
    for (uint32_t k : symbols_of(e)) mentioned->insert(k);
  };
  std::function<void(const Node&)> walk = [&](const Node& n) {
    for (const Arg& a : n.attrs().view()) {
      if (a.tag == Tag::integer) mention(a.integer());
      if (a.tag != Tag::list) continue;
      for (size_t i = 0; i < a.list_->size; ++i)
        if (a.list_->data[i].tag == Tag::integer) mention(a.list_->data[i].integer());
    }
    for (Value* v : n.out()) for_each_int(v->type(), mention);
    for (Block* b : n.blocks()) {
      for (Value* p : b->parameters()) for_each_int(p->type(), mention);
      for (Node* inner = b->first(); inner != nullptr; inner = inner->next()) walk(*inner);
    }
  };
  for (const Node* n : again_) walk(*n);
  for (const Value* v : constants_) walk(*v->node());
  for (const Value* v : kept_) for_each_int(v->type(), mention);
  mentioned = &beyond;
  for (const Node* n : added_) walk(*n);
  for (const Value* v : added_values()) for_each_int(v->type(), mention);
  auto drop = [&](Int e) {
    if (!e.known() && e.expr()->kind == SymKind::symbol) mentioned->erase(e.expr()->symbol);
  };
  if (fixed_ != nullptr) beyond.merge(again);  // there is no such graph
  for (const Value* v : added_values()) for_each_int(v->type(), drop);
  beyond.merge(again);
  for (const Value* v : kept_) for_each_int(v->type(), drop);
  auto sources = j_.graph.sources();
  for (uint32_t k = 0; k < sources.size(); ++k) {
    const Value* v = sources[k].value;
    if (!beyond.contains(k) || v == nullptr) continue;
    const bool own = v->node() != nullptr && again_.contains(v->node());
    if (v->block() == &j_.graph.body() && is_forward(v) && !own) place_size(k, sources[k]);
  }
}

void Cut::place_size(uint32_t k, const SymbolSource& source) {
  if (source.value->node() == nullptr) {
    sizes_.push_back({k, {Vjp::Read::From::input, source.value->index(), source.axis}});
    return;
  }
  const auto& results = j_.graph.outputs();
  for (size_t i = 0; i < shown(); ++i) {
    const Type& type = results[i]->type();
    if (const Scalar* s = type.scalar();
        s != nullptr && s->value && identical(*s->value, symbol(k))) {
      sizes_.push_back({k, {Vjp::Read::From::result, i}});
      return;
    }
    const TensorType* t = may_read({Vjp::Read::From::result, i}) ? type.tensor() : nullptr;
    for (size_t axis = 0; t != nullptr && axis < t->shape.size(); ++axis)
      if (identical(t->shape[axis], symbol(k))) {
        sizes_.push_back({k, {Vjp::Read::From::result, i, static_cast<int>(axis)}});
        return;
      }
  }
  if (fixed_ != nullptr) refuse_unkept(*source.value);
  sizes_.push_back(
      {k, {Vjp::Read::From::result, results.size() + extra_.size() + extra_sizes_.size()}});
  extra_sizes_.push_back(k);
}

// ── the graphs ──────────────────────────────────────────────────────────────────────────────────

Values Cut::added_values() const {
  const Values& all = j_.graph.inputs();
  return {all.begin() + static_cast<ptrdiff_t>(j_.inputs), all.end()};
}

void Cut::share(Graph& g) const {
  g.symbols() = j_.graph.symbols();
  g.assumptions() = j_.graph.assumptions();
  g.checks() = j_.graph.checks();
  for (const Tensor& t : j_.graph.constants()) g.add_large_constant(t);
  g.drop_unused_constants();
  compact_symbols(g);
}

void Cut::build_forward(Graph& f, std::string_view name, const Values& results) const {
  f = Graph(absl::StrCat(j_.graph.name(), name));
  Graph::ValueMap known;
  for (size_t i = 0; i < j_.inputs; ++i) {
    Value* in = j_.graph.inputs()[i];
    known[in] = f.add_input(in->type(), in->name());
  }
  for (Node* n : j_.graph.body().nodes())
    if (j_.forward.contains(n)) f.copy_node(*n, known);
  Values outputs;
  size_t sizes = 0;
  for (Value* v : results)
    outputs.push_back(v != nullptr ? known.at(v)
                                   : f.add_constant(Arg(symbol(extra_sizes_[sizes++]))));
  std::vector<Write> writes;
  for (const Write& w : j_.graph.writes()) writes.push_back({known.at(w.input), known.at(w.value)});
  f.set_results(std::move(outputs), writes, j_.graph.body().end()->site());
  share(f);
}

/// A graph whose first inputs are the reads.
Graph::ValueMap Cut::begin_backward(Graph& b, std::string_view name) const {
  b = Graph(absl::StrCat(j_.graph.name(), name));
  Graph::ValueMap known;
  for (Value* v : kept_) known[v] = b.add_input(v->type(), v->name());
  for (const auto& [k, read] : sizes_) b.add_input(integer_type(symbol(k)));
  return known;
}

void Cut::copy_again(Graph& b, Graph::ValueMap& known) const {
  for (Value* v : constants_) b.copy_node(*v->node(), known);
  for (Node* n : j_.graph.body().nodes())
    if (again_.contains(n)) b.copy_node(*n, known);
}

void Cut::build_again(Graph& a) const {
  Graph::ValueMap known = begin_backward(a, "_again");
  copy_again(a, known);
  Values outputs;
  for (Value* v : derived_) outputs.push_back(known.at(v));
  a.set_results(std::move(outputs));
  share(a);
}

void Cut::build_backward(Graph& b) const {
  Graph::ValueMap known = begin_backward(b, "_backward");
  for (Value* v : added_values()) known[v] = b.add_input(v->type(), v->name());
  copy_again(b, known);
  for (Node* n : added_) b.copy_node(*n, known);
  Values outputs;
  for (Value* v : j_.gradients)
    if (v != nullptr) outputs.push_back(known.at(v));
  b.set_results(std::move(outputs));
  share(b);
}

}  // namespace lathe
