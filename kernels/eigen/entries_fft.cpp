// Fourier transforms of any length, by the transform in Eigen's unsupported modules (kissfft's
// mixed radices; its twiddles are exact to the last bit or two).
//
// All is computed in double precision whatever the operands' dtype: without vector instructions it
// takes no longer than single, and results in c64 are then rounded once an axis. A length with a
// prime factor above kLargestRadix is a convolution of smooth length instead (Bluestein, "A linear
// filtering approach to the computation of the discrete Fourier transform", 1970): the mixed
// radices take p operations an element for a factor p.
//
// Every line is transformed by itself, so neither layout nor threads nor neighbours change its
// bits.
#include "kernels/eigen/fft.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <unsupported/Eigen/FFT>
#include <vector>

namespace lathe::eigen {
namespace {

using Complex = std::complex<double>;

constexpr int64_t kLargestRadix = 50;

int64_t largest_factor(int64_t n) {
  int64_t largest = 1;
  for (int64_t p = 2; p * p <= n; ++p)
    for (; n % p == 0; n /= p) largest = p;
  return std::max(largest, n);
}

/// The least number from n on with no prime factor above 5.
int64_t smooth_from(int64_t n) {
  for (;; ++n) {
    int64_t rest = n;
    for (int64_t p : {2, 3, 5})
      while (rest % p == 0) rest /= p;
    if (rest == 1) return n;
  }
}

/// Tables and memory for transforms of one thread.
using Engine = Eigen::FFT<double>;

/// A length with a large prime factor: the transform is a convolution with exp(i pi k^2 / n).
struct Chirp {
  int64_t n, m;
  std::vector<Complex> turn;    // exp(-i pi k^2 / n)
  std::vector<Complex> kernel;  // the transform of its conjugate, wrapped around m, by m

  Chirp(int64_t length, Engine& engine) : n(length), m(smooth_from(2 * length - 1)) {
    turn.resize(static_cast<size_t>(n));
    for (int64_t k = 0; k < n; ++k) {
      const double angle = M_PI * static_cast<double>(k * k % (2 * n)) / static_cast<double>(n);
      turn[static_cast<size_t>(k)] = {std::cos(angle), -std::sin(angle)};
    }
    std::vector<Complex> wrapped(static_cast<size_t>(m));
    for (int64_t k = 0; k < n; ++k) {
      const Complex value = std::conj(turn[static_cast<size_t>(k)]);
      wrapped[static_cast<size_t>(k)] = value;
      if (k > 0) wrapped[static_cast<size_t>(m - k)] = value;
    }
    kernel.resize(static_cast<size_t>(m));
    engine.fwd(kernel.data(), wrapped.data(), m);
    for (Complex& x : kernel) x /= static_cast<double>(m);
  }

  void forward(Engine& engine, const Complex* from, Complex* to) const {
    std::vector<Complex> a(static_cast<size_t>(m)), b(static_cast<size_t>(m));
    for (size_t k = 0; k < turn.size(); ++k) a[k] = from[k] * turn[k];
    engine.fwd(b.data(), a.data(), m);
    for (size_t k = 0; k < kernel.size(); ++k) b[k] *= kernel[k];
    engine.inv(a.data(), b.data(), m);
    for (size_t k = 0; k < turn.size(); ++k) to[k] = a[k] * turn[k];
  }
};

/// What one thread keeps between calls: tables of the lengths it met, until there are too many.
struct Tables {
  Engine engine;
  std::vector<int64_t> lengths;
  std::vector<std::unique_ptr<Chirp>> chirps;

