// Batches of matrices as LAPACK takes them: an operand's last axes are a matrix, a vector or a
// number, the axes before them count them. Every matrix is copied into memory of its own, column by
// column, so that the layout of operands changes nothing; results are copied back the same way.
#pragma once

#include <absl/functional/function_ref.h>

#include <cmath>
#include <limits>
#include <vector>

#include "kernels/openblas/library.h"

namespace lathe::openblas {

/// How many there are, before the last `axes` axes.
inline int64_t items(const Operand& x, int axes) {
  int64_t n = 1;
  for (int i = 0; i + axes < x.rank(); ++i) n *= x.shape[static_cast<size_t>(i)];
  return n;
}
/// Where item `at` begins, in elements.
inline int64_t item_offset(const Operand& x, int axes, int64_t at) {
  int64_t offset = 0;
  for (int i = x.rank() - axes; i-- > 0;) {
    const auto axis = static_cast<size_t>(i);
    offset += at % x.shape[axis] * x.strides[axis];
    at /= x.shape[axis];
  }
  return offset;
}
/// Extent of an axis, counted from the last.
inline int64_t extent(const Operand& x, int from_last) {
  return x.shape[x.shape.size() - static_cast<size_t>(from_last)];
}
inline int64_t stride(const Operand& x, int from_last) {
  return x.strides[x.strides.size() - static_cast<size_t>(from_last)];
}
/// For LAPACK, whose sizes are 32 bits wide (lapack_call sees to it), and which wants a leading
/// dimension of 1 at least.
inline int narrow(int64_t n) { return static_cast<int>(n); }
inline int leading(int64_t n) { return narrow(n < 1 ? 1 : n); }

/// Memory while a matrix is worked on, from the host's allocator.
template <class T>
class Buffer {
 public:
  explicit Buffer(int64_t count)
      : bytes_(static_cast<size_t>(count < 1 ? 1 : count) * sizeof(T)),
        data_(host().allocate(bytes_)) {}
  ~Buffer() { host().release(data_, bytes_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  T* data() const { return reinterpret_cast<T*>(data_); }
  operator T*() const { return data(); }  // NOLINT: it goes where a pointer does
  T& operator[](int64_t i) const { return data()[i]; }

 private:
  size_t bytes_;
  std::byte* data_;
};

/// body(i, j) for all of a matrix, in squares where it is larger than the first cache: rows become
/// columns, so one of the two operands is read or written across lines of the cache, which a square
/// uses up while they are there.
template <class Body>
void in_squares(int64_t rows, int64_t cols, Body body) {
  constexpr int64_t kSide = 16, kCached = 4096;
  const int64_t side = rows * cols <= kCached ? std::max(rows, cols) : kSide;
  for (int64_t j0 = 0; j0 < cols; j0 += side)
    for (int64_t i0 = 0; i0 < rows; i0 += side) {
      const int64_t j1 = std::min(cols, j0 + side), i1 = std::min(rows, i0 + side);
      for (int64_t j = j0; j < j1; ++j)
        for (int64_t i = i0; i < i1; ++i) body(i, j);
    }
}

/// Matrix `at` of a batch into `to`, column by column, `ld` from column to column.
template <class T>
void load(const Operand& x, int64_t at, T* to, int64_t ld) {
  const T* from = reinterpret_cast<const T*>(x.data) + item_offset(x, 2, at);
  const int64_t rows = extent(x, 2), cols = extent(x, 1), down = stride(x, 2), along = stride(x, 1);
  in_squares(rows, cols,
             [=](int64_t i, int64_t j) { to[i + j * ld] = from[i * down + j * along]; });
}
/// The reverse; `from` may have more rows than the result.
template <class T>
void store(const T* from, int64_t ld, const Operand& x, int64_t at) {
  T* to = reinterpret_cast<T*>(x.data) + item_offset(x, 2, at);
  const int64_t rows = extent(x, 2), cols = extent(x, 1);
  in_squares(cols, rows, [=](int64_t j, int64_t i) { to[i * cols + j] = from[i + j * ld]; });
}
/// A vector of a batch; results lie in a row.
template <class T>
void load_vector(const Operand& x, int64_t at, T* to) {
  const T* from = reinterpret_cast<const T*>(x.data) + item_offset(x, 1, at);
  for (int64_t i = 0; i < extent(x, 1); ++i) to[i] = from[i * stride(x, 1)];
}
template <class T>
T* vector_of(const Operand& out, int64_t at) {
  return reinterpret_cast<T*>(out.data) + at * extent(out, 1);
}
template <class T>
T& number_of(const Operand& out, int64_t at) {
  return reinterpret_cast<T*>(out.data)[at];
}

template <class T>
void fill_nan(const Operand& out, int64_t at) {
  const int64_t count = extent(out, 2) * extent(out, 1);
  T* to = reinterpret_cast<T*>(out.data) + at * count;
  for (int64_t i = 0; i < count; ++i) to[i] = T(std::numeric_limits<Real<T>>::quiet_NaN());
}
template <class T>
void set_identity(T* to, int64_t n) {
  for (int64_t i = 0; i < n * n; ++i) to[i] = T{0};
  for (int64_t i = 0; i < n; ++i) to[i * n + i] = T{1};
}
template <class T>
bool all_finite(const T* a, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    if (!std::isfinite(std::abs(a[i]))) return false;
  return true;
}

/// What LAPACK said of an item: 0 is well. Not one of its own numbers: the operand holds NaN or
/// infinities, with which some of its loops do not end.
inline constexpr int kNotFinite = std::numeric_limits<int>::min();

/// Runs body(item) for every one, on the pool; `cost`: of one, in operations. Returns what it said
/// of each.
std::vector<int> each_item(int64_t count, double cost, absl::FunctionRef<int(int64_t)> body);
inline double cube(int64_t n) { return static_cast<double>(n) * static_cast<double>(n * n); }

/// The first item of which there is something to say, as a fault: `sentence` of what its number
/// means ("is singular"), with the number put for '#'. `batched`: there are axes before the matrix.
Fault first_fault(const std::vector<int>& infos, bool batched, std::string_view sentence,
                  std::string_view expected, std::string_view next);

/// Into the result `out`, and a fault if the caller asked for one.
void store_infos(const std::vector<int>& infos, const Operand& out);

/// f.operator()<T>() for the operand's element type.
template <class F>
auto by_type(DType dtype, F f) {
  switch (dtype) {
    case DType::f64:
      return f.template operator()<double>();
    case DType::c64:
      return f.template operator()<std::complex<float>>();
    case DType::c128:
      return f.template operator()<std::complex<double>>();
    default:
      return f.template operator()<float>();
  }
}

/// What runs a definition, of a function template on the element type.
#define LATHE_BY_TYPE(function)                                               \
  [](const PluginCall& c) {                                                   \
    return by_type(c.in[0].dtype, [&]<class T>() { return function<T>(c); }); \
  }

/// A definition and what runs it.
struct Routine {
  std::string_view op;
  Fault (*run)(const PluginCall&);
};
absl::Span<const Routine> solving_routines();
absl::Span<const Routine> factoring_routines();
absl::Span<const Routine> spectral_routines();

}  // namespace lathe::openblas
