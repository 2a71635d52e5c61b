// Errors, flags and what else belongs to the process.
#pragma once

#include <stdexcept>
#include <string>

#include "lathe/lathe.h"

namespace lathe {
inline namespace v1 {  // apart from the library's own classes of these names

/// What a failed call throws. what() names the op, what it got, what it expected, and what to do.
class Error : public std::runtime_error {
 public:
  Error(lathe_status status, const std::string& what) : std::runtime_error(what), status_(status) {}
  lathe_status status() const { return status_; }
  const char* name() const { return lathe_status_name(status_); }  // "ShapeError"

 private:
  lathe_status status_;
};

namespace detail {
inline void check(lathe_status status) {
  if (status != LATHE_OK) throw Error(status, lathe_last_error());
}
inline std::string taken(char* text) {
  std::string out(text);
  lathe_text_release(text);
  return out;
}
}  // namespace detail

/// The library that was loaded must be one that this header is for.
inline void check_version() {
  if (lathe_abi() != LATHE_ABI)
    throw Error(LATHE_UNSUPPORTED_ERROR, "liblathe.so and lathe.hpp are of different versions");
}

/// A flag of the process, as in Python's set_flag: set_flag("threads", "1").
inline void set_flag(const std::string& name, const std::string& value) {
  detail::check(lathe_set_flag(name.c_str(), value.c_str()));
}
inline std::string get_flag(const std::string& name) {
  char* value = nullptr;
  detail::check(lathe_get_flag(name.c_str(), &value));
  return detail::taken(value);
}
/// How many threads compute, and why so many.
inline std::string threads() {
  char* text = nullptr;
  detail::check(lathe_threads(&text));
  return detail::taken(text);
}
/// Starts the random stream anew: the same seed gives the same numbers as in Python.
inline void manual_seed(uint64_t seed) { lathe_manual_seed(seed); }
/// Errors and explain() name this line for what this thread does from here on.
inline void here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  lathe_at_line(file, line);
}

}  // namespace v1
}  // namespace lathe
