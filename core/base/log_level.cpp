// logging(): apart from log.cpp, because flags log what is wrong with them.
#include "core/base/flags.h"
#include "core/base/log.h"

namespace lathe {
namespace {

LogLevel shown() {
  const std::string text = flag_text(Flag::log_level);
  for (LogLevel level : {LogLevel::debug, LogLevel::info, LogLevel::error, LogLevel::off})
    if (text == name(level)) return level;
  return LogLevel::warning;
}

}  // namespace

bool logging(LogLevel level) { return level >= shown() && level != LogLevel::off; }

}  // namespace lathe
