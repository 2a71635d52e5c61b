#include "python/bindings/signals.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>

#include "kernels/pool.h"
#include "python/bindings/python.h"

namespace lathe::py {
namespace {

constexpr int64_t kPause = 5'000'000;  // ns between two looks; a person does not notice

struct Raised {
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
};
constinit thread_local Raised raised;
constinit thread_local int64_t looked = 0;

int64_t now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
  return t.tv_sec * 1'000'000'000 + t.tv_nsec;
}

/// Python runs signal handlers on its main thread only; others, and those of devices among them,
/// have nothing to ask, and must not wait for the lock.
bool on_main_thread() { return syscall(SYS_gettid) == getpid(); }

}  // namespace

bool interrupted() noexcept {
  if (raised.type != nullptr) return true;
  int64_t t = now();
  if (t - looked < kPause || Py_IsInitialized() == 0) return false;
  looked = t;
  if (!on_main_thread()) return false;
  PyGILState_STATE state = PyGILState_Ensure();
  if (PyErr_Occurred() == nullptr && PyErr_CheckSignals() < 0)
    PyErr_Fetch(&raised.type, &raised.value, &raised.traceback);
  PyGILState_Release(state);
  return raised.type != nullptr;
}

bool restore_interrupt() noexcept {
  if (raised.type == nullptr) return false;
  PyErr_Restore(raised.type, raised.value, raised.traceback);
  raised = {};
  return true;
}

void watch_signals() { set_cancel_hook(interrupted); }

}  // namespace lathe::py
