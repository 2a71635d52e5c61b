// The caching allocator.
//
// A request is rounded up to its size class. Classes up to 64 KiB of host memory come from the
// calling thread's own lists (no lock, no atomic operation); everything else, and what those lists
// run out of, from the cache of the device, which is one mutex and one list a class. Only what
// neither has is asked of the DeviceApi. A thread gives its lists back when it ends.
//
//   allocate -> ThreadCache -> DeviceCache -> DeviceApi (system)
//
// Blocks carry no header, so any free block of a class is as good as another, and a copy of this
// code in a plug-in may free what another allocated. Under the address sanitizer nothing is cached:
// a use after the release must be seen.
#include "core/tensor/allocator.h"

#include <absl/strings/str_format.h>
#include <absl/types/span.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <mutex>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/flags.h"
#include "core/base/fork.h"

namespace lathe {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kCaching = false;
#else
constexpr bool kCaching = true;
#endif

constexpr size_t kSmall = size_t{64} << 10;
constexpr int kSmallClasses = 36;
constexpr int kClasses = 224;
constexpr size_t kMostBytes = size_t{1} << 61;
constexpr int64_t kUnpublished = int64_t{64} << 10;

struct SizeClass {
  int index;
  size_t bytes;
};
// 64, 128, 192, 256, then four steps a doubling.
inline SizeClass size_class(size_t bytes) {
  if (bytes <= 256) [[likely]] {
    size_t steps = (bytes + 63 + (bytes == 0)) / 64;
    return {static_cast<int>(steps) - 1, steps * 64};
  }
  size_t last = bytes - 1;
  int log = static_cast<int>(std::bit_width(last)) - 1;
  size_t sub = (last >> (log - 2)) & 3;
  return {4 + (log - 8) * 4 + static_cast<int>(sub), (5 + sub) << (log - 2)};
}

constexpr size_t bytes_of_class(int c) {
  if (c < 4) return static_cast<size_t>(c + 1) * 64;
  return static_cast<size_t>(5 + (c - 4) % 4) << ((c - 4) / 4 + 6);
}

struct FreeBlock {
  FreeBlock* next;
};

struct DeviceCache {
  ForkSafeMutex mutex;
  std::array<std::vector<std::byte*>, kClasses> free;
  /// When blocks of a class last came back, counted in such times.
  std::array<uint64_t, kClasses> came_back{};
  uint64_t times = 0;
  size_t cached = 0;  // bytes in `free`
  size_t system = 0;  // bytes held from the DeviceApi
  std::atomic<int64_t> allocated{0};
  std::atomic<int64_t> peak{0};

  void account(int64_t change) {
    int64_t now = allocated.fetch_add(change, std::memory_order_relaxed) + change;
    int64_t before = peak.load(std::memory_order_relaxed);
    while (now > before && !peak.compare_exchange_weak(before, now, std::memory_order_relaxed)) {
    }
  }
};

DeviceCache& cache_of(Device device) {
  static constinit std::array<std::array<std::atomic<DeviceCache*>, 16>, 3> caches{};
  auto& slot = caches[static_cast<size_t>(device.kind)][device.index & 15];
  DeviceCache* cache = slot.load(std::memory_order_acquire);
  if (!cache) [[unlikely]] {
    auto* made = new DeviceCache;  // never destroyed
    if (slot.compare_exchange_strong(cache, made, std::memory_order_acq_rel))
      cache = made;
    else
      delete made;
  }
  return *cache;
}

// Written by its thread only; other threads read the counters for statistics.
struct ThreadCache {
  std::array<FreeBlock*, kSmallClasses> heads{};
  std::array<std::atomic<uint32_t>, kSmallClasses> counts{};
  std::atomic<int64_t> unpublished{0};  // change of `allocated` not yet added to the device's
  ThreadCache* next = nullptr;
  ThreadCache* previous = nullptr;

