#include "core/tensor/random.h"

#include <mutex>

#include "core/base/fork.h"

namespace lathe {
namespace {

constinit ForkSafeMutex g_mutex;
constinit RandomState g_state;
constinit thread_local RandomState* t_state = nullptr;

}  // namespace

RandomState random_state() {
  std::lock_guard hold(g_mutex);
  return g_state;
}

void set_random_state(RandomState state) {
  std::lock_guard hold(g_mutex);
  g_state = state;
}

RandomScope::RandomScope(RandomState* state) : before_(t_state) {
  if (state != nullptr) t_state = state;
}

RandomScope::~RandomScope() { t_state = before_; }

RandomState take_random_calls(uint64_t calls) {
  if (t_state != nullptr) {
    RandomState taken = *t_state;
    t_state->call += calls;
    return taken;
  }
  std::lock_guard hold(g_mutex);
  RandomState taken = g_state;
  g_state.call += calls;
  return taken;
}

}  // namespace lathe
