// The folds of reducing and scanning rows, ready to run.
#pragma once

#include <array>
#include <memory>
#include <mutex>

#include "kernels/own/program.h"
#include "kernels/problem/bodies.h"
#include "kernels/problem/operand.h"
#include "kernels/simd/fold.h"
#include "kernels/table/table.h"

namespace lathe::own {

/// The whole fold of `count` elements as one body: an input an element. For folds whose unit is a
/// neutral element on the right of anything combined with it; at most 16 elements.
ScalarFunction unrolled(const FoldBodies& bodies, int64_t count);

class FoldPrograms {
 public:
  static constexpr int64_t kFew = 8;

  explicit FoldPrograms(FoldBodies b)
      : bodies(std::move(b)),
        fold(bodies),
        lift(bodies.lift),
        combine(bodies.combine),
        finish(bodies.finish) {}

  /// The fold of so few elements as a body over as many inputs, made once; null if it has to be
  /// folded.
  const Program* few(int64_t count) const;

  FoldBodies bodies;
  FoldProgram fold;
  StripProgram lift, combine, finish;

 private:
  mutable std::mutex mutex_;
  mutable std::array<std::unique_ptr<Program>, kFew + 1> few_;
};

/// Of a row for these types, made once.
const FoldPrograms& fold_of(const Op& op, const ElementTypes& types, DType stored);

/// A reduction of one result, worked out once for how its operands lie.
PreparedRef reduce_prepare(const Entry& entry, const Problem& problem);
void reduce_run(const Entry& entry, const Prepared& plan, const Launch& launch);
void reduce_run_by_reference(const Entry& entry, const Prepared& plan, const Launch& launch);

}  // namespace lathe::own
