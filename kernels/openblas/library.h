// What the adapter calls of OpenBLAS, by element type: its functions are found by name when the
// library is opened (library.cpp), because it is opened from here rather than linked.
//
// LAPACKE's own declarations differ between the four types in nothing but the element type, save
// where real matrices have a routine of their own; so one template serves all of them.
#pragma once

#include <complex>
#include <string>

#include "kernels/table/plugin.h"

namespace lathe::openblas {

template <class T>
struct RealOf {
  using type = T;
};
template <class R>
struct RealOf<std::complex<R>> {
  using type = R;
};
template <class T>
using Real = typename RealOf<T>::type;
template <class T>
inline constexpr bool kComplex = !std::is_same_v<T, Real<T>>;

/// LAPACKE's numbers for orders, and CBLAS' for everything.
enum Order : int { kRowMajor = 101, kColumnMajor = 102 };
enum Transpose : int { kAsItIs = 111, kTransposed = 112, kAdjoint = 113 };
enum Triangle : int { kUpper = 121, kLower = 122 };
enum Diagonal : int { kStored = 131, kOnes = 132 };
enum Side : int { kLeft = 141, kRight = 142 };

/// LAPACK for one element type. `or` and `sy` are `un` and `he` where it is complex.
template <class T>
struct Lapack {
  using R = Real<T>;
  // clang-format off
  int (*getrf)(int order, int m, int n, T* a, int lda, int* pivots);
  int (*getrs)(int order, char trans, int n, int nrhs, const T* a, int lda, const int* pivots, T* b, int ldb);
  int (*potrf)(int order, char uplo, int n, T* a, int lda);
  int (*geqrf)(int order, int m, int n, T* a, int lda, T* tau);
  int (*orgqr)(int order, int m, int n, int k, T* a, int lda, const T* tau);
  int (*ormqr)(int order, char side, char trans, int m, int n, int k, const T* a, int lda, const T* tau, T* c, int ldc);
  int (*syevd)(int order, char job, char uplo, int n, T* a, int lda, R* w);
  int (*gesdd)(int order, char job, int m, int n, T* a, int lda, R* s, T* u, int ldu, T* vt, int ldvt);
  int (*sytrf)(int order, char uplo, int n, T* a, int lda, int* pivots);
  int (*sytrs)(int order, char uplo, int n, int nrhs, const T* a, int lda, const int* pivots, T* b, int ldb);
  int (*hetrf)(int order, char uplo, int n, T* a, int lda, int* pivots);
  int (*hetrs)(int order, char uplo, int n, int nrhs, const T* a, int lda, const int* pivots, T* b, int ldb);
  int (*gels)(int order, char trans, int m, int n, int nrhs, T* a, int lda, T* b, int ldb);
  int (*gelsy)(int order, int m, int n, int nrhs, T* a, int lda, T* b, int ldb, int* columns, R rcond, int* rank);
  int (*gelsd)(int order, int m, int n, int nrhs, T* a, int lda, T* b, int ldb, R* s, R rcond, int* rank);
  int (*gelss)(int order, int m, int n, int nrhs, T* a, int lda, T* b, int ldb, R* s, R rcond, int* rank);
  int (*geev_real)(int order, char left, char right, int n, T* a, int lda, T* re, T* im, T* vl, int ldvl, T* vr, int ldvr);
  int (*geev)(int order, char left, char right, int n, T* a, int lda, T* w, T* vl, int ldvl, T* vr, int ldvr);
  // alpha is a number where T is real and a pointer where it is complex: see trsm() and gemm().
  void (*trsm_any)();
  void (*gemm_any)();
  // clang-format on

  /// b = a^-1 b or b a^-1, column by column; a as `triangle` says.
  void trsm(Side side, Triangle triangle, Diagonal diagonal, int m, int n, const T* a, int lda,
            T* b, int ldb) const {
    const T one{1};
    if constexpr (kComplex<T>)
      reinterpret_cast<void (*)(int, int, int, int, int, int, int, const void*, const void*, int,
                                void*, int)>(trsm_any)(kColumnMajor, side, triangle, kAsItIs,
                                                       diagonal, m, n, &one, a, lda, b, ldb);
    else
      reinterpret_cast<void (*)(int, int, int, int, int, int, int, T, const T*, int, T*, int)>(
          trsm_any)(kColumnMajor, side, triangle, kAsItIs, diagonal, m, n, one, a, lda, b, ldb);
  }
  /// c = a b of n x n, column by column.
  void gemm(int n, const T* a, const T* b, T* c) const {
    const T one{1}, zero{0};
    if constexpr (kComplex<T>)
      reinterpret_cast<void (*)(int, int, int, int, int, int, const void*, const void*, int,
                                const void*, int, const void*, void*, int)>(gemm_any)(
          kColumnMajor, kAsItIs, kAsItIs, n, n, n, &one, a, n, b, n, &zero, c, n);
    else
      reinterpret_cast<void (*)(int, int, int, int, int, int, T, const T*, int, const T*, int, T,
                                T*, int)>(gemm_any)(kColumnMajor, kAsItIs, kAsItIs, n, n, n, one, a,
                                                    n, b, n, zero, c, n);
  }
};

/// The open library's functions for this element type.
template <class T>
const Lapack<T>& lapack();

/// The host that this plug-in was opened by.
const PluginHost& host();

/// Opens the library for this host, with one thread; false with the reason if it cannot be used.
bool open_library(const PluginHost& host, Verdict& refusal);
/// A function of the open library by its name without prefix; null: there is none.
void* library_symbol(const std::string& name);
/// As the library describes itself.
const char* library_version();

/// What entries.cpp offers beside products.
Verdict lapack_accepts(const Query& query);
Fault lapack_call(const PluginCall& call);

}  // namespace lathe::openblas
