// The look-up table as Python sees it: lathe.table prints its entries, lathe.use_table tunes it.
#pragma once

#include "python/bindings/python.h"

namespace lathe::py {

void add_table(nb::module_& m);

}  // namespace lathe::py
