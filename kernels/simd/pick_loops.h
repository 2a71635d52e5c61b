// Kernels for the reductions that find an extremum and where it is (argmax and its like), in the
// defined order.
//
// Of floats the best value is found first, then the first element that equals it. Of integers a
// lane keeps the best value so far and the step it came from: steps ascend, so a tie never moves a
// lane. Which index wins between lanes and stretches is asked only after that, an element at a
// time.
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
  /// The better of two numbers.
  template <class S>
  LATHE_SIMD static S call(S b, S a) {
    return S::pmax(b, a);
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

/// The best value among vectors of S, and whether one of them is NaN.
template <class F, class S>
struct BestOf {
  using T = typename S::Scalar;
  static constexpr size_t kChains = 4, kStep = kChains * width<S>;
  static constexpr size_t kAhead = 2048 / sizeof(T);  // fetched: rows are too short to be streams

  T best;
  bool nan;
  size_t done;  // elements that were looked at: whole vectors, at least one

  LATHE_SIMD BestOf(const T* in, size_t n) {
    S top[kChains];
    const S start = load(in);
    for (size_t k = 0; k < kChains; ++k) top[k] = start;
    typename S::Mask numbers = S::eq(start, start);
    done = 0;
    for (; done + kStep <= n; done += kStep) {
#pragma GCC unroll 4
      for (size_t k = 0; k < kChains; ++k) {
        __builtin_prefetch(in + done + k * width<S> + kAhead);
        const S x = load(in + done + k * width<S>);
        numbers = numbers & S::eq(x, x);
        top[k] = F::call(x, top[k]);
      }
    }
    for (; done + width<S> <= n; done += width<S>) {
      const S x = load(in + done);
      numbers = numbers & S::eq(x, x);
      top[0] = F::call(x, top[0]);
    }
    const S both = F::call(F::call(top[3], top[2]), F::call(top[1], top[0]));
    best = first(halve_within<F, width<S> / 2>(both));
    nan = S::any(~numbers);
  }
};

/// Where the first element is that equals `best`; there is one.
template <class S>
LATHE_SIMD size_t first_equal(const typename S::Scalar* in, size_t n, typename S::Scalar best) {
  constexpr size_t kVectors = 4, kStep = kVectors * width<S>;
  static_assert(kStep <= 64);
  const S wanted(best);
  size_t i = 0;
  for (; i + kStep <= n; i += kStep) {
    uint64_t equal = 0;
#pragma GCC unroll 4
    for (size_t k = 0; k < kVectors; ++k)
      equal |= uint64_t{S::lanes_of(S::eq(load(in + i + k * width<S>), wanted))} << k * width<S>;
    if (equal != 0) return i + static_cast<size_t>(__builtin_ctzll(equal));
  }
  while (in[i] != best) ++i;
  return i;
}

/// Elements, n > 0, the first of which has index `first`: the first NaN, else
/// the first of the best. Which that is does not depend on the order in which elements are
/// compared.
template <class F, class S>
[[gnu::noinline]] void pick_floats(void* value, int64_t* index, const void* from, size_t n,
                                   int64_t first) {
  using T = typename S::Scalar;
  const T* in = as<T>(from);
  T best = in[0];
  size_t done = 1;
  bool nan = best != best;
  if (n >= width<S>) {
    const BestOf<F, S> found(in, n);
    best = found.best, nan = found.nan, done = found.done;
  }
  for (; done < n; ++done) {
    nan = nan || in[done] != in[done];
    if (F::plain(in[done], best)) best = in[done];
  }
  size_t at = 0;
  if (nan)
    while (in[at] == in[at]) ++at;
  else
    at = first_equal<S>(in, n, best);
  *static_cast<T*>(value) = in[at];
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
[[gnu::noinline]] void pick_integers(void* value, int64_t* index, const void* from, size_t n,
                                     int64_t first) {
  using T = typename P::T;
  const T* in = as<T>(from);
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
  int64_t at[kReduceLanes];
  for (size_t l = 0; l < lanes; ++l)
    at[l] = first + static_cast<int64_t>(steps[l] * kReduceLanes + l);
  for (size_t half = kReduceLanes / 2; half > 0; half /= 2)
    for (size_t l = 0; l < half && l + half < lanes; ++l)
      pick<F>(values[l], at[l], values[l + half], at[l + half]);
  *static_cast<T*>(value) = values[0];
  *index = at[0];
}

/// A pick in columns, a vector of them at a time: in each what is first among the best. Whatever
/// the order of combination, that is the result.
template <class F, class S>
LATHE_SIMD void pick_vector(typename S::Scalar* values, int64_t* indices, const void* const* rows,
                            size_t n, size_t c, int64_t first) {
  using T = typename S::Scalar;
  using Bits = typename S::Bits;
  S best = load(as<T>(rows[0]) + c);
  Bits from(typename S::Word{0});
  for (size_t r = 1; r < n; ++r) {
    const S x = load(as<T>(rows[r]) + c);
    const typename S::Mask better = F::beats(x, best);
    best = S::select(better, x, best);
    from = S::select(better, Bits(static_cast<typename S::Word>(r)), from);
  }
  store(values + c, best);
  alignas(64) T steps[width<S>];
  store(steps, S::frombits(from));
  for (size_t i = 0; i < width<S>; ++i)
    indices[c + i] = first + static_cast<int64_t>(scalar::bits(steps[i]));
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
template <class F, class S>
void pick_columns(void* values, int64_t* indices, const void* const* rows, size_t n, size_t columns,
                  int64_t first) {
  using T = typename S::Scalar;
  auto* to = static_cast<T*>(values);
  size_t c = 0;
  for (; c + width<S> <= columns; c += width<S>) pick_vector<F, S>(to, indices, rows, n, c, first);
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
  set.pick[0][static_cast<int>(D)] = pick_integers<PickLowest, PlainPicks<PickLowest, T>>;
  set.pick[1][static_cast<int>(D)] = pick_integers<PickHighest, PlainPicks<PickHighest, T>>;
  set.pick_columns[0][static_cast<int>(D)] = pick_plain_columns<PickLowest, T>;
  set.pick_columns[1][static_cast<int>(D)] = pick_plain_columns<PickHighest, T>;
}
template <DType D, class S>
void add_vector_pick(SimdLoops& set) {
  add_pick_tree<D>(set);
  set.pick[0][static_cast<int>(D)] = pick_floats<PickLowest, S>;
  set.pick[1][static_cast<int>(D)] = pick_floats<PickHighest, S>;
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
