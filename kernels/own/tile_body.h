// The bodies of own/tiles.h, written once on a vector type V and compiled by tiles_<isa>.cpp each.
// All of it has internal linkage: a copy compiled for one instruction set must never serve another.
//
// V offers: T, Reg, lanes, rows and columns-in-vectors of the tile; fast_parts: a load of some
// elements takes no longer than one of all, else load_any(p), which may read what is no object's,
// and in_a_page(p, n): whether the elements from p on are in one page; zero, all(T), load,
// load_some(p, Mask), store, store_some (of a Mask first(n)), add, fma(a, b, c) = a*b + c, Mask
// first(n), range(lo, hi), merge(Reg, p, Mask), merge_strided(Reg, p, step, Mask, lo, hi),
// transpose(Reg[lanes]), keep(Reg&): the register is not loaded anew; unzip(a, b, even, odd): the
// elements of a and then b, the even ones and the odd ones; zip(even, odd, a, b) back.
#pragma once

#include <utility>

#include "kernels/own/pack_body.h"
#include "kernels/own/tiles.h"
#include "kernels/own/untiled_body.h"
#include "kernels/own/window_body.h"

namespace lathe::own {
namespace {

/// Rows of b as a tile reads them, whose last vector may have fewer columns. Of a set without fast
/// parts it is read as a whole, whatever lies past the columns: another row, or what shares a page
/// with the last one. Where that one ends with its page, the last rows are copied.
template <class V, int NV>
struct TileRows {
  static constexpr int kColumns = NV * V::lanes, kEnd = kColumns - V::lanes;
  using T = typename V::T;
  const T* at;
  int64_t step, count;  // of rows from here on
  int64_t copied = 0;   // rows that follow them
  typename V::Mask tail;
  alignas(64) T copies[V::fast_parts ? 1 : V::lanes * kColumns];

  template <class Call>
  __attribute__((always_inline)) explicit TileRows(const Call& t)
      : at(t.b), step(t.b_k), count(t.depth), tail(V::first(t.cols - kEnd)) {
    if constexpr (!V::fast_parts)
      if (t.cols < kColumns &&
          !V::in_a_page(at + (count - 1) * step + t.cols - 1, kColumns - t.cols + 1))
        copy_last(kColumns - t.cols);
  }
  __attribute__((noinline)) void copy_last(int64_t past) {
    while (copied < count && (copied == 0 || copied * step < past)) ++copied;
    count -= copied;
    const T* from = at + count * step;
    for (int64_t k = 0; k < copied; ++k, from += step) {
      T* to = copies + k * kColumns;
      LATHE_UNROLL for (int j = 0; j < kEnd; j += V::lanes) V::store(to + j, V::load(from + j));
      V::store(to + kEnd, V::load_some(from + kEnd, tail));
    }
  }
  /// Goes on to the copies; false: there are none, or these were they.
  __attribute__((always_inline)) bool next() {
    if (copied == 0) return false;
    at = copies, step = kColumns, count = copied, copied = 0;
    return true;
  }
  __attribute__((always_inline)) typename V::Reg end() const {
    if constexpr (V::fast_parts)
      return V::load_some(at + kEnd, tail);
    else
      return V::load_any(at + kEnd);
  }
};

/// Those of a panel, which has zeros past its columns or something else that may be read.
template <class V, int NV>
struct PanelRows {
  static constexpr int kEnd = (NV - 1) * V::lanes;
  const typename V::T* at;
  int64_t step, count;
  typename V::Mask tail;

