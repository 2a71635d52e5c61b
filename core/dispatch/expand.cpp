// Composites that no backend takes whole: their expansion, in the op type.
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <optional>

#include "core/base/asked.h"
#include "core/base/error.h"
#include "core/dispatch/call.h"
#include "core/dispatch/fn.h"
#include "core/dispatch/replaced.h"
#include "core/infer/rules.h"
#include "core/op/each_tensor.h"
#include "include/lathe/ops/math.h"

namespace lathe {
namespace {

/// A composite that calls itself for ever is a broken definition, not a stack overflow.
class CompositeDepth {
 public:
  explicit CompositeDepth(const Op& op) {
    if (++thread_state().composite_depth > 32) {
      --thread_state().composite_depth;
      LATHE_INTERNAL(absl::StrCat(op.name(), " expands into itself"));
    }
  }
  ~CompositeDepth() { --thread_state().composite_depth; }
};

/// The dtypes among a composite's operands.
struct OperandTypes {
  bool narrow = false;        // one of them is f16 or bf16
  DType common = DType::f32;  // then: what the floating ones promote to
  explicit OperandTypes(Args args) {
    absl::InlinedVector<Arg, 8> floats;
    each_tensor(args, [&](const Arg& a) {
      if (!is_floating(a.tensor_->dtype)) return;
      narrow |= is_narrow(a.tensor_->dtype);
      floats.push_back(a);
    });
    if (narrow) common = result_type(Args(floats.data(), floats.size()));
  }
};

}  // namespace

Outputs expand(const Op& op, Args args) {
  CompositeDepth depth(op);
  AskedScope asked(op.public_name());
  if (!op.extra.instead_in_trace.empty() && thread_state().trace_epoch != 0)
    throw TraceError(
        {.op = std::string(op.public_name()),
         .problem = "the size or the place of the result depends on data, which a trace never sees",
         .got = "a call inside of a traced function",
         .expected = "ops whose results have sizes that follow from those of operands",
         .next = std::string(op.extra.instead_in_trace)});
  std::optional<GradMode> stated;  // that there is no derivative
  if (op.extra.no_grad && thread_state().grad_enabled) stated.emplace(false);
  if (op.extra.moves) return op.expansion(args);
  const OperandTypes types(args);
  if (!types.narrow) return op.expansion(args);
  // Mixed with f32, the halves are widened all the same: every intermediate is in the op type.
  const DType storage = op.extra.results_like_first ? args.tensor(0).dtype() : types.common;
  const DType compute = compute_type(types.common);
  // What the op writes to stays as it is: assign() rounds.
  const Replaced wide(op, args, [](const Tensor& t) {
    return is_narrow(t.dtype()) ? math_ops<Tensor>::cast(t, compute_type(t.dtype())) : Tensor();
  });
  // A dtype that the caller asked for is what the expansion gave, and no intermediate.
  auto asks = [&](const Arg& a) { return a.tag == Tag::dtype && a.dtype_ == compute; };
  const bool asked_for = std::any_of(args.begin(), args.end(), asks);
  Outputs outputs = op.expansion(wide.args());
  for (Tensor& t : outputs) {
    // An expansion that returns an operand returns what it was given.
    if (Tensor given = wide.original(t); !same(given, t))
      t = given;
    else if (t.dtype() == compute && compute != storage && !asked_for)
      t = math_ops<Tensor>::cast(t, storage);
  }
  return outputs;
}

}  // namespace lathe
