// The rewriter: passes in a readable order, to a fixed point, with a report of what each did.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "graph/ir/detail.h"
#include "graph/ir/ir.h"
#include "graph/rewrite/user_rules.h"

namespace lathe::ir {

struct PassReport {
  std::string name;
  int changes = 0;
  size_t nodes_before = 0, nodes_after = 0;
  double milliseconds = 0;
  std::map<std::string, int, std::less<>> fired;  // by rule, where the pass has rules
  std::vector<std::string> notes;                 // what it left as it was, and why
};
struct Report {
  std::vector<PassReport> passes;
  /// A line a pass that changed something; in all detail of each, with the time that it took and
  /// what it left as it was.
  std::string print(Detail detail) const;
};

struct Budget {
  UserRulesRef rules = user_rules();
  std::set<std::string, std::less<>> without;  // passes and rules left out, as by `rewrites_off`
  int rounds = 8;  // in practice two or three; passes that undo each other stop here
  double milliseconds =
      2000;  // no further round is begun after this; what is there is right all the same
};

/// Rewrites a graph. Every pass is exact: same bits; of the users' rules they say so. A pass or
/// rule named in the flag `rewrites_off` is left out; after `rewrite_limit` changes, if set, no
/// more are made: that is how a wrong one is found.
Report optimise(Graph& graph, const Budget& budget = {});

/// Are gradients taken through the graph later, so that what decides them has to stay?
enum class Histories : uint8_t { dropped, kept };
/// Runs one pass by its name: tests, tools. NameError if there is none. How many changes it made.
int run_pass(std::string_view name, Graph& graph, Histories histories = Histories::dropped);
std::vector<std::string_view> pass_names();
/// All that the flag `rewrites_off` may name: passes, rules, and "all".
std::vector<std::string_view> rewrite_names();

}  // namespace lathe::ir
