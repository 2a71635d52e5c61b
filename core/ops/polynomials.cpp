// Orthogonal polynomials of degree n, an operand like x: lathe.special. Computed in double.
#include <string>

#include "core/ops/families.h"
#include "core/ops/names.h"
#include "core/ops/special_bodies.h"

namespace lathe {
namespace {

using namespace names;

/// U_n and U_(n - 1) by the bits of n, from the highest: U_2k = U_k^2 - U_(k-1)^2 and U_(2k-1) =
/// 2 U_(k-1) (U_k - x U_(k-1)), since T_k = U_k - x U_(k-1) (DLMF 18.5.2, 18.9.9).
struct Chebyshev {
  Expr here, before;
};
constexpr int kDegreeBits = 31;

Chebyshev second_kind(Expr x, Expr n) {
  Expr here = constant(DType::f64, 1), before = constant(DType::f64, 0), twice = x + x;
  for (int bit = kDegreeBits - 1; bit >= 0; --bit) {
    Expr even = here * here - before * before;
    Expr odd = 2.0 * before * (here - x * before);
    Expr set = ne(n & constant_bits(DType::i64, uint64_t{1} << bit), 0);
    here = select(set, twice * even - odd, even);
    before = select(set, even, odd);
  }
  return {here, before};
}

/// The polynomials of degree n made of those of the second kind: T, U, V and W.
Expr chebyshev(Expr x, Expr n, char kind) {
  auto [here, before] = second_kind(x, n);
  switch (kind) {
    case 't':
      return here - x * before;
    case 'u':
      return here;
    case 'v':
      return here - before;
    default:
      return here + before;
  }
}

/// By the recurrence of three terms, next(k, x, p_k, p_(k-1)) = p_(k+1), from 1 and `first`; later
/// steps run only where an element has such a degree.
constexpr int kStretch = 16, kHighest = 128;
template <class Next>
Expr by_recurrence(Expr x, Expr n, Expr p, Expr before, Expr value, int from, Next next) {
  const int to = from + kStretch;
  for (int k = from; k < to; ++k) {
    Expr after = next(static_cast<double>(k), x, p, before);
    before = p, p = after;
    value = select(eq(n, static_cast<double>(k + 1)), p, value);
  }
  if (to >= kHighest) return value;
  return rare(lt(static_cast<double>(to), n), value,
              by_recurrence(x, n, p, before, value, to, next));
}

using Polynomial = Expr (*)(Expr x, Expr n);  // n: a whole number, as a double
using Step = Expr (*)(double k, Expr x, Expr p, Expr before);

template <Step step>
Expr recurrent(Expr x, Expr n) {
  Expr one = constant(DType::f64, 1), none = constant(DType::f64, 0);
  Expr value = by_recurrence(x, n, one, none, one, 0, step);
  return select(lt(static_cast<double>(kHighest), n), kNaN, value);
}

// DLMF table 18.9.1.
Expr hermite_h(double k, Expr x, Expr p, Expr q) { return 2.0 * x * p - 2.0 * k * q; }
Expr hermite_he(double k, Expr x, Expr p, Expr q) { return x * p - k * q; }
Expr laguerre(double k, Expr x, Expr p, Expr q) {
  return ((2.0 * k + 1.0 - x) * p - k * q) / (k + 1.0);
}
Expr legendre(double k, Expr x, Expr p, Expr q) {
  return ((2.0 * k + 1.0) * x * p - k * q) / (k + 1.0);
}

template <char kind, bool shifted>
Expr chebyshev_of(Expr x, Expr n) {
  Expr degree = cast(n, DType::i64);
  Expr y = chebyshev(shifted ? 2.0 * x - 1.0 : x, degree, kind);
  return select(lt(n, 0x1p31), y, kNaN);
}

struct Row {
  std::string_view name, also;
  Polynomial body;
  std::string_view doc;
};
constexpr std::string_view kShifted = "The same of 2 x - 1.";
constexpr Row kRows[] = {
    {"special_chebyshev_polynomial_t", "special.chebyshev_polynomial_t", chebyshev_of<'t', false>,
     "Chebyshev polynomial of the first kind, degree n."},
    {"special_chebyshev_polynomial_u", "special.chebyshev_polynomial_u", chebyshev_of<'u', false>,
     "Chebyshev polynomial of the second kind, degree n."},
    {"special_chebyshev_polynomial_v", "special.chebyshev_polynomial_v", chebyshev_of<'v', false>,
     "Chebyshev polynomial of the third kind, degree n."},
    {"special_chebyshev_polynomial_w", "special.chebyshev_polynomial_w", chebyshev_of<'w', false>,
     "Chebyshev polynomial of the fourth kind, degree n."},
    {"special_shifted_chebyshev_polynomial_t", "special.shifted_chebyshev_polynomial_t",
     chebyshev_of<'t', true>, kShifted},
    {"special_shifted_chebyshev_polynomial_u", "special.shifted_chebyshev_polynomial_u",
     chebyshev_of<'u', true>, kShifted},
    {"special_shifted_chebyshev_polynomial_v", "special.shifted_chebyshev_polynomial_v",
     chebyshev_of<'v', true>, kShifted},
    {"special_shifted_chebyshev_polynomial_w", "special.shifted_chebyshev_polynomial_w",
     chebyshev_of<'w', true>, kShifted},
    {"special_hermite_polynomial_h", "special.hermite_polynomial_h", recurrent<hermite_h>,
     "Hermite polynomial of the physicists, degree n up to 128; NaN above."},
    {"special_hermite_polynomial_he", "special.hermite_polynomial_he", recurrent<hermite_he>,
     "Hermite polynomial of probability, degree n up to 128; NaN above."},
    {"special_laguerre_polynomial_l", "special.laguerre_polynomial_l", recurrent<laguerre>,
     "Laguerre polynomial, degree n up to 128; NaN above."},
    {"special_legendre_polynomial_p", "special.legendre_polynomial_p", recurrent<legendre>,
     "Legendre polynomial, degree n up to 128; NaN above."},
};

}  // namespace

void add_polynomial_definitions(Definitions& r) {
  for (const Row& row : kRows)
    r.elementwise(std::string(row.name) + "(Tensor|Scalar x, Tensor|Scalar n) -> Tensor",
                  [body = row.body](Expr x, Expr n) {
                    auto of_whole = [body](Expr v, Expr degree) {
                      Expr whole = trunc(degree);
                      Expr y = body(v, select(lt(whole, 0), 0.0, whole));
                      return select(lt(whole, 0), 0.0, select(isnan(v) | isnan(degree), kNaN, y));
                    };
                    return in_double(of_whole, x, n);
                  },
                  {.domain = floating,
                   .promote = Promote::to_float,
                   .no_grad = true,
                   .places = kNowhere,
                   .also = {row.also},
                   .doc = row.doc});
}

}  // namespace lathe
