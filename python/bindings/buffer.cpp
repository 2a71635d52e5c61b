// The buffer protocol both ways: NumPy arrays in and out without NumPy at build time or at import.
#include <absl/strings/str_cat.h>

#include <cstring>
#include <memory>

#include "autodiff/tape.h"
#include "core/base/error.h"
#include "core/dispatch/fn.h"
#include "include/lathe/ops/shape.h"
#include "python/bindings/build.h"
#include "python/bindings/later.h"
#include "python/bindings/values.h"

namespace lathe::py {
namespace {

struct Format {
  std::string_view code;
  DType dtype;
};
// The first of a dtype is NumPy's own name for it, where a long has eight bytes.
static_assert(sizeof(long) == 8);
constexpr Format kFormats[] = {
    {"?", DType::bool_}, {"B", DType::u8},  {"b", DType::i8},   {"H", DType::u16},
    {"h", DType::i16},   {"I", DType::u32}, {"i", DType::i32},  {"L", DType::u64},
    {"l", DType::i64},   {"Q", DType::u64}, {"q", DType::i64},  {"e", DType::f16},
    {"f", DType::f32},   {"d", DType::f64}, {"Zf", DType::c64}, {"Zd", DType::c128},
};

const char* format_of(DType d) {
  for (const Format& f : kFormats)
    if (f.dtype == d) return f.code.data();
  return nullptr;
}

[[noreturn]] void no_dtype(std::string got) {
  throw DTypeError(
      {.op = "tensor",
       .problem = "no tensor dtype is like the buffer's elements",
       .got = std::move(got),
       .expected = "bool, integers, floats or complex numbers, in this machine's byte order",
       .next = "convert the array first: array.astype('float32')"});
}
[[noreturn]] void no_format(const char* format) { no_dtype(absl::StrCat("format '", format, "'")); }

DType dtype_of(const Py_buffer& b) {
  const char* format = b.format == nullptr ? "B" : b.format;
  const char* code = format;
  if (*code == '@' || *code == '=' || *code == '<' || *code == '|') ++code;
  std::string_view wanted = code;
  // A standard long has four bytes, the platform's own eight.
  if (b.itemsize == 4 && (wanted == "l" || wanted == "L")) wanted = wanted == "l" ? "i" : "I";
  for (const Format& f : kFormats)
    if (f.code == wanted && static_cast<Py_ssize_t>(size_of(f.dtype)) == b.itemsize) return f.dtype;
  no_format(format);
}

/// One of NumPy's numbers, or what it has beside numbers: numpy.datetime64, numpy.void ...
bool is_numpy_scalar(PyObject* o) {
  PyObject* mro = Py_TYPE(o)->tp_mro;
  for (Py_ssize_t i = 0; mro != nullptr && i < PyTuple_GET_SIZE(mro); ++i) {
    const auto* base = reinterpret_cast<PyTypeObject*>(PyTuple_GET_ITEM(mro, i));
    if (std::string_view(base->tp_name) == "numpy.generic") return true;
  }
  return false;
}

/// What an object says of itself when its buffer cannot be had; the error is cleared.
std::string why_no_buffer(PyObject* exporter) {
  const nb::python_error error;
  if (!error.matches(PyExc_ValueError) && !error.matches(PyExc_TypeError) &&
      !error.matches(PyExc_BufferError))
    throw error;  // no memory, or Ctrl-C
  return absl::StrCat(Py_TYPE(exporter)->tp_name, ": ", nb::str(error.value()).c_str());
}

/// A buffer on loan, for as long as some tensor uses it.
class Loan {
 public:
  Loan(PyObject* exporter, int flags) : view_(new Py_buffer) {
    if (PyObject_GetBuffer(exporter, view_, flags) != 0) {
      delete view_;
      no_dtype(why_no_buffer(exporter));
    }
    find_strides();
    if (view_->ndim == 0 || !is_numpy_scalar(exporter)) return;
    // A date is given as its bytes: it has no number.
    release();
    no_dtype(Py_TYPE(exporter)->tp_name);
  }
  ~Loan() { release(); }
  Loan(const Loan&) = delete;
  const Py_buffer& view() const { return *view_; }
  Shape shape() const {
    Shape s;
    for (int i = 0; i < view_->ndim; ++i) s.push_back(Int(static_cast<int64_t>(sizes_[ix(i)])));
    return s;
  }
  Py_ssize_t size(int axis) const { return sizes_[ix(axis)]; }
  Py_ssize_t stride(int axis) const { return strides_[ix(axis)]; }  // in bytes

 private:
  static size_t ix(int axis) { return static_cast<size_t>(axis); }

  /// An exporter may leave out strides, and the sizes of one axis, whoever asks for them: ctypes
  /// does. Its elements are then without gaps.
  void find_strides() {
    const Py_buffer& b = *view_;
    Py_ssize_t step = b.itemsize;
    for (int i = b.ndim - 1; i >= 0; --i) {
      const Py_ssize_t size = b.shape != nullptr         ? b.shape[i]
                              : i > 0 || b.itemsize == 0 ? 1
                                                         : b.len / b.itemsize;
      sizes_.insert(sizes_.begin(), size);
      strides_.insert(strides_.begin(), b.strides != nullptr ? b.strides[i] : step);
      step *= size;
    }
  }
  void release() {
    release_later(
        [](void* view) {
          PyBuffer_Release(static_cast<Py_buffer*>(view));
          delete static_cast<Py_buffer*>(view);
        },
        view_);
  }

