// The proof that a result is the same bits in every mode: see modes.h. 500 programs in the quick
// tier, in parts so that shards share them.
//
//   LATHE_BITS=COUNT        SlowRandomPrograms runs so many (10,000 if it is not set)
//   LATHE_BITS_FIRST=SEED   from this seed on
//   LATHE_BITS_STRIDE=N     every N-th seed, for N processes side by side
//   LATHE_BITS_SEED=SEED    RandomPrograms.OneSeed runs this one and says what it is
//   LATHE_BITS_OUT=FILE     what was covered; SlowCoverage adds up what LATHE_BITS_IN=FILE,FILE
//   names LATHE_BITS_FAULTS=1     stops at the first difference, without making it smaller
// tests/bits/run.py does the long run on all processors.
#include <absl/strings/str_split.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "core/base/error.h"
#include "tests/bits/coverage.h"
#include "tests/bits/generate.h"
#include "tests/bits/shrink.h"

namespace lathe::bits_test {
namespace {

constexpr uint64_t kQuickParts = 10, kQuickEach = 50;

int64_t number_from(const char* variable, int64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoll(text, nullptr, 10);
}

bool hunting_faults() { return number_from("LATHE_BITS_FAULTS", 0) != 0; }

/// False, and the smallest program that differs is reported, if one mode differs.
bool check_seed(uint64_t seed) {
  Thorough how{.code_on_every_isa = seed % 16 == 0};
  Program program;
  try {
    program = generate(seed);
  } catch (const std::exception& e) {
    ADD_FAILURE() << "seed " << seed << " makes no program: " << e.what();
    return false;
  }
  std::optional<Difference> d = compare(program, how);
  if (!d) return true;
  if (hunting_faults()) {
    ADD_FAILURE() << "seed " << seed << " differs in: " << d->mode << ": " << d->detail;
    return false;
  }
  Shrunk small = shrink(program, *d, how);
  ADD_FAILURE() << "seed " << seed << " differs in: " << d->mode << ": " << d->detail
                << "\nThe smallest like it differs in: " << small.difference.mode << ": "
                << small.difference.detail << "\n"
                << to_string(small.program) << small.difference.graph
                << "Again: LATHE_BITS_SEED=" << seed
                << " lathe_bits --gtest_filter='RandomPrograms.OneSeed'";
  return false;
}

/// Where nothing is taken whole, equal bits say nothing about claims: false, and reported.
bool claims_act() {
  const std::vector<std::string> idle = coverage().idle_claims();
  for (const std::string& s : idle) ADD_FAILURE() << "claims: " << s;
  return idle.empty();
}

class QuickPart : public ::testing::TestWithParam<uint64_t> {};

TEST_P(QuickPart, SameBitsInEveryMode) {
  int failed = 0;
  for (uint64_t k = 0; k < kQuickEach && failed < 3; ++k)
    failed += !check_seed(GetParam() * kQuickEach + k);
  std::printf("claims: %s\n", coverage().claims_line().c_str());
  EXPECT_TRUE(claims_act());
}
INSTANTIATE_TEST_SUITE_P(RandomPrograms, QuickPart, ::testing::Range(uint64_t{0}, kQuickParts));

TEST(RandomPrograms, OneSeed) {
  int64_t seed = number_from("LATHE_BITS_SEED", -1);
  if (seed < 0) GTEST_SKIP() << "for one seed by hand";
  Program p = generate(static_cast<uint64_t>(seed));
  std::printf("%s", to_string(p).c_str());
  check_seed(static_cast<uint64_t>(seed));
}

TEST(RandomPrograms, SlowRandomPrograms) {
  if (std::getenv("LATHE_BITS") == nullptr) GTEST_SKIP() << "run by tests/bits/run.py";
  auto count = static_cast<uint64_t>(number_from("LATHE_BITS", 0));
  auto first = static_cast<uint64_t>(number_from("LATHE_BITS_FIRST", 100000));
  auto stride = static_cast<uint64_t>(number_from("LATHE_BITS_STRIDE", 1));
  coverage() = {};
  int failed = 0, most = hunting_faults() ? 1 : 10;
  for (uint64_t k = 0; k < count && failed < most; ++k) {
    failed += !check_seed(first + k * stride);
    if (hunting_faults() && k % 100 == 99) failed += !claims_act();
    if (k % 500 == 499) {
      std::printf("%llu programs, %d differ\n", static_cast<unsigned long long>(k + 1), failed);
      std::fflush(stdout);
    }
  }
  std::printf("seeds %llu to %llu, every %llu: %d differ\n", static_cast<unsigned long long>(first),
              static_cast<unsigned long long>(first + (count - 1) * stride),
              static_cast<unsigned long long>(stride), failed);
  if (const char* out = std::getenv("LATHE_BITS_OUT")) std::ofstream(out) << coverage().lines();
}

TEST(RandomPrograms, SlowCoverage) {
  const char* in = std::getenv("LATHE_BITS_IN");
  if (in == nullptr) GTEST_SKIP() << "run by tests/bits/run.py";
  Coverage all;
  for (std::string_view name : absl::StrSplit(in, ',')) {
    std::ifstream file{std::string(name)};
    ASSERT_TRUE(file) << name;
    std::stringstream text;
    text << file.rdbuf();
    all.add(Coverage::parse(text.str()));
  }
  std::printf("%s", all.table().c_str());
  for (const std::string& s : all.shortfalls(number_from("LATHE_BITS_EACH", 50)))
    ADD_FAILURE() << s;
}

// The generator itself is held to what it promises: the same seed is the same program, and programs
// are not all of one sort.
TEST(RandomPrograms, ASeedIsAProgram) {
  for (uint64_t seed = 0; seed < 20; ++seed)
    EXPECT_EQ(to_string(generate(seed)), to_string(generate(seed)));
}

TEST(RandomPrograms, CoverageAddsUpAndNamesWhatIsMissing) {
  Coverage a;
  a.programs = 2;
  const std::string row = testing::samples().front().op;
  a.rows[row] = 30;
  a.modes["eager"] = 1;
  Coverage b = Coverage::parse(a.lines());
  b.add(a);
  EXPECT_EQ(b.programs, 4);
  EXPECT_EQ(b.rows[row], 60);
  auto mentions = [&](const Coverage& c) {
    for (const std::string& s : c.shortfalls(50))
      if (s.find("row " + row + " ") != std::string::npos) return true;
    return false;
  };
  EXPECT_TRUE(mentions(a));
  EXPECT_FALSE(mentions(b));
}

TEST(RandomPrograms, ClaimsThatDoNotActAreNamed) {
  Coverage c;
  c.claimed = {{"program", 30}, {"tape", 30}, {"rare", 3}};
  c.taken = {{"program", 0}, {"tape", 20}};
  EXPECT_EQ(c.idle_claims(),
            std::vector<std::string>{"no composite was taken whole in 30 runs of: program"});
  c.taken["program"] = 1;
  EXPECT_EQ(Coverage::parse(c.lines()).idle_claims(), std::vector<std::string>{});
  c.retried["tape"] = 3;
  EXPECT_EQ(c.idle_claims(), std::vector<std::string>{"3 of 30 runs fell back to the parts: tape"});
}

}  // namespace
}  // namespace lathe::bits_test
