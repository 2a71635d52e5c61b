// What lathe/jit/script.py needs of the tracer: recording an if or a while whose parts are Python
// functions. Which names a part changes, and what becomes of them, is Python's to know.
#pragma once

#include "python/bindings/python.h"

namespace lathe::py {

void add_script(nb::module_& m);

}  // namespace lathe::py
