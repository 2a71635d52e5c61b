// Calls of the front end's functions as ops, so that the tape, the tracer, the printer and the
// planner see nothing special in them:
//
//   callback(Function f, Tensor[] xs, int[] sizes) -> Tensor[]
//
// and `ordered_callback`, of which none vanishes, merges with another or changes places with one
// (HostCall in core/op/op.h). `sizes` are those of all results, one behind the other; all else
// about the results the function declares.
#pragma once

#include "core/dispatch/call.h"
#include "core/op/host_function.h"

namespace lathe {

Outputs call_host(const HostFunction& f, const Tensors& xs, IntSpan sizes, bool ordered);

/// How many ordered calls this thread has made, those of hooks included.
uint64_t ordered_calls();
/// The last of them has only been noted, to be made later.
void forget_ordered_call();
void note_ordered_call();
/// What is called while this lives belongs to a call that may be made again, and does not count.
class UnseenCalls {
 public:
  UnseenCalls() : before_(ordered_calls()) {}
  ~UnseenCalls();
  UnseenCalls(const UnseenCalls&) = delete;

 private:
  uint64_t before_;
};

/// The definition of this name, if it is one of the two, which are made when they are first asked
/// for; else null.
const Op* callback_op(std::string_view name);

}  // namespace lathe
