// What a loop makes longer in each round stays where it is: where the first part of a `cat` is all
// of a value that ends there, the others are written behind it.
#include <algorithm>

#include "core/dispatch/slice_at.h"
#include "jit/plan/plan.h"

namespace lathe::jit {
namespace {

using ir::Value;

/// Does `put` write all of a value that ends there to the beginning of what `fill` makes?
bool extends(const Step& put, const ir::Node& fill, const SymScope& scope) {
  const Value *made = fill.out(0), *first = put.node->value(1);
  const Shape& shape = made->tensor().shape;
  const auto proven = [&](Int a, Int b) {
    return scope.prove(Relation::le, a, b) == SymScope::Truth::yes;
  };
  if (put.node->places().size() != 2 || first == nullptr || put.in.size() != 2) return false;
  const std::optional<SliceAt> at = slice_at(put.node->attrs().view(), 1, shape, proven);
  return at && at->axis == 0 && identical(at->start, Int(0)) &&
         identical(at->end, first->tensor().shape[0]) &&
         first->tensor().dtype == made->tensor().dtype &&
         made->tensor().device.kind == DeviceKind::cpu &&
         std::binary_search(put.frees.begin(), put.frees.end(), put.in[1]);
}

}  // namespace

void extend_values(std::vector<Step>& steps, const PlanScope& scope) {
  absl::flat_hash_set<const ir::Node*> left_out;
  for (const Step& fill : steps) {
    const bool makes = fill.kind == Step::Kind::op && fill.dynamic && fill.symbols.empty() &&
                       fill.node->is(ir::Structure::op) && fill.node->op()->kind == Kind::create;
    const ir::Node* put = makes ? written_by(fill.node->out(0)) : nullptr;
    const auto it = std::find_if(steps.begin(), steps.end(),
                                 [&](const Step& step) { return step.node == put; });
    if (put == nullptr || it == steps.end() || !extends(*it, *fill.node, scope.sizes) ||
        !is_overwritten(fill.node->out(0), scope.sizes) || !scope.rewrites.allow("extend_values"))
      continue;
    it->extends = true;
    std::erase(it->frees, it->in[0]);  // what is left out made it
    left_out.insert(fill.node);
  }
  std::erase_if(steps, [&](const Step& step) { return left_out.contains(step.node); });
}

}  // namespace lathe::jit
