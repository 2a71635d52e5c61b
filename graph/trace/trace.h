// Tracing: a function runs once on symbolic tensors, which have types but never data, and every op
// it calls becomes a node. Nothing can be baked in, because there is nothing to read.
//
// The tracer is a Backend: `run` adds a node, `write` gives the written tensor another value. A
// symbolic tensor's impl carries {epoch, value}: which trace made it, and which value it is *now*,
// so a write changes the tensor and not the graph. Writes to inputs are made good at the end
// (Graph::writes). A concrete tensor met on the way becomes one more input, found again at later
// calls by the path that the TraceCallbacks knows, or a constant. Views need no care here: core
// replays a stale one before it is used.
//
// `if`, `for` and `while` on symbolic conditions become structures: their parts are traced into
// blocks, and a tensor from outside that a loop body writes is carried by the loop without being
// asked.
//
// Floats: each float input is a symbol of its own (core/sizes/real.h). Where an op takes an
// expression over them, nodes at the head of the graph compute it. What definitions branched on is
// a guard.
//
// Sizes: each size of an input is a symbol of its own, also 0 and 1 and those that happen to be
// equal. What shape rules took for granted is in Graph::assumptions, what every call must satisfy
// in Graph::checks.
//
// Everything is as before when trace() returns, also by an exception: then no trace remains of it.
#pragma once

#include <absl/functional/function_ref.h>

#include "core/dispatch/assign.h"
#include "core/dispatch/call.h"
#include "core/dispatch/view_path.h"
#include "core/sizes/real.h"
#include "graph/ir/datum.h"
#include "graph/ir/ir.h"

namespace lathe::ir {

/// How the program reaches a thing: "x", "model.fc1.weight". The front end gives it its meaning.
struct Path {
  std::string text;
  friend bool operator==(const Path&, const Path&) = default;
};

enum class GuardKind : uint8_t {
  layout,    // the tensor at `path` has this type (symbols stand for any size), strides and
             // requires_grad
  relation,  // a fact about sizes that was taken for granted
  identity,  // `tensor` is the one met, at this version
  alias,     // the tensor at `path` is written: no other input may share its memory
  number,    // what was taken for granted about inputs that are floats
};
struct Guard {
  GuardKind kind;
  Path path = {};
  uint64_t expected = 0;     // layout: how strides lie (stride_class); identity: the version
  TensorType type = {};      // layout
  bool any_strides = false;  // layout: those above 1 are symbols
  bool requires_grad = false;
  SymFact fact = {};  // relation
  std::optional<RealFact> number = std::nullopt;
  Tensor tensor = {};  // identity
  Site site = {};
};

/// How elements lie, as far as programs can tell: row-major, a permutation of that, or otherwise.
/// `any_strides`: then those above 1 are not told apart.
uint64_t stride_class(const Geometry& geometry, bool any_strides);

/// What the tracer asks the front end.
class TraceCallbacks {
 public:
  virtual ~TraceCallbacks() = default;
  struct Found {
    enum class How : uint8_t {
      path,      // read it from `path` at every call
      constant,  // made inside this trace from values that are guarded: its elements are part of
                 // the program
      identity,  // captured as it is, guarded by identity and version
      refused,   // TraceError
    };
    How how = How::identity;
    Path path = {};
  };
  /// A concrete tensor was met in the traced code.
  virtual Found find(const Tensor&) { return {}; }
  /// What is at the path now. An undefined tensor: nothing.
  virtual Datum read(const Path& path);
  /// What the user calls the result of this line; "": nothing in particular.
  virtual std::string name_at(Site) { return {}; }
};

/// One argument of the traced function.
struct InputSpec {
  std::string name = {};
  Path path = {};        // for guards; default: the name
  Type type = {};        // a tensor (its sizes are hints), or a number
  double number = 0;     // what it is now, if it is a float
  Strides strides = {};  // empty: row-major
  bool requires_grad = false;
  bool fixed_sizes = false;  // sizes are numbers in the graph
  uint64_t fixed_axes = 0;   // bit k: the size along axis k is one
};
InputSpec spec_of(const Tensor& t, std::string name);

/// What the traced function gave back, so that the caller gets the same objects as from eager.
struct Returned {
  enum class How : uint8_t {
    output,  // output `index` of the graph; the same index twice is the same object twice
    input,   // input `index` of the graph itself, after its writes
    same,    // the very object of result `index`, an earlier one
    view,    // `path` replayed on `base`, or `base` without its history: writes through either are
             // seen by both
  };
  How how = How::output;
  size_t index = 0;
  std::unique_ptr<Returned> base = nullptr;
  std::vector<ViewStep> path = {};
  bool detached = false;
  bool requires_grad = false;
  Value* value = nullptr;  // of a view that requires grad: its own, in the graph
};

struct Traced {
  Graph graph;
  std::vector<Guard> guards;
  std::vector<Path> captured;  // of the inputs after the given ones, in order
  Data captured_now;           // the tensors and floats they were
  std::vector<std::pair<const RealExpr*, size_t>> numbers;  // symbols, and which inputs they are
  std::vector<Returned> returns;
  std::vector<bool> strided;  // by output: eager's is not in row-major order, so this need not be
  /// Of inputs: the symbols behind the graph's own, which only guards mention.
  struct Stride {
    size_t input;
    int axis;
  };
  std::vector<Stride> strides;
};

struct TraceOptions {
  std::string name = "main";
  /// Results may be given back as inputs or views of them, as eager does. Off: each result is an
  /// output of the graph, which then says everything by itself (files).
  bool aliases = true;
  /// Gradients may be asked for by any input later, whatever requires grad now (files).
  bool any_history = false;
};

using TracedFunction = absl::FunctionRef<Data(const Data&)>;
Traced trace(TracedFunction function, absl::Span<const InputSpec> inputs, TraceCallbacks& host,
             const TraceOptions& options = {});
/// Captures by identity whatever it meets.
Traced trace(TracedFunction function, absl::Span<const InputSpec> inputs);

/// Makes the results as the traced function returned them: `inputs` are all inputs of the graph
/// (captured ones too), `outputs` what running it gave. Call it after the writes.
Data returned(const Traced& traced, const Data& inputs, Data outputs);

}  // namespace lathe::ir
