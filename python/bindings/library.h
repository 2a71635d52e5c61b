// lathe.library: ops that a program adds, from shared objects and from Python functions.
#pragma once

#include "python/bindings/python.h"

namespace lathe::py {

void add_library(nb::module_& m);

}  // namespace lathe::py
