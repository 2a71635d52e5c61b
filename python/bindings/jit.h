// lathe._lathe.Function: the engine under lathe.trace. What Python code reads is Python's to know
// (python/lathe/jit/observe/); this side traces, guards sizes and layouts, and runs.
#pragma once

#include "core/tensor/tensor.h"
#include "python/bindings/python.h"

namespace lathe::py {

void add_jit(nb::module_& m);

}  // namespace lathe::py
