// What this machine can do at best, measured: the floor that a profile holds times against.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace lathe::own {

/// Per second, with all threads of the pool.
struct Roofline {
  double operations = 0;  // additions and multiplications of f32, in fused ones
  /// (bytes, bytes a second) by rising bytes: what is that large or smaller, and is gone through
  /// again and again, is read or copied at most so fast. The last is memory's.
  std::vector<std::pair<int64_t, double>> bandwidth;
};

/// Takes some tenths of a second. The best of several short runs each, so what else runs meanwhile
/// makes it slow rather than wrong.
Roofline measure_roofline();

}  // namespace lathe::own
