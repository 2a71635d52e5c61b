// What lathe/func/batching.py needs of vmap: a scope, and stand-ins for what is mapped over.
#pragma once

#include "python/bindings/python.h"

namespace lathe::py {

void add_batch(nb::module_& m);

}  // namespace lathe::py
