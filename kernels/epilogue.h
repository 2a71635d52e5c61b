// What a graph fuses into a contraction: called on outputs that have their final value, while they
// are hot.
#pragma once

#include <cstdint>

namespace lathe {

/// `apply` is called in pieces: row-major positions [first, first + count) of the contiguous
/// output, which already hold the contraction's result, rounded to the output's dtype, and are to
/// be replaced. From any thread of the pool, pieces in any order, each position once. So the bits
/// are those of separate ops, whoever calls it and when: an entry that cannot fuse calls it once at
/// the end.
struct Epilogue {
  void (*apply)(void* context, int64_t first, int64_t count) = nullptr;
  void* context = nullptr;

  explicit operator bool() const { return apply != nullptr; }
  void operator()(int64_t first, int64_t count) const { apply(context, first, count); }
};

}  // namespace lathe
