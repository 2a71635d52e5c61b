#include "core/tensor/tensor.h"

#include <absl/strings/str_cat.h>

#include <cstring>

#include "core/base/error.h"
#include "core/scalar/element.h"

namespace lathe {
namespace {

[[noreturn]] void undefined() {
  throw ValueError({.problem = "there is no tensor here", .got = "None", .expected = "a tensor"});
}

TensorImpl& checked(TensorImpl* p) {
  if (!p) [[unlikely]]
    undefined();
  return *p;
}

[[noreturn]] void no_data(const char* asked, const TensorImpl& t) {
  if (t.symbol.batched.defined())
    throw UnsupportedError(
        {.op = asked,
         .problem = "inside vmap a tensor stands for all examples, whose data differ",
         .got = absl::StrCat("one example of type ",
                             to_string(TensorType{t.dtype, t.geometry.shape, t.device})),
         .expected = "ops on tensors, and questions about shape, dtype and device",
         .next = "to choose by data: y = lathe.where(condition, a, b)\n"
                 "else read the data outside of the function that is mapped"});
  throw TraceError(
      {.op = asked,
       .problem = "a trace sees types and sizes, never the data of a tensor",
       .got = absl::StrCat("a symbolic tensor ",
                           to_string(TensorType{t.dtype, t.geometry.shape, t.device})),
       .expected = "ops on tensors, and questions about shape, dtype and device",
       .next = "to choose by data:      y = lathe.where(condition, a, b)\n"
               "to branch or loop on it: in code that lathe.script reads, or outside of a capture\n"
               "to compute with it:      leave out item(), a tensor of one element is as good"});
}

std::byte* address_of(const TensorImpl& t) {
  return t.storage->data + t.geometry.offset.value() * static_cast<int64_t>(size_of(t.dtype));
}

std::byte* host_data(const char* asked, const TensorImpl& t) {
  if (!t.storage) [[unlikely]]
    no_data(asked, t);
  if (t.storage->device.kind != DeviceKind::cpu &&
      !device_api(t.storage->device).facts().host_readable) {
    throw DeviceError({.op = asked,
                       .problem = "host code cannot read this memory",
                       .got = to_string(TensorType{t.dtype, t.geometry.shape, t.device}),
                       .next = "copy it to the cpu first: x.to('cpu')"});
  }
  if (t.storage->ready) host_wait(t.storage->ready);
  return address_of(t);
}

// The only element, on the host, wherever the tensor lives.
struct Item {
  std::byte bytes[16];
  DType dtype;
};
Item fetch_item(const TensorImpl& t) {
  if (!t.storage) no_data("item", t);
  if (numel(t.geometry.shape).value() != 1) {
    throw ValueError({.op = "item",
                      .problem = "only a tensor of one element is a number",
                      .got = to_string(TensorType{t.dtype, t.geometry.shape, t.device}),
                      .expected = "one element",
                      .next = "index the element you want, or reduce the tensor first"});
  }
  Item item{{}, t.dtype};
  Device device = t.storage->device;
  if (device.kind == DeviceKind::cpu || device_api(device).facts().host_readable) {
    std::memcpy(item.bytes, host_data("item", t), size_of(t.dtype));
    return item;
  }
  Stream& stream = current_stream(device);
  stream.wait(t.storage->ready);
  stream.copy(item.bytes, address_of(t), size_of(t.dtype));
  stream.synchronize();
  return item;
}

void refuse_imaginary(const Item& item) {
  if (element_imaginary(item.dtype, item.bytes) == 0) return;
  throw ValueError(
      {.op = "item",
       .problem = "a complex number with an imaginary part is not a real one",
       .got = absl::StrCat("an imaginary part of ", element_imaginary(item.dtype, item.bytes)),
       .expected = "an imaginary part of 0",
       .next = "take real(x) or abs(x) first"});
}

}  // namespace

// ── the handle ──────────────────────────────────────────────────────────────────────────────────

Tensor Tensor::borrow(TensorImpl* p) {
  if (p) p->refs.fetch_add(1, std::memory_order_relaxed);
  return Tensor(p);
}

void Tensor::drop() {
  if (p_->refs.load(std::memory_order_acquire) != 1 &&
      p_->refs.fetch_sub(1, std::memory_order_acq_rel) != 1)
    return;
  delete p_;
}

DType Tensor::dtype() const { return checked(p_).dtype; }
int Tensor::rank() const { return checked(p_).geometry.rank(); }
const Shape& Tensor::shape() const { return checked(p_).geometry.shape; }
Int Tensor::size(int axis) const {
  return shape()[static_cast<size_t>(size_axis("size", axis, rank()))];
}
Device Tensor::device() const { return checked(p_).device; }
uint64_t new_epoch() {
  constinit static std::atomic<uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

bool Tensor::symbolic() const { return !checked(p_).storage; }
const Geometry& Tensor::geometry() const { return checked(p_).geometry; }
const std::byte* Tensor::data() const { return host_data("data", checked(p_)); }
std::byte* Tensor::mutable_data() const { return host_data("data", checked(p_)); }

std::byte* Tensor::address() const {
  const TensorImpl& t = checked(p_);
  if (!t.storage) no_data("data", t);
  return address_of(t);
}

double Tensor::item_double() const {
  Item item = fetch_item(checked(p_));
  refuse_imaginary(item);
  return element_double(item.dtype, item.bytes);
}

int64_t Tensor::item_int() const {
  Item item = fetch_item(checked(p_));
  refuse_imaginary(item);
  return element_int(item.dtype, item.bytes);
}

uint64_t Tensor::item_bits() const {
  Item item = fetch_item(checked(p_));
  return element_bits(item.dtype, item.bytes);
}

void Tensor::item_bytes(std::byte* room) const {
  Item item = fetch_item(checked(p_));
  std::memcpy(room, item.bytes, size_of(item.dtype));
}

bool Tensor::requires_grad() const { return checked(p_).requires_grad; }

uint32_t Tensor::version() const {
  const TensorImpl& t = checked(p_);
  return t.storage ? t.storage->version : t.version;
}

TensorImpl::TensorImpl() = default;
TensorImpl::~TensorImpl() = default;

// ── types ───────────────────────────────────────────────────────────────────────────────────────

TensorType TensorType::with_size(int axis, Int size) const {
  TensorType r = *this;
  r.shape[static_cast<size_t>(axis)] = size;
  return r;
}

TensorType type_of(const Tensor& t) { return {t.dtype(), t.shape(), t.device()}; }

std::string to_string(const TensorType& type) {
  std::string text = absl::StrCat(info(type.dtype).short_name, to_string(IntSpan(type.shape)));
  if (type.device != Device{}) absl::StrAppend(&text, " on ", to_string(type.device));
  return text;
}

// ── making tensors ──────────────────────────────────────────────────────────────────────────────

Tensor make_tensor(StorageRef storage, DType dtype, Geometry geometry) {
  auto* t = new TensorImpl;
  t->dtype = dtype;
  t->device = storage->device;
  t->geometry = std::move(geometry);
  t->storage = std::move(storage);
  return Tensor(t);
}

// On the path of every eager call, so everything is filled in where it will stay.
Tensor empty(const TensorType& type) {
  const DTypeInfo& dtype = info(type.dtype);
  if (!dtype.tensor) [[unlikely]] {
    throw UnsupportedError({.op = "empty",  // not an op: the allocation
                            .problem = "no tensor has this element type yet",
                            .got = std::string(dtype.name)});
  }
  Tensor t(new TensorImpl);
  TensorImpl& impl = *t.impl();
  impl.dtype = type.dtype;
  impl.device = type.device;
  impl.geometry.shape = type.shape;
  impl.geometry.strides.resize(type.shape.size(), 1);  // 0 would become a call of memset
  Int count = 1;
  for (size_t i = type.shape.size(); i-- > 0;) {
    if (!type.shape[i].known()) [[unlikely]] {
      throw TraceError({.op = "empty",  // not an op: the allocation
                        .problem = "memory was asked for before its size is known",
                        .got = to_string(type)});
    }
    impl.geometry.strides[i] = count;
    count *= type.shape[i];
  }
  count *= Int(size_t{dtype.bytes});
  impl.storage = new_storage(type.device, static_cast<size_t>(count.value()));
  return t;
}

Tensor from_host(const void* data, DType dtype, IntSpan shape, Device device) {
  Tensor t = empty({dtype, Shape(shape.begin(), shape.end()), device});
  const StorageRef& storage = t.impl()->storage;
  size_t bytes = storage->bytes;
  if (bytes == 0) return t;
  if (device.kind == DeviceKind::cpu) {
    std::memcpy(storage->data, data, bytes);
  } else {
    // The caller may change its memory as soon as we return, so the copy is waited for.
    Stream& stream = current_stream(device);
    stream.copy(storage->data, static_cast<const std::byte*>(data), bytes);
    stream.synchronize();
  }
  return t;
}

Tensor scalar_tensor(double value, DType dtype, Device device) {
  std::byte element[16] = {};
  store_element(dtype, element, value);
  return from_host(element, dtype, {}, device);
}

Tensor scalar_tensor(int64_t value, DType dtype, Device device) {
  std::byte element[16] = {};
  store_element(dtype, element, value);
  return from_host(element, dtype, {}, device);
}

namespace {

[[noreturn]] void axis_out_of_range(std::string_view op, int64_t axis, int rank,
                                    std::string_view of_a_number) {
  throw IndexError(
      {.op = std::string(op),
       .problem = "the axis is out of range",
       .got = absl::StrCat("axis ", axis, " of a tensor of rank ", rank),
       .expected = rank == 0 ? std::string(of_a_number) : absl::StrCat(-rank, " to ", rank - 1),
       .next = rank == 0 ? "leave the axis out, or unsqueeze() the tensor"
                         : "name an axis that the tensor has"});
}

}  // namespace

int normalise_axis(std::string_view op, int64_t axis, int rank) {
  const int least = rank == 0 ? 1 : rank;
  if (axis >= -least && axis < least) [[likely]]
    return static_cast<int>(axis < 0 ? axis + least : axis);
  axis_out_of_range(op, axis, rank, "0 or -1");
}

int size_axis(std::string_view op, int64_t axis, int rank) {
  if (axis >= -rank && axis < rank) [[likely]]
    return static_cast<int>(axis < 0 ? axis + rank : axis);
  axis_out_of_range(op, axis, rank, "no axis: a tensor of rank 0 has none");
}

}  // namespace lathe
