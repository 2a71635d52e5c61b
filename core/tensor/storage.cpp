#include <new>

#include "core/tensor/tensor.h"

namespace lathe {
namespace {

// A small host storage and its bytes are one block: one allocation instead of two.
constexpr size_t kHeader = (sizeof(Storage) + 63) / 64 * 64;
constexpr size_t kMostInline = 4096 - kHeader;

std::byte* inline_bytes(Storage* s) { return reinterpret_cast<std::byte*>(s) + kHeader; }

}  // namespace

StorageRef new_storage(Device device, size_t bytes) {
  if (device.kind == DeviceKind::cpu && bytes <= kMostInline) {
    auto* s = ::new (allocate(device, kHeader + bytes)) Storage;
    s->data = inline_bytes(s);
    s->bytes = bytes;
    return StorageRef(s);
  }
  std::byte* data = allocate(device, bytes);
  Storage* s;
  try {
    s = new Storage;
  } catch (...) {
    release(device, data, bytes);
    throw;
  }
  s->device = device;
  s->cached = true;
  s->data = data;
  s->bytes = bytes;
  return StorageRef(s);
}

bool owns_memory(const Storage& storage) {
  return storage.cached || storage.data == inline_bytes(const_cast<Storage*>(&storage));
}

void StorageRef::drop() {
  // The last holder needs no atomic subtraction: nobody else can copy what only it holds.
  if (p_->refs.load(std::memory_order_acquire) != 1 &&
      p_->refs.fetch_sub(1, std::memory_order_acq_rel) != 1)
    return;
  Storage* s = p_;
  if (s->release) {
    try {
      s->release(*s);
    } catch (...) {
      // Nobody is left to be told; the owner of foreign memory deals with its own failures.
    }
  }
  if (s->data == inline_bytes(s)) {
    size_t bytes = kHeader + s->bytes;
    Device device = s->device;
    s->~Storage();
    release(device, reinterpret_cast<std::byte*>(s), bytes);
    return;
  }
  if (s->cached) release(s->device, s->data, s->bytes);
  delete s;
}

}  // namespace lathe