  Tables() {
    engine.SetFlag(Engine::Unscaled);
    engine.SetFlag(Engine::HalfSpectrum);
  }
  void note(int64_t n) {
    if (std::find(lengths.begin(), lengths.end(), n) != lengths.end()) return;
    constexpr size_t kKept = 16;
    if (lengths.size() >= kKept) {
      engine = Engine();
      engine.SetFlag(Engine::Unscaled);
      engine.SetFlag(Engine::HalfSpectrum);
      lengths.clear();
      chirps.clear();
    }
    lengths.push_back(n);
  }
  const Chirp& chirp(int64_t n) {
    for (const auto& c : chirps)
      if (c->n == n) return *c;
    chirps.push_back(std::make_unique<Chirp>(n, engine));
    return *chirps.back();
  }
};

Tables& tables(int64_t n) {
  static thread_local Tables t_tables;
  t_tables.note(n);
  return t_tables;
}

/// One length and direction, without a scale.
class Transform {
 public:
  Transform(int64_t n, bool forward)
      : n_(n), forward_(forward), chirped_(largest_factor(n) > kLargestRadix) {}

  void run(Complex* from, Complex* to) const {
    if (n_ == 1) {  // the mixed radices begin at 2
      *to = *from;
      return;
    }
    Tables& t = tables(n_);
    if (!chirped_) {
      if (forward_) t.engine.fwd(to, from, n_);
      if (!forward_) t.engine.inv(to, from, n_);
      return;
    }
    if (forward_) return t.chirp(n_).forward(t.engine, from, to);
    for (int64_t k = 0; k < n_; ++k) from[k] = std::conj(from[k]);
    t.chirp(n_).forward(t.engine, from, to);
    for (int64_t k = 0; k < n_; ++k) to[k] = std::conj(to[k]);
  }
  /// The first half of the transform of real numbers, n / 2 + 1 of it.
  void run_real(const double* from, Complex* to) const {
    if (!chirped_ && n_ > 1) return tables(n_).engine.fwd(to, from, n_);
    std::vector<Complex> wide(from, from + n_), all(static_cast<size_t>(n_));
    run(wide.data(), all.data());
    std::copy_n(all.begin(), n_ / 2 + 1, to);
  }
  /// The real inverse of such a half.
  void run_half(const Complex* from, double* to) const {
    if (!chirped_ && n_ > 1) return tables(n_).engine.inv(to, from, n_);
    std::vector<Complex> all(static_cast<size_t>(n_)), wide(static_cast<size_t>(n_));
    std::copy_n(from, n_ / 2 + 1, all.begin());
    for (int64_t k = 1; k <= (n_ - 1) / 2; ++k)
      all[static_cast<size_t>(n_ - k)] = std::conj(from[k]);
    run(all.data(), wide.data());
    for (int64_t k = 0; k < n_; ++k) to[k] = wide[static_cast<size_t>(k)].real();
  }

