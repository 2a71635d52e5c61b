#include "kernels/reference/contract.h"

#include <algorithm>
#include <cstring>

#include "core/base/error.h"
#include "core/scalar/element.h"
#include "kernels/reference/chain.h"
#include "kernels/runtime/pool.h"

namespace lathe::reference {
namespace {

// How terms of each accumulator's dtype are converted, summed and rounded.
template <class T>
struct Real {
  using Acc = T;
  static Acc load(DType dtype, const std::byte* at) {
    // Each once: f64 holds any float, but not any i64.
    if (is_floating(dtype) || is_complex(dtype)) return static_cast<T>(element_double(dtype, at));
    if (dtype == DType::u64) return static_cast<T>(element_bits(dtype, at));
    return static_cast<T>(element_int(dtype, at));
  }
  static void store(DType dtype, std::byte* at, Acc x) {
    store_element(dtype, at, static_cast<double>(x));
  }
  static Acc block(const Acc* a, const Acc* b, int64_t n) { return chain(a, b, n, Acc{0}); }
  static Acc add(Acc a, Acc b) { return a + b; }
};
template <class T>
struct Integer {
  using Acc = uint64_t;  // wraps; the low bits are the same in any width
  static Acc load(DType dtype, const std::byte* at) {
    return static_cast<Acc>(static_cast<int64_t>(static_cast<T>(element_int(dtype, at))));
  }
  static void store(DType dtype, std::byte* at, Acc x) {
    store_element(dtype, at, static_cast<int64_t>(static_cast<T>(x)));
  }
  static Acc block(const Acc* a, const Acc* b, int64_t n) {
    Acc acc = 0;
    for (int64_t i = 0; i < n; ++i) acc += a[i] * b[i];
    return acc;
  }
  static Acc add(Acc a, Acc b) { return a + b; }
};
template <class T>
struct Pair {
  T re = 0, im = 0;
};
template <class T>
struct Complex {
  using Acc = Pair<T>;
  static Acc load(DType dtype, const std::byte* at) {
    return {static_cast<T>(element_double(dtype, at)),
            static_cast<T>(element_imaginary(dtype, at))};
  }
  static void store(DType, std::byte* at, Acc x) { std::memcpy(at, &x, sizeof x); }
  static Acc block(const Acc* a, const Acc* b, int64_t n) {
    Acc acc;
    for (int64_t i = 0; i < n; ++i)
      acc = {fused(-a[i].im, b[i].im, fused(a[i].re, b[i].re, acc.re)),
             fused(a[i].im, b[i].re, fused(a[i].re, b[i].im, acc.im))};
    return acc;
  }
  static Acc add(Acc a, Acc b) { return {a.re + b.re, a.im + b.im}; }
};
struct Bool {  // true if any pair is
  using Acc = uint8_t;
  static Acc load(DType dtype, const std::byte* at) { return element_double(dtype, at) != 0; }
  static void store(DType dtype, std::byte* at, Acc x) { store_element(dtype, at, int64_t{x}); }
  static Acc block(const Acc* a, const Acc* b, int64_t n) {
    Acc acc = 0;
    for (int64_t i = 0; i < n; ++i) acc |= a[i] & b[i];
    return acc;
  }
  static Acc add(Acc a, Acc b) { return a | b; }
};

/// The value of every variable at one point of the index space.
using Point = Sizes;

template <class K>
typename K::Acc read(const Addressing& access, const std::byte* base, const Point& p,
                     int64_t batch) {
  int64_t at = access.offset + batch;
  for (size_t v = 0; v < p.size(); ++v) at += access.stride[v] * p[v];
  for (const Window& w : access.windows) {
    int64_t x = w.base;
    for (size_t v = 0; v < p.size(); ++v) x += w.coefficient[v] * p[v];
    x /= w.divisor;
    if (x < 0 || x >= w.size) return {};
    at += x * w.stride;
  }
  return K::load(access.dtype, base + at * static_cast<int64_t>(size_of(access.dtype)));
}

/// Whether the variables that an affine output fixes have a value here.
bool exists(const Addressing& access, const Point& p) {
  for (const Window& w : access.windows) {
    if (w.divisor == 1) continue;
    int64_t x = w.base;
    for (size_t v = 0; v < p.size(); ++v) x += w.coefficient[v] * p[v];
    if (x % w.divisor != 0) return false;
  }
  return true;
}

/// Steps `vars` of `p` to the next point in row-major order.
void advance(const Contraction& c, absl::Span<const int> vars, Point& p) {
  for (size_t i = vars.size(); i-- > 0;) {
    size_t v = static_cast<size_t>(vars[i]);
    if (++p[v] < c.extent[v]) return;
    p[v] = 0;
  }
}

struct Bases {
  int64_t a, b, out;
};

template <class K>
typename K::Acc sum(const Contraction& c, const std::byte* a, const std::byte* b, Bases at,
                    Point p) {
  typename K::Acc total{}, left[kSumBlock], right[kSumBlock];
  int64_t count = 0;
  bool first = true;
  auto close = [&] {
    auto acc = K::block(left, right, count);
    total = first ? acc : K::add(total, acc);
    first = false;
    count = 0;
  };
  for (int64_t t = c.terms(); t > 0; --t) {
    if (exists(c.a, p) && exists(c.b, p)) {
      left[count] = read<K>(c.a, a, p, at.a);
      right[count] = read<K>(c.b, b, p, at.b);
      if (++count == kSumBlock) close();
    }
    advance(c, c.reduced, p);
  }
  if (count > 0) close();
  return total;
}

template <class K>
void run(const Contraction& c, const std::byte* a, const std::byte* b, std::byte* out) {
  int64_t batches = 1;
  for (int64_t e : c.batch) batches *= e;
  int64_t outputs = c.outputs();
  const auto bytes = static_cast<int64_t>(size_of(c.out.dtype));
  auto one = [&](int64_t i) {
    Bases at{0, 0, 0};
    int64_t rest = i / outputs;
    for (size_t axis = c.batch.size(); axis-- > 0;) {
      int64_t x = rest % c.batch[axis];
      rest /= c.batch[axis];
      at.a += x * c.a.batch[axis];
      at.b += x * c.b.batch[axis];
      at.out += x * c.out.batch[axis];
    }
    Point p(c.extent.size(), 0);
    rest = i % outputs;
    for (size_t k = c.outer.size(); k-- > 0;) {
      size_t v = static_cast<size_t>(c.outer[k]);
      p[v] = rest % c.extent[v];
      rest /= c.extent[v];
      at.out += p[v] * c.out.stride[v];
    }
    K::store(c.out.dtype, out + at.out * bytes, sum<K>(c, a, b, at, std::move(p)));
  };
  int64_t grain = std::max<int64_t>(1, 4096 / std::max<int64_t>(1, c.terms()));
  parallel_for(batches * outputs, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) one(i);
  });
}

}  // namespace

