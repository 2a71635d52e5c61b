// The windowed half of tile_body.h: sums over windows that lie staged (windows.h). The same rules
// hold.
#pragma once

#include "kernels/own/pack_body.h"
#include "kernels/own/tiles.h"

namespace lathe::own {
namespace {

/// N vectors of outputs, of any lines, for each of R rows: enough chains at once that none waits.
template <class V, int R, int N>
struct Places {
  using T = typename V::T;
  static constexpr int L = V::lanes;
  const T* x[N];
  T* y[N];
  int count[N];  // outputs; the lanes past them may be written if that is L
  int filled = 0;

  void add(const WindowCall<T>& t, const T* from, T* to, int n) {
    x[filled] = from;
    y[filled] = to;
    count[filled] = n;
    if (++filled == N) sum(t);
  }
  /// What is there, if anything.
  void finish(const WindowCall<T>& t) {
    if (filled == 0) return;
    for (int i = filled; i < N; ++i) x[i] = x[0];
    sum(t);
  }

 private:
  __attribute__((noinline)) void sum(const WindowCall<T>& t) {
    typename V::Reg acc[R][N];
    LATHE_UNROLL for (int r = 0; r < R; ++r) LATHE_UNROLL for (int i = 0; i < N; ++i) acc[r][i] =
        V::zero();
    const T* from[N];
    LATHE_UNROLL for (int i = 0; i < N; ++i) from[i] = x[i];
    const T* w = t.w;
    for (const int64_t *tap = t.taps, *end = tap + t.depth; tap != end; ++tap, w += t.w_step) {
      typename V::Reg in[N];
      LATHE_UNROLL for (int i = 0; i < N; ++i) in[i] = V::load(from[i] + *tap);
      LATHE_UNROLL for (int r = 0; r < R; ++r) {
        const auto weight = V::all(w[r * t.w_row]);
        LATHE_UNROLL for (int i = 0; i < N; ++i) acc[r][i] = V::fma(weight, in[i], acc[r][i]);
      }
    }
    LATHE_UNROLL for (int i = 0; i < N; ++i) {
      if (i >= filled) break;
      LATHE_UNROLL for (int r = 0; r < R; ++r) put(t, y[i] + r * t.y_row, acc[r][i], count[i]);
    }
    filled = 0;
  }
  static __attribute__((always_inline)) inline void put(const WindowCall<T>& t, T* to,
                                                        typename V::Reg sum, int n) {
    if (n == L && !t.add) return V::store(to, sum);
    const auto some = V::first(n);
    V::store_some(to, t.add ? V::add(V::load_some(to, some), sum) : sum, some);
  }
};

template <class V, int R, int N>
void lines_of(const WindowCall<typename V::T>& t) {
  constexpr int L = V::lanes;
  Places<V, R, N> places;
  // Lines that follow each other at once: what a vector writes past its line, the next one's first
  // vector writes again. Stores of parts of vectors are slow on some processors.
  const int64_t end = t.cols == t.y_line && !t.add ? t.lines * t.cols : 0;
  for (int64_t l = 0; l < t.lines; ++l) {
    const auto* from = t.x + l * t.line_step;
    auto* to = t.y + l * t.y_line;
    for (int64_t j = 0; j < t.cols; j += L) {
      const int64_t left = t.cols - j;
      const bool whole = left >= L || l * t.cols + j + L <= end;
      places.add(t, from + j, to + j, whole ? L : static_cast<int>(left));
    }
  }
  places.finish(t);
}

template <class V>
void window_lines(const WindowCall<typename V::T>& t) {
  switch (t.rows) {
    case 1:
      return lines_of<V, 1, 8>(t);
    case 2:
      return lines_of<V, 2, 3>(t);
    case 3:
      return lines_of<V, 3, 3>(t);
    default:
      return lines_of<V, 4, 2>(t);
  }
}

}  // namespace
}  // namespace lathe::own
