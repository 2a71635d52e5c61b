// What if, for and while mean, as functions on values. On concrete conditions they run; when the
// condition is symbolic the tracer under way records the structure. Interpreters, scripts and
// users' C++ call these.
#pragma once

#include <absl/functional/function_ref.h>

#include "graph/ir/datum.h"

namespace lathe::ir {

using Branch = absl::FunctionRef<Data()>;
using LoopCondition = absl::FunctionRef<Datum(const Data&)>;
using LoopBody = absl::FunctionRef<Data(const Data&)>;
using ForBody = absl::FunctionRef<Data(Int, const Data&)>;

/// The condition is a bool, or a tensor of one element.
Data if_(const Datum& condition, Branch yes, Branch no);
/// while condition(carried): carried = body(carried). The carried values, at the end.
Data while_(LoopCondition condition, LoopBody body, Data start);
/// for i in range(start, stop, step): carried = body(i, carried).
Data for_(Int start, Int stop, Int step, ForBody body, Data carried);

/// ValueError for the step 0 of a range.
void check_range(Int step);
/// Calls of functions inside each other that a thread's stack is sure to hold; ValueError for more.
inline constexpr int kDeepestCall = 256;
[[noreturn]] void too_deep(const std::string& callee, int calls);

/// Is this a condition that only running the program can answer?
bool symbolic(const Datum& condition);
/// The answer of a condition that is known.
bool truth(const Datum& condition);

}  // namespace lathe::ir
