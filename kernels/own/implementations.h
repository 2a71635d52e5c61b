// Our own implementation of each kind of op definition, for the table (kernels/entries.cpp). Each
// takes a call as dispatch made it and appends its results.
#pragma once

#include "core/dispatch/call.h"

namespace lathe::own {

// Elementwise, create and random definitions.
void run_body(const Call& call, Outputs& outputs);
void run_body_by_reference(const Call& call, Outputs& outputs);
void run_reduce(const Call& call, Outputs& outputs);
void run_reduce_by_reference(const Call& call, Outputs& outputs);
void run_scan(const Call& call, Outputs& outputs);
void run_scan_by_reference(const Call& call, Outputs& outputs);
void run_view(const Call& call, Outputs& outputs);
void run_index(const Call& call, Outputs& outputs);
size_t index_room(const Call& call);
void run_sort(const Call& call, Outputs& outputs);

}  // namespace lathe::own
