#include "core/base/flags.h"

#include <absl/strings/ascii.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <absl/strings/str_split.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <vector>

#include "core/base/error.h"
#include "core/base/fork.h"
#include "core/base/log.h"

namespace lathe {
namespace {

constexpr std::array<FlagDefinition, kFlags> kRows = {{
    {Flag::threads, "threads", "LATHE_THREADS", FlagType::count, "0",
     "Threads that compute, the caller included. 0: as many as the process may use at once (its "
     "CPU "
     "affinity and its cgroup's quota). Never changes a result."},
    {Flag::isa, "isa", "LATHE_ISA", FlagType::choice, "auto",
     "Instruction set of the built-in kernels. auto: the widest that the processor has. Never "
     "changes "
     "a result.",
     "auto|avx2|avx512|portable"},
    {Flag::max_memory, "max_memory", "LATHE_MAX_MEMORY", FlagType::bytes, "0",
     "Most bytes a device's allocator may hold, cached ones included; a request beyond it is a "
     "MemoryError. 0: no limit."},
    {Flag::memory_cache, "memory_cache", "LATHE_MEMORY_CACHE", FlagType::bytes, "1G",
     "Most bytes of freed memory that a device's allocator keeps for the next request."},
    {Flag::cache_dir, "cache_dir", "LATHE_CACHE_DIR", FlagType::text, "",
     "Folder for compiled kernels, shared by processes. Empty: none are kept on disk."},
    {Flag::cache_bytes, "cache_bytes", "LATHE_CACHE_BYTES", FlagType::bytes, "256M",
     "Most bytes of compiled kernels kept in cache_dir; the longest unused go first."},
    {Flag::log_level, "log_level", "LATHE_LOG_LEVEL", FlagType::choice, "warning",
     "The least severe messages that are shown.", "debug|info|warning|error|off"},
    {Flag::engine, "engine", "LATHE_ENGINE", FlagType::choice, "auto",
     "What runs the generated part of a compiled function. auto: kernels that were compiled with "
     "the "
     "library, and strips until LLVM's are ready. llvm: none but LLVM's. Never changes a result.",
     "auto|llvm|simd|nodes"},
    {Flag::fallback_is_error, "fallback_is_error", "LATHE_FALLBACK_IS_ERROR", FlagType::boolean,
     "0",
     "Makes every quiet fallback an error: from a compiled function to eager, from generated code "
     "to strips where the flag engine does not ask for them, from a table entry to the "
     "reference."},
    {Flag::disabled, "disabled", "LATHE_DISABLED", FlagType::list, "",
     "Table entries and vendors that are not to be used, separated by commas: \"onednn, "
     "own.gemm\"."},
    {Flag::rewrites_off, "rewrites_off", "LATHE_REWRITES_OFF", FlagType::list, "",
     "Rewrite rules and passes that are not to run, separated by commas; \"all\" names every one."},
    {Flag::rewrite_limit, "rewrite_limit", "LATHE_REWRITE_LIMIT", FlagType::count, "-1",
     "Rewrites after this many are not applied, to find by bisection the one that matters. -1: no "
     "limit.",
     "", -1},
    {Flag::whole_tracebacks, "whole_tracebacks", "LATHE_WHOLE_TRACEBACKS", FlagType::boolean, "0",
     "Tracebacks of what a capture refuses name its own lines too, not only the user's."},
    {Flag::fuse_after, "fuse_after", "LATHE_FUSE_AFTER", FlagType::count, "16",
     "Eager calls of an op that consists of others (softmax), with operands and options of one "
     "kind, before it runs as one compiled program; the same of an optimizer's steps, and of the "
     "derivatives of elementwise ops (of 2,048 elements or more). 0: from the first, of any size; "
     "-1: never. Also how many half milliseconds of work on an elementwise op of several "
     "steps, one at least, before that one is compiled. Never changes a result.",
     "", -1},
    {Flag::numerics, "numerics", "LATHE_NUMERICS", FlagType::choice, "pinned",
     "Which bits results may have. pinned: the same in every mode, and those of a vendor's library "
     "and of this processor where that is much faster (products and convolutions of bfloat16). "
     "defined: those of a "
     "formula, on every processor, wherever there is one (linear algebra and Fourier transforms "
     "have none).",
     "pinned|defined"},
}};

constexpr bool rows_in_order() {
  for (int i = 0; i < kFlags; i++)
    if (kRows[i].flag != static_cast<Flag>(i)) return false;
  return true;
}
static_assert(rows_in_order());

struct Values {
  std::array<std::string, kFlags> texts;
  std::array<bool, kFlags> from_environment{};
};
constinit std::array<std::atomic<int64_t>, kFlags> counts{};
constinit std::atomic<uint64_t> revision{1};
constinit std::atomic<bool> loaded{false};
using ItemNames = std::vector<std::string_view> (*)();
constinit std::array<std::atomic<ItemNames>, kFlags> item_names{};
constinit ForkSafeMutex values_mutex;
Values& values() {
  static auto& v = *new Values;
  return v;
}

bool parse_boolean(std::string_view text, int64_t& out) {
  bool value;
  if (!absl::SimpleAtob(text, &value)) {
    if (text != "on" && text != "off") return false;
    value = text == "on";
  }
  out = value;
  return true;
}

bool parse_bytes(std::string_view text, int64_t& out) {
  int shift = 0;
  if (!text.empty()) {
    size_t unit = std::string_view("KMGT").find(absl::ascii_toupper(text.back()));
    if (unit != std::string_view::npos) {
      shift = 10 * static_cast<int>(unit + 1);
      text.remove_suffix(1);
    }
  }
  return absl::SimpleAtoi(text, &out) && out >= 0 &&
         !__builtin_mul_overflow(out, int64_t{1} << shift, &out);
}

std::string canonical_list(std::string_view text) {
  std::vector<std::string_view> items;
  for (std::string_view item : absl::StrSplit(text, ','))
    if (!absl::StripAsciiWhitespace(item).empty())
      items.push_back(absl::StripAsciiWhitespace(item));
  return absl::StrJoin(items, ",");
}

/// The canonical text and, where there is one, the number. False: not a value of this flag.
bool parse(const FlagDefinition& row, std::string_view given, std::string& text, int64_t& count) {
  std::string_view trimmed = absl::StripAsciiWhitespace(given);
  text = std::string(trimmed);
  switch (row.type) {
    case FlagType::boolean:
      if (!parse_boolean(trimmed, count)) return false;
      text = absl::StrCat(count);
      return true;
    case FlagType::count:
      if (!absl::SimpleAtoi(trimmed, &count) || count < row.least) return false;
      text = absl::StrCat(count);
      return true;
    case FlagType::bytes:
      if (!parse_bytes(trimmed, count)) return false;
      text = absl::StrCat(count);
      return true;
    case FlagType::choice:
      for (std::string_view choice : absl::StrSplit(row.choices, '|'))
        if (choice == trimmed) return true;
      return false;
    case FlagType::text:
      return true;
    case FlagType::list:
      text = canonical_list(trimmed);
      return true;
  }
  return false;
}

ItemNames names_of(const FlagDefinition& row) {
  return item_names[static_cast<size_t>(row.flag)].load(std::memory_order_acquire);
}

/// The first item of a list that is the name of nothing; empty if there is none.
std::string unknown_item(const FlagDefinition& row, std::string_view canonical) {
  ItemNames names = row.type == FlagType::list ? names_of(row) : nullptr;
  if (names == nullptr) return {};
  std::vector<std::string_view> known = names();
  for (std::string_view item : absl::StrSplit(canonical, ',', absl::SkipEmpty()))
    if (std::find(known.begin(), known.end(), item) == known.end()) return std::string(item);
  return {};
}

std::string expected_text(const FlagDefinition& row) {
  if (ItemNames names = names_of(row))
    return absl::StrCat("any of: ", absl::StrJoin(names(), ", "));
  switch (row.type) {
    case FlagType::boolean:
      return "0 or 1";
    case FlagType::count:
      return absl::StrCat("an integer of at least ", row.least);
    case FlagType::bytes:
      return "a number of bytes, such as 1048576, 512M or 2G";
    case FlagType::choice:
      return absl::StrCat("one of: ", absl::StrJoin(absl::StrSplit(row.choices, '|'), ", "));
    case FlagType::text:
    case FlagType::list:
      return "a text";
  }
  return "";
}

void store(const FlagDefinition& row, std::string text, int64_t count) {
  values().texts[static_cast<size_t>(row.flag)] = std::move(text);
  counts[static_cast<size_t>(row.flag)].store(count, std::memory_order_relaxed);
}

// A variable that does not parse is reported and ignored: a typo in the environment must not make
// whatever op came first fail.
void load() {
  std::vector<std::string> complaints;
  {
    std::lock_guard hold(values_mutex);
    if (loaded.load(std::memory_order_relaxed)) return;
    for (const FlagDefinition& row : kRows) {
      std::string text;
      int64_t count = 0;
      const char* given = std::getenv(std::string(row.env).c_str());
      if (given && !parse(row, given, text, count)) {
        complaints.push_back(absl::StrCat("the environment says ", row.env, "=", given,
                                          ", which is ignored: expected ", expected_text(row)));
        given = nullptr;
      }
      count = given ? count : 0;
      if (!given) parse(row, row.default_text, text, count);
      store(row, std::move(text), count);
      values().from_environment[static_cast<size_t>(row.flag)] = given != nullptr;
    }
    loaded.store(true, std::memory_order_release);
  }
  for (const std::string& complaint : complaints) log(LogLevel::warning, complaint);
}

void ensure_loaded() {
  if (!loaded.load(std::memory_order_acquire)) [[unlikely]]
    load();
}

}  // namespace

absl::Span<const FlagDefinition> flags_table() { return kRows; }

const FlagDefinition& flag_row(std::string_view name) {
  for (const FlagDefinition& row : kRows)
    if (row.name == name) return row;
  throw NameError({.op = "flags",
                   .problem = "there is no such flag",
                   .got = std::string(name),
                   .expected = absl::StrCat(
                       "one of: ", absl::StrJoin(kRows, ", ",
                                                 [](std::string* out, const FlagDefinition& r) {
                                                   absl::StrAppend(out, r.name);
                                                 })),
                   .next = "lt.flags() lists them with their meaning"});
}

int64_t flag_count(Flag flag) {
  ensure_loaded();
  return counts[static_cast<size_t>(flag)].load(std::memory_order_relaxed);
}

std::string flag_text(Flag flag) {
  ensure_loaded();
  std::lock_guard hold(values_mutex);
  return values().texts[static_cast<size_t>(flag)];
}

bool flag_from_environment(Flag flag) {
  ensure_loaded();
  std::lock_guard hold(values_mutex);
  return values().from_environment[static_cast<size_t>(flag)];
}

bool flag_has(Flag flag, std::string_view item) {
  std::string text = flag_text(flag);
  for (std::string_view one : absl::StrSplit(text, ',', absl::SkipEmpty()))
    if (one == item) return true;
  return false;
}

void set_flag(Flag flag, std::string_view text) {
  ensure_loaded();
  const FlagDefinition& row = kRows[static_cast<size_t>(flag)];
  std::string canonical;
  int64_t count = 0;
  if (!parse(row, text, canonical, count)) {
    throw ValueError({.op = absl::StrCat("flag ", row.name),
                      .problem = "not a value of this flag",
                      .got = absl::StrCat("'", text, "'"),
                      .expected = expected_text(row),
                      .next = "lt.flags() says what each flag takes"});
  }
  if (std::string unknown = unknown_item(row, canonical); !unknown.empty())
    throw ValueError({.op = absl::StrCat("flag ", row.name),
                      .problem = absl::StrCat("there is nothing called '", unknown, "'"),
                      .got = absl::StrCat("'", text, "'"),
                      .expected = expected_text(row),
                      .next = "take one of these names, separated by commas"});
  std::lock_guard hold(values_mutex);
  store(row, std::move(canonical), count);
  values().from_environment[static_cast<size_t>(flag)] = false;
  revision.fetch_add(1, std::memory_order_release);
}

void set_item_names(Flag flag, std::vector<std::string_view> (*names)()) {
  ensure_loaded();
  const FlagDefinition& row = kRows[static_cast<size_t>(flag)];
  item_names[static_cast<size_t>(flag)].store(names, std::memory_order_release);
  std::string unknown = unknown_item(row, flag_text(flag));
  if (unknown.empty()) return;
  log(LogLevel::warning,
      absl::StrCat(row.env, "=", flag_text(flag), " is ignored: there is nothing called '", unknown,
                   "'; expected ", expected_text(row)));
  set_flag(flag, row.default_text);
}

void touch_flags() { revision.fetch_add(1, std::memory_order_release); }
uint64_t flags_revision() { return revision.load(std::memory_order_acquire); }

}  // namespace lathe
