// Composites that no backend takes whole: their expansion, in the op type.
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <optional>

#include "core/base/asked.h"
#include "core/base/error.h"
#include "core/dispatch/call.h"
#include "core/dispatch/fn.h"
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
  DType common = DType::f32;  // what the floating ones promote to; no meaning if there are none
  explicit OperandTypes(Args args) {
    bool any = false;
    each_tensor(args, [&](const Arg& a) {
      const DType dtype = a.tensor_->dtype;
      if (!is_floating(dtype)) return;
      common = any ? promote(common, dtype) : dtype;
      any = true;
      narrow |= is_narrow(dtype);
    });
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
  // Operands by their converted form: an expansion that returns one returns what it was given.
  absl::InlinedVector<std::pair<Tensor, Tensor>, 4> converted;
  auto widened = [&](const Arg& a) {
    if (a.tag != Tag::tensor || !is_narrow(a.tensor_->dtype)) return a;
    const DType wide = compute_type(a.tensor_->dtype);
    converted.emplace_back(math_ops<Tensor>::cast(a.tensor(), wide), a.tensor());
    return Arg(converted.back().first);
  };
  ArgVec lists;
  absl::InlinedVector<Arg, 8> operands;
  for (size_t i = 0; i < args.size(); ++i) {
    // What the op writes to stays as it is: assign() rounds.
    if (op.schema.params[i].written) {
      operands.push_back(args[i]);
    } else if (args[i].tag == Tag::list) {
      std::vector<Arg> items;
      for (size_t k = 0; k < args[i].list_->size; ++k)
        items.push_back(widened(args[i].list_->data[k]));
      lists.push(Arg(ArgList{items.data(), items.size()}));
      operands.push_back(lists[lists.size() - 1]);
    } else {
      operands.push_back(widened(args[i]));
    }
  }
  // A dtype that the caller asked for is what the expansion gave, and no intermediate.
  auto asks = [&](const Arg& a) { return a.tag == Tag::dtype && a.dtype_ == compute; };
  const bool asked_for = std::any_of(args.begin(), args.end(), asks);
  Outputs outputs = op.expansion(absl::MakeConstSpan(operands));
  for (Tensor& t : outputs) {
    auto is_this = [&](const auto& pair) { return same(pair.first, t); };
    auto given = std::find_if(converted.begin(), converted.end(), is_this);
    if (given != converted.end())
      t = given->second;
    else if (t.dtype() == compute && compute != storage && !asked_for)
      t = math_ops<Tensor>::cast(t, storage);
  }
  return outputs;
}

}  // namespace lathe
