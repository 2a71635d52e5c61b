#include "kernels/runtime/pool.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/flags.h"
#include "kernels/runtime/cpus.h"

namespace lathe {
namespace {

class PoolWithThreads : public testing::TestWithParam<int> {
  FlagScope threads_{Flag::threads, std::to_string(GetParam())};
};
INSTANTIATE_TEST_SUITE_P(Threads, PoolWithThreads, testing::Values(1, 2, 3, 8));

TEST_P(PoolWithThreads, EveryElementOnce) {
  EXPECT_EQ(pool_threads(), GetParam());
  for (int64_t n : {0, 1, 7, 100, 1000, 4096}) {
    for (int64_t grain : {1, 3, 64, 5000}) {
      std::vector<std::atomic<int>> hits(static_cast<size_t>(n));
      parallel_for(n, grain, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; i++) hits[static_cast<size_t>(i)]++;
      });
      for (auto& h : hits) ASSERT_EQ(h, 1) << n << " " << grain;
    }
  }
}

TEST_P(PoolWithThreads, BoundariesDependOnSizeAndGrainOnly) {
  std::mutex mutex;
  std::vector<std::pair<int64_t, int64_t>> chunks;
  parallel_for(1000, 300, [&](int64_t begin, int64_t end) {
    std::lock_guard hold(mutex);
    chunks.emplace_back(begin, end);
  });
  std::sort(chunks.begin(), chunks.end());
  std::vector<std::pair<int64_t, int64_t>> expected = {
      {0, 300}, {300, 600}, {600, 900}, {900, 1000}};
  EXPECT_EQ(chunks, expected);
}

TEST_P(PoolWithThreads, ManyShortRegions) {
  std::atomic<int64_t> sum{0};
  for (int round = 0; round < 3000; round++)
    parallel_for(8, 1, [&](int64_t begin, int64_t) { sum += begin; });
  EXPECT_EQ(sum, 3000 * 28);
}

TEST_P(PoolWithThreads, SleepingWorkersWakeUp) {
  for (int round = 0; round < 5; round++) {
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
    std::atomic<int> done{0};
    parallel_for(16, 1, [&](int64_t, int64_t) { done++; });
    EXPECT_EQ(done, 16);
  }
}

TEST_P(PoolWithThreads, NestedRegionsRunInline) {
  std::atomic<int> inner{0};
  parallel_for(16, 1, [&](int64_t, int64_t) {
    std::thread::id self = std::this_thread::get_id();
    parallel_for(10, 2, [&](int64_t begin, int64_t end) {
      EXPECT_EQ(std::this_thread::get_id(), self);
      inner += static_cast<int>(end - begin);
    });
  });
  EXPECT_EQ(inner, 160);
}

TEST_P(PoolWithThreads, TheLowestExceptionWins) {
  for (int round = 0; round < 200; round++) {
    try {
      parallel_for(64, 1, [&](int64_t i, int64_t) {
        if (i == 5 || i == 6 || i == 40) throw std::runtime_error(std::to_string(i));
      });
      FAIL();
    } catch (const std::runtime_error& e) {
      ASSERT_STREQ(e.what(), "5");
    }
  }
  std::atomic<int> done{0};
  parallel_for(64, 1, [&](int64_t, int64_t) { done++; });
  EXPECT_EQ(done, 64);
}

TEST_P(PoolWithThreads, ConcurrentRegionsAreIndependent) {
  std::vector<std::thread> threads;
  std::atomic<int64_t> sum{0};
  for (int t = 0; t < 3; t++) {
    threads.emplace_back([&] {
      for (int round = 0; round < 300; round++)
        parallel_for(100, 9, [&](int64_t begin, int64_t end) { sum += end - begin; });
    });
  }
  for (auto& t : threads) t.join();
  EXPECT_EQ(sum, 3 * 300 * 100);
}

TEST_P(PoolWithThreads, CancelStopsBetweenChunks) {
  std::atomic<bool> asked{false};
  std::atomic<int> ran{0};
  CancelScope scope(asked);
  EXPECT_THROW(parallel_for(10000, 1,
                            [&](int64_t, int64_t) {
                              if (ran++ == 3) asked = true;
                              std::this_thread::sleep_for(std::chrono::microseconds(50));
                            }),
               CancelledError);
  EXPECT_LT(ran, 10000);
  asked = false;
  parallel_for(10, 1, [&](int64_t, int64_t) {});
}

TEST_P(PoolWithThreads, TheHookCancels) {
  set_cancel_hook([]() noexcept { return true; });
  EXPECT_THROW(parallel_for(100, 1, [](int64_t, int64_t) {}), CancelledError);
  set_cancel_hook(nullptr);
  parallel_for(100, 1, [](int64_t, int64_t) {});
}

/// A chunk that is all there is asks in between; so does the one of a worker, while the caller has
/// nothing to do but wait for it.
TEST_P(PoolWithThreads, ALongChunkIsStoppedInside) {
  static std::atomic<bool> stop{false};
  set_cancel_hook([]() noexcept { return stop.load(); });
  for (int64_t chunks : {1, 2, 3}) {
    stop = false;
    std::atomic<int> running{0};
    EXPECT_THROW(parallel_for(chunks, 1,
                              [&](int64_t, int64_t) {
                                if (++running == 1) stop = true;
                                for (;;) check_cancelled();
                              }),
                 CancelledError)
        << chunks;
  }
  stop = false;
  EXPECT_NO_THROW(parallel_for(3, 1, [](int64_t, int64_t) { check_cancelled(); }));
  set_cancel_hook(nullptr);
  check_cancelled();
}

