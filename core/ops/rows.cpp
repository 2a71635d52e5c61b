#include "core/ops/rows.h"

#include <algorithm>
#include <thread>

#include "core/base/flags.h"
#include "core/dispatch/assign.h"
#include "core/dispatch/backend.h"
#include "core/dispatch/fn.h"
#include "core/op/each_tensor.h"
#include "core/ops/names.h"

namespace lathe {
namespace {

using namespace names;

constexpr int64_t kPart = 1 << 16;  // elements that a thread's second-level cache has room for

/// Elements of a part: each thread has one.
int64_t most_together() {
  static const int64_t processors = std::max(1u, std::thread::hardware_concurrency());
  const int64_t asked = flag_count(Flag::threads);
  return kPart * (asked > 0 ? asked : processors);
}

bool may_part(Args args, const Tensor& x) {
  const ThreadState& state = thread_state();
  if (state.backend != nullptr || state.observers != nullptr || state.trace_epoch != 0)
    return false;
  if (state.grad_enabled && needs_grad(args)) return false;
  bool alike = is_floating(x.dtype()) && x.device() == Device{} && x.numel().known();
  each_tensor(args, [&](const Arg& a) { alike &= a.tensor_->dtype == x.dtype(); });
  return alike;
}

struct Parts {
  int axes;
  int64_t most;
  absl::FunctionRef<Tensor(const Tensor&)> of;

  void run(const Tensor& x, const Tensor& out, int axis) const {
    const int64_t all = x.numel().value();
    if (all <= most || axis == axes) {
      assign(out, of(x));
      return;
    }
    const int64_t size = x.size(axis).value(), step = std::max<int64_t>(1, most * size / all);
    for (int64_t at = 0; at < size; at += step) {
      const Int from = at, to = std::min(size, at + step);
      run(S::slice(x, axis, from, to), S::slice(out, axis, from, to), axis + 1);
    }
  }
};

}  // namespace

Tensor by_rows(Args args, const Tensor& x, int axes, absl::FunctionRef<Tensor(const Tensor&)> of) {
  if (axes < 1 || !may_part(args, x)) return of(x);
  const int64_t most = most_together();
  if (x.numel().value() < 2 * most) return of(x);
  const GradMode no_grad(false);
  Tensor out = empty({x.dtype(), x.shape(), x.device()});
  Parts{axes, most, of}.run(x, out, 0);
  return out;
}

}  // namespace lathe
