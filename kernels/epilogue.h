// What a graph fuses into a contraction: called on outputs that have their final sum, while they are hot.
#pragma once

#include <cstdint>

namespace lathe {

/// `apply` is called once for every output, in pieces: row-major positions [first, first + count) of the
/// contiguous output, which already hold the contraction's (unrounded, for f16 and bf16: see below)
/// result and are to be replaced. From any thread of the pool, pieces in any order, each position once.
///
/// A contraction of f16 or bf16 takes no epilogue: its sums are rounded first, by definition.
struct Epilogue {
  void (*apply)(void* context, int64_t first, int64_t count) = nullptr;
  void* context = nullptr;

  explicit operator bool() const { return apply != nullptr; }
  void operator()(int64_t first, int64_t count) const { apply(context, first, count); }
};

}  // namespace lathe