  Py_buffer* view_;
  absl::InlinedVector<Py_ssize_t, 4> sizes_, strides_;
};

void copy_axis(const Loan& loan, int axis, const char* from, std::byte*& to) {
  const Py_buffer& b = loan.view();
  if (axis == b.ndim) {
    std::memcpy(to, from, static_cast<size_t>(b.itemsize));
    to += b.itemsize;
    return;
  }
  const Py_ssize_t stride = loan.stride(axis);
  const bool indirect = b.suboffsets != nullptr && b.suboffsets[axis] >= 0;
  if (axis + 1 == b.ndim && stride == b.itemsize && !indirect) {
    size_t bytes = static_cast<size_t>(loan.size(axis) * b.itemsize);
    if (bytes > 0) std::memcpy(to, from, bytes);
    to += bytes;
    return;
  }
  for (Py_ssize_t i = 0; i < loan.size(axis); ++i) {
    const char* at = from + i * stride;
    if (indirect) at = *reinterpret_cast<char* const*>(at) + b.suboffsets[axis];
    copy_axis(loan, axis + 1, at, to);
  }
}

/// What an exported buffer needs for as long as it is out.
struct Export {
  StorageRef storage;  // the tensor's .data may be replaced meanwhile
  absl::InlinedVector<Py_ssize_t, 12> sizes;
};

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  view->obj = nullptr;
  return guarded_int([&] {
    Tensor t = tensor_of(self);
    reading(t, "numpy");
    if (t.requires_grad())
      throw AutogradError({.op = "numpy",
                           .problem = "the array would not be part of history",
                           .got = to_string(type_of(t)),
                           .expected = "a tensor that does not require grad",
                           .next = "call x.detach().numpy()"});
    const char* format = format_of(t.dtype());
    if (format == nullptr)
      throw DTypeError({.op = "numpy",
                        .problem = "the buffer protocol has no such element type",
                        .got = std::string(name(t.dtype())),
                        .expected = "a dtype that NumPy has",
                        .next = "convert: x.float().numpy()"});
    const std::byte* data = t.data();
    const Geometry& g = t.geometry();
    bool contiguous = g.is_contiguous();
    if ((flags & PyBUF_STRIDES) != PyBUF_STRIDES && !contiguous) {
      PyErr_SetString(PyExc_BufferError, "the tensor is not contiguous");
      return -1;
    }
    auto held = std::make_unique<Export>();
    held->storage = t.impl()->storage;
    auto item = static_cast<Py_ssize_t>(size_of(t.dtype()));
    for (Int s : g.shape) held->sizes.push_back(s.value());
    for (Int s : g.strides) held->sizes.push_back(s.value() * item);
    view->buf = const_cast<std::byte*>(data);
    view->len = t.numel().value() * item;
    view->itemsize = item;
    view->readonly = 0;
    view->ndim = g.rank();
    view->format = (flags & PyBUF_FORMAT) != 0 ? const_cast<char*>(format) : nullptr;
    view->shape = (flags & PyBUF_ND) != 0 ? held->sizes.data() : nullptr;
    view->strides =
        (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? held->sizes.data() + g.rank() : nullptr;
    view->suboffsets = nullptr;
    view->internal = held.release();
    view->obj = new_ref(self);
    return 0;
  });
}

void release_buffer(PyObject*, Py_buffer* view) { delete static_cast<Export*>(view->internal); }

}  // namespace

bool has_buffer(PyObject* o) { return PyObject_CheckBuffer(o) != 0 && !PyBytes_Check(o); }

Tensor copy_buffer(PyObject* exporter) {
  Loan loan(exporter, PyBUF_FULL_RO);
  const Py_buffer& b = loan.view();
  Tensor t = empty({dtype_of(b), loan.shape(), {}});
  std::byte* to = t.mutable_data();
  copy_axis(loan, 0, static_cast<const char*>(b.buf), to);
  return t;
}

namespace {
PyTypeObject* array_stand_in = nullptr;
}  // namespace

Tensor stand_in_tensor(PyObject* o) {
  if (array_stand_in == nullptr || PyType_IsSubtype(Py_TYPE(o), array_stand_in) == 0) return {};
  return tensor_of(owned(PyObject_GetAttrString(o, "_tensor")).ptr());
}

Tensor share_buffer(PyObject* exporter, bool written) {
  if (!has_buffer(exporter))
    throw TypeError({.op = "from_numpy",
                     .problem = "the object has no buffer",
                     .got = Py_TYPE(exporter)->tp_name,
                     .expected = "a NumPy array",
                     .next = "use lt.tensor() for lists and numbers"});
  auto loan = std::make_shared<Loan>(exporter, PyBUF_RECORDS_RO);
  if (written && loan->view().readonly != 0)
    throw ValueError({.op = "from_numpy",
                      .problem = "the array is read-only",
                      .got = Py_TYPE(exporter)->tp_name,
                      .expected = "an array that may be written to",
                      .next = "copy it: lathe.tensor(array)"});
  const Py_buffer& b = loan->view();
  DType dtype = dtype_of(b);
  Geometry g{loan->shape(), {}, 0};
  Py_ssize_t bytes = b.itemsize;
  bool empty_array = false;
  for (int i = 0; i < b.ndim; ++i) {
    const Py_ssize_t size = loan->size(i), stride = loan->stride(i);
    if (size == 0) empty_array = true;
    if (stride % b.itemsize != 0 || (stride < 0 && size > 1))
      throw ValueError({.op = "from_numpy",
                        .problem = "the array's strides are negative or no multiples of an element",
                        .got = absl::StrCat(stride, " bytes on axis ", i),
                        .next = "copy it: lathe.tensor(array)"});
    g.strides.push_back(Int(static_cast<int64_t>(stride / b.itemsize)));
    bytes += (size - 1) * stride;
  }
  auto* storage = new Storage;
  storage->data = static_cast<std::byte*>(b.buf);
  storage->bytes = empty_array ? 0 : static_cast<size_t>(bytes);
  storage->release = [loan](Storage&) mutable { loan.reset(); };
  return make_tensor(StorageRef(storage), dtype, std::move(g));
}

void add_buffer(nb::module_& m) {
  m.def("_stands_for_array", [](nb::type_object cls) {
    array_stand_in = reinterpret_cast<PyTypeObject*>(cls.release().ptr());  // for ever
  });
  m.def("_array_input", [](nb::handle array) { return share_buffer(array.ptr(), false); });
  m.def("_to_bytes", [](const Tensor& tensor) {
    reading(tensor, "pickle");
    Tensor t = on_host(shape_ops<Tensor>::contiguous(detach(tensor)));
    return nb::bytes(t.data(), static_cast<size_t>(t.numel().value()) * size_of(t.dtype()));
  });
  m.def(
      "_storage",
      [](const Tensor& t) {
        Tensor host = on_host(detach(t));
        host.data();  // refuses what has no memory
        const StorageRef& s = host.impl()->storage;
        const size_t item = size_of(host.dtype());
        Geometry whole = Geometry::contiguous({Int(static_cast<int64_t>(s->bytes / item))});
        // Elements may begin anywhere in foreign memory, but for whole elements from its start.
        return owned(wrap(make_tensor(s, host.dtype(), std::move(whole))));
      },
      "All elements of a tensor's memory, as one axis over it.");
  m.def(
      "_over_storage",
      [](const Tensor& memory, nb::handle dtype, int64_t offset, nb::handle size,
         nb::handle stride) {
        Geometry g{to_shape(size.ptr()), to_shape(stride.ptr()), Int(offset)};
        const DType d = to_dtype(dtype.ptr());
        bool fits = offset >= 0 && g.shape.size() == g.strides.size(), empty_axis = false;
        const auto room = static_cast<int64_t>(memory.impl()->storage->bytes / size_of(d));
        __int128 last = offset;
        for (size_t i = 0; fits && i < g.shape.size(); ++i) {
          const int64_t n = g.shape[i].value(), step = g.strides[i].value();
          fits = n >= 0 && step >= 0;
          empty_axis |= n == 0;
          last += static_cast<__int128>(n - 1) * step;
          fits = fits && (last < (int64_t{1} << 62) || empty_axis);
        }
        if (!fits || (!empty_axis && last >= room))
          throw ValueError({.op = "load",
                            .problem = "a tensor's elements lie outside of its memory",
                            .got = absl::StrCat("offset ", offset, ", sizes ", to_string(g.shape),
                                                ", strides ", to_string(g.strides)),
                            .expected = absl::StrCat("elements 0 to ", room),
                            .next = "write the file again"});
        return owned(wrap(make_tensor(memory.impl()->storage, d, std::move(g))));
      },
      "A tensor of these elements over the memory of another; it is no view of it.");
  m.def("_from_bytes", [](nb::handle data, nb::handle dtype, nb::handle shape) {
    Loan loan(data.ptr(), PyBUF_SIMPLE);
    Tensor t = empty({to_dtype(dtype.ptr()), to_shape(shape.ptr()), {}});
    if (static_cast<size_t>(loan.view().len) != t.impl()->storage->bytes)
      throw ValueError({.op = "from_bytes",
                        .problem = "the bytes do not fill the shape",
                        .got = absl::StrCat(loan.view().len, " bytes"),
                        .expected = absl::StrCat(t.impl()->storage->bytes)});
    if (loan.view().len > 0)
      std::memcpy(t.mutable_data(), loan.view().buf, static_cast<size_t>(loan.view().len));
    return t;
  });
}

void append_buffer_slots(std::vector<PyType_Slot>& slots) {
  slots.push_back({Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)});
  slots.push_back({Py_bf_releasebuffer, reinterpret_cast<void*>(release_buffer)});
}

}  // namespace lathe::py
