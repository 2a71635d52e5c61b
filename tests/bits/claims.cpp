#include "tests/bits/claims.h"

#include <atomic>
#include <mutex>

#include "core/dispatch/fn.h"
#include "include/lathe/ops/math.h"
#include "kernels/table/table.h"

namespace lathe::bits_test {
namespace {

std::atomic<bool> claiming{false};
std::atomic<int64_t> taken{0};

Verdict accepts(const Entry&, const Query& query) {
  const bool takes = claiming.load() && !query.op.extra.moves;
  return takes ? Verdict::yes() : Verdict::no(Reason::op, query.op.name());
}

void run_expansion(const Entry&, const Call& call, Outputs& outputs) {
  ++taken;
  const GradMode off(false);
  outputs = expand(call.op, call.args);
  // What an entry gives is a tensor of its own, where an expansion may end with a view.
  for (Tensor& y : outputs)
    if (y.impl()->view) y = math_ops<Tensor>::clone(y);
}

}  // namespace

ClaimScope::ClaimScope(bool on) {
  static std::once_flag once;
  std::call_once(once, [] {
    register_entry({.name = "test.whole",
                    .kind = Kind::composite,
                    .bits = Bits::defined,
                    .accepts = accepts,
                    .take = run_expansion});
  });
  before_ = claiming.exchange(on);
}

ClaimScope::~ClaimScope() { claiming.store(before_); }

int64_t composites_taken() { return taken.load(); }

}  // namespace lathe::bits_test
