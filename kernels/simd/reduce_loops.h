// Kernels of the defined reduction (its order: reduce.h) for the reductions that rows use most.
//
// Within a block of 512 elements, lane l takes elements l, l + 16, ...; so sixteen neighbours are
// one step of a vector, and several blocks at once hide the latency of the addition. Columns are
// folded row by row into sixteen rows of results, one a lane, which is the same order for each
// column.
#pragma once

#include "core/scalar/lane.h"
#include "kernels/simd/loops.h"

namespace lathe {
namespace {

// combine(a, b) on float vectors S and on plain integers T.
struct ReduceSum {
  template <class S>
  LATHE_SIMD static S call(S a, S b) {
    return a + b;
  }
  template <class T>
  LATHE_SIMD static T plain(T a, T b) {
    return scalar::add(a, b);
  }
};
struct ReduceSquares : ReduceSum {
  template <class S>
  LATHE_SIMD static S lift(S x) {
    return x * x;
  }
};
struct ReduceProd {
  template <class S>
  LATHE_SIMD static S call(S a, S b) {
    return a * b;
  }
  template <class T>
  LATHE_SIMD static T plain(T a, T b) {
    return scalar::mul(a, b);
  }
};
struct ReduceLowest {
  template <class S>
  LATHE_SIMD static S call(S a, S b) {
    return S::select(S::ne(a, a), a, S::pmin(a, b));
  }
  /// The same where neither is NaN.
  template <class S>
  LATHE_SIMD static S numbers(S a, S b) {
    return S::pmin(a, b);
  }
  template <class T>
  LATHE_SIMD static T plain(T a, T b) {
    return scalar::pmin(a, b);
  }
};
struct ReduceHighest {
  template <class S>
  LATHE_SIMD static S call(S a, S b) {
    return S::select(S::ne(a, a), a, S::pmax(a, b));
  }
  /// The same where neither is NaN.
  template <class S>
  LATHE_SIMD static S numbers(S a, S b) {
    return S::pmax(a, b);
  }
  template <class T>
  LATHE_SIMD static T plain(T a, T b) {
    return scalar::pmax(a, b);
  }
};
struct ReduceAny {
  template <class T>
  LATHE_SIMD static T plain(T a, T b) {
    return static_cast<T>(a | b);
  }
};
struct ReduceAll {
  template <class T>
  LATHE_SIMD static T plain(T a, T b) {
    return static_cast<T>(a & b);
  }
};

/// combine(a, b) of a state and an element.
template <class F, class S>
LATHE_SIMD S with_element(S a, S b) {
  if constexpr (requires { F::lift(b); })
    return F::call(a, F::lift(b));
  else
    return F::call(a, b);
}

/// How elements become vectors S: those of its type as they lie.
template <class S>
struct AsStored {
  using Element = typename S::Scalar;
  LATHE_SIMD static S all(const Element* p) { return load(p); }
  LATHE_SIMD static S some(const Element* p, size_t n) { return load_some(p, n); }
};
/// Halves, whose reductions are taken in f32.
template <DType Half>
struct FromHalf {
  using Element = uint16_t;
  LATHE_SIMD static F32 all(const Element* p) {
    if constexpr (Half == DType::f16)
      return load_f16(p);
    else
      return load_bf16(p);
  }
  LATHE_SIMD static F32 some(const Element* p, size_t n) {
    alignas(64) Element few[width<F32>] = {};
    copy_few(few, p, n * sizeof(Element));
    return all(few);
  }
};

/// Lane l with l + Half, then those of half as many lanes, down to lane 0.
template <class F, size_t Half, class S>
LATHE_SIMD S halve_within(S x) {
  if constexpr (Half > 0)
    return halve_within<F, Half / 2>(F::call(x, lanes_down<Half>(x)));
  else
    return x;
}

/// Sixteen lanes of one block in vectors of S, which elements come in by way of In.
template <class F, class S, class In = AsStored<S>>
struct VectorLanes {
  using T = typename S::Scalar;
  using Element = typename In::Element;
  static constexpr size_t count = kReduceLanes / width<S>;
  static constexpr size_t at_once = count >= 8 ? 1 : count >= 4 ? 2 : 4;  // blocks

