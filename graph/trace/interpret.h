// Runs a graph node by node, each through core's call(): the same kernels, tape and errors as
// eager. Compiled programs are tested against it.
#pragma once

#include "graph/ir/datum.h"
#include "graph/ir/ir.h"

namespace lathe::ir {

/// Built once a graph; any number of threads may run it at the same time. The graph must outlive
/// it.
class Interpreter {
 public:
  explicit Interpreter(const Graph& graph);
  /// Checks the inputs against the graph's types, assumptions and checks (ShapeError, DTypeError,
  /// TypeError), runs it, and writes what it writes to its inputs. The results.
  Data run(const Data& inputs) const;

 private:
  friend class Frame;
  struct Bound {
    uint32_t symbol;
    int axis;
  };
  const Graph& graph_;
  absl::flat_hash_map<const Value*, absl::InlinedVector<Bound, 4>> binds_;
  /// Facts that can be asked once this value is known.
  absl::flat_hash_map<const Value*, std::vector<std::pair<SymFact, bool>>> facts_;
  absl::flat_hash_map<std::string, std::unique_ptr<Interpreter>> functions_;

  Interpreter(const Graph& graph, const Interpreter* root);
  void plan_facts();
  /// Do the inputs' sizes decide it, rather than data?
  bool inputs_say(const SymFact& fact) const;
  const Interpreter* function(const std::string& name) const;
  const Interpreter* root_;  // whose functions are called; this one, if it is the main graph
};

Data interpret(const Graph& graph, const Data& inputs);

}  // namespace lathe::ir
