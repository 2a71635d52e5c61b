// A program that stands by itself: what a `.lathe` file holds, and what lt.load, lathe.h and
// lathe.hpp run. Nothing of the front end that made it is left: weights are constants of the graph,
// and what a trace took for granted is asked of every call.
//
// The graph in the file is the one that was captured (or frozen). It is rewritten and planned anew
// wherever it is loaded, by the same exact pipeline, so a file made on one machine runs as well as
// its source does on another, and the bits are those of the function that was saved.
//
// A loaded program is immutable: any number of threads run it at once.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "graph/pipeline.h"
#include "graph/trace/trace.h"
#include "jit/differentiable.h"
#include "jit/program/program.h"

namespace lathe::jit {

class SavedProgram {
 public:
  /// `captured`: a graph as traced. FileError if it needs what only its front end could give.
  /// tuple_of_one: Python gives its one result in a tuple.
  explicit SavedProgram(ir::Graph captured, std::string note = {}, bool tuple_of_one = false);
  /// FileError for what is damaged or no program, NameError for an op this build does not have.
  static std::shared_ptr<SavedProgram> load(const std::string& path);
  static std::shared_ptr<SavedProgram> parse(std::string_view bytes, std::string_view name);
  /// A text of graphs (graph/ir/text.h), with the gradients that it declares: its first function,
  /// or another. `file` is what errors call the text. ValueError with line and column.
  static std::shared_ptr<SavedProgram> from_text(std::string_view text, std::string_view function,
                                                 std::string_view file);
  /// For one that has just been read: nobody else knows its constants.
  void hold_weights() { program_->hold_constants(); }
  /// The file appears whole or not at all. FileError.
  void save(const std::string& path) const;

  /// Runs on these inputs and makes writes to them good: as one node of the tape, if gradients are
  /// on and an input requires one. ShapeError, DTypeError, DeviceError or TypeError for inputs that
  /// the program is not for, AutogradError if it cannot be differentiated.
  ir::Data run(const ir::Data& inputs) const;

  const ir::Graph& graph() const { return captured_; }
  const ir::Graph& optimised() const { return program_->graph(); }
  const Program& program() const { return *program_; }
  const std::string& note() const { return note_; }
  bool tuple_of_one() const { return tuple_of_one_; }
  /// Each rewriting pass and what it did, then each step with its primitive and the reasons.
  std::string explain(ir::Detail detail) const;
  /// Compiles every kernel now instead of at its first run; what could not be, and why.
  std::string compile() const { return program_->compile(); }
  /// Of intermediates, over the runs so far.
  ArenaSize peak() const { return program_->peak(); }
  /// What a first run on inputs of these sizes will take of the allocator beside them. ShapeError
  /// for sizes that the program is not for, UnsupportedError where data decides about sizes.
  size_t peak_bytes(absl::Span<const Sizes> sizes) const;
  RunCounts counts() const { return program_->counts(); }
  /// The plan as a list of instructions on buffers, each kernel's loops, and its machine's
  /// instructions (jit/program/dump.cpp).
  std::string instructions() const { return program_->instructions(); }
  std::string loops() const { return program_->loops(); }
  std::string vectors() const { return program_->vectors(); }

 private:
  struct FixedSize {
    size_t input;
    int axis;
    int64_t size;
  };
  void plan_checks();
  std::shared_ptr<Differentiable> tracked(const std::vector<int>& wrt,
                                          const ir::Data& inputs) const;
  void check(const ir::Data& inputs) const;
  void check_input(size_t i, const ir::Datum& given) const;
  void check_sizes(const ir::Data& inputs) const;
  void check_writes(const ir::Data& inputs) const;
  /// What there is to say of input i if it is not of the captured kind or sizes.
  ErrorParts misfit(size_t i, const ir::Datum& given) const;

  ir::UserRulesRef rules_ = ir::user_rules();  // that there were when it was made
  ir::Graph captured_;
  std::string note_;
  bool tuple_of_one_;
  ir::Report report_;
  std::unique_ptr<Program> program_;
  mutable std::mutex mutex_;  // of what follows
  /// By which inputs require grad.
  mutable absl::flat_hash_map<std::vector<int>, Differentiable::Variants> tracked_;
  std::vector<FixedSize> fixed_;
  std::vector<ir::SymbolSource> sources_;
  std::vector<SymFact> facts_;  // taken for granted, and answered by the inputs alone
};

/// Traces `body` into a graph that says everything by itself. Tensors that `host` finds by a path
/// become constants of that name, with the elements they have now. TraceError if the function
/// writes to one of them.
ir::Graph capture(ir::TracedFunction body, absl::Span<const ir::InputSpec> inputs,
                  ir::TraceCallbacks& host, std::string name);

/// Rewrites a captured graph for inference, constants first: what depends on weights alone is
/// computed, and a batch norm becomes part of the convolution before it. The latter is approximate
/// (it rounds elsewhere than the original), so it is only ever done here, on request. What was
/// done, for the file's note.
std::string freeze(ir::Graph& graph);

}  // namespace lathe::jit
