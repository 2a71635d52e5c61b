// Parts of a trace that are recorded as one (an if, a loop), to the tape that goes through them.
//
// The derivative of such a part is recorded behind what is there when a backward asks for it, as
// differentiate() does with a whole graph. The part may give more for it than it did. A derivative
// of higher order takes the part and what was recorded for its derivative as one part more; it
// agrees with eager's to rounding. TraceError when it is asked for by a function that calls itself,
// and where data decides whether anything arrives at an input.

#include <absl/strings/str_cat.h>

#include <algorithm>

#include "autodiff/backprop.h"
#include "autodiff/tape.h"
#include "core/base/error.h"
#include "core/batch/batch.h"
#include "core/dispatch/backend.h"
#include "core/dispatch/fn.h"
#include "graph/trace/tracer.h"
#include "include/lathe/ops/shape.h"

namespace lathe {
namespace {

using ir::Tracer;

/// Nodes that the tape sees as one step, in the program's order.
struct Piece {
  std::string name;
  uint64_t epoch = 0;  // of the trace
  std::vector<ir::Node*> nodes;
  ir::Values inputs, results;
};

OwnDerivativeRef derivative_of(Piece piece);

[[noreturn]] void refuse(const TapeNode& node, std::string problem) {
  throw TraceError({.op = node.name(),
                    .problem = std::move(problem),
                    .next = "take the gradient of the traced function instead, outside of it",
                    .site = node.site});
}

bool calls_itself(const Piece& piece) {
  bool found = false;
  for (const ir::Node* part : piece.nodes) {
    found |= part->is(ir::Structure::call);
    for (const ir::Block* b : part->blocks())
      ir::for_each_node(*b, [&](const ir::Node* n) { found |= n->is(ir::Structure::call); });
  }
  return found;
}

/// The same elements, which to whoever takes gradients through the program are a number.
Tensor cut_off(const Tensor& t) {
  const GradMode off(false);
  return shape_ops<Tensor>::expand(t, Ints(IntSpan(t.shape())));
}

/// A derivative that is recorded: what has arrived at the inputs, in a piece of its own.
class Through {
 public:
  Through(Tracer& tracer, const Piece& piece, const std::shared_ptr<TapeNode>& node)
      : tracer_(tracer), piece_(piece), node_(node), before_(tracer.last_node()) {}

  Tensors run(const Tensors& dys, const Tensors& sums) {
    const bool goes_on = thread_state().grad_enabled;  // it may be differentiated itself
    Backprop backprop(tracer_, true, goes_on);
    Tensors out;
    {
      const GradMode on(true);  // or the rules' steps would be marked as having no derivative
      const AutocastScope over(DType::f32);
      for (ir::Value* v : piece_.inputs) backprop.activate(v);
      for (size_t k = 0; k < piece_.results.size(); ++k)
        if (dys[k].defined()) backprop.arrive(piece_.results[k], dys[k]);
      for (size_t i = 0; i < piece_.inputs.size(); ++i)
        if (sums[i].defined()) backprop.arrive(piece_.inputs[i], sums[i]);
      backprop.walk_piece(piece_.nodes);
    }
    for (size_t i = 0; i < piece_.inputs.size(); ++i) {
      if (backprop.maybe_arrives(piece_.inputs[i]))
        refuse(*node_,
               "data decides whether anything arrives at what it reads, and a gradient is taken "
               "inside the trace");
      out.push_back(backprop.sum(piece_.inputs[i]));
    }
    return goes_on ? with_history(dys, sums, out) : numbers(sums, std::move(out));
  }

 private:
  static bool is_same(const Tensor& a, const Tensor& b) {
    return a.defined() && b.defined() && a.impl() == b.impl();
  }

  static Tensors numbers(const Tensors& sums, Tensors out) {
    for (size_t i = 0; i < out.size(); ++i)
      if (out[i].defined() && !is_same(out[i], sums[i])) out[i] = cut_off(out[i]);
    return out;
  }

  /// The results as those of one step more, of what the first step read and of what has arrived.
  Tensors with_history(const Tensors& dys, const Tensors& sums, const Tensors& found) {
    Piece next{absl::StrCat(piece_.name, " backward"), piece_.epoch, piece_.nodes, {}, {}};
    const ir::Node* n = before_ != nullptr ? before_->next() : nullptr;
    for (auto* at = const_cast<ir::Node*>(n); at != nullptr && at != tracer_.last_node()->next();
         at = at->next())
      next.nodes.push_back(at);
    Tensors inputs, out = found, made;
    auto reads = [&](ir::Value* v, const Edge& edge) {
      if (!edge.node || std::find(next.inputs.begin(), next.inputs.end(), v) != next.inputs.end())
        return;
      next.inputs.push_back(v);
      inputs.push_back(tracer_.tensor_for(v));
      set_history(inputs.back(), edge);
    };
    for (size_t i = 0; i < piece_.inputs.size(); ++i) reads(piece_.inputs[i], node_->next[i]);
    for (const Tensors* arrived : {&dys, &sums})
      for (const Tensor& t : *arrived)
        if (t.defined() && t.requires_grad()) reads(tracer_.value_of(t), edge_of(t));
    std::vector<size_t> places;
    for (size_t i = 0; i < found.size(); ++i) {
      if (!found[i].defined() || is_same(found[i], sums[i])) continue;
      places.push_back(i);
      next.results.push_back(tracer_.value_of(found[i]));
      made.push_back(tracer_.tensor_for(next.results.back()));
    }
    record_part(derivative_of(std::move(next)), inputs, made);
    for (size_t k = 0; k < places.size(); ++k) out[places[k]] = made[k];
    return out;
  }

  Tracer& tracer_;
  const Piece& piece_;
  const std::shared_ptr<TapeNode>& node_;
  ir::Node* before_;
};

OwnDerivativeRef derivative_of(Piece piece) {
  std::string name = piece.name;
  auto run = [piece = std::move(piece)](const std::shared_ptr<TapeNode>& node, const Tensors& dys,
                                        const Tensors& sums) -> Tensors {
    Tracer* now = Tracer::current();
    if (piece.nodes.empty() || now == nullptr || now->epoch() != piece.epoch || calls_itself(piece))
      refuse(*node,
             "a gradient is taken inside the trace through a branch, a loop or a function that is "
             "recorded as one");
    if (Batch::current() != nullptr)
      refuse(*node, "a vmap of gradients goes through a branch or a loop that is recorded as one");
    return Through(*now, piece, node).run(dys, sums);
  };
  return std::make_shared<const OwnDerivative>(
      OwnDerivative{.name = std::move(name), .run = std::move(run), .continues = true});
}

}  // namespace

void Tape::saw_part(std::string_view name, const Tensors& inputs, Tensors& results) {
  const Tracer* tracer = Tracer::current();
  Piece piece{std::string(name), tracer->epoch(), {}, {}, {}};
  if (const Tracer::Part* part = tracer->part()) {
    piece.nodes.push_back(part->node);
    piece.inputs = part->inputs;
    piece.results = part->results;
  }
  record_part(derivative_of(std::move(piece)), inputs, results);
}

}  // namespace lathe
