// Memory that nothing but its owner may read.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>

namespace lathe::testing {

/// Memory whose last byte is the last of a page, with nothing readable after it or before its page.
class GuardedBytes {
 public:
  explicit GuardedBytes(size_t bytes) {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t body = (bytes + page - 1) / page * page;
    size_ = body + 2 * page;
    base_ = static_cast<std::byte*>(
        mmap(nullptr, size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (body > 0) mprotect(base_ + page, body, PROT_READ | PROT_WRITE);
    data_ = base_ + page + body - bytes;
  }
  ~GuardedBytes() { munmap(base_, size_); }
  GuardedBytes(const GuardedBytes&) = delete;
  GuardedBytes& operator=(const GuardedBytes&) = delete;
  std::byte* data() const { return data_; }

 private:
  std::byte* base_;
  std::byte* data_;
  size_t size_;
};

}  // namespace lathe::testing
