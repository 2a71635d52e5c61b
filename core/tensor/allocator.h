// The caching allocator: fresh memory from the system costs more than most ops, so every block is
// kept and handed out again. One cache a device, and before it one small cache a thread for host
// memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/tensor/device.h"

namespace lathe {

/// At least `bytes` bytes, 64-byte aligned, uninitialised; 0 is valid and gives an address of its
/// own. MemoryError if the system has no more, or `max_memory` would be exceeded, even after the
/// cache was returned to the system.
std::byte* allocate(Device device, size_t bytes);
/// `bytes` as given to allocate. Any thread. Work still queued that uses the memory must hold it
/// alive.
void release(Device device, std::byte* data, size_t bytes) noexcept;

/// Host memory for the small objects of the eager path (Storage, TensorImpl, tape nodes).
inline void* allocate_object(size_t bytes) { return allocate(Device{}, bytes); }
inline void release_object(void* object, size_t bytes) noexcept {
  release(Device{}, static_cast<std::byte*>(object), bytes);
}

/// Bytes, in sizes as handed out (rounded up to their size class). `peak` may miss up to 64 KiB a
/// thread.
struct MemoryStats {
  size_t allocated = 0;  // in use now
  size_t cached = 0;     // kept for the next request, thread caches included
  size_t peak = 0;       // most ever in use
};
MemoryStats memory_stats(Device device);
void reset_peak(Device device);
/// Returns what is cached to the system, except what other threads keep (at most 2 MiB each).
void release_cached(Device device);

/// What a request of this size is rounded up to: a power of two, or 1.25, 1.5 or 1.75 times one.
size_t size_class_bytes(size_t bytes);

}  // namespace lathe
