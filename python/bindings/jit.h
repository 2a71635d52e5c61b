// lathe._lathe.Function: the engine under lathe.trace. What Python code reads is Python's to know
// (lathe/jit/state.py); this side traces, guards sizes and layouts, and runs.
#pragma once

#include "core/tensor/tensor.h"
#include "python/bindings/python.h"

namespace lathe::py {

void add_jit(nb::module_& m);

/// A tensor made from Python's numbers while a trace is under way: those are guarded with all that
/// the traced code reads, so its elements may be part of the program. Does nothing outside.
void note_constant(const Tensor& t);
/// Was it noted?
bool is_constant(const Tensor& t);
/// The same elements without history; in a trace, a value that may not be told apart by writes.
Tensor without_history(const Tensor& t);

}  // namespace lathe::py
