// The packing half of tile_body.h: what copies operands into the panels that tiles read. The same
// rules hold.
#pragma once

#include <algorithm>

#include "kernels/own/tiles.h"

namespace lathe::own {
namespace {

#define LATHE_UNROLL _Pragma("GCC unroll 32")

/// Stores some of the elements, or adds them to what is there.
template <class V>
__attribute__((always_inline)) inline void put_some(typename V::T* to, typename V::Reg sum,
                                                    typename V::Mask some, bool add) {
  V::store_some(to, add ? V::add(V::load_some(to, some), sum) : sum, some);
}

/// N vectors of each row. Rows may lie pages apart, where no processor fetches ahead by itself.
template <class V, int N>
void pack_rows_of(const typename V::T* from, int64_t ld, int64_t depth, int valid, int width,
                  typename V::T* to) {
  constexpr int L = V::lanes;
  constexpr int64_t kAhead = 16;
  typename V::Mask some[N], keep[N];
  const typename V::T* source[N];
  LATHE_UNROLL for (int i = 0; i < N; ++i) {
    some[i] = V::first(valid - i * L);
    keep[i] = V::first(width - i * L);
    source[i] = valid - i * L > 0 ? from + i * L : from;  // read or not, it must be an address
  }
  const int64_t fetched = depth > kAhead ? depth - kAhead : 0;
  for (int64_t k = 0; k < depth; ++k, to += width) {
    if (k < fetched)
      LATHE_UNROLL for (int i = 0; i < N; ++i) __builtin_prefetch(source[i] + kAhead * ld, 0, 3);
    LATHE_UNROLL for (int i = 0; i < N; ++i) {
      V::store_some(to + i * L, V::load_some(source[i], some[i]), keep[i]);
      source[i] += ld;
    }
  }
}

template <class V>
void pack_straight(const typename V::T* from, int64_t ld, int64_t depth, int valid, int width,
                   typename V::T* to) {
  constexpr int L = V::lanes;
  switch ((width + L - 1) / L) {
    case 1:
      return pack_rows_of<V, 1>(from, ld, depth, valid, width, to);
    case 2:
      return pack_rows_of<V, 2>(from, ld, depth, valid, width, to);
    case 3:
      return pack_rows_of<V, 3>(from, ld, depth, valid, width, to);
    case 4:
      return pack_rows_of<V, 4>(from, ld, depth, valid, width, to);
    default:
      break;
  }
  for (int r = 0; r < width; r += L) {
    const auto some = V::first(valid - r), keep = V::first(width - r);
    const auto* source = valid - r > 0 ? from + r : from;
    auto* target = to + r;
    for (int64_t k = 0; k < depth; ++k, source += ld, target += width)
      V::store_some(target, V::load_some(source, some), keep);
  }
}

/// A block of as many rows as a vector has lanes, turned in registers.
template <class V>
__attribute__((always_inline)) inline void turn_block(const typename V::T* from, int64_t ld,
                                                      int64_t k, int64_t pitch,
                                                      const int64_t* places, typename V::T* to) {
  constexpr int L = V::lanes;
  typename V::Reg block[L];
  LATHE_UNROLL for (int r = 0; r < L; ++r) block[r] = V::load(from + r * ld + k);
  V::transpose(block);
  if (places == nullptr) {
    auto* target = to + k * pitch;
    LATHE_UNROLL for (int i = 0; i < L; ++i) V::store(target + i * pitch, block[i]);
  } else {
    LATHE_UNROLL for (int i = 0; i < L; ++i) V::store(to + places[k + i] * pitch, block[i]);
  }
}

template <class V>
void pack_transposed(const typename V::T* from, int64_t ld, int64_t depth, int valid, int width,
                     int64_t pitch, const int64_t* places, typename V::T* to) {
  constexpr int L = V::lanes;
  // Where there are as many, the last rows and the last elements of a row are turned with some
  // before them, which are written again: whole blocks are several times as fast as parts.
  const bool whole = valid == width && width >= L;
  const auto none = V::first(0);
  for (int r0 = 0; r0 < width; r0 += L) {
    if (whole && r0 > width - L) r0 = width - L;
    const auto keep = V::first(width - r0);
    int rows = valid - r0 < L ? (valid - r0 < 0 ? 0 : valid - r0) : L;
    const auto* source = from + r0 * ld;
    int64_t k = 0;
    if (rows == L && depth >= L) {  // then they are kept as well
      for (; k + L <= depth; k += L) turn_block<V>(source, ld, k, pitch, places, to + r0);
      if (k < depth) turn_block<V>(source, ld, depth - L, pitch, places, to + r0);
      continue;
    }
    for (; k < depth; k += L) {
      typename V::Reg block[L];
      int64_t left = depth - k;
      const auto some = V::first(left < L ? static_cast<int>(left) : L);
      // In registers also where there are fewer rows: a loop over as many would be in memory.
      LATHE_UNROLL for (int r = 0; r < L; ++r) block[r] =
          V::load_some(source + (r < rows ? r * ld + k : 0), r < rows ? some : none);
      V::transpose(block);
      int64_t n = left < L ? left : L;
      for (int64_t i = 0; i < n; ++i) {
        const int64_t place = places == nullptr ? k + i : places[k + i];
        V::store_some(to + place * pitch + r0, block[i], keep);
      }
    }
  }
}

/// One vector of lanes put together from evenly spaced pieces.
template <class V>
struct Assembly {
  static constexpr int kMost = 6;
  struct Part {
    const typename V::T* source;  // where lane 0 would be; only lanes of the mask are read
    typename V::Mask mask;
    int64_t step;
    int lo, hi;
  };
  Part parts[kMost];
  int count = 0;

