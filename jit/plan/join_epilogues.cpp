// A kernel that alone reads a contraction, element by element, runs on its results while they are
// hot.
#include <absl/container/flat_hash_map.h>

#include <algorithm>

#include "jit/plan/plan.h"

namespace lathe::jit {
namespace {

using ir::Node;
using ir::Value;

bool is_contraction(const Step& s) {
  return s.kind == Step::Kind::op && !s.dynamic && s.symbols.empty() &&
         s.node->op()->kind == Kind::contract && s.types.size() == 1 &&
         std::all_of(s.node->in().begin(), s.node->in().end(), [&](const Value* v) {
           return v->type().tensor() != nullptr &&
                  v->tensor().dtype == s.node->in(0)->tensor().dtype;
         });
}

}  // namespace

void join_epilogues(std::vector<Step>& steps, const PlanScope& scope) {
  absl::flat_hash_map<const Node*, size_t> at;
  for (size_t i = 0; i < steps.size(); ++i)
    if (is_contraction(steps[i])) at[steps[i].node] = i;
  std::vector<bool> gone(steps.size());
  for (size_t i = 0; i < steps.size(); ++i) {
    Step& s = steps[i];
    if (s.kind != Step::Kind::kernel || s.dynamic || !s.symbols.empty() || s.kernel->takes_boxes())
      continue;
    for (const Value* v : s.node->in()) {
      auto it = v->node() == nullptr ? at.end() : at.find(v->node());
      if (it == at.end() || steps[it->second].node == nullptr) continue;
      bool alone = identical(v->tensor().shape, s.types[0].shape) &&
                   std::all_of(v->uses().begin(), v->uses().end(),
                               [&](const ir::Use& u) { return u.node == s.node; });
      if (!alone || !scope.rewrites.allow("join_epilogues")) continue;
      Step joined = std::move(steps[it->second]);
      gone[it->second] = true;
      joined.epilogue = std::make_unique<Step>(std::move(s));
      at.erase(it);
      s = std::move(joined);
      break;
    }
  }
  size_t next = 0;
  for (size_t i = 0; i < steps.size(); ++i)
    if (!gone[i]) {
      if (next != i) steps[next] = std::move(steps[i]);
      ++next;
    }
  steps.resize(next);
}

}  // namespace lathe::jit
