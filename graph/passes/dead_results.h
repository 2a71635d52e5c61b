// Results of branches and loops that nothing needs.
#pragma once

#include <absl/container/flat_hash_set.h>

#include <vector>

#include "graph/ir/ir.h"

namespace lathe::ir {

/// By result of an `if`, a `for` or a `while`: is it used by nothing, and for a loop, does no round
/// need it for what is used, for the condition, or for what has an effect? `saying`: nodes whose
/// results say what a symbol is; they stay, and so does what is carried and says one itself.
std::vector<bool> dead_results(const Node& structure, const Graph& graph,
                               const absl::flat_hash_set<const Node*>& saying);

}  // namespace lathe::ir
