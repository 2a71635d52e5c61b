#include "core/dispatch/backend.h"

#include <atomic>

#include "core/base/error.h"

namespace lathe {
namespace detail {
constinit thread_local ThreadState t_state [[gnu::tls_model("initial-exec")]];
}

namespace {
// Whoever uses the library first sets them, and that may be several threads at once.
constinit std::atomic<Backend*> g_backend = nullptr;
constinit std::atomic<Observer*> g_tape = nullptr;

}  // namespace

void set_default_backend(Backend* backend) { g_backend.store(backend, std::memory_order_release); }
void set_tape(Observer* tape) { g_tape.store(tape, std::memory_order_release); }

Backend& current_backend() {
  Backend* b = thread_state().backend;
  if (b == nullptr) b = g_backend.load(std::memory_order_acquire);
  if (b == nullptr)
    throw InternalError({.op = "dispatch",
                         .problem = "no backend: the library is not initialised",
                         .next = "call lathe::initialise() first"});
  return *b;
}

Observer* tape() { return g_tape.load(std::memory_order_acquire); }

}  // namespace lathe
