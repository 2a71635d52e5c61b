// The one way out for messages: every warning and log line of Lathe goes through one hook, by
// default to standard error. `log_level` (core/base/flags.h) says what is shown.
#pragma once

#include <cstdint>
#include <string_view>

namespace lathe {

enum class LogLevel : uint8_t { debug, info, warning, error, off };
std::string_view name(LogLevel level);

/// Ask before building a costly message.
bool logging(LogLevel level);
/// One message, without a line end. Any thread; never throws.
void log(LogLevel level, std::string_view message) noexcept;
/// A warning that the process shows once for each `key`.
void warn_once(std::string_view key, std::string_view message) noexcept;

/// Receives what passes the level, on the thread that logs: it may run on several at once, and may
/// log itself. Null: standard error. Returns the hook before.
using LogHook = void (*)(LogLevel level, std::string_view message);
LogHook set_log_hook(LogHook hook);

}  // namespace lathe
