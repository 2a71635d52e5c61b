// Singular values, eigenvalues and their vectors. None of these is asked with NaN or infinities:
// some of LAPACK's iterations would not end.
#include <algorithm>
#include <cmath>

#include "kernels/openblas/matrices.h"

namespace lathe::openblas {
namespace {

constexpr std::string_view kStuck = "has no decomposition that LAPACK finds: it stopped at #";
constexpr std::string_view kOther = "a better conditioned matrix";
constexpr std::string_view kTry = "scale it, or compute in float64";

Fault unless_found(const PluginCall& c, const std::vector<int>& infos) {
  return first_fault(infos, c.in[0].rank() > 2, kStuck, kOther, kTry);
}

/// linalg_svd_parts(A, full_matrices) -> (U, S, Vh); linalg_svd_values(A) -> S
template <class T>
Fault svd(const PluginCall& c) {
  using R = Real<T>;
  const Operand& x = c.in[0];
  const bool vectors = c.out.size() == 3;
  const Operand& values = c.out[vectors ? 1 : 0];
  const bool full = vectors && c.args.flag(1);
  const int64_t m = extent(x, 2), n = extent(x, 1), k = std::min(m, n);
  const int64_t left = !vectors ? 0 : full ? m : k, right = !vectors ? 0 : full ? n : k;
  auto infos = each_item(items(x, 2), 8 * cube(std::max(m, n)), [&](int64_t at) {
    Buffer<T> a(m * n), u(m * left), vh(right * n);
    Buffer<R> s(k);
    load(x, at, a.data(), m);
    if (!all_finite(a.data(), m * n)) return kNotFinite;
    if (k > 0) {
      const int info =
          lapack<T>().gesdd(kColumnMajor,
                            !vectors ? 'N'
                            : full   ? 'A'
                                     : 'S',
                            narrow(m), narrow(n), a, leading(m), s, u, leading(vectors ? m : 1), vh,
                            leading(vectors ? right : 1));
      if (info != 0) return info;
    } else if (full) {
      set_identity(u.data(), m);
      set_identity(vh.data(), n);
    }
    std::copy_n(s.data(), k, vector_of<R>(values, at));
    if (!vectors) return 0;
    store<T>(u, m, c.out[0], at);
    store<T>(vh, right, c.out[2], at);
    return 0;
  });
  return unless_found(c, infos);
}

/// linalg_eigh(A, UPLO) -> (eigenvalues, eigenvectors); linalg_eigvalsh(A, UPLO) -> eigenvalues
template <class T>
Fault symmetric(const PluginCall& c) {
  const Operand& x = c.in[0];
  const bool vectors = c.out.size() == 2;
  const char side = (c.args.text(1) == "U" || c.args.text(1) == "u") ? 'U' : 'L';
  const int64_t n = extent(x, 1);
  auto infos = each_item(items(x, 2), 4 * cube(n), [&](int64_t at) {
    Buffer<T> a(n * n);
    load(x, at, a.data(), n);
    for (int64_t j = 0; j < n; ++j)  // the other triangle is not the matrix
      for (int64_t i = 0; i < n; ++i)
        if (side == 'L' ? i < j : i > j) a[i + j * n] = T{0};
    if (!all_finite(a.data(), n * n)) return kNotFinite;
    if (n > 0) {
      const int info = lapack<T>().syevd(kColumnMajor, vectors ? 'V' : 'N', side, narrow(n), a,
                                         leading(n), vector_of<Real<T>>(c.out[0], at));
      if (info != 0) return info;
    }
    if (vectors) store<T>(a, n, c.out[1], at);
    return 0;
  });
  return unless_found(c, infos);
}

/// Eigenvectors of a real matrix: LAPACK gives a conjugate pair as real and imaginary part.
template <class R>
void pair_up(const R* packed, const R* imaginary, int64_t n, std::complex<R>* v) {
  for (int64_t j = 0; j < n; ++j) {
    const bool pair = imaginary[j] != 0 && j + 1 < n;
    for (int64_t i = 0; i < n; ++i) {
      const R re = packed[i + j * n], im = pair ? packed[i + (j + 1) * n] : R{0};
      v[i + j * n] = {re, im};
      if (pair) v[i + (j + 1) * n] = {re, -im};
    }
    if (pair) ++j;
  }
}

/// One matrix of geev: values `w` and, if there is room, vectors `v`.
template <class T, class C>
int decompose(T* a, int64_t n, C* w, C* v) {
  const int size = narrow(n), ld = leading(n);
  const char job = v == nullptr ? 'N' : 'V';
  if constexpr (kComplex<T>) {
    return lapack<T>().geev(kColumnMajor, 'N', job, size, a, ld, w, nullptr, 1, v, ld);
  } else {
    Buffer<T> re(n), im(n), packed(v == nullptr ? 1 : n * n);
    const int info =
        lapack<T>().geev_real(kColumnMajor, 'N', job, size, a, ld, re, im, nullptr, 1, packed, ld);
    for (int64_t i = 0; i < n; ++i) w[i] = {re[i], im[i]};
    if (v != nullptr) pair_up<T>(packed, im, n, v);
    return info;
  }
}

/// linalg_eig(A) -> (eigenvalues, eigenvectors); linalg_eigvals(A) -> eigenvalues
template <class T>
Fault general(const PluginCall& c) {
  using C = std::complex<Real<T>>;
  const Operand& x = c.in[0];
  const bool vectors = c.out.size() == 2;
  const int64_t n = extent(x, 1);
  auto infos = each_item(items(x, 2), 20 * cube(n), [&](int64_t at) {
    Buffer<T> a(n * n);
    Buffer<C> v(vectors ? n * n : 1);
    load(x, at, a.data(), n);
    if (!all_finite(a.data(), n * n)) return kNotFinite;
    if (n == 0) return 0;
    const int info =
        decompose<T, C>(a, n, vector_of<C>(c.out[0], at), vectors ? v.data() : nullptr);
    if (info == 0 && vectors) store<C>(v, n, c.out[1], at);
    return info;
  });
  return unless_found(c, infos);
}

constexpr Routine kRoutines[] = {
    {"linalg_svd_parts", LATHE_BY_TYPE(svd)},  {"linalg_svd_values", LATHE_BY_TYPE(svd)},
    {"linalg_eigh", LATHE_BY_TYPE(symmetric)}, {"linalg_eigvalsh", LATHE_BY_TYPE(symmetric)},
    {"linalg_eig", LATHE_BY_TYPE(general)},    {"linalg_eigvals", LATHE_BY_TYPE(general)},
};

}  // namespace

absl::Span<const Routine> spectral_routines() { return kRoutines; }

}  // namespace lathe::openblas
