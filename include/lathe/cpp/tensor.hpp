// Tensors and the types of their elements.
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <ostream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "lathe/cpp/error.hpp"
#include "lathe/lathe.h"

namespace lathe {
inline namespace v1 {

enum class DType : int {
  bool_ = LATHE_BOOL,
  u8 = LATHE_U8,
  i8 = LATHE_I8,
  i16 = LATHE_I16,
  i32 = LATHE_I32,
  i64 = LATHE_I64,
  f16 = LATHE_F16,
  bf16 = LATHE_BF16,
  f32 = LATHE_F32,
  f64 = LATHE_F64,
  c64 = LATHE_C64,
  u16 = LATHE_U16,
  u32 = LATHE_U32,
  u64 = LATHE_U64,
  c128 = LATHE_C128,
};

/// The dtype of a C++ type.
template <class T>
struct DTypeOf;
#define LATHE_DTYPE_OF(type, code)              \
  template <>                                   \
  struct DTypeOf<type> {                        \
    static constexpr DType value = DType::code; \
  }
LATHE_DTYPE_OF(bool, bool_);
LATHE_DTYPE_OF(uint8_t, u8);
LATHE_DTYPE_OF(int8_t, i8);
LATHE_DTYPE_OF(int16_t, i16);
LATHE_DTYPE_OF(int32_t, i32);
LATHE_DTYPE_OF(int64_t, i64);
LATHE_DTYPE_OF(uint16_t, u16);
LATHE_DTYPE_OF(uint32_t, u32);
LATHE_DTYPE_OF(uint64_t, u64);
LATHE_DTYPE_OF(float, f32);
LATHE_DTYPE_OF(double, f64);
LATHE_DTYPE_OF(std::complex<float>, c64);
LATHE_DTYPE_OF(std::complex<double>, c128);
#undef LATHE_DTYPE_OF

using Sizes = std::vector<int64_t>;

/// A handle to a tensor; copies share it. Empty where an op takes None.
class Tensor {
 public:
  Tensor() : p_(nullptr) {}
  explicit Tensor(lathe_tensor* adopted) : p_(adopted) {}
  /// A copy of row-major elements in host memory, as many as the sizes say.
  template <class T>
  Tensor(const T* data, const Sizes& sizes) : p_(nullptr) {
    detail::check(lathe_tensor_copy(data, static_cast<lathe_dtype>(DTypeOf<T>::value), sizes.data(),
                                    static_cast<int>(sizes.size()), &p_));
  }
  template <class T>
  Tensor(std::initializer_list<T> values, const Sizes& sizes)
      : Tensor(all_of(values.begin(), values.size(), sizes), sizes) {}
  template <class T>
  Tensor(const std::vector<T>& values, const Sizes& sizes)
      : Tensor(all_of(values.data(), values.size(), sizes), sizes) {}
  Tensor(const std::vector<bool>& values, const Sizes& sizes) : p_(nullptr) {
    const auto bytes = std::make_unique<bool[]>(values.size());  // a vector of them packs bits
    std::copy(values.begin(), values.end(), bytes.get());
    *this = Tensor(all_of(bytes.get(), values.size(), sizes), sizes);
  }
  /// Over memory of the caller's, which must outlive every tensor that uses it.
  template <class T>
  static Tensor borrow(T* data, const Sizes& sizes) {
    Tensor t;
    detail::check(lathe_tensor_borrow(data, static_cast<lathe_dtype>(DTypeOf<T>::value),
                                      sizes.data(), static_cast<int>(sizes.size()), nullptr,
                                      nullptr, &t.p_));
    return t;
  }
  Tensor(const Tensor& o) : p_(lathe_tensor_retain(o.p_)) {}
  Tensor(Tensor&& o) noexcept : p_(std::exchange(o.p_, nullptr)) {}
  Tensor& operator=(Tensor o) noexcept {
    std::swap(p_, o.p_);
    return *this;
  }
  ~Tensor() { lathe_tensor_release(p_); }

  bool defined() const { return p_ != nullptr; }
  lathe_tensor* get() const { return p_; }
  lathe_tensor* release() { return std::exchange(p_, nullptr); }

  DType dtype() const {
    const lathe_dtype code = lathe_tensor_dtype(p_);
    if (code == LATHE_NO_DTYPE) throw Error(LATHE_TYPE_ERROR, lathe_last_error());
    return static_cast<DType>(code);
  }
  int rank() const {
    const int axes = lathe_tensor_rank(p_);
    if (axes < 0) throw Error(LATHE_TYPE_ERROR, lathe_last_error());
    return axes;
  }
  Sizes sizes() const {
    Sizes out(static_cast<size_t>(rank()));
    detail::check(lathe_tensor_sizes(p_, out.data()));
    return out;
  }
  int64_t size(int axis) const {
    Sizes all = sizes();
    size_t at = static_cast<size_t>(axis < 0 ? axis + rank() : axis);
    if (at >= all.size()) throw Error(LATHE_INDEX_ERROR, "size: there is no such axis");
    return all[at];
  }
  int64_t numel() const {
    int64_t n = 1;
    for (int64_t s : sizes()) n *= s;
    return n;
  }
  /// The elements, row-major. DTypeError unless T is this tensor's type.
  template <class T>
  std::vector<T> values() const {
    const auto n = static_cast<size_t>(numel());
    expect<T>();
    if constexpr (std::is_same_v<T, bool>) {
      const auto bytes = std::make_unique<bool[]>(n);
      detail::check(lathe_tensor_read(p_, bytes.get(), n));
      return std::vector<bool>(bytes.get(), bytes.get() + n);
    } else {
      std::vector<T> out(n);
      detail::check(lathe_tensor_read(p_, out.data(), n * sizeof(T)));
      return out;
    }
  }
  /// The only element.
  template <class T>
  T item() const {
    T out{};
    expect<T>();
    detail::check(lathe_tensor_read(p_, &out, sizeof(T)));
    return out;
  }
  /// The elements where they lie; the tensor keeps them. ValueError if they are not row-major.
  template <class T>
  const T* data() const {
    const void* out = nullptr;
    expect<T>();
    detail::check(lathe_tensor_data(p_, &out));
    return static_cast<const T*>(out);
  }
  std::string text() const {
    char* out = nullptr;
    detail::check(lathe_tensor_print(p_, &out));
    return detail::taken(out);
  }
  /// this[...] = value.
  const Tensor& assign(const Tensor& value) const {
    detail::check(lathe_tensor_assign(p_, value.p_));
    return *this;
  }

  Tensor& set_requires_grad(bool on = true) {
    detail::check(lathe_set_requires_grad(p_, on ? 1 : 0));
    return *this;
  }
  bool requires_grad() const { return defined() && lathe_requires_grad(p_) == 1; }
  void backward(const Tensor& dy = Tensor(), bool retain = false) const {
    detail::check(lathe_backward(p_, dy.p_, retain ? 1 : 0));
  }
  /// What backward has gathered here; empty before.
  Tensor grad() const {
    lathe_tensor* out = nullptr;
    detail::check(lathe_tensor_grad(p_, &out));
    return Tensor(out);
  }
  void zero_grad() const { detail::check(lathe_clear_grad(p_)); }
  Tensor detach() const {
    lathe_tensor* out = nullptr;
    detail::check(lathe_detach(p_, &out));
    return Tensor(out);
  }
  Tensor sum() const;
  Tensor mean() const;

 private:
  /// `data`, if it has as many values as the sizes say.
  template <class T>
  static const T* all_of(const T* data, size_t count, const Sizes& sizes) {
    double n = 1;  // exact wherever it can be `count`
    for (int64_t s : sizes) n *= static_cast<double>(s);
    if (n != static_cast<double>(count))
      throw Error(LATHE_SHAPE_ERROR, "the values are not as many as the sizes say");
    return data;
  }
  template <class T>
  void expect() const {
    if (dtype() != DTypeOf<T>::value)
      throw Error(LATHE_DTYPE_ERROR,
                  std::string("the elements are ") +
                      lathe_dtype_name(static_cast<lathe_dtype>(dtype())) + ", not " +
                      lathe_dtype_name(static_cast<lathe_dtype>(DTypeOf<T>::value)));
  }
  lathe_tensor* p_;
};

using Tensors = std::vector<Tensor>;

inline std::ostream& operator<<(std::ostream& out, const Tensor& t) { return out << t.text(); }

}  // namespace v1
}  // namespace lathe
