// The reductions of reducing and scanning definitions, ready to run.
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <optional>

#include "kernels/own/program.h"
#include "kernels/problem/bodies.h"
#include "kernels/problem/operand.h"
#include "kernels/simd/reduce.h"
#include "kernels/table/table.h"

namespace lathe::own {

/// The whole reduction of `count` elements as one body: an input an element. For reductions whose
/// unit is a neutral element on the right of anything combined with it; at most 16 elements.
ScalarFunction unrolled(const ReduceBodies& bodies, int64_t count);

/// Of a scan whose state is the best value so far and its place, the last of equal ones, and whose
/// result is the place: is the best the highest?
std::optional<bool> running_place(const ReduceBodies& bodies);

class ReducePrograms {
 public:
  static constexpr int64_t kFew = 8;

  explicit ReducePrograms(ReduceBodies b)
      : bodies(std::move(b)),
        fold(bodies),
        lift(bodies.lift),
        combine(bodies.combine),
        finish(bodies.finish),
        running_place(own::running_place(bodies)) {}

  /// The reduction of so few elements as a body over as many inputs, made once; null if it has to
  /// be folded.
  const Program* few(int64_t count) const;

  ReduceBodies bodies;
  ReduceProgram fold;
  SimdProgram lift, combine, finish;
  std::optional<bool> running_place;

 private:
  mutable std::mutex mutex_;
  mutable std::array<std::unique_ptr<Program>, kFew + 1> few_;
};

/// Of a row for these types, made once.
const ReducePrograms& reduce_of(const Op& op, const ElementTypes& types, DType stored);

/// A reduction of one result, worked out once for how its operands lie.
PreparedRef reduce_prepare(const Entry& entry, const Problem& problem);
void reduce_run(const Entry& entry, const Prepared& plan, const Launch& launch);
void reduce_run_by_reference(const Entry& entry, const Prepared& plan, const Launch& launch);

}  // namespace lathe::own
