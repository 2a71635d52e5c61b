// Typed errors. Each one names the op, what it got, what it expected, the user's line, and the next
// step; `what()` is the whole text. Nothing in Lathe throws anything else across a public boundary.
#pragma once

#include <stdexcept>
#include <string>

#include "core/base/site.h"

namespace lathe {

enum class ErrorKind : uint8_t {
  shape,        // sizes do not fit together
  dtype,        // an element type the op is not defined for
  device,       // operands on different devices, or an unknown device
  index,        // an axis or an element index out of range
  value,        // an argument outside its domain
  type,         // an argument of the wrong kind altogether
  overflow,     // a size or count outside the range of a size
  trace,        // something a trace cannot capture
  script,       // something a script cannot express
  alias,        // a write that overlaps itself or another operand
  autograd,     // backward asked where there is no history, or saved values changed since
  file,         // a damaged, unknown or unreadable file
  memory,       // out of memory, or over `max_memory`
  cancelled,    // interrupted by the user
  unsupported,  // valid, but this build or device has no way to do it
  name,         // an op, flag or attribute that does not exist
  internal,     // a broken promise inside Lathe; please report
  linalg,       // a matrix that has no such decomposition or inverse
};
inline constexpr int kErrorKinds = static_cast<int>(ErrorKind::linalg) + 1;

/// "ShapeError", "TraceError" ... as users see it.
const char* error_name(ErrorKind kind);

struct ErrorParts {
  std::string op;        // op or function as the user wrote it
  std::string problem;   // one sentence, no trailing full stop
  std::string got;       // what came in
  std::string expected;  // what would have been right
  std::string next;      // what to do about it
  Site site = {};        // the user's line; unknown → here()
};

/// Completes what an error of this thread says by what is under way (a trace knows the numbers that
/// its symbols stand for). Null: nothing. Returns the one before.
using ErrorNote = void (*)(ErrorParts&);
ErrorNote set_error_note(ErrorNote note);

class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, ErrorParts parts);
  ErrorKind kind() const { return kind_; }
  const ErrorParts& parts() const { return parts_; }

 private:
  struct Located {};
  Error(ErrorKind kind, ErrorParts&& parts, Located);
  ErrorKind kind_;
  ErrorParts parts_;
};

template <ErrorKind K>
class ErrorOf : public Error {
 public:
  explicit ErrorOf(ErrorParts parts) : Error(K, std::move(parts)) {}
};

using ShapeError = ErrorOf<ErrorKind::shape>;
using DTypeError = ErrorOf<ErrorKind::dtype>;
using DeviceError = ErrorOf<ErrorKind::device>;
using IndexError = ErrorOf<ErrorKind::index>;
using ValueError = ErrorOf<ErrorKind::value>;
using TypeError = ErrorOf<ErrorKind::type>;
using OverflowError = ErrorOf<ErrorKind::overflow>;
using TraceError = ErrorOf<ErrorKind::trace>;
using ScriptError = ErrorOf<ErrorKind::script>;
using AliasError = ErrorOf<ErrorKind::alias>;
using AutogradError = ErrorOf<ErrorKind::autograd>;
using FileError = ErrorOf<ErrorKind::file>;
using MemoryError = ErrorOf<ErrorKind::memory>;
using CancelledError = ErrorOf<ErrorKind::cancelled>;
using UnsupportedError = ErrorOf<ErrorKind::unsupported>;
using NameError = ErrorOf<ErrorKind::name>;
using InternalError = ErrorOf<ErrorKind::internal>;
using LinAlgError = ErrorOf<ErrorKind::linalg>;

/// For promises Lathe makes to itself. Never for anything a caller can cause.
[[noreturn]] void internal_error(const char* file, int line, const std::string& what);
#define LATHE_INTERNAL(what) ::lathe::internal_error(__FILE__, __LINE__, (what))
#define LATHE_CHECK(condition)                                                    \
  do {                                                                            \
    if (!(condition)) [[unlikely]]                                                \
      ::lathe::internal_error(__FILE__, __LINE__, "broken promise: " #condition); \
  } while (false)

}  // namespace lathe
