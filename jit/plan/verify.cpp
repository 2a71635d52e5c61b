#include <absl/strings/str_cat.h>

#include <string>

#include "jit/plan/plan.h"

namespace lathe::jit {
namespace {

/// Which slots hold something, step by step.
class PlanVerifier {
 public:
  explicit PlanVerifier(const Slots& given) : held_(given) {}

  void block(const std::vector<Step>& steps) {
    for (const Step& s : steps) {
      each_part(s, [&](const Step& part) {
        reads(part, part.extends ? std::vector<int>{part.in[1]} : part.in);
        if (s.blocks.empty()) held_.insert(part.out.begin(), part.out.end());
        if (part.shifts.size() != part.in.size()) wrong(part, "has not a shift for each operand");
      });
      const Slots before = held_;
      for (const Step::Inner& inner : s.blocks) {
        // The rounds of a while see the parameters of its condition.
        if (!s.node->is(ir::Structure::while_)) held_ = before;
        held_.insert(inner.parameters.begin(), inner.parameters.end());
        block(inner.steps);
        reads(s, inner.yields);
      }
      held_ = before;  // what a branch freed, the step frees
      held_.insert(s.out.begin(), s.out.end());
      if (s.epilogue && s.dynamic) wrong(s, "has an epilogue, and only running tells its sizes");
      for (int slot : s.frees)
        if (held_.erase(slot) == 0 && s.blocks.empty())  // else it may be of the blocks
          wrong(s, absl::StrCat("frees b", slot, ", which is not there"));
    }
  }

  /// Behind the first step that replaces inputs there is none that reads one of these, nor one that
  /// replaces none. `written`: the inputs' slots, by write.
  void tail(const std::vector<Step>& steps, const std::vector<int>& written) {
    Slots replaced;
    bool begun = false;
    for (const Step& s : steps) {
      if (begun && s.replaces.empty()) wrong(s, "stands behind a step that replaces an input");
      begun = begun || !s.replaces.empty();
      each_read(s, [&](int slot) {
        if (replaced.contains(slot)) wrong(s, absl::StrCat("reads b", slot, ", which is replaced"));
      });
      for (int write : s.replaces)
        if (write >= 0) replaced.insert(written[static_cast<size_t>(write)]);
    }
  }

  void results(const std::vector<int>& slots) {
    for (int slot : slots)
      if (!held_.contains(slot) && problem_.empty())
        problem_ = absl::StrCat("the result b", slot, " is not there");
  }
  std::string take() { return std::move(problem_); }

 private:
  void reads(const Step& s, const std::vector<int>& slots) {
    for (int slot : slots)
      if (!held_.contains(slot)) wrong(s, absl::StrCat("reads b", slot, ", which is not there"));
  }
  void wrong(const Step& s, std::string_view what) {
    if (problem_.empty()) problem_ = absl::StrCat(what_runs(s), " ", what);
  }

  Slots held_;
  std::string problem_;
};

}  // namespace

std::string verify_plan(const std::vector<Step>& steps, const Slots& given,
                        const std::vector<int>& results, const std::vector<int>& written) {
  PlanVerifier verifier(given);
  verifier.block(steps);
  verifier.tail(steps, written);
  verifier.results(results);
  return verifier.take();
}

}  // namespace lathe::jit
