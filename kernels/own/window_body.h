// The windowed half of tile_body.h: sums over windows that lie staged (windows.h). The same rules
// hold.
#pragma once

#include "kernels/own/pack_body.h"
#include "kernels/own/tiles.h"

namespace lathe::own {
namespace {

/// What sum_lines() has summed, where not all is stored.
template <class V>
__attribute__((noinline)) void put_lines(const WindowCall<typename V::T>& t, int rows, int lines,
                                         const typename V::T* sums, typename V::T* y, int64_t whole,
                                         int some) {
  for (int r = 0; r < rows; ++r)
    for (int i = 0; i < lines; ++i, sums += V::lanes)
      put_some<V>(y + r * t.y_row + i * t.y_line, V::load(sums),
                  V::first(i < whole ? V::lanes : some), t.add);
}

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
  if (whole < N) {
    alignas(64) typename V::T sums[R * N * V::lanes];
    LATHE_UNROLL for (int i = 0; i < R * N; ++i) V::store(sums + i * V::lanes, acc[i / N][i % N]);
    return put_lines<V>(t, R, N, sums, y, whole, some);
  }
  LATHE_UNROLL for (int r = 0; r < R; ++r) LATHE_UNROLL for (int i = 0; i < N; ++i) {
    auto* to = y + r * t.y_row + i * t.y_line;
    V::store(to, t.add ? V::add(V::load(to), acc[r][i]) : acc[r][i]);
  }
}

/// sum(x, y, whole, some) for each vector of columns of some lines: of the first `whole` lines all
/// of it is stored, of the others `some` outputs.
template <class V, class Sum>
__attribute__((always_inline)) inline void over_columns(const WindowCall<typename V::T>& t,
                                                        int64_t line, int64_t lines, Sum sum) {
  constexpr int64_t L = V::lanes;
  const auto* x = t.x + line * t.line_step;
  auto* y = t.y + line * t.y_line;
  int64_t j = 0;
  for (; j + L <= t.cols; j += L) sum(x + j, y + j, lines, 0);
  if (j == t.cols) return;
  // Stores of parts of vectors are slow on some processors. The last vector begins earlier, and
  // writes what is there again; or where lines are short and follow each other at once, what it
  // writes past its line are the next ones' outputs, which are written later.
  if (t.cols >= L && !t.add) return sum(x + t.cols - L, y + t.cols - L, lines, 0);
  int64_t whole = 0;
  if (t.cols == t.y_line && t.cols < L && !t.add)
    whole = t.lines - (L + t.cols - 1) / t.cols + 1 - line;
  sum(x + j, y + j, whole, static_cast<int>(t.cols - j));
}

/// All columns of N lines from `line` on; of fewer where there are not as many.
template <class V, int R, int N>
void all_columns(const WindowCall<typename V::T>& t, int64_t line, int64_t lines) {
  if constexpr (N > 1)
    if (lines < N) return all_columns<V, R, N - 1>(t, line, lines);
  over_columns<V>(t, line, N, [&](const auto* x, auto* y, int64_t whole, int some) {
    sum_lines<V, R, N>(t, x, y, whole, some);
  });
}

/// A vector of all lines, of windows of three rows of three terms that are Step rows apart. A row
/// is loaded once for all lines that read it; from the top down, so that each line's terms are
/// still added in their order.
template <class V, int Step>
__attribute__((noinline)) void three_by_three(const WindowCall<typename V::T>& t,
                                              const typename V::T* x, typename V::T* y,
                                              int64_t whole, int some) {
  typename V::Reg w[9];
  LATHE_UNROLL for (int i = 0; i < 9; ++i) w[i] = V::all(t.w[i * t.w_step]);
  const int64_t row = t.taps[3] - t.taps[0];
  const auto *a = x + t.taps[0], *b = x + t.taps[1], *c = x + t.taps[2];
  const auto part = V::first(some);
  typename V::Reg at[3];
  auto load = [&]() __attribute__((always_inline)) {
    at[0] = V::load(a), at[1] = V::load(b), at[2] = V::load(c);
    // Else each of the three sums would load them again, most of them from two lines of the cache.
    LATHE_UNROLL for (auto& x : at) V::keep(x);
    a += row, b += row, c += row;
  };
  // What was loaded as row `i` of a line's window.
  auto added = [&](int i, typename V::Reg sum) __attribute__((always_inline)) {
    LATHE_UNROLL for (int k = 0; k < 3; ++k) sum = V::fma(w[3 * i + k], at[k], sum);
    return sum;
  };
  // The plane or stripe that follows is called into the cache as this one is written.
  const int64_t ahead = t.lines * t.y_line;
  auto put = [&](int64_t line, typename V::Reg sum) __attribute__((always_inline)) {
    __builtin_prefetch(y + ahead, 1);
    line < whole ? V::store(y, sum) : V::store_some(y, sum, part);
    y += t.y_line;
  };
  load();
  typename V::Reg first = added(0, V::zero()), second;
  if constexpr (Step == 1) {
    load();
    second = added(1, first);
    first = added(0, V::zero());
    for (int64_t line = 0; line < t.lines; ++line) {
      load();
      const auto third = added(2, second);
      second = added(1, first);
      first = added(0, V::zero());
      put(line, third);
    }
  } else {
    for (int64_t line = 0; line < t.lines; ++line) {
      load();
      second = added(1, first);
      load();
      first = added(0, V::zero());
      put(line, added(2, second));
    }
  }
}

/// How many rows apart the lines of windows of three rows of three terms are; 0: they are others.
template <class T>
int64_t three_rows_step(const WindowCall<T>& t) {
  if (t.depth != 9 || t.add) return 0;
  const int64_t row = t.taps[3] - t.taps[0];
  for (int i = 3; i < 9; ++i)
    if (t.taps[i] - t.taps[i - 3] != row) return 0;
  return t.line_step == row ? 1 : t.line_step == 2 * row ? 2 : 0;
}

/// f(begin, count) for groups of [0, n) of at most so many, as even as they can be.
template <class F>
__attribute__((always_inline)) inline void in_even_groups(int64_t n, int64_t most, F f) {
  const int64_t groups = (n + most - 1) / most;
  for (int64_t g = 0, begin = 0; g < groups; ++g) {
    const int64_t count = n / groups + (g < n % groups);
    f(begin, count);
    begin += count;
  }
}

/// As many sums at once as there are registers for.
template <class V, int R>
void lines_of(const WindowCall<typename V::T>& t) {
  constexpr int N = (4 * V::vectors + R - 1) / R;
  in_even_groups(t.lines, N,
                 [&](int64_t line, int64_t lines) { all_columns<V, R, N>(t, line, lines); });
}

template <class V, int Step>
void three_by_three_lines(const WindowCall<typename V::T>& t) {
  WindowCall<typename V::T> of = t;
  for (int64_t row = 0; row < t.rows; ++row, of.w += t.w_row, of.y += t.y_row)
    over_columns<V>(of, 0, t.lines, [&](const auto* x, auto* y, int64_t whole, int some) {
      three_by_three<V, Step>(of, x, y, whole, some);
    });
}

template <class V>
void window_lines(const WindowCall<typename V::T>& t) {
  if constexpr (V::vectors > 1) {  // else there are no registers for nine weights
    const int64_t step = three_rows_step(t);
    if (step == 1) return three_by_three_lines<V, 1>(t);
    if (step == 2) return three_by_three_lines<V, 2>(t);
  }
  in_even_groups(t.rows, 4, [&](int64_t row, int64_t rows) {
    WindowCall<typename V::T> some = t;
    some.w += row * t.w_row;
    some.y += row * t.y_row;
    switch (rows) {
      case 1:
        return lines_of<V, 1>(some);
      case 2:
        return lines_of<V, 2>(some);
      case 3:
        return lines_of<V, 3>(some);
      default:
        return lines_of<V, 4>(some);
    }
  });
}

}  // namespace
}  // namespace lathe::own
