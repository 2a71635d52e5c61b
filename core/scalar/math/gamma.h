// lgamma (log |gamma|) and digamma, its derivative.
//
// From 8 up both use their asymptotic series. Below, the argument is moved by whole steps to where
// a polynomial holds: lgamma to [1.5, 2.5] around its zero at 2, digamma to [1, 2] around its zero.
// The steps become one product under one logarithm, or one fraction. Negative arguments are
// reflected. Near the zeros of lgamma below 0 (one between any two whole numbers) the error is
// small against 1, not against the result.
#pragma once

#include "core/scalar/math/base.h"
#include "core/scalar/math/log.h"
#include "core/scalar/math/trig.h"

namespace lathe::math {

/// sin(pi f) and cos(pi f) for |f| <= 1/2.
template <class S>
[[gnu::always_inline]] inline void sin_cos_pi(S f, S& sine, S& cosine) {
  S a = S::abs(f), pi = num<S>(0x1.921fb54442d18p+1);
  typename S::Mask upper = S::lt(num<S>(0.25), a);
  S r = S::select(upper, num<S>(0.5) - a, a) * pi;
  S s = sin_quarter(r, num<S>(0)), c = cos_quarter(r);
  sine = flip(S::select(upper, c, s), sign_bits(f));
  cosine = S::select(upper, s, c);
}

/// lgamma(2 + u) / u for |u| <= 1/2.
template <class S>
[[gnu::always_inline]] inline S lgamma_near_2(S u) {
  if constexpr (single<S>) {
    return poly(u, 0.42278433f, 0.32246703f, -0.067351475f, 0.020581368f, -0.007401735f,
                0.0028802138f, -0.0010895665f, 0.00056866166f, -0.00044037457f);
  } else {
    return poly(u, 0.42278433509846713, 0.3224670334241132, -0.06735230105319523,
                0.020580808427788505, -0.007385551028947314, 0.002890510330492104,
                -0.0011927539016405718, 0.0005096695308954055, -0.00022315494399129018,
                9.945744598517049e-05, -4.492432041186714e-05, 2.0507450119741287e-05,
                -9.451025693344796e-06, 4.376175845150082e-06, -1.9994952906250368e-06,
                9.405903428036165e-07, -5.19061109187219e-07, 2.58540638834522e-07,
                -6.18439019346193e-08);
  }
}

/// lgamma(a) for a > 0.
template <class S>
[[gnu::always_inline]] inline S lgamma_positive(S a) {
  S one = num<S>(1);
  typename S::Mask far = S::le(num<S>(8), a), small = S::lt(a, num<S>(1.5));
  // Below 8: gamma(a) = gamma(2 + u) * (steps, or 1 / steps where small).
  typename S::Mask tiny = S::lt(a, num<S>(0.5));
  S u = S::select(tiny, a, a - S::floor(a + num<S>(0.5)));
  u = S::select(tiny | ~small, u, a - one);
  S steps = S::select(tiny, fma(a, a, a), S::select(small, a, one));
  auto step = [&](double j) __attribute__((always_inline)) {
    S more = steps * (a - num<S>(j));
    steps = S::select(S::le(num<S>(j + 1.5), a), more, steps);
  };
  step(1), step(2), step(3), step(4), step(5), step(6);
  S inverse = one / a, y = inverse * inverse, near = lgamma_near_2(u), series;
  if constexpr (single<S>) {
    series = poly(y, 0.08333324f, -0.0027598022f);  // of lgamma(a)
  } else {
    series = poly(y, 0.08333333333333331, -0.0027777777777506594, 0.0007936507796864174,
                  -0.0005952346013012031, 0.0008412736871237702, -0.0018808597402868278,
                  0.004886007888875267);
  }
  S l = log(S::select(far, a, steps));
  S below = fma(u, near, S::select(small, -l, l));
  S tail = fma(series, inverse, num<S>(0x1.acfe390c97d69p-2));  // log(2 pi) / 2 - 1/2
  return S::select(far, fma(a - num<S>(0.5), l - one, tail), below);
}

template <class S>
[[gnu::always_inline]] inline S lgamma(S x) {
  S a = S::abs(x);
  S y = lgamma_positive(a);
  typename S::Mask plain = S::lt(num<S>(0), x) & S::lt(x, infinity<S>());
  return S::rare(
      ~plain, y, [&]() __attribute__((always_inline)) {
        // gamma(a) gamma(-a) = -pi / (a sin(pi a)); for tiny a both are 1 / a to the last bit.
        S s, c;
        sin_cos_pi(x - S::rint(x), s, c);
        S reflected = num<S>(0x1.250d048e7a1bdp+0) - log(a * S::abs(s)) - y;
        S r = S::select(S::lt(a, num<S>(single<S> ? 0x1p-30 : 0x1p-60)), y, reflected);
        r = S::select(S::eq(s, num<S>(0)), infinity<S>(),
                      r);  // whole numbers; so is every large one
        r = S::select(S::eq(a, infinity<S>()), a, r);
        return S::select(S::ne(x, x), x, r);
      });
}

/// digamma(b) for b > 0; -1/b at a zero of either sign.
template <class S>
[[gnu::always_inline]] inline S digamma_positive(S b) {
  S one = num<S>(1);
  typename S::Mask far = S::le(num<S>(8), b), small = S::lt(b, one);
  // digamma(b) = digamma(a) + top / den with a in [1, 2).
  S a = S::select(small, b + one, b);
  S top = S::select(small, num<S>(-1), num<S>(0)), den = S::select(small, b, one);
  auto step = [&](double j) __attribute__((always_inline)) {
    typename S::Mask more = S::le(num<S>(j + 1), b);
    S next = b - num<S>(j);  // top / den + 1 / next
    top = S::select(more, fma(top, next, den), top);
    den = S::select(more, den * next, den);
    a = S::select(more, next, a);
  };
  step(1), step(2), step(3), step(4), step(5), step(6);
  S fraction = S::select(far, one, top) / S::select(far, b, den);
  S d = a - num<S>(single<S> ? 0x1.762d86p+0 : 0x1.762d86356be3fp+0);
  d = d - num<S>(single<S> ? 0x1.ab5f2p-27 : 0x1.b86a722197829p-54);
  S y = fraction * fraction, near, series;
  if constexpr (single<S>) {
    near = poly(a - num<S>(1.5), 0.9510559f, -0.42362747f, 0.24053907f, -0.14840043f, 0.095107466f,
                -0.062034052f, 0.039415285f, -0.025902178f, 0.023828764f,
                -0.016170528f);                                   // of digamma(a)
    series = poly(y, 0.08333333f, -0.0083317775f, 0.003824854f);  // of digamma(b)
  } else {
    near =
        poly(a - num<S>(1.5), 0.951055876031833, -0.4236274212814605, 0.24054248424075816,
             -0.14840492305390302, 0.09498872445633083, -0.06192213327356286, 0.04076083375724835,
             -0.026975796736441494, 0.017907253643512665, -0.011908218431237147,
             0.007926928851135018, -0.005279959226441856, 0.0035191362741218,
             -0.0023453142115448782, 0.0015559574834699168, -0.0010373945828673697,
             0.0007254728550007926, -0.00048297567892019655, 0.00022340974195381513,
             -0.00015009510406523957, 0.00026260393612309287, -0.00017419034291803147);
    series = poly(y, 0.08333333333333333, -0.008333333333324384, 0.00396825396215121,
                  -0.004166664612370377, 0.007575367936333879, -0.021048771523790977,
                  0.08034356052930482, -0.32530741041629163, 0.5670789765851176);
  }
  S asymptotic = log(b) - fma(series, y, fraction * num<S>(0.5));
  return S::select(far, asymptotic, fma(d, near, fraction));
}

template <class S>
[[gnu::always_inline]] inline S digamma(S x) {
  typename S::Mask negative = S::lt(x, num<S>(0));
  S y = digamma_positive(S::select(negative, num<S>(1) - x, x));
  typename S::Mask plain = S::lt(num<S>(0), x) & S::lt(x, infinity<S>());
  return S::rare(
      ~plain, y, [&]() __attribute__((always_inline)) {
        // digamma(x) = digamma(1 - x) - pi cot(pi x); a pole of both signs at the negative whole
        // numbers.
        S s, c, f = x - S::rint(x);
        sin_cos_pi(f, s, c);
        S r = y - num<S>(0x1.921fb54442d18p+1) * (c / s);
        r = S::select(S::eq(f, num<S>(0)), not_a_number<S>(), r);
        r = S::select(negative, r, y);
        r = S::select(S::eq(x, infinity<S>()), x, r);
        return S::select(S::ne(x, x) | S::eq(x, -infinity<S>()), not_a_number<S>(), r);
      });
}

}  // namespace lathe::math
