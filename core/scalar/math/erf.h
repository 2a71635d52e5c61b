// erf, erfc, erfinv.
#pragma once

#include "core/scalar/math/base.h"
#include "core/scalar/math/exp.h"
#include "core/scalar/math/log.h"

namespace lathe::math {

/// erfc(a) = e^(-a^2) t G(t - 1/2) with t = 1 / (1 + a / c), for a >= 0; a^2 as a pair. Results
/// that are not normal are right for a up to erfc_highest, where they round to 0.
template <class S>
inline constexpr double erfc_highest = single<S> ? 10.1 : 27.3;

/// t G(t - 1/2) for y from 0 to erfc_highest.
template <class S>
[[gnu::always_inline]] inline S erfcx_near(S y) {
  // t with its rounding error, which G would multiply by up to four.
  constexpr double c = single<S> ? 2 : 3;
  Pair<S> d = two_sum(num<S>(c), y);
  S t = num<S>(c) / d.hi;
  S t_lo = fma(-t, d.lo, fma(-t, d.hi, num<S>(c))) * (t * num<S>(1 / c));
  S u = (t - num<S>(0.5)) + t_lo, g;
  if constexpr (single<S>) {  // 2^-25.4
    g = poly(u, 0.51079136f, 0.68716085f, 0.5589428f, 0.14574718f, -0.17201875f, -0.10301513f,
             0.09736336f, 0.046755195f, -0.06779853f, 0.011648096f);
  } else {  // 2^-54.9
    g = poly(u, 0.3580023023627799, 0.5889296354465892, 0.7869711428054559, 0.8279126984014694,
             0.6374813935348534, 0.28615716933381075, -0.025864888254319585, -0.12945331238937688,
             -0.04678908525450523, 0.047236761820872074, 0.036714118031192074, -0.02075194784345907,
             -0.023850089977363355, 0.012969394504589067, 0.015073071390327502,
             -0.010908405004581184, -0.008728305199930909, 0.010129089290876367,
             0.003329529185835583, -0.008328403471968443, 0.0010582935012124785,
             0.004181565310484594, -0.0022195500164848714);
  }
  return fma(t, g, t_lo * g);
}

template <class S>
[[gnu::always_inline]] inline S erfc_positive(S a) {
  S y = S::pmin(num<S>(erfc_highest<S>), a);
  Pair<S> square = two_product(y, y);
  S n = S::round_magic(-square.hi, num<S>(log2_e));
  S e = expm1_small(minus_n_ln2(-square.hi, n) - square.lo) + num<S>(1);
  S p = erfcx_near(y) * e;
  typename S::Mask far = ~S::le(y, num<S>(single<S> ? 8.5 : 26));
  return S::rare(
      far, S::addexp(p, n), [&]() __attribute__((always_inline)) { return scale_far(p, n, a); });
}

template <class S>
[[gnu::always_inline]] inline S erfc(S x) {
  S g = erfc_positive(S::abs(x));
  return S::select(S::lt(x, num<S>(0)), num<S>(2) - g, g);
}

template <class S>
[[gnu::always_inline]] inline S erf(S x) {
  if constexpr (single<S>) {
    // x P(x^2) / Q(x^2), 2^-24.1 up to 3.85. From there it grows past 1 and is cut off.
    S y = S::pmax(num<S>(-4.1), S::pmin(num<S>(4.1), x));
    S z = y * y;
    S p = poly(z, 1.1283791f, 0.18789686f, 0.052454446f, 0.0036666822f, 0.00028430883f,
               2.092778e-06f);
    S q = poly(z, 1.f, 0.49985215f, 0.11310585f, 0.014771701f, 0.0011414752f, 3.8499245e-05f);
    return S::pmax(num<S>(-1), S::pmin(num<S>(1), (y * p) / q));
  } else {
    S a = S::abs(x);
    // On [0, 1]: 2^-56.0
    S near = a * poly(a * a, 1.1283791670955126, -0.3761263890318347, 0.11283791670943148,
                      -0.026866170643006827, 0.005223977605517577, -0.0008548325907821854,
                      0.00012055293075006092, -1.4924704507693292e-05, 1.644705159201007e-06,
                      -1.6205791651299965e-07, 1.3709011378280531e-08, -7.776194683993107e-10);
    S far = num<S>(1) - erfc_positive(S::pmin(num<S>(6.5), a));
    return with_sign_of(S::select(S::lt(a, num<S>(1)), near, far), x);
  }
}

/// e^(x^2) erfc(x). Beyond where the table ends the asymptotic series (DLMF 7.12.1), of which the
/// first term left out is below 2^-56 (2^-27) of the sum; below 0, 2 e^(x^2) - erfcx(-x).
template <class S>
[[gnu::always_inline]] inline S erfcx(S x) {
  constexpr double last = single<S> ? 9 : 26;
  S a = S::abs(x);
  typename S::Mask far = S::lt(num<S>(last), a);
  S inverse = num<S>(1) / S::select(far, a, num<S>(1)), z = inverse * inverse, series;
  if constexpr (single<S>) {
    series = poly(z, 0x1.20dd76p-1f, -0.28209479f, 0.42314219f, -1.0578555f, 3.7024941f);
  } else {
    series = poly(z, 0x1.20dd750429b6dp-1, -0.28209479177387814, 0.4231421876608172,
                  -1.057855469152043, 3.7024941420321507, -16.661223639144676, 91.63673001529571);
  }
  S y = S::select(far, inverse * series, erfcx_near(S::select(far, num<S>(1), a)));
  return S::rare(
      ~S::le(num<S>(0), x), y, [&]() __attribute__((always_inline)) {
        Pair<S> square = two_product(a, a);
        S e = exp(square.hi);
        S grown = S::select(S::lt(e, infinity<S>()), fma(e, square.lo, e), e);
        return S::select(S::ne(x, x), x, fma(num<S>(2), grown, -y));
      });
}

/// R with erfinv(x) = x R(w), w = -log(1 - x^2): in w near 0 and in s = sqrt(w) above, up to 36
/// (16.6).
template <class S>
[[gnu::always_inline]] inline S erfinv_ratio(S w, S s) {
  S near, far;
  typename S::Mask tail;
  if constexpr (single<S>) {
    tail = S::lt(num<S>(5), w);
    near =
        poly(w - num<S>(2.5), 1.5014094f, 0.2466403f, -0.0041776695f, -0.0012527843f, 0.0002185786f,
             -4.9285254e-06f, -3.5240464e-06f, 4.5702532e-07f, 2.8221177e-08f, -8.044041e-09f);
    far =
        poly(s - num<S>(3.1), 2.9332316f, 1.0033561f, 0.0074640275f, -0.0056954767f, 0.0040902826f,
             -0.002722161f, 0.0014040896f, -0.00028406928f, -0.00022904291f, 0.00012854238f);
  } else {
    tail = S::lt(num<S>(6.25), w);
    near = poly(w - num<S>(3.125), 1.6536545626831027, 0.24015818242558834, -0.006033670871427535,
                -0.0007407025341546655, 0.0001867342080230875, -1.3882523393789597e-05,
                -1.3654691820149187e-06, 4.234788164887243e-07, -2.9070385341656816e-08,
                -4.112660126542766e-09, 1.0512199933913917e-09, -5.4143195417223215e-11,
                -1.2977582757489559e-11, 2.630578824112432e-12, -8.100998470796807e-14,
                -4.0030575960136723e-14, 6.5674432036359785e-15, -3.8039906578684735e-17,
                -1.2698636108823947e-16, 1.540225207656018e-17, 9.283554020017087e-19,
                -3.424843325497784e-19, 7.747944447103971e-21, 3.1002729646993683e-21,
                -1.5485561051813107e-22);
    S middle = poly(s - num<S>(3.25), 3.0838856104922208, 1.0052589676941652, 0.005370914553545028,
                    -0.0037512085082312212, 0.002491442098006422, -0.0016882755347455438,
                    0.0009532893476229557, -0.00035503782905755665, 2.4031388389898358e-05,
                    6.828726676469535e-05, -4.7319598336837825e-05, 1.2464235441423652e-05,
                    2.9274403784979913e-06, -3.983269261934081e-06, 1.4959059410704708e-06,
                    -3.1953168721229115e-08, -2.688427172246354e-07, 1.357336414980498e-07,
                    -2.3804252990950813e-10, -1.6955122437688173e-08);
    S last = poly(s - num<S>(5), 4.849906401408584, 1.0103004648645448, -0.0001387193183920725,
                  -0.0002150301198007343, 7.599527838848968e-05, -1.96817711029474e-05,
                  4.526049768866423e-06, -9.930267712275337e-07, 2.2906593795724634e-07,
                  -6.75650196033568e-08, 2.8983390941222443e-08, -1.5238393606721587e-08,
                  7.877377289938997e-09, -3.4891150997662273e-09, 1.2640274244186281e-09,
                  -4.2755607752229223e-10, 9.570263259072103e-11, 4.0560262985732676e-11,
                  -2.588654439052626e-11);
    far = S::select(S::lt(num<S>(4), s), last, middle);
  }
  return S::select(tail, far, near);
}

template <class S>
[[gnu::always_inline]] inline S erfinv(S x) {
  S w = -log(fma(-x, x, num<S>(1)));
  S y = x * erfinv_ratio(w, S::sqrt(w));
  // At +-1, w is infinite; beyond it is NaN.
  S end = S::select(S::eq(S::abs(x), num<S>(1)), x * infinity<S>(), not_a_number<S>());
  return S::select(S::lt(S::abs(x), num<S>(1)), y, end);
}

/// The x left of which the normal distribution has the area p, in double: -sqrt(2) erfcinv(2 p) for
/// p up to 1/2. erfinv's ratio goes on in 1 / s to the smallest p (chebyshev_tables.py, ndtri_tail:
/// 2^-57.0).
template <class S>
[[gnu::always_inline]] inline S ndtri(S p) {
  static_assert(!single<S>);
  S one = num<S>(1), lower = S::pmin(p, one - p), q = lower + lower;
  S x = one - q, w = -log(q * (num<S>(2) - q)), s = S::sqrt(w);
  typename S::Mask outer = S::lt(num<S>(6), s);
  S u = fma(num<S>(15.042979942693412), one / S::select(outer, s, num<S>(6)),
            num<S>(-1.537249283667622));
  S far = s * poly(u, 0.9886888708284607, -0.011340579797592629, -0.0014987929697065177,
                   0.0004705955655432253, -7.871190915764955e-05, 1.979389348956857e-05,
                   -6.580401149615237e-06, 2.4599368020394364e-06, -9.995630932781842e-07,
                   4.332435950887279e-07, -1.9707795320195084e-07, 9.313356640264928e-08,
                   -4.6005920052939694e-08, 2.326433271156476e-08, -1.0197400323549669e-08,
                   4.767991714596621e-09, -5.902757166224913e-09, 3.9532701225047555e-09,
                   2.500395960267031e-09, -2.1470831180512186e-09, -3.1140101558897552e-09,
                   2.22491070100276e-09, 1.3195981220721449e-09, -9.241198372527126e-10,
                   -3.6775357637618664e-10, 2.3894711365176344e-10);
  S y = x * S::select(outer, far, erfinv_ratio(w, s)) * num<S>(0x1.6a09e667f3bcdp+0);
  y = S::select(S::eq(lower, num<S>(0)), infinity<S>(), y);
  y = S::select(S::lt(p, num<S>(0.5)), -y, y);
  return S::select(S::le(num<S>(0), lower), y, not_a_number<S>());
}

}  // namespace lathe::math
