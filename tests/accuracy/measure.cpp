// How far the functions of core/scalar/math.h are from the exact result, in units in the last place
// of that result.
//
// run.py compiles this by itself (it needs nothing but headers and, for references, the C library
// in double and libquadmath) and makes docs/accuracy.md of what it prints: one line a function and
// type,
//
//   name f32|f64 worst-error at-x [at-y]
//
// f32: every `stride`-th bit pattern, against double. f64: `samples` random arguments, against
// __float128. Errors at zeros, infinities and NaN are right or wrong: a wrong one counts as 1e9.
#include <quadmath.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>

#include "core/scalar/lane.h"
#include "core/scalar/math.h"

namespace {

using Quad = __float128;
using F32 = lathe::Lane<float>;
using F64 = lathe::Lane<double>;

constexpr double kWrong = 1e9;

/// Distance of `got` from `exact` in units of T's last place at `exact`.
template <class T, class Exact>
double ulps(T got, Exact exact) {
  constexpr int digits = sizeof(T) == 4 ? 24 : 53, least = sizeof(T) == 4 ? -149 : -1074;
  auto want = static_cast<T>(exact);
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got) ? 0 : kWrong;
  if (want == 0 && got == 0) return std::signbit(want) == std::signbit(got) ? 0 : kWrong;
  if (std::isinf(want) || std::isinf(got)) {
    T largest = std::numeric_limits<T>::max();
    bool edge = std::fabs(std::isinf(got) ? want : got) == largest &&
                std::signbit(want) == std::signbit(got);
    return got == want ? 0 : edge ? 1 : kWrong;
  }
  int e;
  Quad q = exact;
  frexpq(q, &e);
  Quad unit = ldexpq(1, std::max(e - digits, least)), d = fabsq(static_cast<Quad>(got) - q);
  return static_cast<double>(d / unit);
}

// ── references that no library has ──────────────────────────────────────────────────────────────
Quad sigmoid_exact(Quad x) { return x < 0 ? expq(x) / (1 + expq(x)) : 1 / (1 + expq(-x)); }

/// Recurrence up to 40, then the asymptotic series; reflected below 0.
Quad digamma_exact(Quad x) {
  if (x == 0) return -1 / x;
  if (isnanq(x) || (x < 0 && (isinfq(x) || floorq(x) == x))) return nanq("");
  if (x < 0) return digamma_exact(1 - x) - M_PIq / tanq(M_PIq * (x - rintq(x)));
  if (isinfq(x)) return x;
  Quad shift = 0;
  for (; x < 40; x += 1) shift += 1 / x;
  Quad y = 1 / (x * x), term = 0;
  constexpr Quad b[] = {Quad(1) / 12,         -Quad(1) / 120,     Quad(1) / 252,
                        -Quad(1) / 240,       Quad(1) / 132,      -Quad(691) / 32760,
                        Quad(1) / 12,         -Quad(3617) / 8160, Quad(43867) / 14364,
                        -Quad(174611) / 6600, Quad(77683) / 276};
  for (int k = 10; k >= 0; --k) term = (term + b[k]) * y;
  return logq(x) - 1 / (2 * x) - term - shift;
}

/// Newton's iteration on erf or erfc from our own result.
Quad erfinv_exact(Quad x) {
  if (!(fabsq(x) < 1)) return fabsq(x) == 1 ? x * static_cast<Quad>(INFINITY) : nanq("");
  if (fabsq(x) < 1e-30Q) return x * sqrtq(M_PIq) / 2;
  Quad y = lathe::math::erfinv(F64(static_cast<double>(x))).value();
  if (isinfq(y)) y = x < 0 ? -5 : 5;
  for (int i = 0; i < 6; ++i) {
    Quad miss = x > 0.5 ? (1 - x) - erfcq(y) : x < -0.5 ? erfcq(-y) - (1 + x) : erfq(y) - x;
    Quad step = miss / (2 / sqrtq(M_PIq) * expq(-y * y));
    y -= step;
    if (fabsq(step) < 1e-33Q * fabsq(y)) break;
  }
  return y;
}

double exp2_exact(double x) { return std::exp2(x); }
Quad exp2_exact(Quad x) { return exp2q(x); }

struct Function {
  const char* name;
  float (*f32)(float);
  double (*f64)(double);
  double (*near)(double);  // what f32 is held against; null: `exact`
  Quad (*exact)(Quad);
  double lo = -INFINITY;  // nothing below is looked at
};

template <class S, S (*F)(S)>
typename S::Scalar on(typename S::Scalar x) {
  return F(S(x)).value();
}
#define LATHE_BOTH(name) on<F32, lathe::math::name<F32>>, on<F64, lathe::math::name<F64>>

