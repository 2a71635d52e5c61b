// Work that somebody asked to stop: Ctrl-C, or another thread.
#pragma once

#include <atomic>

namespace lathe {

/// Asked on the thread that began the work: between chunks of kernels, at each round of a loop, and
/// every few milliseconds while it waits for other threads; true stops it. Python installs one that
/// looks for Ctrl-C and lets other threads of the interpreter run. Null: none.
using CancelHook = bool (*)() noexcept;
void set_cancel_hook(CancelHook hook);

/// Is what this thread is at to be stopped?
bool cancel_wanted();
[[noreturn]] void throw_cancelled();

/// Work of this thread is not asked: what has begun is finished.
class Uncancellable {
 public:
  Uncancellable();
  ~Uncancellable();
  Uncancellable(const Uncancellable&) = delete;
  Uncancellable& operator=(const Uncancellable&) = delete;

 private:
  bool outer_;
};

/// Work of this thread stops when `asked` becomes true.
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
