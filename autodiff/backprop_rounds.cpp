// The rounds of a loop in its derivative: from the last to the first, reading what the loop has
// kept, or run again for it.
#include "autodiff/backprop.h"
#include "core/dispatch/assign.h"
#include "core/dispatch/fn.h"
#include "include/lathe/ops/create.h"
#include "include/lathe/ops/shape.h"

namespace lathe {

using namespace ir;  // NOLINT: everything here is about graphs

namespace {

using S = shape_ops<Tensor>;
using C = create_ops<Tensor>;

/// Rounds that are run again from one checkpoint: what is kept of 10,000 rounds is that of 207.
constexpr int64_t kSegment = 128;

}  // namespace

// ── what rounds were given ──────────────────────────────────────────────────────────────────────

namespace {

/// An op that moves elements, and whose derivative reads none of them.
bool only_moves(const Node& n) {
  if (!n.is(Structure::op)) return false;
  const Op& op = *n.op();
  const Access access = op.index.access;
  const bool puts =
      access == Access::put || access == Access::select_put || access == Access::through;
  const Saves saves = op.extra.saves;
  return (op.geometry != nullptr || puts) && saves.inputs == 0 && saves.outputs == 0;
}

}  // namespace

/// Is a carried tensor one whose elements the body does not read, but to hand them on in it, as
/// what a scan stacks?
bool Backprop::is_written_only(const Loop& loop, size_t i) const {
  Values waiting{loop.parameters[i]};
  absl::flat_hash_set<const Value*> seen{loop.parameters[i]};
  while (!waiting.empty()) {
    const Value* v = waiting.back();
    waiting.pop_back();
    for (const Use& use : v->uses()) {
      const Node& n = *use.node;
      if (&n == loop.body.end() && use.index == i) continue;
      if (n.parent() != &loop.body || !only_moves(n)) return false;
      if (seen.insert(n.out(0)).second) waiting.push_back(n.out(0));
    }
  }
  return true;
}

/// Room for so many rounds of each carried value that is read.
std::vector<Tensor> Backprop::make_stacks(const Loop& loop, Int rounds) const {
  std::vector<Tensor> out;
  for (size_t i = 0; i < loop.parameters.size(); ++i) {
    if (is_written_only(loop, i)) {
      out.emplace_back();
      continue;
    }
    const TensorType& t = loop.starts[i]->tensor();
    Shape shape{rounds};
    shape.insert(shape.end(), t.shape.begin(), t.shape.end());
    out.push_back(C::zeros(Ints(shape), t.dtype, t.device));
  }
  return out;
}

/// What the first round is given, of the values that are read.
Data Backprop::starts_of(const Loop& loop, const std::vector<Tensor>& stacks) const {
  Data out;
  for (size_t i = 0; i < stacks.size(); ++i)
    if (stacks[i].defined()) out.emplace_back(tracer_.tensor_for(loop.starts[i]));
  return out;
}

void Backprop::say_inside(Int at, Int size) const {
  tracer_.scope().assume(Relation::le, 0, at);
  tracer_.scope().assume(Relation::lt, at, size);
}

/// A row at a place that the stack has: what select() would ask is known.
Tensor Backprop::row_at(const Tensor& stack, Int at) const {
  say_inside(at, stack.size(0));
  return S::squeeze(S::slice(stack, 0, at, at + 1, 1), {Int(0)});
}

void Backprop::store(const std::vector<Tensor>& stacks, Int at, const Data& carried) const {
  size_t k = 0;
  for (const Tensor& stack : stacks)
    if (stack.defined()) assign(row_at(stack, at), carried[k++].tensor());
}

/// Runs a round again: what it carries on, of the values that are read.
Data Backprop::forward_round(const Loop& loop, const std::vector<Tensor>& stacks, Round r,
                             const Data& carried) {
  Graph::ValueMap known;
  SymbolMap symbols;
  size_t k = 0;
  for (size_t i = 0; i < stacks.size(); ++i)
    known[loop.parameters[i]] =
        stacks[i].defined() ? tracer_.value_of(carried[k++].tensor()) : loop.starts[i];
  know_variable(loop, r.variable, symbols, known);
  const Values yields = copy(loop.body, known, symbols, r.symbol);
  Data out;
  for (size_t i = 0; i < stacks.size(); ++i)
    if (stacks[i].defined()) out.emplace_back(tracer_.tensor_for(yields[i]));
  return out;
}

/// Runs so many rounds from `first` on again, and keeps what they carry before each.
Backprop::Stacks Backprop::record_stacks(const Loop& loop, const Data& start, Int first,
                                         Int count) {
  Stacks out{make_stacks(loop, count), first};
  auto round = [&](Round r, const Data& carried) {
    store(out.values, r.number - first, carried);
    return forward_round(loop, out.values, r, carried);
  };
  over_rounds(loop, first, first + count, 1, round, start);
  return out;
}

/// What the loop carries before the first round of each segment of it.
std::vector<Tensor> Backprop::record_checkpoints(const Loop& loop, Int segments) {
  std::vector<Tensor> stacks = make_stacks(loop, lathe::max(segments, Int(1)));
  auto segment = [&](Int s, const Data& carried) {
    store(stacks, s, carried);
    auto round = [&](Round r, const Data& now) { return forward_round(loop, stacks, r, now); };
    return over_rounds(loop, s * kSegment, (s + 1) * kSegment, 1, round, carried);
  };
  const Data end = tracer_.record_for(0, segments - 1, 1, segment, starts_of(loop, stacks));
  store(stacks, lathe::max(segments - 1, Int(0)), end);
  return stacks;
}

/// All rounds from the last down to, without, `stop`: -1, or 0 where the first is left out. They
/// read what the loop has kept. Where it does not, a loop of many rounds is run again segment by
/// segment from checkpoints, so that what is kept of n rounds is that of n / kSegment + kSegment.
Data Backprop::backward_rounds(const Loop& loop, const Values& free, Int stop, const Data& sums) {
  const Int rounds = loop.rounds;
  std::optional<Recorded> recorded;
  auto walk_back = [&](const Stacks& stacks, Int end, Int to, const Data& begin) {
    auto round = [&](Round r, const Data& now) {
      return backward_round(loop, stacks, free, r, now, recorded);
    };
    return over_rounds(loop, end - 1, to, -1, round, begin);
  };
  if (loop.keeps) {
    const Stacks stand_ins{make_stacks(loop, rounds), 0};
    Data out = walk_back(stand_ins, rounds, stop, sums);
    read_kept_rounds(loop, stand_ins, *recorded);
    return out;
  }
  if (tracer_.scope().bounds(rounds).second <= kSegment) {
    const Data start = starts_of(loop, make_stacks(loop, rounds));
    return walk_back(record_stacks(loop, start, 0, rounds), rounds, stop, sums);
  }
  const Int segments = ceil_div(rounds, kSegment);
  const std::vector<Tensor> checkpoints = record_checkpoints(loop, segments);
  auto segment = [&](Int s, const Data& now) {
    const Int first = s * kSegment, count = lathe::min(rounds - first, Int(kSegment));
    tracer_.scope().assume(Relation::lt, 0, count);
    Data start;
    for (const Tensor& stack : checkpoints)
      if (stack.defined()) start.emplace_back(row_at(stack, s));
    // Where the first round is left out, that is in the first segment.
    const Int to = stop == Int(0) ? lathe::max(first - 1, Int(0)) : first - 1;
    return walk_back(record_stacks(loop, start, first, count), first + count, to, now);
  };
  return tracer_.record_for(segments - 1, -1, -1, segment, sums);
}

/// The sum at a start goes on in the first round; whether something had arrived there is said
/// outside.
void Backprop::begin_with_arrived(const Loop& loop, size_t i, const Value* h, Int number) {
  sums_[h] = if_zero(number, loop.arrived[i], empty_sum(h->tensor()));
  flags_[h] = C::full(Ints(Shape{}), false, DType::bool_, h->tensor().device);
}

Data Backprop::backward_round(const Loop& loop, const Stacks& stacks, const Values& free, Round r,
                              const Data& sums, std::optional<Recorded>& recorded) {
  tracer_.scope().assume(Relation::le, stacks.first, r.number);
  const Int at = r.number - stacks.first;
  auto outside = std::exchange(sums_, {});
  auto flags_outside = std::exchange(flags_, {});
  const OpenRound round{&g_.insertion_block(), r.symbol, loop.whole ? &free : nullptr};
  const OpenRound around = std::exchange(round_, round);
  rows_.clear();  // of a recording before
  Graph::ValueMap known;
  SymbolMap symbols;
  know_variable(loop, r.variable, symbols, known);
  size_t k = 0;
  for (size_t i = 0; i < loop.parameters.size(); ++i) {
    const TensorType& t = loop.starts[i]->tensor();
    const Tensor& stack = stacks.values[i];
    Value* h = tracer_.value_of(stack.defined() ? row_at(stack, at)
                                                : C::zeros(Ints(t.shape), t.dtype, t.device));
    known[loop.parameters[i]] = h;
    if (active(loop.parameters[i])) activate(h);
  }
  std::vector<Carried> given(loop.parameters.size());
  for (size_t i = 0; i < given.size(); ++i)
    if (loop.reaches(i)) given[i].sum = sums[k++].tensor();
  for (Value* v : free) sums_[v] = sums[k++].tensor();
  for (size_t i = 0; i < given.size(); ++i)
    if (loop.flags(i)) given[i].flag = sums[k++].tensor();
  for (Value* v : loop.flagged_free) flags_[v] = sums[k++].tensor();
  for (size_t i = 0; i < given.size(); ++i)
    if (loop.arrived[i].defined())
      begin_with_arrived(loop, i, known.at(loop.parameters[i]), r.number);
  Again a = run_again(loop.body, known, symbols, r.symbol);
  for (size_t i = 0; i < given.size(); ++i)
    if (given[i].sum.defined() && active(a.yields[i]))
      arrive(a.yields[i], given[i].sum, given[i].flag);
  walk(a.last, a.before);
  Data out;
  for (size_t i = 0; i < given.size(); ++i) {
    if (!loop.reaches(i)) continue;
    const Value* h = known.at(loop.parameters[i]);
    out.emplace_back(sum(h).defined() ? sum(h) : empty_sum(h->tensor()));
  }
  for (Value* v : free) out.emplace_back(sum(v));
  for (size_t i = 0; i < given.size(); ++i)
    if (loop.flags(i)) out.emplace_back(flag_of(known.at(loop.parameters[i])));
  for (Value* v : loop.flagged_free) out.emplace_back(flag_of(v));
  sums_ = std::move(outside);
  flags_ = std::move(flags_outside);
  round_ = around;
  recorded = Recorded{&g_.insertion_block(), std::move(a), std::move(known), r};
  return out;
}

}  // namespace lathe
