// lathe.Generator: a random stream of a program's own, and the process's state as a value.
#pragma once

#include <string>

#include "core/tensor/random.h"
#include "python/bindings/python.h"

namespace lathe::py {

/// What `generator=` names: null for None. TypeError for other objects; TraceError in a trace,
/// whose calls all draw from the process's stream.
RandomState* generator_state(const std::string& op, PyObject* value);

void add_generator(nb::module_& m);

}  // namespace lathe::py
