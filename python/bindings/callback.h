// Functions of Python's that a program calls: what lathe/_callbacks.py makes.
#pragma once

#include "python/bindings/python.h"

namespace lathe::py {

void add_callback(nb::module_& m);

}  // namespace lathe::py
