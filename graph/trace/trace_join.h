// When two paths give a value each: whether they can be one value, and which.
#pragma once

#include <string_view>

#include "graph/ir/datum.h"

namespace lathe::ir {

/// TraceError: `before` and `after` are no one type. `where`: "in a loop".
[[noreturn]] void type_changes(const Datum& before, const Datum& after, std::string_view where);
/// The same dtype, rank and device, or numbers of one kind.
bool same_kind(const Datum& a, const Datum& b);
bool is_flag(const Datum& d);
/// A flag whose value differs between paths becomes a tensor: flags decide, and a decision is a
/// tensor's.
bool needs_tensor(const Datum& a, const Datum& b);
Datum flag_as_tensor(const Datum& d);

}  // namespace lathe::ir
