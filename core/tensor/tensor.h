// Tensor: the handle users hold; TensorImpl: what it points to; Storage: the bytes, shared by
// views.
//
// A tensor is concrete (it has a storage) or symbolic (made under a trace: type and shape, never
// data). Everything that needs data says so by asking for it, and a symbolic tensor refuses with
// the user's line; so nothing can be baked into a trace by accident.
#pragma once

#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/site.h"
#include "core/scalar/dtype.h"
#include "core/sizes/int.h"
#include "core/tensor/allocator.h"
#include "core/tensor/device.h"

namespace lathe {

/// Where the elements lie: element (i0, i1, ...) is at offset + sum(i_k * strides[k]), in elements.
struct Geometry {
  Shape shape;
  Strides strides;
  Int offset = 0;

  static Geometry contiguous(Shape shape);
  int rank() const { return static_cast<int>(shape.size()); }
  bool is_contiguous() const;  // row-major without gaps (sizes of 1 and empty tensors are lenient)
  /// The same without a look at whether there are elements at all: a question that a trace answers
  /// as eager does, for any size.
  bool is_row_major() const;

  // The view algebra. Each takes already normalised arguments and cannot fail on them.
  Geometry slice(int axis, Int start, Int length, Int step) const;
  Geometry permute(absl::Span<const int> order) const;
  Geometry expand(IntSpan shape) const;  // leading axes may be new
  Geometry unsqueeze(int axis) const;
  Geometry squeeze(int axis) const;
  /// The same elements in row-major order under another shape, without a copy; false if impossible.
  bool reshape(IntSpan shape, Geometry& out) const;
};

struct Storage {
  std::atomic<uint32_t> refs{1};
  uint32_t version = 0;  // counts writes
  Site writer;           // who wrote last
  Device device;
  bool cached = false;  // data is a block of its own from the caching allocator
  std::byte* data = nullptr;
  size_t bytes = 0;
  Event ready;  // work that must be done before another stream or the host reads
  /// Somebody has: the user's line is remembered.
  void written() {
    ++version;
    writer = here();
  }
  /// Does it have an address in common with the other?
  bool meets(const Storage& o) const { return data < o.data + o.bytes && o.data < data + bytes; }
  std::function<void(Storage&)> release;  // foreign memory: how to give it back; empty: not ours to

  static void* operator new(size_t bytes) { return allocate_object(bytes); }
  static void operator delete(void* p, size_t bytes) { release_object(p, bytes); }
};

class StorageRef {
 public:
  StorageRef() = default;
  explicit StorageRef(Storage* adopted) : p_(adopted) {}
  StorageRef(const StorageRef& o) : p_(o.p_) {
    if (p_) p_->refs.fetch_add(1, std::memory_order_relaxed);
  }
  StorageRef(StorageRef&& o) noexcept : p_(std::exchange(o.p_, nullptr)) {}
  StorageRef& operator=(StorageRef o) noexcept {
    std::swap(p_, o.p_);
    return *this;
  }
  ~StorageRef() {
    if (p_) drop();
  }
  Storage* operator->() const { return p_; }
  Storage& operator*() const { return *p_; }
  Storage* get() const { return p_; }
  explicit operator bool() const { return p_ != nullptr; }

 private:
  void drop();
  Storage* p_ = nullptr;
};
/// Uninitialised bytes from the device's caching allocator. MemoryError says how much was asked
/// for.
StorageRef new_storage(Device device, size_t bytes);
/// Do the bytes come from there, and so end with the storage?
bool owns_memory(const Storage& storage);

struct TensorImpl;

/// The engine's side of a tensor; autodiff/ derives from it. Held by shared_ptr from TensorImpl.
struct AutogradMeta {
  virtual ~AutogradMeta() = default;
  virtual bool leaf() const = 0;  // asked for by the user, rather than computed
};

class Tensor {
 public:
  Tensor() = default;  // None
  explicit Tensor(TensorImpl* adopted) : p_(adopted) {}
  static Tensor borrow(TensorImpl* p);
  inline Tensor(const Tensor& o);
  Tensor(Tensor&& o) noexcept : p_(std::exchange(o.p_, nullptr)) {}
  Tensor& operator=(Tensor o) noexcept {
    std::swap(p_, o.p_);
    return *this;
  }
  ~Tensor() {
    if (p_) drop();
  }

  bool defined() const { return p_ != nullptr; }
  explicit operator bool() const = delete;  // ambiguous: say defined(), or ask the data by item()
  TensorImpl* impl() const { return p_; }
  TensorImpl* release() { return std::exchange(p_, nullptr); }

  DType dtype() const;
  int rank() const;
  Int size(int axis) const;  // negative axes count from the end; IndexError out of range
  const Shape& shape() const;
  Int numel() const { return lathe::numel(shape()); }
  Device device() const;

