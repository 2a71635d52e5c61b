// What call() is made of besides call.cpp. Private to core/dispatch.
#pragma once

#include "core/op/op.h"

namespace lathe {

/// Stale views among the operands are brought up to date. TraceError for a tensor of a trace that
/// is over.
void refresh_operands(Args args);
/// x.op_(...) on the long way: by a call and an assignment, for x = args[0].
void assign_result(const Op& op, Args args);

}  // namespace lathe
