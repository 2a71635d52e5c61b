// The part of tile_body.h that needs no tiles: a row times a matrix, a matrix times a few columns,
// rows by pairs, and products of few terms. The same rules hold.
#pragma once

#include "kernels/own/pack_body.h"
#include "kernels/own/tiles.h"

namespace lathe::own {
namespace {

/// Rows of the matrix are streamed four at a time over a stretch of y that stays in L1.
template <class V>
void row_times_matrix(const typename V::T* x, int64_t x_k, const typename V::T* m, int64_t ld,
                      int64_t depth, int64_t cols, typename V::T* y, bool add) {
  constexpr int L = V::lanes;
  constexpr int64_t kStretch = 2048;
  using T = typename V::T;
  alignas(64) T chain[kStretch];
  for (int64_t j0 = 0; j0 < cols; j0 += kStretch) {
    int64_t n = cols - j0 < kStretch ? cols - j0 : kStretch;
    for (int64_t j = 0; j < n; j += L) V::store(chain + j, V::zero());
    int64_t k = 0;
    for (; k + 4 <= depth; k += 4) {
      const T* r = m + k * ld + j0;
      auto x0 = V::all(x[k * x_k]), x1 = V::all(x[(k + 1) * x_k]);
      auto x2 = V::all(x[(k + 2) * x_k]), x3 = V::all(x[(k + 3) * x_k]);
      int64_t j = 0;
      for (; j + L <= n; j += L) {
        auto acc = V::fma(x0, V::load(r + j), V::load(chain + j));
        acc = V::fma(x1, V::load(r + ld + j), acc);
        acc = V::fma(x2, V::load(r + 2 * ld + j), acc);
        V::store(chain + j, V::fma(x3, V::load(r + 3 * ld + j), acc));
      }
      if (j < n) {
        const auto some = V::first(static_cast<int>(n - j));
        auto acc = V::fma(x0, V::load_some(r + j, some), V::load(chain + j));
        acc = V::fma(x1, V::load_some(r + ld + j, some), acc);
        acc = V::fma(x2, V::load_some(r + 2 * ld + j, some), acc);
        V::store(chain + j, V::fma(x3, V::load_some(r + 3 * ld + j, some), acc));
      }
    }
    for (; k < depth; ++k) {
      const T* r = m + k * ld + j0;
      auto x0 = V::all(x[k * x_k]);
      for (int64_t j = 0; j < n; j += L) {
        const auto some = V::first(n - j < L ? static_cast<int>(n - j) : L);
        V::store(chain + j, V::fma(x0, V::load_some(r + j, some), V::load(chain + j)));
      }
    }
    for (int64_t j = 0; j < n; j += L) {
      const auto some = V::first(n - j < L ? static_cast<int>(n - j) : L);
      auto sum = V::load(chain + j);
      if (add) sum = V::add(V::load_some(y + j0 + j, some), sum);
      V::store_some(y + j0 + j, sum, some);
    }
  }
}

/// How many elements of each row are turned at a time.
template <class V>
constexpr int turned_at_a_time() {
  if constexpr (requires { V::turned; })
    return V::turned;
  else
    return V::lanes;
}

/// block[i] = element i of each of as many rows as a vector has lanes.
template <class V>
__attribute__((always_inline)) inline void load_turned(const typename V::T* m, int64_t ld,
                                                       typename V::Reg* block) {
  if constexpr (requires { V::turned; }) {
    V::load_turned(m, ld, block);
  } else {
    LATHE_UNROLL for (int r = 0; r < V::lanes; ++r) block[r] = V::load(m + r * ld);
    V::transpose(block);
  }
}

/// Rows of a matrix times `N` columns: what is the same for all rows.
template <class V>
struct Columns {
  const typename V::T* x;
  int64_t ldx, ld, ldy;
  bool add;  // to what y holds
};

/// The chains of G groups of as many rows as a vector has lanes: one alone would wait for itself.
/// Chains run along k, so a few elements of all rows are turned in registers at a time, of a single
/// group a whole line of the cache.
template <class V, int N, int G>
__attribute__((noinline)) void groups_of(const Columns<V>& of, const typename V::T* m, int64_t k0,
                                         int64_t depth, typename V::T* y) {
  using T = typename V::T;
  constexpr int L = V::lanes, K = turned_at_a_time<V>();
  constexpr int kLine = 64 / sizeof(T) / K, S = G == 1 && kLine > 1 ? kLine : 1;
  const int64_t ld = of.ld, ldx = of.ldx;
  const T* x = of.x + k0;
  typename V::Reg acc[G][N], block[L];
  LATHE_UNROLL for (int g = 0; g < G; ++g) LATHE_UNROLL for (int n = 0; n < N; ++n) acc[g][n] =
      V::zero();
  const auto turned = [&](int g, int64_t k) __attribute__((always_inline)) {
    const T* from = m + k0 + g * L * ld + k;
    asm(""
        : "+r"(from));  // else each row of each group gets a pointer of its own, all on the stack
    load_turned<V>(from, ld, block);
    LATHE_UNROLL for (int i = 0; i < K; ++i) LATHE_UNROLL for (int n = 0; n < N; ++n) acc[g][n] =
        V::fma(V::all(x[n * ldx + k + i]), block[i], acc[g][n]);
  };
  int64_t k = 0;
  for (; k + S * K <= depth; k += S * K)
    LATHE_UNROLL for (int g = 0; g < G; ++g) LATHE_UNROLL for (int s = 0; s < S; ++s)
        turned(g, k + s * K);
  for (; k + K <= depth; k += K) LATHE_UNROLL for (int g = 0; g < G; ++g) turned(g, k);
  if (const int left = static_cast<int>(depth - k); left > 0) {
    const auto some = V::first(left);
    LATHE_UNROLL for (int g = 0; g < G; ++g) {
      const T* base = m + k0 + g * L * ld + k;
      for (int r = 0; r < L; ++r) block[r] = V::load_some(base + r * ld, some);
      V::transpose(block);
      for (int i = 0; i < left; ++i)
        LATHE_UNROLL for (int n = 0; n < N; ++n) acc[g][n] =
            V::fma(V::all(x[n * ldx + k + i]), block[i], acc[g][n]);
    }
  }
  LATHE_UNROLL for (int g = 0; g < G; ++g) LATHE_UNROLL for (int n = 0; n < N; ++n) {
    auto* to = y + n * of.ldy + g * L;
    V::store(to, of.add || k0 > 0 ? V::add(V::load(to), acc[g][n]) : acc[g][n]);
  }
}

/// Fewer rows than a vector has lanes.
template <class V, int N>
__attribute__((noinline)) void last_rows_of(const Columns<V>& of, const typename V::T* m,
                                            int64_t k0, int64_t depth, int rows, typename V::T* y) {
  constexpr int L = V::lanes;
  typename V::Reg acc[N], block[L];
  LATHE_UNROLL for (int n = 0; n < N; ++n) acc[n] = V::zero();
  for (int64_t k = k0, end = k0 + depth; k < end; k += L) {
    const int count = end - k < L ? static_cast<int>(end - k) : L;
    const auto some = V::first(count);
    for (int r = 0; r < L; ++r)
      block[r] = r < rows ? V::load_some(m + r * of.ld + k, some) : V::zero();
    V::transpose(block);
    for (int i = 0; i < count; ++i)
      LATHE_UNROLL for (int n = 0; n < N; ++n) acc[n] =
          V::fma(V::all(of.x[n * of.ldx + k + i]), block[i], acc[n]);
  }
  const auto some = V::first(rows);
  LATHE_UNROLL for (int n = 0; n < N; ++n) {
    auto* to = y + n * of.ldy;
    if (of.add || k0 > 0) acc[n] = V::add(V::load_some(to, some), acc[n]);
    V::store_some(to, acc[n], some);
  }
}

template <class V, int N, int G>
void blocks_of(const Columns<V>& of, const typename V::T* m, int64_t depth, int64_t block,
               typename V::T* y) {
  for (int64_t k = 0; k < depth; k += block)
    groups_of<V, N, G>(of, m, k, depth - k < block ? depth - k : block, y);
}

/// As many groups of rows at a time as the first-level cache has places for lines of, at this
/// distance.
template <class V, int N>
void columns_of(const Columns<V>& of, const typename V::T* m, int64_t depth, int64_t block,
                int64_t rows, typename V::T* y) {
  constexpr int L = V::lanes;
  const int64_t bytes = of.ld * static_cast<int64_t>(sizeof(typename V::T));
  int64_t r = 0;
  if constexpr (V::vectors > 1) {  // else there are no registers for more than one
    if (N == 1 && bytes % 1024 != 0)
      for (; r + 4 * L <= rows; r += 4 * L)
        blocks_of<V, N, N == 1 ? 4 : 2>(of, m + r * of.ld, depth, block, y + r);
    if (bytes % 4096 != 0)
      for (; r + 2 * L <= rows; r += 2 * L)
        blocks_of<V, N, 2>(of, m + r * of.ld, depth, block, y + r);
  }
  for (; r + L <= rows; r += L) blocks_of<V, N, 1>(of, m + r * of.ld, depth, block, y + r);
  if (r == rows) return;
  for (int64_t k = 0; k < depth; k += block)
    last_rows_of<V, N>(of, m + r * of.ld, k, depth - k < block ? depth - k : block,
                       static_cast<int>(rows - r), y + r);
}

template <class V>
void matrix_times_columns(const typename V::T* m, int64_t ld, const typename V::T* x, int64_t ldx,
                          int columns, int64_t depth, int64_t block, int64_t rows, typename V::T* y,
                          int64_t ldy, bool add) {
  const Columns<V> of{x, ldx, ld, ldy, add};
  switch (columns) {
    case 1:
      return columns_of<V, 1>(of, m, depth, block, rows, y);
    case 2:
      return columns_of<V, 2>(of, m, depth, block, rows, y);
    case 3:
      return columns_of<V, 3>(of, m, depth, block, rows, y);
    default:
      return columns_of<V, 4>(of, m, depth, block, rows, y);
  }
}

/// As many rows as a vector has lanes, of `rows`; their elements k .. k + count, turned.
template <class V>
__attribute__((always_inline)) inline void turn_some(const typename V::T* m, int64_t ld, int rows,
                                                     int count, typename V::Reg* block) {
  const auto some = V::first(count);
  LATHE_UNROLL for (int r = 0; r < V::lanes; ++r) block[r] =
      r < rows ? V::load_some(m + r * ld, some) : V::zero();
  V::transpose(block);
}

/// A chain a lane: one row at a time would wait for its own sums.
template <class V>
void paired_rows(const typename V::T* m, int64_t ld, const typename V::T* x, int64_t ldx,
                 int64_t depth, int64_t block, int64_t rows, typename V::T* y) {
  constexpr int L = V::lanes;
  for (int64_t r = 0; r < rows; r += L) {
    const int some = rows - r < L ? static_cast<int>(rows - r) : L;
    const auto *left = m + r * ld, *right = x + r * ldx;
    typename V::Reg sum = V::zero();
    for (int64_t k0 = 0; k0 < depth; k0 += block) {
      typename V::Reg acc = V::zero(), a[L], b[L];
      const int64_t end = depth - k0 < block ? depth : k0 + block;
      for (int64_t k = k0; k < end; k += L) {
        const int count = end - k < L ? static_cast<int>(end - k) : L;
        turn_some<V>(left + k, ld, some, count, a);
        turn_some<V>(right + k, ldx, some, count, b);
        for (int i = 0; i < count; ++i) acc = V::fma(a[i], b[i], acc);
      }
      sum = k0 > 0 ? V::add(sum, acc) : acc;
    }
    V::store_some(y + r, sum, V::first(some));
  }
}

/// a * b + c, rounded once.
inline float multiply_add(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
inline double multiply_add(double a, double b, double c) { return __builtin_fma(a, b, c); }
template <class Number>
inline Number multiply_add(Number a, Number b, Number c) {
  return a * b + c;
}

/// K: the depth, or 0 if it is another.
template <class T, int K>
__attribute__((noinline)) void small_of(const SmallCall<T>& t) {
  const T *a = t.a, *b = t.b;
  T* c = t.c;
  const int64_t a_row = t.a_row, a_k = t.a_k, b_col = t.b_col, b_k = t.b_k;
  const int rows = t.rows, cols = t.cols;
  for (int64_t i = t.products; i > 0; --i, a += t.a_product, b += t.b_product) {
    const T* row = a;
    for (int r = rows; r > 0; --r, row += a_row) {
      const T* column = b;
      for (int j = cols; j > 0; --j, column += b_col) {
        T sum = 0;
        const auto term = [&](int k) { sum = multiply_add(row[k * a_k], column[k * b_k], sum); };
        if constexpr (K > 0)
          LATHE_UNROLL for (int k = 0; k < K; ++k) term(k);
        else
          for (int k = 0; k < t.depth; ++k) term(k);
        *c++ = sum;
      }
    }
  }
}

template <class V>
void small(const SmallCall<typename V::T>& t) {
  using T = typename V::T;
  switch (t.depth) {
    case 2:
      return small_of<T, 2>(t);
    case 3:
      return small_of<T, 3>(t);
    case 4:
      return small_of<T, 4>(t);
    default:
      return small_of<T, 0>(t);
  }
}

}  // namespace
}  // namespace lathe::own
