// Nodes that only move elements along an axis: a write of a slice, a shift. Who reads their results
// element by element may read the operands instead.
#pragma once

#include <optional>

#include "graph/ir/ir.h"

namespace lathe::ir {

/// For positions first <= i < last of the axis, element i - by of `from`.
struct MovedPart {
  Value* from;
  Int first, last, by;
};
struct Moved {
  int axis;
  absl::InlinedVector<MovedPart, 2> parts;
  Value* base = nullptr;  // what the result is at other positions; null: there are none
};

/// Nothing where the node does something else, in steps or to complex numbers, or where nobody
/// knows at which places.
std::optional<Moved> moved_by(const Node& n, const SymScope& scope);

/// Do sizes of these tensors say where the part is?
bool say_where(absl::Span<const Value* const> tensors, const MovedPart& part);

/// Does it make a tensor that is filled with one literal?
bool is_filled(const Node& n);

}  // namespace lathe::ir
