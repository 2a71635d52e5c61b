// Holds a mutex under which programs are made.
#pragma once

#include <mutex>

#include "core/base/cancel.h"

namespace lathe::jit {

/// Meanwhile nobody is asked whether to stop: who answers may let other threads of an interpreter
/// run, and one of them wait for this mutex with the interpreter's lock in hand.
class BuildLock {
 public:
  explicit BuildLock(std::mutex& mutex) : hold_(mutex) {}

 private:
  std::lock_guard<std::mutex> hold_;
  Uncancellable whole_;
};

}  // namespace lathe::jit
