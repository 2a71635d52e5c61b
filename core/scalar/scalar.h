// What each primitive of the scalar language means on one element, for every C++ type it is defined
// on. The reference engine calls these; the portable loops are loops over them, vectorised by the
// compiler; core/scalar/lane.h builds the float lane of the reference from them. One definition,
// hence one meaning.
//
// Everything is total: integers wrap, shift counts are taken modulo the width, dividing an integer
// by zero gives 0, float → integer saturates and NaN gives 0. All functions are always_inline, for
// the reason given in core/scalar/lane.h, and branch-free where that lets a loop over them
// vectorise.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace lathe::scalar {

template <class T>
inline constexpr bool is_float = std::is_same_v<T, float> || std::is_same_v<T, double>;

/// The unsigned type to wrap in: at least 32 bits, since narrower ones are promoted to (signed)
/// int.
template <class T>
using Wrap = std::conditional_t<sizeof(T) <= 4, uint32_t, uint64_t>;
template <class T>
using WordOf =
    std::conditional_t<sizeof(T) == 1, uint8_t,
                       std::conditional_t<sizeof(T) == 2, uint16_t,
                                          std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>>;

// ── arithmetic ──────────────────────────────────────────────────────────────────────────────────
template <class T>
[[gnu::always_inline]] inline T add(T a, T b) {
  if constexpr (is_float<T>)
    return a + b;
  else
    return static_cast<T>(static_cast<Wrap<T>>(a) + static_cast<Wrap<T>>(b));
}
template <class T>
[[gnu::always_inline]] inline T sub(T a, T b) {
  if constexpr (is_float<T>)
    return a - b;
  else
    return static_cast<T>(static_cast<Wrap<T>>(a) - static_cast<Wrap<T>>(b));
}
template <class T>
[[gnu::always_inline]] inline T mul(T a, T b) {
  if constexpr (is_float<T>)
    return a * b;
  else
    return static_cast<T>(static_cast<Wrap<T>>(a) * static_cast<Wrap<T>>(b));
}
[[gnu::always_inline]] inline float fma(float a, float b, float c) {
  return __builtin_fmaf(a, b, c);
}
[[gnu::always_inline]] inline double fma(double a, double b, double c) {
  return __builtin_fma(a, b, c);
}
/// Integers: the wrapping a * b + c.
template <class T>
[[gnu::always_inline]] inline T fma(T a, T b, T c) {
  return add(mul(a, b), c);
}
template <class T>
[[gnu::always_inline]] inline T neg(T a) {
  if constexpr (is_float<T>)
    return -a;
  else
    return static_cast<T>(Wrap<T>{0} - static_cast<Wrap<T>>(a));
}
template <class T>
[[gnu::always_inline]] inline T abs(T a) {
  if constexpr (is_float<T>) {
    return std::bit_cast<T>(std::bit_cast<WordOf<T>>(a) & (~WordOf<T>{0} >> 1));
  } else if constexpr (std::is_signed_v<T>) {
    return a < 0 ? neg(a) : a;
  } else {
    return a;
  }
}
[[gnu::always_inline]] inline float sqrt(float a) { return __builtin_sqrtf(a); }
[[gnu::always_inline]] inline double sqrt(double a) { return __builtin_sqrt(a); }
template <class T>
[[gnu::always_inline]] inline T pmin(T a, T b) {
  return a < b ? a : b;
}
template <class T>
[[gnu::always_inline]] inline T pmax(T a, T b) {
  return a > b ? a : b;
}
[[gnu::always_inline]] inline uint32_t mulhi(uint32_t a, uint32_t b) {
  return static_cast<uint32_t>((static_cast<uint64_t>(a) * b) >> 32);
}

