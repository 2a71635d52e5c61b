#include "jit/kernel/shipped.h"

#include <absl/strings/str_cat.h>
#include <dlfcn.h>

#include <algorithm>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "core/base/flags.h"
#include "core/base/log.h"
#include "core/base/stable_hash.h"
#include "kernels/simd/choose_loops.h"
#include "kernels/table/plugin.h"

namespace lathe::jit {
namespace {

struct Opened {
  const ShippedKernels* all = nullptr;
  std::string reason;
  bool expected = false;  // this build has none
};

Opened open() {
  const OpenedLibrary library = open_library("shipped");
  if (library.handle == nullptr)
    return {nullptr, library.refusal.text(), library.refusal.reason() == Reason::not_built};
  const auto* all = static_cast<const ShippedKernels*>(dlsym(library.handle, kShippedEntry));
  if (all == nullptr || all->version != kCodegenVersion) return {nullptr, "of another build"};
  return {all, {}};
}

const Opened& opened() {
  static const Opened& now = *new Opened([] {
    Opened found = open();
    if (found.all == nullptr && !found.expected)
      warn_once("shipped kernels",
                absl::StrCat("kernels that were compiled ahead are not used: ", found.reason));
    return found;
  }());
  return now;
}

/// What levels ask of a processor beyond what our own loops of that name do: LLVM's "x86-64-v3"
/// and "-v4".
bool has_level(std::string_view level) {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  const bool movbe = __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_MOVBE) != 0;
  const bool lzcnt = __get_cpuid(0x80000001, &a, &b, &c, &d) != 0 && (c & bit_LZCNT) != 0;
  const bool v3 = movbe && lzcnt && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
  return v3 && (level != "avx512" || __builtin_cpu_supports("avx512cd"));
#else
  return false;
#endif
}

}  // namespace

uint64_t shipped_hash(std::string_view key) { return StableHash(4).add(key).value(); }

std::string shipped_level() {
  static const bool has[] = {has_level(kShippedLevels[0]), has_level(kShippedLevels[1])};
  const std::string_view loops = simd_loops().name;
  for (size_t k = 0; k < std::size(kShippedLevels); ++k)
    if (loops == kShippedLevels[k] && has[k]) return std::string(loops);
  return "";
}

KernelFn find_shipped(const std::string& key) {
  const ShippedKernels* all = opened().all;
  if (all == nullptr) return nullptr;
  const ShippedKernel* end = all->kernels + all->count;
  const uint64_t hash = shipped_hash(key);
  const auto* at = std::lower_bound(all->kernels, end, hash,
                                    [](const auto& k, uint64_t h) { return k.hash < h; });
  for (; at != end && at->hash == hash; ++at)
    if (key == at->key) return at->fn;
  return nullptr;
}

}  // namespace lathe::jit