TEST_P(PoolWithThreads, WhatMustBeFinishedIsNotStopped) {
  set_cancel_hook([]() noexcept { return true; });
  Uncancellable all;
  std::atomic<int> ran{0};
  EXPECT_NO_THROW(parallel_for(100, 1, [&](int64_t, int64_t) {
    check_cancelled();
    ++ran;
  }));
  EXPECT_EQ(ran, 100);
  set_cancel_hook(nullptr);
}

TEST_P(PoolWithThreads, AForkedChildStartsItsOwn) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the thread sanitizer allows no new threads after a fork";
#endif
  std::atomic<int> before{0};
  parallel_for(64, 1, [&](int64_t, int64_t) { before++; });
  pid_t child = fork();
  if (child == 0) {
    alarm(20);  // a hang must end the child, not the test run
    std::atomic<int> done{0};
    for (int round = 0; round < 50; round++) parallel_for(64, 1, [&](int64_t, int64_t) { done++; });
    _exit(done == 50 * 64 ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  std::atomic<int> after{0};
  parallel_for(64, 1, [&](int64_t, int64_t) { after++; });
  EXPECT_EQ(after, 64);
}

TEST(Pool, TheNumberOfThreadsMayChange) {
  for (int threads : {4, 1, 2, 8, 3}) {
    FlagScope scope(Flag::threads, std::to_string(threads));
    std::atomic<int> done{0};
    parallel_for(100, 1, [&](int64_t, int64_t) { done++; });
    EXPECT_EQ(done, 100);
    EXPECT_EQ(pool_threads(), threads);
  }
}

struct CgroupFolder : testing::Test {
  CgroupFolder() {
    root = std::filesystem::temp_directory_path() / ("lathe_cgroup_" + std::to_string(getpid()));
    std::filesystem::remove_all(root);
  }
  ~CgroupFolder() override { std::filesystem::remove_all(root); }
  void write(const std::string& path, const std::string& text) {
    std::filesystem::path file = root / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  std::filesystem::path root;
};

TEST_F(CgroupFolder, VersionTwo) {
  write("a/b/cpu.max", "max 100000\n");
  EXPECT_EQ(cpus_of_quota("0::/a/b\n", root), 0);
  write("a/cpu.max", "350000 100000\n");
  EXPECT_EQ(cpus_of_quota("0::/a/b\n", root), 3);
  write("a/b/cpu.max", "50000 100000\n");
  EXPECT_EQ(cpus_of_quota("0::/a/b\n", root), 1);
  EXPECT_EQ(cpus_of_quota("0::/gone\n", root), 0);
}

TEST_F(CgroupFolder, VersionOne) {
  std::string self = "5:memory:/x\n4:cpu,cpuacct:/job/7\n";
  write("cpu,cpuacct/job/7/cpu.cfs_quota_us", "-1\n");
  write("cpu,cpuacct/job/7/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cpus_of_quota(self, root), 0);
  write("cpu,cpuacct/job/7/cpu.cfs_quota_us", "200000\n");
  EXPECT_EQ(cpus_of_quota(self, root), 2);
  // In a container the named path is outside the mount: its root is what binds.
  std::filesystem::remove_all(root / "cpu,cpuacct/job");
  write("cpu/cpu.cfs_quota_us", "100000\n");
  write("cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cpus_of_quota(self, root), 1);
}

TEST(Cpus, AtLeastOne) { EXPECT_GE(cpus_now().available(), 1); }

TEST(Cpus, TheSmallestBinds) {
  EXPECT_EQ((Cpus{8, 4, 0}).available(), 4);
  EXPECT_EQ((Cpus{8, 4, 3}).available(), 3);
  EXPECT_EQ((Cpus{8, 2, 3}).available(), 2);
}

TEST(Pool, SaysWhyItHasSoManyThreads) {
  auto says = [](const Cpus& cpus, int64_t flag = 0, bool from_environment = false) {
    return threads_text(cpus, flag, from_environment);
  };
  EXPECT_EQ(says({8, 4, 0}),
            "4 threads: as many as the affinity allows (4 of 8 processors), and no cgroup has a "
            "quota");
  EXPECT_EQ(says({8, 8, 1}),
            "1 thread: the cgroup's quota, less than the affinity allows (8 of 8 processors)");
  EXPECT_EQ(says({8, 2, 3}),
            "2 threads: as many as the affinity allows (2 of 8 processors), within the cgroup's "
            "quota of 3");
  EXPECT_EQ(says({8, 8, 4}, 3, true),
            "3 threads: LATHE_THREADS, a variable of the environment, says 3; without it 4: the "
            "cgroup's quota, less than the affinity allows (8 of 8 processors)");
  EXPECT_EQ(says({2, 2, 0}, 1000),
            "256 threads: the flag threads says 1000, more than a pool can have; without it 2: as "
            "many as the affinity allows (2 of 2 processors), and no cgroup has a quota");
  FlagScope three(Flag::threads, "3");
  EXPECT_EQ(threads_text(), says(cpus_now(), 3));
  EXPECT_EQ(pool_threads(), 3);
}

}  // namespace
}  // namespace lathe
