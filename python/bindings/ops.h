// Op definitions as Python callables. A public name stands for the definitions that share it
// (overloads); where it is found (lathe, Tensor, lathe.nn.functional) and the forms it has (in
// place, out=, inplace=) follow from the definitions, by one type whose vectorcall reads their
// schemas. Callables are made when a name is first asked for.
#pragma once

#include <string>

#include "core/op/op.h"
#include "python/bindings/python.h"

namespace lathe::py {

/// Adds the submodule `ops`, the methods of lathe.Tensor, and _find and _names, which the other
/// modules look names up by.
void add_ops(nb::module_& m);
/// Makes a definition added after start-up (a custom op) known under its public name.
void publish(const Op& op);

}  // namespace lathe::py
