#include "core/tensor/device.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include "core/base/error.h"
#include "core/base/flags.h"
#include "core/tensor/allocator.h"
#include "core/tensor/tensor.h"

namespace lathe {
namespace {

constexpr Device kSim{DeviceKind::sim, 0};

TEST(Device, TextReadsBack) {
  EXPECT_EQ(parse_device("cpu"), Device{});
  EXPECT_EQ(parse_device("cuda:1"), (Device{DeviceKind::cuda, 1}));
  EXPECT_EQ(to_string(Device{DeviceKind::cuda, 1}), "cuda:1");
  EXPECT_EQ(to_string(kSim), "sim");
  for (const char* wrong : {"", "gpu", "cpu:", "cpu:x", "cuda:-1", "cuda:16"})
    EXPECT_THROW(parse_device(wrong), DeviceError) << wrong;
}

TEST(Device, AbsentOnesAreRefusedByName) {
  EXPECT_TRUE(has_device(DeviceKind::sim));
  EXPECT_THROW(device_api({DeviceKind::cpu, 1}), DeviceError);
  if (has_device(DeviceKind::cuda)) return;
  try {
    device_api({DeviceKind::cuda, 0});
    FAIL();
  } catch (const DeviceError& e) {
    EXPECT_STREQ(e.what(),
                 "device: there is no such device\n  got:      cuda\n  expected: one of: cpu, sim\n"
                 "  next:     name one of these");
  }
}

TEST(CpuDevice, WorkRunsAtOnce) {
  Stream& stream = current_stream({});
  int ran = 0;
  stream.enqueue([&] { ran++; });
  EXPECT_EQ(ran, 1);
  EXPECT_THROW(stream.enqueue([] { throw ValueError({.problem = "now"}); }), ValueError);
  EXPECT_EQ(stream.record(), nullptr);
  host_wait(stream.record());
}

TEST(SimDevice, WorkRunsLaterInOrderOnItsOwnThread) {
  Stream& stream = current_stream(kSim);
  std::vector<int> order;
  std::thread::id worker;
  for (int i = 0; i < 5; i++)
    stream.enqueue([&, i] {
      order.push_back(i);
      worker = std::this_thread::get_id();
    });
  Event event = stream.record();
  EXPECT_FALSE(event->reached());
  host_wait(event);
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4}));
  EXPECT_NE(worker, std::this_thread::get_id());
}

TEST(SimDevice, EventsOrderStreams) {
  auto a = device_api(kSim).make_stream(), b = device_api(kSim).make_stream();
  for (int round = 0; round < 20; round++) {
    int value = 0, seen = -1;
    a->enqueue([&] {
      std::this_thread::sleep_for(std::chrono::microseconds(200));
      value = 7;
    });
    b->wait(a->record());
    b->enqueue([&] { seen = value; });
    b->synchronize();
    ASSERT_EQ(seen, 7);
  }
}

TEST(SimDevice, ErrorsReachWhoeverWaits) {
  auto a = device_api(kSim).make_stream(), b = device_api(kSim).make_stream();
  bool ran = false;
  a->enqueue([] { throw IndexError({.problem = "first"}); });
  a->enqueue([&] { ran = true; });
  Event event = a->record();
  EXPECT_THROW(host_wait(event), IndexError);
  b->wait(event);
  EXPECT_THROW(a->synchronize(), IndexError);
  EXPECT_FALSE(ran);
  a->enqueue([&] { ran = true; });
  a->synchronize();
  EXPECT_TRUE(ran);
  try {
    b->synchronize();
  } catch (const IndexError&) {  // b waited while a's event carried the error
  }
}

TEST(SimDevice, TensorsGoThereAndComeBack) {
  float data[] = {1, 2, 3};
  Tensor t = from_host(data, DType::f32, {3}, kSim);
  EXPECT_EQ(t.device(), kSim);
  EXPECT_THROW(t.data(), DeviceError);
  float back[3] = {};
  Stream& stream = current_stream(kSim);
  stream.copy(reinterpret_cast<std::byte*>(back), t.address(), sizeof back);
  stream.synchronize();
  EXPECT_EQ(back[2], 3);
  EXPECT_EQ(scalar_tensor(2.5, DType::f64, kSim).item_double(), 2.5);
}

TEST(SimDeviceDeathTest, HostCodeCannotReadItsMemory) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        Tensor t = scalar_tensor(1.0, DType::f32, kSim);
        volatile float read = *reinterpret_cast<const float*>(t.address());
        (void)read;
      },
      "");
}

