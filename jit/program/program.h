// A graph made ready to run: an immutable plan. Any number of threads run one Program at once; what
// changes from call to call lives in a RunContext.
//
// Values live in slots. A step is one op through the same executor as eager (so a vendor's choice
// is the same look-up, and the same bits), one fused group through its kernel, or a structure with
// steps of its own. Sizes are Ints over the graph's symbols: for each new set of sizes they are
// worked out once (Bound), and the arena that holds intermediates is laid out then, by lifetime.
#pragma once

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "graph/ir/arguments.h"
#include "graph/ir/datum.h"
#include "graph/ir/detail.h"
#include "graph/ir/ir.h"
#include "graph/rewrite/user_rules.h"
#include "jit/kernel/element_kernel.h"
#include "jit/kernel/row_kernel.h"
#include "jit/program/packed.h"

namespace lathe::jit {

/// What is placed in an arena, in bytes, and below what no placing could go: the most that lives at
/// one step, with what is kept from call to call.
struct ArenaSize {
  size_t bytes = 0, least = 0;
};

struct Step;
struct Bound;
struct ArenaBlock;
class RunContext;

/// How a run went: for tests, counters and explain().
struct RunCounts {
  int64_t ops = 0, kernels_generated = 0, kernels_simd = 0, kernels_moved = 0, bindings = 0;
  int64_t alike_rounds = 0;  // of loops, that ran by addresses alone (runner_rounds.h)
  int64_t in_panels = 0;     // products that ran some rows at a time (runner_panels.cpp)

  RunCounts& operator+=(const RunCounts& other);
};

/// What holds for a program and its derivatives alike.
struct Terms {
  ir::UserRulesRef rules = ir::user_rules();  // that graphs are rewritten by, now and later
  bool keeps_arena = true;                    // between calls, however large it is
};

class Program {
 public:
  /// Plans the graph as it is: passes have run. The graph is kept. `strided`: by output, whether it
  /// may come as it lies; others are in row-major order. `keeps_arena`: as in Terms.
  explicit Program(ir::Graph graph, std::vector<bool> strided = {}, bool keeps_arena = true);
  ~Program();
  Program(const Program&) = delete;

  const ir::Graph& graph() const { return graph_; }
  /// Runs on `inputs` (all of the graph's) and makes its writes good. The graph's outputs.
  ir::Data run(const ir::Data& inputs, RunContext& context) const;
  /// In a context that no other call is using; it is kept for the calls to come.
  ir::Data run(const ir::Data& inputs) const;
  /// Of all runs in contexts of its own that have ended, and in the functions it calls.
  RunCounts counts() const;
  /// Of the arenas, the most that such runs have taken.
  ArenaSize peak() const;
  /// Of all that is allocated, what a first run on inputs like these will take (memory.h).
  size_t peak_bytes(const ir::Data& inputs) const;

  // What follows tells of the functions that are called as well, behind the graph's own steps.

  /// A line a step: what it computes, what runs it, the user's line; then how many steps each
  /// runs. In all detail also its parts, its bits, figures, and why not another.
  std::string explain(ir::Detail detail) const;
  /// The plan as instructions on buffers: where each is made and freed, what an instruction reads,
  /// writes, or does in place; a structure has a list of its own for each block.
  std::string instructions() const;
  /// The loops of every kernel, before any machine's code.
  std::string loops() const;
  /// Every kernel in the instructions of vectors that its machine code is made of, or why there are
  /// none.
  std::string vectors() const;
  /// How each node of the graph runs: the primitive, and with which others it is one step (all of
  /// the same `unit`, unless that is -1), in words.
  struct HowItRuns {
    std::string entry, together;
    int unit = -1;
  };
  using Runs = absl::flat_hash_map<const ir::Node*, HowItRuns>;
  Runs runs() const;
  /// The kernel chosen for each op of the graph, in the order in which they run. Ops of a group
  /// have the group's.
  struct NodeKernel {
    std::string op, kernel;
    Site site;
  };
  std::vector<NodeKernel> node_kernels() const;
  int kernels() const;
  /// How many changes each pass over the plan made (plan/plan.h), functions included.
  std::map<std::string, int, std::less<>> changes() const;
  /// Steps that a run has to start: calls and kernels, without views and numbers.
  int launches() const;
  /// Compiles every kernel now; what could not be, and why.
  std::string compile() const;
  /// Constants that nobody but this program and its graph knows are there once from now on, plain
  /// or packed (held_packed.h).
  void hold_constants();
  uint64_t hash() const { return graph_.hash(); }
  /// A function of the graph as it is planned; null if nothing calls it.
  const Program* planned(const std::string& function) const;

