// Cholesky and QR decompositions, least squares, and the exponential of a matrix.
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/openblas/matrices.h"

namespace lathe::openblas {
namespace {

/// linalg_cholesky_ex(input, upper, check_errors) -> (L, info)
template <class T>
Fault cholesky(const PluginCall& c) {
  const Operand& x = c.in[0];
  const bool upper = c.args.flag(1);
  const int64_t n = extent(x, 1);
  auto infos = each_item(items(x, 2), cube(n) / 3, [&](int64_t at) {
    Buffer<T> a(n * n);
    load(x, at, a.data(), n);
    const int info = lapack<T>().potrf(kColumnMajor, upper ? 'U' : 'L', narrow(n), a, leading(n));
    for (int64_t j = 0; j < n; ++j)
      for (int64_t i = 0; i < n; ++i)
        if (upper ? i > j : i < j) a[i + j * n] = T{0};
    store<T>(a, n, c.out[0], at);
    return info;
  });
  store_infos(infos, c.out[1]);
  if (!c.args.flag(2)) return {};
  return first_fault(
      infos, x.rank() > 2, "is not positive-definite: its leading minor of order # is not",
      "a positive-definite matrix", "add to its diagonal, or look at linalg.eigvalsh()");
}

/// a, m x n column by column, becomes its first `columns` columns of Q; tau is of geqrf.
template <class T>
void make_q(T* a, int64_t m, int64_t columns, int64_t reflectors, const T* tau) {
  if (columns > 0)
    lapack<T>().orgqr(kColumnMajor, narrow(m), narrow(columns), narrow(reflectors), a, leading(m),
                      tau);
}

/// linalg_qr(A, mode) -> (Q, R)
template <class T>
Fault qr(const PluginCall& c) {
  const Operand &x = c.in[0], &q = c.out[0], &r = c.out[1];
  const bool wants_q = c.args.text(1) != "r";
  const int64_t m = extent(x, 2), n = extent(x, 1), k = std::min(m, n), rows = extent(r, 2);
  const int64_t columns = wants_q ? extent(q, 1) : 0, held = std::max(n, columns);
  each_item(items(x, 2), 2 * cube(std::max(m, n)), [&](int64_t at) {
    Buffer<T> a(m * held), tau(k), upper(rows * n);
    load(x, at, a.data(), m);
    if (k > 0) lapack<T>().geqrf(kColumnMajor, narrow(m), narrow(n), a, leading(m), tau);
    for (int64_t j = 0; j < n; ++j)
      for (int64_t i = 0; i < rows; ++i) upper[i + j * rows] = i <= j ? a[i + j * m] : T{0};
    store<T>(upper, rows, r, at);
    if (!wants_q) return 0;
    for (int64_t i = m * std::min(n, columns); i < m * columns; ++i) a[i] = T{0};
    make_q<T>(a, m, columns, k, tau);
    store<T>(a, m, q, at);
    return 0;
  });
  return {};
}

/// geqrf(input) -> (a, tau)
template <class T>
Fault reflectors(const PluginCall& c) {
  const Operand& x = c.in[0];
  const int64_t m = extent(x, 2), n = extent(x, 1);
  each_item(items(x, 2), 2 * cube(std::max(m, n)), [&](int64_t at) {
    Buffer<T> a(m * n);
    load(x, at, a.data(), m);
    if (m > 0 && n > 0)
      lapack<T>().geqrf(kColumnMajor, narrow(m), narrow(n), a, leading(m),
                        vector_of<T>(c.out[1], at));
    store<T>(a, m, c.out[0], at);
    return 0;
  });
  return {};
}

/// linalg_householder_product(input, tau) -> Q
template <class T>
Fault householder_product(const PluginCall& c) {
  const Operand& x = c.in[0];
  const int64_t m = extent(x, 2), n = extent(x, 1), k = extent(c.in[1], 1);
  each_item(items(x, 2), 2 * cube(std::max(m, n)), [&](int64_t at) {
    Buffer<T> a(m * n), tau(k);
    load(x, at, a.data(), m);
    load_vector(c.in[1], at, tau.data());
    make_q<T>(a, m, n, k, tau);
    store<T>(a, m, c.out[0], at);
    return 0;
  });
  return {};
}

/// linalg_reflect(input, tau, other, left, transpose) -> Q other, or what the flags say
template <class T>
Fault reflect(const PluginCall& c) {
  const Operand &x = c.in[0], &other = c.in[2];
  const bool left = c.args.flag(3), turned = c.args.flag(4);
  const int64_t rows = extent(x, 2), k = extent(c.in[1], 1);
  const int64_t m = extent(other, 2), n = extent(other, 1);
  each_item(items(x, 2), 2 * cube(std::max(m, n)), [&](int64_t at) {
    Buffer<T> a(rows * extent(x, 1)), tau(k), b(m * n);
    load(x, at, a.data(), rows);
    load_vector(c.in[1], at, tau.data());
    load(other, at, b.data(), m);
    const char trans = !turned ? 'N' : kComplex<T> ? 'C' : 'T';
    if (m > 0 && n > 0 && k > 0)
      lapack<T>().ormqr(kColumnMajor, left ? 'L' : 'R', trans, narrow(m), narrow(n), narrow(k), a,
                        leading(rows), tau, b, leading(m));
    store<T>(b, m, c.out[0], at);
    return 0;
  });
  return {};
}

/// linalg_least_squares(A, B, rcond, driver) -> (solution, residuals, rank, singular_values)
template <class T>
Fault least_squares(const PluginCall& c) {
  using R = Real<T>;
  const Operand &x = c.in[0], &rhs = c.in[1];
  const std::string_view driver = c.args.text(3);
  const int64_t m = extent(x, 2), n = extent(x, 1), k = extent(rhs, 1), ld = std::max(m, n);
  const R rcond = c.args.none(2)
                      ? std::numeric_limits<R>::epsilon() * static_cast<R>(std::max(m, n))
                      : static_cast<R>(c.args.real(2).value());
  auto infos = each_item(items(x, 2), 4 * cube(ld), [&](int64_t at) {
    // Rank and singular values are those of A, whatever there is to solve: at least one column.
    const int64_t columns_of_b = std::max<int64_t>(k, 1);
    Buffer<T> a(m * n), b(ld * columns_of_b);
    Buffer<R> s(std::min(m, n));
    Buffer<int> columns(n);
    load(x, at, a.data(), m);
    for (int64_t i = 0; i < ld * columns_of_b; ++i) b[i] = T{0};
    load(rhs, at, b.data(), ld);
    if (!all_finite(a.data(), m * n) || !all_finite(b.data(), ld * k)) return kNotFinite;
    for (int64_t j = 0; j < n; ++j) columns[j] = 0;
    int rank = 0, info = 0;
    const Lapack<T>& l = lapack<T>();
    const int rows = narrow(m), cols = narrow(n), sides = narrow(columns_of_b), la = leading(m),
              lb = leading(ld);
    if (m > 0 && n > 0) {
      if (driver == "gels")
        info = l.gels(kColumnMajor, 'N', rows, cols, sides, a, la, b, lb);
      else if (driver == "gelsd")
        info = l.gelsd(kColumnMajor, rows, cols, sides, a, la, b, lb, s, rcond, &rank);
      else if (driver == "gelss")
        info = l.gelss(kColumnMajor, rows, cols, sides, a, la, b, lb, s, rcond, &rank);
      else
        info = l.gelsy(kColumnMajor, rows, cols, sides, a, la, b, lb, columns, rcond, &rank);
    }
    store<T>(b, ld, c.out[0], at);
    if (c.out[1].numel() > 0)
      for (int64_t j = 0; j < k; ++j) {
        R sum = 0;
        for (int64_t i = n; i < m; ++i) sum += std::norm(b[i + j * ld]);
        vector_of<R>(c.out[1], at)[j] = sum;
      }
    if (c.out[2].numel() > 0) number_of<int64_t>(c.out[2], at) = rank;
    if (c.out[3].numel() > 0) std::copy_n(s.data(), std::min(m, n), vector_of<R>(c.out[3], at));
    return info;
  });
  return first_fault(infos, x.rank() > 2, "has no least-squares solution by this driver",
                     "full rank (gels), or singular values that converge (gelsd, gelss)",
                     "use driver='gelsy'");
}

/// exp(a) of n x n, which is overwritten with it: Higham's scaling and squaring with the Padé
/// approximant of degree 13 ("The scaling and squaring method for the matrix exponential
/// revisited", 2005).
template <class W>
void exponential(W* a, int64_t n) {
  constexpr double b[] = {64764752532480000.,
                          32382376266240000.,
                          7771770303897600.,
                          1187353796428800.,
                          129060195264000.,
                          10559470521600.,
                          670442572800.,
                          33522128640.,
                          1323241920.,
                          40840800.,
                          960960.,
                          16380.,
                          182.,
                          1.};
  const Lapack<W>& l = lapack<W>();
  const int64_t count = n * n;
  const int size = narrow(n);
  double norm = 0;
  for (int64_t j = 0; j < n; ++j) {
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += std::abs(a[i + j * n]);
    norm = std::max(norm, sum);
  }
  const int squarings =
      norm > 5.371920351148152
          ? std::max(0, static_cast<int>(std::ceil(std::log2(norm / 5.371920351148152))))
          : 0;
  for (int64_t i = 0; i < count; ++i) a[i] *= std::ldexp(1.0, -squarings);
  Buffer<W> a2(count), a4(count), a6(count), u(count), v(count), t(count);
  l.gemm(size, a, a, a2);
  l.gemm(size, a2, a2, a4);
  l.gemm(size, a4, a2, a6);
  auto unit = [&](int64_t i) { return i % (n + 1) == 0 ? 1.0 : 0.0; };
  for (int64_t i = 0; i < count; ++i) t[i] = b[13] * a6[i] + b[11] * a4[i] + b[9] * a2[i];
  l.gemm(size, a6, t, u);
  for (int64_t i = 0; i < count; ++i)
    t[i] = u[i] + b[7] * a6[i] + b[5] * a4[i] + b[3] * a2[i] + b[1] * unit(i);
  l.gemm(size, a, t, u);
  for (int64_t i = 0; i < count; ++i) t[i] = b[12] * a6[i] + b[10] * a4[i] + b[8] * a2[i];
  l.gemm(size, a6, t, v);
  for (int64_t i = 0; i < count; ++i)
    v[i] += b[6] * a6[i] + b[4] * a4[i] + b[2] * a2[i] + b[0] * unit(i);
  for (int64_t i = 0; i < count; ++i) {
    t[i] = v[i] - u[i];
    a[i] = v[i] + u[i];
  }
  Buffer<int> pivots(n);
  l.getrf(kColumnMajor, size, size, t, size, pivots);
  l.getrs(kColumnMajor, 'N', size, size, t, size, pivots, a, size);
  for (int s = 0; s < squarings; ++s) {
    l.gemm(size, a, a, t);
    std::memcpy(static_cast<void*>(a), t.data(), static_cast<size_t>(count) * sizeof(W));
  }
}

/// linalg_matrix_exp(input) -> result. In double precision whatever the operand's: squaring loses.
template <class T>
Fault matrix_exponential(const PluginCall& c) {
  using W = std::conditional_t<kComplex<T>, std::complex<double>, double>;
  const Operand& x = c.in[0];
  const int64_t n = extent(x, 1);
  each_item(items(x, 2), 20 * cube(n), [&](int64_t at) {
    if (n == 0) return 0;
    Buffer<T> given(n * n);
    load(x, at, given.data(), n);
    if (!all_finite(given.data(), n * n)) {
      fill_nan<T>(c.out[0], at);
      return 0;
    }
    Buffer<W> a(n * n);
    for (int64_t i = 0; i < n * n; ++i) a[i] = W(given[i]);
    exponential<W>(a, n);
    for (int64_t i = 0; i < n * n; ++i) given[i] = T(a[i]);
    store<T>(given, n, c.out[0], at);
    return 0;
  });
  return {};
}

constexpr Routine kRoutines[] = {
    {"linalg_cholesky_ex", LATHE_BY_TYPE(cholesky)},
    {"linalg_qr", LATHE_BY_TYPE(qr)},
    {"geqrf", LATHE_BY_TYPE(reflectors)},
    {"linalg_householder_product", LATHE_BY_TYPE(householder_product)},
    {"linalg_reflect", LATHE_BY_TYPE(reflect)},
    {"linalg_least_squares", LATHE_BY_TYPE(least_squares)},
    {"linalg_matrix_exp", LATHE_BY_TYPE(matrix_exponential)},
};

}  // namespace

absl::Span<const Routine> factoring_routines() { return kRoutines; }

}  // namespace lathe::openblas