// ── whole numbers ───────────────────────────────────────────────────────────────────────────────
/// 1.5 * 2^23 or 1.5 * 2^52: adding it leaves a small number's nearest integer in the low bits.
template <class T>
inline constexpr T magic = sizeof(T) == 4 ? T(12582912.0) : T(6755399441055744.0);
/// Every float of this magnitude is whole: 2^23 or 2^52.
template <class T>
inline constexpr T whole = sizeof(T) == 4 ? T(8388608.0) : T(4503599627370496.0);

template <class T>
[[gnu::always_inline]] inline T with_sign_of(T magnitude, T sign) {
  constexpr WordOf<T> top = WordOf<T>{1} << (8 * sizeof(T) - 1);
  return std::bit_cast<T>(static_cast<WordOf<T>>(std::bit_cast<WordOf<T>>(magnitude) |
                                                 (std::bit_cast<WordOf<T>>(sign) & top)));
}
template <class T>
[[gnu::always_inline]] inline T rint(T x) {
  T a = abs(x);
  T r = (a + whole<T>)-whole<T>;
  return a < whole<T> ? with_sign_of(r, x) : x;
}
template <class T>
[[gnu::always_inline]] inline T floor(T x) {
  T r = rint(x);
  T down = r - T(1);
  return r > x ? down : r;
}
template <class T>
[[gnu::always_inline]] inline T ceil(T x) {
  return -floor(-x);
}
template <class T>
[[gnu::always_inline]] inline T trunc(T x) {
  T a = abs(x);
  T r = (a + whole<T>)-whole<T>;
  T down = r - T(1);
  r = r > a ? down : r;
  return a < whole<T> ? with_sign_of(r, x) : x;
}
template <class T>
[[gnu::always_inline]] inline T round_magic(T x, T c) {
  return fma(x, c, magic<T>) - magic<T>;
}
template <class T>
[[gnu::always_inline]] inline T addexp(T x, T n) {
  constexpr int mantissa = std::numeric_limits<T>::digits - 1;
  auto word = std::bit_cast<WordOf<T>>(static_cast<T>(n + magic<T>));
  return std::bit_cast<T>(static_cast<WordOf<T>>(std::bit_cast<WordOf<T>>(x) + (word << mantissa)));
}

// ── division with remainder ─────────────────────────────────────────────────────────────────────
template <class T>
[[gnu::always_inline]] inline T floor_div(T a, T b) {
  if (b == 0) return 0;
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return neg(a);  // the one quotient that may not fit
    T q = static_cast<T>(a / b);
    return static_cast<T>(q - (a % b != 0 && (a < 0) != (b < 0)));
  } else {
    return static_cast<T>(a / b);
  }
}
template <class T>
[[gnu::always_inline]] inline T mod(T a, T b) {
  if (b == 0) return 0;
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return 0;
    T r = static_cast<T>(a % b);
    return static_cast<T>(r != 0 && (r < 0) != (b < 0) ? r + b : r);
  } else {
    return static_cast<T>(a % b);
  }
}
/// a * b mod m for a, b < m, where m is a significand of T.
template <class T>
[[gnu::always_inline]] inline uint64_t mul_mod(uint64_t a, uint64_t b, uint64_t m) {
  if constexpr (sizeof(T) == 4) {
    return a * b % m;
  } else {
    auto real = [](uint64_t x) __attribute__((always_inline)) {
      return static_cast<double>(static_cast<int64_t>(x));
    };
    // The quotient is below 2^53, so that double arithmetic is a few units off at most; modulo 2^64
    // the remainder is right but for as many m.
    auto quotient = static_cast<uint64_t>(static_cast<int64_t>(real(a) * real(b) / real(m)));
    auto r = static_cast<int64_t>(a * b - quotient * m), n = static_cast<int64_t>(m);
    while (r < 0) r += n;
    while (r >= n) r -= n;
    return static_cast<uint64_t>(r);
  }
}
/// a * 2^n mod m, by squaring.
template <class T>
[[gnu::always_inline]] inline uint64_t shift_mod(uint64_t a, int n, uint64_t m) {
  int later = 0;  // bits of n below those that one shift takes
  while (n >> later > 52) ++later;
  uint64_t power = (uint64_t{1} << (n >> later)) % m;
  while (later-- > 0) {
    power = mul_mod<T>(power, power, m);
    if (n >> later & 1) power = power + power >= m ? power + power - m : power + power;
  }
  return mul_mod<T>(a, power, m);
}
/// a - trunc(a / b) * b, exactly, with the sign of a: of the significands, where that of a is
/// multiplied by a power of two.
template <class T>
[[gnu::always_inline]] inline T fmod(T a, T b) {
  using W = WordOf<T>;
  constexpr int mantissa = std::numeric_limits<T>::digits - 1;
  constexpr W implicit = W{1} << mantissa;
  T x = abs(a), y = abs(b);
  constexpr T inf = std::numeric_limits<T>::infinity();
  if (!(x < inf) || !(y > 0)) return std::numeric_limits<T>::quiet_NaN();  // also for NaN
  if (x < y) return a;
  auto split = [](T v, uint64_t & m, int& e) __attribute__((always_inline)) {
    W w = std::bit_cast<W>(v);
    m = w & (implicit - 1);
    e = static_cast<int>(w >> mantissa);
    if (e == 0)
      e = 1;
    else
      m |= implicit;
  };
  uint64_t mx, my;
  int ex, ey;
  split(x, mx, ex);
  split(y, my, ey);
  mx %= my;
  int up = ex - ey;
  mx = up <= 63 - mantissa ? (mx << up) % my : shift_mod<T>(mx, up, my);
  // mx < my, in units of y's last place: put it back together, normalising.
  if (mx == 0) return with_sign_of(T(0), a);
  while (mx < implicit && ey > 1) {
    mx <<= 1;
    --ey;
  }
  W w = mx < implicit ? static_cast<W>(mx)
                      : static_cast<W>((static_cast<W>(ey) << mantissa) | (mx & (implicit - 1)));
  return with_sign_of(std::bit_cast<T>(w), a);
}