void contract(const Contraction& c, DType accumulator, const std::byte* a, const std::byte* b,
              std::byte* out) {
  switch (accumulator) {
    case DType::bool_:
      return run<Bool>(c, a, b, out);
    case DType::u8:
      return run<Integer<uint8_t>>(c, a, b, out);
    case DType::i8:
      return run<Integer<int8_t>>(c, a, b, out);
    case DType::i16:
      return run<Integer<int16_t>>(c, a, b, out);
    case DType::i32:
      return run<Integer<int32_t>>(c, a, b, out);
    case DType::i64:
      return run<Integer<int64_t>>(c, a, b, out);
    case DType::u16:
      return run<Integer<uint16_t>>(c, a, b, out);
    case DType::u32:
      return run<Integer<uint32_t>>(c, a, b, out);
    case DType::u64:
      return run<Integer<uint64_t>>(c, a, b, out);
    case DType::f32:
      return run<Real<float>>(c, a, b, out);
    case DType::f64:
      return run<Real<double>>(c, a, b, out);
    case DType::c64:
      return run<Complex<float>>(c, a, b, out);
    case DType::c128:
      return run<Complex<double>>(c, a, b, out);
    default:
      LATHE_INTERNAL("no sum is kept in this dtype");
  }
}

}  // namespace lathe::reference
