#include "core/base/log.h"

#include <absl/container/flat_hash_set.h>
#include <absl/strings/str_cat.h>

#include <atomic>
#include <cstdio>
#include <mutex>
#include <string>

#include "core/base/fork.h"

namespace lathe {
namespace {

constinit std::atomic<LogHook> hook{nullptr};
constinit ForkSafeMutex seen_mutex;

}  // namespace

std::string_view name(LogLevel level) {
  constexpr std::string_view kNames[] = {"debug", "info", "warning", "error", "off"};
  return kNames[static_cast<size_t>(level)];
}

void log(LogLevel level, std::string_view message) noexcept {
  try {
    if (!logging(level)) return;
    if (LogHook h = hook.load(std::memory_order_acquire)) {
      h(level, message);
      return;
    }
    std::string line = absl::StrCat("lathe: ", name(level), ": ", message, "\n");
    std::fwrite(line.data(), 1, line.size(), stderr);
  } catch (...) {
    // A message that cannot be shown must not become the program's failure.
  }
}

void warn_once(std::string_view key, std::string_view message) noexcept {
  try {
    {
      std::lock_guard hold(seen_mutex);
      static auto& seen = *new absl::flat_hash_set<std::string>;
      if (!seen.emplace(key).second) return;
    }
    log(LogLevel::warning, message);
  } catch (...) {
  }
}

LogHook set_log_hook(LogHook h) { return hook.exchange(h, std::memory_order_acq_rel); }

}  // namespace lathe
