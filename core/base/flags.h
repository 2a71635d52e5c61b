// Every switch and environment variable of Lathe is one row of the table in flags.cpp, and nothing
// else reads the environment. A flag is set, in rising order of strength, by its default, by its
// variable when it is first read, and by set_flag.
#pragma once

#include <absl/types/span.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lathe {

enum class Flag : uint8_t {
  threads,
  isa,
  max_memory,
  memory_cache,
  cache_dir,
  cache_bytes,
  log_level,
  engine,
  fallback_is_error,
  disabled,
  rewrites_off,
  rewrite_limit,
  whole_tracebacks,
  fuse_after,
  numerics,
};
inline constexpr int kFlags = static_cast<int>(Flag::numerics) + 1;

enum class FlagType : uint8_t {
  boolean,  // 0 or 1; also true, false, on, off, yes, no
  count,    // an integer >= `least`
  bytes,    // a count that may end in K, M, G or T (powers of 1024)
  choice,   // one of `choices`
  text,     // anything
  list,     // texts separated by commas
};

struct FlagDefinition {
  Flag flag;
  std::string_view name;
  std::string_view env;
  FlagType type;
  std::string_view default_text;
  std::string_view doc;
  std::string_view choices = {};  // separated by '|'
  int64_t least = 0;
};
/// All rows, in the order of the enumeration: docs and `lathe flags` are printed from it.
absl::Span<const FlagDefinition> flags_table();
/// NameError with the names there are.
const FlagDefinition& flag_row(std::string_view name);

int64_t flag_count(Flag flag);  // count, bytes and boolean flags
inline bool flag_on(Flag flag) { return flag_count(flag) != 0; }
std::string flag_text(Flag flag);  // every type; canonical: "1", "avx2", "1048576"
/// Whether the value is the one that its variable gave, and nothing has set it since.
bool flag_from_environment(Flag flag);
/// True if the list flag contains this item.
bool flag_has(Flag flag, std::string_view item);

/// Process-wide; any thread. ValueError says what would be right, for a list flag also where an
/// item is the name of nothing.
void set_flag(Flag flag, std::string_view text);
inline void set_flag(std::string_view name, std::string_view text) {
  set_flag(flag_row(name).flag, text);
}
/// What the items of a list flag may be called: from now on set_flag refuses others. What the
/// environment said before and is none of them is dropped, with a warning.
void set_item_names(Flag flag, std::vector<std::string_view> (*names)());
/// Changes whenever a flag is set, so that what was computed from flags can be kept until then.
uint64_t flags_revision();
/// Another revision without a change of a flag: what was chosen under the last one is asked again.
void touch_flags();

/// Sets a flag and puts it back.
class FlagScope {
 public:
  FlagScope(Flag flag, std::string_view text) : flag_(flag), before_(flag_text(flag)) {
    set_flag(flag, text);
  }
  ~FlagScope() { set_flag(flag_, before_); }
  FlagScope(const FlagScope&) = delete;
  FlagScope& operator=(const FlagScope&) = delete;

 private:
  Flag flag_;
  std::string before_;
};

}  // namespace lathe