 private:
  int64_t n_;
  bool forward_, chirped_;
};

size_t axis_of(const Operand& x, Int axis) {
  return static_cast<size_t>(axis.value() < 0 ? axis.value() + x.rank() : axis.value());
}

/// Where line `at` along an axis begins; lines are counted over the other axes in row-major order.
int64_t line_offset(const Operand& x, size_t axis, int64_t at) {
  int64_t offset = 0;
  for (size_t i = x.shape.size(); i-- > 0;) {
    if (i == axis) continue;
    offset += at % x.shape[i] * x.strides[i];
    at /= x.shape[i];
  }
  return offset;
}

int64_t lines_of(const Operand& x, size_t axis) {
  int64_t n = 1;
  for (size_t i = 0; i < x.shape.size(); ++i)
    if (i != axis) n *= x.shape[i];
  return n;
}

/// As the definitions say: 0 nothing, 1 by the root of n, 2 by n.
double scale_of(int64_t mode, int64_t n) {
  const auto count = static_cast<double>(n);
  return mode == 0 ? 1.0 : mode == 1 ? 1.0 / std::sqrt(count) : 1.0 / count;
}

/// For every line of `n` along the axis: takes `reads` elements into A, calls work(A*, B*), gives
/// `writes` elements of B back, scaled.
template <class From, class To, class A, class B, class Work>
void each_line(const PluginHost& host, const Operand& x, const Operand& y, size_t axis, int64_t n,
               double scale, Work work) {
  const int64_t reads = x.shape[axis], writes = y.shape[axis];
  const auto grain = std::max<int64_t>(1, 4096 / std::max<int64_t>(1, n));
  host.parallel_for(lines_of(y, axis), grain, [&](int64_t begin, int64_t end) {
    std::vector<A> in(static_cast<size_t>(std::max(n, reads)));
    std::vector<B> out(static_cast<size_t>(std::max(n, writes)));
    for (int64_t line = begin; line < end; ++line) {
      const From* from = reinterpret_cast<const From*>(x.data) + line_offset(x, axis, line);
      To* to = reinterpret_cast<To*>(y.data) + line_offset(y, axis, line);
      for (int64_t i = 0; i < reads; ++i) in[static_cast<size_t>(i)] = A(from[i * x.strides[axis]]);
      work(in.data(), out.data());
      for (int64_t i = 0; i < writes; ++i)
        to[i * y.strides[axis]] = To(out[static_cast<size_t>(i)] * scale);
    }
  });
}

/// fft_c2c(input, dim, norm, forward)
template <class R>
Fault complex_to_complex(const PluginHost& host, const PluginCall& c) {
  using C = std::complex<R>;
  const Operand& y = c.out[0];
  const Operand* x = &c.in[0];
  for (Int d : c.args.ints(1)) {
    const size_t axis = axis_of(y, d);
    const int64_t n = y.shape[axis];
    const Transform transform(n, c.args.flag(3));
    each_line<C, C, Complex, Complex>(host, *x, y, axis, n, scale_of(c.args.integer(2).value(), n),
                                      [&](Complex* a, Complex* b) { transform.run(a, b); });
    x = &y;
  }
  return {};
}

/// fft_r2c(input, dim, norm)
template <class R>
Fault real_to_complex(const PluginHost& host, const PluginCall& c) {
  const size_t axis = axis_of(c.in[0], c.args.integer(1));
  const int64_t n = c.in[0].shape[axis];
  const Transform transform(n, true);
  each_line<R, std::complex<R>, double, Complex>(
      host, c.in[0], c.out[0], axis, n, scale_of(c.args.integer(2).value(), n),
      [&](const double* a, Complex* b) { transform.run_real(a, b); });
  return {};
}

/// fft_c2r(input, dim, norm, last)
template <class R>
Fault complex_to_real(const PluginHost& host, const PluginCall& c) {
  const size_t axis = axis_of(c.in[0], c.args.integer(1));
  const int64_t n = c.out[0].shape[axis];
  const Transform transform(n, false);
  each_line<std::complex<R>, R, Complex, double>(
      host, c.in[0], c.out[0], axis, n, scale_of(c.args.integer(2).value(), n),
      [&](Complex* a, double* b) {
        a[0] = a[0].real();  // of a real line these two are real: their other part counts as 0
        if (n % 2 == 0) a[n / 2] = a[n / 2].real();
        transform.run_half(a, b);
      });
  return {};
}

}  // namespace

Verdict fft_accepts(const Query& query) {
  for (std::string_view name : {"fft_c2c", "fft_r2c", "fft_c2r"})
    if (query.op.name() == name) return Verdict::yes();
  return Verdict::no(Reason::op, query.op.name());
}

Fault fft_call(const PluginHost& host, const PluginCall& call) {
  const bool wide = real_type(call.in[0].dtype) == DType::f64;
  if (call.op == "fft_c2c")
    return wide ? complex_to_complex<double>(host, call) : complex_to_complex<float>(host, call);
  if (call.op == "fft_r2c")
    return wide ? real_to_complex<double>(host, call) : real_to_complex<float>(host, call);
  return wide ? complex_to_real<double>(host, call) : complex_to_real<float>(host, call);
}

}  // namespace lathe::eigen
