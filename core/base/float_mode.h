// The processor's float mode: rounding, denormals, traps.
#pragma once

#include <cstdint>

namespace lathe {

/// While it lives, this thread's floats round to nearest and keep denormals, whatever other
/// libraries have set. Restores their mode at the end.
class DefaultFloatMode {
 public:
#if defined(__SSE2__)
  DefaultFloatMode() : previous_(__builtin_ia32_stmxcsr()) {
    constexpr uint32_t kStatusFlags = 0x3f, kDefault = 0x1f80;
    if ((previous_ & ~kStatusFlags) != kDefault) __builtin_ia32_ldmxcsr(kDefault);
  }
  ~DefaultFloatMode() { __builtin_ia32_ldmxcsr(previous_); }
#else
  DefaultFloatMode() = default;
#endif
  DefaultFloatMode(const DefaultFloatMode&) = delete;
  DefaultFloatMode& operator=(const DefaultFloatMode&) = delete;

 private:
#if defined(__SSE2__)
  uint32_t previous_;
#endif
};

}  // namespace lathe
