#include "core/base/error.h"

#include <absl/strings/ascii.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_replace.h>

#include <set>
#include <string_view>
#include <utility>

#include "core/base/asked.h"
#include "core/sizes/symexpr.h"

namespace lathe {
namespace {

constexpr std::string_view kIndent = "            ";  // as wide as "  expected: "

void append(std::string& out, std::string_view label, std::string_view text) {
  if (text.empty()) return;
  absl::StrAppend(&out, "\n  ", label, ":", kIndent.substr(0, kIndent.size() - 3 - label.size()),
                  absl::StrReplaceAll(text, {{"\n", absl::StrCat("\n", kIndent)}}));
}

constinit thread_local const std::string* t_asked = nullptr;

/// The symbols that a text names ("s0", "s12"), in order.
std::set<uint32_t> symbols_in(std::string_view text) {
  std::set<uint32_t> found;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != 's' || (i > 0 && (absl::ascii_isalnum(text[i - 1]) || text[i - 1] == '_')))
      continue;
    size_t end = i + 1;
    while (end < text.size() && absl::ascii_isdigit(text[end])) ++end;
    uint32_t k;
    bool word = end < text.size() && (absl::ascii_isalpha(text[end]) || text[end] == '_');
    if (!word && absl::SimpleAtoi(text.substr(i + 1, end - i - 1), &k)) found.insert(k);
  }
  return found;
}

/// Inside a trace sizes have names; whoever reads the message knows the numbers.
void say_sizes(ErrorParts& parts) {
  SymScope* scope = SymScope::current();
  if (scope == nullptr) return;
  std::string sizes;
  for (uint32_t k : symbols_in(absl::StrCat(parts.problem, " ", parts.got, " ", parts.expected)))
    if (k < scope->symbol_count())
      absl::StrAppend(&sizes, sizes.empty() ? "" : ", ", "s", k, " = ", scope->hint(symbol(k)));
  if (!sizes.empty()) absl::StrAppend(&parts.got, parts.got.empty() ? "" : ", ", "where ", sizes);
}

ErrorParts complete(ErrorKind kind, ErrorParts parts) {
  if (t_asked != nullptr && kind != ErrorKind::internal) parts.op = *t_asked;
  say_sizes(parts);
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
  }
  return "Error";
}

// The site is looked up once: what() and parts() must agree.
Error::Error(ErrorKind kind, ErrorParts parts)
    : Error(kind, complete(kind, std::move(parts)), Located{}) {}
Error::Error(ErrorKind kind, ErrorParts&& parts, Located)
    : std::runtime_error(format(parts)), kind_(kind), parts_(std::move(parts)) {}

const std::string* asked_op() { return t_asked; }

AskedScope::AskedScope(const std::string& op) : previous_(t_asked) {
  if (t_asked == nullptr) t_asked = &op;
}
AskedScope::~AskedScope() { t_asked = previous_; }

void internal_error(const char* file, int line, const std::string& what) {
  // The path from the folder of the source on: the rest is about the machine that compiled it.
  std::string_view path = file;
  size_t slash = path.rfind('/');
  if (slash != std::string_view::npos && slash > 0) {
    size_t before = path.rfind('/', slash - 1);
    if (before != std::string_view::npos) path.remove_prefix(before + 1);
  }
  throw InternalError({.problem = absl::StrCat("internal: ", what, " (", path, ":", line, ")"),
                       .next = "this is a fault in Lathe, not in your program: please report it "
                               "with this text"});
}

}  // namespace lathe
