#include "python/bindings/call.h"

#include "core/op/each_tensor.h"

#include "core/dispatch/call.h"

namespace lathe::py {
namespace {

// Elements above which work on them outlasts a hand-over of the lock (about 5 us, twice) by far.
constexpr int64_t kManyElements = 1 << 20;
constexpr int64_t kManyForProducts = 1 << 14;

int64_t elements(const TensorImpl& t) {
  int64_t n = 1;
  for (Int size : t.geometry.shape) n *= size.known() ? size.value() : 1;
  return n;
}

int64_t elements(Args args) {
  int64_t most = 0;
  each_tensor(args, [&](const Arg& a) { most = std::max(most, elements(*a.tensor_)); });
  return most;
}

}  // namespace

Released::Released() : site_(here()), state_(PyEval_SaveThread()) {}
Released::~Released() { PyEval_RestoreThread(state_); }

bool takes_long(const Op& op, Args args) {
  if (thread_state().backend != nullptr) return false;  // a trace: nothing runs
  bool products = op.kind == Kind::contract || op.kind == Kind::composite || op.kind == Kind::sort;
  return elements(args) >= (products ? kManyForProducts : kManyElements);
}

Outputs run_large(const Op& op, Args args, CallForm form) {
  if (!takes_long(op, args)) return call(op, args, form);
  return released([&] { return call(op, args, form); });
}

}  // namespace lathe::py
