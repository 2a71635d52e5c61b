// Whether something has arrived at a value, where data decides it (arrival.h).
#include "autodiff/backprop.h"
#include "core/dispatch/fn.h"
#include "include/lathe/ops/create.h"
#include "include/lathe/ops/math.h"

namespace lathe {

using namespace ir;  // NOLINT: everything here is about graphs

namespace {

using C = create_ops<Tensor>;
using M = math_ops<Tensor>;

Tensor truth(bool value, Device device) {
  return C::full(Ints(Shape{}), value, DType::bool_, device);
}

/// Has a round run?
Tensor ran(Int rounds, Device device) {
  return M::gt(C::full(Ints(Shape{}), Arg(rounds), DType::i64, device), 0);
}

}  // namespace

Arrival Backprop::arrival(const Value* v) const {
  if (!sum(v).defined()) return Arrival::never;
  return flags_.contains(v) ? Arrival::maybe : Arrival::always;
}

Tensor Backprop::flag_of(const Value* v) const {
  const Arrival a = arrival(v);
  return a == Arrival::maybe ? flags_.at(v) : truth(a == Arrival::always, v->tensor().device);
}

/// As arrive() takes it: undefined if something is sure to have arrived.
Tensor Backprop::flag_at(const Value* v) const {
  const auto found = flags_.find(v);
  return found == flags_.end() ? Tensor() : found->second;
}

/// Undefined: something has arrived at one of its results.
Tensor Backprop::flag_of(const Node& n) const {
  Tensor any;
  for (const Value* v : n.out()) {
    const Arrival a = arrival(v);
    if (a == Arrival::never || !active(v)) continue;
    if (a == Arrival::always) return Tensor();
    any = any.defined() ? M::logical_or(any, flags_.at(v)) : flags_.at(v);
  }
  return any;
}

void Backprop::join_flag(const Value* v, Arrival before, const Tensor& flag) {
  if (before == Arrival::always) return;
  if (!flag.defined())
    flags_.erase(v);
  else
    flags_[v] = before == Arrival::never ? flag : M::logical_or(flags_.at(v), flag);
}

/// Is a round of a nested loop sure to run?
bool Backprop::runs(const Node& n) const {
  if (!n.is(Structure::for_)) return false;
  const auto start = range_part(n, 0), stop = range_part(n, 1), step = range_part(n, 2);
  if (!start || !stop || !step || !step->known()) return false;
  const bool up = step->value() > 0;
  return tracer_.scope().prove(Relation::lt, up ? *start : *stop, up ? *stop : *start) ==
         SymScope::Truth::yes;
}

Known Backprop::what_is_known() const {
  return {[this](const Value* v) { return active(v); }, [this](const Node& n) { return runs(n); }};
}

LoopArrivals Backprop::arrivals(const Loop& loop) const {
  std::vector<Arrival> results;
  for (size_t i = 0; i < loop.parameters.size(); ++i)
    results.push_back(active(loop.parameters[i]) ? arrival(loop.node.out(i)) : Arrival::never);
  return LoopArrivals(what_is_known(), loop.body, loop.parameters, results);
}

/// The outside values that a branch's derivative adds to, and those of them with a flag.
std::pair<Values, Values> Backprop::arrivals(const Node& n, const Values& reached) const {
  std::vector<Arrival> results;
  for (const Value* v : n.out()) results.push_back(active(v) ? arrival(v) : Arrival::never);
  const Known known = what_is_known();
  const BlockArrivals yes(known, n.block(0), results), no(known, n.block(1), results);
  Values free, flagged;
  for (Value* v : reached) {
    const Arrival added = either(yes.at(v), no.at(v));
    if (added == Arrival::never) continue;
    free.push_back(v);
    if (std::max(arrival(v), added) == Arrival::maybe) flagged.push_back(v);
  }
  return {free, flagged};
}

/// What rounds say of what has arrived: nothing, where they pass it on whatever data says.
/// may_be_none: the first round is recorded by itself, and nobody knows of others.
void Backprop::choose_flags(Loop& loop, const Values& free, const LoopArrivals& way,
                            bool may_be_none) const {
  loop.flagged = may_be_none || way.any_maybe;
  if (may_be_none)
    for (Arrival& a : loop.arrival) a = either(a, Arrival::never);
  for (Value* v : free) {
    if (arrival(v) == Arrival::always || (!may_be_none && way.at_free(v) == Arrival::always))
      continue;
    loop.flagged_free.push_back(v);
    loop.flagged = true;
  }
}

/// The sums and flags that the last round is given.
Data Backprop::begin_rounds(const Loop& loop, const Values& free) const {
  Data begin;
  const auto sum_or_nothing = [&](const Value* v, const TensorType& t) {
    begin.emplace_back(sum(v).defined() ? sum(v) : empty_sum(t));
  };
  for (size_t i = 0; i < loop.parameters.size(); ++i)
    if (loop.reaches(i)) sum_or_nothing(loop.node.out(i), loop.parameters[i]->tensor());
  for (const Value* v : free) sum_or_nothing(v, v->tensor());
  for (size_t i = 0; i < loop.parameters.size(); ++i)
    if (loop.flags(i)) begin.emplace_back(flag_of(loop.node.out(i)));
  for (const Value* v : loop.flagged_free) begin.emplace_back(flag_of(v));
  return begin;
}

Rounds Backprop::rounds_known(const Loop& loop) const {
  if (!loop.whole) return Rounds::any;
  const auto more = tracer_.scope().prove(Relation::lt, 1, loop.rounds);
  return more == SymScope::Truth::yes  ? Rounds::several
         : more == SymScope::Truth::no ? Rounds::one
                                       : Rounds::any;
}

/// What the first round has given: at values from outside it is put down, at starts it is the
/// caller's to.
std::vector<Backprop::Carried> Backprop::end_rounds(const Loop& loop, const Values& free,
                                                    const Data& end, const LoopArrivals& way) {
  size_t k = 0;
  std::vector<Carried> carried(loop.parameters.size());
  for (size_t i = 0; i < carried.size(); ++i)
    if (loop.reaches(i)) carried[i].sum = end[k++].tensor();
  std::vector<Tensor> before;
  for (Value* v : free) {
    before.push_back(arrival(v) == Arrival::always ? Tensor() : flag_of(v));
    sums_[v] = end[k++].tensor();
    add_left_out(loop, v);
  }
  const Rounds known = rounds_known(loop);
  for (size_t i = 0; i < carried.size(); ++i) {
    Tensor& flag = carried[i].flag;
    const Value* result = loop.node.out(i);
    const bool passed = way.passed[i] == Arrival::always;
    if (loop.flags(i))
      flag = end[k++].tensor();
    else if (loop.reaches(i) && loop.runs)
      flag = passed ? Tensor() : truth(false, result->tensor().device);
    else if (loop.reaches(i) && !passed)
      flag = M::logical_and(flag_of(result),
                            M::logical_not(ran(loop.rounds, result->tensor().device)));
    else if (loop.reaches(i) && arrival(result) != Arrival::always)
      flag = M::logical_or(flag_of(result), ran(loop.rounds, result->tensor().device));
    if (way.is_sure_at(i, known)) flag = Tensor();
  }
  for (size_t i = 0; i < free.size(); ++i) {
    if (!before[i].defined()) continue;
    const bool flagged = std::find(loop.flagged_free.begin(), loop.flagged_free.end(), free[i]) !=
                         loop.flagged_free.end();
    const bool sure = loop.runs && !flagged;
    if (flagged) flags_[free[i]] = end[k++].tensor();
    if (sure || way.is_sure_at(free[i], known))
      flags_.erase(free[i]);
    else if (!flagged)
      flags_[free[i]] = M::logical_or(before[i], ran(loop.rounds, before[i].device()));
  }
  return carried;
}

}  // namespace lathe
