#include "core/base/fork.h"

#include <pthread.h>

namespace lathe {
namespace {

// Holds for the list below; itself held through a fork.
constinit std::mutex list_mutex;
constinit ForkSafeMutex* list_head = nullptr;

}  // namespace

struct ForkSafeMutex::Handlers {
  static void before() {
    list_mutex.lock();
    for (ForkSafeMutex* m = list_head; m; m = m->next_) m->mutex_.lock();
  }
  static void after() {
    for (ForkSafeMutex* m = list_head; m; m = m->next_) m->mutex_.unlock();
    list_mutex.unlock();
  }
};

// A mutex is listed when it is first locked, so that it needs no constructor at run time. It must
// live as long as the process.
void ForkSafeMutex::enlist() {
  std::lock_guard hold(list_mutex);
  if (listed_.load(std::memory_order_relaxed)) return;
  if (!list_head) pthread_atfork(Handlers::before, Handlers::after, Handlers::after);
  next_ = list_head;
  list_head = this;
  listed_.store(true, std::memory_order_release);
}

}  // namespace lathe
