// Cheap elementwise work on a part of a tensor, done on all of it: so that it may be part of a
// group over the whole.
#pragma once

#include <optional>

#include "graph/passes/moved.h"

namespace lathe::ir {

/// In the order in which they stand, right before the write that they replace.
struct Widened {
  std::vector<Node*> fills;     // that `moves` write to, and write
  std::vector<Node*> moves;     // each operand, and where the part is, put into the whole
  std::vector<Node*> elements;  // the last one gives what the write gave
};

/// Computes what `put` writes at all positions, and chooses between it and what was there before.
/// The write has no use then. Nothing, and no change, where what it writes has another reader, is
/// not made by a few ops of elements, or is made of what a product or a reduction makes, which such
/// ops may run with.
std::optional<Widened> widen(Graph& graph, Node& put, const Moved& moved, const SymScope& scope);

}  // namespace lathe::ir
