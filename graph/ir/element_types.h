// How the elements of a node's results are computed.
#pragma once

#include "core/op/op.h"
#include "graph/ir/ir.h"

namespace lathe::ir {

/// element_types() of its op and arguments: of elementwise ops, reductions, and what makes a tensor
/// of nothing.
ElementTypes types_of(const Node& node);

}  // namespace lathe::ir
