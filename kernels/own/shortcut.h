// The table's answer to core/dispatch/shortcut.h.
#pragma once

#include "core/dispatch/shortcut.h"

namespace lathe::own {

/// Sets `out` to the short way of this call of an elementwise definition; false if it has none.
bool find_shortcut(const Op& op, Args args, Shortcut& out);

}  // namespace lathe::own
