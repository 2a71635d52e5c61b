#include "jit/program/held_packed.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <numeric>

#include "kernels/runtime/scratch.h"

namespace lathe::jit {
namespace {

constexpr size_t kLeast = size_t{64} << 10;  // bytes

PackedRef form_of(const PreparedCall& call, size_t operand, const std::byte* data) {
  return call.entry->pack(*call.entry, *call.plan, static_cast<int>(operand), data, nullptr);
}

/// Which element of the plain operand a line and term is says packing the numbers of the elements.
template <class T>
void unpack(const PreparedCall& call, size_t operand, const Packed& form, std::byte* data,
            size_t bytes) {
  const Scratch numbers(bytes);
  std::iota(numbers.as<T>(), numbers.as<T>() + bytes / sizeof(T), T{0});
  const PackedRef numbered = form_of(call, operand, numbers.data());
  const Packed::Layout from = form.layout(), which = numbered->layout();
  const auto* number = reinterpret_cast<const T*>(which.elements);
  const auto* element = reinterpret_cast<const T*>(from.elements);
  T* to = reinterpret_cast<T*>(data);
  for (int64_t line = 0; line < from.lines; ++line)
    for (int64_t term = 0; term < from.depth; ++term)
      to[number[which.place(line, term)]] = element[from.place(line, term)];
}

/// Reached once the plain elements are where the storage says.
class Held final : public EventState {
 public:
  Held(StorageRef plain, std::byte* data, size_t size)
      : plain_(std::move(plain)), data_(data), bytes_(plain_->bytes), size_(size) {}
  bool reached() const override { return there_.load(std::memory_order_acquire); }
  void wait() override {
    const std::lock_guard hold(mutex_);
    make();
  }

  /// `keep`: in this form only, if it has one.
  PackedRef pack(const PreparedCall& call, size_t operand, bool keep) {
    const std::lock_guard hold(mutex_);
    if (!plain_) make();
    PackedRef made = form_of(call, operand, reached() ? data_ : plain_->data);
    if (made == nullptr || !keep) {
      make();
    } else if (!reached()) {
      form_ = made, call_ = call, operand_ = operand;
      plain_ = {};
    }
    return made;
  }

 private:
  void make() {
    if (reached()) return;
    if (plain_)
      std::memcpy(data_, plain_->data, bytes_);
    else if (size_ == sizeof(uint64_t))
      unpack<uint64_t>(call_, operand_, *form_, data_, bytes_);
    else
      unpack<uint32_t>(call_, operand_, *form_, data_, bytes_);
    plain_ = {};
    form_ = {}, call_ = {};
    there_.store(true, std::memory_order_release);
  }

  std::mutex mutex_;
  std::atomic<bool> there_{false};
  StorageRef plain_;
  PackedRef form_;  // where there is no plain_, and how it was packed
  PreparedCall call_;
  size_t operand_ = 0;
  std::byte* data_;
  size_t bytes_, size_;  // of all elements, and of one
};

/// Is it every element from the first on, each once?
bool shows_all(const lathe::Operand& seen, const Tensor& whole) {
  absl::InlinedVector<std::pair<int64_t, int64_t>, 6> axes;  // stride, extent
  for (size_t i = 0; i < seen.shape.size(); ++i)
    if (seen.shape[i] != 1) axes.emplace_back(seen.strides[i], seen.shape[i]);
  std::sort(axes.begin(), axes.end());
  int64_t next = 1;
  for (const auto& [stride, extent] : axes) {
    if (stride != next) return false;
    next *= extent;
  }
  return next == whole.numel().value() && seen.data == whole.impl()->storage->data;
}

}  // namespace

void hold(TensorImpl& t) {
  const Storage& from = *t.storage;
  const size_t size = size_of(t.dtype), bytes = from.bytes;
  const bool whole = t.geometry.is_contiguous() && t.geometry.offset == Int(0) &&
                     size * static_cast<size_t>(numel(t.geometry.shape).value()) == bytes;
  if (!whole || bytes < kLeast || bytes / size >= UINT32_MAX || from.ready ||
      (size != sizeof(uint32_t) && size != sizeof(uint64_t)) || is_complex(t.dtype) ||
      from.device.kind != DeviceKind::cpu || from.refs.load() != 1)
    return;
  // Addresses alone: memory stands behind those that are written to.
  void* room = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) return;
  StorageRef held(new Storage);
  held->data = static_cast<std::byte*>(room);
  held->bytes = bytes;
  held->release = [](Storage& s) { munmap(s.data, s.bytes); };
  held->ready = std::make_shared<Held>(t.storage, held->data, size);
  t.storage = std::move(held);
}

PackedRef packed_form(const PreparedCall& call, size_t operand, const Tensor& whole,
                      const lathe::Operand& seen, bool alone) {
  const Storage& storage = *whole.impl()->storage;
  auto* held = dynamic_cast<Held*>(storage.ready.get());
  if (held != nullptr && !held->reached() && shows_all(seen, whole))
    return held->pack(call, operand, alone);
  host_wait(storage.ready);
  return form_of(call, operand, seen.data);
}

}  // namespace lathe::jit
