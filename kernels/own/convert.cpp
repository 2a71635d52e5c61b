#include "kernels/own/convert.h"

#include "kernels/own/copy.h"
#include "kernels/own/elementwise_launch.h"

namespace lathe::own {

void convert(const Operand& from, const Operand& to) {
  if (from.dtype == to.dtype) return copy_elements(from, to);
  ElementwiseLaunch launch;
  launch.program = &conversion(from.dtype, to.dtype);
  launch.outs.push_back(to);
  launch.ins.push_back(from);
  run_elementwise(launch);
}

}  // namespace lathe::own