  void account(int64_t change) {
    int64_t sum = unpublished.load(std::memory_order_relaxed) + change;
    if (sum > kUnpublished || sum < -kUnpublished) [[unlikely]] {
      cache_of({}).account(sum);
      sum = 0;
    }
    unpublished.store(sum, std::memory_order_relaxed);
  }
  std::byte* pop(int c) {
    FreeBlock* block = heads[c];
    if (!block) return nullptr;
    heads[c] = block->next;
    counts[c].store(counts[c].load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
    return reinterpret_cast<std::byte*>(block);
  }
  uint32_t push(int c, std::byte* data) {
    heads[c] = new (data) FreeBlock{heads[c]};
    uint32_t count = counts[c].load(std::memory_order_relaxed) + 1;
    counts[c].store(count, std::memory_order_relaxed);
    return count;
  }
};

// Blocks of each class that a thread keeps: 64 KiB worth. A table, because dividing costs more than
// the rest of a release.
constexpr auto most_kept = [] {
  std::array<uint32_t, kSmallClasses> kept{};
  for (int c = 0; c < kSmallClasses; c++)
    kept[c] = std::max(uint32_t{2}, static_cast<uint32_t>(kSmall / bytes_of_class(c)));
  return kept;
}();

constinit ForkSafeMutex threads_mutex;
constinit ThreadCache* threads = nullptr;

// initial-exec: one instruction instead of a call, also inside a shared object.
constinit thread_local ThreadCache* mine __attribute__((tls_model("initial-exec"))) = nullptr;

void to_system(Device device, size_t bytes, absl::Span<std::byte* const> blocks) {
  DeviceApi& api = device_api(device);
  for (std::byte* data : blocks) api.release(data, bytes);
  DeviceCache& cache = cache_of(device);
  std::lock_guard hold(cache.mutex);
  cache.system -= bytes * blocks.size();
}

struct Stale {
  size_t bytes;
  std::vector<std::byte*> blocks;
};
// Takes blocks out of the cache, so that `wanted` bytes of class c find room: those of sizes of
// which none came back since the last one of c did, the longest unused first. What comes back in
// turns is not such, however much it is, so that a cache that is too small keeps a part of it.
std::vector<Stale> take_stale(DeviceCache& cache, int c, size_t wanted, size_t limit) {
  std::vector<Stale> taken;
  while (wanted <= limit && cache.cached > limit - wanted) {
    int oldest = c;
    for (int d = 0; d < kClasses; d++)
      if (!cache.free[d].empty() && cache.came_back[d] < cache.came_back[oldest]) oldest = d;
    if (oldest == c) break;
    auto& free = cache.free[oldest];
    const size_t bytes = bytes_of_class(oldest), over = cache.cached - (limit - wanted);
    const size_t count = std::min(free.size(), (over + bytes - 1) / bytes);
    const auto first = free.end() - static_cast<ptrdiff_t>(count);
    taken.push_back({bytes, {first, free.end()}});
    free.erase(first, free.end());
    cache.cached -= count * bytes;
  }
  return taken;
}

// Into the device's cache as far as its limit allows, the rest back to the system.
void give_back(Device device, int c, size_t bytes, absl::Span<std::byte* const> blocks) {
  DeviceCache& cache = cache_of(device);
  auto limit = static_cast<size_t>(flag_count(Flag::memory_cache));
  size_t kept = 0;
  std::vector<Stale> stale;
  {
    std::lock_guard hold(cache.mutex);
    if (kCaching) stale = take_stale(cache, c, bytes * blocks.size(), limit);
    cache.came_back[c] = ++cache.times;
    if (kCaching && cache.cached < limit)
      kept = std::min(blocks.size(), (limit - cache.cached) / bytes);
    cache.free[c].insert(cache.free[c].end(), blocks.begin(), blocks.begin() + kept);
    cache.cached += kept * bytes;
  }
  for (const Stale& s : stale) to_system(device, s.bytes, s.blocks);
  if (kept < blocks.size()) to_system(device, bytes, blocks.subspan(kept));
}

void flush(ThreadCache& t, int c, size_t bytes, uint32_t keep) {
  std::vector<std::byte*> blocks;
  while (t.counts[c].load(std::memory_order_relaxed) > keep) blocks.push_back(t.pop(c));
  if (!blocks.empty()) give_back({}, c, bytes, blocks);
}

void flush_all(ThreadCache& t) {
  for (int c = 0; c < kSmallClasses; c++) flush(t, c, bytes_of_class(c), 0);
  cache_of({}).account(t.unpublished.exchange(0, std::memory_order_relaxed));
}

// Its destructor runs when the thread ends; after that the thread does without lists of its own.
struct ThreadEnd {
  bool ended = false;
  ~ThreadEnd() {
    ended = true;
    ThreadCache* t = std::exchange(mine, nullptr);
    if (!t) return;
    {
      std::lock_guard hold(threads_mutex);
      (t->previous ? t->previous->next : threads) = t->next;
      if (t->next) t->next->previous = t->previous;
    }
    flush_all(*t);
    delete t;
  }
};

ThreadCache* make_thread_cache() {
  static thread_local ThreadEnd end;
  if (end.ended || !kCaching) return nullptr;
  auto* t = new ThreadCache;
  std::lock_guard hold(threads_mutex);
  t->next = threads;
  if (threads) threads->previous = t;
  threads = t;
  return mine = t;
}

std::string bytes_text(size_t bytes) {
  const char* units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  int unit = 0;
  auto value = static_cast<double>(bytes);
  for (; value >= 1024 && unit < 6; unit++) value /= 1024;
  return unit == 0 ? absl::StrFormat("%d bytes", bytes)
                   : absl::StrFormat("%.1f %s", value, units[unit]);
}

[[noreturn]] void no_memory(Device device, size_t asked) {
  MemoryStats stats = memory_stats(device);
  auto limit = static_cast<size_t>(flag_count(Flag::max_memory));
  std::string got = absl::StrFormat("a request for %s, with %s in use", bytes_text(asked),
                                    bytes_text(stats.allocated));
  std::string expected, next = "free tensors, or make the batch smaller";
  if (limit != 0) {
    expected = absl::StrFormat("at most %s in all (flag max_memory)", bytes_text(limit));
    next += ", or raise max_memory";
  }
  throw MemoryError({.problem = absl::StrFormat("out of memory on %s", to_string(device)),
                     .got = std::move(got),
                     .expected = std::move(expected),
                     .next = std::move(next)});
}

std::byte* from_system(Device device, size_t bytes, size_t asked) {
  DeviceCache& cache = cache_of(device);
  DeviceApi& api = device_api(device);
  for (int attempt = 0; attempt < 2; attempt++) {
    if (attempt == 1) release_cached(device);
    auto limit = static_cast<size_t>(flag_count(Flag::max_memory));
    {
      std::lock_guard hold(cache.mutex);
      if (limit != 0 && cache.system + bytes > limit) continue;
      cache.system += bytes;
    }
    try {
      return api.allocate(bytes);
    } catch (const MemoryError&) {
      std::lock_guard hold(cache.mutex);
      cache.system -= bytes;
    }
  }
  no_memory(device, asked);
}

std::byte* from_cache(DeviceCache& cache, int c, size_t bytes) {
  std::lock_guard hold(cache.mutex);
  if (cache.free[c].empty()) return nullptr;
  std::byte* data = cache.free[c].back();
  cache.free[c].pop_back();
  cache.cached -= bytes;
  return data;
}

// The thread's list is empty: half of what it may keep is fetched at once.
std::byte* refill(ThreadCache& t, SizeClass k, size_t asked) {
  DeviceCache& cache = cache_of({});
  std::byte* data = nullptr;
  {
    std::lock_guard hold(cache.mutex);
    auto& free = cache.free[k.index];
    size_t batch = std::min<size_t>(free.size(), most_kept[k.index] / 2);
    for (size_t i = 0; i < batch; i++) {
      if (data) t.push(k.index, data);
      data = free.back();
      free.pop_back();
    }
    cache.cached -= batch * k.bytes;
  }
  return data ? data : from_system({}, k.bytes, asked);
}

std::byte* allocate_shared(Device device, size_t bytes) {
  if (bytes > kMostBytes) no_memory(device, bytes);
  SizeClass k = size_class(bytes);
  DeviceCache& cache = cache_of(device);
  std::byte* data = from_cache(cache, k.index, k.bytes);
  if (!data) data = from_system(device, k.bytes, bytes);
  cache.account(static_cast<int64_t>(k.bytes));
  return data;
}

std::byte* allocate_small_slow(size_t bytes) {
  ThreadCache* t = mine ? mine : make_thread_cache();
  if (!t) return allocate_shared({}, bytes);
  SizeClass k = size_class(bytes);
  std::byte* data = refill(*t, k, bytes);
  t->account(static_cast<int64_t>(k.bytes));
  return data;
}

}  // namespace

size_t size_class_bytes(size_t bytes) { return size_class(bytes).bytes; }

std::byte* allocate(Device device, size_t bytes) {
  if (bytes > kSmall || device.kind != DeviceKind::cpu) return allocate_shared(device, bytes);
  if (ThreadCache* t = mine) [[likely]] {
    SizeClass k = size_class(bytes);
    if (std::byte* data = t->pop(k.index)) [[likely]] {
      t->account(static_cast<int64_t>(k.bytes));
      return data;
    }
  }
  return allocate_small_slow(bytes);
}

void release(Device device, std::byte* data, size_t bytes) noexcept {
  SizeClass k = size_class(bytes);
  ThreadCache* t = nullptr;
  if (bytes <= kSmall && device.kind == DeviceKind::cpu) t = mine ? mine : make_thread_cache();
  if (t) [[likely]] {
    t->account(-static_cast<int64_t>(k.bytes));
    if (t->push(k.index, data) <= most_kept[k.index]) [[likely]]
      return;
  } else {
    cache_of(device).account(-static_cast<int64_t>(k.bytes));
  }
  try {
    if (t)
      flush(*t, k.index, k.bytes, most_kept[k.index] / 2);
    else
      give_back(device, k.index, k.bytes, {&data, 1});
  } catch (...) {
    // No memory for the list of free blocks: the block stays where it is, which is no harm.
  }
}

MemoryStats memory_stats(Device device) {
  DeviceCache& cache = cache_of(device);
  int64_t allocated = cache.allocated.load(std::memory_order_relaxed);
  size_t cached = 0;
  if (device.kind == DeviceKind::cpu) {
    std::lock_guard hold(threads_mutex);
    for (ThreadCache* t = threads; t; t = t->next) {
      allocated += t->unpublished.load(std::memory_order_relaxed);
      for (int c = 0; c < kSmallClasses; c++)
        cached += t->counts[c].load(std::memory_order_relaxed) * bytes_of_class(c);
    }
  }
  std::lock_guard hold(cache.mutex);
  int64_t peak = std::max(cache.peak.load(std::memory_order_relaxed), allocated);
  return {.allocated = static_cast<size_t>(std::max<int64_t>(allocated, 0)),
          .cached = cached + cache.cached,
          .peak = static_cast<size_t>(std::max<int64_t>(peak, 0))};
}

void reset_peak(Device device) {
  DeviceCache& cache = cache_of(device);
  cache.peak.store(cache.allocated.load(std::memory_order_relaxed), std::memory_order_relaxed);
}

void release_cached(Device device) {
  DeviceCache& cache = cache_of(device);
  if (device.kind == DeviceKind::cpu && mine) flush_all(*mine);
  for (int c = 0; c < kClasses; c++) {
    std::vector<std::byte*> blocks;
    {
      std::lock_guard hold(cache.mutex);
      blocks.swap(cache.free[c]);
      cache.cached -= blocks.size() * bytes_of_class(c);
    }
    if (!blocks.empty()) to_system(device, bytes_of_class(c), blocks);
  }
}

}  // namespace lathe
