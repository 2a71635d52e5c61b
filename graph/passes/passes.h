// One pass, one verb, one file. Each changes the graph in place and says how often it did.
#pragma once

#include "graph/ir.h"

namespace lathe::ir {

/// Erases pure nodes whose results nobody uses.
int eliminate_dead(Graph& graph);

/// Makes equal pure nodes of one block one: same op, literals and inputs.
int merge_common(Graph& graph);

/// Joins pointwise nodes over one index space into groups, which run as one kernel. Exact: a group computes
/// what its nodes do, rounding included.
int fuse_pointwise(Graph& graph);

/// May this node be part of a pointwise group? By its row's kind and body, never by its name.
bool pointwise(const Node& node);

}  // namespace lathe::ir
