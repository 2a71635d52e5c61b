// What a graph fuses into a contraction: called on outputs that have their final value, while they
// are hot.
#pragma once

#include <cstdint>

namespace lathe {

/// `apply` is called in pieces: lines of row-major positions of the contiguous output, which
/// already hold the contraction's result, rounded to the output's dtype, and are to be replaced.
/// From any thread of the pool, pieces in any order, each position once. So the bits are those of
/// separate ops, whoever calls it and when.
struct Epilogue {
  /// Positions [first, first + count), and of `lines` lines those that lie `apart` from there on.
  struct Lines {
    int64_t first, count;
    int64_t lines = 1, apart = 0;
  };

  void (*apply)(void* context, const Lines& lines) = nullptr;
  void* context = nullptr;

  explicit operator bool() const { return apply != nullptr; }
  void operator()(const Lines& lines) const { apply(context, lines); }
  void operator()(int64_t first, int64_t count) const { apply(context, {first, count}); }

  /// For who cannot call it while they are hot: all n outputs at the end, in pieces that threads
  /// share. `parallel_for`: the pool's; in a plug-in its host's.
  template <class ParallelFor>
  void at_the_end(int64_t n, ParallelFor parallel_for) const {
    if (apply == nullptr) return;
    parallel_for(n, 16384, [this](int64_t begin, int64_t end) { (*this)(begin, end - begin); });
  }
};

}  // namespace lathe