  bool symbolic() const;
  /// Strides and offset. For a symbolic tensor these are symbolic too.
  const Geometry& geometry() const;
  /// First element, once all work that writes it is done. Symbolic: TraceError at the user's line.
  const std::byte* data() const;
  std::byte* mutable_data() const;
  /// The same place, without waiting and for work enqueued on the tensor's own device: host code
  /// must not dereference it. TraceError if symbolic.
  std::byte* address() const;
  /// The only element, converted. ValueError unless numel() == 1; symbolic: TraceError.
  double item_double() const;
  int64_t item_int() const;
  uint64_t item_bits() const;
  /// The only element as it is stored, in `room` for 16 bytes.
  void item_bytes(std::byte* room) const;

  bool requires_grad()
      const;  // this tensor takes part in autodiff: a leaf asked for, or has history
  uint32_t version() const;

  friend bool same(const Tensor& a, const Tensor& b) { return a.p_ == b.p_; }

 private:
  void drop();
  TensorImpl* p_ = nullptr;
};

/// A view remembers what it is a view of and how, so that a write through it reaches every other
/// view (by putting the value back along the path) in eager history, traces and scripts alike.
struct ViewPath;  // core/dispatch/view_path.h
struct ViewOf {
  Tensor base;  // never itself a view
  std::shared_ptr<const ViewPath> path;
  uint32_t version;  // the base's TensorImpl::version this view is right for
};

/// What a trace or a vmap knows of a tensor: which of them, and which value it stands for. Zero
/// epoch: concrete.
struct Symbol {
  uint64_t epoch = 0;
  uint32_t value = 0;   // of a trace
  Tensor batched = {};  // of a vmap: all its examples, along axis 0
};
/// A number that no other trace or vmap has.
uint64_t new_epoch();

struct TensorImpl {
  std::atomic<uint32_t> refs{1};
  DType dtype = DType::f32;
  Device device;
  bool requires_grad = false;
  bool refuses_writes = false;  // a copy that users take for a view: a write would be lost
  uint32_t version = 0;  // counts changes of history by writes; views compare their base's (ViewOf)
  uint32_t renewed = 0;  // the version at which it was given other memory: older views keep theirs
  Geometry geometry;
  StorageRef storage;  // empty iff symbolic
  Symbol symbol;
  std::shared_ptr<AutogradMeta> autograd;
  std::unique_ptr<ViewOf> view;

  TensorImpl();
  ~TensorImpl();
  TensorImpl(const TensorImpl&) = delete;
  static void* operator new(size_t bytes) { return allocate_object(bytes); }
  static void operator delete(void* p, size_t bytes) { release_object(p, bytes); }
};

inline Tensor::Tensor(const Tensor& o) : p_(o.p_) {
  if (p_) p_->refs.fetch_add(1, std::memory_order_relaxed);
}

struct TensorType {
  DType dtype = DType::f32;
  Shape shape;
  Device device;

  TensorType with(DType d) const { return {d, shape, device}; }
  TensorType with_size(int axis, Int size) const;
};
using Types = absl::InlinedVector<TensorType, 2>;
using Tensors = absl::InlinedVector<Tensor, 2>;
using Outputs = Tensors;
TensorType type_of(const Tensor& t);
std::string to_string(const TensorType& type);  // "f32[2, s0]"

/// Fresh, contiguous, uninitialised.
Tensor empty(const TensorType& type);
/// A tensor over somebody else's storage.
Tensor make_tensor(StorageRef storage, DType dtype, Geometry geometry);
/// A contiguous tensor holding `count` elements copied from host memory.
Tensor from_host(const void* data, DType dtype, IntSpan shape, Device device = {});
/// A 0-d tensor.
Tensor scalar_tensor(double value, DType dtype, Device device = {});
Tensor scalar_tensor(int64_t value, DType dtype, Device device = {});

inline Tensor scalar_tensor(int value, DType dtype, Device device = {}) {
  return scalar_tensor(int64_t{value}, dtype, device);
}

/// `may_share_memory` of two tensors whose storages meet.
bool elements_may_meet(const TensorImpl& a, const TensorImpl& b);
/// May an element of one lie at the address of an element of the other? Compares the ranges of
/// addresses from first to last element, whatever storage they are reached by: NumPy's slices and
/// DLPack's tensors over one buffer come with a storage each. No: one has no elements, no data
/// (symbolic tensors), or they are on different devices.
inline bool may_share_memory(const TensorImpl& a, const TensorImpl& b) {
  return a.storage && b.storage && a.storage->meets(*b.storage) && elements_may_meet(a, b);
}
inline bool may_share_memory(const Tensor& a, const Tensor& b) {
  return may_share_memory(*a.impl(), *b.impl());
}

/// Normalises an axis: [-rank, rank) → [0, rank). A 0-d tensor counts as having one axis: 0 or -1
/// give 0. IndexError names `op`.
int normalise_axis(std::string_view op, int64_t axis, int rank);
/// The same for who goes on to ask for that axis' size: a 0-d tensor has none, so any is an error.
int size_axis(std::string_view op, int64_t axis, int rank);

}  // namespace lathe
