#include "autodiff/arrival.h"

namespace lathe {

using namespace ir;  // NOLINT: everything here is about graphs

BlockArrivals::BlockArrivals(const Known& known, const Block& block,
                             absl::Span<const Arrival> yields) {
  for (size_t i = 0; i < yields.size(); ++i) raise(known, block.yields()[i], yields[i]);
  for (const Node* n = block.last(); n != nullptr; n = n->previous()) visit(known, *n);
}

Arrival BlockArrivals::at(const Value* v) const {
  const auto found = at_.find(v);
  return found == at_.end() ? Arrival::never : found->second;
}

void BlockArrivals::raise(const Known& known, const Value* v, Arrival a) {
  if (a == Arrival::never || !known.active(v)) return;
  Arrival& now = at_[v];
  now = std::max(now, a);
}

void BlockArrivals::visit(const Known& known, const Node& n) {
  Arrival a = Arrival::never;
  for (const Value* v : n.out()) a = std::max(a, at(v));
  if (a == Arrival::never) return;
  any_maybe_ |= a == Arrival::maybe;
  switch (n.structure()) {
    case Structure::op:
      for (const Value* v : n.in()) raise(known, v, a);
      return;
    case Structure::if_:
      return visit_if(known, n);
    case Structure::for_:
    case Structure::while_:
      return visit_loop(known, n);
    default:
      return;
  }
}

void BlockArrivals::visit_if(const Known& known, const Node& n) {
  std::vector<Arrival> results;
  for (const Value* v : n.out()) results.push_back(at(v));
  const BlockArrivals yes(known, n.block(0), results), no(known, n.block(1), results);
  any_maybe_ |= yes.any_maybe() || no.any_maybe();
  for (const Block* b : n.blocks())
    for (const Value* v : free_values(*b)) raise(known, v, either(yes.at(v), no.at(v)));
}

void BlockArrivals::visit_loop(const Known& known, const Node& n) {
  const bool counted = n.is(Structure::for_);
  Values parameters = n.block(0).parameters();
  if (counted) parameters.erase(parameters.begin());
  const Block& body = n.block(counted ? 0 : 1);
  std::vector<Arrival> results;
  for (size_t i = 0; i < parameters.size(); ++i) results.push_back(at(n.out(i)));
  const LoopArrivals rounds(known, body, parameters, results);
  any_maybe_ |= rounds.any_maybe;
  const bool runs = known.runs(n);
  const auto at_last = [&](Arrival none, Arrival some) { return runs ? some : either(none, some); };
  for (size_t i = 0; i < parameters.size(); ++i)
    raise(known, n.in(n.carried_from() + i), at_last(results[i], rounds.passed[i]));
  for (const Value* v : free_values(body))
    raise(known, v, at_last(Arrival::never, rounds.at_free(v)));
}

namespace {

std::vector<Arrival> at_each(const BlockArrivals& in, const Values& values) {
  std::vector<Arrival> out;
  for (const Value* v : values) out.push_back(in.at(v));
  return out;
}

}  // namespace

LoopArrivals::LoopArrivals(const Known& known, const Block& body, const Values& parameters,
                           absl::Span<const Arrival> results)
    : carried(results.begin(), results.end()),
      first(known, body, results),
      all(first),
      passed_by_one(at_each(first, parameters)),
      second(known, body, passed_by_one),
      passed_by_two(at_each(second, parameters)),
      settled(at_each(BlockArrivals(known, body, passed_by_two), parameters) == passed_by_two) {
  // At a yield arrives what arrives at the result, or what a later round passes on.
  const auto passes_on_more = [&] {
    const std::vector<Arrival> before = carried;
    for (size_t i = 0; i < carried.size(); ++i)
      carried[i] = either(carried[i], all.at(parameters[i]));
    return carried != before;
  };
  while (passes_on_more()) all = BlockArrivals(known, body, carried);
  any_maybe = all.any_maybe();
  passed = at_each(all, parameters);
  for (Arrival a : passed) any_maybe |= a == Arrival::maybe;
}

Arrival LoopArrivals::at_free(const Value* v) const {
  return first.at(v) == Arrival::always ? Arrival::always : all.at(v);
}

bool LoopArrivals::is_sure_at(size_t i, Rounds rounds) const {
  if (rounds == Rounds::one) return passed_by_one[i] == Arrival::always;
  return rounds == Rounds::several && settled && passed_by_two[i] == Arrival::always;
}

bool LoopArrivals::is_sure_at(const Value* v, Rounds rounds) const {
  if (rounds == Rounds::any) return false;
  return first.at(v) == Arrival::always ||
         (rounds == Rounds::several && second.at(v) == Arrival::always);
}

}  // namespace lathe
