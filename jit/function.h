// A traced function: guards, then a program; a miss traces again. Nothing is ever baked in
// silently: what a trace took for granted is a guard, and a guard that fails leads to another
// trace, not to another answer.
//
// Any number of threads call one Function at once. Each runs what was there when it called; two
// that both miss both trace, and either trace is good for the calls to come.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "graph/pipeline.h"
#include "graph/trace/trace.h"
#include "jit/debug.h"
#include "jit/differentiable.h"
#include "jit/program/program.h"

namespace lathe::jit {

/// All inputs of a program at one call.
struct FoundInputs {
  const ir::Data* all = nullptr;
  ir::Data made = {};  // where `all` may lie
  /// While a trace's inputs come with the same number, not 0, those that are not among `fresh` are
  /// the tensors of before: over the same memory, and of the same layout.
  uint64_t settled = 0;
  absl::Span<const size_t> fresh = {};
};

/// What a front end adds to tracing: a name for each trace, so that it can find what it keeps of
/// it.
class FunctionCallbacks : public ir::TraceCallbacks {
 public:
  /// What the front end calls the trace it has just made; asked once. How results are put together
  /// is the trace's, not the function's: the inputs that were asked for last are those that run.
  virtual int64_t trace_id() { return 0; }
  /// Is all that this trace read besides tensors as it was? Then the inputs of its program: what
  /// the call was given, and then what it captured, at these paths.
  virtual bool inputs(int64_t trace_id, absl::Span<const ir::Path> captured, const ir::Data& given,
                      FoundInputs& out);
};

struct FunctionCounts {
  int64_t calls = 0, traces = 0, node_by_node = 0;
};

class Function {
 public:
  /// `terms`: of all that it captures; without, the users' rules are those that there are then.
  explicit Function(std::string name, std::optional<Terms> terms = std::nullopt)
      : name_(std::move(name)), terms_(std::move(terms)) {}

  struct Compiled {
    ir::Traced traced;     // its graph as captured
    int64_t trace_id = 0;  // the front end's
    Terms terms;
    ir::Report report;
    std::unique_ptr<Program> program;         // null: gradients may be asked for through a result
    std::shared_ptr<Differentiable> tracked;  // then; null if it cannot be
    std::string why_by_nodes;                 // which this says
    std::vector<size_t> live_views;           // results that are views with a history of their own
    /// Results that a backward inside went through: they require grad, and say that it is too late.
    std::vector<std::pair<size_t, Edge>> spent;
    /// Inputs that end as another one, with its history: no node of the graph has that.
    std::vector<std::pair<size_t, size_t>> handed_on;
    std::vector<size_t> leaves;  // results that require grad from inside on, as leaves
    /// Those that there are so far: the function's, or its forward pass and its derivatives.
    std::vector<const Program*> programs() const;
    /// Reads off the captured graph what fits() asks; and off the derivative's what a rule of it
    /// asked about sizes beyond that (whether a matrix is square): its program holds for the
    /// answer.
    void prepare_guards(absl::Span<const std::string> names);
    void note_derivative_facts();
    bool grad_enabled = true;  // when it was captured
    DType autocast = DType::f32;
    std::vector<ir::SymbolSource> sources;  // of the captured graph
    std::vector<SymFact> relations;         // guards and checks that the inputs alone can answer
    bool presumes = false;                  // something of its data, and asks (PresumptionError)
    bool may_draw = false;                  // random numbers, or what it calls may
    /// What the derivative took for granted besides, about the symbols of its own graph.
    std::vector<ir::SymbolSource> derivative_sources;
    std::vector<SymFact> of_derivative;
    std::vector<SymFact> of_integers;  // of the relations, those about integers that are inputs
    std::vector<size_t> guarded;       // by guard: which input it is about; beyond: none
    std::vector<size_t> asked;  // the guards that are asked at each call, whatever the layouts are
    /// Inputs for which all else held last.
    struct Seen {
      std::vector<uint64_t> words;            // types, shapes and strides
      std::vector<size_t> begins;             // by input, and the end: its place among the words
      mutable std::atomic<uint64_t> settled;  // FoundInputs::settled
    };
    std::shared_ptr<const Seen> seen;  // under the function's lock
  };
  using CompiledRef = std::shared_ptr<Compiled>;

  /// Runs on these inputs (named for guards and text by `names`), tracing `body` if no program
  /// fits.
  ir::Data operator()(ir::Data inputs, absl::Span<const std::string> names, ir::TracedFunction body,
                      FunctionCallbacks& host);
  /// The two halves of that: nothing, if no program fits; and one more program.
  std::optional<ir::Data> serve(const ir::Data& inputs, FunctionCallbacks& host);
  CompiledRef capture(const ir::Data& inputs, absl::Span<const std::string> names,
                      ir::TracedFunction body, FunctionCallbacks& host);
  /// The program that serves this call, with the inputs that its guards have found: each run is
  /// that call without guards, which is what a bench compares calls with. Empty, if none serves it.
  std::function<ir::Data()> bound(const ir::Data& inputs, FunctionCallbacks& host);
  /// Takes away the programs of a trace.
  void drop(int64_t trace_id);
  /// C++ lambdas: inputs are x0, x1, ...; tensors captured by the lambda are guarded by identity.
  Outputs operator()(const Tensors& inputs, absl::FunctionRef<Outputs(const Tensors&)> body);

  /// What the program that serves these inputs does beside its graph; nothing, if none does.
  /// UnsupportedError if that call has no program.
  std::optional<DebugReport> debug(const ir::Data& inputs, FunctionCallbacks& host);

  /// As they are now, the one that fitted last first.
  std::vector<CompiledRef> compiled() const;
  FunctionCounts counts() const;
  std::string explain(ir::Detail detail) const;

 private:
  bool fits(Compiled& c, FunctionCallbacks& host, const ir::Data& given, FoundInputs& found) const;
  static bool layouts_hold(const Compiled& c, const ir::Data& all);
  /// The guards that are asked at each call; `settled`: inputs that are not fresh need not be
  /// compared with each other.
  static bool asked_hold(const Compiled& c, const FoundInputs& found, bool settled);
  /// The first that fits, and all it reads; null if none does.
  CompiledRef find(const ir::Data& given, FunctionCallbacks& host, FoundInputs& found);
  /// `all`: the inputs it was captured on; `live`: by result, whether gradients may be asked for;
  /// `written`: whether they may be through an input that was written to.
  static void make_program(Compiled& c, const ir::Data& all, const std::vector<bool>& live,
                           bool written);
  ir::Data run(const CompiledRef& kept, const ir::Data& all);
  ir::Data run_drawing(const Compiled& c, const ir::Data& all);
  ir::Data run_program(const Compiled& c, const ir::Data& all);

  std::string name_;
  std::optional<Terms> terms_;
  mutable std::mutex mutex_;           // of what follows; never held while anything else runs
  std::vector<CompiledRef> compiled_;  // the one that fitted last is tried first
  FunctionCounts counts_;
};

/// Does running it tell whether its data are as it presumes?
bool asks_of_data(const ir::Graph& graph);

}  // namespace lathe::jit
