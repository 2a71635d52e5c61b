#include "jit/kernel_ir/kernel.h"

namespace lathe::jit {

Kernel kernel_of_elements(const ScalarFunction& f, Int extent, absl::Span<const Int> strides) {
  LATHE_CHECK(strides.size() == f.inputs.size());
  Kernel kernel;
  kernel.axes = {{extent}};
  kernel.parallel = 1;
  kernel.inputs = static_cast<int>(f.inputs.size());
  kernel.outputs = static_cast<int>(f.output_types.size());
  Compute compute{f, {}, {}};
  const auto add = [&](DType d, Int stride) {
    kernel.buffers.push_back({d});
    return Access{static_cast<int>(kernel.buffers.size()) - 1, {Int(0), {stride}}};
  };
  for (size_t k = 0; k < f.inputs.size(); ++k)
    compute.operands.emplace_back(add(f.inputs[k], strides[k]));
  for (DType d : f.output_types) compute.stores.push_back(add(d, Int(1)));
  kernel.body.push_back({std::move(compute)});
  count_facts(kernel);
  return kernel;
}

}  // namespace lathe::jit
