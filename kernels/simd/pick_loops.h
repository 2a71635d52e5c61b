// Kernels for the reductions that find an extremum and where it is (argmax and its like), in the
// defined order.
//
// A lane keeps the best value so far and the step it came from: steps ascend, so a tie never moves
// a lane. Which index wins between lanes and stretches is asked only after that. A step of floats
// is several vectors, of which the best one counts; which of them it was is asked of the winner
// alone.
#pragma once

#include "kernels/simd/reduce_loops.h"

namespace lathe {
namespace {

/// Whether b takes the place of a, by value alone: NaN beats everything, and is not beaten.
struct PickHighest {
  template <class S>
  LATHE_SIMD static typename S::Mask beats(S b, S a) {
    return ~S::le(b, a) & S::eq(a, a);
  }
  /// The better of two numbers, and whether it is b.
  template <class S>
  LATHE_SIMD static S call(S b, S a) {
    return S::pmax(b, a);
  }
  template <class S>
  LATHE_SIMD static typename S::Mask exceeds(S b, S a) {
    return S::lt(a, b);
  }
  template <class T>
  LATHE_SIMD static bool plain(T b, T a) {
    return !(b <= a) && a == a;
  }
};
struct PickLowest {
  template <class S>
  LATHE_SIMD static typename S::Mask beats(S b, S a) {
    return ~S::le(a, b) & S::eq(a, a);
  }
  template <class S>
  LATHE_SIMD static S call(S b, S a) {
    return S::pmin(b, a);
  }
  template <class S>
  LATHE_SIMD static typename S::Mask exceeds(S b, S a) {
    return S::lt(b, a);
  }
  template <class T>
  LATHE_SIMD static bool plain(T b, T a) {
    return !(a <= b) && a == a;
  }
};

/// a = the better of two (value, index) pairs; of equals the lower index.
template <class F, class T>
LATHE_SIMD void pick(T& a, int64_t& at, T b, int64_t b_at) {
  bool tie = !F::plain(b, a) && !F::plain(a, b);
  if (F::plain(b, a) || (tie && b_at < at)) a = b, at = b_at;
}

/// What is first among the best of n numbers, a step of so many vectors of S at a time; the last
/// step may take some of them again.
template <class F, class S, size_t Vectors>
struct PickedNumber {
  using T = typename S::Scalar;
  static constexpr size_t kStep = Vectors * width<S>;
  static constexpr size_t kAhead = 2048 / sizeof(T);  // fetched: rows are too short to be streams

  bool nan;   // there was one, and then `at` says nothing
  size_t at;  // whose index it is

  LATHE_SIMD PickedNumber(const T* in, size_t n) {
    const S one(T(1));
    S now(T(0)), from = now;  // counts steps, exactly: n <= kPickRow
    typename S::Mask unordered = S::ne(now, now);
    S top = best_of(in, unordered);
    for (size_t done = kStep; done < n; done += kStep) {
      const S x = best_of(in + (done + kStep <= n ? done : n - kStep), unordered);
      const typename S::Mask better = F::exceeds(x, top);
      now = now + one;
      top = F::call(x, top);
      from = S::select(better, now, from);
    }
    nan = S::any(unordered);
    const S best(first(halve_within<F, width<S> / 2>(top)));
    const S late = S::select(S::eq(top, best), from, now);
    at = kStep * static_cast<size_t>(first(halve_within<PickLowest, width<S> / 2>(late)));
    if (at + kStep > n) at = n - kStep;
    uint64_t equal = uint64_t{nan} << 63;  // of that step
#pragma GCC unroll 4
    for (size_t k = 0; k < Vectors; ++k) {
      const auto lanes = S::eq(load(in + at + k * width<S>), best);
      equal |= uint64_t{S::lanes_of(lanes)} << k * width<S>;
    }
    at += static_cast<size_t>(__builtin_ctzll(equal));
  }

 private:
  LATHE_SIMD static S best_of(const T* in, typename S::Mask& unordered) {
    S x[Vectors];
#pragma GCC unroll 4
    for (size_t k = 0; k < Vectors; ++k) {
      __builtin_prefetch(in + k * width<S> + kAhead);
      x[k] = load(in + k * width<S>);
    }
#pragma GCC unroll 4
    for (size_t k = 0; k < Vectors; k += 2)
      unordered = unordered | S::unordered(x[k], x[k + 1 < Vectors ? k + 1 : k]);
#pragma GCC unroll 2
    for (size_t half = Vectors / 2; half > 0; half /= 2)
#pragma GCC unroll 2
      for (size_t k = 0; k < half; ++k) x[k] = F::call(x[k + half], x[k]);
    return x[0];
  }
};

/// Elements, n > 0, the first of which has index `first`: the first NaN, else the first of the
/// best. Which that is does not depend on the order in which elements are compared.
template <class F, class S>
[[gnu::noinline]] void pick_floats(typename S::Scalar* value, int64_t* index,
                                   const typename S::Scalar* in, size_t n, int64_t first) {
  size_t at = 0;
  bool nan = false;
  const auto found = [&](const auto& picked) __attribute__((always_inline)) {
    at = picked.at, nan = picked.nan;
  };
  if (n >= 4 * width<S>) {
    found(PickedNumber<F, S, 4>(in, n));
  } else if (n >= width<S>) {
    found(PickedNumber<F, S, 1>(in, n));
  } else {
    for (size_t i = 0; i < n; ++i) {
      nan = nan || in[i] != in[i];
      if (F::plain(in[i], in[at])) at = i;
    }
  }
  if (nan)
    for (at = 0; in[at] == in[at];) ++at;
  *value = in[at];
  *index = first + static_cast<int64_t>(at);
}

/// Lanes of integers.
template <class F, class E>
struct PlainPicks {
  using T = E;
  using Step = uint32_t;

