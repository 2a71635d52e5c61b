// Linear systems: inverses, determinants, and solutions by LU, LDL and triangles.
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>

#include "kernels/openblas/matrices.h"

namespace lathe::openblas {
namespace {

constexpr std::string_view kSingular = "is singular: element # of U's diagonal is 0";
constexpr std::string_view kInvertible = "an invertible matrix";
constexpr std::string_view kUsePinv = "use linalg.pinv() or linalg.lstsq(), or add to its diagonal";

/// The infos into result `at`, and the fault if argument `check` says so.
Fault finish(const PluginCall& c, const std::vector<int>& infos, size_t at, bool check) {
  store_infos(infos, c.out[at]);
  if (!check) return {};
  return first_fault(infos, c.in[0].rank() > 2, kSingular, kInvertible, kUsePinv);
}

/// linalg_inv_ex(A, check_errors) -> (inverse, info)
template <class T>
Fault inverse(const PluginCall& c) {
  const Operand &x = c.in[0], &y = c.out[0];
  const int64_t n = extent(x, 1);
  auto infos = each_item(items(x, 2), 3 * cube(n), [&](int64_t at) {
    Buffer<T> a(n * n), b(n * n);
    Buffer<int> pivots(n);
    load(x, at, a.data(), n);
    set_identity(b.data(), n);
    const int size = narrow(n), ld = leading(n);
    const int info = lapack<T>().getrf(kColumnMajor, size, size, a, ld, pivots);
    if (info != 0) {
      fill_nan<T>(y, at);
      return info;
    }
    lapack<T>().getrs(kColumnMajor, 'N', size, size, a, ld, pivots, b, ld);
    store<T>(b, n, y, at);
    return 0;
  });
  return finish(c, infos, 1, c.args.flag(1));
}

/// linalg_solve_matrices(A, B, check_errors) -> (result, info)
template <class T>
Fault solve(const PluginCall& c) {
  const Operand &x = c.in[0], &rhs = c.in[1], &y = c.out[0];
  const int64_t n = extent(x, 1), k = extent(rhs, 1);
  auto infos = each_item(items(x, 2), cube(n), [&](int64_t at) {
    Buffer<T> a(n * n), b(n * k);
    Buffer<int> pivots(n);
    load(x, at, a.data(), n);
    load(rhs, at, b.data(), n);
    const int size = narrow(n), ld = leading(n);
    const int info = lapack<T>().getrf(kColumnMajor, size, size, a, ld, pivots);
    if (info != 0) {
      fill_nan<T>(y, at);
      return info;
    }
    lapack<T>().getrs(kColumnMajor, 'N', size, narrow(k), a, ld, pivots, b, ld);
    store<T>(b, n, y, at);
    return 0;
  });
  return finish(c, infos, 1, c.args.flag(2));
}

/// linalg_lu_factor_ex(A, pivot, check_errors) -> (LU, pivots, info)
template <class T>
Fault lu_factor(const PluginCall& c) {
  const Operand &x = c.in[0], &y = c.out[0];
  const int64_t m = extent(x, 2), n = extent(x, 1);
  auto infos = each_item(items(x, 2), cube(std::max(m, n)), [&](int64_t at) {
    Buffer<T> a(m * n);
    load(x, at, a.data(), m);
    const int info = lapack<T>().getrf(kColumnMajor, narrow(m), narrow(n), a, leading(m),
                                       vector_of<int32_t>(c.out[1], at));
    store<T>(a, m, y, at);
    return info;
  });
  return finish(c, infos, 2, c.args.flag(2));
}

/// The diagonal of U, and the sign of the permutation.
template <class T>
struct Pivoted {
  Buffer<T> a;
  Buffer<int> pivots;
  int64_t n;
  double sign = 1;

