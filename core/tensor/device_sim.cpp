// sim: a device that finds missing synchronisation without a GPU.
//
// Each stream is a thread of its own, and work runs on it a little later than it was handed over,
// so that a result read without waiting is not there yet. The memory lies in one arena that is
// protected (PROT_NONE) except while work of the device runs: host code that dereferences a device
// pointer faults instead of reading what happens to be right. The fault is left to be a SIGSEGV,
// because a handler would have to be shared with the program Lathe lives in; Tensor::data() refuses
// before it comes to that. While work does run the arena is open to every thread, so the check is
// likely, not certain.
//
// An error of the work is kept by its stream: later work is skipped, events recorded from then on
// carry the error to whoever waits for them, and synchronize() rethrows and clears it.
#include <sys/mman.h>
#include <unistd.h>

#include <absl/strings/str_cat.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "core/base/error.h"
#include "core/tensor/device.h"

namespace lathe {
namespace {

constexpr size_t kArena = size_t{16} << 30;  // address space only: pages come when they are written
constexpr size_t kAlignment = 64;
constexpr auto kDelay = std::chrono::microseconds(20);

class SimMemory {
 public:
  ~SimMemory() {
    if (base_) munmap(base_, kArena);
  }

  std::byte* allocate(size_t bytes) {
    std::lock_guard hold(mutex_);
    reserve();
    size_t size = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    for (auto it = gaps_.begin(); it != gaps_.end(); ++it) {
      auto [begin, length] = *it;
      if (length < size) continue;
      gaps_.erase(it);
      if (length > size) gaps_[begin + size] = length - size;
      return base_ + begin;
    }
    throw MemoryError({.problem = "sim has no more memory",
                       .got = absl::StrCat("a request for ", bytes, " bytes")});
  }

  void release(std::byte* data, size_t bytes) {
    std::lock_guard hold(mutex_);
    auto begin = static_cast<size_t>(data - base_);
    size_t length = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    auto after = gaps_.upper_bound(begin);
    if (after != gaps_.end() && begin + length == after->first) {
      length += after->second;
      after = gaps_.erase(after);
    }
    if (after != gaps_.begin()) {
      auto before = std::prev(after);
      if (before->first + before->second == begin) {
        before->second += length;
        return;
      }
    }
    gaps_[begin] = length;
  }

  // Nested by any number of streams: the first opens, the last closes.
  void open() {
    std::lock_guard hold(mutex_);
    if (running_++ == 0) protect(PROT_READ | PROT_WRITE);
  }
  void close() {
    std::lock_guard hold(mutex_);
    if (--running_ == 0) protect(PROT_NONE);
  }

 private:
  void reserve() {
    if (base_) return;
    void* start = mmap(nullptr, kArena, running_ > 0 ? PROT_READ | PROT_WRITE : PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED) {
      throw MemoryError({.problem = "sim has no address space",
                         .got = absl::StrCat("a request for ", kArena, " bytes")});
    }
    base_ = static_cast<std::byte*>(start);
    gaps_[0] = kArena;
  }
  void protect(int how) {
    if (base_) mprotect(base_, kArena, how);
  }

  std::mutex mutex_;
  std::byte* base_ = nullptr;
  std::map<size_t, size_t> gaps_;  // begin -> length, never adjacent
  int running_ = 0;
};

SimMemory& memory() {
  static auto& m = *new SimMemory;
  return m;
}

class SimEvent final : public EventState {
 public:
  bool reached() const override {
    std::lock_guard hold(mutex_);
    return reached_;
  }
  void wait() override {
    std::unique_lock hold(mutex_);
    changed_.wait(hold, [&] { return reached_; });
    if (error_) std::rethrow_exception(error_);
  }
  void reach(std::exception_ptr error) {
    std::lock_guard hold(mutex_);
    reached_ = true;
    error_ = std::move(error);
    changed_.notify_all();
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool reached_ = false;
  std::exception_ptr error_;
};

class SimStream final : public Stream {
 public:
  SimStream() : owner_(getpid()), worker_([this] { serve(); }) {}

  ~SimStream() override {
    if (getpid() != owner_) {  // a forked child has no such thread to join
      worker_.detach();
      return;
    }
    {
      std::lock_guard hold(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    worker_.join();
  }

  Device device() const override { return {DeviceKind::sim, 0}; }

  void enqueue(std::function<void()> work) override {
    push([this, work = std::move(work)] {
      if (failed()) return;
      memory().open();
      try {
        work();
      } catch (...) {
        fail(std::current_exception());
      }
      memory().close();
    });
  }

  void copy(std::byte* to, const std::byte* from, size_t bytes) override {
    enqueue([=] {
      if (bytes > 0) std::memmove(to, from, bytes);
    });
  }

  Event record() override {
    auto event = std::make_shared<SimEvent>();
    push([this, event] { event->reach(failed()); });
    return event;
  }

  void wait(const Event& event) override {
    if (!event || event->reached()) return;
    push([this, event] {
      try {
        event->wait();
      } catch (...) {
        if (!failed()) fail(std::current_exception());
      }
    });
  }

  void synchronize() override {
    auto done = std::make_shared<SimEvent>();
    push([done] { done->reach(nullptr); });
    done->wait();
    std::exception_ptr error;
    {
      std::lock_guard hold(mutex_);
      error = std::exchange(error_, nullptr);
    }
    if (error) std::rethrow_exception(error);
  }

 private:
  void push(std::function<void()> item) {
    if (getpid() != owner_) {
      throw DeviceError({.problem = "sim was used before this process was forked",
                         .next = "fork first, or start the child with exec"});
    }
    {
      std::lock_guard hold(mutex_);
      queue_.push_back(std::move(item));
    }
    changed_.notify_one();
  }

  void serve() {
    for (;;) {
      std::function<void()> item;
      {
        std::unique_lock hold(mutex_);
        changed_.wait(hold, [&] { return stopping_ || !queue_.empty(); });
        if (queue_.empty()) return;
        item = std::move(queue_.front());
        queue_.pop_front();
      }
      std::this_thread::sleep_for(kDelay);
      item();
    }
  }

  std::exception_ptr failed() {
    std::lock_guard hold(mutex_);
    return error_;
  }
  void fail(std::exception_ptr error) {
    std::lock_guard hold(mutex_);
    error_ = std::move(error);
  }

  pid_t owner_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> queue_;
  std::exception_ptr error_;
  bool stopping_ = false;
  std::thread worker_;  // last: it uses all of the above
};

class SimDevice final : public DeviceApi {
 public:
  std::byte* allocate(size_t bytes) override { return memory().allocate(bytes ? bytes : 1); }
  void release(std::byte* data, size_t bytes) override {
    memory().release(data, bytes ? bytes : 1);
  }
  std::unique_ptr<Stream> make_stream() override { return std::make_unique<SimStream>(); }
  DeviceFacts facts() const override {
    return {.name = "sim", .memory_bytes = kArena, .host_readable = false};
  }
};

}  // namespace

std::unique_ptr<DeviceApi> make_sim_device() { return std::make_unique<SimDevice>(); }

}  // namespace lathe
