// The one thread pool of the process.
#pragma once

#include <absl/functional/function_ref.h>

#include <cstdint>
#include <string>

#include "core/base/cancel.h"
#include "kernels/runtime/cpus.h"

namespace lathe {

/// Calls body(begin, end) for the chunks [0, grain), [grain, 2 * grain) ... of [0, n), each exactly
/// once, on the caller and on the pool's threads, and returns when all are done. The boundaries
/// depend on n and grain only, never on the number of threads (a grain that would give more than
/// 2^30 chunks is raised). A chunk of 20 to 50 microseconds is about right.
///
/// Inside a chunk, or while another thread is in a region, it runs on the caller alone. If chunks
/// throw, the exception of the lowest one is rethrown here, and those above it may not run.
/// CancelledError if the work was cancelled. A body must not fork. One whose chunk can be longer
/// than a few milliseconds (a line that cannot be cut) asks check_cancelled() in between.
void parallel_for(int64_t n, int64_t grain,
                  absl::FunctionRef<void(int64_t begin, int64_t end)> body);

/// Threads that a region may use now, the caller included: the flag `threads`, else what the
/// affinity and the cgroup's quota allow (asked when the flags change and after a fork).
int pool_threads();
/// The same in words, with what says so: "2 threads: as many as the affinity allows (...)".
std::string threads_text();
/// Of a pool on these processors, where the flag `threads` says so (0: nothing).
std::string threads_text(const Cpus& cpus, int64_t flag, bool from_environment);

/// CancelledError if the work under way on this thread was cancelled: the caller's thread asks the
/// hook, one of the pool's what the caller found. A few nanoseconds; for loops inside a chunk and
/// for loops of regions.
void check_cancelled();

/// Asks check_cancelled() once for so many elements that the loops of a chunk have done.
class Pace {
 public:
  void after(int64_t elements) {
    if ((left_ -= elements) <= 0) ask();
  }

 private:
  void ask() {
    left_ = kStretch;
    check_cancelled();
  }
  static constexpr int64_t kStretch = 1 << 16;
  int64_t left_ = kStretch;
};

/// f(begin, end) for stretches of [begin, end), asking check_cancelled() between them: for a line
/// that is one chunk whatever its length.
template <class F>
void in_stretches(int64_t begin, int64_t end, F f) {
  constexpr int64_t kStretch = 1 << 18;
  for (int64_t at = begin; at < end; at += kStretch) {
    if (at != begin) check_cancelled();
    f(at, at + kStretch < end ? at + kStretch : end);
  }
}

}  // namespace lathe
