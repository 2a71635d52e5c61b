// What lathe.Tensor prints as.
#pragma once

#include "core/tensor/print.h"

namespace lathe::py {

/// "requires_grad=True" or "grad_fn=<add>": what a printed tensor ends with.
std::string history_text(const Tensor& t);

}  // namespace lathe::py
