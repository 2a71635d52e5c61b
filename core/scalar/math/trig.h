// sin, cos, tan: x = q pi/2 + r with |r| <= pi/4, and polynomials for the sine and cosine of r.
//
// Up to trig_near the reduction subtracts q times pi/2 in three parts. Beyond, the product of x
// with 2/pi is needed to many more bits than x has (reduce_far); few arguments get there, so that
// is the slow side of a `rare`, which also answers infinities and NaN.
#pragma once

#include <array>
#include <cstddef>
#include <utility>

#include "core/scalar/math/base.h"

namespace lathe::math {

/// A reduced argument r + lo, where lo is below the last place of r, and the quarter turns taken
/// off.
template <class S>
struct Turn {
  S r, lo;
  typename S::Bits q;  // modulo 4
};

template <class S>
inline constexpr double trig_near = single<S> ? 0x1p17 : 0x1p28;

/// The parts of pi/2 are rounded down, so that with q = 0 each product is -0 and a -0 stays one.
/// Subtracting the first is exact; the second makes r, and what r's rounding lost goes into lo with
/// the third.
template <class S>
[[gnu::always_inline]] inline Turn<S> reduce_near(S x) {
  S n = S::round_magic(x, num<S>(0x1.45f306dc9c883p-1));
  S second = num<S>(single<S> ? -0x1.4442dp-24 : -0x1.1a62633145c06p-54);
  S third = num<S>(single<S> ? -0x1.846988p-48 : -0x1.c1cd129024e08p-107);
  S t = fma(n, num<S>(single<S> ? -0x1.921fb4p+0 : -0x1.921fb54442d18p+0), x);
  S w = n * second;
  S w_lo = fma(n, third, fma(n, second, -w));
  Pair<S> r = fast_two_sum(t, w);
  return {r.hi, r.lo + w_lo, S::to_int(n)};
}

// ── far arguments ───────────────────────────────────────────────────────────────────────────────
// 2/pi is cut into whole numbers c_0, c_1 ... of w bits, w the width of a significand: 2/pi = sum
// c_i 2^(-w (i+1)). With x scaled down by 2^(w k) into [2^t, 2^(t+w)), the products of c_0 ..
// c_(k-1) are multiples of 4 and do not count, and the next five chunks give all that does. The
// chunks at k are picked by a barrel shifter: for each power of two that k may contain, one
// comparison, one scaling of x, and one select a chunk still of use. Products are exact as pairs;
// their sum is kept in three parts, since it may cancel to 2^-30 (f64: 2^-62).

inline constexpr int far_slots = 5;
template <class S>
inline constexpr int far_bits = single<S> ? 24 : 53;
template <class S>
inline constexpr auto two_over_pi = [] {
  if constexpr (single<S>) {
    return std::array{10680707.f, 7228996.f, 1387004.f, 2578385.f, 16069853.f,
                      12639074.f, 9804092.f, 4427841.f, 16666979.f};
  } else {
    return std::array{5734161139222658., 5814151408469972., 7440259586542284., 5563773718881558.,
                      2066796102992750., 2563573915284664., 55291115753100.,   5098427330010289.,
                      1465545334474430., 5835026907506289., 6776677510095004., 7069188010357663.,
                      2595984518904818., 2831001892290551., 4552804911380620., 3195225570766134.,
                      4461702110328553., 8190251822055336., 6397593724909042., 8751785341853560.,
                      5811081437509311., 3456741467624832., 7180050975382879.};
  }
}();

/// A variable: g++ runs the loop of a constexpr function again for each argument.
template <int N>
inline constexpr double power_of_two = [] {
  double r = 1;
  for (int n = N; n > 0; --n) r *= 2;
  for (int n = N; n < 0; ++n) r *= 0.5;
  return r;
}();

/// One stage of the shifter: chunks[i] = shifted ? chunks[i + Step] : chunks[i], for those still of
/// use.
template <class S, size_t Step, size_t N, size_t... I>
[[gnu::always_inline]] inline void shift_chunks(typename S::Mask shifted, std::array<S, N>& chunks,
                                                std::index_sequence<I...>) {
  ((chunks[I] = S::select(shifted, I + Step < N ? chunks[I + Step < N ? I + Step : 0] : num<S>(0),
                          chunks[I])),
   ...);
}
template <class S, size_t Step, size_t N>
[[gnu::always_inline]] inline void barrel(S& x, std::array<S, N>& chunks) {
  if constexpr (Step > 0) {
    constexpr int w = far_bits<S> * static_cast<int>(Step), t = single<S> ? 25 : 54;
    constexpr size_t used = far_slots + Step - 1 < N ? far_slots + Step - 1 : N;
    typename S::Mask shifted = ~S::lt(x, num<S>(power_of_two<w + t>));
    shift_chunks<S, Step>(shifted, chunks, std::make_index_sequence<used>());
    x = S::select(shifted, x * num<S>(power_of_two<-w>), x);
    barrel<S, Step / 2>(x, chunks);
  }
}

template <class S>
struct Triple {
  S hi = num<S>(0), mid = num<S>(0), lo = num<S>(0);
  [[gnu::always_inline]] void add(S term) {
    Pair<S> a = two_sum(hi, term);
    Pair<S> b = two_sum(mid, a.lo);
    hi = a.hi;
    mid = b.hi;
    lo = lo + b.lo;
  }
};

template <class S>
[[gnu::always_inline]] inline S modulo_4(S x) {
  return fma(S::rint(x * num<S>(0.25)), num<S>(-4), x);
}

template <class S, size_t... I>
[[gnu::always_inline]] inline void add_products(S x,
                                                const std::array<S, two_over_pi<S>.size()>& chunks,
                                                Triple<S>& sum, std::index_sequence<I...>) {
  auto one = [&]<int Slot>(S chunk) __attribute__((always_inline)) {
    constexpr int place = -far_bits<S> * (Slot + 1);
    auto [hi, lo] = two_product(x, chunk * num<S>(power_of_two<place>));
    sum.add(Slot < 2 ? modulo_4(hi) : hi);
    sum.add(Slot < 1 ? modulo_4(lo) : lo);
  };
  (one.template operator()<static_cast<int>(I)>(chunks[I]), ...);
}

template <class S, size_t... I>
[[gnu::always_inline]] inline std::array<S, sizeof...(I)> all_chunks(std::index_sequence<I...>) {
  return {S(two_over_pi<S>[I])...};
}

/// For a positive finite x of at least trig_near.
template <class S>
[[gnu::always_inline]] inline Turn<S> reduce_far(S x) {
  auto chunks = all_chunks<S>(std::make_index_sequence<two_over_pi<S>.size()>());
  barrel<S, single<S> ? 4 : 16>(x, chunks);
  Triple<S> sum;
  add_products(x, chunks, sum, std::make_index_sequence<far_slots>());
  S q = S::rint(sum.hi);
  auto [f, mid] = two_sum(sum.hi - q, sum.mid);
  S lo = mid + sum.lo;
  auto [r, r_lo] = two_product(f, num<S>(single<S> ? 0x1.921fb6p+0 : 0x1.921fb54442d18p+0));
  r_lo = fma(f, num<S>(single<S> ? -0x1.777a5cp-25 : 0x1.1a62633145c07p-54), r_lo);
  Pair<S> turn = fast_two_sum(r, fma(lo, num<S>(0x1.921fb54442d18p+0), r_lo));
  return {turn.hi, turn.lo, S::to_int(q)};
}

// ── polynomials ─────────────────────────────────────────────────────────────────────────────────
/// sin(r + lo) for |r| <= pi/4. The correction to a zero has the other sign, and would make +0 of
/// -0.
template <class S>
[[gnu::always_inline]] inline S sin_quarter(S r, S lo) {
  S z = r * r, p;
  if constexpr (single<S>) {  // 2^-27.8
    p = poly(z, -0.16666654f, 0.008332106f, -0.00019507893f);
  } else {  // 2^-57.9
    p = poly(z, -0.1666666666666663, 0.00833333333332184, -0.00019841269829358647,
             2.7557313538605544e-06, -2.5050734411389634e-08, 1.5895435003318157e-10);
  }
  return with_sign_of(r + fma(r * z, p, lo), r);
}
/// cos(r) for |r| <= pi/4; what lies below r's last place hardly moves it.
template <class S>
[[gnu::always_inline]] inline S cos_quarter(S r) {
  S z = r * r, p;
  if constexpr (single<S>) {  // 2^-33.0
    p = poly(z, 0.041666646f, -0.0013887308f, 2.4432102e-05f);
  } else {  // 2^-63.8
    p = poly(z, 0.04166666666666659, -0.0013888888888872188, 2.4801587288298022e-05,
             -2.755731401626284e-07, 2.0875678295305375e-09, -1.1357350772801378e-11);
  }
  return fma(z, fma(z, p, num<S>(-0.5)), num<S>(1));
}

template <class S>
[[gnu::always_inline]] inline typename S::Mask is_odd(typename S::Bits q) {
  return S::bits_lt(S::shl(q, 8 * sizeof(typename S::Scalar) - 1), word<S>(0));
}
/// The second bit of q, as a sign.
template <class S>
[[gnu::always_inline]] inline typename S::Bits second_bit_sign(typename S::Bits q) {
  return S::shl(q, 8 * sizeof(typename S::Scalar) - 2) & word<S>(top_bit<S>);
}

template <class S>
[[gnu::always_inline]] inline S sin_turn(Turn<S> t) {
  S y = S::select(is_odd<S>(t.q), cos_quarter(t.r), sin_quarter(t.r, t.lo));
  return flip(y, second_bit_sign<S>(t.q));
}
template <class S>
[[gnu::always_inline]] inline S tan_turn(Turn<S> t) {
  S s = sin_quarter(t.r, t.lo), c = cos_quarter(t.r);
  typename S::Mask odd = is_odd<S>(t.q);
  return S::select(odd, -c, s) / S::select(odd, s, c);
}

/// f(turn of x), by the far reduction of |x| where x is not near.
template <class S, class F>
[[gnu::always_inline]] inline S by_turns(S x, F f) {
  S a = S::abs(x);
  typename S::Mask far = ~S::le(a, num<S>(trig_near<S>));
  return S::rare(
      far, f(reduce_near(x)), [&]() __attribute__((always_inline)) {
        Turn<S> t = reduce_far(a);
        auto sign = sign_bits(x);  // of -x all three are negated
        typename S::Bits q = S::select(S::bits_lt(sign, word<S>(0)), word<S>(0) - t.q, t.q);
        return S::select(S::lt(a, infinity<S>()), f(Turn<S>{flip(t.r, sign), flip(t.lo, sign), q}),
                         not_a_number<S>());
      });
}

template <class S>
[[gnu::always_inline]] inline S sin(S x) {
  return by_turns(
      x, [](Turn<S> t) __attribute__((always_inline)) { return sin_turn(t); });
}
template <class S>
[[gnu::always_inline]] inline S cos(S x) {
  return by_turns(
      x, [](Turn<S> t) __attribute__((always_inline)) {
        return sin_turn(Turn<S>{t.r, t.lo, t.q + word<S>(1)});
      });
}
template <class S>
[[gnu::always_inline]] inline S tan(S x) {
  return by_turns(
      x, [](Turn<S> t) __attribute__((always_inline)) { return tan_turn(t); });
}

}  // namespace lathe::math
