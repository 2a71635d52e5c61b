// Mixed precision by scope: inside of one, products are computed in f16 or bf16, and what loses its
// digits there in f32. Which is which stands in the definitions (Extra::autocast), as PyTorch's
// lists for the CPU have it.
#include "core/dispatch/call.h"
#include "core/dispatch/fn.h"
#include "core/dispatch/replaced.h"
#include "core/op/each_tensor.h"
#include "include/lathe/ops/math.h"

namespace lathe {
namespace {

/// What is not defined for the scope's dtypes at all is computed in f32.
Autocast way_of(const Op& op) {
  const DTypeSet& domain = op.extra.domain;
  const bool no_narrow = domain.has(DType::f32) && !domain.has(DType::bf16);
  return no_narrow ? Autocast::wide : op.extra.autocast;
}

bool eligible(const Tensor& t) { return is_floating(t.dtype()) && t.dtype() != DType::f64; }

/// What the eligible operands become.
DType common_type(Autocast way, Args args, DType narrow) {
  if (way == Autocast::narrow) return narrow;
  if (way == Autocast::wide) return DType::f32;
  DType widest = narrow;
  each_tensor(args, [&](const Arg& a) {
    if (eligible(a.tensor())) widest = promote(widest, a.tensor().dtype());
  });
  return widest;
}

}  // namespace

bool casts_operands(const Op& op) {
  const ThreadState& state = thread_state();
  return state.autocast != DType::f32 && state.composite_depth == 0 && way_of(op) != Autocast::none;
}

void call_cast(const Op& op, Args args, Outputs& outputs) {
  const DType to = common_type(way_of(op), args, thread_state().autocast);
  const AutocastScope over(DType::f32);
  const Replaced cast(op, args, [&](const Tensor& t) {
    return eligible(t) && t.dtype() != to ? math_ops<Tensor>::cast(t, to) : Tensor();
  });
  outputs = call(op, cast.args());
}

}  // namespace lathe
