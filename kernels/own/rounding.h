// Wholes in parts of one size.
#pragma once

#include <cstdint>

namespace lathe::own {

/// How many parts of `each` there are in n, the last of which may be smaller.
inline int64_t blocks(int64_t n, int64_t each) { return (n + each - 1) / each; }
/// n, or the next multiple of `to`.
inline int64_t round_up(int64_t n, int64_t to) { return blocks(n, to) * to; }

}  // namespace lathe::own
