// Tensors that take another shape where they are.
#pragma once

#include "python/bindings/python.h"

namespace lathe::py {

void add_reshaped(nb::module_& m);

}  // namespace lathe::py
