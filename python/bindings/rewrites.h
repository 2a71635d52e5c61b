// What lathe.rewrite stands on: rules that the user adds.
#pragma once

#include "python/bindings/python.h"

namespace lathe::py {

void add_rewrites(nb::module_& m);

}  // namespace lathe::py