TEST(SimDevice, AForkedChildIsRefused) {
  current_stream(kSim).synchronize();
  pid_t child = fork();
  if (child == 0) {
    try {
      current_stream(kSim).synchronize();
      _exit(1);
    } catch (const DeviceError&) {
      _exit(0);
    }
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

// ── the allocator ───────────────────────────────────────────────────────────────────────────────

TEST(Allocator, SizeClassesGrowByAtMostAQuarter) {
  EXPECT_EQ(size_class_bytes(0), 64u);
  EXPECT_EQ(size_class_bytes(65), 128u);
  EXPECT_EQ(size_class_bytes(256), 256u);
  EXPECT_EQ(size_class_bytes(257), 320u);
  EXPECT_EQ(size_class_bytes(1 << 20), 1u << 20);
  EXPECT_EQ(size_class_bytes((1 << 20) + 1), (1u << 20) + (1u << 18));
  for (size_t n = 1; n < 200000; n += 37) {
    size_t c = size_class_bytes(n);
    ASSERT_GE(c, n);
    ASSERT_EQ(c % 64, 0u);
    ASSERT_EQ(size_class_bytes(c), c);
    ASSERT_TRUE(n <= 256 || c <= n + n / 4) << n;
  }
}

TEST(Allocator, BlocksAreAlignedDistinctAndWritable) {
  std::vector<std::pair<std::byte*, size_t>> blocks;
  for (size_t n : {0, 1, 64, 100, 5000, 70000, 3 << 20}) {
    for (int i = 0; i < 3; i++) {
      std::byte* p = allocate({}, n);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(p) % 64, 0u);
      std::memset(p, i + 1, n);
      blocks.emplace_back(p, n);
    }
  }
  EXPECT_EQ(reinterpret_cast<uintptr_t>(blocks.back().first) % (2 << 20), 0u);
  for (size_t i = 0; i < blocks.size(); i++) {
    if (blocks[i].second) {
      EXPECT_EQ(static_cast<size_t>(blocks[i].first[0]), i % 3 + 1);
    }
    release({}, blocks[i].first, blocks[i].second);
  }
}

#if !defined(__SANITIZE_ADDRESS__)
TEST(Allocator, FreedBlocksAreUsedAgain) {
  for (size_t n : {100, 100000, 8 << 20}) {
    std::byte* first = allocate({}, n);
    release({}, first, n);
    std::byte* second = allocate({}, n);
    EXPECT_EQ(first, second);
    release({}, second, n);
  }
  EXPECT_GT(memory_stats({}).cached, size_t{8} << 20);
  release_cached({});
  EXPECT_LT(memory_stats({}).cached, size_t{8} << 20);
}

TEST(Allocator, BlocksTravelBetweenThreads) {
  std::vector<std::byte*> blocks;
  std::thread([&] {
    for (int i = 0; i < 1000; i++) blocks.push_back(allocate({}, 512));
  }).join();
  size_t before = memory_stats({}).cached;
  for (std::byte* p : blocks) release({}, p, 512);
  std::thread([&] {
    for (auto& p : blocks) p = allocate({}, 512);
    for (auto& p : blocks) release({}, p, 512);
  }).join();
  EXPECT_GE(memory_stats({}).cached, before + 500 * 512);
}
#endif

TEST(Allocator, CountsWhatIsInUse) {
  MemoryStats before = memory_stats({});
  std::byte* p = allocate({}, 10 << 20);
  EXPECT_EQ(memory_stats({}).allocated, before.allocated + (10 << 20));
  reset_peak({});
  release({}, p, 10 << 20);
  EXPECT_EQ(memory_stats({}).allocated, before.allocated);
  EXPECT_GE(memory_stats({}).peak, size_t{10} << 20);
  reset_peak({});
  EXPECT_LT(memory_stats({}).peak, before.allocated + (10 << 20));
}

TEST(Allocator, TheLimitIsKeptAndTheErrorNamesTheSizes) {
  release_cached({});
  FlagScope limit(Flag::max_memory, "64M");
  std::byte* p = allocate({}, 40 << 20);
  try {
    allocate({}, 32 << 20);
    FAIL();
  } catch (const MemoryError& e) {
    EXPECT_NE(std::string(e.what()).find("32.0 MiB"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("at most 64.0 MiB"), std::string::npos);
  }
  release({}, p, 40 << 20);
  std::byte* q = allocate({}, 48 << 20);  // the cached 40 MiB are given up for it
  release({}, q, 48 << 20);
}

TEST(Allocator, AbsurdSizesAreErrors) {
  EXPECT_THROW(allocate({}, size_t{1} << 62), MemoryError);
  EXPECT_THROW(allocate({}, size_t{1} << 50), MemoryError);
}

TEST(Allocator, SurvivesAFork) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the address sanitizer of g++ 12 may hold its own locks over a fork";
#endif
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    while (!stop) release({}, allocate({}, 200000), 200000);
  });
  for (int i = 0; i < 20; i++) {
    pid_t child = fork();
    if (child == 0) {
      alarm(20);
      for (int k = 0; k < 100; k++) release({}, allocate({}, 200000), 200000);
      _exit(0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    if (status != 0) break;
  }
  stop = true;
  busy.join();
}

}  // namespace
}  // namespace lathe
