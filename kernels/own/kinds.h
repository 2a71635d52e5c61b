// The executor's implementation of each kind of row. All take a call as dispatch made it and append
// results.
#pragma once

#include "core/dispatch/call.h"
#include "core/dispatch/shortcut.h"
#include "kernels/problem/operand.h"

namespace lathe::own {

// Elementwise, create and random rows.
void run_body(const Call& call, Outputs& outputs);
void run_body_by_reference(const Call& call, Outputs& outputs);
void run_reduce(const Call& call, Outputs& outputs);
void run_reduce_by_reference(const Call& call, Outputs& outputs);
void run_scan(const Call& call, Outputs& outputs);
void run_scan_by_reference(const Call& call, Outputs& outputs);
void run_view(const Call& call, Outputs& outputs);
void run_index(const Call& call, Outputs& outputs);
void run_sort(const Call& call, Outputs& outputs);

/// The short way of an elementwise row, for core/dispatch/shortcut.h.
bool find_shortcut(const Op& op, Args args, Shortcut& out);

/// to[...] = from[...], converted as the op `cast` does. Shapes agree (broadcast strides allowed in
/// `from`). On the calling thread's side of a stream: runs at once.
void convert(const Operand& from, const Operand& to);

/// The same elements, moved as they are; dtypes agree.
void copy_elements(const Operand& from, const Operand& to);

}  // namespace lathe::own
