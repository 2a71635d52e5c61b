// Functions of Python's that a program calls: what lathe/_callbacks.py makes.
#pragma once

#include "core/op/host_function.h"
#include "python/bindings/python.h"

namespace lathe::py {

void add_callback(nb::module_& m);

/// A function of a list of tensors that gives a list of such.
std::shared_ptr<const HostFunction> python_function(std::string name,
                                                    std::vector<HostFunction::Declared> results,
                                                    nb::object call);

}  // namespace lathe::py
