#include "python/bindings/signals.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

#include "kernels/runtime/pool.h"
#include "python/bindings/python.h"

namespace lathe::py {
namespace {

constexpr int64_t kPause = 5'000'000;  // ns between two looks, as between Python's own switches

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

/// Work that was too short to give the lock away for (see takes_long) may be one of many: a loop
/// that data decides about, or a long way through a graph. Whoever waits for the lock gets it: a
/// lock that is let go and taken again at once stays with this thread, as those it wakes come too
/// late, so it pauses in between where there is another thread at all.
void let_others_run() {
  if (PyGILState_Check() == 0) return;
  PyThreadState* first = PyInterpreterState_ThreadHead(PyInterpreterState_Get());
  bool alone = PyThreadState_Next(first) == nullptr;
  Away away;
  PyThreadState* state = PyEval_SaveThread();
  constexpr timespec kTurn{0, 50'000};
  if (!alone) nanosleep(&kTurn, nullptr);
  PyEval_RestoreThread(state);
}

std::atomic<int> threads_away{0};
std::atomic<bool> ending{false};

/// Called by Python's atexit, on the main thread.
void end_other_threads() {
  ending.store(true);
  PyThreadState* state = PyEval_SaveThread();
  constexpr timespec kShort{0, 1'000'000};
  constexpr int kMost = 5000;  // a thread in a vendor's library asks when that is done
  for (int i = 0; i < kMost && threads_away.load() > 0; ++i) nanosleep(&kShort, nullptr);
  PyEval_RestoreThread(state);
}

}  // namespace

bool interrupted() noexcept {
  if (raised.type != nullptr) return true;
  // The interpreter is going away: other threads stop, and nobody asks Python any more.
  if (ending.load(std::memory_order_relaxed)) return !on_main_thread();
  int64_t t = now();
  if (t - looked < kPause || Py_IsInitialized() == 0) return false;
  looked = t;
  let_others_run();
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

Away::Away() { threads_away.fetch_add(1); }
Away::~Away() { threads_away.fetch_sub(1); }

void watch_signals() {
  set_cancel_hook(interrupted);
  nb::module_::import_("atexit").attr("register")(nb::cpp_function(end_other_threads));
}

}  // namespace lathe::py