const Function kFunctions[] = {
    {"exp", LATHE_BOTH(exp), std::exp, expq},
    {"exp2", LATHE_BOTH(exp2), exp2_exact, exp2_exact},
    {"expm1", LATHE_BOTH(expm1), std::expm1, expm1q},
    {"sigmoid", LATHE_BOTH(sigmoid), [](double x) { return static_cast<double>(sigmoid_exact(x)); },
     sigmoid_exact},
    {"log", LATHE_BOTH(log), std::log, logq},
    {"log2", LATHE_BOTH(log2), std::log2, log2q},
    {"log10", LATHE_BOTH(log10), std::log10, log10q},
    {"log1p", LATHE_BOTH(log1p), std::log1p, log1pq},
    {"tanh", LATHE_BOTH(tanh), std::tanh, tanhq},
    {"sinh", LATHE_BOTH(sinh), std::sinh, sinhq},
    {"cosh", LATHE_BOTH(cosh), std::cosh, coshq},
    {"asinh", LATHE_BOTH(asinh), std::asinh, asinhq},
    {"acosh", LATHE_BOTH(acosh), std::acosh, acoshq},
    {"atanh", LATHE_BOTH(atanh), std::atanh, atanhq},
    {"sin", LATHE_BOTH(sin), std::sin, sinq},
    {"cos", LATHE_BOTH(cos), std::cos, cosq},
    {"tan", LATHE_BOTH(tan), std::tan, tanq},
    {"asin", LATHE_BOTH(asin), std::asin, asinq},
    {"acos", LATHE_BOTH(acos), std::acos, acosq},
    {"atan", LATHE_BOTH(atan), std::atan, atanq},
    {"erf", LATHE_BOTH(erf), std::erf, erfq},
    {"erfc", LATHE_BOTH(erfc), std::erfc, erfcq},
    {"erfinv", LATHE_BOTH(erfinv), nullptr, erfinv_exact},
    {"lgamma", LATHE_BOTH(lgamma), std::lgamma, lgammaq, 0},
    {"digamma", LATHE_BOTH(digamma), nullptr, digamma_exact, 0},
};

struct Worst {
  double error = 0, x = 0, y = 0;
  void see(double e, double at, double also = 0) {
    if (!(e <= error)) *this = {e, at, also};
  }
};

Worst measure_f32(const Function& f, uint64_t stride) {
  Worst worst;
  if (f.near == nullptr) stride *= 400;  // quadruple precision takes that much longer
  for (uint64_t i = 0; i < uint64_t{1} << 32; i += stride) {
    auto bits = static_cast<uint32_t>(i);
    float x;
    std::memcpy(&x, &bits, 4);
    if (x < f.lo) continue;
    float got = f.f32(x);
    if (f.near != nullptr) {
      // Double is enough unless double itself is at its edge; then the exact one decides.
      double want = f.near(x);
      double e = ulps(got, want);
      worst.see(e < 100 ? e : ulps(got, f.exact(x)), x);
    } else {
      worst.see(ulps(got, f.exact(x)), x);
    }
  }
  return worst;
}

/// A third any bit pattern, the others of moderate size.
double argument(std::mt19937_64& rng, int i) {
  uint64_t bits = rng();
  double x;
  if (i % 3 == 0) {
    std::memcpy(&x, &bits, 8);
    return x;
  }
  int spread = i % 3 == 1 ? 40 : 10;
  double m = 1 + static_cast<double>(bits >> 12) * 0x1p-52;
  return std::ldexp(bits & 1 ? -m : m,
                    static_cast<int>(rng() % static_cast<unsigned>(spread)) - spread * 7 / 10);
}

Worst measure_f64(const Function& f, int samples) {
  std::mt19937_64 rng(1);
  Worst worst;
  for (int i = 0; i < samples; ++i) {
    double x = argument(rng, i);
    if (x >= f.lo) worst.see(ulps(f.f64(x), f.exact(x)), x);
  }
  return worst;
}

/// Pairs whose powers are spread over the whole range, and any pairs.
template <class T>
void measure_pairs(const char* type, int samples) {
  using S = lathe::Lane<T>;
  std::mt19937_64 rng(2);
  Worst pow, atan2;
  double range = sizeof(T) == 4 ? 100 : 740;
  for (int i = 0; i < samples; ++i) {
    auto x = static_cast<T>(argument(rng, i)), y = static_cast<T>(argument(rng, i + 1));
    atan2.see(ulps(lathe::math::atan2(S(x), S(y)).value(), atan2q(x, y)), x, y);
    if (i % 2 != 0) {
      double turn = static_cast<double>(static_cast<int64_t>(rng())) * 0x1p-63;
      y = static_cast<T>(range * turn / std::log(std::fabs(static_cast<double>(x))));
    }
    pow.see(ulps(lathe::math::pow(S(x), S(y)).value(), powq(x, y)), x, y);
  }
  std::printf("pow %s %.3f %a %a\natan2 %s %.3f %a %a\n", type, pow.error, pow.x, pow.y, type,
              atan2.error, atan2.x, atan2.y);
}

}  // namespace

int main(int argc, char** argv) {
  uint64_t stride = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 97;
  int samples = argc > 2 ? std::atoi(argv[2]) : 100000;
  std::string only = argc > 3 ? argv[3] : "";
  for (const Function& f : kFunctions) {
    if (!only.empty() && only != f.name) continue;
    Worst single = measure_f32(f, stride), wide = measure_f64(f, samples);
    std::printf("%s f32 %.3f %a\n%s f64 %.3f %a\n", f.name, single.error, single.x, f.name,
                wide.error, wide.x);
    std::fflush(stdout);
  }
  if (!only.empty()) return 0;
  measure_pairs<float>("f32", samples);
  measure_pairs<double>("f64", samples);
}
