#include "core/base/cancel.h"

#include <utility>

#include "core/base/error.h"

namespace lathe {
namespace {

constinit thread_local const std::atomic<bool>* cancel_asked = nullptr;
constinit thread_local bool uncancellable = false;
constinit std::atomic<CancelHook> cancel_hook{nullptr};

}  // namespace

void set_cancel_hook(CancelHook hook) { cancel_hook.store(hook, std::memory_order_release); }

bool cancel_wanted() {
  if (uncancellable) return false;
  if (cancel_asked && cancel_asked->load(std::memory_order_relaxed)) return true;
  CancelHook hook = cancel_hook.load(std::memory_order_acquire);
  return hook && hook();
}

void throw_cancelled() { throw CancelledError({.problem = "the computation was cancelled"}); }

Uncancellable::Uncancellable() : outer_(std::exchange(uncancellable, true)) {}
Uncancellable::~Uncancellable() { uncancellable = outer_; }

CancelScope::CancelScope(const std::atomic<bool>& asked) : outer_(cancel_asked) {
  cancel_asked = &asked;
}
CancelScope::~CancelScope() { cancel_asked = outer_; }

}  // namespace lathe
