#include "autodiff/part.h"

#include <optional>

#include "autodiff/backprop.h"
#include "core/base/error.h"
#include "core/dispatch/backend.h"
#include "core/dispatch/fn.h"
#include "graph/trace/tracer.h"
#include "include/lathe/ops/shape.h"

namespace lathe {
namespace {

using ir::Tracer;

[[noreturn]] void refuse(const TapeNode& node, std::string problem) {
  throw TraceError({.op = node.name(),
                    .problem = std::move(problem),
                    .next = "take the gradient of the traced function instead, outside of it",
                    .site = node.site});
}

bool calls_itself(const ir::Node& part) {
  bool found = part.is(ir::Structure::call);
  for (const ir::Block* b : part.blocks())
    ir::for_each_node(*b, [&](const ir::Node* n) { found |= n->is(ir::Structure::call); });
  return found;
}

/// The same elements, which to whoever takes gradients through the program are a number.
Tensor cut_off(const Tensor& t) {
  const GradMode off(false);
  return shape_ops<Tensor>::expand(t, Ints(IntSpan(t.shape())));
}

/// What has arrived at the part's inputs when `dys` has gone through it.
Tensors through(Tracer& tracer, const Tracer::Part& part, const TapeNode& node, const Tensors& dys,
                const Tensors& sums) {
  const GradMode on(true);  // or the rules' steps would be marked as having no derivative
  const AutocastScope over(DType::f32);
  Backprop backprop(tracer, true);
  for (ir::Value* v : part.inputs) backprop.activate(v);
  for (size_t k = 0; k < part.results.size(); ++k)
    if (dys[k].defined()) backprop.arrive(part.results[k], dys[k]);
  for (size_t i = 0; i < part.inputs.size(); ++i)
    if (sums[i].defined()) backprop.arrive(part.inputs[i], sums[i]);
  backprop.walk_one(*part.node);
  Tensors out;
  for (size_t i = 0; i < part.inputs.size(); ++i) {
    if (backprop.maybe_arrives(part.inputs[i]))
      refuse(node,
             "data decides whether anything arrives at what it reads, and a gradient is "
             "taken inside the trace");
    const Tensor sum = backprop.sum(part.inputs[i]);
    const bool same = !sum.defined() || (sums[i].defined() && sum.impl() == sums[i].impl());
    out.push_back(same ? sum : cut_off(sum));
  }
  return out;
}

}  // namespace

OwnDerivativeRef derivative_of_part(std::string_view name) {
  Tracer* tracer = Tracer::current();
  std::optional<Tracer::Part> part;
  if (tracer->part() != nullptr) part = *tracer->part();
  auto run = [part, epoch = tracer->epoch()](const auto& node, const Tensors& dys,
                                             const Tensors& sums) -> Tensors {
    Tracer* now = Tracer::current();
    if (!part || now == nullptr || now->epoch() != epoch || calls_itself(*part->node))
      refuse(*node,
             "a gradient is taken inside the trace through a branch, a loop or a function that is "
             "recorded as one");
    if (thread_state().grad_enabled)
      refuse(*node,
             "a gradient of second order is taken inside the trace through a branch or a loop that "
             "is recorded as one");
    return through(*now, *part, *node, dys, sums);
  };
  return std::make_shared<const OwnDerivative>(
      OwnDerivative{.name = std::string(name), .run = std::move(run), .continues = true});
}

}  // namespace lathe
