// Custom ops as the table sees them (one entry, which runs the author's kernel), and shared objects
// that bring some.
#pragma once

#include <string>
#include <vector>

#include "kernels/table/table.h"

namespace lathe {

/// Definitions that a program added, on the devices their kernels run on.
Verdict custom_accepts(const Entry& entry, const Query& query);
void run_custom(const Call& call, Outputs& outputs);

/// Definitions that call a function of the front end's (core/dispatch/callback.h), on any device.
Verdict host_accepts(const Entry& entry, const Query& query);
void run_host(const Call& call, Outputs& outputs);

/// Opens a shared object made with include/lathe/custom_op.h and adds its ops; the names, in order.
/// A second time gives the names again. It stays open for ever. FileError if it cannot be opened or
/// is none, UnsupportedError if it was built for another interface, NameError if a name is taken;
/// ops of the same file added before the failing one stay.
std::vector<std::string> load_op_library(const std::string& path);

}  // namespace lathe
