// Derivatives of if, for and while: the only cases that are not an op's own rule.
#include <absl/strings/str_cat.h>

#include "autodiff/backprop.h"
#include "core/base/error.h"
#include "core/dispatch/fn.h"
#include "include/lathe/ops/create.h"
#include "include/lathe/ops/index.h"
#include "include/lathe/ops/math.h"

namespace lathe {

using namespace ir;  // NOLINT: everything here is about graphs

namespace {

using C = create_ops<Tensor>;
using M = math_ops<Tensor>;

Int named_part(const Node& n, int i) {
  if (const std::optional<Int> part = range_part(n, i)) return *part;
  throw AutogradError(
      {.problem = "the derivative of a loop over a number that no symbol names", .site = n.site()});
}

/// What arrives at a branch's result, which it gave as one of other sizes; where the branch runs
/// they are these. No rule is asked whether they are: in the other branch they need not be.
Tensor with_sizes(Tensor t, const Shape& shape) {
  for (int axis = 0; axis < t.rank(); ++axis) {
    const Int size = shape[static_cast<size_t>(axis)];
    if (identical(t.size(axis), size)) continue;
    const Tensor all = C::arange(0, size, 1, DType::i64, t.device());
    t = index_ops<Tensor>::index_select(t, axis, all);
  }
  return t;
}

}  // namespace

std::optional<Int> range_part(const Node& n, int i) {
  const Value* v = n.value(i);
  return v == nullptr ? n.literal(i).integer() : v->type().scalar()->value;
}

Tensor empty_sum(const TensorType& t) { return C::full(Ints(t.shape), -0.0, t.dtype, t.device); }

Tensor if_zero(Int number, const Tensor& yes, const Tensor& no) {
  if (number.known()) return number == Int(0) ? yes : no;
  const Tensor n = C::full(Ints(Shape{}), Arg(number), DType::i64, yes.device());
  return M::where(M::eq(n, 0), yes, no);
}

// ── blocks run again ────────────────────────────────────────────────────────────────────────────

namespace {

/// Does it call the front end for nothing that it gives, as a print? What runs again leaves it out:
/// the forward pass has done it.
bool only_calls(const Node& n) {
  return n.is(Structure::op) && n.op()->extra.host == HostCall::ordered && n.out().empty();
}

}  // namespace

bool Backprop::is_ordered(const Node& n) const {
  return n.blocks().empty() && !only_calls(n) && effects(n, g_) == Effects::ordered;
}

void Backprop::refuse_ordered(const Node& n) const {
  bool ordered = false;
  for (const Block* b : n.blocks())
    for_each_node(*b, [&](const Node* inner) { ordered |= is_ordered(*inner); });
  if (!ordered) return;
  throw AutogradError({.op = std::string(name(n.structure())),
                       .problem = "the derivative runs this part again, and it draws random "
                                  "numbers or gets results from Python in order",
                       .next = "take that out of the loop or the branch, and use its results in it",
                       .site = n.site()});
}

void Backprop::drop_calls(const Node* before) {
  std::vector<Node*> gone;
  auto look = [&](Node* n) {
    if (only_calls(*n)) gone.push_back(n);
  };
  Node* n = before != nullptr ? before->next() : g_.insertion_block().first();
  for (; n != nullptr; n = n->next()) {
    look(n);
    for (const Block* b : n->blocks()) for_each_node(*b, look);
  }
  for (Node* call : gone) g_.erase(call);
}

void Backprop::reach_back(const Block& b, absl::flat_hash_set<const Value*>& needed) const {
  for (Node* n = b.last(); n != nullptr; n = n->previous()) {
    bool any = false;
    for (Value* v : n->out()) any |= needed.contains(v);
    if (!any) continue;
    for (Value* v : n->in())
      if (active(v)) needed.insert(v);
    for (Block* inner : n->blocks())
      for (Value* v : free_values(*inner))
        if (active(v)) needed.insert(v);
  }
}

/// Values from outside the node's blocks that a gradient flows to.
Values Backprop::reached_free(const Node& n, absl::Span<const Block* const> blocks,
                              bool loop) const {
  Values out;
  absl::flat_hash_set<const Value*> needed, seen;
  for (const Block* b : blocks) {
    for (size_t i = 0; i < b->yields().size(); ++i)
      if (loop ? active(b->yields()[i]) : sum(n.out(i)).defined()) needed.insert(b->yields()[i]);
    reach_back(*b, needed);
    for (Value* v : free_values(*b)) {
      bool inside = v->block()->owner() == &n;  // a while's parameters, seen from its body
      if (!inside && active(v) && needed.contains(v) && seen.insert(v).second) out.push_back(v);
    }
  }
  return out;
}

/// A copy of the block's nodes, and of what is known about its sizes and numbers: about symbols of
/// the copy and those from `own` on, as what holds in a round need not hold outside of it.
Values Backprop::copy(const Block& b, Graph::ValueMap& known, SymbolMap& symbols,
                      std::optional<uint32_t> own) {
  SymScope& scope = tracer_.scope();
  const uint32_t first = own.value_or(scope.symbol_count());
  const Node* before = g_.insertion_block().last();
  Values yields = copy_fresh(g_, g_, b, known, symbols, scope);
  drop_calls(before);
  auto image = [&](Int e) {
    return e.known() ? e : substitute(e, [&](uint32_t k) {
      auto it = symbols.find(k);
      return it == symbols.end() ? symbol(k) : it->second;
    });
  };
  auto is_copied = [&](Int e) {
    const auto all = symbols_of(e);
    return std::any_of(all.begin(), all.end(), [&](uint32_t k) { return symbols.contains(k); });
  };
  auto say = [&](Relation relation, Int x, Int y) {
    for (Int e : {x, y})
      for (uint32_t k : symbols_of(e))
        if (k >= first) return scope.assume(relation, x, y);
  };
  for (const auto& [k, now] : symbols)
    if (scope.bounds(symbol(k)).first >= 0) say(Relation::le, 0, now);
  const std::vector<SymFact> facts = scope.checks();
  for (const SymFact& f : facts)
    if (is_copied(f.a) || is_copied(f.b)) say(f.relation, image(f.a), image(f.b));
  return yields;
}

Backprop::Again Backprop::run_again(const Block& b, Graph::ValueMap& known, SymbolMap& symbols,
                                    std::optional<uint32_t> own) {
  Again r;
  r.before = g_.insertion_block().last();
  r.yields = copy(b, known, symbols, own);
  r.last = g_.insertion_block().last();
  spread_after(r.before);
  return r;
}

// ── if ──────────────────────────────────────────────────────────────────────────────────────────

/// The sums at these values once `run` has added to them, and the flags of some; all are as before
/// then.
Data Backprop::sums_after(const Values& reached, const Values& flagged,
                          absl::FunctionRef<void()> run) {
  auto outside = sums_;
  auto flags = flags_;
  run();
  Data out;
  for (Value* v : reached)
    out.emplace_back(sum(v).defined() ? with_sizes(sum(v), v->tensor().shape)
                                      : empty_sum(v->tensor()));
  for (Value* v : flagged) out.emplace_back(flag_of(v));
  sums_ = std::move(outside);
  flags_ = std::move(flags);
  return out;
}

/// Puts down what sums_after() gave.
void Backprop::take_sums(const Values& reached, const Values& flagged, const Data& from) {
  for (size_t i = 0; i < reached.size(); ++i) {
    sums_[reached[i]] = from[i].tensor();
    flags_.erase(reached[i]);
  }
  for (size_t i = 0; i < flagged.size(); ++i)
    flags_[flagged[i]] = from[reached.size() + i].tensor();
}

void Backprop::visit_if(Node& n) {
  refuse_ordered(n);
  if (n.in(0)->type().tensor() == nullptr)
    throw AutogradError({.problem = "the derivative of an if on a number", .site = n.site()});
  const Block* blocks[] = {&n.block(0), &n.block(1)};
  const auto [free, flagged] = arrivals(n, reached_free(n, blocks, false));
  auto branch = [&](size_t which) {
    return sums_after(free, flagged, [&] {
      Graph::ValueMap known;
      SymbolMap symbols;
      Again a = run_again(n.block(which), known, symbols);
      for (size_t i = 0; i < n.out().size(); ++i)
        if (active(n.out(i)) && sum(n.out(i)).defined() && active(a.yields[i]))
          arrive(a.yields[i], with_sizes(sum(n.out(i)), a.yields[i]->tensor().shape),
                 flag_at(n.out(i)));
      walk(a.last, a.before);
    });
  };
  take_sums(free, flagged,
            tracer_.record_if(
                Datum(tracer_.tensor_for(n.in(0))), [&] { return branch(0); },
                [&] { return branch(1); }));
}

// ── loops ───────────────────────────────────────────────────────────────────────────────────────

void Backprop::count_rounds(const Block& block) {
  for (Node* n : block.nodes()) count_rounds(*n);
}

void Backprop::count_rounds(Node& n) {
  for (Block* b : n.blocks()) count_rounds(*b);
  if (!n.is(Structure::while_)) return;
  bool any = false;
  for (Value* v : n.out()) any |= active(v);
  if (any && !is_counted(n)) count(n);
}

/// Has an earlier differentiate() made the last thing that it carries the number of rounds so far?
bool Backprop::is_counted(const Node& n) const {
  const Scalar* i = n.block(0).parameters().back()->type().scalar();
  const Scalar* next = n.block(1).yields().back()->type().scalar();
  const Scalar* start = n.in().back()->type().scalar();
  return i != nullptr && i->value && next != nullptr && next->value && start != nullptr &&
         start->value && identical(*start->value, Int(0)) && identical(*next->value, *i->value + 1);
}

void Backprop::count(Node& n) {
  SymScope& scope = tracer_.scope();
  Value* zero;
  {
    InsertAt before(g_, &n);
    zero = g_.add_constant(Arg(0), n.site());
  }
  g_.append_input(&n, zero);
  Int i = scope.fresh_inside(0), total = scope.fresh_inside(1);
  g_.add_parameter(n.block(0), integer_type(i));
  Values yields = n.block(1).yields();
  {
    InsertAt inside(g_, n.block(1));
    yields.push_back(g_.add_constant(Arg(i + 1), n.site()));
  }
  g_.set_yields(n.block(1), std::move(yields), n.block(1).end()->site());
  g_.add_result(&n, integer_type(total));
}

namespace {

Int rounds_of(Int start, Int stop, Int step) {
  return step > Int(0) ? ceil_div(stop - start, step) : ceil_div(start - stop, -step);
}

}  // namespace

void Backprop::ask_rounds(const Node& n, uint32_t first_symbol) {
  const auto start = range_part(n, 0), stop = range_part(n, 1), step = range_part(n, 2);
  if (!start || !stop || !step || !step->known()) return;
  const Int rounds = rounds_of(*start, *stop, *step);
  for (uint32_t k : symbols_of(rounds))
    if (k >= first_symbol) return;
  // Of one round, or of none, there is another program.
  if (rounds > Int(0)) static_cast<void>(rounds > Int(1));
}

/// Of a loop and those in it whose rounds are known before it.
void Backprop::ask_rounds(const Node& n) {
  if (!n.is(Structure::for_)) return;
  const std::optional<Int> variable = n.block(0).parameters()[0]->type().scalar()->value;
  if (!variable) return;
  const uint32_t first_symbol = variable->expr()->symbol;
  ask_rounds(n, first_symbol);
  for_each_node(n.block(0), [&](const Node* inner) {
    if (inner->is(Structure::for_)) ask_rounds(*inner, first_symbol);
  });
}

void Backprop::walk_piece(absl::Span<Node* const> nodes) {
  for (Node* n : nodes) {
    ask_rounds(*n);
    spread(*n);
    count_rounds(*n);
  }
  for (size_t i = nodes.size(); i-- > 0;) {
    own_ = nodes[i];
    visit(*nodes[i]);
  }
}

void Backprop::visit_for(Node& n) {
  const Int start = named_part(n, 0), stop = named_part(n, 1), step = named_part(n, 2);
  const Int rounds = rounds_of(start, stop, step);
  const Values& p = n.block(0).parameters();
  Values starts(n.in().begin() + static_cast<std::ptrdiff_t>(n.carried_from()), n.in().end());
  visit_loop({n, n.block(0), Values(p.begin() + 1, p.end()), starts, lathe::max(rounds, Int(0)),
              rounds, start, step});
}

void Backprop::visit_while(Node& n) {
  // The last carried value is the count (count_rounds): not a part of what the user wrote.
  Values parameters = n.block(0).parameters(), starts = n.in();
  parameters.pop_back();
  starts.pop_back();
  Int rounds = *n.out().back()->type().scalar()->value;
  visit_loop({n, n.block(1), parameters, starts, rounds, rounds, std::nullopt, std::nullopt});
}

void Backprop::visit_loop(Loop loop) {
  loop.keeps = keeps_rounds(loop);
  if (!keeps_draws(loop)) refuse_ordered(loop.node);
  for (size_t i = 0; i < loop.parameters.size(); ++i) check_carried(loop, i);
  if (tracer_.scope().prove(Relation::le, loop.rounds, 0) == SymScope::Truth::yes) {
    for (size_t i = 0; i < loop.parameters.size(); ++i)
      if (active(loop.starts[i]) && sum(loop.node.out(i)).defined())
        arrive(loop.starts[i], sum(loop.node.out(i)), flag_at(loop.node.out(i)));
    return;
  }
  const Block* body[] = {&loop.body};
  const LoopArrivals way = arrivals(loop);
  loop.arrival = way.carried;
  Values free = reached_free(loop.node, body, true);
  std::erase_if(free, [&](const Value* v) { return way.at_free(v) == Arrival::never; });
  const bool apart = starts_meet(loop, free);
  if (apart) refuse_ordered(loop.node);
  loop.arrived = arrived(loop, apart);
  loop.runs = tracer_.scope().prove(Relation::lt, 0, loop.rounds) == SymScope::Truth::yes;
  loop.whole = !apart && loop.runs;
  const auto one_more = tracer_.scope().prove(Relation::lt, 1, loop.rounds);
  if (apart && one_more == SymScope::Truth::no) return first_round(loop, free, at_results(loop));
  choose_flags(loop, free, way, apart && one_more != SymScope::Truth::yes);

  auto rows = std::exchange(rows_, {});
  const Data end = backward_rounds(loop, free, apart ? 0 : -1, begin_rounds(loop, free));
  const std::vector<Carried> carried = end_rounds(loop, free, end, way);
  rows_ = std::move(rows);
  if (apart) return first_round(loop, free, carried);
  for (size_t i = 0; i < loop.parameters.size(); ++i) {
    const auto& [sum, flag] = carried[i];
    Value* start = loop.starts[i];
    if (!sum.defined() || !active(start)) continue;
    const Tensor& before = loop.arrived[i];
    if (before.defined()) {  // it is in what the first round gave, if there was one
      join_flag(start, arrival(start), flag);
      sums_[start] = if_zero(loop.rounds, M::add(before, sum), sum);
    } else {
      arrive(start, sum, flag);
    }
  }
}

/// Is a start two of the carried values, or read by the body besides? To the tape the first
/// round's value is the start itself, and what arrives at it by either way is one sum.
bool Backprop::starts_meet(const Loop& loop, const Values& free) const {
  return std::any_of(loop.starts.begin(), loop.starts.end(), [&](const Value* v) {
    return active(v) && (std::count(loop.starts.begin(), loop.starts.end(), v) > 1 ||
                         std::count(free.begin(), free.end(), v) > 0);
  });
}

/// By carried value: what has arrived at its start, which the first round goes on with.
std::vector<Tensor> Backprop::arrived(const Loop& loop, bool apart) const {
  std::vector<Tensor> out;
  for (size_t i = 0; i < loop.starts.size(); ++i)
    out.push_back(active(loop.starts[i]) && loop.reaches(i) && !apart ? sum(loop.starts[i])
                                                                      : Tensor());
  return out;
}

/// What has arrived at its results.
std::vector<Backprop::Carried> Backprop::at_results(const Loop& loop) const {
  std::vector<Carried> out;
  for (size_t i = 0; i < loop.parameters.size(); ++i)
    out.push_back({sum(loop.node.out(i)), flag_at(loop.node.out(i))});
  return out;
}

/// The first round, behind the loop over the others: its copy reads the starts themselves.
void Backprop::first_round(const Loop& loop, const Values& free,
                           const std::vector<Carried>& carried) {
  Values reached = free, flagged;
  for (Value* v : loop.starts)
    if (active(v) && std::count(reached.begin(), reached.end(), v) == 0) reached.push_back(v);
  for (Value* v : reached)
    if (arrival(v) != Arrival::always) flagged.push_back(v);
  auto arrive_at = [&](const Values& to) {
    for (size_t i = 0; i < to.size() && i < carried.size(); ++i)
      if (carried[i].sum.defined() && active(to[i])) arrive(to[i], carried[i].sum, carried[i].flag);
  };
  auto round = [&] {
    Graph::ValueMap known;
    SymbolMap symbols;
    know_variable(loop, variable_at(loop, 0), symbols, known);
    for (size_t i = 0; i < loop.parameters.size(); ++i) known[loop.parameters[i]] = loop.starts[i];
    know_rows(loop, known);
    Again a = run_again(loop.body, known, symbols);
    arrive_at(a.yields);
    walk(a.last, a.before);
  };
  if (loop.runs) return round();
  auto some = [&] { return sums_after(reached, flagged, round); };
  auto none = [&] { return sums_after(reached, flagged, [&] { arrive_at(loop.starts); }); };
  take_sums(reached, flagged,
            tracer_.record_if(Datum(M::gt(C::full(Ints(Shape{}), Arg(loop.rounds), DType::i64), 0)),
                              some, none));
}

void Backprop::check_carried(const Loop& loop, size_t i) const {
  const Value* p = loop.parameters[i];
  const TensorType* t = p->type().tensor();
  bool grows = false;  // which symbols stand for equal sizes does not matter
  for (size_t k = 0; t != nullptr && k < t->shape.size(); ++k)
    grows |= tracer_.scope().prove(Relation::eq, t->shape[k], loop.starts[i]->tensor().shape[k]) !=
             SymScope::Truth::yes;
  if (t != nullptr && !grows) return;
  throw AutogradError({.op = std::string(name(loop.node.structure())),
                       .problem = grows ? "the derivative of a loop whose tensors change their size"
                                        : "the derivative of a loop that carries a number",
                       .got = to_string(p->type()),
                       .next = "carry tensors of one shape, or write the rounds out",
                       .site = loop.node.site()});
}

/// What is true of a round of a segment: it is one of the loop's.
void Backprop::say_within(const Loop& loop, Int j) {
  tracer_.scope().assume(Relation::lt, j, loop.rounds);
  tracer_.scope().assume(Relation::lt, j, loop.span);
}

bool Backprop::Loop::steps_by_one() const {
  return step && step->known() && std::abs(step->value()) == 1;
}

/// The rounds from `from` to, without, `to`, upwards or downwards, as one loop. It has the variable
/// of the loop itself where that steps by one, so that what is known of it is known of the copies.
Data Backprop::over_rounds(const Loop& loop, Int from, Int to, int direction,
                           absl::FunctionRef<Data(Round, const Data&)> body, const Data& start) {
  const bool own = loop.steps_by_one();
  const Int base = loop.begin(), step = own ? *loop.step : Int(1);
  auto round = [&](Int i, const Data& now) {
    const Int j = (i - base) * step;
    say_within(loop, j);
    return body({j, own ? i : variable_at(loop, j), i.expr()->symbol}, now);
  };
  return tracer_.record_for(base + step * from, base + step * to, step * direction, round, start);
}

/// A for's variable in a round; of a while, the round itself.
Int Backprop::variable_at(const Loop& loop, Int j) {
  return loop.first ? *loop.first + *loop.step * j : j;
}

/// The variable is a number that the round says; and where the body uses it as a value, a constant.
void Backprop::know_variable(const Loop& loop, Int now, SymbolMap& symbols,
                             Graph::ValueMap& known) {
  // A while's rounds are counted by the last value it carries.
  Value* variable = loop.first ? loop.body.parameters()[0] : loop.node.block(0).parameters().back();
  const Scalar* s = variable->type().scalar();
  if (s->value && !s->value->known()) symbols[s->value->expr()->symbol] = now;
  if (variable->used()) known[variable] = g_.add_constant(Arg(now), here());
}

}  // namespace lathe
