// What lathe.profiler stands on: a profile begins, and ends with what it has noted.
#pragma once

#include "python/bindings/python.h"

namespace lathe::py {

void add_profile(nb::module_& m);

}  // namespace lathe::py
