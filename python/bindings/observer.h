// What watches a capture from outside of the code that observes reads (lathe.jit.observe).
#pragma once

#include "python/bindings/python.h"

namespace lathe::py {

/// _Net: sees every Python frame that begins on this thread, by the interpreter's own events; one
/// whose code the observer did not make is noted. _Ages: which objects were there before.
void add_observer(nb::module_& m);

}  // namespace lathe::py