  template <class Call>
  __attribute__((always_inline)) explicit PanelRows(const Call& t)
      : at(t.b), step(t.b_k), count(t.depth), tail(V::first(t.cols - kEnd)) {}
  bool next() const { return false; }
  typename V::Reg end() const { return V::load(at + kEnd); }
};

/// Where the sums of a tile go.
template <class T>
struct TilePlace {
  T* c;
  int64_t ldc;
  int rows, cols;
  bool add;
};

/// The sums of a tile of fewer columns, from where they were put together.
template <class V, int NV>
__attribute__((noinline)) void put_rows(const typename V::T* sums, TilePlace<typename V::T> to) {
  constexpr int L = V::lanes, kEnd = (NV - 1) * L;
  const auto tail = V::first(to.cols - kEnd);
  const bool follow = to.ldc == to.cols && !to.add;
  // Where rows follow each other at once, what one writes past its columns is written again.
  int whole = follow ? to.rows : 0;
  for (int64_t past = NV * L - to.cols; whole > 0 && past > 0; past -= to.ldc) --whole;
  for (int i = 0; i < to.rows; ++i, to.c += to.ldc, sums += NV * L) {
    LATHE_UNROLL for (int j = 0; j < kEnd; j += L) {
      const auto sum = V::load(sums + j);
      V::store(to.c + j, to.add ? V::add(V::load(to.c + j), sum) : sum);
    }
    if (i < whole)
      V::store(to.c + kEnd, V::load(sums + kEnd));
    else
      put_some<V>(to.c + kEnd, V::load(sums + kEnd), tail, to.add);
  }
}

/// `at(i)`: the value of row i at this k; `step()` goes on to the next.
template <class V, int R, int NV, class Rows, class Call, class At, class Step>
__attribute__((always_inline)) inline void tile_body(const Call& t, At at, Step step) {
  using Reg = typename V::Reg;
  constexpr int L = V::lanes;
  Rows b(t);
  Reg acc[R][NV];
  LATHE_UNROLL for (int i = 0; i < R; ++i) {
    __builtin_prefetch(t.c + i * t.ldc, 1);
    LATHE_UNROLL for (int j = 0; j < NV; ++j) acc[i][j] = V::zero();
  }
  do {
    for (int64_t k = b.count; k > 0; --k) {
      Reg col[NV];
      LATHE_UNROLL for (int j = 0; j < NV - 1; ++j) col[j] = V::load(b.at + j * L);
      col[NV - 1] = b.end();
      LATHE_UNROLL for (int i = 0; i < R; ++i) {
        Reg x = V::all(at(i));
        LATHE_UNROLL for (int j = 0; j < NV; ++j) acc[i][j] = V::fma(x, col[j], acc[i][j]);
      }
      step();
      b.at += b.step;
    }
  } while (b.next());
  constexpr int kEnd = (NV - 1) * L;
  auto* c = t.c;
  if (!V::fast_parts && t.cols < NV * L) {
    alignas(64) typename V::T sums[R * NV * L];
    LATHE_UNROLL for (int i = 0; i < R * NV; ++i) V::store(sums + i * L, acc[i / NV][i % NV]);
    return put_rows<V, NV>(sums, {c, t.ldc, R, t.cols, t.add});
  }
  if (t.add) {
    LATHE_UNROLL for (int i = 0; i < R; ++i) {
      auto* row = c + i * t.ldc;
      LATHE_UNROLL for (int j = 0; j < NV - 1; ++j) acc[i][j] =
          V::add(V::load(row + j * L), acc[i][j]);
      acc[i][NV - 1] = V::add(
          V::fast_parts ? V::load_some(row + kEnd, b.tail) : V::load(row + kEnd), acc[i][NV - 1]);
    }
  }
  LATHE_UNROLL for (int i = 0; i < R; ++i) {
    auto* row = c + i * t.ldc;
    LATHE_UNROLL for (int j = 0; j < NV - 1; ++j) V::store(row + j * L, acc[i][j]);
    V::fast_parts ? V::store_some(row + kEnd, acc[i][NV - 1], b.tail)
                  : V::store(row + kEnd, acc[i][NV - 1]);
  }
}

/// Two lines of the cache, which may be as much as a row of a panel is.
__attribute__((always_inline)) inline void fetch_ahead(uintptr_t at) {
  __builtin_prefetch(reinterpret_cast<const void*>(at));
  __builtin_prefetch(reinterpret_cast<const void*>(at + 64));
}

template <class V, int R, int NV>
__attribute__((noinline)) void tile_of(const TileCall<typename V::T>& t) {
  const auto* a = t.a;
  const int64_t a_k = t.a_k;
  const uintptr_t ahead_k = t.ahead_k;
  uintptr_t ahead = t.ahead;
  tile_body<V, R, NV, TileRows<V, NV>>(
      t, [&](int i) { return a[i]; },
      [&] {
        fetch_ahead(ahead);
        ahead += ahead_k;
        a += a_k;
      });
}

template <class V, int R, int NV>
__attribute__((noinline)) void rows_of(const RowsCall<typename V::T>& t) {
  const typename V::T* row[R];
  LATHE_UNROLL for (int i = 0; i < R; ++i) row[i] = t.a + i * t.a_row;
  const uintptr_t ahead_k = t.ahead_k;
  uintptr_t ahead = t.ahead;
  int64_t k = 0;
  tile_body<V, R, NV, TileRows<V, NV>>(
      t, [&](int i) { return row[i][k]; },
      [&] {
        fetch_ahead(ahead);
        ahead += ahead_k;
        ++k;
      });
}

template <class V, int R, int NV>
__attribute__((noinline)) void taps_of(const TapsCall<typename V::T>& t) {
  const typename V::T* row[R];
  LATHE_UNROLL for (int i = 0; i < R; ++i) row[i] = t.x + t.taps[i];
  const int64_t* place = t.places;
  tile_body<V, R, NV, PanelRows<V, NV>>(
      t, [&](int i) { return row[i][*place]; }, [&] { ++place; });
}

template <class V, int R>
__attribute__((noinline)) void lane_taps_of(const TapsCall<typename V::T>& t) {
  const typename V::T* row[R];
  typename V::Reg acc[R];
  LATHE_UNROLL for (int i = 0; i < R; ++i) row[i] = t.x + t.taps[i];
  LATHE_UNROLL for (int i = 0; i < R; ++i) acc[i] = V::zero();
  const auto* b = t.b;
  for (const int64_t *place = t.places, *end = place + t.depth; place != end; ++place) {
    const auto x = V::load(b);
    LATHE_UNROLL for (int i = 0; i < R; ++i) acc[i] = V::fma(V::load(row[i] + *place), x, acc[i]);
    b += t.b_k;
  }
  LATHE_UNROLL for (int i = 0; i < R; ++i) {
    auto* c = t.c + i * t.ldc;
    V::store(c, t.add ? V::add(V::load(c), acc[i]) : acc[i]);
  }
}

template <class V>
using TileFn = void (*)(const TileCall<typename V::T>&);
template <class V>
using RowsFn = void (*)(const RowsCall<typename V::T>&);
template <class V>
using TapsFn = void (*)(const TapsCall<typename V::T>&);

template <class V, int NV, class = std::make_integer_sequence<int, V::rows>>
struct ByRows;
template <class V, int NV, int... I>
struct ByRows<V, NV, std::integer_sequence<int, I...>> {
  static constexpr TileFn<V> fns[] = {tile_of<V, I + 1, NV>...};
};
template <class V, int NV, class = std::make_integer_sequence<int, V::direct_rows>>
struct ByDirectRows;
template <class V, int NV, int... I>
struct ByDirectRows<V, NV, std::integer_sequence<int, I...>> {
  static constexpr RowsFn<V> fns[] = {rows_of<V, I + 1, NV>...};
  static constexpr TapsFn<V> taps[] = {taps_of<V, I + 1, NV>...};
};
template <class V, class = std::make_integer_sequence<int, kLaneTaps>>
struct ByLaneTaps;
template <class V, int... I>
struct ByLaneTaps<V, std::integer_sequence<int, I...>> {
  static constexpr TapsFn<V> fns[] = {lane_taps_of<V, I + 1>...};
};

template <class V>
void tile(const TileCall<typename V::T>& t) {
  int vectors = (t.cols + V::lanes - 1) / V::lanes;
  if constexpr (V::vectors >= 2)
    if (vectors == 2) return ByRows<V, 2>::fns[t.rows - 1](t);
  ByRows<V, 1>::fns[t.rows - 1](t);
}

template <class V>
void tile_rows(const RowsCall<typename V::T>& t) {
  int vectors = (t.cols + V::lanes - 1) / V::lanes;
  if constexpr (V::vectors >= 2)
    if (vectors == 2) return ByDirectRows<V, 2>::fns[t.rows - 1](t);
  ByDirectRows<V, 1>::fns[t.rows - 1](t);
}

template <class V>
void put_turned(const typename V::T* sums, int rows, int cols, typename V::T* c, int64_t ldc,
                bool add) {
  constexpr int L = V::lanes, kRow = V::vectors * L;
  typename V::Reg block[L];
  for (int r0 = 0; r0 < rows; r0 += L) {
    const int count = rows - r0 < L ? rows - r0 : L;
    const auto some = V::first(count);
    for (int j0 = 0; j0 < cols; j0 += L) {
      LATHE_UNROLL for (int r = 0; r < L; ++r) block[r] =
          V::load(sums + (r < count ? (r0 + r) * kRow : 0) + j0);
      V::transpose(block);
      for (int j = 0; j < L && j0 + j < cols; ++j) {
        auto* to = c + (j0 + j) * ldc + r0;
        V::store_some(to, add ? V::add(V::load_some(to, some), block[j]) : block[j], some);
      }
    }
  }
}

template <class V>
void taps(const TapsCall<typename V::T>& t) {
  const int vectors = (t.cols + V::lanes - 1) / V::lanes;
  if constexpr (V::vectors >= 2)
    if (vectors == 2) return ByDirectRows<V, 2>::taps[t.rows - 1](t);
  ByDirectRows<V, 1>::taps[t.rows - 1](t);
}

template <class V>
void lane_taps(const TapsCall<typename V::T>& t) {
  ByLaneTaps<V>::fns[t.rows - 1](t);
}

template <class V>
void row_tile(const TileCall<typename V::T>& t, int64_t panel) {
  constexpr int L = V::lanes, NV = V::vectors, kPanels = 2;
  const auto *a = t.a, *b = t.b;
  typename V::Reg acc[kPanels * NV];
  LATHE_UNROLL for (int i = 0; i < kPanels * NV; ++i) acc[i] = V::zero();
  for (int64_t k = t.depth; k > 0; --k) {
    const auto x = V::all(*a);
    LATHE_UNROLL for (int p = 0; p < kPanels; ++p) LATHE_UNROLL for (int j = 0; j < NV; ++j)
        acc[p * NV + j] = V::fma(x, V::load(b + p * panel + j * L), acc[p * NV + j]);
    a += t.a_k;
    b += t.b_k;
  }
  LATHE_UNROLL for (int i = 0; i < kPanels * NV; ++i) {
    const auto some = V::first(t.cols - i * L);
    auto* c = t.c + (i * L < t.cols ? i * L : 0);
    V::store_some(c, t.add ? V::add(V::load_some(c, some), acc[i]) : acc[i], some);
  }
}

/// N columns of P panels of rows.
template <class V, int N, int P>
__attribute__((noinline)) void few_columns_of(const TileCall<typename V::T>& t, int64_t panel) {
  using T = typename V::T;
  constexpr int L = V::lanes, NV = (V::rows + L - 1) / L;
  typename V::Reg acc[P][NV][N];
  LATHE_UNROLL for (int p = 0; p < P; ++p) LATHE_UNROLL for (int i = 0; i < NV; ++i)
      LATHE_UNROLL for (int j = 0; j < N; ++j) acc[p][i][j] = V::zero();
  const T *a = t.a, *b = t.b;
  for (int64_t k = t.depth; k > 0; --k, a += t.a_k, b += t.b_k) {
    typename V::Reg x[N];
    LATHE_UNROLL for (int j = 0; j < N; ++j) x[j] = V::all(b[j]);
    LATHE_UNROLL for (int p = 0; p < P; ++p) LATHE_UNROLL for (int i = 0; i < NV; ++i) {
      const auto rows = V::load(a + p * panel + i * L);
      LATHE_UNROLL for (int j = 0; j < N; ++j) acc[p][i][j] = V::fma(rows, x[j], acc[p][i][j]);
    }
  }
  for (int p = 0; p < P; ++p)
    for (int j = 0; j < N; ++j) {
      alignas(64) T sums[NV * L];
      LATHE_UNROLL for (int i = 0; i < NV; ++i) V::store(sums + i * L, acc[p][i][j]);
      T* c = t.c + p * V::rows * t.ldc + j;
      for (int r = 0; r < V::rows && p * V::rows + r < t.rows; ++r, c += t.ldc)
        *c = t.add ? *c + sums[r] : sums[r];
    }
}

/// Eight sums, or a few more.
template <class V>
constexpr int most_panels(int columns) {
  const int vectors = (V::rows + V::lanes - 1) / V::lanes * columns;
  return (8 + vectors - 1) / vectors;
}

/// As many panels at once as there are registers for, then half as many.
template <class V, int N, int P = most_panels<V>(N)>
void panels_of(TileCall<typename V::T> t, int64_t panel) {
  for (; t.rows > (P - 1) * V::rows; t.rows -= P * V::rows) {
    few_columns_of<V, N, P>(t, panel);
    t.a += P * panel;
    t.c += P * V::rows * t.ldc;
  }
  if constexpr (P > 1)
    if (t.rows > 0) panels_of<V, N, P / 2>(t, panel);
}

template <class V>
void few_columns(const TileCall<typename V::T>& t, int64_t panel) {
  switch (t.cols) {
    case 1:
      return panels_of<V, 1>(t, panel);
    case 2:
      return panels_of<V, 2>(t, panel);
    case 3:
      return panels_of<V, 3>(t, panel);
    default:
      return panels_of<V, 4>(t, panel);
  }
}

/// Whole numbers that are moved as the floats of their width are, by V; `Arithmetic` offers add and
/// fma on V's registers.
template <class V, class Number, class Arithmetic>
struct Whole : Arithmetic {
  using T = Number;
  using Reg = typename V::Reg;
  using Mask = typename V::Mask;
  static constexpr int lanes = V::lanes, rows = V::rows, vectors = V::vectors,
                       direct_rows = V::direct_rows;
  static constexpr bool fast_parts = V::fast_parts;
  static const typename V::T* moved(const T* p) {
    return reinterpret_cast<const typename V::T*>(p);
  }
  static typename V::T* moved(T* p) { return reinterpret_cast<typename V::T*>(p); }
  static Reg zero() { return V::zero(); }
  static Reg load(const T* p) { return V::load(moved(p)); }
  static void store(T* p, Reg x) { V::store(moved(p), x); }
  static Mask first(int n) { return V::first(n); }
  static Mask range(int lo, int hi) { return V::range(lo, hi); }
  static Reg load_some(const T* p, Mask m) { return V::load_some(moved(p), m); }
  static Reg load_any(const T* p) { return V::load_any(moved(p)); }
  static bool in_a_page(const T* p, size_t n) { return V::in_a_page(moved(p), n); }
  static Reg merge(Reg x, const T* p, Mask m) { return V::merge(x, moved(p), m); }
  static void store_some(T* p, Reg x, Mask m) { V::store_some(moved(p), x, m); }
  static Reg merge_strided(Reg x, const T* p, int64_t step, Mask, int lo, int hi) {
    alignas(64) T lanes_of[lanes];
    store(lanes_of, x);
    for (int i = lo; i < hi; ++i) lanes_of[i] = p[i * step];
    return load(lanes_of);
  }
  static void transpose(Reg* r) { V::transpose(r); }
  static void keep(Reg& x) { V::keep(x); }
  static void unzip(Reg a, Reg b, Reg& even, Reg& odd) { V::unzip(a, b, even, odd); }
  static void zip(Reg even, Reg odd, Reg& a, Reg& b) { V::zip(even, odd, a, b); }
};

/// Null where a tile has one vector, which few columns leave no emptier.
template <class V>
constexpr auto few_columns_if_better() -> void (*)(const TileCall<typename V::T>&, int64_t) {
  if constexpr (V::vectors > 1)
    return few_columns<V>;
  else
    return nullptr;
}

template <class V>
constexpr Tiles<typename V::T> tiles_of(const char* name) {
  static_assert(V::rows <= kMostLanes && V::lanes * V::vectors <= kMostLanes);
  static_assert(V::rows * V::lanes * V::vectors <= kMostSums);
  return {name,
          V::rows,
          V::lanes * V::vectors,
          V::direct_rows,
          V::lanes,
          tile<V>,
          row_tile<V>,
          few_columns_if_better<V>(),
          tile_rows<V>,
          put_turned<V>,
          taps<V>,
          lane_taps<V>,
          pack_straight<V>,
          pack_transposed<V>,
          pack_runs<V>,
          split_rows<V>,
          join_row<V>,
          window_lines<V>,
          row_times_matrix<V>,
          matrix_times_columns<V>,
          small<V>,
          paired_rows<V>};
}

#undef LATHE_UNROLL

}  // namespace
}  // namespace lathe::own
