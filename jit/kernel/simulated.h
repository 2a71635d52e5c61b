// How kernels of programs run on the device `sim`: as they run on the host, unless somebody takes
// them over to look for races in them (jit/simt/run.h, which the library does not contain).
#pragma once

#include <functional>

#include "jit/kernel_ir/kernel.h"

namespace lathe::jit {

struct SimulatedCall {
  const Kernel& kernel;
  absl::Span<std::byte* const> buffers;  // inputs then outputs
  absl::Span<const uint64_t> uniforms;   // bits
  std::function<int64_t(Int)> value;     // of the kernel's sizes
};
/// Whether it has done the call. What it throws reaches whoever waits for the device.
using Simulator = bool (*)(const SimulatedCall&);

/// Null: none. To be set where nothing else runs.
void set_simulator(Simulator simulator);
Simulator simulator();

}  // namespace lathe::jit
