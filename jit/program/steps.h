// What a Program is made of: private to who plans, binds, runs and explains it.
#pragma once

#include <absl/container/flat_hash_set.h>
#include <absl/functional/function_ref.h>

#include <algorithm>
#include <array>

#include "jit/program/program.h"
#include "kernels/table/prepared.h"

namespace lathe::jit {

struct FusedRows;
struct Panels;

struct Step {
  enum class Kind : uint8_t { op, kernel, rows, structure };
  Kind kind = Kind::op;
  const ir::Node* node = nullptr;  // of a row group: the last
  std::vector<int> in, out;        // slots
  std::vector<int> frees;          // slots that no later step and no result of its block reads
  bool over = false;  // its result is what in[0] ends as: where that lies, if nobody else owns it,
                      // or the arena was planned so
  /// By input: where its elements begin from the first of its slot's, in elements. Views that only
  /// such steps read are never made (`elided`); their readers start from what they are views of.
  std::vector<Int> shifts;
  bool elided = false;
  Types types;           // of the results, over symbols
  bool dynamic = false;  // mentions symbols that only running gives a value
  /// A fill, of which no element is read before all are overwritten: nothing runs.
  bool blank = false;
  /// A write of operand 1, which ends here, to the beginning of a fill that nobody sees, and that
  /// is no step. The result lies where that operand lies, if there is room behind it: what grows in
  /// a loop is not copied in each round.
  bool extends = false;
  /// Sizes alone say what it gives: positions, masks. A context computes it once for each set of
  /// them, where it is small enough to be kept from call to call.
  bool settled = false;
  /// A view of what lies where it lies for all calls with the same sizes: made once for them, too.
  bool fixed = false;
  std::vector<int> arena;  // by result: index among arena blocks, or -1; none: memory of their own
  bool in_arena() const { return !arena.empty() && arena[0] >= 0; }
  ElementKernel* kernel = nullptr;
  std::vector<std::pair<uint32_t, int>>
      symbols;  // results that say what a symbol is: (symbol, axis)
  // A contraction: the kernel that replaces its results while they are hot. Its result is used by
  // nothing else.
  std::unique_ptr<Step> epilogue;
  int replaced = -1;  // and which result of that lies where the product lies; -1: none
  // What runs without dispatch (contractions of two host operands in the result's dtype, reductions
  // of one to one result): how the operands lie, and which of them are the program's own for ever.
  std::vector<Geometry> operands;
  /// Has a product that its epilogue replaces no place but the result's, outside of the arena?
  bool shares_result() const { return replaced >= 0 && arena[0] < 0 && !operands.empty(); }
  std::vector<bool> lasting;
  /// Which of the operands that several steps of a block read alike it is, or -1; and no later step
  /// reads it.
  struct Shared {
    int number = -1;
    bool last = false;
  };
  std::array<Shared, 2> shared;
  std::optional<Geometry> view;  // a view: how it lies, from the first element of what it views
  std::vector<int> replaces;     // of the tail: which write (`written_`) each result is for, or
  static constexpr int kGivenBack = -2;  // that it is one of the program's own results
  std::unique_ptr<FusedRows> rows;
  // A product whose first operand is made of another product: both, and what lies between.
  std::unique_ptr<Panels> panels;
  // Structures: steps and result slots of each block, parameters first.
  struct Inner {
    const ir::Block* block = nullptr;
    std::vector<Step> steps;
    std::vector<int> parameters, yields;
    std::vector<bool> moves;  // by yield: its slot is the block's own, and not read again
  };
  std::vector<Inner> blocks;
  std::vector<int> hands_over;  // slots of `in` that end with what the blocks take from them
  const Program* callee = nullptr;
};

/// Kernels and reductions over the same rows that run as one kernel.
struct FusedRows {
  FusedRows(std::vector<const ir::Node*> nodes, LoweredRows lowered)
      : members(std::move(nodes)), kernel(std::move(lowered)) {}