  Pivoted(const Operand& x, int64_t at) : a(extent(x, 1) * extent(x, 1)), pivots(extent(x, 1)) {
    n = extent(x, 1);
    load(x, at, a.data(), n);
    lapack<T>().getrf(kColumnMajor, narrow(n), narrow(n), a, leading(n), pivots);
    for (int64_t i = 0; i < n; ++i)
      if (pivots[i] != i + 1) sign = -sign;
  }
  T diagonal(int64_t i) const { return a[i * n + i]; }
};

template <class T>
using Wide = std::conditional_t<kComplex<T>, std::complex<double>, double>;

/// linalg_det(A) -> determinant
template <class T>
Fault determinant(const PluginCall& c) {
  const Operand& x = c.in[0];
  each_item(items(x, 2), cube(extent(x, 1)), [&](int64_t at) {
    Pivoted<T> lu(x, at);
    Wide<T> product = lu.sign;
    for (int64_t i = 0; i < lu.n; ++i) product *= Wide<T>(lu.diagonal(i));
    number_of<T>(c.out[0], at) = T(product);
    return 0;
  });
  return {};
}

/// linalg_slogdet(A) -> (sign, logabsdet)
template <class T>
Fault sign_and_logarithm(const PluginCall& c) {
  const Operand& x = c.in[0];
  each_item(items(x, 2), cube(extent(x, 1)), [&](int64_t at) {
    Pivoted<T> lu(x, at);
    Wide<T> sign = lu.sign;
    double logarithm = 0;
    for (int64_t i = 0; i < lu.n; ++i) {
      const Wide<T> d(lu.diagonal(i));
      const double magnitude = std::abs(d);
      logarithm += std::log(magnitude);
      sign = magnitude == 0 ? Wide<T>(0) : sign * (d / magnitude);
    }
    number_of<T>(c.out[0], at) = T(sign);
    number_of<Real<T>>(c.out[1], at) = static_cast<Real<T>>(logarithm);
    return 0;
  });
  return {};
}

/// linalg_off_singular(A): A, but where a pivot is 0, A with that pivot as small as it can count.
template <class T>
Fault off_singular(const PluginCall& c) {
  const Operand& x = c.in[0];
  each_item(items(x, 2), cube(extent(x, 1)), [&](int64_t at) {
    Pivoted<T> lu(x, at);
    const int64_t n = lu.n;
    Buffer<T> a(n * n), column(n);
    load(x, at, a.data(), n);
    Real<T> most = 0;
    for (int64_t i = 0; i < n * n; ++i) most = std::max(most, Real<T>(std::abs(a[i])));
    const Real<T> eps = std::numeric_limits<Real<T>>::epsilon();
    // What is added must not be lost beside the largest element.
    const T little = T(most == 0 ? eps : 4 * eps * most * static_cast<Real<T>>(n));
    for (int64_t k = 0; k < n; ++k) {
      if (lu.diagonal(k) != T{0}) continue;
      for (int64_t i = 0; i < n; ++i)
        column[i] = i < k ? T{0} : i == k ? little : little * lu.a[k * n + i];
      for (int64_t i = n; i-- > 0;) std::swap(column[i], column[lu.pivots[i] - 1]);
      for (int64_t i = 0; i < n; ++i) a[k * n + i] += column[i];
    }
    store<T>(a, n, c.out[0], at);
    return 0;
  });
  return {};
}

/// linalg_triangular(A, B, upper, left, unitriangular) -> solution
template <class T>
Fault triangular(const PluginCall& c) {
  const Operand &x = c.in[0], &rhs = c.in[1];
  const bool upper = c.args.flag(2), left = c.args.flag(3), ones = c.args.flag(4);
  const int64_t n = extent(x, 1), m = extent(rhs, 2), k = extent(rhs, 1);
  each_item(items(x, 2), static_cast<double>(n * m * k), [&](int64_t at) {
    Buffer<T> a(n * n), b(m * k);
    load(x, at, a.data(), n);
    load(rhs, at, b.data(), m);
    if (m > 0 && k > 0)
      lapack<T>().trsm(left ? kLeft : kRight, upper ? kUpper : kLower, ones ? kOnes : kStored,
                       narrow(m), narrow(k), a, leading(n), b, leading(m));
    store<T>(b, m, c.out[0], at);
    return 0;
  });
  return {};
}

/// linalg_ldl_factor_ex(input, hermitian, check_errors) -> (LD, pivots, info)
template <class T>
Fault ldl_factor(const PluginCall& c) {
  const Operand& x = c.in[0];
  const int64_t n = extent(x, 1);
  const auto factor = c.args.flag(1) ? lapack<T>().hetrf : lapack<T>().sytrf;
  auto infos = each_item(items(x, 2), cube(n), [&](int64_t at) {
    Buffer<T> a(n * n);
    load(x, at, a.data(), n);
    const int info =
        factor(kColumnMajor, 'L', narrow(n), a, leading(n), vector_of<int32_t>(c.out[1], at));
    for (int64_t j = 0; j < n; ++j)
      for (int64_t i = 0; i < j; ++i) a[i + j * n] = T{0};
    store<T>(a, n, c.out[0], at);
    return info;
  });
  store_infos(infos, c.out[2]);
  if (!c.args.flag(2)) return {};
  return first_fault(infos, x.rank() > 2, "is singular: element # of D's diagonal is 0",
                     kInvertible, kUsePinv);
}

/// linalg_ldl_solve_matrices(LD, pivots, B, hermitian) -> result
template <class T>
Fault ldl_solve(const PluginCall& c) {
  const Operand &x = c.in[0], &swaps = c.in[1], &rhs = c.in[2];
  const int64_t n = extent(x, 1), k = extent(rhs, 1);
  const auto solve_with = c.args.flag(3) ? lapack<T>().hetrs : lapack<T>().sytrs;
  auto infos = each_item(items(x, 2), static_cast<double>(n * n * k), [&](int64_t at) {
    Buffer<T> a(n * n), b(n * k);
    Buffer<int32_t> pivots(n);
    load(x, at, a.data(), n);
    load(rhs, at, b.data(), n);
    load_vector(swaps, at, pivots.data());
    for (int64_t i = 0; i < n; ++i) {
      if (pivots[i] == 0) pivots[i] = narrow(i + 1);  // swaps nothing
      if (std::abs(pivots[i]) > n) return narrow(i + 1);
    }
    solve_with(kColumnMajor, 'L', narrow(n), narrow(k), a, leading(n), pivots, b, leading(n));
    store<T>(b, n, c.out[0], at);
    return 0;
  });
  return first_fault(infos, x.rank() > 2, "has no pivot # that ldl_factor() could have given",
                     "pivots as ldl_factor() gives them", "hand on both of its results");
}

constexpr Routine kRoutines[] = {
    {"linalg_inv_ex", LATHE_BY_TYPE(inverse)},
    {"linalg_solve_matrices", LATHE_BY_TYPE(solve)},
    {"linalg_lu_factor_ex", LATHE_BY_TYPE(lu_factor)},
    {"linalg_det", LATHE_BY_TYPE(determinant)},
    {"linalg_slogdet", LATHE_BY_TYPE(sign_and_logarithm)},
    {"linalg_off_singular", LATHE_BY_TYPE(off_singular)},
    {"linalg_triangular", LATHE_BY_TYPE(triangular)},
    {"linalg_ldl_factor_ex", LATHE_BY_TYPE(ldl_factor)},
    {"linalg_ldl_solve_matrices", LATHE_BY_TYPE(ldl_solve)},
};

}  // namespace

absl::Span<const Routine> solving_routines() { return kRoutines; }

}  // namespace lathe::openblas
