#include <absl/strings/str_cat.h>

#include <cstdlib>
#include <cstring>
#include <optional>

#include "capi/handles.h"
#include "core/base/flags.h"
#include "core/base/log.h"
#include "core/tensor/random.h"
#include "jit/initialise.h"
#include "kernels/runtime/pool.h"

namespace lathe::c {
namespace {

struct Failure {
  lathe_status status = LATHE_OK;
  std::string text;
};
Failure& last() {
  static thread_local Failure failure;
  return failure;
}

constexpr lathe_status status_of(ErrorKind kind) {
  return static_cast<lathe_status>(static_cast<int>(kind) + 1);
}
constexpr ErrorKind kind_of(lathe_status status) {
  return static_cast<ErrorKind>(static_cast<int>(status) - 1);
}
// The statuses are the kinds in their order; the two ends and the middle hold the rest.
static_assert(status_of(ErrorKind::shape) == LATHE_SHAPE_ERROR);
static_assert(status_of(ErrorKind::trace) == LATHE_TRACE_ERROR);
static_assert(status_of(ErrorKind::file) == LATHE_FILE_ERROR);
static_assert(status_of(ErrorKind::internal) == LATHE_INTERNAL_ERROR);
static_assert(status_of(ErrorKind::linalg) == LATHE_LINALG_ERROR);

bool known(lathe_status status) { return status > LATHE_OK && status <= LATHE_LINALG_ERROR; }

void (*g_log)(int, const char*) = nullptr;

}  // namespace

lathe_status note_failure(ErrorKind kind, const char* message) noexcept {
  try {
    last() = {status_of(kind), message};
  } catch (...) {  // no memory for the sentence: the status still says what it was
    last().text.clear();
  }
  return status_of(kind);
}

lathe_status note_failure(const Error& error) noexcept {
  return note_failure(error.kind(), error.what());
}

void raise_reported(lathe_status status) {
  ErrorKind kind = known(status) ? kind_of(status) : ErrorKind::internal;
  std::string text = last().status == status ? last().text : "";
  if (text.empty()) text = absl::StrCat("a callback failed: ", lathe_status_name(status));
  throw Error(kind, {.problem = std::move(text)});
}

void refuse_null(const char* entry, const std::string& parameter) {
  throw TypeError({.op = entry,
                   .problem = absl::StrCat("'", parameter, "' is NULL"),
                   .got = "NULL",
                   .expected = "a pointer: lathe.h marks what may be NULL as LATHE_NULLABLE",
                   .next = "look whether the call that was to set it failed"});
}

void require(const char* entry, std::initializer_list<Required> arguments) {
  for (const Required& a : arguments) {
    if (a.count > 0 && a.pointer == nullptr) refuse_null(entry, a.name);
    if (a.handles == nullptr) continue;
    for (size_t i = 0; i < a.count; ++i)
      if (a.handles[i] == nullptr) refuse_null(entry, absl::StrCat(a.name, "[", i, "]"));
  }
}

char* give_text(std::string_view text) {
  auto* out = static_cast<char*>(std::malloc(text.size() + 1));
  if (out == nullptr) throw std::bad_alloc();
  std::memcpy(out, text.data(), text.size());
  out[text.size()] = '\0';
  return out;
}

void wire_up() { initialise(); }

}  // namespace lathe::c

using namespace lathe;     // NOLINT: this file is the C face of that namespace
using namespace lathe::c;  // NOLINT

extern "C" {

uint32_t lathe_abi(void) { return LATHE_ABI; }
const char* lathe_version(void) { return LATHE_VERSION; }

const char* lathe_status_name(lathe_status status) {
  if (status == LATHE_OK) return "ok";
  return known(status) ? error_name(kind_of(status)) : "unknown status";
}

const char* lathe_last_error(void) { return last().text.c_str(); }

lathe_status lathe_fail(lathe_status status, const char* message) {
  ErrorKind kind = known(status) ? kind_of(status) : ErrorKind::internal;
  return note_failure(kind, message == nullptr ? "" : message);
}

void lathe_at_line(const char* file, int line) {
  static thread_local std::optional<SiteScope> scope;
  scope.reset();  // first: a scope puts back what was there before it
  guarded("lathe_at_line", {}, [&] {
    if (file != nullptr) scope.emplace(make_site(file, line));
  });
}

void lathe_text_release(char* text) { std::free(text); }

lathe_status lathe_set_flag(const char* name, const char* value) {
  return guarded("lathe_set_flag", {given("name", name), given("value", value)},
                 [&] { set_flag(name, value); });
}

lathe_status lathe_get_flag(const char* name, char** value) {
  return guarded("lathe_get_flag", {given("name", name), given("value", value)},
                 [&] { *value = give_text(flag_text(flag_row(name).flag)); });
}

lathe_status lathe_threads(char** text) {
  return guarded("lathe_threads", {given("text", text)},
                 [&] { *text = give_text(threads_text()); });
}

void lathe_manual_seed(uint64_t seed) { manual_seed(seed); }

void lathe_set_log(void (*log)(int level, const char* message)) {
  g_log = log;
  if (log == nullptr) {
    set_log_hook(nullptr);
    return;
  }
  set_log_hook([](LogLevel level, std::string_view message) {
    if (auto* hook = g_log) hook(static_cast<int>(level), std::string(message).c_str());
  });
}

}  // extern "C"