  S v[count];
  VectorLanes() = default;
  LATHE_SIMD explicit VectorLanes(T unit) {
#pragma GCC unroll 16
    for (S& x : v) x = S(unit);
  }
  LATHE_SIMD void step(const Element* in) {
#pragma GCC unroll 16
    for (size_t i = 0; i < count; ++i) v[i] = with_element<F>(v[i], In::all(in + i * width<S>));
  }
  /// Steps of two blocks whose elements are numbers; what is not shows in `nan`.
  static constexpr bool minds_nan = requires(S x) { F::numbers(x, x); };
  LATHE_SIMD static void step_numbers(VectorLanes& a, const Element* in_a, VectorLanes& b,
                                      const Element* in_b, typename S::Mask& nan) {
#pragma GCC unroll 16
    for (size_t i = 0; i < count; ++i) {
      S x = In::all(in_a + i * width<S>), y = In::all(in_b + i * width<S>);
      nan = nan | S::unordered(x, y);
      a.v[i] = F::numbers(a.v[i], x);
      b.v[i] = F::numbers(b.v[i], y);
    }
  }
  LATHE_SIMD static T one(T a, T b) { return F::call(Lane<T>(a), Lane<T>(b)).value(); }
  /// A step on the first n lanes only; the others stay as they are.
  LATHE_SIMD void some(const Element* in, size_t n) {
    alignas(64) static constexpr T kLane[kReduceLanes] = {0, 1, 2,  3,  4,  5,  6,  7,
                                                          8, 9, 10, 11, 12, 13, 14, 15};
    const S end(static_cast<T>(n));
#pragma GCC unroll 16
    for (size_t i = 0; i < count; ++i) {
      const size_t first = i * width<S>;
      if (first >= n) continue;
      const S x = n - first < width<S> ? In::some(in + first, n - first) : In::all(in + first);
      v[i] = S::select(S::lt(load(kLane + first), end), with_element<F>(v[i], x), v[i]);
    }
  }
  /// Lane l with l + 8, then + 4, + 2, + 1: first whole vectors, then the halves of one.
  LATHE_SIMD T halve() {
    halve_vectors<count / 2>();
    return first(halve_within<F, width<S> / 2>(v[0]));
  }

 private:
  template <size_t Half>
  LATHE_SIMD void halve_vectors() {
    if constexpr (Half > 0) {
#pragma GCC unroll 8
      for (size_t i = 0; i < Half; ++i) v[i] = F::call(v[i], v[i + Half]);
      halve_vectors<Half / 2>();
    }
  }
};

/// The same in plain elements, for the compiler to vectorise.
template <class F, class E>
struct PlainLanes {
  using T = E;
  using Element = E;
  static constexpr size_t at_once = 1;

  T v[kReduceLanes];
  PlainLanes() = default;
  LATHE_SIMD explicit PlainLanes(T unit) {
    for (T& x : v) x = unit;
  }
  LATHE_SIMD void step(const T* in) {
    for (size_t i = 0; i < kReduceLanes; ++i) v[i] = F::plain(v[i], in[i]);
  }
  LATHE_SIMD static T one(T a, T b) { return F::plain(a, b); }
  LATHE_SIMD void some(const T* in, size_t n) {
    for (size_t l = 0; l < n; ++l) v[l] = one(v[l], in[l]);
  }
  LATHE_SIMD T halve() {
    halve_step<8>();
    halve_step<4>();
    halve_step<2>();
    halve_step<1>();
    return v[0];
  }

