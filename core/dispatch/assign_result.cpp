// x.op_(...), where the short way does not do: computed where x lies, or into a tensor of its own
// that is assigned.
#include <absl/algorithm/container.h>
#include <absl/strings/str_cat.h>

#include "core/base/cancel.h"
#include "core/base/error.h"
#include "core/dispatch/assign.h"
#include "core/dispatch/call.h"
#include "core/dispatch/fn.h"
#include "core/dispatch/grad.h"
#include "core/dispatch/in_place.h"
#include "core/op/each_tensor.h"
#include "core/tensor/shared_memory.h"
#include "include/lathe/ops/math.h"

namespace lathe {
namespace {

/// Will a derivative read the elements that this in-place call writes over?
bool derivative_reads_destination(const Op& op, Args args) {
  if (!thread_state().grad_enabled || op.extra.no_grad) return false;
  if (!needs_grad(args)) return false;
  // What the parts of a composite keep is known only when they run.
  return op.kind == Kind::composite || (saves_of(op, args).inputs & 1u) != 0;
}

bool can_fail(const Op& op, DType dtype) {
  const auto is_check = [](const ExprNode& e) { return e.prim == Prim::check; };
  const bool half = dtype == DType::f16 || dtype == DType::bf16;  // computed in f32
  return absl::c_any_of(op.scalar(half ? DType::f32 : dtype).graph.nodes(), is_check);
}

/// May each element of x be replaced as it is computed, since nobody watches and no derivative
/// reads it, and is what else is read x itself or other memory?
bool may_compute_over(const Op& op, Args args, const Tensor& x) {
  const ThreadState& state = thread_state();
  if (op.kind != Kind::elementwise || state.backend != nullptr || state.observers != nullptr)
    return false;
  if (x.device().kind != DeviceKind::cpu || x.impl()->storage->ready) return false;
  if (state.grad_enabled && needs_grad(args)) return false;
  bool apart = true;
  each_tensor(args, [&](const Arg& a) {
    apart &= a.tensor_ == x.impl() || !elements_may_meet(*a.tensor_, *x.impl());
  });
  return apart;
}

/// False: nothing was done.
bool computed_over(const Op& op, Args args, Tensor& x) {
  refresh_operands(args);
  if (!may_compute_over(op, args, x)) return false;
  const Types types = op.infer(args);
  const bool fits = types.size() == 1 && types[0].dtype == x.dtype() &&
                    types[0].shape == x.shape() && op.extra.domain.has(x.dtype());
  if (!fits || can_fail(op, x.dtype())) return false;
  require_assignable(x);
  Call made{op, args, types};
  made.into = &x;
  Outputs outputs;
  {
    const Uncancellable until_all_is_written;  // each element is old or new
    current_backend().run(made, outputs);
  }
  if (same(outputs[0], x))
    x.impl()->storage->written();
  else  // an entry that gives a tensor of its own
    assign(x, outputs[0]);
  return true;
}

}  // namespace

void assign_result(const Op& op, Args args) {
  Tensor x = args.tensor(0);
  if (computed_over(op, args, x)) return;
  absl::InlinedVector<Arg, 8> read(args.begin(), args.end());
  Tensor before;
  if (derivative_reads_destination(op, args)) {
    before = math_ops<Tensor>::clone(x);
    for (Arg& a : read)
      if (a.tag == Tag::tensor && a.tensor_ == x.impl()) a = Arg(before);
  }
  Tensor value = call(op, absl::MakeConstSpan(read))[0];
  if (category(value.dtype()) > category(x.dtype()))
    throw DTypeError({.op = absl::StrCat(op.name(), "_"),
                      .problem = "the result does not fit into the dtype it is written to",
                      .got = std::string(name(value.dtype())),
                      .expected = std::string(name(x.dtype())),
                      .next = absl::StrCat("use ", op.name(), "(), which makes a new tensor")});
  // Broadcasting may enlarge the result, never the destination.
  bool fits = value.rank() <= x.rank();
  for (int i = 1; fits && i <= value.rank(); ++i)
    fits = require(Relation::eq, value.size(-i), x.size(-i));
  if (!fits)
    throw ShapeError({.op = absl::StrCat(op.name(), "_"),
                      .problem = "the result does not fit into the tensor it is written to",
                      .got = to_string(value.shape()),
                      .expected = to_string(x.shape()),
                      .next = absl::StrCat("use ", op.name(), "(), which makes a new tensor")});
  assign(x, value);
}

}  // namespace lathe
