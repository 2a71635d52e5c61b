// A traced function: guards, then a program; a miss traces again. Nothing is ever baked in
// silently: what a trace took for granted is a guard, and a guard that fails leads to another
// trace, not to another answer.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "graph/pipeline.h"
#include "graph/trace.h"
#include "jit/program.h"

namespace lathe::jit {

/// What a front end adds to tracing: values only it can look at.
class FrontEnd : public ir::Host {
 public:
  /// Does a `value` or `tree_version` guard of this front end still hold?
  virtual bool holds(const ir::Guard&) { return true; }
  /// Guards on what the traced code read besides tensors; asked once, right after a trace.
  virtual std::vector<ir::Guard> reads() { return {}; }
};

struct FunctionCounts {
  int64_t calls = 0, traces = 0, node_by_node = 0;
};

class Function {
 public:
  explicit Function(std::string name) : name_(std::move(name)) {}

  /// Runs on these inputs (named for guards and text by `names`), tracing `body` if no program
  /// fits.
  ir::Data operator()(const ir::Data& inputs, absl::Span<const std::string> names,
                      ir::TracedFunction body, FrontEnd& host);
  /// C++ lambdas: inputs are x0, x1, ...; tensors captured by the lambda are guarded by identity.
  Outputs operator()(const Tensors& inputs, absl::FunctionRef<Outputs(const Tensors&)> body);

  struct Compiled {
    ir::Traced traced;  // its graph as captured
    ir::Report report;
    std::unique_ptr<Program> program;
    std::unique_ptr<RunContext> context;  // kept for the next call of whoever takes it
    bool grad_enabled = true;             // when it was captured
    bool needs_history = false;  // a result is tracked: gradients may be asked for through it
    std::vector<ir::SymbolSource> sources;  // of the captured graph
    std::vector<SymFact> relations;         // guards that the inputs alone can answer
    Shape related;                          // symbols for which they were last seen to hold
  };
  const std::vector<std::unique_ptr<Compiled>>& compiled() const { return compiled_; }
  const FunctionCounts& counts() const { return counts_; }
  std::string explain() const;

 private:
  bool fits(Compiled& c, const ir::Data& inputs, absl::Span<const std::string> names,
            FrontEnd& host, ir::Data& all) const;
  Compiled& capture(const ir::Data& inputs, absl::Span<const std::string> names,
                    ir::TracedFunction body, FrontEnd& host);
  ir::Data run(Compiled& c, const ir::Data& all);

  std::string name_;
  std::vector<std::unique_ptr<Compiled>> compiled_;  // the one that fitted last is tried first
  FunctionCounts counts_;
};

}  // namespace lathe::jit
