#include "jit/program/steps.h"

#include <absl/container/flat_hash_map.h>
#include <absl/strings/str_cat.h>

#include "core/op/op.h"

namespace lathe::jit {
namespace {

void share_operands(std::vector<Step>& steps, int& count) {
  absl::flat_hash_map<std::string, std::vector<Step::Shared*>> readers;
  for (Step& s : steps) {
    for (Step::Inner& block : s.blocks) share_operands(block.steps, count);
    if (s.operands.size() != 2 || s.dynamic || s.panels) continue;
    for (size_t k = 0; k < s.operands.size(); ++k)
      if (!s.lasting[k]) readers[packed_name(s, k)].push_back(&s.shared[k]);
  }
  for (auto& [name, all] : readers) {
    if (all.size() < 2) continue;
    for (Step::Shared* one : all) one->number = count;
    all.back()->last = true;
    ++count;
  }
}

}  // namespace

int share_operands(std::vector<Step>& steps) {
  int count = 0;
  share_operands(steps, count);
  return count;
}

std::string packed_name(const Step& step, size_t operand) {
  const Geometry& lies = step.operands[operand];
  std::string name = absl::StrCat(step.node->op()->name(), " ", operand, " of b", step.in[operand],
                                  " from ", to_string(step.shifts[operand]), " ",
                                  to_string(lies.shape), " ", to_string(lies.strides));
  const Args args = step.node->attrs();
  for (const Arg& arg : args) absl::StrAppend(&name, ", ", to_string(arg));
  return name;
}

}  // namespace lathe::jit
