// What several products of a block read alike is packed once a run: by the first of them, and given
// up by the last.
#include <absl/container/flat_hash_map.h>

#include "jit/plan/plan.h"

namespace lathe::jit {

void share_operands(std::vector<Step>& steps, const PlanScope& scope) {
  absl::flat_hash_map<std::string, std::vector<Step::Shared*>> readers;
  std::vector<std::string> names;  // in the order of their first readers
  for (Step& s : steps) {
    if (s.operands.size() != 2 || s.dynamic || s.panels) continue;
    for (size_t k = 0; k < s.operands.size(); ++k)
      if (!s.lasting[k]) {
        std::string name = packed_name(s, k);
        std::vector<Step::Shared*>& all = readers[name];
        if (all.empty()) names.push_back(std::move(name));
        all.push_back(&s.shared[k]);
      }
  }
  for (const std::string& name : names) {
    const std::vector<Step::Shared*>& all = readers.at(name);
    if (all.size() < 2 || !scope.rewrites.allow("share_operands")) continue;
    for (Step::Shared* one : all) one->number = scope.shared_operands;
    all.back()->last = true;
    ++scope.shared_operands;
  }
}

}  // namespace lathe::jit
