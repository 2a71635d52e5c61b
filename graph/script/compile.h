// From a syntax tree to a graph.
//
// A script runs once on symbolic tensors, under the tracer, like a traced function; but here the
// control flow is ours to see: an `if` or a loop whose condition is a tensor becomes a structure of
// the graph (graph/structure.h) instead of a refusal. What is known at that time (module flags,
// numbers) is decided on the way; a question about sizes becomes a guard. So scripts and traces
// share one semantics, one way of recording, and one graph.
//
// Early exits: what follows a branch that may return, break or continue is run inside both
// branches, to the end of the function or of the loop's body; so no exit is left in the graph.
//
// Without a trace under way, run() executes the script eagerly: what tests compare with.
#pragma once

#include "graph/script/syntax.h"
#include "graph/trace.h"

namespace lathe::script {

/// What a name means that the function does not define itself.
struct Binding {
  enum class How : uint8_t { unknown, op, function, value, module, refused };
  How how = How::unknown;
  const Op* op = nullptr;
  const SyntaxTree* tree = nullptr;  // function: node `function` of this tree
  int function = -1;
  ir::Datum value = {};  // a number, text, None or tensor (parameters)
  DType dtype = DType::f32;
  bool is_dtype = false;    // value: a dtype
  std::string reason = {};  // refused
};

/// The front end's knowledge of globals, attributes and methods.
class Resolver {
 public:
  virtual ~Resolver() = default;
  /// "relu", "F.relu", "self.weight": dotted as written.
  virtual Binding resolve(const std::string& dotted) = 0;
  /// A tensor's method, without a trailing underscore. Null: there is none. Default: the op of that
  /// name.
  virtual const Op* method(const std::string& name);
  /// What print(...) does; returns false to refuse it.
  virtual bool print(const std::string&) { return false; }
};

/// Runs function `function` of the tree. Traced or eager, as the thread is.
ir::Data run(const SyntaxTree& tree, int function, Resolver& resolver, const ir::Data& arguments);

/// Traces it. ScriptError and TraceError name the user's line.
ir::Traced compile(const SyntaxTree& tree, int function, Resolver& resolver,
                   absl::Span<const ir::InputSpec> inputs, ir::Host& host,
                   const ir::TraceOptions& options = {});

/// Names that a function reads and does not define, dotted as far as written, with their first
/// lines: what a front end guards.
struct Reference {
  std::string dotted;
  int line;
};
std::vector<Reference> reads(const SyntaxTree& tree, int function);

}  // namespace lathe::script