 private:
  std::string own_instructions() const;
  std::string own_explain(ir::Detail detail) const;
  void add_node_kernels(const ir::Block& block, const Runs& runs,
                        std::vector<NodeKernel>& out) const;
  /// Calls f on its own, then on those of the functions: kernels, then row kernels.
  template <class F>
  void each_kernel(const F& f) const {
    for (const auto& k : kernels_) f(*k);
    for (const RowKernel* k : row_kernels_) f(*k);
    for (const auto& [name, program] : functions_) {
      for (const auto& k : program->kernels_) f(*k);
      for (const RowKernel* k : program->row_kernels_) f(*k);
    }
  }
  friend class RunContext;
  friend class Runner;
  friend class Planner;
  friend class Footprint;
  /// A function of the graph of `root`, not planned yet.
  Program(ir::Graph function, Program& root);
  /// The function of this name, which may be the graph itself: planned once, wherever it is called
  /// from. Of the root.
  Program& function(const std::string& name);

  ir::Graph graph_;
  Program* root_ = this;                                       // whose functions are called here
  std::map<std::string, std::unique_ptr<Program>> functions_;  // in the order of their names
  std::vector<Step> steps_;
  /// Where the steps begin that only replace inputs: they run last, write where the input lies, and
  /// cannot fail.
  size_t tail_ = 0;
  int slots_ = 0;
  std::vector<int> input_slots_;
  std::vector<int> result_slots_;  // outputs, then what is written
  std::vector<size_t> written_;    // which inputs that is
  std::vector<bool> replaced_;     // by write: a step of the tail computes its value
  std::vector<bool> strided_;      // by output; beyond the end: no
  bool keeps_arena_ = true;
  /// By output: a step makes it, in memory that no other value had when it was made.
  std::vector<bool> made_;
  std::vector<ir::SymbolSource> sources_;
  std::vector<std::pair<int, ir::Datum>> constants_;  // slots that never change
  absl::flat_hash_set<int> packed_only_;              // those that may be kept in packed form only
  std::vector<std::unique_ptr<ElementKernel>> kernels_;
  std::vector<const RowKernel*> row_kernels_;  // of the steps
  std::vector<ArenaBlock> arena_;
  std::vector<int> loose_;  // slots that hold something of one call only
  int shared_operands_ = 0;
  std::map<std::string, int, std::less<>> changes_;  // of its own plan
  /// That of the first tensor among the inputs; what lies on another has memory of its own.
  Device arena_device() const;
  mutable PackedOperands packed_;

  mutable std::mutex mutex_;  // of what follows
  mutable std::vector<std::unique_ptr<RunContext>> idle_;
  mutable RunCounts counts_;
  mutable ArenaSize peak_;
};

/// Per-call state: slots, the arena, what was bound last. One call at a time.
class RunContext {
 public:
  explicit RunContext(const Program& program);
  ~RunContext();
  RunContext(RunContext&&) noexcept;
  const RunCounts& counts() const { return counts_; }
  /// Of the arena, for the sizes of the last call.
  ArenaSize arena_size() const;

 private:
  friend class Runner;
  friend class Program;
  const Program* program_;
  std::unique_ptr<Bound> bound_;
  std::vector<ir::Datum> slots_;
  std::vector<std::byte*> addresses_;  // by slot: the first element; null: no tensor
  StorageRef arena_;
  RunCounts counts_;
};

}  // namespace lathe::jit
