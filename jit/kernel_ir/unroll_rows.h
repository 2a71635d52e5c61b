// Short rows: a kernel over rows as one of elements, each of which is a row.
#pragma once

#include <optional>

#include "jit/kernel_ir/kernel.h"

namespace lathe::jit {

/// The longest rows that are worth it.
inline constexpr int64_t kMostUnrolled = 16;

/// The kernel for rows of `length` elements with its loops along the row written out: one function
/// of all elements of a row, so that vectors go across rows. The order of each sum is that of the
/// statement. It has the same arguments. Nothing where there are sums over rows, rows are pieces of
/// a line, or it would be too long a function.
std::optional<Kernel> unroll_rows(const Kernel& rows, int64_t length);

}  // namespace lathe::jit
