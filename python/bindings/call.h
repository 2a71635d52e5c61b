// Running an op from Python: with the interpreter's lock for short ones, without it for long ones.
#pragma once

#include "core/dispatch/call.h"
#include "python/bindings/python.h"
#include "python/bindings/signals.h"

namespace lathe::py {

/// Lets other Python threads run until it is destroyed. The user's line is looked up before, since
/// it cannot be without the lock.
class Released {
 public:
  Released();
  ~Released();
  Released(const Released&) = delete;

 private:
  Away away_;  // until the lock is here again
  SiteScope site_;
  PyThreadState* state_;
};

/// f() without the lock. A signal that came too late to stop it is raised all the same.
template <class F>
auto released(F f) {
  auto result = [&] {
    Released others_may_run;
    return f();
  }();
  if (restore_interrupt()) throw nb::python_error();
  return result;
}

/// Whether a call is worth giving the lock away: it takes longer than a switch of threads.
bool takes_long(const Op& op, Args args);

/// Every operand is a number, or a tensor of its own memory too small for a call to take long.
inline bool small(Args args) {
  constexpr size_t kSmallBytes = 1 << 13;
  for (const Arg& a : args) {
    if (a.tag == Tag::list) return false;
    if (a.tag != Tag::tensor) continue;
    const TensorImpl& t = *a.tensor_;
    if (t.view || !t.storage || t.storage->bytes > kSmallBytes) return false;
  }
  return true;
}

/// call(), without the lock where it takes long.
Outputs run_large(const Op& op, Args args, CallForm form);
inline Outputs run(const Op& op, Args args, CallForm form = CallForm::fresh) {
  return small(args) ? call(op, args, form) : run_large(op, args, form);
}
/// The first result of run(). What has a short way is small, and not asked for its size.
inline Tensor run_one(const Op& op, Args args) {
  Tensor result;
  if (call_short(op, args, CallForm::fresh, result)) return result;
  return std::move(run(op, args)[0]);
}

}  // namespace lathe::py
