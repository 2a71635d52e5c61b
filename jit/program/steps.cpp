#include "jit/program/steps.h"

#include <absl/strings/str_cat.h>

namespace lathe::jit {

std::string packed_name(const Step& step, size_t operand) {
  const Geometry& lies = step.operands[operand];
  std::string name = absl::StrCat(step.node->op()->name(), " ", operand, " of b", step.in[operand],
                                  " from ", to_string(step.shifts[operand]), " ",
                                  to_string(lies.shape), " ", to_string(lies.strides));
  const Args args = step.node->attrs();
  for (const Arg& arg : args) absl::StrAppend(&name, ", ", to_string(arg));
  return name;
}

}  // namespace lathe::jit
