// Nodes that only move elements along axes: a write of a slice, a shift, a slice. Who reads their
// results element by element may read the operands instead.
#pragma once

#include <optional>

#include "graph/ir/ir.h"

namespace lathe::ir {

/// Positions first <= i < last of an axis, at which is what `from` has at i - by.
struct Along {
  int axis;
  Int first, last, by;
};
/// Where all of these hold, an element of `from`; axes that are not there are as they are.
struct MovedPart {
  Value* from;
  absl::InlinedVector<Along, 2> along;
};
struct Moved {
  absl::InlinedVector<MovedPart, 2> parts;
  Value* base = nullptr;  // what the result is at other positions; null: there are none
  /// Where axes of one position come or go: by axis of the result that of the operand, or -1.
  absl::InlinedVector<int, 6> axes;

  /// A slice, or the same elements: of one part everywhere.
  bool shows_part() const { return base == nullptr && parts.size() == 1; }
};

/// Nothing where the node does something else, in steps or to complex numbers, or where nobody
/// knows at which places.
std::optional<Moved> moved_by(const Node& n, const SymScope& scope);

/// Do sizes of these tensors say where the part is?
bool say_where(absl::Span<const Value* const> tensors, const MovedPart& part);

/// Does it make a tensor that is filled with one literal?
bool is_filled(const Node& n);

}  // namespace lathe::ir
