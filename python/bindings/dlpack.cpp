// DLPack both ways (dmlc/dlpack, versions 0.8 and 1.0): tensors shared with other libraries without
// a copy. The structures are the protocol's own and must not change.
#include <absl/strings/str_cat.h>
#include <nanobind/stl/optional.h>

#include <memory>
#include <optional>

#include "core/base/error.h"
#include "core/dispatch/fn.h"
#include "include/lathe/ops/math.h"
#include "python/bindings/build.h"
#include "python/bindings/later.h"
#include "python/bindings/values.h"

namespace lathe::py {
namespace {

struct DLDevice {
  int32_t type;  // 1: cpu
  int32_t id;
};
struct DLDataType {
  uint8_t code;  // 0 int, 1 uint, 2 float, 4 bfloat, 5 complex, 6 bool
  uint8_t bits;
  uint16_t lanes;
};
struct DLTensor {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides;  // null: row-major
  uint64_t byte_offset;
};
struct DLManagedTensor {
  DLTensor tensor;
  void* context;
  void (*deleter)(DLManagedTensor*);
};
struct DLVersioned {
  uint32_t major, minor;
  void* context;
  void (*deleter)(DLVersioned*);
  uint64_t flags;  // 1: read-only
  DLTensor tensor;
};

constexpr const char* kOld = "dltensor";
constexpr const char* kOldUsed = "used_dltensor";
constexpr const char* kNew = "dltensor_versioned";
constexpr const char* kNewUsed = "used_dltensor_versioned";
constexpr int32_t kCpu = 1;
constexpr uint64_t kReadOnly = 1;

struct Code {
  DType dtype;
  uint8_t code, bits;
};
constexpr Code kCodes[] = {
    {DType::bool_, 6, 8}, {DType::u8, 1, 8},   {DType::i8, 0, 8},     {DType::i16, 0, 16},
    {DType::i32, 0, 32},  {DType::i64, 0, 64}, {DType::f16, 2, 16},   {DType::bf16, 4, 16},
    {DType::f32, 2, 32},  {DType::f64, 2, 64}, {DType::c64, 5, 64},   {DType::u16, 1, 16},
    {DType::u32, 1, 32},  {DType::u64, 1, 64}, {DType::c128, 5, 128},
};

DLDataType to_dl(DType d) {
  for (const Code& c : kCodes)
    if (c.dtype == d) return {c.code, c.bits, 1};
  throw DTypeError({.op = "__dlpack__",
                    .problem = "DLPack has no such element type",
                    .got = std::string(name(d))});
}
DType from_dl(DLDataType d) {
  for (const Code& c : kCodes)
    if (c.code == d.code && c.bits == d.bits && d.lanes == 1) return c.dtype;
  throw DTypeError(
      {.op = "from_dlpack",
       .problem = "no tensor dtype is like the elements",
       .got = absl::StrCat("code ", d.code, ", ", d.bits, " bits, ", d.lanes, " lanes")});
}

/// Keeps an exported tensor's memory, and the sizes the structure points to.
template <class Managed>
struct Exported {
  Managed managed{};
  StorageRef storage;
  std::vector<int64_t> sizes;
};

template <class Managed>
Managed* export_tensor(const Tensor& t) {
  auto e = std::make_unique<Exported<Managed>>();
  reading(t, "to_dlpack");
  const Geometry& g = t.geometry();
  for (Int s : g.shape) e->sizes.push_back(s.value());
  for (Int s : g.strides) e->sizes.push_back(s.value());
  e->storage = t.impl()->storage;
  e->managed.tensor = {
      const_cast<std::byte*>(t.data()), {kCpu, 0}, g.rank(), to_dl(t.dtype()), e->sizes.data(),
      e->sizes.data() + g.rank(),       0};
  e->managed.context = e.get();
  e->managed.deleter = [](Managed* m) { delete static_cast<Exported<Managed>*>(m->context); };
  return &e.release()->managed;
}

template <class Managed>
PyObject* capsule(Managed* managed, const char* name, PyCapsule_Destructor destroy) {
  PyObject* o = PyCapsule_New(managed, name, destroy);
  if (o == nullptr) managed->deleter(managed);
  return checked(o);
}
// A capsule nobody took still owns its tensor.
void destroy_old(PyObject* o) {
  if (PyCapsule_IsValid(o, kOld) == 0) return;
  auto* m = static_cast<DLManagedTensor*>(PyCapsule_GetPointer(o, kOld));
  m->deleter(m);
}
void destroy_new(PyObject* o) {
  if (PyCapsule_IsValid(o, kNew) == 0) return;
  auto* m = static_cast<DLVersioned*>(PyCapsule_GetPointer(o, kNew));
  m->deleter(m);
}

nb::object to_capsule(const Tensor& tensor, bool versioned, bool copy) {
  if (tensor.requires_grad())
    throw AutogradError({.op = "__dlpack__",
                         .problem = "the other library would not see history",
                         .got = to_string(type_of(tensor)),
                         .next = "detach() the tensor first"});
  Tensor t = on_host(tensor);
  if (copy && t.impl() == tensor.impl()) t = build(owned(wrap(t)).ptr(), {});
  if (!versioned) return owned(capsule(export_tensor<DLManagedTensor>(t), kOld, destroy_old));
  auto* m = export_tensor<DLVersioned>(t);
  m->major = 1;
  return owned(capsule(m, kNew, destroy_new));
}

template <class Managed>
Tensor adopt(Managed* m) {
  // From here on the structure is ours to release, whatever goes wrong.
  std::shared_ptr<Managed> held(m, [](Managed* p) {
    if (p->deleter == nullptr) return;
    auto release = [](void* q) { static_cast<Managed*>(q)->deleter(static_cast<Managed*>(q)); };
    release_later(release, p);  // many deleters drop a Python reference
  });
  const DLTensor& d = m->tensor;
  if (d.device.type != kCpu)
    throw DeviceError({.op = "from_dlpack",
                       .problem = "only memory of the cpu can be shared",
                       .got = absl::StrCat("DLPack device type ", d.device.type)});
  if (d.ndim < 0 || d.ndim > 64)
    throw ValueError(
        {.op = "from_dlpack", .problem = "a bad number of axes", .got = absl::StrCat(d.ndim)});
  DType dtype = from_dl(d.dtype);
  Geometry g;
  Int last = 0;
  bool none = false;
  for (int i = 0; i < d.ndim; ++i) {
    if (d.shape[i] < 0 || (d.strides != nullptr && d.strides[i] < 0))
      throw ValueError({.op = "from_dlpack",
                        .problem = "a negative size or stride",
                        .got = absl::StrCat("axis ", i),
                        .next = "export a copy"});
    g.shape.push_back(Int(d.shape[i]));
    none |= d.shape[i] == 0;
  }
  g.strides = row_major(g.shape);
  for (int i = 0; i < d.ndim; ++i) {
    if (d.strides != nullptr) g.strides[static_cast<size_t>(i)] = Int(d.strides[i]);
    last += (g.shape[static_cast<size_t>(i)] - 1) * g.strides[static_cast<size_t>(i)];
  }
  StorageRef storage(new Storage);
  storage->data = static_cast<std::byte*>(d.data) + d.byte_offset;
  storage->bytes =
      none ? 0 : static_cast<size_t>((last.value() + 1) * static_cast<int64_t>(size_of(dtype)));
  storage->release = [held](Storage&) mutable { held.reset(); };
  return make_tensor(std::move(storage), dtype, std::move(g));
}

Tensor from_capsule(PyObject* o) {
  if (PyCapsule_IsValid(o, kNew) != 0) {
    auto* m = static_cast<DLVersioned*>(PyCapsule_GetPointer(o, kNew));
    if (m->major != 1)
      throw UnsupportedError({.op = "from_dlpack",
                              .problem = "an unknown version of DLPack",
                              .got = absl::StrCat(m->major, ".", m->minor),
                              .expected = "1.x"});
    if ((m->flags & kReadOnly) != 0)
      throw ValueError({.op = "from_dlpack",
                        .problem = "the memory is read-only",
                        .next = "copy it on the other side first"});
    checked(PyCapsule_SetName(o, kNewUsed));
    return adopt(m);
  }
  if (PyCapsule_IsValid(o, kOld) == 0)
    throw TypeError({.op = "from_dlpack",
                     .problem = "a DLPack capsule that was not used before expected",
                     .got = Py_TYPE(o)->tp_name});
  auto* m = static_cast<DLManagedTensor*>(PyCapsule_GetPointer(o, kOld));
  checked(PyCapsule_SetName(o, kOldUsed));
  return adopt(m);
}

Tensor adopt_from(nb::object o) {
  if (PyCapsule_CheckExact(o.ptr())) return from_capsule(o.ptr());
  if (!nb::hasattr(o, "__dlpack__"))
    throw TypeError({.op = "from_dlpack",
                     .problem = "the object does not speak DLPack",
                     .got = Py_TYPE(o.ptr())->tp_name,
                     .expected = "an object with __dlpack__",
                     .next = "use lt.tensor() for lists and numbers"});
  nb::object made;
  try {
    made = o.attr("__dlpack__")(nb::arg("max_version") = nb::make_tuple(1, 0));
  } catch (nb::python_error& e) {
    if (!e.matches(PyExc_TypeError)) throw;
    made = o.attr("__dlpack__")();  // a library from before version 1
  }
  return from_capsule(made.ptr());
}

/// copy=False asks for no copy, None for one where the device needs it.
Tensor from_dlpack(nb::object o, nb::object device, std::optional<bool> copy) {
  Tensor t = adopt_from(std::move(o));
  const Device to = device.is_none() ? t.device() : py::to_device(device.ptr());
  if (to != t.device() && copy == false)
    throw ValueError({.op = "from_dlpack",
                      .problem = "another device needs a copy, and copy is False",
                      .got = to_string(to),
                      .expected = to_string(t.device()),
                      .next = "leave copy out"});
  if (to != t.device()) return py::to_device(t, to);
  return copy == true ? math_ops<Tensor>::clone(t) : t;
}

}  // namespace

void add_dlpack(nb::module_& m) {
  m.def(
      "from_dlpack", from_dlpack, nb::arg("ext_tensor"), nb::kw_only(),
      nb::arg("device") = nb::none(), nb::arg("copy") = nb::none(),
      "A tensor over the memory of another library's array (anything with __dlpack__, or its\n"
      "capsule). DeviceError for memory that is not the cpu's, ValueError where it is read-only.");
  m.def("_to_dlpack", to_capsule, nb::arg("tensor"), nb::arg("versioned"), nb::arg("copy"));
}

}  // namespace lathe::py
