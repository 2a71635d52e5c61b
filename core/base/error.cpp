#include "core/base/error.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_replace.h>

#include <string_view>
#include <utility>

#include "core/base/asked.h"

namespace lathe {
namespace {

constexpr std::string_view kIndent = "            ";  // as wide as "  expected: "

void append(std::string& out, std::string_view label, std::string_view text) {
  if (text.empty()) return;
  absl::StrAppend(&out, "\n  ", label, ":", kIndent.substr(0, kIndent.size() - 3 - label.size()),
                  absl::StrReplaceAll(text, {{"\n", absl::StrCat("\n", kIndent)}}));
}

constinit thread_local const std::string* t_asked = nullptr;

constinit thread_local ErrorNote t_note = nullptr;

ErrorParts complete(ErrorKind kind, ErrorParts parts) {
  if (t_asked != nullptr && kind != ErrorKind::internal) parts.op = *t_asked;
  if (t_note != nullptr) t_note(parts);
  if (!parts.site.known()) parts.site = here();
  return parts;
}

std::string format(const ErrorParts& parts) {
  std::string out = parts.op.empty() ? parts.problem : absl::StrCat(parts.op, ": ", parts.problem);
  append(out, "got", parts.got);
  append(out, "expected", parts.expected);
  append(out, "at", to_string(parts.site));
  append(out, "next", parts.next);
  return out;
}

}  // namespace

const char* error_name(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::shape:
      return "ShapeError";
    case ErrorKind::dtype:
      return "DTypeError";
    case ErrorKind::device:
      return "DeviceError";
    case ErrorKind::index:
      return "IndexError";
    case ErrorKind::value:
      return "ValueError";
    case ErrorKind::type:
      return "TypeError";
    case ErrorKind::overflow:
      return "OverflowError";
    case ErrorKind::trace:
      return "TraceError";
    case ErrorKind::script:
      return "ScriptError";
    case ErrorKind::alias:
      return "AliasError";
    case ErrorKind::autograd:
      return "AutogradError";
    case ErrorKind::file:
      return "FileError";
    case ErrorKind::memory:
      return "MemoryError";
    case ErrorKind::cancelled:
      return "CancelledError";
    case ErrorKind::unsupported:
      return "UnsupportedError";
    case ErrorKind::name:
      return "NameError";
    case ErrorKind::internal:
      return "InternalError";
    case ErrorKind::linalg:
      return "LinAlgError";
  }
  return "Error";
}

// The site is looked up once: what() and parts() must agree.
Error::Error(ErrorKind kind, ErrorParts parts)
    : Error(kind, complete(kind, std::move(parts)), Located{}) {}
Error::Error(ErrorKind kind, ErrorParts&& parts, Located)
    : std::runtime_error(format(parts)), kind_(kind), parts_(std::move(parts)) {}

ErrorNote set_error_note(ErrorNote note) { return std::exchange(t_note, note); }

AskedScope::AskedScope(const std::string& op) : previous_(t_asked) {
  if (t_asked == nullptr) t_asked = &op;
}
AskedScope::~AskedScope() { t_asked = previous_; }

void internal_error(const char* file, int line, const std::string& what) {
  // The path from the folder of the source on: the rest is about the machine that compiled it.
  std::string_view path = file;
  size_t from = path.size();
  for (int names = 0; names < 3 && from != 0 && from != std::string_view::npos; ++names)
    from = path.rfind('/', from - 1);
  if (from != std::string_view::npos) path.remove_prefix(from + 1);
  while (path.starts_with("../")) path.remove_prefix(3);
  throw InternalError({.problem = absl::StrCat("internal: ", what, " (", path, ":", line, ")"),
                       .next = "this is a fault in Lathe, not in your program: please report it "
                               "with this text"});
}

}  // namespace lathe
