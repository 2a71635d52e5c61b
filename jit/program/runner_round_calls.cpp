// Ops in rounds that are alike which no kernel of ours does: an entry of the table is called as
// eager calls it, on tensors that are made once and moved to the addresses of each round.
#include <absl/algorithm/container.h>

#include "core/base/flags.h"
#include "jit/program/runner_rounds.h"
#include "kernels/own/copy.h"

namespace lathe::jit {
namespace {

/// A tensor in memory that is not its own, which is said before each use.
Tensor stand_in(DType dtype, Geometry geometry) {
  return make_tensor(StorageRef(new Storage), dtype, std::move(geometry));
}

}  // namespace

/// Not what asks for data, draws or writes where its operand lies; nor what another entry would do
/// by now.
bool Runner::Rounds::add_call(size_t i) {
  const Step& s = block_.steps[i];
  const Bound::OfStep& b = bound_[i];
  const Op& op = *s.node->op();
  const bool called = op.kind != Kind::contract && op.kind != Kind::random &&
                      op.kind != Kind::composite && op.extra.host == HostCall::none &&
                      absl::c_none_of(op.schema.params, [](const Param& p) { return p.written; });
  if (!called || s.dynamic || s.epilogue || b.entry == nullptr || b.revision != flags_revision() ||
      b.types.size() != s.node->out().size() || !reads(s))
    return false;
  if (s.over && places_.at(s.in[0]).what != What::outer) return false;
  acts_.push_back({Act::Kind::call, i});
  return add_results(s, b);
}

Runner::Rounds::EntryCall Runner::Rounds::entry_call(const Step& s, Bound::OfStep& b) const {
  EntryCall made;
  for (size_t k = 0; k < s.in.size(); ++k) {
    const auto place = places_.find(s.in[k]);
    if (place == places_.end()) {  // a number: that of the round
      made.in.push_back({s.in[k], Tensor()});
      continue;
    }
    made.in.push_back({s.in[k], stand_in(place->second.dtype, place->second.geometry)});
    *b.holes[k] = Arg(made.in.back().tensor);
  }
  for (size_t k = 0; k < s.out.size(); ++k)
    made.out.push_back(
        {s.out[k], stand_in(b.types[k].dtype, Geometry::contiguous(b.types[k].shape))});
  return made;
}

void Runner::Rounds::call_act(const Act& act) {
  const Step& s = block_.steps[act.step];
  Bound::OfStep& b = bound_[act.step];
  EntryCall& made = calls_[act.kernel];
  SiteScope site(s.node->site());
  ++r_.c_.counts_.ops;
  for (size_t k = 0; k < made.in.size(); ++k) {
    const StandIn& x = made.in[k];
    if (x.tensor.defined())
      x.tensor.impl()->storage->data = address(x.slot);
    else
      *b.holes[k] = r_.argument(x.slot);
  }
  for (const StandIn& y : made.out) y.tensor.impl()->storage->data = address(y.slot);
  Outputs outputs;
  Tensor into = made.out[0].tensor;
  b.entry->run_call({*s.node->op(), b.filled->args(), b.types, &into, false}, outputs);
  for (size_t k = 0; k < outputs.size(); ++k) {
    if (outputs[k].impl() == made.out[k].tensor.impl()) continue;
    const lathe::Operand from = operand(outputs[k]), to = operand(made.out[k].tensor);
    if (from.data != to.data) own::copy_elements(from, to);
  }
}

}  // namespace lathe::jit
