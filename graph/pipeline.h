// The rewriter: passes in a readable order, to a fixed point, with a report of what each did.
#pragma once

#include <string>
#include <vector>

#include "graph/ir.h"

namespace lathe::ir {

struct PassReport {
  std::string name;
  int changes = 0;
  size_t nodes_before = 0, nodes_after = 0;
  double milliseconds = 0;
};
struct Report {
  std::vector<PassReport> passes;
  std::string print() const;  // a line a pass; "(unchanged)" where it did nothing
};

/// Rewrites a core graph. Every pass is exact: same bits. A pass named in the flag `rewrites_off` is left
/// out; after `rewrite_limit` changes, if set, no more are made: that is how a wrong one is found.
Report optimise(Graph& graph);

}  // namespace lathe::ir
