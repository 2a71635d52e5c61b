// Bessel functions of order 0 and 1, their relatives, and Airy's Ai. Everything is computed in
// double (core/ops/special_bodies.h). Near 0 the power series (DLMF 10.8, 10.25.2, 10.31), in
// between a polynomial beside the zero that lies there, and far out a polynomial in 1 / x of what
// the leading term of the asymptotic expansion leaves (DLMF 10.17.3, 10.40):
// core/scalar/math/bessel_tables.h.
#include <absl/strings/str_cat.h>

#include <array>
#include <cmath>
#include <numbers>

#include "core/ops/families.h"
#include "core/ops/names.h"
#include "core/ops/special_bodies.h"
#include "core/scalar/math/bessel_tables.h"
#include "include/lathe/ops/math.h"
#include "include/lathe/ops/special.h"

namespace lathe {
namespace {

using namespace names;
using S = special_ops<Tensor>;

constexpr double kGamma = std::numbers::egamma;

/// A table on [low, high].
template <class Table>
Expr on(const Table& table, double low, double high, Expr x) {
  Expr u = fma(x, constant(DType::f64, 2 / (high - low)),
               constant(DType::f64, -(low + high) / (high - low)));
  return horner(u, table);
}

/// A zero as the sum of two doubles: x - zero keeps its digits beside it.
struct Zero {
  double high, low;
};
Expr beside(Expr x, Zero zero) { return (x - zero.high) - zero.low; }
/// (x - zero)(x + zero).
Expr beside_pair(Expr x, Zero zero) { return beside(x, zero) * (x + zero.high); }

constexpr Zero kJ0[] = {{0x1.33d152e971b40p+1, -0x1.0f539d7da258ep-53},
                        {0x1.6148f5b2c2e45p+2, 0x1.75054cd60a517p-54}};
constexpr Zero kJ1[] = {{0x1.ea75575af6f09p+1, -0x1.60155a9d1b256p-53},
                        {0x1.c0ff5f3b47250p+2, -0x1.b226d9d243827p-54}};
constexpr Zero kY0[] = {{0x1.c982eb8d417eap-1, 0x1.ea9d270347f83p-56},
                        {0x1.fa9534d98569cp+1, -0x1.f06ae7804384ep-54},
                        {0x1.c581dc4e72103p+2, -0x1.9774a495f56cfp-54}};
constexpr Zero kY1[] = {{0x1.193bed4dff243p+1, -0x1.bd1e50d219bfdp-55},
                        {0x1.5b7fe4e87b02ep+2, 0x1.dfe7bac228e8cp-52}};
constexpr Zero kAi = {-0x1.2b471a873adf9p+1, -0x1.68d7a31cc8091p-55};

// ── modified functions ──────────────────────────────────────────────────────────────────────────

constexpr int kTerms = 24;  // of a series at x^2 / 4 = 16: the rest is below 2^-60
using Series = std::array<double, kTerms>;

/// 1 / (k! (k + order)!) times weight(k).
template <class Weight>
Series bessel_series(int order, Weight weight) {
  Series c;
  double term = 1;
  for (int k = 0; k < kTerms; ++k) {
    if (k > 0) term /= static_cast<double>(k) * (k + order);
    c[static_cast<size_t>(k)] = term * weight(k);
  }
  return c;
}
double harmonic(int k) {
  double sum = 0;
  for (int i = k; i > 0; --i) sum += 1.0 / i;
  return sum;
}
double one(int) { return 1; }

/// I of order 0 or 1 up to 8 (DLMF 10.25.2).
Expr i_near(Expr x, int order) {
  Expr y = horner(0.25 * x * x, bessel_series(order, one));
  return order == 0 ? y : 0.5 * x * y;
}

/// I for a = |x|, times exp(-a) where `scaled`.
Expr i_body(Expr x, int order, bool scaled) {
  Expr a = abs(x), near = le(a, 8.0);
  Expr low = select(near, a, 0.0), high = select(near, 8.0, a);
  Expr series = i_near(low, order);
  if (scaled) series = series * exp(-low);
  Expr t = 1.0 / high;
  Expr tail = (order == 0 ? on(bessel::i0_large, 0, 0.125, t) : on(bessel::i1_large, 0, 0.125, t)) /
              sqrt(high);
  if (!scaled) {
    Expr half = exp(0.5 * high);  // exp(x) leaves the range of doubles before I does
    tail = tail * half * half;
    tail = select(eq(high, kInfinity), kInfinity, tail);
  }
  Expr y = select(near, series, tail);
  y = select(isnan(x), x, y);
  return order == 0 ? y : select(lt(x, 0), -y, y);
}

/// K for x > 0 (DLMF 10.31.2, 10.31.1), times exp(x) where `scaled`.
Expr k_body(Expr x, int order, bool scaled) {
  Expr near = le(x, 2.0), low = select(near & lt(0, x), x, 1.0), high = select(near, 2.0, x);
  Expr z = 0.25 * low * low, logarithm = log(0.5 * low), series;
  if (order == 0) {
    series = horner(z, bessel_series(0, harmonic)) - (logarithm + kGamma) * i_near(low, 0);
  } else {
    auto weight = [](int k) { return harmonic(k) + harmonic(k + 1) - 2 * kGamma; };
    series =
        1.0 / low + logarithm * i_near(low, 1) - 0.25 * low * horner(z, bessel_series(1, weight));
  }
  Expr t = 1.0 / high;
  Expr tail =
      (order == 0 ? on(bessel::k0_large, 0, 0.5, t) : on(bessel::k1_large, 0, 0.5, t)) / sqrt(high);
  if (scaled)
    series = series * exp(low);
  else
    tail = tail * exp(-high);
  Expr y = select(near, series, tail);
  return select(lt(0, x), y, select(eq(x, 0), kInfinity, constant(DType::f64, kNaN)));
}

// ── oscillating functions ───────────────────────────────────────────────────────────────────────

/// Beyond 8: P and Q / x of the order, and sine and cosine of x. A wave of phase x - pi/4 has (c +
/// s) / sqrt(2) for its cosine and (s - c) / sqrt(2) for its sine.
struct Wave {
  Expr p, q, plus, minus, scale;
};
Wave wave(Expr x, int order) {
  Expr inverse = 1.0 / x, u = fma(128.0 * inverse, inverse, constant(DType::f64, -1));
  Expr p = order == 0 ? horner(u, bessel::p0) : horner(u, bessel::p1);
  Expr q = order == 0 ? horner(u, bessel::q0) : horner(u, bessel::q1);
  Expr s = sin(x), c = cos(x);
  return {p, q * inverse, s + c, s - c, std::numbers::inv_sqrtpi / sqrt(x)};
}

Expr j0_near(Expr a) { return beside_pair(a, kJ0[0]) * on(bessel::j0_small, 0, 16, a * a); }
Expr j1_near(Expr a) { return a * beside_pair(a, kJ1[0]) * on(bessel::j1_small, 0, 16, a * a); }

Expr j_body(Expr x, int order) {
  Expr a = abs(x), far = lt(8.0, a), low = pmin(a, 4.0), high = select(far, a, 8.0);
  Expr middle = select(far, 8.0, a);
  Wave w = wave(high, order);
  Expr y;
  if (order == 0) {
    Expr between = beside(middle, kJ0[1]) * on(bessel::j0_middle, 4, 8, middle);
    y = select(far, w.scale * (w.p * w.plus - w.q * w.minus),
               select(lt(4.0, a), between, j0_near(low)));
    y = select(eq(a, 0), 1.0, y);
  } else {
    Expr between = beside(middle, kJ1[1]) * on(bessel::j1_middle, 4, 8, middle);
    y = select(far, w.scale * (w.p * w.minus + w.q * w.plus),
               select(lt(4.0, a), between, j1_near(low)));
    y = select(lt(x, 0), -y, y);
  }
  return select(lt(a, kInfinity), y, kNaN);
}

Expr y_body(Expr x, int order) {
  constexpr double kTwoOverPi = 2 / std::numbers::pi;
  Expr far = lt(8.0, x), positive = lt(0, x);
  Expr high = select(far, x, 8.0), middle = select(far | ~positive, 8.0, x);
  Wave w = wave(high, order);
  Expr y, low = pmin(middle, order == 0 ? 3.0 : 4.0), square = low * low;
  if (order == 0) {
    Expr logarithm = kTwoOverPi * log(low / kY0[0].high) * j0_near(low);
    Expr near = logarithm + beside_pair(low, kY0[0]) * on(bessel::y0_small, 0, 9, square);
    Expr first = beside(middle, kY0[1]) * on(bessel::y0_middle, 3, 5.5, middle);
    Expr second = beside(middle, kY0[2]) * on(bessel::y0_upper, 5.5, 8, middle);
    y = select(far, w.scale * (w.p * w.minus + w.q * w.plus),
               select(le(x, 3.0), near, select(le(x, 5.5), first, second)));
  } else {
    Expr logarithm = kTwoOverPi * log(low / kY1[0].high) * j1_near(low);
    Expr near = logarithm + beside_pair(low, kY1[0]) * on(bessel::y1_small, 0, 16, square) / low;
    Expr between = beside(middle, kY1[1]) * on(bessel::y1_middle, 4, 8, middle);
    y = select(far, w.scale * (w.q * w.minus - w.p * w.plus), select(le(x, 4.0), near, between));
  }
  y = select(positive & lt(x, kInfinity), y, kNaN);
  return select(eq(x, 0), constant(DType::f64, -kInfinity), y);
}

// ── Airy's function, and the spherical one ──────────────────────────────────────────────────────

/// With z = 2/3 |x|^(3/2): DLMF 9.7.5 from 2 on, 9.7.9 below -3.2.
Expr airy_body(Expr x) {
  Expr a = select(lt(2.0, x) | lt(x, -3.2), abs(x), 4.0), root = sqrt(a);
  Expr z = (2.0 / 3) * a * root, inverse = 1.0 / z, fourth = sqrt(root);
  constexpr double kDecay = 0.5 * std::numbers::inv_sqrtpi;
  constexpr double kSwing = std::numbers::inv_sqrtpi / std::numbers::sqrt2;
  Expr decay = kDecay * exp(-z) * on(bessel::airy_decay, 0, 0.5304, pmin(inverse, 0.5304)) / fourth;
  Expr t = pmin(inverse * inverse, 0.0688), s = sin(z), c = cos(z);
  Expr p = on(bessel::airy_p, 0, 0.0688, t), q = on(bessel::airy_q, 0, 0.0688, t) * inverse;
  Expr swing = kSwing * (p * (s + c) - q * (c - s)) / fourth;
  Expr near = select(lt(2.0, abs(x)), 2.0, abs(x));
  Expr left = select(lt(x, -3.2) | lt(0, x), -3.2, x);
  Expr body = select(lt(x, 0), beside(left, kAi) * on(bessel::airy_low, -3.2, 0, left),
                     on(bessel::airy_high, 0, 2, near));
  Expr y = select(lt(2.0, x), decay, select(lt(x, -3.2), swing, body));
  return select(lt(abs(x), kInfinity), y, kNaN);
}

/// sin(x) / x; near 0 its Taylor series.
Expr spherical_j0_body(Expr x) {
  Expr near = lt(abs(x), 0.5), close = select(near, x, 0.0), z = close * close;
  std::array<double, 9> series;
  double term = 1;
  for (int k = 0; k < 9; ++k) {
    series[static_cast<size_t>(k)] = term;
    term /= -(2.0 * k + 2) * (2 * k + 3);
  }
  Expr far = select(near | eq(abs(x), kInfinity), 1.0, x);
  Expr y = select(near, horner(z, series), sin(far) / far);
  return select(eq(abs(x), kInfinity), 0.0, y);
}

// ── definitions and derivatives ─────────────────────────────────────────────────────────────────

/// f(x) / x, and `limit` at 0.
Tensor over(const Tensor& f, const Tensor& x, double limit) {
  Tensor at_zero = M::eq(x, 0);
  return M::where(at_zero, limit, M::div(f, M::where(at_zero, 1, x)));
}

Grads times(Grad g, const Tensor& slope) { return {M::mul(g.dy(), slope)}; }
Grads i0_grad(Grad g) { return times(g, S::special_i1(g.x(0))); }
Grads i1_grad(Grad g) { return times(g, M::sub(S::i0(g.x(0)), over(g.y(), g.x(0), 0.5))); }
Grads i0e_grad(Grad g) {
  return times(g, M::sub(S::special_i1e(g.x(0)), M::mul(M::sign(g.x(0)), g.y())));
}
Grads i1e_grad(Grad g) {
  Tensor x = g.x(0), falls = M::add(M::mul(M::sign(x), g.y()), over(g.y(), x, 0.5));
  return times(g, M::sub(S::special_i0e(x), falls));
}
Grads k0_grad(Grad g) { return times(g, M::neg(S::special_modified_bessel_k1(g.x(0)))); }
Grads k1_grad(Grad g) {
  Tensor x = g.x(0);
  return times(g, M::neg(M::add(S::special_modified_bessel_k0(x), M::div(g.y(), x))));
}
Grads k0e_grad(Grad g) {
  return times(g, M::sub(g.y(), S::special_scaled_modified_bessel_k1(g.x(0))));
}
Grads k1e_grad(Grad g) {
  Tensor x = g.x(0), falls = M::add(S::special_scaled_modified_bessel_k0(x), M::div(g.y(), x));
  return times(g, M::sub(g.y(), falls));
}
Grads j0_grad(Grad g) { return times(g, M::neg(S::special_bessel_j1(g.x(0)))); }
Grads j1_grad(Grad g) {
  return times(g, M::sub(S::special_bessel_j0(g.x(0)), over(g.y(), g.x(0), 0.5)));
}
Grads y0_grad(Grad g) { return times(g, M::neg(S::special_bessel_y1(g.x(0)))); }
Grads y1_grad(Grad g) {
  return times(g, M::sub(S::special_bessel_y0(g.x(0)), M::div(g.y(), g.x(0))));
}

struct Row {
  std::string_view name;
  Expr (*body)(Expr);  // in double
  GradRule grad;       // null: the chain rule
  bool differentiable;
  std::string_view doc;
  std::string_view also[2];  // the last may be empty
  std::string_view parameter = "input";
};
constexpr Row kRows[] = {
    {"i0",
     [](Expr x) { return i_body(x, 0, false); },
     i0_grad,
     true,
     "Modified Bessel function of the first kind, order 0.",
     {"special.i0", "special.modified_bessel_i0"}},
    {"special_i0e",
     [](Expr x) { return i_body(x, 0, true); },
     i0e_grad,
     true,
     "exp(-|x|) i0(x).",
     {"special.i0e"}},
    {"special_i1",
     [](Expr x) { return i_body(x, 1, false); },
     i1_grad,
     true,
     "Modified Bessel function of the first kind, order 1.",
     {"special.i1", "special.modified_bessel_i1"}},
    {"special_i1e",
     [](Expr x) { return i_body(x, 1, true); },
     i1e_grad,
     true,
     "exp(-|x|) i1(x).",
     {"special.i1e"}},
    {"special_modified_bessel_k0",
     [](Expr x) { return k_body(x, 0, false); },
     k0_grad,
     true,
     "Modified Bessel function of the second kind, order 0.",
     {"special.modified_bessel_k0"}},
    {"special_modified_bessel_k1",
     [](Expr x) { return k_body(x, 1, false); },
     k1_grad,
     true,
     "Modified Bessel function of the second kind, order 1.",
     {"special.modified_bessel_k1"}},
    {"special_scaled_modified_bessel_k0",
     [](Expr x) { return k_body(x, 0, true); },
     k0e_grad,
     true,
     "exp(x) times the modified Bessel function of the second kind, order 0.",
     {"special.scaled_modified_bessel_k0"},
     "x"},
    {"special_scaled_modified_bessel_k1",
     [](Expr x) { return k_body(x, 1, true); },
     k1e_grad,
     true,
     "exp(x) times the modified Bessel function of the second kind, order 1.",
     {"special.scaled_modified_bessel_k1"},
     "x"},
    {"special_bessel_j0",
     [](Expr x) { return j_body(x, 0); },
     j0_grad,
     true,
     "Bessel function of the first kind, order 0.",
     {"special.bessel_j0"}},
    {"special_bessel_j1",
     [](Expr x) { return j_body(x, 1); },
     j1_grad,
     true,
     "Bessel function of the first kind, order 1.",
     {"special.bessel_j1"}},
    {"special_bessel_y0",
     [](Expr x) { return y_body(x, 0); },
     y0_grad,
     true,
     "Bessel function of the second kind, order 0.",
     {"special.bessel_y0"}},
    {"special_bessel_y1",
     [](Expr x) { return y_body(x, 1); },
     y1_grad,
     true,
     "Bessel function of the second kind, order 1.",
     {"special.bessel_y1"}},
    {"special_spherical_bessel_j0",
     spherical_j0_body,
     nullptr,
     true,
     "Spherical Bessel function of order 0: sin(x) / x.",
     {"special.spherical_bessel_j0"},
     "x"},
    {"special_airy_ai", airy_body, nullptr, false, "Airy's function Ai.", {"special.airy_ai"}, "x"},
};

}  // namespace

void add_bessel_definitions(Definitions& r) {
  for (const Row& row : kRows) {
    Extra e{.domain = floating,
            .promote = Promote::to_float,
            .no_grad = !row.differentiable,
            .places = row.name == "i0" ? uint8_t{kFunction | kMethod} : uint8_t{kNowhere},
            .also = without_empty(row.also),
            .doc = row.doc};
    if (row.grad != nullptr) {
      e.saves = save_x(0) | save_y(0);
      e.grad = row.grad;
    }
    r.elementwise(
        absl::StrCat(row.name, "(Tensor ", row.parameter, ") -> Tensor"),
        [body = row.body](Expr x) { return in_double(body, x); }, std::move(e));
  }
}

}  // namespace lathe
