#include <absl/strings/str_cat.h>

#include <cstring>

#include "autodiff/engine.h"
#include "autodiff/tape.h"
#include "capi/handles.h"
#include "core/inplace.h"
#include "core/print.h"
#include "graph/literal.h"

namespace lathe::c {
namespace {

DType dtype_of(lathe_dtype code) {
  auto dtype = static_cast<DType>(code);
  if (code < 0 || code >= kDTypeCodes || !info(dtype).tensor || info(dtype).bytes == 0)
    throw DTypeError({.problem = "there is no such dtype",
                      .got = absl::StrCat(static_cast<int>(code)),
                      .expected = "one of lathe_dtype"});
  return dtype;
}

Shape shape_of(const int64_t* sizes, int rank) {
  constexpr int kMostAxes = 64;
  if (rank < 0 || rank > kMostAxes)
    throw ValueError({.problem = "a tensor has 0 to 64 axes", .got = absl::StrCat(rank)});
  if (rank > 0) require_place(sizes, "the sizes");
  Shape shape;
  for (int i = 0; i < rank; ++i) {
    if (sizes[i] < 0)
      throw ValueError({.problem = absl::StrCat("the size of axis ", i, " is negative"),
                        .got = absl::StrCat(sizes[i])});
    shape.push_back(Int(sizes[i]));
  }
  return shape;
}

Tensor current(const lathe_tensor* t) {
  Tensor x = tensor(t);
  if (x.impl()->view) refresh(x);
  return x;
}

}  // namespace

Tensor tensor(const lathe_tensor* t, const char* what) {
  if (t == nullptr) throw TypeError({.problem = absl::StrCat("a ", what, " is NULL")});
  return optional(t);
}

void give(Tensors results, lathe_tensor** out, size_t room, size_t* count) {
  if (count != nullptr) *count = results.size();
  if (results.size() > room)
    throw ValueError({.problem = "there is no room for the results",
                      .got = absl::StrCat("room for ", room),
                      .expected = absl::StrCat(results.size())});
  if (!results.empty()) require_place(out, "the results");
  for (size_t i = 0; i < results.size(); ++i) out[i] = handle(std::move(results[i]));
}

}  // namespace lathe::c

using namespace lathe;     // NOLINT: this file is the C face of that namespace
using namespace lathe::c;  // NOLINT

