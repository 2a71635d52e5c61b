// What call() is made of besides call.cpp. Private to core/dispatch.
#pragma once

#include "core/op/op.h"

namespace lathe {

/// x.op_(...) on the long way: by a call and an assignment, for x = args[0].
void assign_result(const Op& op, Args args);

}  // namespace lathe
