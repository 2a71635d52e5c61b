// Copying program text from one place to another: calls and groups inlined, bodies run once more.
#pragma once

#include "graph/ir/ir.h"

namespace lathe::ir {

/// What symbols of the copied text mean at the new place.
using SymbolMap = absl::flat_hash_map<uint32_t, Int>;

/// Copies the nodes of `block`, which belongs to `from`, to the insertion point of `to` (the same
/// graph or another) and returns the images of its yields. `known` says what its parameters and
/// free values are; `symbols` what symbols are. Symbols that values inside the block say get new
/// numbers from `scope`, unless they are in the map: each must have one source only.
Values copy_fresh(Graph& to, const Graph& from, const Block& block, Graph::ValueMap& known,
                  SymbolMap& symbols, SymScope& scope);

/// Replaces a call by the callee's nodes, a group by its own. The scope under way gets the callee's
/// facts.
void inline_call(Graph& graph, Node* call, const Graph& callee, SymScope& scope);
void inline_group(Graph& graph, Node* group);

}  // namespace lathe::ir
