// The one thread pool of the process.
#pragma once

#include <absl/functional/function_ref.h>

#include <atomic>
#include <cstdint>

namespace lathe {

/// Calls body(begin, end) for the chunks [0, grain), [grain, 2 * grain) ... of [0, n), each exactly
/// once, on the caller and on the pool's threads, and returns when all are done. The boundaries
/// depend on n and grain only, never on the number of threads (a grain that would give more than
/// 2^30 chunks is raised). A chunk of 20 to 50 microseconds is about right.
///
/// Inside a chunk, or while another thread is in a region, it runs on the caller alone. If chunks
/// throw, the exception of the lowest one is rethrown here, and those above it may not run.
/// CancelledError if the work was cancelled. A body must not fork.
void parallel_for(int64_t n, int64_t grain,
                  absl::FunctionRef<void(int64_t begin, int64_t end)> body);

/// Threads that a region may use now, the caller included: the flag `threads`, else what the
/// affinity and the cgroup's quota allow (asked when the flags change and after a fork).
int pool_threads();

/// Asked on the calling thread, never on one of the pool's, between chunks; true stops the region.
/// Python installs one that looks for Ctrl-C. Null: none.
using CancelHook = bool (*)() noexcept;
void set_cancel_hook(CancelHook hook);

/// Regions of this thread are not asked: what has begun is finished.
class Uncancellable {
 public:
  Uncancellable();
  ~Uncancellable();
  Uncancellable(const Uncancellable&) = delete;
  Uncancellable& operator=(const Uncancellable&) = delete;

 private:
  bool outer_;
};

/// Regions of this thread stop when `asked` becomes true.
class CancelScope {
 public:
  explicit CancelScope(const std::atomic<bool>& asked);
  ~CancelScope();
  CancelScope(const CancelScope&) = delete;
  CancelScope& operator=(const CancelScope&) = delete;

 private:
  const std::atomic<bool>* outer_;
};

}  // namespace lathe
