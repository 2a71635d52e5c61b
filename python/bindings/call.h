// Running an op from Python: with the interpreter's lock for short ones, without it for long ones.
#pragma once

#include "core/dispatch/dispatch.h"
#include "core/dispatch/shortcut.h"
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

Outputs run(const Op& op, Args args);
/// The first result. On the short way without the list of results that call() makes, which takes a
/// quarter of the time of a small sum.
inline Tensor run1(const Op& op, Args args) {
  if (Tensor quick = shortcut(op, args); quick.defined()) return quick;
  return std::move(run(op, args)[0]);
}
Tensor run_inplace(const Op& op, Args args);

}  // namespace lathe::py
