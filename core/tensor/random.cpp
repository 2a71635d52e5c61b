#include "core/tensor/random.h"

#include <mutex>

#include "core/base/fork.h"

namespace lathe {
namespace {

constinit ForkSafeMutex g_mutex;
constinit RandomState g_state;

}  // namespace

RandomState random_state() {
  std::lock_guard hold(g_mutex);
  return g_state;
}

void set_random_state(RandomState state) {
  std::lock_guard hold(g_mutex);
  g_state = state;
}

RandomState take_random_calls(uint64_t calls) {
  std::lock_guard hold(g_mutex);
  RandomState taken = g_state;
  g_state.call += calls;
  return taken;
}

}  // namespace lathe
