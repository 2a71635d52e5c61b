// How a region runs. The caller writes its Job, then publishes one word: (epoch, chunks not yet
// claimed). Whoever lowers the word by compare-and-swap owns the chunk that it counted; the epoch
// makes a swap by a thread that slept through a whole region fail. A job lives on its caller's
// stack: it may be touched only by the owner of a chunk, because the caller cannot return before
// that chunk is counted off in `pending`. Chunks are claimed in ascending order.
//
// Workers pause 2000 times for the next region, then sleep on a futex; so does a caller that waits
// for the last chunk. When a caller had to sleep, the machine is busy with others and pausing only
// takes their time: workers then sleep at once until regions go well again.
#include "kernels/runtime/pool.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <csignal>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

#include "core/base/error.h"
#include "core/base/flags.h"

namespace lathe {
namespace {

constexpr int kPauses = 2000;
constexpr int kMostThreads = 256;
constexpr int64_t kMostChunks = int64_t{1} << 30;
constexpr int64_t kNone = INT64_MAX;

struct Job {
  absl::FunctionRef<void(int64_t, int64_t)> body;
  int64_t n, grain;
  uint32_t chunks;
  std::atomic<bool> cancelled{false};
  std::atomic<int64_t> failed{kNone};  // the lowest chunk that threw
  std::mutex error_mutex = {};
  std::exception_ptr error = nullptr;  // of that chunk
};

struct Pool {
  std::atomic<uint64_t> word{0};  // epoch << 32 | chunks not yet claimed
  std::atomic<Job*> job{nullptr};
  std::atomic<uint32_t> pending{0};  // chunks not yet done; the caller's futex
  std::atomic<uint32_t> signal{0};   // counts regions; the workers' futex
  std::atomic<uint32_t> sleepers{0};
  std::atomic<int> pauses{kPauses};
  std::atomic<int> active{1};     // threads that may claim, the caller included
  std::atomic<bool> busy{false};  // a region is under way
  int started = 1;                // threads there are; guarded by busy
  std::atomic<int> wanted{0};
  std::atomic<uint64_t> wanted_revision{0};  // of the flags `wanted` was computed from
};
constinit Pool pool;
constinit thread_local bool in_region = false;
constinit thread_local bool is_worker = false;
constinit thread_local Job* current_job = nullptr;  // whose chunk this thread is in

static_assert(sizeof(std::atomic<uint32_t>) == 4 && std::atomic<uint32_t>::is_always_lock_free);
void futex_wait(std::atomic<uint32_t>& at, uint32_t seen, const timespec* at_most = nullptr) {
  syscall(SYS_futex, &at, FUTEX_WAIT_PRIVATE, seen, at_most, nullptr, 0);
}
void futex_wake(std::atomic<uint32_t>& at, int count) {
  syscall(SYS_futex, &at, FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
}

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// A thread of the pool is told by the job.
bool stop_wanted() { return !is_worker && cancel_wanted(); }

void run_chunk(Job& job, int64_t chunk) {
  if (job.cancelled.load(std::memory_order_relaxed) ||
      chunk > job.failed.load(std::memory_order_relaxed))
    return;
  int64_t begin = chunk * job.grain;
  current_job = &job;
  try {
    job.body(begin, std::min(job.n, begin + job.grain));
  } catch (...) {
    std::lock_guard hold(job.error_mutex);
    if (chunk < job.failed.load(std::memory_order_relaxed)) {
      job.failed.store(chunk, std::memory_order_relaxed);
      job.error = std::current_exception();
    }
  }
  current_job = nullptr;
}

// One chunk, if there is one; false if not. After it, the job may be gone.
bool claim_and_run(bool is_caller) {
  uint64_t seen = pool.word.load(std::memory_order_acquire);
  do {
    if (static_cast<uint32_t>(seen) == 0) return false;
  } while (!pool.word.compare_exchange_weak(seen, seen - 1, std::memory_order_acq_rel,
                                            std::memory_order_acquire));
  Job& job = *pool.job.load(std::memory_order_relaxed);
  if (is_caller && !job.cancelled.load(std::memory_order_relaxed) && stop_wanted())
    job.cancelled.store(true, std::memory_order_relaxed);
  run_chunk(job, job.chunks - static_cast<uint32_t>(seen));
  if (pool.pending.fetch_sub(1, std::memory_order_acq_rel) == 1 && !is_caller)
    futex_wake(pool.pending, 1);
  return true;
}

void wait_for_region(uint32_t signal) {
  for (int i = pool.pauses.load(std::memory_order_relaxed); i > 0; i--) {
    if (pool.signal.load(std::memory_order_acquire) != signal) return;
    pause();
  }
  pool.sleepers.fetch_add(1, std::memory_order_seq_cst);
  futex_wait(pool.signal, signal);
  pool.sleepers.fetch_sub(1, std::memory_order_relaxed);
}

void serve(int index) {
  is_worker = true;
  in_region = true;  // what a chunk calls runs inline
  for (;;) {
    uint32_t signal = pool.signal.load(std::memory_order_acquire);
    if (index < pool.active.load(std::memory_order_relaxed))
      while (claim_and_run(false)) {
      }
    wait_for_region(signal);
  }
}

// The child of a fork has no workers: it starts its own when it needs them.
void after_fork_in_child() {
  pool.word.store(0);
  pool.pending.store(0);
  pool.sleepers.store(0);
  pool.active.store(1);
  pool.started = 1;
  pool.wanted_revision.store(0);
  pool.busy.store(false);
}

// Signals go to the program's own threads, where its handlers expect them.
void start_workers(int threads) {
  static const bool registered = [] {
    pthread_atfork(nullptr, nullptr, after_fork_in_child);
    return true;
  }();
  (void)registered;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    for (; pool.started < threads; pool.started++) std::thread(serve, pool.started).detach();
  } catch (const std::system_error&) {
    // The system gives no more threads: those there are do the work.
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void run_inline(int64_t n, int64_t grain, absl::FunctionRef<void(int64_t, int64_t)> body) {
  for (int64_t begin = 0; begin < n; begin += grain) {
    check_cancelled();
    body(begin, std::min(n, begin + grain));
  }
}

void wait_for_last_chunks(Job& job) {
  for (int i = 0; i < kPauses; i++) {
    if (pool.pending.load(std::memory_order_acquire) == 0) {
      int pauses = pool.pauses.load(std::memory_order_relaxed);
      if (pauses < kPauses) pool.pauses.store(pauses + kPauses / 20, std::memory_order_relaxed);
      return;
    }
    pause();
  }
  pool.pauses.store(0, std::memory_order_relaxed);
  // The last chunks may be long, and only this thread can find out that nobody wants them.
  constexpr timespec kPatience{0, 10'000'000};
  while (uint32_t pending = pool.pending.load(std::memory_order_acquire)) {
    futex_wait(pool.pending, pending, &kPatience);
    if (stop_wanted()) job.cancelled.store(true, std::memory_order_relaxed);
  }
}

void run_region(Job& job, int threads) {
  if (pool.started < threads) start_workers(threads);
  threads = std::min(threads, pool.started);
  pool.active.store(threads, std::memory_order_relaxed);
  pool.job.store(&job, std::memory_order_relaxed);
  pool.pending.store(job.chunks, std::memory_order_relaxed);
  uint64_t epoch = (pool.word.load(std::memory_order_relaxed) >> 32) + 1;
  pool.word.store(epoch << 32 | job.chunks, std::memory_order_release);
  pool.signal.fetch_add(1, std::memory_order_seq_cst);
  if (pool.sleepers.load(std::memory_order_seq_cst) > 0) {
    // All are woken if some are to stay idle: a wake-up must not be spent on one of those.
    bool all = pool.started > threads || job.chunks > static_cast<uint32_t>(threads);
    futex_wake(pool.signal, all ? kMostThreads : static_cast<int>(job.chunks) - 1);
  }
  while (claim_and_run(true)) {
  }
  wait_for_last_chunks(job);
}

int wanted_threads(const Cpus& cpus, int64_t flag) {
  return flag > 0 ? static_cast<int>(std::min<int64_t>(flag, kMostThreads)) : cpus.available();
}

}  // namespace

std::string threads_text(const Cpus& cpus, int64_t flag, bool from_environment) {
  const int threads = wanted_threads(cpus, flag);
  const std::string count = absl::StrCat(threads, threads == 1 ? " thread: " : " threads: ");
  if (flag == 0) return absl::StrCat(count, cpus.why());
  const std::string says = from_environment ? "LATHE_THREADS, a variable of the environment, says "
                                            : "the flag threads says ";
  return absl::StrCat(count, says, flag, flag > threads ? ", more than a pool can have" : "",
                      "; without it ", cpus.available(), ": ", cpus.why());
}

std::string threads_text() {
  touch_flags();  // the count is to be that of the processors that are named
  pool_threads();
  return threads_text(cpus_now(), flag_count(Flag::threads), flag_from_environment(Flag::threads));
}

int pool_threads() {
  uint64_t revision = flags_revision();
  if (pool.wanted_revision.load(std::memory_order_acquire) != revision) {
    pool.wanted.store(wanted_threads(cpus_now(), flag_count(Flag::threads)),
                      std::memory_order_relaxed);
    pool.wanted_revision.store(revision, std::memory_order_release);
  }
  return pool.wanted.load(std::memory_order_relaxed);
}

void parallel_for(int64_t n, int64_t grain, absl::FunctionRef<void(int64_t, int64_t)> body) {
  if (n <= 0) return;
  grain = std::max({grain, int64_t{1}, (n - 1) / kMostChunks + 1});
  int64_t chunks = (n - 1) / grain + 1;
  int threads = chunks == 1 || in_region ? 1 : pool_threads();
  if (threads == 1 || pool.busy.exchange(true, std::memory_order_acquire)) {
    run_inline(n, grain, body);
    return;
  }
  in_region = true;
  Job job{body, n, grain, static_cast<uint32_t>(chunks), stop_wanted()};
  run_region(job, threads);
  in_region = false;
  pool.busy.store(false, std::memory_order_release);
  if (job.error) std::rethrow_exception(job.error);
  if (job.cancelled.load(std::memory_order_relaxed)) throw_cancelled();
}

void check_cancelled() {
  Job* job = current_job;
  const bool asked = job != nullptr && job->cancelled.load(std::memory_order_relaxed);
  if (!asked && !stop_wanted()) [[likely]]
    return;
  if (job != nullptr) job->cancelled.store(true, std::memory_order_relaxed);
  throw_cancelled();
}

}  // namespace lathe
