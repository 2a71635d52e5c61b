#include "autodiff/arrival.h"

namespace lathe {

using namespace ir;  // NOLINT: everything here is about graphs

namespace {

std::vector<Arrival> passed_on(const BlockArrivals& round, const Values& parameters) {
  std::vector<Arrival> out;
  for (const Value* p : parameters) out.push_back(round.at(p));
  return out;
}

/// What arrives at yields in any round: at the results, or what a later round passes on.
std::vector<Arrival> at_all_yields(Known known, const Block& body, const Values& parameters,
                                   absl::Span<const Arrival> results) {
  std::vector<Arrival> all(results.begin(), results.end());
  for (bool changed = true; changed;) {
    changed = false;
    const BlockArrivals round(known, body, all);
    for (size_t i = 0; i < parameters.size(); ++i) {
      const Arrival joined = either(all[i], round.at(parameters[i]));
      changed |= joined != all[i];
      all[i] = joined;
    }
  }
  return all;
}

}  // namespace

BlockArrivals::BlockArrivals(Known known, const Block& block, absl::Span<const Arrival> yields)
    : known_(known) {
  for (size_t i = 0; i < yields.size(); ++i) raise(block.yields()[i], yields[i]);
  for (const Node* n = block.last(); n != nullptr; n = n->previous()) visit(*n);
}

Arrival BlockArrivals::at(const Value* v) const {
  const auto found = at_.find(v);
  return found == at_.end() ? Arrival::never : found->second;
}

void BlockArrivals::raise(const Value* v, Arrival a) {
  if (a == Arrival::never || !known_.active(v)) return;
  Arrival& now = at_[v];
  now = std::max(now, a);
}

void BlockArrivals::visit(const Node& n) {
  Arrival a = Arrival::never;
  for (const Value* v : n.out()) a = std::max(a, at(v));
  if (a == Arrival::never) return;
  any_maybe_ |= a == Arrival::maybe;
  switch (n.structure()) {
    case Structure::op:
      for (const Value* v : n.in()) raise(v, a);
      return;
    case Structure::if_:
      return visit_if(n);
    case Structure::for_:
    case Structure::while_:
      return visit_loop(n);
    default:
      return;
  }
}

void BlockArrivals::visit_if(const Node& n) {
  std::vector<Arrival> results;
  for (const Value* v : n.out()) results.push_back(at(v));
  const BlockArrivals yes(known_, n.block(0), results), no(known_, n.block(1), results);
  any_maybe_ |= yes.any_maybe() || no.any_maybe();
  for (const Block* b : n.blocks())
    for (const Value* v : free_values(*b)) raise(v, either(yes.at(v), no.at(v)));
}

void BlockArrivals::visit_loop(const Node& n) {
  const bool counted = n.is(Structure::for_);
  Values parameters = n.block(0).parameters();
  if (counted) parameters.erase(parameters.begin());
  const Block& body = n.block(counted ? 0 : 1);
  std::vector<Arrival> results;
  for (size_t i = 0; i < parameters.size(); ++i) results.push_back(at(n.out(i)));
  const LoopArrivals rounds(known_, body, parameters, results);
  any_maybe_ |= rounds.any_maybe;
  const bool runs = known_.runs(n);
  const auto at_last = [&](Arrival none, Arrival some) { return runs ? some : either(none, some); };
  for (size_t i = 0; i < parameters.size(); ++i)
    raise(n.in(n.carried_from() + i), at_last(results[i], rounds.passed[i]));
  for (const Value* v : free_values(body)) raise(v, at_last(Arrival::never, rounds.at_free(v)));
}

LoopArrivals::LoopArrivals(Known known, const Block& body, const Values& parameters,
                           absl::Span<const Arrival> results)
    : carried(at_all_yields(known, body, parameters, results)),
      first(known, body, results),
      all(known, body, carried) {
  passed = passed_on(all, parameters);
  any_maybe = all.any_maybe();
  for (const Arrival a : passed) any_maybe |= a == Arrival::maybe;
}

Arrival LoopArrivals::at_free(const Value* v) const {
  return first.at(v) == Arrival::always ? Arrival::always : all.at(v);
}

}  // namespace lathe