  std::vector<const ir::Node*> members;  // in order
  RowKernel kernel;
};

/// How many rows there are.
inline Int rows_of(const FusedRows& g) {
  const Kernel& loops = g.kernel.loops();
  Int rows = 1;
  for (int axis = 0; axis < loops.parallel; ++axis)
    rows = rows * loops.axes[static_cast<size_t>(axis)].extent;
  return rows;
}

/// What makes the first operand of a product, and is used by nothing else: a product (with its
/// epilogue), and a row group that reads it and gives the operand.
struct Panels {
  Step product, rows;
};

/// What a step reads and makes, by slot.
inline const ir::Value* input(const Step& s, size_t k) {
  return s.rows ? s.rows->kernel.inputs()[k] : s.node->in(k);
}
inline const ir::Value* result(const Step& s, size_t k) {
  return s.rows ? s.rows->kernel.outputs()[k] : s.node->out(k);
}

inline bool is_view(const Step& s) {
  return s.kind == Step::Kind::op && s.node->op()->kind == Kind::view;
}

using Slots = absl::flat_hash_set<int>;
inline bool all_in(const std::vector<int>& some, const Slots& slots) {
  return std::all_of(some.begin(), some.end(), [&](int k) { return slots.contains(k); });
}

/// Which value operand k of a contraction is, and as what its op reads it: steps of one name are
/// given the same packed form (each step of an unrolled recurrent network).
std::string packed_name(const Step& step, size_t operand);
/// Calls f on what the step runs in panels, on it and on its epilogue.
template <class S, class F>
void each_part(S& step, const F& f) {
  if (step.panels) {
    each_part(step.panels->product, f);
    f(step.panels->rows);
  }
  f(step);
  if (step.epilogue) f(*step.epilogue);
}

/// Calls f on every node that runs as a part of the step, structures' blocks left out.
template <class F>
void each_node(const Step& step, const F& f) {
  if (step.panels) {
    each_node(step.panels->product, f);
    each_node(step.panels->rows, f);
  }
  if (step.rows)
    for (const ir::Node* n : step.rows->members) f(*n);
  else
    f(*step.node);
  if (step.epilogue) each_node(*step.epilogue, f);
}

/// The names of the ops that run as the step, and as its node: "add+mul"; of structures, theirs.
std::string what_runs(const Step& step);
std::string what_runs(const ir::Node& node);

/// Bytes of a settled result that a context keeps from call to call.
constexpr size_t kMostSettled = size_t{1} << 16;

/// A stretch of the arena: who makes it and who needs it last.
struct ArenaBlock {
  TensorType type;
  int first = 0, last = 0;
  bool settled = false;  // see Step
};

/// One of the two products of a step with panels, of some rows of one batch.
struct PanelProduct {
  PreparedCall whole, last;  // of as many rows as a panel has, and of those of the last one
  /// By operand, in bytes: from batch to batch along each leading axis, and from row to row.
  std::array<absl::InlinedVector<int64_t, 4>, 2> leading;
  int64_t row = 0;
  std::array<int64_t, 2> right = {};  // along both axes of operand 1

  int64_t offset(size_t operand, int64_t batch, absl::Span<const int64_t> batches) const;
};

/// How a step with panels runs, in numbers.
struct PanelPlan {
  bool fits = false;                        // else its parts run one after the other
  absl::InlinedVector<int64_t, 4> leading;  // extents of the axes before rows and columns
  int64_t batches = 1, rows = 0, cols = 0, width = 0;  // of the result: rows and `width` a batch
  int64_t each = 0;                                    // rows to a panel
  int64_t tasks = 1, panels = 1;  // tasks: of one batch or a part of it; panels: of a batch
  size_t scratch_bytes = 0;       // of a task: what lies between the products
  bool in_place = false;          // the first product's epilogue replaces its results
  int mask = -1;  // which input of that epilogue says where the first product is read at all
  PanelProduct first, second;
};
/// For these sizes and the flags as they are.
PanelPlan plan_panels(const Step& step, absl::Span<const int64_t> symbols);
/// Bytes that a run takes for itself.
size_t panels_room(const PanelPlan& plan);

/// Everything about a program that sizes decide.
struct Bound {
  struct OfPanels;
  struct OfStep {
    Types types;
    ElementKernel::Bound kernel;
    absl::InlinedVector<Tensor, 1> places;  // by result: where it lives in the arena, or none
    // Ops: arguments with holes for what comes from slots.
    std::optional<ir::Filled> filled;
    absl::InlinedVector<Arg*, 4> holes;  // by input
    const Entry* entry = nullptr;        // of the table, as flags were at `revision`
    uint64_t revision = 0;
    absl::InlinedVector<int64_t, 4> shifts;  // by input, in bytes
    PreparedCall prepared;
    std::optional<Geometry> view;
    std::array<PackedRef, 2> packed;  // of operands that last
    std::array<bool, 2> shares = {};  // of operands that steps share: it pays
    bool fixed = false;               // see Step; or settled, and kept: runs once
    bool done = false;
    std::unique_ptr<OfStep> epilogue;
    RowKernel::Bound rows;
    std::unique_ptr<OfPanels> panels;
    std::vector<std::vector<OfStep>> blocks;  // structures
  };
  std::vector<int64_t> symbols;
  std::vector<OfStep> steps;  // by position in the program's top level
  ArenaSize arena;
};

/// A step with panels: its parts, and how its products run.
struct Bound::OfPanels {
  OfStep product, rows;
  PanelPlan plan;
  uint64_t revision = 0;  // of the flags that it was made for
};

/// The value of an expression over a program's symbols.
Int evaluate(Int e, absl::Span<const int64_t> symbols);
/// Works out all that the symbols decide, and places intermediates in `arena` (which grows).
std::unique_ptr<Bound> bind(const std::vector<Step>& steps, absl::Span<const ArenaBlock> blocks,
                            std::vector<int64_t> symbols, Device device, StorageRef& arena);
/// Of an arena that has room for the blocks.
ArenaSize arena_size(absl::Span<const ArenaBlock> blocks, absl::Span<const int64_t> symbols);
/// One step alone: for those whose sizes only running tells.
void bind_step(const Step& step, absl::Span<const int64_t> symbols, Bound::OfStep& bound);

}  // namespace lathe::jit
