// A group in the place of pointwise nodes and groups: what the passes that join them make.
#pragma once

#include "graph/ir/ir.h"

namespace lathe::ir {

/// Puts one group where `last` stands, which computes what the members do in their order, from
/// `inputs`: all that they read and do not make. It gives `outputs`, which take the place of
/// theirs. The members are gone; what a group among them computed is part of the new one.
void make_group(Graph& graph, const std::vector<Node*>& members, Node* last, const Values& inputs,
                const Values& outputs);

}  // namespace lathe::ir