 private:
  template <size_t Half>
  LATHE_SIMD void halve_step() {
#pragma GCC unroll 8
    for (size_t l = 0; l < Half; ++l) v[l] = F::plain(v[l], v[l + Half]);
  }
};

/// Fetches as many elements as a step takes of N blocks, and says what comes next. In the order in
/// which they lie: steps jump from block to block, each of which is too short a stream for the
/// processor to see one, and lines fetched in their order come from memory at half the speed.
template <size_t N, class T>
LATHE_SIMD const T* fetch_step(const T* in) {
  const auto at = reinterpret_cast<uintptr_t>(in);
#pragma GCC unroll 8
  for (size_t byte = 0; byte < N * kReduceLanes * sizeof(T); byte += 64)
    __builtin_prefetch(reinterpret_cast<const void*>(at + byte));
  return in + N * kReduceLanes;
}

/// Whole steps of blocks in L::at_once rows, by the shorter way that is right for numbers; false if
/// there was a NaN.
template <class L, bool Ahead>
LATHE_SIMD bool steps_of_numbers(L* block, const typename L::Element* in, ptrdiff_t stride,
                                 size_t n, const typename L::Element* coming) {
  using S = std::remove_reference_t<decltype(block->v[0])>;
  S zero(typename L::T(0));
  auto nan = S::ne(zero, zero);
  for (; n >= kReduceLanes; n -= kReduceLanes, in += kReduceLanes) {
    if constexpr (Ahead) coming = fetch_step<L::at_once>(coming);
#pragma GCC unroll 4
    for (size_t k = 0; k < L::at_once; k += 2) {
      const auto* row = in + static_cast<ptrdiff_t>(k) * stride;
      L::step_numbers(block[k], row, block[k + 1], row + stride, nan);
    }
  }
  return !S::any(nan);
}

/// The results of one block of up to 512 elements in each of L::at_once rows.
template <class L, bool Ahead>
[[gnu::noinline]] void blocks_abreast(typename L::T* out, const typename L::Element* in,
                                      ptrdiff_t stride, size_t n, typename L::T unit,
                                      const typename L::Element* coming) {
  constexpr size_t many = L::at_once;
  L block[many];
  bool done = false;
  if constexpr (L::minds_nan) {
#pragma GCC unroll 4
    for (L& b : block) b = L(unit);
    done = steps_of_numbers<L, Ahead>(block, in, stride, n, coming);
  }
  if (!done) {
#pragma GCC unroll 4
    for (L& b : block) b = L(unit);
    const auto* from = in;
    for (size_t left = n; left >= kReduceLanes; left -= kReduceLanes, from += kReduceLanes) {
      if constexpr (Ahead && !L::minds_nan) coming = fetch_step<many>(coming);
#pragma GCC unroll 4
      for (size_t k = 0; k < many; ++k) block[k].step(from + static_cast<ptrdiff_t>(k) * stride);
    }
  }
  in += n / kReduceLanes * kReduceLanes;
  n %= kReduceLanes;
#pragma GCC unroll 4
  for (size_t k = 0; k < many; ++k) {
    if (n != 0) block[k].some(in + static_cast<ptrdiff_t>(k) * stride, n);
    out[k] = block[k].halve();
  }
}
template <class L>
[[gnu::noinline]] typename L::T one_block(const typename L::Element* in, size_t n,
                                          typename L::T unit) {
  L block(unit);
  for (; n >= kReduceLanes; n -= kReduceLanes, in += kReduceLanes) block.step(in);
  if (n != 0) block.some(in, n);
  return block.halve();
}

template <class L>
void reduce_blocks(void* out, const void* in, size_t n, const void* unit) {
  using T = typename L::T;
  auto* to = static_cast<T*>(out);
  const auto* from = as<typename L::Element>(in);
  T u = *as<T>(unit);
  constexpr size_t many = L::at_once, all = many * kReduceBlock;
  if constexpr (many > 1)
    for (; n >= all; n -= all, from += all, to += many)
      blocks_abreast<L, true>(to, from, kReduceBlock, kReduceBlock, u, from + all);
  for (size_t m; n > 0; n -= m, from += m) {
    m = n < kReduceBlock ? n : kReduceBlock;
    *to++ = one_block<L>(from, m, u);
  }
}

/// tree(n): neighbours, then neighbours of those; what has no partner waits. That splits n elements
/// at the largest power of two below n, again and again.
template <class L>
void reduce_tree(void* results, size_t n) {
  auto* r = static_cast<typename L::T*>(results);
  for (size_t step = 1; step < n; step *= 2)
    for (size_t i = 0; i + step < n; i += 2 * step) r[i] = L::one(r[i], r[i + step]);
}

/// L::at_once rows of fewer than as many blocks.
template <class L, bool Ahead>
void rows_abreast(typename L::T* to, const typename L::Element* in, ptrdiff_t stride, size_t n,
                  typename L::T unit) {
  constexpr size_t many = L::at_once;
  constexpr auto least = static_cast<ptrdiff_t>(many * kReduceBlock);
  const ptrdiff_t taken = static_cast<ptrdiff_t>(many) * stride;
  const auto* coming = in + (taken < least ? least : taken);
  if (n <= kReduceBlock) return blocks_abreast<L, Ahead>(to, in, stride, n, unit, coming);
  typename L::T results[many], columns[many][many];
  size_t blocks = 0;
  for (size_t m; n > 0; n -= m, in += m, ++blocks) {
    m = n < kReduceBlock ? n : kReduceBlock;
    blocks_abreast<L, Ahead>(results, in, stride, m, unit, coming);
    for (size_t k = 0; k < many; ++k) columns[k][blocks] = results[k];
    coming += many * m;
  }
  for (size_t k = 0; k < many; ++k) {
    reduce_tree<L>(columns[k], blocks);
    to[k] = columns[k][0];
  }
}
template <class L>
void reduce_rows(void* out, const void* in, ptrdiff_t stride, size_t rows, size_t n,
                 const void* unit) {
  using T = typename L::T;
  constexpr size_t many = L::at_once;
  auto* to = static_cast<T*>(out);
  const auto* from = as<typename L::Element>(in);
  if constexpr (many > 1) {
    // Rows that lie far apart are no stream, those of a page the processor sees as one, and what
    // the first-level cache holds needs none.
    constexpr size_t page = 4096, cache = 32768;
    const bool ahead = stride >= 0 && static_cast<size_t>(stride) <= n + n / 8 &&
                       many * n * sizeof(*from) >= page && rows * n * sizeof(*from) > cache;
    for (; rows >= many && n < many * kReduceBlock; rows -= many, to += many) {
      (ahead ? rows_abreast<L, true> : rows_abreast<L, false>)(to, from, stride, n, *as<T>(unit));
      from += static_cast<ptrdiff_t>(many) * stride;
    }
  }
  T results[kReduceRow / kReduceBlock];
  for (; rows > 0; --rows, from += stride) {
    reduce_blocks<L>(results, from, n, unit);
    reduce_tree<L>(results, (n + kReduceBlock - 1) / kReduceBlock);
    *to++ = results[0];
  }
}

/// Columns a tile: sixteen rows of results stay in the first-level cache.
template <class T>
inline constexpr size_t kReduceTile = 1024 / sizeof(T);

/// What `lane` becomes with a row of elements, which meets the unit, a single one, or the lane.
template <class F, class S, class In, bool Unit>
void fold_one(void* lane, const void* const* in, size_t n) {
  auto* to = static_cast<typename S::Scalar*>(lane);
  const Lanes<S, Unit> state(in[0]);
  const auto* row = as<typename In::Element>(in[1]);
  size_t i = 0;
  for (; i + width<S> <= n; i += width<S>)
    store(to + i, with_element<F>(state.at(i), In::all(row + i)));
  if (i < n)
    store_some(to + i, with_element<F>(state.some(i, n - i), In::some(row + i, n - i)), n - i);
}

/// Folds four rows of a tile, kReduceLanes apart, into `lane`: how many elements of it are done.
/// The rest is less than a vector.
template <class F, class S, class In>
size_t fold_four(typename S::Scalar* lane, const void* const* rows, size_t from, size_t n) {
  using E = typename In::Element;
  const E *a = as<E>(rows[0]) + from, *b = as<E>(rows[kReduceLanes]) + from,
          *c = as<E>(rows[2 * kReduceLanes]) + from, *d = as<E>(rows[3 * kReduceLanes]) + from;
  size_t i = 0;
  for (; i + width<S> <= n; i += width<S>) {
    const S ab = with_element<F>(with_element<F>(load(lane + i), In::all(a + i)), In::all(b + i));
    store(lane + i, with_element<F>(with_element<F>(ab, In::all(c + i)), In::all(d + i)));
  }
  return i;
}
template <class T>
using FoldFour = size_t (*)(T* lane, const void* const* rows, size_t from, size_t n);

/// First: a row of elements to the unit, which is a single one; Next: to states; Join: states to
/// states. A lane without an element would change nothing. Four: null where there is none.
template <class T, class E, StripFn First, StripFn Next, StripFn Join, FoldFour<T> Four>
void reduce_columns(void* out, const void* const* rows, size_t n, size_t columns,
                    const void* unit) {
  alignas(64) T lanes[kReduceLanes][kReduceTile<T>];
  const size_t used = n < kReduceLanes ? n : kReduceLanes;
  for (size_t c = 0; c < columns; c += kReduceTile<T>) {
    const size_t tile = columns - c < kReduceTile<T> ? columns - c : kReduceTile<T>;
    auto* to = static_cast<T*>(out) + c;
    auto join = [&](size_t r, T* lane, size_t done) {
      const void* both[] = {r < kReduceLanes ? unit : lane + done, as<E>(rows[r]) + c + done};
      (r < kReduceLanes ? First : Next)(n == 1 ? to : lane + done, both, tile - done);
    };
    size_t r = 0;
    for (; r < used; ++r) join(r, lanes[r], 0);
    if constexpr (Four != nullptr)
      for (; r + 4 * kReduceLanes <= n; r += 4 * kReduceLanes)
        for (size_t l = 0; l < kReduceLanes; ++l) {
          const size_t done = Four(lanes[l], rows + r + l, c, tile);
          for (size_t q = 0; q < 4 && done < tile; ++q)
            join(r + l + q * kReduceLanes, lanes[l], done);
        }
    for (; r < n; ++r) join(r, lanes[r % kReduceLanes], 0);
    for (size_t half = kReduceLanes / 2; half > 0; half /= 2)
      for (size_t l = 0; l < half && l + half < used; ++l) {
        const void* both[] = {lanes[l], lanes[l + half]};
        Join(half == 1 ? to : lanes[l], both, tile);
      }
  }
}

/// Of elements of dtype D.
template <class F, class S, DType D, class In>
void add_lanes(SimdLoops& set, Reduction fold) {
  using L = VectorLanes<F, S, In>;
  constexpr int d = static_cast<int>(D);
  int f = static_cast<int>(fold);
  set.reduce_blocks[f][d] = reduce_blocks<L>;
  set.reduce_rows[f][d] = reduce_rows<L>;
  set.reduce_first[f][d] = fold_one<F, S, In, true>;
  set.reduce_next[f][d] = fold_one<F, S, In, false>;
  set.reduce_columns[f][d] =
      reduce_columns<typename L::T, typename L::Element, fold_one<F, S, In, true>,
                     fold_one<F, S, In, false>, short_strip<F, S, 2, 0>, fold_four<F, S, In>>;
}
template <class F, class S>
void add_float_reduction(SimdLoops& set, Reduction fold) {
  constexpr DType dtype = sizeof(typename S::Scalar) == 4 ? DType::f32 : DType::f64;
  int f = static_cast<int>(fold), d = static_cast<int>(dtype);
  add_lanes<F, S, dtype, AsStored<S>>(set, fold);
  set.reduce_join[f][d] = short_strip<F, S, 2, 0>;
  set.reduce_tree[f][d] = reduce_tree<VectorLanes<F, S>>;
}
/// Sums alone: each of these is some 30 KiB of code for all instruction sets.
template <DType Half>
void add_half_reductions(SimdLoops& set) {
  add_lanes<ReduceSum, F32, Half, FromHalf<Half>>(set, Reduction::sum);
}
template <class F, class S>
void add_extreme(SimdLoops& set, bool highest) {
  StripFn* row = set.extreme[highest][sizeof(typename S::Scalar) == 8];
  row[0] = short_strip<F, S, 2, 0>;
  row[1] = short_strip<F, S, 2, 1>;
  row[2] = short_strip<F, S, 2, 2>;
}
template <class F>
struct PlainReduction {
  template <class T>
  LATHE_SIMD static T call(T a, T b) {
    return F::plain(a, b);
  }
};
template <class F, DType D>
void add_plain_reduction(SimdLoops& set, Reduction fold) {
  using T = Element<D>;
  constexpr StripFn first = plain_strip<PlainReduction<F>, T, T, 2, 1>;
  constexpr StripFn join = plain_strip<PlainReduction<F>, T, T, 2, 0>;
  int f = static_cast<int>(fold), d = static_cast<int>(D);
  set.reduce_blocks[f][d] = reduce_blocks<PlainLanes<F, T>>;
  set.reduce_rows[f][d] = reduce_rows<PlainLanes<F, T>>;
  set.reduce_first[f][d] = first;
  set.reduce_next[f][d] = set.reduce_join[f][d] = join;
  set.reduce_columns[f][d] = reduce_columns<T, T, first, join, join, nullptr>;
  set.reduce_tree[f][d] = reduce_tree<PlainLanes<F, T>>;
}
template <class S>
void add_float_reductions(SimdLoops& set) {
  add_float_reduction<ReduceSum, S>(set, Reduction::sum);
  add_float_reduction<ReduceSquares, S>(set, Reduction::squares);
  add_float_reduction<ReduceProd, S>(set, Reduction::prod);
  add_float_reduction<ReduceLowest, S>(set, Reduction::lowest);
  add_float_reduction<ReduceHighest, S>(set, Reduction::highest);
  add_extreme<ReduceLowest, S>(set, false);
  add_extreme<ReduceHighest, S>(set, true);
}
template <DType D>
void add_extremes(SimdLoops& set) {
  add_plain_reduction<ReduceLowest, D>(set, Reduction::lowest);
  add_plain_reduction<ReduceHighest, D>(set, Reduction::highest);
}
template <DType D>
void add_integer_reductions(SimdLoops& set) {
  add_plain_reduction<ReduceSum, D>(set, Reduction::sum);
  add_plain_reduction<ReduceProd, D>(set, Reduction::prod);
  add_extremes<D>(set);
}

inline void add_reduction(SimdLoops& set) {
  add_float_reductions<F32>(set);
  add_float_reductions<F64>(set);
  add_half_reductions<DType::f16>(set);
  add_half_reductions<DType::bf16>(set);
  add_integer_reductions<DType::u8>(set);
  add_integer_reductions<DType::i8>(set);
  add_integer_reductions<DType::i16>(set);
  add_integer_reductions<DType::i32>(set);
  add_integer_reductions<DType::i64>(set);
  // Sums and products of these are taken in i64.
  add_extremes<DType::u16>(set);
  add_extremes<DType::u32>(set);
  add_extremes<DType::u64>(set);
  add_plain_reduction<ReduceAny, DType::bool_>(set, Reduction::any);
  add_plain_reduction<ReduceAll, DType::bool_>(set, Reduction::all);
}

}  // namespace
}  // namespace lathe