  /// False if there are more pieces than fit. Runs come in ascending lanes.
  bool add(const typename V::T* from, const LaneRun& run, int r0) {
    int lo = run.lane - r0 > 0 ? run.lane - r0 : 0;
    int hi = run.lane + run.count - r0 < V::lanes ? run.lane + run.count - r0 : V::lanes;
    if (lo >= hi) return true;
    if (count == kMost) return false;
    const int64_t step = run.count == 1 && count > 0 ? parts[0].step : run.step;
    parts[count++] = {from + (run.from + (r0 - run.lane) * step), V::range(lo, hi), step, lo, hi};
    return true;
  }
  bool all_apart(int64_t step) const {
    for (int i = 0; i < count; ++i)
      if (parts[i].step != step) return false;
    return true;
  }
  __attribute__((always_inline)) inline typename V::Reg read(int64_t offset) const {
    auto x = V::zero();
    for (int i = 0; i < count; ++i) {
      const Part& p = parts[i];
      x = p.step == 1 ? V::merge(x, p.source + offset, p.mask)
                      : V::merge_strided(x, p.source + offset, p.step, p.mask, p.lo, p.hi);
    }
    return x;
  }
};

/// N pieces whose elements lie side by side: the usual case, without a loop over pieces.
template <class V, int N>
__attribute__((always_inline)) inline void pack_pieces(const Assembly<V>& lanes, int64_t step,
                                                       int64_t depth, int width,
                                                       typename V::Mask keep, typename V::T* to) {
  const typename V::T* source[N];
  typename V::Mask mask[N];
  LATHE_UNROLL for (int i = 0; i < N; ++i) {
    source[i] = lanes.parts[i].source;
    mask[i] = lanes.parts[i].mask;
  }
  for (int64_t k = 0; k < depth; ++k, to += width) {
    auto x = V::load_some(source[0], mask[0]);
    LATHE_UNROLL for (int i = 1; i < N; ++i) x = V::merge(x, source[i], mask[i]);
    LATHE_UNROLL for (int i = 0; i < N; ++i) source[i] += step;
    V::store_some(to, x, keep);
  }
}

/// N pieces whose elements lie two apart, as the windows of a stride of two do. What lies between
/// them is read with them, but not past the last.
template <class V, int N>
__attribute__((always_inline)) inline void pack_pairs(const Assembly<V>& lanes, int64_t step,
                                                      int64_t depth, int width,
                                                      typename V::Mask keep, typename V::T* to) {
  constexpr int L = V::lanes;
  const typename V::T* source[N];
  typename V::Mask low[N], high[N];
  LATHE_UNROLL for (int i = 0; i < N; ++i) {
    const auto& p = lanes.parts[i];
    source[i] = p.source;
    const int first = 2 * p.lo, end = 2 * p.hi - 1;
    low[i] = V::range(first < L ? first : L, end < L ? end : L);
    high[i] = V::range(first > L ? first - L : 0, end > L ? end - L : 0);
  }
  for (int64_t k = 0; k < depth; ++k, to += width) {
    auto a = V::load_some(source[0], low[0]), b = V::load_some(source[0] + L, high[0]);
    LATHE_UNROLL for (int i = 1; i < N; ++i) {
      a = V::merge(a, source[i], low[i]);
      b = V::merge(b, source[i] + L, high[i]);
    }
    LATHE_UNROLL for (int i = 0; i < N; ++i) source[i] += step;
    typename V::Reg even, odd;
    V::unzip(a, b, even, odd);
    V::store_some(to, even, keep);
  }
}

template <class V>
void pack_assembly(const Assembly<V>& lanes, int64_t step, int64_t depth, int width,
                   typename V::Mask keep, typename V::T* to) {
  if (lanes.all_apart(1)) {
    if (lanes.count == 1) return pack_pieces<V, 1>(lanes, step, depth, width, keep, to);
    if (lanes.count == 2) return pack_pieces<V, 2>(lanes, step, depth, width, keep, to);
    if (lanes.count == 3) return pack_pieces<V, 3>(lanes, step, depth, width, keep, to);
  } else if (lanes.all_apart(2)) {
    if (lanes.count == 1) return pack_pairs<V, 1>(lanes, step, depth, width, keep, to);
    if (lanes.count == 2) return pack_pairs<V, 2>(lanes, step, depth, width, keep, to);
    if (lanes.count == 3) return pack_pairs<V, 3>(lanes, step, depth, width, keep, to);
  }
  for (int64_t k = 0; k < depth; ++k, to += width) V::store_some(to, lanes.read(k * step), keep);
}

template <class V>
void pack_runs(const typename V::T* from, int64_t step, int64_t depth, const LaneRun* runs,
               int count, int width, typename V::T* to) {
  constexpr int L = V::lanes;
  using T = typename V::T;
  for (int r0 = 0; r0 < width; r0 += L) {
    const auto keep = V::first(width - r0);
    Assembly<V> lanes;
    bool fits = true;
    for (; count > 0 && runs->lane + runs->count <= r0; --count) ++runs;  // of vectors before
    for (int i = 0; i < count && fits && runs[i].lane < r0 + L; ++i)
      fits = lanes.add(from, runs[i], r0);
    if (fits) {
      pack_assembly(lanes, step, depth, width, keep, to + r0);
      continue;
    }
    for (int64_t k = 0; k < depth; ++k) V::store_some(to + k * width + r0, V::zero(), keep);
    for (int i = 0; i < count; ++i)
      for (int j = 0; j < runs[i].count; ++j) {
        int lane = runs[i].lane + j;
        if (lane < r0 || lane >= r0 + L) continue;
        const T* x = from + runs[i].from + j * runs[i].step;
        for (int64_t k = 0; k < depth; ++k) to[k * width + lane] = x[k * step];
      }
  }
}

/// What of a vector of a row's elements, from `at` on, lies in [lo, hi).
template <class V>
typename V::Mask lanes_within(int64_t at, int64_t lo, int64_t hi) {
  constexpr int64_t L = V::lanes;
  const int64_t below = std::clamp<int64_t>(lo - at, 0, L), above = std::clamp(hi - at, below, L);
  return V::range(static_cast<int>(below), static_cast<int>(above));
}

/// Rows of one or two phases whose elements lie beside each other. A step is a vector of each
/// phase: only those that the first and the last element of a row are in have edges, the same in
/// each row.
template <class V, int Phases>
void split_vectors(const RowsToSplit<typename V::T>& r) {
  using T = typename V::T;
  constexpr int64_t L = V::lanes, kStep = L * Phases;
  struct Edge {
    int64_t at;  // which step
    typename V::Mask in[Phases];
  };
  auto edge_at = [&](int64_t element) {
    Edge e{element / kStep, {}};
    LATHE_UNROLL for (int p = 0; p < Phases; ++p) e.in[p] =
        lanes_within<V>(e.at * kStep + p * L, r.lo, r.hi);
    return e;
  };
  const int64_t steps = (r.n + L - 1) / L, hi = std::min(r.hi, steps * kStep);
  const bool any = r.lo < hi;
  const Edge first = edge_at(any ? r.lo : 0), last = edge_at(any ? hi - 1 : 0);
  const auto keep = V::first(static_cast<int>(r.n - (steps - 1) * L));
  const bool whole = r.n % L == 0;
  auto put = [&](const typename V::Reg* x, T* to, int64_t step) __attribute__((always_inline)) {
    typename V::Reg out[Phases];
    if constexpr (Phases == 1)
      out[0] = x[0];
    else
      V::unzip(x[0], x[1], out[0], out[1]);
    LATHE_UNROLL for (int p = 0; p < Phases; ++p) {
      T* place = to + p * r.n + step * L;
      whole || step + 1 < steps ? V::store(place, out[p]) : V::store_some(place, out[p], keep);
    }
  };
  auto put_edge = [&](const Edge& edge, const T* from, T* to) __attribute__((always_inline)) {
    typename V::Reg x[Phases];
    LATHE_UNROLL for (int p = 0; p < Phases; ++p) x[p] =
        V::load_some(from + edge.at * kStep + p * L, edge.in[p]);
    put(x, to, edge.at);
  };
  auto put_row = [&](const T* from, T* to) __attribute__((always_inline)) {
    typename V::Reg x[Phases];
    LATHE_UNROLL for (int p = 0; p < Phases; ++p) x[p] = V::zero();
    for (int64_t i = 0; i < first.at; ++i) put(x, to, i);
    for (int64_t i = any ? last.at + 1 : 0; i < steps; ++i) put(x, to, i);
    if (!any) return;
    put_edge(first, from, to);
    for (int64_t i = first.at + 1; i < last.at; ++i) {
      LATHE_UNROLL for (int p = 0; p < Phases; ++p) x[p] = V::load(from + i * kStep + p * L);
      put(x, to, i);
    }
    if (last.at != first.at) put_edge(last, from, to);
  };
  for (int64_t g = 0; g < r.count; ++g) {
    const T* from = r.from + g * r.from_step;
    T* to = r.to + g * r.to_step;
    if (steps == 1 && any)
      for (int64_t row = 0; row < r.rows; ++row, from += r.row_step, to += r.n * Phases)
        put_edge(first, from, to);
    else
      for (int64_t row = 0; row < r.rows; ++row, from += r.row_step, to += r.n * Phases)
        put_row(from, to);
  }
}

template <class V>
void split_rows(const RowsToSplit<typename V::T>& r) {
  if (r.step == 1 && r.phases == 1) return split_vectors<V, 1>(r);
  if (r.step == 1 && r.phases == 2) return split_vectors<V, 2>(r);
  for (int64_t g = 0; g < r.count; ++g) {
    const auto* from = r.from + g * r.from_step;
    auto* to = r.to + g * r.to_step;
    for (int64_t row = 0; row < r.rows; ++row, from += r.row_step)
      for (int64_t p = 0; p < r.phases; ++p)
        for (int64_t i = 0; i < r.n; ++i) {
          const int64_t e = i * r.phases + p;
          *to++ = e >= r.lo && e < r.hi ? from[e * r.step] : typename V::T{};
        }
  }
}

/// to[i*phases + p] = from[p][i], for i*phases + p < n
template <class V>
void join_row(const typename V::T* const* from, int64_t phases, int64_t n, typename V::T* to) {
  constexpr int L = V::lanes;
  int64_t i = 0;
  if (phases == 2)
    for (; 2 * i + 2 * L <= n; i += L) {
      typename V::Reg low, high;
      V::zip(V::load(from[0] + i), V::load(from[1] + i), low, high);
      V::store(to + 2 * i, low);
      V::store(to + 2 * i + L, high);
    }
  for (int64_t p = 0; p < phases; ++p)
    for (int64_t k = i; k * phases + p < n; ++k) to[k * phases + p] = from[p][k];
}

}  // namespace
}  // namespace lathe::own
