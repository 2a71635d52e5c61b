// The folds of reducing and scanning rows, ready to run.
#pragma once

#include "kernels/bodies.h"
#include "kernels/operand.h"
#include "kernels/strips/fold.h"

namespace lathe::own {

struct FoldPrograms {
  explicit FoldPrograms(FoldBodies b)
      : bodies(std::move(b)),
        fold(bodies),
        lift(bodies.lift),
        combine(bodies.combine),
        finish(bodies.finish) {}

  FoldBodies bodies;
  FoldProgram fold;
  StripProgram lift, combine, finish;
};

/// Of a row for these types, made once.
const FoldPrograms& fold_of(const Op& op, const ElementTypes& types, DType stored);

}  // namespace lathe::own
