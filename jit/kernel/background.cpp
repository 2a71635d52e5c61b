#include "jit/kernel/background.h"

#include <pthread.h>

#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>

#include "core/base/fork.h"
#include "jit/kernel/codegen.h"

namespace lathe::jit {
namespace {

struct Background {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> jobs;
  bool running = false, started = false, ended = false;
  int forks = 0;  // threads that are about to fork: no job begins
};
Background& background() {
  static auto& all = *new Background;
  return all;
}

void end_background() {
  Background& b = background();
  std::unique_lock lock(b.mutex);
  b.ended = true;
  b.jobs.clear();
  b.changed.notify_all();
  b.changed.wait(lock, [&] { return !b.running; });
}

// ── forks ───────────────────────────────────────────────────────────────────────────────────────
// Handlers of forks run in the reverse order of their registration, and those of ForkSafeMutex take
// locks that a job may want. To wait for the job has to come first, so it is registered again when
// the plug-in has listed its own.

thread_local int fork_handlers = 0;  // of this thread's fork that have begun

void before_fork() {
  if (fork_handlers++ > 0) return;
  Background& b = background();
  std::unique_lock lock(b.mutex);
  ++b.forks;
  b.changed.wait(lock, [&] { return !b.running; });
  (void)lock.release();
}
void after_fork() {
  Background& b = background();
  --b.forks;
  b.changed.notify_all();
  b.mutex.unlock();
}
void in_parent() {
  if (--fork_handlers == 0) after_fork();
}
/// The thread is not there, and what it left of the condition is not to be touched.
void in_child() {
  if (--fork_handlers > 0) return;
  Background& b = background();
  new (&b.changed) std::condition_variable;
  b.started = false;
  b.forks = 1;
  after_fork();
}

void register_for_forks() {
  static constinit ForkSafeMutex first;
  const std::lock_guard<ForkSafeMutex> listed(first);
  pthread_atfork(before_fork, in_parent, in_child);
  std::atexit(end_background);
}

// ── the thread ──────────────────────────────────────────────────────────────────────────────────

void serve() {
  Background& b = background();
  std::unique_lock lock(b.mutex);
  const auto run = [&](const std::function<void()>& job) {
    b.running = true;
    lock.unlock();
    job();
    lock.lock();
    b.running = false;
    b.changed.notify_all();
  };
  const auto may_begin = [&] { return b.forks == 0 && (b.ended || !b.jobs.empty()); };
  b.changed.wait(lock, may_begin);
  run([] {
    open_codegen();
    static const int registered = pthread_atfork(before_fork, in_parent, in_child);
    (void)registered;
  });
  for (;;) {
    b.changed.wait(lock, may_begin);
    if (b.ended) return;
    const std::function<void()> job = std::move(b.jobs.front());
    b.jobs.pop_front();
    run(job);
  }
}

bool start_thread() {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // signals are the user's threads'
  bool started = true;
  try {
    std::thread(serve).detach();
  } catch (const std::system_error&) {
    started = false;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

}  // namespace

bool do_later(std::function<void()> job) {
  static std::once_flag once;
  std::call_once(once, register_for_forks);
  Background& b = background();
  const std::lock_guard lock(b.mutex);
  if (b.ended) return true;  // nobody runs it any more
  if (!b.started && !start_thread()) return false;
  b.started = true;
  b.jobs.push_back(std::move(job));
  b.changed.notify_all();
  return true;
}

void wait_for_background() {
  Background& b = background();
  std::unique_lock lock(b.mutex);
  if (!b.started && !b.jobs.empty()) b.started = start_thread();
  b.changed.wait(lock, [&] { return b.ended || !b.started || (b.jobs.empty() && !b.running); });
}

}  // namespace lathe::jit
