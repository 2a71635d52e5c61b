// What the cache of free blocks keeps once it is full.
#include <gtest/gtest.h>

#include <vector>

#include "core/base/flags.h"
#include "core/tensor/allocator.h"

namespace lathe {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

void once(size_t bytes) { release(Device{}, allocate(Device{}, bytes), bytes); }
void all_at_once(size_t bytes, int count) {
  std::vector<std::byte*> blocks;
  for (int i = 0; i < count; ++i) blocks.push_back(allocate(Device{}, bytes));
  for (std::byte* data : blocks) release(Device{}, data, bytes);
}
size_t cached() { return memory_stats(Device{}).cached; }

class AllocatorCache : public ::testing::Test {
 protected:
  void SetUp() override {
#if defined(__SANITIZE_ADDRESS__)
    GTEST_SKIP() << "nothing is cached under AddressSanitizer";
#endif
    release_cached(Device{});
    small_ = cached();  // what threads keep
  }
  void TearDown() override { release_cached(Device{}); }
  const FlagScope limit_{Flag::memory_cache, "16M"};
  size_t small_ = 0;
};

TEST_F(AllocatorCache, SizesThatAreNoLongerAskedForMakeRoom) {
  all_at_once(2 * kMiB, 8);
  EXPECT_EQ(cached() - small_, 16 * kMiB);
  once(3 * kMiB);  // may be one of a kind
  EXPECT_EQ(cached() - small_, 16 * kMiB);
  once(3 * kMiB);  // is not: two blocks of the other size go
  EXPECT_EQ(cached() - small_, 15 * kMiB);
  once(3 * kMiB);
  EXPECT_EQ(cached() - small_, 15 * kMiB);
}

TEST_F(AllocatorCache, WhatComesBackInTurnsIsKeptAsFarAsItFits) {
  const size_t sizes[] = {4 * kMiB, 5 * kMiB, 6 * kMiB, 7 * kMiB};
  for (int round = 0; round < 3; ++round)
    for (size_t bytes : sizes) once(bytes);
  EXPECT_EQ(cached() - small_, 15 * kMiB) << "the first three stay, round for round";
}

TEST_F(AllocatorCache, WhatIsLargerThanTheCacheMovesNothing) {
  all_at_once(2 * kMiB, 4);
  for (int i = 0; i < 3; ++i) once(32 * kMiB);
  EXPECT_EQ(cached() - small_, 8 * kMiB);
}

}  // namespace
}  // namespace lathe
