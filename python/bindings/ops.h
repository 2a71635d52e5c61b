// Op definitions as Python callables. A public name stands for the definitions that share it
// (overloads); where it is found (lathe, Tensor, lathe.nn.functional) and the forms it has (in
// place, out=, inplace=) follow from the definitions, by one type whose vectorcall reads their
// schemas. Functions are made when a name is first asked for, methods when the first tensor is made
// or the class is first named: an import looks at no definition.
#pragma once

#include <string>

#include "core/op/op.h"
#include "python/bindings/python.h"

namespace lathe::py {

/// Adds _find and _names, which the other modules look names up by, and __getattr__ for Tensor.
void add_ops(nb::module_& m);
/// Gives lathe.Tensor its methods, those of definitions that it does not have yet; the first call
/// does all. nb::python_error where an attribute cannot be set.
void publish_methods();
/// Makes a definition added after start-up (a custom op) known under its public name.
void publish(const Op& op);

}  // namespace lathe::py
