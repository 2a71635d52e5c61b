// Steps that replace inputs, element by element, and make nothing else but results: the updates of
// a step of training. No step reads what they make, so they are put at the end. They run when all
// results have a place, and write where the input lies.
#include <algorithm>

#include "jit/plan/plan.h"

namespace lathe::jit {
namespace {

using ir::Value;

class Replacing {
 public:
  Replacing(std::vector<Step>& steps, const PlanScope& scope)
      : steps_(steps), scope_(scope), tail_(steps.size()) {}

  void run() {
    for (size_t i = steps_.size(); i-- > 0;) {
      std::vector<int> writes = replaced_by(steps_[i]);
      if (writes.empty() || !scope_.rewrites.allow("replace_inputs")) continue;
      steps_[i].replaces = std::move(writes);
      // Behind what is no such step, before those found so far.
      const auto at = [&](size_t k) { return steps_.begin() + static_cast<ptrdiff_t>(k); };
      std::rotate(at(i), at(i + 1), at(tail_));
      --tail_;
    }
  }

 private:
  static constexpr int kNone = -1;

  /// Which writes this step, which is to run just before the tail, computes the values of, by
  /// result; none: some result is for none, or may not lie where the input lies.
  std::vector<int> replaced_by(const Step& s) const {
    if (s.kind != Step::Kind::kernel || s.dynamic || !s.symbols.empty() ||
        s.kernel->loops().facts.has_checks)
      return {};
    std::vector<int> writes;
    for (size_t k = 0; k < s.types.size(); ++k) {
      writes.push_back(replaced_by(s, k));
      if (writes.back() == kNone) return {};
    }
    const bool any = std::any_of(writes.begin(), writes.end(), [](int w) { return w >= 0; });
    return any ? writes : std::vector<int>();
  }

  int replaced_by(const Step& s, size_t k) const {
    const ir::Graph& graph = scope_.graph;
    const Value* made = s.node->out(k);
    const auto& yields = graph.body().yields();
    const size_t outputs = yields.size() - graph.writes().size();
    auto at = static_cast<size_t>(std::find(yields.begin(), yields.end(), made) - yields.begin());
    if (made->uses().size() != 1 || at == yields.size()) return kNone;
    if (at < outputs) return Step::kGivenBack;
    const Value* input = graph.writes()[at - outputs].input;
    const TensorType &from = made->tensor(), &to = input->tensor();
    bool fits = from.dtype == to.dtype && from.device == to.device &&
                to.device.kind == DeviceKind::cpu &&
                identical(from.shape, scope_.geometry.at(input).shape);
    auto is_root = [&](const Value* v) { return root_of(v) == input; };
    if (!fits || std::any_of(yields.begin(), yields.end(), is_root)) return kNone;
    for (size_t i = tail_; i < steps_.size(); ++i)
      if (std::any_of(steps_[i].node->in().begin(), steps_[i].node->in().end(), is_root))
        return kNone;
    return reads_only_where_it_writes(s, k, is_root) ? static_cast<int>(at - outputs) : kNone;
  }

  std::vector<Step>& steps_;
  const PlanScope& scope_;
  size_t tail_;  // where those begin that are at the end
};

}  // namespace

void replace_inputs(std::vector<Step>& steps, const PlanScope& scope) {
  Replacing(steps, scope).run();
}

}  // namespace lathe::jit
