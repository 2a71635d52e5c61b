// One program over whole tensors.
#pragma once

#include <string>

#include "core/base/site.h"
#include "core/tensor/random.h"
#include "kernels/own/program.h"
#include "kernels/problem/operand.h"

namespace lathe::own {

struct Pass {
  const Program* program = nullptr;
  absl::InlinedVector<Operand, 2> outs;
  absl::InlinedVector<Operand, 4> ins;  // broadcast to the outputs' shape
  RandomState random;
  Engine engine = Engine::strips;
  std::string op;  // for the error of a failed check
  Site site;
};

/// Runs at once, on the pool. ValueError names the lowest element whose check failed.
void run_pass(const Pass& pass);

}  // namespace lathe::own
