// Fills of which no element is read before all are overwritten are not run.
#include "jit/plan/plan.h"

namespace lathe::jit {

void skip_fills(std::vector<Step>& steps, const PlanScope& scope) {
  for (Step& s : steps)
    s.blank = s.kind == Step::Kind::kernel && s.node->is(ir::Structure::op) &&
              s.node->op()->kind == Kind::create && !s.dynamic && s.symbols.empty() &&
              is_overwritten(s.node->out(0), scope.sizes) && scope.rewrites.allow("skip_fills");
}

}  // namespace lathe::jit
