// The calls whose kernels are compiled when the library is built.
#pragma once

#include <functional>
#include <vector>

#include "core/tensor/tensor.h"

namespace lathe::jit {

struct AheadCall {
  std::vector<Shape> inputs;  // no size is 0 or 1, and none stands for another: kernels serve all
  std::function<Tensor(const Tensors&)> run;
};

/// What common ops do at once in eager code by several steps, as calls that are like a program's.
std::vector<AheadCall> ahead_calls();

}  // namespace lathe::jit
