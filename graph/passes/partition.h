// Parts of a graph for another back end. What it takes of a graph runs there as a few calls, all
// else stays: nodes in a row that it takes, and that nothing between needs results of, become one
// call of a function which the back end makes of them. Such a call is an op like any other
// (core/dispatch/callback.h), so planner, passes and explain() need to know nothing of back ends.
//
// A back end gets parts whose sizes are numbers; nodes with others stay, and so does what has an
// effect, may fail, or takes numbers.
#pragma once

#include <absl/functional/function_ref.h>

#include <memory>
#include <string>
#include <vector>

#include "core/op/host_function.h"
#include "graph/ir/ir.h"

namespace lathe::ir {

struct PartitionRow {
  std::string op;
  Site site;
  int part = -1;    // which; -1: it stays,
  std::string why;  // because of this
};

/// `refuses`: why the back end does not take a node, empty if it does. `compile`: what computes the
/// results of a part from its inputs. A row for each node, in the order in which they ran.
std::vector<PartitionRow> partition(
    Graph& graph, absl::FunctionRef<std::string(const Node&)> refuses,
    absl::FunctionRef<std::shared_ptr<const HostFunction>(Graph part)> compile);

}  // namespace lathe::ir
