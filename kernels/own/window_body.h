// The windowed half of tile_body.h: sums over windows that lie staged (windows.h). The same rules
// hold.
#pragma once

#include "kernels/own/pack_body.h"
#include "kernels/own/tiles.h"

namespace lathe::own {
namespace {

/// A vector of each of N lines, for each of R rows: enough chains at once that none waits. Of the
/// first `whole` lines all of it is stored, of the others `some` outputs.
template <class V, int R, int N>
__attribute__((noinline)) void sum_lines(const WindowCall<typename V::T>& t, const typename V::T* x,
                                         typename V::T* y, int64_t whole, int some) {
  typename V::Reg acc[R][N];
  LATHE_UNROLL for (int r = 0; r < R; ++r) LATHE_UNROLL for (int i = 0; i < N; ++i) acc[r][i] =
      V::zero();
  const auto* w = t.w;
  const int64_t step = t.line_step;
  for (const int64_t *tap = t.taps, *end = tap + t.depth; tap != end; ++tap, w += t.w_step) {
    typename V::Reg in[N];
    LATHE_UNROLL for (int i = 0; i < N; ++i) in[i] = V::load(x + *tap + i * step);
    LATHE_UNROLL for (int r = 0; r < R; ++r) {
      const auto weight = V::all(w[r * t.w_row]);
      LATHE_UNROLL for (int i = 0; i < N; ++i) acc[r][i] = V::fma(weight, in[i], acc[r][i]);
    }
  }
  const auto part = V::first(some);
  auto put = [&](auto* to, typename V::Reg sum, bool all) __attribute__((always_inline)) {
    if (all && !t.add) return V::store(to, sum);
    const auto kept = all ? V::first(V::lanes) : part;
    V::store_some(to, t.add ? V::add(V::load_some(to, kept), sum) : sum, kept);
  };
  LATHE_UNROLL for (int r = 0; r < R; ++r) LATHE_UNROLL for (int i = 0; i < N; ++i)
      put(y + r * t.y_row + i * t.y_line, acc[r][i], i < whole);
}

/// All columns of N lines from `line` on; of fewer where there are not as many.
template <class V, int R, int N>
void columns_of(const WindowCall<typename V::T>& t, int64_t line, int64_t lines) {
  if constexpr (N > 1)
    if (lines < N) return columns_of<V, R, N - 1>(t, line, lines);
  constexpr int64_t L = V::lanes;
  const auto* x = t.x + line * t.line_step;
  auto* y = t.y + line * t.y_line;
  int64_t j = 0;
  for (; j + L <= t.cols; j += L) sum_lines<V, R, N>(t, x + j, y + j, N, 0);
  if (j == t.cols) return;
  // Stores of parts of vectors are slow on some processors. The last vector begins earlier, and
  // writes what is there again; or where lines are short and follow each other at once, what it
  // writes past its line are the next ones' outputs, which are written later.
  if (t.cols >= L && !t.add) return sum_lines<V, R, N>(t, x + t.cols - L, y + t.cols - L, N, 0);
  int64_t whole = 0;
  if (t.cols == t.y_line && t.cols < L && !t.add)
    whole = t.lines - (L + t.cols - 1) / t.cols + 1 - line;
  sum_lines<V, R, N>(t, x + j, y + j, whole, static_cast<int>(t.cols - j));
}

/// Groups of lines, as even as they can be, of as many sums at most as there are registers for.
template <class V, int R>
void lines_of(const WindowCall<typename V::T>& t) {
  constexpr int N = (4 * V::vectors + R - 1) / R;
  const int64_t groups = (t.lines + N - 1) / N;
  int64_t line = 0;
  for (int64_t g = 0; g < groups; ++g) {
    const int64_t lines = t.lines / groups + (g < t.lines % groups);
    columns_of<V, R, N>(t, line, lines);
    line += lines;
  }
}

template <class V>
void window_lines(const WindowCall<typename V::T>& t) {
  switch (t.rows) {
    case 1:
      return lines_of<V, 1>(t);
    case 2:
      return lines_of<V, 2>(t);
    case 3:
      return lines_of<V, 3>(t);
    default:
      return lines_of<V, 4>(t);
  }
}

}  // namespace
}  // namespace lathe::own
