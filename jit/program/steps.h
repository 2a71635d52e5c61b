// What a Program is made of: private to who plans, binds, runs and explains it.
#pragma once

#include <array>

#include "jit/program/program.h"
#include "kernels/own/reduce.h"
#include "kernels/table/prepared.h"

namespace lathe::jit {

struct RowGroup;

struct Step {
  enum class Kind : uint8_t { op, kernel, rows, structure };
  Kind kind = Kind::op;
  const ir::Node* node = nullptr;
  std::vector<int> in, out;  // slots
  std::vector<int> frees;    // of the top level: slots that no later step and no result reads
  /// By input: where its elements begin from the first of its slot's, in elements. Views that only
  /// such steps read are never made (`elided`); their readers start from what they are views of.
  std::vector<Int> shifts;
  bool elided = false;
  Types types;           // of the results, over symbols
  bool dynamic = false;  // mentions symbols that only running gives a value
  int arena = -1;        // index among arena blocks of result 0; -1: its own memory
  PointwiseKernel* kernel = nullptr;
  std::vector<std::pair<uint32_t, int>>
      symbols;  // results that say what a symbol is: (symbol, axis)
  // A contraction: the kernel that replaces its results while they are hot. Its result is used by
  // nothing else.
  std::unique_ptr<Step> epilogue;
  // What runs without dispatch (contractions of two host operands in the result's dtype, reductions
  // of one to one result): how the operands lie, and which of them are the program's own for ever.
  std::vector<Geometry> operands;
  std::vector<bool> lasting;
  std::optional<Geometry> view;  // a view: how it lies, from the first element of what it views
  int replaces = -1;             // of the tail: which write (`written_`) the one result is for
  std::unique_ptr<RowGroup> rows;
  // Structures: steps and result slots of each block, parameters first.
  struct Inner {
    const ir::Block* block = nullptr;
    std::vector<Step> steps;
    std::vector<int> parameters, yields;
  };
  std::vector<Inner> blocks;
  const Program* callee = nullptr;
};

/// Kernels and reductions over the same rows, run together a few rows at a time, so that what goes
/// from one to the next stays in a near cache. Row r of each is row r of every other.
struct RowGroup {
  struct Member {
    Step step;  // a kernel, or an op that reduces what is inside the row
    Int inner;  // positions a row: of the kernel, or reduced into one
    const own::ReducePrograms* fold = nullptr;  // of a reduction
    std::vector<size_t> inputs;                 // which of the step's are the tensors it reads
    std::vector<int> temporary;                 // by input, then result: which it is, or -1

    bool keeps(size_t result) const { return temporary[inputs.size() + result] < 0; }
  };
  /// A value that only members read: it lives in scratch memory, a few rows of it at a time, or
  /// where a result will be that is made of it, element by element.
  struct Temporary {
    DType dtype;
    Int elements;          // a row
    int replaced_by = -1;  // the member whose one result takes its place
  };
  Int rows;
  std::vector<Member> members;
  std::vector<Temporary> temporaries;
  /// All of it as one kernel, which runs where there is machine code; or why there is none.
  std::unique_ptr<RowKernel> kernel;
  std::string why_not;
  struct Of {
    size_t member, number;  // which input or result of which member
  };
  std::vector<Of> inputs, outputs;  // of the kernel
};

/// Reductions take so many rows side by side.
inline constexpr int64_t kRowsAbreast = 4;

/// Joins steps of a block of `graph` into row groups, in place.
void group_rows(std::vector<Step>& steps, const Geometries& geometry, const ir::Graph& graph);

/// Calls f on the step and on all that run as a part of it, structures' blocks left out.
template <class S, class F>
void each_part(S& step, F f) {
  f(step);
  if (step.epilogue) f(*step.epilogue);
  if (step.rows)
    for (auto& member : step.rows->members) f(member.step);
}

/// A stretch of the arena: who makes it and who needs it last.
struct ArenaBlock {
  TensorType type;
  int first = 0, last = 0;
};

/// Everything about a program that sizes decide.
struct Bound {
  struct OfStep {
    Types types;
    PointwiseKernel::Bound kernel;
    Tensor place;  // result 0, where it lives in the arena
    // Ops: arguments with holes for what comes from slots.
    std::optional<ir::Filled> filled;
    absl::InlinedVector<Arg*, 4> holes;  // by input
    const Entry* entry = nullptr;        // of the table, as flags were at `revision`
    uint64_t revision = 0;
    absl::InlinedVector<int64_t, 4> shifts;  // by input, in bytes
    PreparedCall prepared;
    std::optional<Geometry> view;
    std::array<PackedRef, 2> packed;  // of operands that last
    bool fixed = false;               // a view of what never moves: computed once
    bool done = false;
    std::unique_ptr<OfStep> epilogue;
    // Row groups:
    int64_t rows = 0, block = 1;  // rows at a time
    std::vector<OfStep> members;
    RowKernel::Bound row_kernel;
    std::vector<int64_t> inner;               // by member
    std::vector<int64_t> scratch, row_bytes;  // by temporary: where it begins or -1, bytes a row
    size_t scratch_bytes = 0;
    std::vector<std::vector<OfStep>> blocks;  // structures
  };
  std::vector<int64_t> symbols;
  std::vector<OfStep> steps;  // by position in the program's top level
  size_t arena_bytes = 0;
};

/// The value of an expression over a program's symbols.
Int evaluate(Int e, absl::Span<const int64_t> symbols);
/// Works out all that the symbols decide, and places intermediates in `arena` (which grows).
std::unique_ptr<Bound> bind(const std::vector<Step>& steps, absl::Span<const ArenaBlock> blocks,
                            std::vector<int64_t> symbols, Device device, StorageRef& arena);
/// Bytes of an arena that has room for the blocks.
size_t arena_bytes(absl::Span<const ArenaBlock> blocks, absl::Span<const int64_t> symbols);
/// One step alone: for those whose sizes only running tells.
void bind_step(const Step& step, absl::Span<const int64_t> symbols, Bound::OfStep& bound);

}  // namespace lathe::jit
