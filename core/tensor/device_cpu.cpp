// The cpu: host memory, and streams that run work at once on the caller. Threads come from
// kernels/pool, below an op, never from a stream.
#include <absl/strings/str_cat.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "core/base/error.h"
#include "core/tensor/device.h"

namespace lathe {
namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kPage = 4096;
constexpr size_t kHugePage = size_t{2} << 20;

size_t round_up(size_t bytes, size_t to) { return (bytes + to - 1) / to * to; }

[[noreturn]] void no_memory(size_t bytes) {
  throw MemoryError({.problem = "the system has no more memory",
                     .got = absl::StrCat("a request for ", bytes, " bytes")});
}

// A huge page saves 512 faults, but the kernel gives one only where address and length fit. So the
// mapping is made one page too long and its ends are cut off again.
std::byte* map_huge(size_t bytes) {
  size_t length = round_up(bytes, kPage);
  size_t reserved = length + kHugePage;
  if (reserved < bytes) no_memory(bytes);
  void* start = mmap(nullptr, reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED) no_memory(bytes);
  auto begin = reinterpret_cast<uintptr_t>(start);
  uintptr_t aligned = round_up(begin, kHugePage);
  if (aligned > begin) munmap(start, aligned - begin);
  uintptr_t tail = begin + reserved - (aligned + length);
  if (tail > 0) munmap(reinterpret_cast<void*>(aligned + length), tail);
  auto* data = reinterpret_cast<std::byte*>(aligned);
  madvise(data, length, MADV_HUGEPAGE);  // only a hint: where it is refused, small pages serve
  return data;
}

class CpuStream final : public Stream {
 public:
  Device device() const override { return {}; }
  void enqueue(std::function<void()> work) override { work(); }
  void copy(std::byte* to, const std::byte* from, size_t bytes) override {
    if (bytes > 0) std::memmove(to, from, bytes);
  }
  Event record() override { return nullptr; }
  void wait(const Event& event) override { host_wait(event); }
  void synchronize() override {}
};

class CpuDevice final : public DeviceApi {
 public:
  std::byte* allocate(size_t bytes) override {
    if (bytes >= kHugePage) return map_huge(bytes);
    size_t rounded = round_up(bytes ? bytes : 1, kAlignment);
    void* data = std::aligned_alloc(kAlignment, rounded);
    if (!data) no_memory(bytes);
    return static_cast<std::byte*>(data);
  }
  void release(std::byte* data, size_t bytes) override {
    if (bytes >= kHugePage)
      munmap(data, round_up(bytes, kPage));
    else
      std::free(data);
  }
  std::unique_ptr<Stream> make_stream() override { return std::make_unique<CpuStream>(); }
  DeviceFacts facts() const override {
    auto pages = static_cast<size_t>(sysconf(_SC_PHYS_PAGES));
    auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    return {.name = "cpu", .memory_bytes = pages * page, .host_readable = true};
  }
};

}  // namespace

std::unique_ptr<DeviceApi> make_cpu_device() { return std::make_unique<CpuDevice>(); }

}  // namespace lathe
