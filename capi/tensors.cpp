#include <absl/strings/str_cat.h>

#include <cstring>

#include "autodiff/engine.h"
#include "autodiff/tape.h"
#include "capi/handles.h"
#include "core/dispatch/assign.h"
#include "core/dispatch/call.h"
#include "core/tensor/print.h"
#include "graph/ir/literal.h"

namespace lathe::c {
namespace {

Shape shape_of(const int64_t* sizes, int rank) {
  constexpr int kMostAxes = 64;
  if (rank < 0 || rank > kMostAxes)
    throw ValueError({.problem = "a tensor has 0 to 64 axes", .got = absl::StrCat(rank)});
  Shape shape;
  for (int i = 0; i < rank; ++i) {
    if (sizes[i] < 0)
      throw ValueError({.problem = absl::StrCat("the size of axis ", i, " is negative"),
                        .got = absl::StrCat(sizes[i])});
    shape.push_back(Int(sizes[i]));
  }
  return shape;
}

/// The parameter that nearly every entry of this file has.
Required given(const lathe_tensor* t) {
  return c::given("t", t);  // not an op: the name of the parameter
}

size_t count_of(int rank) { return rank > 0 ? static_cast<size_t>(rank) : 0; }

/// OverflowError if they are more than 2^62.
size_t bytes_of(IntSpan shape, DType dtype) {
  return static_cast<size_t>((numel(shape) * Int(size_of(dtype))).value());
}

Tensor current(const lathe_tensor* t) {
  Tensor x = tensor(t);
  if (x.impl()->view) refresh(x);
  return x;
}

}  // namespace

DType dtype_of(lathe_dtype code) {
  auto dtype = static_cast<DType>(code);
  if (code < 0 || code >= kDTypeCodes || !info(dtype).tensor || info(dtype).bytes == 0)
    throw DTypeError({.problem = "there is no such dtype",
                      .got = absl::StrCat(static_cast<int>(code)),
                      .expected = "one of lathe_dtype"});
  return dtype;
}

void give(Tensors results, lathe_tensor** out, size_t room, size_t* count) {
  if (count != nullptr) *count = results.size();
  if (results.size() > room)
    throw ValueError({.problem = "there is no room for the results",
                      .got = absl::StrCat("room for ", room),
                      .expected = absl::StrCat(results.size())});
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
  constexpr const char* kEntry = "lathe_tensor_copy";
  return guarded(kEntry, {given("sizes", sizes, count_of(rank)), given("out", out)}, [&] {
    Shape shape = shape_of(sizes, rank);
    DType d = dtype_of(dtype);
    require(kEntry, {given("data", data, bytes_of(shape, d))});
    *out = handle(from_host(data, d, shape));
  });
}

lathe_status lathe_tensor_borrow(void* data, lathe_dtype dtype, const int64_t* sizes, int rank,
                                 void (*release)(void* user), void* user, lathe_tensor** out) {
  constexpr const char* kEntry = "lathe_tensor_borrow";
  return guarded(kEntry, {given("sizes", sizes, count_of(rank)), given("out", out)}, [&] {
    DType d = dtype_of(dtype);
    Geometry g = Geometry::contiguous(shape_of(sizes, rank));
    const size_t bytes = bytes_of(g.shape, d);
    require(kEntry, {given("data", data, bytes)});
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

lathe_tensor* lathe_tensor_retain(lathe_tensor* t) { return handle(tensor(t)); }

void lathe_tensor_release(lathe_tensor* t) {
  if (t != nullptr) Tensor adopted(reinterpret_cast<TensorImpl*>(t));
}

lathe_dtype lathe_tensor_dtype(const lathe_tensor* t) {
  return answer("lathe_tensor_dtype", LATHE_NO_DTYPE, {given(t)},
                [&] { return static_cast<lathe_dtype>(tensor(t).dtype()); });
}

int lathe_tensor_rank(const lathe_tensor* t) {
  return answer("lathe_tensor_rank", -1, {given(t)}, [&] { return tensor(t).rank(); });
}

lathe_status lathe_tensor_sizes(const lathe_tensor* t, int64_t* sizes) {
  constexpr const char* kEntry = "lathe_tensor_sizes";
  return guarded(kEntry, {given(t)}, [&] {
    Tensor x = tensor(t);
    require(kEntry, {given("sizes", sizes, count_of(x.rank()))});
    for (int i = 0; i < x.rank(); ++i) sizes[i] = x.size(i).value();
  });
}

lathe_status lathe_tensor_device(const lathe_tensor* t, char** name) {
  return guarded("lathe_tensor_device", {given(t), given("name", name)},
                 [&] { *name = give_text(to_string(tensor(t).device())); });
}

lathe_status lathe_tensor_read(const lathe_tensor* t, void* to, size_t bytes) {
  return guarded("lathe_tensor_read", {given(t), given("to", to, bytes)}, [&] {
    Tensor x = ir::packed(current(t));
    size_t have = static_cast<size_t>(x.numel().value()) * size_of(x.dtype());
    if (bytes != have)
      throw ValueError({.problem = "the elements take another number of bytes",
                        .got = absl::StrCat(bytes),
                        .expected = absl::StrCat(have)});
    if (bytes > 0) std::memcpy(to, x.data(), bytes);
  });
}

lathe_status lathe_tensor_data(const lathe_tensor* t, const void** data) {
  return guarded("lathe_tensor_data", {given(t), given("data", data)}, [&] {
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
  return guarded("lathe_tensor_print", {given(t), given("text", text)},
                 [&] { *text = give_text(print_tensor(current(t))); });
}

lathe_status lathe_tensor_assign(lathe_tensor* t, const lathe_tensor* value) {
  return guarded("lathe_tensor_assign", {given(t), given("value", value)},
                 [&] { assign(tensor(t), tensor(value)); });
}

// ── gradients ──

lathe_status lathe_set_requires_grad(lathe_tensor* t, int on) {
  return guarded("lathe_set_requires_grad", {given(t)}, [&] {
    Tensor x = tensor(t);
    set_requires_grad(x, on != 0);
  });
}

int lathe_requires_grad(const lathe_tensor* t) {
  return answer("lathe_requires_grad", -1, {given(t)},
                [&] { return tensor(t).requires_grad() ? 1 : 0; });
}

lathe_status lathe_backward(const lathe_tensor* y, const lathe_tensor* dy, int retain) {
  return guarded("lathe_backward", {given("y", y)},
                 [&] { backward({tensor(y)}, {tensor(dy)}, {.retain_graph = retain != 0}); });
}

lathe_status lathe_tensor_grad(const lathe_tensor* t, lathe_tensor** out) {
  return guarded("lathe_tensor_grad", {given(t), given("out", out)}, [&] {
    TapeMeta* m = meta(current(t));
    *out = m == nullptr ? nullptr : handle(m->grad.get());
  });
}

lathe_status lathe_clear_grad(lathe_tensor* t) {
  return guarded("lathe_clear_grad", {given(t)}, [&] {
    if (TapeMeta* m = meta(tensor(t))) m->grad.set(Tensor());
  });
}

lathe_status lathe_grad(lathe_tensor* const* ys, lathe_tensor* const* dys, size_t y_count,
                        lathe_tensor* const* xs, size_t x_count, int create, lathe_tensor** dxs) {
  return guarded(
      "lathe_grad", {each("ys", ys, y_count), each("xs", xs, x_count), given("dxs", dxs, x_count)},
      [&] {
        Tensors outputs, gradients, inputs;
        for (size_t i = 0; i < y_count; ++i) {
          outputs.push_back(tensor(ys[i]));
          gradients.push_back(dys == nullptr ? Tensor() : tensor(dys[i]));
        }
        for (size_t i = 0; i < x_count; ++i) inputs.push_back(tensor(xs[i]));
        BackwardOptions options{.retain_graph = create != 0, .create_graph = create != 0};
        give(grad(outputs, gradients, inputs, options), dxs, x_count, nullptr);
      });
}

lathe_status lathe_detach(const lathe_tensor* t, lathe_tensor** out) {
  return guarded("lathe_detach", {given(t), given("out", out)},
                 [&] { *out = handle(detach(current(t))); });
}

int lathe_enable_grad(int on) {
  bool before = thread_state().grad_enabled;
  thread_state().grad_enabled = on != 0;
  return before ? 1 : 0;
}

lathe_status lathe_autocast(lathe_dtype dtype, lathe_dtype* before) {
  return guarded("lathe_autocast", {given("before", before)}, [&] {
    const DType to = dtype_of(dtype);
    if (to != DType::f32 && !is_narrow(to))
      throw ValueError({.op = "autocast",
                        .problem = "products are computed in f16 or bf16",
                        .got = std::string(name(to)),
                        .expected = "float16, bfloat16, or float32 for no scope"});
    *before = static_cast<lathe_dtype>(std::exchange(thread_state().autocast, to));
  });
}

}  // extern "C"
