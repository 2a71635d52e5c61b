// Schedules (schedule.h) of kernels: which are legal, which is best, and what they leave to the
// code.
#pragma once

#include "jit/kernel_ir/kernel.h"

namespace lathe::jit {

/// Empty, or why the kernel cannot be walked like this.
std::string illegal(const Kernel& kernel, const ScheduleStep& step);

/// How a kernel that has no schedule is walked best, by how its operands move.
Schedule choose_schedule(const Kernel& kernel);

/// What code is made of: one box of the kernel, with what is staged side by side.
Kernel code_of(const Kernel& kernel);

}  // namespace lathe::jit
