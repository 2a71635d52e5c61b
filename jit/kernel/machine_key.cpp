#include "jit/kernel/machine_key.h"

#include <absl/strings/str_cat.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace lathe::jit {

#if defined(__x86_64__)

namespace {

/// Maker, family and model; features; what the system saves of the registers; extended features.
constexpr unsigned kLeaves[][2] = {{0, 0},    {1, 0},          {7, 0},         {7, 1},    {13, 0},
                                   {13, 1},   {0x14, 0},       {0x19, 0},      {0x1e, 1}, {0x24, 0},
                                   {0x29, 0}, {0x80000001, 0}, {0x80000008, 0}};

}  // namespace

std::string machine_key() {
  std::string key;
  for (auto [leaf, part] : kLeaves) {
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid_count(leaf, part, &a, &b, &c, &d) == 0) a = b = c = d = 0;
    if (leaf == 1) b = 0;   // which core this thread is on
    if (leaf == 13) b = 0;  // bytes of what is enabled now
    absl::StrAppend(&key, absl::Hex(a), ".", absl::Hex(b), ".", absl::Hex(c), ".", absl::Hex(d),
                    " ");
  }
  return key;
}

#else

std::string machine_key() { return ""; }

#endif

}  // namespace lathe::jit
