// What an optimizer does to one parameter, as a program.
#pragma once

#include "python/bindings/python.h"

namespace lathe::py {

void add_update(nb::module_& m);

}  // namespace lathe::py