// ── bits ────────────────────────────────────────────────────────────────────────────────────────
template <class T>
[[gnu::always_inline]] inline T shl(T a, T n) {
  constexpr unsigned width = 8 * sizeof(T);
  return static_cast<T>(static_cast<Wrap<T>>(a) << (static_cast<Wrap<T>>(n) & (width - 1)));
}
template <class T>
[[gnu::always_inline]] inline T shr(T a, T n) {
  constexpr unsigned width = 8 * sizeof(T);
  return static_cast<T>(a >> (static_cast<Wrap<T>>(n) & (width - 1)));
}
/// The pattern of a float, any NaN as the positive quiet one.
template <class T>
[[gnu::always_inline]] inline WordOf<T> bits(T a) {
  return a == a ? std::bit_cast<WordOf<T>>(a)
                : std::bit_cast<WordOf<T>>(std::numeric_limits<T>::quiet_NaN());
}

// ── conversion ──────────────────────────────────────────────────────────────────────────────────
/// Value conversion between bool, integers, float and double. Half types go by way of float, by
/// f32_to_f16 and its like in core/scalar/dtype.h, from double and 64-bit integers too.
template <class To, class From>
[[gnu::always_inline]] inline To cast(From x) {
  if constexpr (std::is_same_v<To, bool>) {
    return x != From(0);
  } else if constexpr (is_float<From> && !is_float<To>) {
    constexpr From above =
        From(2) * static_cast<From>(To{1} << (std::numeric_limits<To>::digits - 1));
    constexpr From least = static_cast<From>(std::numeric_limits<To>::min());
    bool high = x >= above;
    bool fits = std::is_signed_v<To> ? x >= least && !high : x > From(-1) && !high;
    bool low = !fits && x < From(0);
    To r = static_cast<To>(fits ? x : From(0));
    r = high ? std::numeric_limits<To>::max() : r;
    return low ? std::numeric_limits<To>::min() : r;
  } else {
    return static_cast<To>(x);
  }
}

}  // namespace lathe::scalar
