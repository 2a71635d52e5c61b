// print() as data: what a program without Python can do of it.
//
// A format is text in which these parts stand for tensors, in the order in which they are given:
//
//   {t}         a tensor as str() writes it
//   {n}         its one element as a number of Python's: 3, 0.5, True; {n:8.3f} as "%8.3f" does
//   {?a|b|c}    a tensor says which of these formats: 0, 1, 2; each has its own tensors
//
// A backslash before { } | or another says that it is none of this.
#pragma once

#include <memory>
#include <string_view>

#include "core/op/host_function.h"

namespace lathe {

/// Prints to the process's output. ValueError for what is no format.
std::shared_ptr<const HostFunction> printing(std::string_view format);

/// Receives what is printed, on the thread that runs the program. Null: standard output.
using PrintHook = void (*)(std::string_view text);
void set_print_hook(PrintHook hook);

/// A float as Python's repr() writes it: the fewest digits that give it back.
std::string float_text(double value);

}  // namespace lathe
