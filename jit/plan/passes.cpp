#include "jit/kernel_ir/scheduling.h"
#include "jit/plan/plan.h"

namespace lathe::jit {
namespace {

using Blocks = PlanPass::Blocks;
using Turn = PlanPass::Turn;

/// All, in the order in which they run.
constexpr PlanPass kPasses[] = {
    {"join_epilogues", Blocks::all, Turn::early, join_epilogues},
    {"fuse_rows", Blocks::all, Turn::early, fuse_rows},
    {"put_writes_off", Blocks::inner, Turn::early, put_writes_off},
    {"join_panels", Blocks::outermost, Turn::early, join_panels},
    {"replace_inputs", Blocks::outermost, Turn::early, replace_inputs},
    {"skip_fills", Blocks::all, Turn::early, skip_fills},
    {"extend_values", Blocks::inner, Turn::lifetimes_known, extend_values},
    {"share_operands", Blocks::all, Turn::lifetimes_known, share_operands},
};

void run(std::vector<Step>& steps, Turn turn, bool outermost, const PlanScope& scope) {
  for (Step& s : steps)
    for (Step::Inner& inner : s.blocks) run(inner.steps, turn, false, scope);
  for (const PlanPass& pass : kPasses) {
    const bool here = pass.blocks == Blocks::all || (pass.blocks == Blocks::outermost) == outermost;
    if (pass.turn == turn && here && !scope.rewrites.off(pass.name)) pass.run(steps, scope);
  }
}

}  // namespace

void schedule(Kernel& kernel, ir::Rewrites& rewrites) {
  Schedule best = choose_schedule(kernel);
  if (!best.empty() && rewrites.allow(kChooseSchedule)) kernel.schedule = std::move(best);
}

void run_plan_passes(std::vector<Step>& steps, Turn turn, const PlanScope& scope) {
  run(steps, turn, true, scope);
}

std::vector<std::string_view> plan_rewrite_names() {
  std::vector<std::string_view> out = {kElideViews, kChooseSchedule, kPlaceInArena, kWriteOver};
  for (const PlanPass& pass : kPasses) out.push_back(pass.name);
  return out;
}

}  // namespace lathe::jit
