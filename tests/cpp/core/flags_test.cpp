#include "core/base/flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "core/base/error.h"
#include "core/base/log.h"
#include "jit/initialise.h"

namespace lathe {
namespace {

TEST(Flags, EveryRowIsCompleteAndDistinct) {
  std::set<std::string_view> names, variables;
  for (const FlagDefinition& row : flags_table()) {
    EXPECT_TRUE(names.insert(row.name).second);
    EXPECT_TRUE(variables.insert(row.env).second);
    EXPECT_EQ(row.env.substr(0, 6), "LATHE_");
    EXPECT_GT(row.doc.size(), 20u);
    EXPECT_EQ(flag_row(row.name).flag, row.flag);
    EXPECT_NO_THROW(FlagScope(row.flag, row.default_text));
  }
  EXPECT_EQ(names.size(), static_cast<size_t>(kFlags));
}

TEST(Flags, ValuesAreTypedAndCanonical) {
  FlagScope memory(Flag::max_memory, " 2M ");
  EXPECT_EQ(flag_count(Flag::max_memory), 2 << 20);
  EXPECT_EQ(flag_text(Flag::max_memory), "2097152");
  FlagScope fallback(Flag::fallback_is_error, "on");
  EXPECT_TRUE(flag_on(Flag::fallback_is_error));
  EXPECT_EQ(flag_text(Flag::fallback_is_error), "1");
  FlagScope disabled(Flag::disabled, "onednn, own.gemm,");
  EXPECT_TRUE(flag_has(Flag::disabled, "own.gemm"));
  EXPECT_FALSE(flag_has(Flag::disabled, "own"));
  EXPECT_EQ(flag_text(Flag::disabled), "onednn,own.gemm");
  FlagScope limit(Flag::rewrite_limit, "-1");
  EXPECT_EQ(flag_count(Flag::rewrite_limit), -1);
}

/// The name of nothing would switch nothing off, without a word.
TEST(Flags, ItemsOfAListAreNamesOfSomething) {
  initialise();
  for (const char* known : {"", "own", "onednn.matmul, reference", "cublas"})
    EXPECT_NO_THROW(FlagScope(Flag::disabled, known)) << known;
  for (const char* known : {"", "all", "fuse_pointwise,div_to_mul", "conj_of_real"})
    EXPECT_NO_THROW(FlagScope(Flag::rewrites_off, known)) << known;
  for (Flag flag : {Flag::disabled, Flag::rewrites_off}) {
    const std::string before = flag_text(flag);
    for (const char* unknown : {"own_gemm", "all,onednn.gemmm", "fuse", "own,,fuse"}) try {
        set_flag(flag, unknown);
        ADD_FAILURE() << unknown;
      } catch (const ValueError& e) {
        EXPECT_NE(std::string(e.what()).find("there is nothing called '"), std::string::npos);
        EXPECT_NE(e.parts().expected.find("any of: "), std::string::npos);
      }
    EXPECT_EQ(flag_text(flag), before);
  }
}

TEST(Flags, ScopesRestore) {
  std::string before = flag_text(Flag::engine);
  uint64_t revision = flags_revision();
  {
    FlagScope scope(Flag::engine, "nodes");
    EXPECT_EQ(flag_text(Flag::engine), "nodes");
  }
  EXPECT_EQ(flag_text(Flag::engine), before);
  EXPECT_GT(flags_revision(), revision);
}

TEST(Flags, WrongValuesAreRefusedAndSayWhatIsRight) {
  EXPECT_THROW(set_flag("threads", "-1"), ValueError);
  EXPECT_THROW(set_flag("threads", "two"), ValueError);
  EXPECT_THROW(set_flag("max_memory", "9999999T"), ValueError);
  EXPECT_THROW(set_flag("fallback_is_error", "maybe"), ValueError);
  try {
    set_flag("isa", "neon");
    FAIL();
  } catch (const ValueError& e) {
    EXPECT_STREQ(e.what(),
                 "flag isa: not a value of this flag\n"
                 "  got:      'neon'\n"
                 "  expected: one of: auto, avx2, avx512, portable\n"
                 "  next:     lt.flags() says what each flag takes");
  }
  EXPECT_THROW(set_flag("thread", "1"), NameError);
}

TEST(FlagsDeathTest, TheEnvironmentIsReadOnceAndTyposAreReported) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  setenv("LATHE_REWRITE_LIMIT", "17", 1);
  setenv("LATHE_ENGINE", "fast", 1);
  EXPECT_EXIT(
      {
        bool right = flag_count(Flag::rewrite_limit) == 17 && flag_text(Flag::engine) == "auto";
        std::exit(right ? 0 : 1);
      },
      testing::ExitedWithCode(0), "LATHE_ENGINE=fast, which is ignored");
  unsetenv("LATHE_REWRITE_LIMIT");
  unsetenv("LATHE_ENGINE");
}

std::vector<std::string>& messages() {
  static std::vector<std::string> m;
  return m;
}

TEST(Log, LevelsAndTheHook) {
  messages().clear();
  LogHook before = set_log_hook([](LogLevel level, std::string_view message) {
    messages().push_back(std::string(name(level)) + " " + std::string(message));
  });
  log(LogLevel::info, "not shown");
  log(LogLevel::warning, "shown");
  warn_once("flags_test", "once");
  warn_once("flags_test", "once");
  {
    FlagScope off(Flag::log_level, "off");
    log(LogLevel::error, "not shown");
  }
  {
    FlagScope debug(Flag::log_level, "debug");
    EXPECT_TRUE(logging(LogLevel::debug));
    log(LogLevel::debug, "detail");
  }
  set_log_hook(before);
  EXPECT_THAT(messages(), testing::ElementsAre("warning shown", "warning once", "debug detail"));
}

}  // namespace
}  // namespace lathe
