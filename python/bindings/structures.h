// lt.cond and its kin: the C++ functions of autodiff/control.h, whose parts are Python functions on
// lists of tensors. Nested values are taken apart and put together in lathe/_structures.py.
#pragma once

#include "python/bindings/python.h"

namespace lathe::py {

void add_structures(nb::module_& m);

}  // namespace lathe::py
