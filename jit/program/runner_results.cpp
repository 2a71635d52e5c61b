// What a call gives back, and what it writes to its inputs: results first, then the writes.
#include <absl/algorithm/container.h>

#include <algorithm>

#include "core/dispatch/assign.h"
#include "core/dispatch/call.h"
#include "core/dispatch/fn.h"
#include "core/tensor/shared_memory.h"
#include "include/lathe/ops/math.h"
#include "jit/program/runner.h"

namespace lathe::jit {
namespace {

/// Whether a result lies where another does: the program gave it memory of its own, or it has the
/// storage of another.
bool shows_part_of(const ir::Datum& result, const ir::Datum& other) {
  return other.is_tensor() &&
         result.tensor().impl()->storage.get() == other.tensor().impl()->storage.get() &&
         may_share_memory(result.tensor(), other.tensor());
}

/// Does it show one element in many places, as an expanded view does?
bool repeats_elements(const Geometry& g) {
  for (size_t i = 0; i < g.shape.size(); ++i)
    if (identical(g.strides[i], Int(0)) && g.shape[i].value() > 1) return true;
  return false;
}

}  // namespace

/// A result owns its memory: no input's (a copy that was rewritten away), no constant's, and no
/// other result's (equal expressions that were merged). It lies in row-major order where eager's
/// does, and shows each element once. What a step has made is so, unless one before it shows it.
ir::Data Runner::outputs(const ir::Data& inputs) {
  ir::Data all;
  size_t count = p_.result_slots_.size() - p_.written_.size();
  all.reserve(count);
  absl::InlinedVector<size_t, 8> shown;  // results so far that may show others' memory
  for (size_t i = 0; i < count; ++i) {
    all.push_back(evaluated(at(p_.result_slots_[i])));
    if (!all[i].is_tensor()) continue;
    auto same = [&](const ir::Datum& other) { return shows_part_of(all[i], other); };
    auto same_result = [&](size_t k) { return same(all[k]); };
    bool copied = false;
    if (p_.made_[i]) {
      copied = std::any_of(shown.begin(), shown.end(), same_result);
    } else {
      const Geometry& g = all[i].tensor().geometry();
      const bool strided = i < p_.strided_.size() && p_.strided_[i] && !repeats_elements(g);
      copied = !(strided || g.is_contiguous()) || std::any_of(inputs.begin(), inputs.end(), same) ||
               std::any_of(all.begin(), all.end() - 1, same) ||
               std::any_of(p_.constants_.begin(), p_.constants_.end(),
                           [&](const auto& c) { return same(c.second); });
      if (!copied) shown.push_back(i);
    }
    if (copied) all[i] = ir::Datum(math_ops<Tensor>::clone(all[i].tensor()));
  }
  return all;
}

/// Memory for what steps of the tail give back: the results are put together before they run.
void Runner::place_results_of_tail() {
  for (size_t i = p_.tail_; i < p_.steps_.size(); ++i) {
    const Step& s = p_.steps_[i];
    for (size_t k = 0; k < s.replaces.size(); ++k)
      if (s.replaces[k] == Step::kGivenBack)
        put(s.out[k], ir::Datum(empty(c_.bound_->steps[i].types[k])));
  }
}

/// All that could fail is done before the first write: a call that throws has written nothing. Says
/// where each step of the tail puts its result: where the input lies, if nothing else lies there
/// and nobody has to be told.
void Runner::prepare_writes(const ir::Data& inputs) {
  SharedMemory memory;  // of inputs, then of constants
  if (p_.tail_ < p_.steps_.size()) {
    for (const ir::Datum& d : inputs) memory.add(d.tensor().impl());
    for (const auto& [slot, constant] : p_.constants_) memory.add(constant.tensor().impl());
  }
  size_t from = p_.result_slots_.size() - p_.written_.size();
  values_.resize(p_.written_.size());
  for (size_t input : p_.written_) require_assignable(inputs[input].tensor());
  for (size_t i = p_.tail_; i < p_.steps_.size(); ++i) {
    const Step& s = p_.steps_[i];
    for (size_t k = 0; k < s.replaces.size(); ++k) {
      if (s.replaces[k] == Step::kGivenBack) continue;
      auto write = static_cast<size_t>(s.replaces[k]);
      size_t input = p_.written_[write];
      const ir::Datum& place = inputs[input];
      // Other than in the slot: an input that was not in row-major order, and was copied.
      bool may = same(at(p_.input_slots_[input]).tensor(), place.tensor()) &&
                 may_overwrite(place.tensor()) &&
                 !memory.any(*place.tensor().impl(), [&](size_t other) { return other != input; });
      if (!may) values_[write] = empty(c_.bound_->steps[i].types[k]);
      put(s.out[k], may ? place : ir::Datum(values_[write]));
    }
    s.kernel->make_ready(c_.bound_->steps[i].kernel,
                         {.wanted = wanted_, .op = name_of(*s.node), .site = s.node->site()});
  }
  // A value that lies in an input that is written is copied: the write could change it.
  if (absl::c_all_of(p_.replaced_, [](bool replaced) { return replaced; })) return;
  SharedMemory written;
  for (size_t input : p_.written_) written.add(inputs[input].tensor().impl());
  for (size_t i = 0; i < p_.written_.size(); ++i) {
    if (p_.replaced_[i]) continue;
    const ir::Datum& d = at(p_.result_slots_[from + i]);
    const bool lent = written.any(*d.tensor().impl(), [](size_t) { return true; });
    values_[i] = lent ? math_ops<Tensor>::clone(d.tensor()) : d.tensor();
  }
}

void Runner::write(const ir::Data& inputs) {
  size_t from = p_.result_slots_.size() - p_.written_.size();
  const ir::Values& made = p_.graph_.body().yields();
  for (size_t i = 0; i < p_.written_.size(); ++i) {
    const ir::Node* by = made[from + i]->node();
    SiteScope site(by == nullptr ? Site() : by->site());  // who wrote, for errors about versions
    const Tensor& to = inputs[p_.written_[i]].tensor();
    if (values_[i].defined())
      assign(to, values_[i]);
    else
      to.impl()->storage->written();
  }
}

}  // namespace lathe::jit
