// lathe._lathe.Program: a program that stands by itself, captured, frozen or loaded from a file.
// The names that users see (lt.save, lt.load, lt.freeze) are in lathe/jit/program.py.
#pragma once

#include "python/bindings/python.h"

namespace lathe::py {

void add_programs(nb::module_& m);

}  // namespace lathe::py