  T v[kReduceLanes];
  Step from[kReduceLanes] = {};

  LATHE_SIMD explicit PlainPicks(const T* in) {
    for (size_t i = 0; i < kReduceLanes; ++i) v[i] = in[i];
  }
  LATHE_SIMD void step(const T* in, Step number) {
    for (size_t i = 0; i < kReduceLanes; ++i) {
      bool better = F::plain(in[i], v[i]);
      v[i] = better ? in[i] : v[i];
      from[i] = better ? number : from[i];
    }
  }
  LATHE_SIMD void lanes(T* values, Step* steps) const {
    for (size_t i = 0; i < kReduceLanes; ++i) values[i] = v[i], steps[i] = from[i];
  }
};

/// Elements, n > 0, the first of which has index `first`.
template <class F, class P>
[[gnu::noinline]] void pick_integers(typename P::T* value, int64_t* index, const typename P::T* in,
                                     size_t n, int64_t first) {
  alignas(64) typename P::T values[kReduceLanes];
  alignas(64) typename P::Step steps[kReduceLanes] = {};
  size_t lanes = n < kReduceLanes ? n : kReduceLanes, done = lanes;
  if (n >= kReduceLanes) {
    P picks(in);
    for (size_t s = 1; done + kReduceLanes <= n; ++s, done += kReduceLanes)
      picks.step(in + done, static_cast<typename P::Step>(s));
    picks.lanes(values, steps);
  } else {
    for (size_t l = 0; l < n; ++l) values[l] = in[l];
  }
  auto last = static_cast<typename P::Step>(done / kReduceLanes);
  for (size_t l = 0; done + l < n; ++l)
    if (F::plain(in[done + l], values[l])) values[l] = in[done + l], steps[l] = last;
  auto best = values[0];
  for (size_t l = 1; l < lanes; ++l) best = F::plain(values[l], best) ? values[l] : best;
  size_t at = n;
  for (size_t l = 0; l < lanes; ++l) {
    const size_t there = steps[l] * kReduceLanes + l;
    at = values[l] == best && there < at ? there : at;
  }
  *value = best;
  *index = first + static_cast<int64_t>(at);
}

template <class T, void (*Row)(T*, int64_t*, const T*, size_t, int64_t)>
void pick_rows(void* values, int64_t* indices, const void* in, ptrdiff_t stride, size_t rows,
               size_t n, int64_t first) {
  auto* to = static_cast<T*>(values);
  for (const T* row = as<T>(in); rows > 0; --rows, row += stride)
    Row(to++, indices++, row, n, first);
}

/// What is best among N rows from row r on takes the place of `best`, and its row that of `from`.
template <class F, class S, size_t N>
LATHE_SIMD void pick_some(typename S::Scalar* best, typename S::Scalar* from,
                          const void* const* rows, size_t r, size_t c, size_t n) {
  for (size_t i = 0; i < n; i += width<S>) {
    S top = load(best + i), at = load(from + i);
#pragma GCC unroll 4
    for (size_t k = 0; k < N; ++k) {
      const S x = load(as<typename S::Scalar>(rows[r + k]) + c + i);
      const typename S::Mask better = F::beats(x, top);
      const S row = S::frombits(typename S::Bits(static_cast<typename S::Word>(r + k)));
      top = S::select(better, x, top);
      at = S::select(better, row, at);
    }
    store(best + i, top);
    store(from + i, at);
  }
}
template <class F, class T>
LATHE_SIMD void pick_column(T* values, int64_t* indices, const void* const* rows, size_t n,
                            size_t c, int64_t first) {
  T best = as<T>(rows[0])[c];
  size_t from = 0;
  for (size_t r = 1; r < n; ++r) {
    const T x = as<T>(rows[r])[c];
    if (F::plain(x, best)) best = x, from = r;
  }
  values[c] = best;
  indices[c] = first + static_cast<int64_t>(from);
}
/// A pick in columns, a tile of them at a time, some rows after the other: in each what is first
/// among the best. Whatever the order of combination, that is the result.
template <class F, class S>
void pick_columns(void* values, int64_t* indices, const void* const* rows, size_t n, size_t columns,
                  int64_t first) {
  using T = typename S::Scalar;
  constexpr size_t kAtOnce = 4, kTile = 4096 / sizeof(T);  // a page, which is a stream
  auto* to = static_cast<T*>(values);
  alignas(64) T from[kTile];
  size_t c = 0;
  while (c < columns && columns >= width<S>) {
    if (columns - c < width<S>) c = columns - width<S>;  // some of them again
    size_t tile = columns - c < kTile ? columns - c : kTile;
    tile = tile / width<S> * width<S>;
    __builtin_memcpy(to + c, as<T>(rows[0]) + c, tile * sizeof(T));
    __builtin_memset(from, 0, tile * sizeof(T));
    size_t r = 1;
    for (; r + kAtOnce <= n; r += kAtOnce) pick_some<F, S, kAtOnce>(to + c, from, rows, r, c, tile);
    for (; r < n; ++r) pick_some<F, S, 1>(to + c, from, rows, r, c, tile);
    for (size_t i = 0; i < tile; ++i, ++c)
      indices[c] = first + static_cast<int64_t>(scalar::bits(from[i]));
  }
  for (; c < columns; ++c) pick_column<F, T>(to, indices, rows, n, c, first);
}
/// Of integers, in blocks that the compiler turns into vectors.
template <class F, class T>
void pick_plain_columns(void* values, int64_t* indices, const void* const* rows, size_t n,
                        size_t columns, int64_t first) {
  auto* to = static_cast<T*>(values);
  size_t c = 0;
  for (; c + kPlainBlock <= columns; c += kPlainBlock) {
    T best[kPlainBlock];
    uint32_t from[kPlainBlock] = {};
    __builtin_memcpy(best, as<T>(rows[0]) + c, sizeof best);
    for (size_t r = 1; r < n; ++r) {
      const T* x = as<T>(rows[r]) + c;
      for (size_t i = 0; i < kPlainBlock; ++i) {
        const bool better = F::plain(x[i], best[i]);
        best[i] = better ? x[i] : best[i];
        from[i] = better ? static_cast<uint32_t>(r) : from[i];
      }
    }
    __builtin_memcpy(to + c, best, sizeof best);
    for (size_t i = 0; i < kPlainBlock; ++i) indices[c + i] = first + from[i];
  }
  for (; c < columns; ++c) pick_column<F, T>(to, indices, rows, n, c, first);
}

/// values[0], indices[0] = tree(n); see reduce_tree.
template <class F, class T>
void pick_tree(void* values, int64_t* indices, size_t n) {
  auto* v = static_cast<T*>(values);
  for (size_t step = 1; step < n; step *= 2)
    for (size_t i = 0; i + step < n; i += 2 * step)
      pick<F>(v[i], indices[i], v[i + step], indices[i + step]);
}

template <DType D>
void add_pick_tree(SimdLoops& set) {
  using T = Element<D>;
  set.pick_tree[0][static_cast<int>(D)] = pick_tree<PickLowest, T>;
  set.pick_tree[1][static_cast<int>(D)] = pick_tree<PickHighest, T>;
}
template <DType D>
void add_plain_pick(SimdLoops& set) {
  using T = Element<D>;
  add_pick_tree<D>(set);
  set.pick[0][static_cast<int>(D)] =
      pick_rows<T, pick_integers<PickLowest, PlainPicks<PickLowest, T>>>;
  set.pick[1][static_cast<int>(D)] =
      pick_rows<T, pick_integers<PickHighest, PlainPicks<PickHighest, T>>>;
  set.pick_columns[0][static_cast<int>(D)] = pick_plain_columns<PickLowest, T>;
  set.pick_columns[1][static_cast<int>(D)] = pick_plain_columns<PickHighest, T>;
}
template <DType D, class S>
void add_vector_pick(SimdLoops& set) {
  add_pick_tree<D>(set);
  set.pick[0][static_cast<int>(D)] = pick_rows<Element<D>, pick_floats<PickLowest, S>>;
  set.pick[1][static_cast<int>(D)] = pick_rows<Element<D>, pick_floats<PickHighest, S>>;
  set.pick_columns[0][static_cast<int>(D)] = pick_columns<PickLowest, S>;
  set.pick_columns[1][static_cast<int>(D)] = pick_columns<PickHighest, S>;
}

inline void add_pick(SimdLoops& set) {
  add_vector_pick<DType::f32, F32>(set);
  add_vector_pick<DType::f64, F64>(set);
  add_plain_pick<DType::u8>(set);
  add_plain_pick<DType::i8>(set);
  add_plain_pick<DType::i16>(set);
  add_plain_pick<DType::i32>(set);
  add_plain_pick<DType::i64>(set);
  add_plain_pick<DType::u16>(set);
  add_plain_pick<DType::u32>(set);
  add_plain_pick<DType::u64>(set);
}

}  // namespace
}  // namespace lathe
