// A mutex that a forked child finds free. fork() copies only the calling thread, so a lock that
// another thread holds at that moment would stay locked in the child for ever; here every such lock
// is taken before the fork and released on both sides after it.
#pragma once

#include <atomic>
#include <mutex>

namespace lathe {

/// For leaf locks only: its holder must not take another ForkSafeMutex, because a fork takes all.
class ForkSafeMutex {
 public:
  constexpr ForkSafeMutex() = default;
  ForkSafeMutex(const ForkSafeMutex&) = delete;
  ForkSafeMutex& operator=(const ForkSafeMutex&) = delete;
  void lock() {
    if (!listed_.load(std::memory_order_acquire)) [[unlikely]]
      enlist();
    mutex_.lock();
  }
  void unlock() { mutex_.unlock(); }

 private:
  struct Handlers;
  void enlist();
  std::mutex mutex_;
  std::atomic<bool> listed_{false};
  ForkSafeMutex* next_ = nullptr;
};

}  // namespace lathe
