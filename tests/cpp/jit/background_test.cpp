// Work that is done later: in order, across forks, and to the end of the process.
#include "jit/kernel/background.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "core/expr/expr.h"
#include "jit/kernel/kernels.h"

namespace lathe::jit {
namespace {

using std::chrono::milliseconds;

int status_of(pid_t child) {
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

TEST(Background, RunsJobsInOrder) {
  std::vector<int> seen;
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(do_later([&seen, i] { seen.push_back(i); }));
  wait_for_background();
  ASSERT_EQ(seen.size(), 100u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(seen[static_cast<size_t>(i)], i);
}

TEST(Background, TakesJobsOfManyThreads) {
  std::atomic<int> done{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) do_later([&] { ++done; });
      wait_for_background();
    });
  for (auto& t : threads) t.join();
  wait_for_background();
  EXPECT_EQ(done, 400);
}

TEST(Background, ForkWaitsForTheJobThatRuns) {
  static std::atomic<int> begun{0}, done{0};
  begun = done = 0;
  for (int i = 0; i < 3; ++i)
    do_later([] {
      ++begun;
      std::this_thread::sleep_for(milliseconds(20));
      ++done;
    });
  while (begun == 0) std::this_thread::yield();
  const pid_t child = fork();
  if (child == 0) {
    const bool whole = begun == done && done > 0;  // no job is in the middle
    wait_for_background();                         // those that were queued are done here too
    std::atomic<int> more{0};
    do_later([&] { ++more; });
    wait_for_background();
    _exit(whole && done == 3 && more == 1 ? 0 : 1);
  }
  EXPECT_EQ(status_of(child), 0);
  wait_for_background();
  EXPECT_EQ(done, 3);
}

void end_in_the_middle() {
  static std::atomic<bool> begun{false};
  for (const char* name : {"[first]", "[second]"})
    do_later([name] {
      begun = true;
      std::this_thread::sleep_for(milliseconds(30));
      std::fputs(name, stderr);
    });
  while (!begun) std::this_thread::yield();
  std::exit(0);  // NOLINT(concurrency-mt-unsafe): what is tested
}

TEST(Background, TheEndOfTheProcessWaitsForTheJobThatRunsAndDropsTheRest) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a process of its own, not a fork of this one
  using ::testing::HasSubstr;
  EXPECT_EXIT(end_in_the_middle(), ::testing::ExitedWithCode(0),
              ::testing::AllOf(HasSubstr("[first]"), ::testing::Not(HasSubstr("[second]"))));
}

/// A kernel of this process that no other test asks for.
void compile_one(double factor) {
  const auto f =
      build([&](absl::Span<const Expr> in) { return Exprs{exp(in[0] * factor)}; }, {DType::f32});
  (void)get_kernel(kernel_of_elements(lower(f), 1000, {Int(1)}));
}

/// Asked for by threads that are not the main one.
void end_while_compiling(int after) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t] { do_later([t] { compile_one(0.7 + t); }); });
  for (auto& t : threads) t.join();
  std::this_thread::sleep_for(milliseconds(after));
  std::exit(0);  // NOLINT(concurrency-mt-unsafe): what is tested
}

TEST(Background, TheProcessMayEndWhileLlvmCompiles) {
  if (open_codegen().codegen == nullptr) GTEST_SKIP() << open_codegen().reason;
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (int after : {0, 1, 3, 10, 20, 40, 60})
    EXPECT_EXIT(end_while_compiling(after), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace lathe::jit
