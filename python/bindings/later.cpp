#include "python/bindings/later.h"

#include <mutex>
#include <utility>
#include <vector>

#include "core/base/fork.h"

namespace lathe::py {
namespace {

struct Waiting {
  void (*release)(void*);
  void* object;
};
constinit ForkSafeMutex waiting_mutex;
constinit std::vector<Waiting>* waiting = nullptr;

int release_all(void*) {
  std::vector<Waiting> mine;
  {
    std::lock_guard hold(waiting_mutex);
    if (waiting != nullptr) mine.swap(*waiting);
  }
  for (const Waiting& w : mine) w.release(w.object);
  return 0;
}

}  // namespace

void release_later(void (*release)(void*), void* object) noexcept {
  if (Py_IsInitialized() == 0) return;
  if (PyGILState_Check() != 0) {
    release_all(nullptr);
    return release(object);
  }
  {
    std::lock_guard hold(waiting_mutex);
    if (waiting == nullptr) waiting = new std::vector<Waiting>;
    waiting->push_back({release, object});
  }
  // Full means that others are on the list already, and one call serves all.
  Py_AddPendingCall(release_all, nullptr);
}

}  // namespace lathe::py
