// One scalar program over whole tensors: what it runs on, and the loop that runs it.
#pragma once

#include <string>

#include "core/base/site.h"
#include "core/tensor/random.h"
#include "kernels/own/program.h"
#include "kernels/problem/operand.h"

namespace lathe::own {

struct ElementwiseLaunch {
  const Program* program = nullptr;
  absl::InlinedVector<Operand, 2> outs;
  absl::InlinedVector<Operand, 4> ins;  // broadcast to the outputs' shape
  RandomState random;
  Engine engine = Engine::simd;
  std::string op;  // for the error of a failed check
  Site site;
};

/// Computes every element before it returns, on the thread pool. Throws ValueError that names the
/// lowest element whose check failed.
void run_elementwise(const ElementwiseLaunch& launch);

}  // namespace lathe::own