extern "C" {

size_t lathe_dtype_bytes(lathe_dtype dtype) {
  bool known = dtype >= 0 && dtype < kDTypeCodes && info(static_cast<DType>(dtype)).tensor;
  return known ? size_of(static_cast<DType>(dtype)) : 0;
}

const char* lathe_dtype_name(lathe_dtype dtype) {
  return lathe_dtype_bytes(dtype) == 0 ? "" : name(static_cast<DType>(dtype)).data();
}

lathe_status lathe_tensor_copy(const void* data, lathe_dtype dtype, const int64_t* sizes, int rank,
                               lathe_tensor** out) {
  return guarded([&] {
    require_place(out, "the tensor");
    Shape shape = shape_of(sizes, rank);
    if (data == nullptr && !identical(numel(shape), Int(0))) require_place(data, "the elements");
    *out = handle(from_host(data, dtype_of(dtype), shape));
  });
}

lathe_status lathe_tensor_borrow(void* data, lathe_dtype dtype, const int64_t* sizes, int rank,
                                 void (*release)(void* user), void* user, lathe_tensor** out) {
  return guarded([&] {
    require_place(out, "the tensor");
    DType d = dtype_of(dtype);
    Geometry g = Geometry::contiguous(shape_of(sizes, rank));
    auto bytes = static_cast<size_t>(numel(g.shape).value()) * size_of(d);
    if (bytes > 0) require_place(data, "the elements");
    if (reinterpret_cast<uintptr_t>(data) % size_of(d) != 0)
      throw ValueError({.problem = "the elements are not aligned to their own size",
                        .got = absl::StrCat(reinterpret_cast<uintptr_t>(data)),
                        .next = "use lathe_tensor_copy"});
    auto storage = std::make_unique<Storage>();
    storage->data = static_cast<std::byte*>(data);
    storage->bytes = bytes;
    if (release != nullptr) storage->release = [release, user](Storage&) { release(user); };
    *out = handle(make_tensor(StorageRef(storage.release()), d, std::move(g)));
  });
}

lathe_tensor* lathe_tensor_retain(lathe_tensor* t) { return handle(optional(t)); }

void lathe_tensor_release(lathe_tensor* t) {
  if (t != nullptr) Tensor adopted(reinterpret_cast<TensorImpl*>(t));
}

lathe_dtype lathe_tensor_dtype(const lathe_tensor* t) {
  return static_cast<lathe_dtype>(optional(t).dtype());
}

int lathe_tensor_rank(const lathe_tensor* t) { return optional(t).rank(); }

lathe_status lathe_tensor_sizes(const lathe_tensor* t, int64_t* sizes) {
  return guarded([&] {
    Tensor x = tensor(t);
    if (x.rank() > 0) require_place(sizes, "the sizes");
    for (int i = 0; i < x.rank(); ++i) sizes[i] = x.size(i).value();
  });
}

lathe_status lathe_tensor_device(const lathe_tensor* t, char** name) {
  return guarded([&] {
    require_place(name, "the name");
    *name = give_text(to_string(tensor(t).device()));
  });
}

lathe_status lathe_tensor_read(const lathe_tensor* t, void* to, size_t bytes) {
  return guarded([&] {
    Tensor x = ir::packed(current(t));
    size_t have = static_cast<size_t>(x.numel().value()) * size_of(x.dtype());
    if (bytes != have)
      throw ValueError({.problem = "the elements take another number of bytes",
                        .got = absl::StrCat(bytes),
                        .expected = absl::StrCat(have)});
    if (bytes == 0) return;
    require_place(to, "the elements");
    std::memcpy(to, x.data(), bytes);
  });
}

lathe_status lathe_tensor_data(const lathe_tensor* t, const void** data) {
  return guarded([&] {
    require_place(data, "the pointer");
    Tensor x = current(t);
    if (!device_api(x.device()).facts().host_readable)
      throw DeviceError({.problem = "the elements are not in host memory",
                         .got = to_string(x.device()),
                         .next = "use lathe_tensor_read"});
    if (!x.geometry().is_contiguous())
      throw ValueError({.problem = "the elements do not lie row-major without gaps",
                        .got = lathe::to_string(type_of(x)),
                        .next = "use lathe_tensor_read"});
    *data = x.data();
  });
}

lathe_status lathe_tensor_print(const lathe_tensor* t, char** text) {
  return guarded([&] {
    require_place(text, "the text");
    *text = give_text(print_tensor(current(t)));
  });
}

lathe_status lathe_tensor_assign(lathe_tensor* t, const lathe_tensor* value) {
  return guarded([&] { assign(tensor(t), tensor(value, "value")); });
}

// ── gradients ──

lathe_status lathe_set_requires_grad(lathe_tensor* t, int on) {
  return guarded([&] {
    Tensor x = tensor(t);
    set_requires_grad(x, on != 0);
  });
}

int lathe_requires_grad(const lathe_tensor* t) {
  return t != nullptr && optional(t).requires_grad() ? 1 : 0;
}

lathe_status lathe_backward(const lathe_tensor* y, const lathe_tensor* dy, int retain) {
  return guarded([&] { backward({tensor(y)}, {optional(dy)}, {.retain_graph = retain != 0}); });
}

lathe_status lathe_tensor_grad(const lathe_tensor* t, lathe_tensor** out) {
  return guarded([&] {
    require_place(out, "the gradient");
    TapeMeta* m = meta(current(t));
    *out = m == nullptr ? nullptr : handle(m->grad.get());
  });
}

lathe_status lathe_clear_grad(lathe_tensor* t) {
  return guarded([&] {
    if (TapeMeta* m = meta(tensor(t))) m->grad.set(Tensor());
  });
}

lathe_status lathe_grad(lathe_tensor* const* ys, lathe_tensor* const* dys, size_t y_count,
                        lathe_tensor* const* xs, size_t x_count, int create, lathe_tensor** dxs) {
  return guarded([&] {
    Tensors outputs, gradients, inputs;
    for (size_t i = 0; i < y_count; ++i) {
      outputs.push_back(tensor(ys[i]));
      gradients.push_back(dys == nullptr ? Tensor() : optional(dys[i]));
    }
    for (size_t i = 0; i < x_count; ++i) inputs.push_back(tensor(xs[i]));
    BackwardOptions options{.retain_graph = create != 0, .create_graph = create != 0};
    give(grad(outputs, gradients, inputs, options), dxs, x_count, nullptr);
  });
}

lathe_status lathe_detach(const lathe_tensor* t, lathe_tensor** out) {
  return guarded([&] {
    require_place(out, "the tensor");
    *out = handle(detach(current(t)));
  });
}

int lathe_enable_grad(int on) {
  bool before = thread_state().grad_enabled;
  thread_state().grad_enabled = on != 0;
  return before ? 1 : 0;
}

}  // extern "C"
