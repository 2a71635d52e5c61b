// The loops of index rows, once the index is contiguous.
#pragma once

#include <absl/functional/function_ref.h>

#include "core/op/op.h"
#include "kernels/problem/operand.h"

namespace lathe::own {

/// Lines that go through the same places: how many, and from one to the next in the operand that is
/// indexed and in the other.
struct Lines {
  int64_t count = 1, many = 0, one = 0;
};

/// Operands have at least one axis. `where`: the index's elements in row-major order.
struct Moves {
  size_t axis;
  const Operand& index;  // its shape: 1 along an axis that `lines` goes along
  const int64_t* where;
  Lines lines = {};  // of take and put

  /// check: of the index's elements [begin, end), before they are used. Throws for one that names
  /// no place. All others are checked before.
  void take(const Operand& x, const Operand& out,
            absl::FunctionRef<void(int64_t, int64_t)> check) const;
  // `out` already holds x; the source has the index's rank and at least its extents.
  void put(const Operand& source, const Operand& out, Fold fold) const;
  // Whole slices. Where x has the axis, out (the source) has those of the index, which lie evenly.
  void select(const Operand& x, const Operand& out) const;
  void select_put(const Operand& source, const Operand& out, Fold fold) const;
};

}  // namespace lathe::own
