// The short way: elementwise ops on small tensors, where call() would do much to find out what is
// known.
//
// If no tracer and no observer is at work, nothing is to be recorded, and the operands are small
// row-major host tensors of one dtype and shape (or numbers, or 0-d tensors, that do not change the
// dtype), then the rules give that shape, and the table gives what it gave for these dtypes before.
// `shortcut` asks just that and runs the loop it remembers. Whatever it cannot tell at a glance it
// leaves to call(): same result, same bits, only later.
#pragma once

#include "core/op/op.h"

namespace lathe {

/// How one definition runs for one dtype and one pattern of operands. Immutable once published.
struct Shortcut {
  /// Operands in schema order; those that are single elements have their bit in `splat`.
  void (*run)(const Shortcut& self, std::byte* out, const std::byte* const* in, unsigned splat,
              size_t n) = nullptr;
  const void* program = nullptr;  // what `run` needs
  void (*loop)() = nullptr;       // the same, as a function
  DType result = DType::f32;
  size_t result_bytes = 0;    // of an element
  DType number = DType::f32;  // what numbers are converted to first
  std::string_view entry;     // of the table, whose loop this is

  friend bool operator==(const Shortcut&, const Shortcut&) = default;
};

/// Fills in `run` and what belongs to it for calls like this one. False: there is no short way.
using ShortcutFinder = bool (*)(const Op& op, Args args, Shortcut& out);
/// Set once at start-up by kernels/.
void set_shortcut_finder(ShortcutFinder finder);

}  // namespace lathe
