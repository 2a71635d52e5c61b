// The default backend: runs one op now, on the current stream of its device, through the table.
#pragma once

#include "core/dispatch/call.h"

namespace lathe {

/// Lives as long as the process.
Backend& executor();

/// Makes the executor the default backend. Idempotent.
void install_executor();

}  // namespace lathe
