// How a graph becomes a plan: its nodes are lowered to steps (planner.cpp), then passes change the
// steps (passes.cpp), then what they make gets a place (lifetimes.cpp, arena.cpp).
//
// A pass makes one kind of decision. It asks for each change by its own name, like a rewrite of the
// graph: so it can be switched off (flag `rewrites_off`), is counted, and is found by bisection
// (flag `rewrite_limit`). A plan without any of them gives the same bits, slower.
#pragma once

#include <absl/functional/function_ref.h>

#include "graph/rewrite/rewrites.h"
#include "jit/program/steps.h"

namespace lathe::jit {

/// What passes may look at, and where they ask.
struct PlanScope {
  const ir::Graph& graph;
  const Geometries& geometry;  // how every value lies
  const SymScope& sizes;       // what the graph states about sizes
  ir::Rewrites& rewrites;
  int& shared_operands;  // how many such (Step::shared) there are so far
};

struct PlanPass {
  /// Whose steps it changes: the program's, those of blocks inside of structures, or both.
  enum class Blocks : uint8_t { all, outermost, inner };
  /// Whether it runs when it is known how long values live (Step::frees).
  enum class Turn : uint8_t { early, lifetimes_known };

  std::string_view name;
  Blocks blocks;
  Turn turn;
  void (*run)(std::vector<Step>& steps, const PlanScope& scope);  // of one block
};

/// All that a plan asks for by name.
std::vector<std::string_view> plan_rewrite_names();
/// Runs those of this turn on the steps and on those in their blocks, innermost first.
void run_plan_passes(std::vector<Step>& steps, PlanPass::Turn turn, const PlanScope& scope);

// The passes, by file.
void join_epilogues(std::vector<Step>& steps, const PlanScope& scope);
void fuse_rows(std::vector<Step>& steps, const PlanScope& scope);
void put_writes_off(std::vector<Step>& steps, const PlanScope& scope);
void join_panels(std::vector<Step>& steps, const PlanScope& scope);
void replace_inputs(std::vector<Step>& steps, const PlanScope& scope);
void skip_fills(std::vector<Step>& steps, const PlanScope& scope);
void extend_values(std::vector<Step>& steps, const PlanScope& scope);
void share_operands(std::vector<Step>& steps, const PlanScope& scope);

/// Empty, or the first thing that is wrong: a slot that is read before it is made or after it is
/// freed, a result that is not there, an input that is read when it has been replaced. `given`:
/// what holds something from the first step on; `written`: the inputs that are written to, by
/// write.
std::string verify_plan(const std::vector<Step>& steps, const Slots& given,
                        const std::vector<int>& results, const std::vector<int>& written);

// What is decided while nodes are lowered, and while places are given: asked for by these names.
inline constexpr std::string_view kElideViews = "elide_views", kChooseSchedule = "choose_schedule",
                                  kPlaceInArena = "place_in_arena", kWriteOver = "write_over";

/// Says how the kernel is walked.
void schedule(Kernel& kernel, ir::Rewrites& rewrites);

// ── values that are overwritten ─────────────────────────────────────────────────────────────────

/// The write of a slice that alone reads `v`, and reads it as what it writes to; null: none does.
const ir::Node* written_by(const ir::Value* v);
/// Are all elements of what a fill made written over before any of them is read, as `cat` and the
/// gradients of slices that make up all of a tensor have it?
bool is_overwritten(const ir::Value* made, const SymScope& sizes);

// ── lifetimes and places ────────────────────────────────────────────────────────────────────────

/// Calls f on every slot that a step reads, or makes, those inside of its blocks included.
void each_read(const Step& s, absl::FunctionRef<void(int)> f);
void each_made(const Step& s, absl::FunctionRef<void(int)> f);

/// Those of `slots` that one operand of one step reads, as what lasts and outside of blocks, and
/// nothing else does.
Slots read_by_one(const std::vector<Step>& steps, const Slots& slots);

/// Is the result the first operand but for some elements, which nothing else of the step reads?
bool writes_some(const Step& s);
/// Says of steps, and of those in their blocks, what of `frees`, `over`, `moves` and `hands_over`
/// there is. `stays`: slots that outlive the steps.
void plan_lifetimes(std::vector<Step>& steps, const Slots& stays);

/// What of the steps lies where it lies for all calls with the same sizes.
struct ArenaPlan {
  std::vector<ArenaBlock> blocks;
  Slots fixed;  // constants, what is in the arena, and views of both
};
/// Gives results places in the arena, which is on `device`, and says of the steps what of `arena`,
/// `replaced`, `settled` and `fixed` there is. `dynamic`: only running gives the symbol a value.
ArenaPlan plan_arena(std::vector<Step>& steps, const PlanScope& scope, const Slots& constants,
                     Device device, absl::FunctionRef<bool(uint32_t)> dynamic);

/// Kinds whose kernels write result 0 where they are told to (Call::into).
bool writes_into(const Op& op);
/// Which value's memory a value's elements lie in.
const ir::Value* root_of(const ir::Value* v);
/// Does the kernel read such inputs only where it writes a result, so that this may lie there?
template <class Such>
bool reads_only_where_it_writes(const Step& s, size_t result, Such such) {
  const std::vector<int>& tensors = s.kernel->tensors();
  for (size_t k = 0; k < tensors.size(); ++k) {
    auto i = static_cast<size_t>(tensors[k]);
    if (such(s.node->in(tensors[k])) &&
        !(identical(s.shifts[i], Int(0)) && s.kernel->may_replace(k, result)))
      return false;
  }
  return true;
}

}  // namespace lathe::jit
