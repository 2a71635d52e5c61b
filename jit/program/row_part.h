// A row group under way: its members take turns on a few rows at a time (see group_rows.cpp for
// which steps are in one, RowGroup for what is planned, Bound::OfStep for what sizes decide).
#pragma once

#include <deque>
#include <optional>

#include "jit/program/steps.h"

namespace lathe::jit {

/// A kernel about to run: where its tensors lie, and its numbers.
struct KernelCall {
  absl::InlinedVector<std::byte*, 8> buffers;  // inputs then results; null: a temporary
  absl::InlinedVector<uint64_t, 4> uniforms;
  PointwiseKernel::Run run;
};

/// A member on its turn. Stays where it is: its launch refers to its call.
struct RowPart {
  RowPart(const RowGroup::Member& m, int64_t positions) : member(m), inner(positions) {}
  RowPart(const RowPart&) = delete;

  const RowGroup::Member& member;
  int64_t inner;  // positions a row
  KernelCall call;
  std::optional<PointwiseKernel::Launch> launch;  // a kernel's; none: a reduction

  /// Rows [first, end); `ahead`: how many further the next turn begins. `temporaries`: where each
  /// would begin if all rows of it were there.
  void run(absl::Span<std::byte* const> temporaries, int64_t first, int64_t end, int64_t ahead);

 private:
  /// Where a buffer begins, or would.
  std::byte* origin(absl::Span<std::byte* const> temporaries, size_t buffer) const;
};

/// What run_rows takes of the allocator: scratch memory of each thread.
size_t rows_room(const RowGroup& group, const Bound::OfStep& bound);
/// All rows of a bound group, shared out to threads. Throws what a check found.
void run_rows(const RowGroup& group, const Bound::OfStep& bound, std::deque<RowPart>& parts);

}  // namespace lathe::jit
