// Samplers: what is drawn by moving the uniform and normal streams of create.cpp. Each is a
// composite, so it draws the same numbers in every mode. Rejection has a fixed number of rounds:
// elements do not wait for each other, and a trace knows how many calls there are. That none of the
// rounds accepts has a probability below 1e-9; the mode is given then.
//
// `kInPlace` forms write over their tensor, as x.normal_(mean, std) does; they have no function.
#include <absl/strings/str_cat.h>

#include <numbers>

#include "core/base/checks.h"
#include "core/infer/rules.h"
#include "core/ops/families.h"
#include "core/ops/names.h"
#include "core/ops/noise.h"
#include "include/lathe/ops/random.h"

namespace lathe {
namespace {

using namespace names;
using D = random_ops<Tensor>;

Extra draws(std::string_view doc, uint8_t places = kFunction | kMethod) {
  return {.no_grad = true, .places = places, .draws = true, .doc = doc};
}

Extra written(std::string_view doc) {
  Extra e = draws(doc, kInPlace);
  e.inplace = true;
  return e;
}

void require_float(const char* op, const Tensor& x) {
  if (!is_floating(x.dtype()))
    throw DTypeError({.op = op,
                      .problem = "the numbers drawn are no integers",
                      .got = std::string(name(x.dtype())),
                      .expected = "a floating dtype",
                      .next = "convert with .to(lt.float32)"});
}

void require_that(bool holds, const char* op, const char* param, const Real& value,
                  const char* expected) {
  if (holds) return;
  throw ValueError({.op = op,
                    .problem = absl::StrCat("the parameter ", param, " is outside of its domain"),
                    .got = absl::StrCat(param, "=", to_string(Real(value.hint()))),
                    .expected = expected,
                    .next = absl::StrCat("check ", param)});
}

/// In the dtype that x is computed in: tails are lost in that of halves.
Tensor uniform_like(const Tensor& x) {
  return C::rand(x.shape(), compute_type(x.dtype()), x.device());
}
/// In x's dtype.
Tensor kept_as(const Tensor& x, const Tensor& drawn) {
  return drawn.dtype() == x.dtype() ? drawn : M::cast(drawn, x.dtype());
}
Tensor normal_like(const Tensor& x) { return C::randn(x.shape(), x.dtype(), x.device()); }
/// Uniform in [0, 1) with 53 bits, whatever the dtype: for inversion, whose tail they are.
Tensor fine_uniform(IntSpan shape, Device device) { return C::rand(shape, DType::f64, device); }

// ── in place ────────────────────────────────────────────────────────────────────────────────────

Outputs uniform(Args a) {
  Tensor x = a.tensor(0);
  const Real low = a.real(1), high = a.real(2);
  if (!is_complex(x.dtype())) require_float("uniform_", x);
  if (!(low <= high))
    throw ValueError({.op = "uniform_",
                      .problem = "low is above high: from must not be above to",
                      .got = absl::StrCat("from=", to_string(Real(low.hint())),
                                          ", to=", to_string(Real(high.hint()))),
                      .expected = "from <= to",
                      .next = "exchange the bounds"});
  Tensor u = C::rand(x.shape(), x.dtype(), x.device());
  Tensor wide = M::mul(u, Arg(high - low));
  if (!is_complex(x.dtype())) return {M::add(wide, a[1])};
  const Tensor from = C::full({}, a[1], real_type(x.dtype()), x.device());
  return {M::add(wide, M::complex(from, from))};
}

Tensor normal(const char* op, Args a) {
  Tensor x = a.tensor(0);
  const Real std = a.real(2);
  if (!(std >= 0))
    throw ValueError({.op = op,
                      .problem = "the standard deviation std is negative or NaN",
                      .got = absl::StrCat("std=", to_string(Real(std.hint()))),
                      .expected = "std >= 0",
                      .next = "pass the root of the variance"});
  return M::add(M::mul(normal_like(x), a[2]), a[1]);
}

Outputs exponential(Args a) {
  Tensor x = a.tensor(0);
  require_float("exponential_", x);
  require_that(a.real(1) > 0, "exponential_", "lambd", a.real(1), "lambd > 0");
  return {kept_as(x, M::div(exponential_noise(x), a[1]))};
}

Outputs cauchy(Args a) {
  Tensor x = a.tensor(0);
  require_float("cauchy_", x);
  require_that(a.real(2) > 0, "cauchy_", "sigma", a.real(2), "sigma > 0");
  Tensor angle = M::mul(M::sub(uniform_like(x), 0.5), std::numbers::pi);
  return {kept_as(x, M::add(M::mul(M::tan(angle), a[2]), a[1]))};
}

/// The number of the first success: the smallest k with (1 - p)^k <= 1 - u.
Outputs geometric(Args a) {
  Tensor x = a.tensor(0);
  require_that(a.real(1) > 0 && a.real(1) < 1, "geometric_", "p", a.real(1), "0 < p < 1");
  Tensor u = fine_uniform(x.shape(), x.device());
  Tensor miss = M::log1p(C::full(Shape{}, Arg(Real(0) - a.real(1)), DType::f64, x.device()));
  Tensor k = M::clamp_min(M::ceil(M::div(M::log1p(M::neg(u)), miss)), 1.0);
  return {M::cast(k, x.dtype())};
}

Outputs bernoulli_p(Args a) {
  Tensor x = a.tensor(0);
  const DType d = is_floating(x.dtype()) ? x.dtype() : DType::f32;
  return {M::cast(C::bernoulli(x.shape(), a.real(1), d, x.device()), x.dtype())};
}

Outputs bernoulli_tensor(Args a) {
  Tensor x = a.tensor(0), p = a.tensor(1);
  const DType d = is_floating(p.dtype()) ? compute_type(p.dtype()) : DType::f32;
  Tensor u = C::rand(x.shape(), d, x.device());
  return {M::cast(C::bernoulli_of(u, M::cast(p, d)), x.dtype())};
}

/// [from, to) as whole numbers.
Tensor whole(const Tensor& x, Int from, Int to) {
  return M::cast(C::randint(from, to, x.shape(), DType::i64, x.device()), x.dtype());
}

/// All integers that the dtype holds exactly, from 0; those of 64 bits to 2^62.
Outputs any_integer(Args a) {
  Tensor x = a.tensor(0);
  const DType d = x.dtype();
  if (d == DType::f64 || (is_integer(d) && size_of(d) == 8)) {
    const int bits = d == DType::f64 ? 27 : 31, low_bits = d == DType::f64 ? 26 : 31;
    Tensor high = C::randint(0, Int(int64_t{1} << bits), x.shape(), DType::i64, x.device());
    Tensor low = C::randint(0, Int(int64_t{1} << low_bits), x.shape(), DType::i64, x.device());
    Tensor both = M::add(M::mul(high, Arg(Int(int64_t{1} << low_bits))), low);
    return {M::cast(both, d)};
  }
  int bits = 24;
  if (d == DType::f16) bits = 11;
  if (d == DType::bf16) bits = 8;
  if (d == DType::bool_) bits = 1;
  if (is_integer(d)) bits = static_cast<int>(size_of(d)) * 8 - (is_signed(d) ? 1 : 0);
  return {whole(x, 0, Int(int64_t{1} << bits))};
}

void add_written(Definitions& r) {
  r.composite("uniform(Tensor input, float from=0, float to=1) -> Tensor", uniform,
              written("Uniform in [from, to), both parts of a complex number."));
  r.composite(
      "normal.fill(Tensor input, float mean=0, float std=1) -> Tensor",
      [](Args a) -> Outputs {
        if (!is_complex(a.tensor(0).dtype())) require_float("normal_", a.tensor(0));
        return {normal("normal_", a)};
      },
      written("Normal with this mean and standard deviation; in both parts of a complex number "
              "half the variance."));
  r.composite(
      "log_normal(Tensor input, float mean=1, float std=2) -> Tensor",
      [](Args a) -> Outputs {
        require_float("log_normal_", a.tensor(0));
        require_that(a.real(2) > 0, "log_normal_", "std", a.real(2), "std > 0");
        return {M::exp(normal("log_normal_", a))};
      },
      written("exp of normal numbers with this mean and standard deviation."));
  r.composite("exponential(Tensor input, float lambd=1) -> Tensor", exponential,
              written("Exponential with mean 1 / lambd."));
  r.composite("cauchy(Tensor input, float median=0, float sigma=1) -> Tensor", cauchy,
              written("Cauchy around median, of half width sigma."));
  r.composite("geometric(Tensor input, float p) -> Tensor", geometric,
              written("How many trials the first success takes, each with probability p."));
  r.composite("bernoulli.fill(Tensor input, float p=0.5) -> Tensor", bernoulli_p,
              written("1 with probability p, else 0."));
  r.composite("bernoulli.fill_of(Tensor input, Tensor p) -> Tensor", bernoulli_tensor,
              written("1 with the probability that p has there, else 0."));
  Extra of_the_dtype = written(
      "Whole numbers from 0 to the largest that the dtype holds exactly (int64: below 2^62).");
  of_the_dtype.moves = true;  // what is drawn depends on the dtype that is filled
  r.composite("random(Tensor input) -> Tensor", any_integer, of_the_dtype);
  r.composite(
      "random.to(Tensor input, int to) -> Tensor",
      [](Args a) -> Outputs { return {whole(a.tensor(0), 0, a.integer(1))}; },
      written("Whole numbers in [0, to)."));
  r.composite(
      "random.from(Tensor input, int from, int? to) -> Tensor",
      [](Args a) -> Outputs {
        const Int to = a.none(2) ? a.integer(1) + (int64_t{1} << 32) : a.integer(2);
        return {whole(a.tensor(0), a.integer(1), to)};
      },
      written("Whole numbers in [from, to); None: 2^32 of them."));
}

// ── normal, permutations, choices ───────────────────────────────────────────────────────────────

Tensor moved_noise(const Tensor& like, const Arg& mean, const Tensor& std) {
  Tensor noise = C::randn(like.shape(), like.dtype(), like.device());
  return D::normal_of(noise, mean, std);
}

void add_normal(Definitions& r) {
  r.elementwise("normal_of(Tensor noise, Tensor|Scalar mean, Tensor std) -> Tensor",
                [](Expr noise, Expr mean, Expr std) {
                  return check(le(0, std), mean + std * noise, kNegativeSpread);
                },
                {.domain = floating,
                 .no_grad = true,
                 .places = kNowhere,
                 .doc = "mean + std * noise; a negative std is a ValueError."});
  r.composite(
      "normal(Tensor mean, Tensor std) -> Tensor",
      [](Args a) -> Outputs {
        Tensor like = M::add(a.tensor(0), a.tensor(1));
        return {moved_noise(like, a[0], a.tensor(1))};
      },
      draws("Normal, with a mean and a standard deviation for each element.", kFunction));
  r.composite(
      "normal.float_std(Tensor mean, float std=1) -> Tensor",
      [](Args a) -> Outputs {
        Tensor x = a.tensor(0);
        require_that(a.real(1) >= 0, "normal", "std", a.real(1), "std >= 0");
        return {M::add(M::mul(normal_like(x), a[1]), x)};
      },
      draws("Normal, with a mean for each element.", kFunction));
  r.composite(
      "normal.float_mean(float mean, Tensor std) -> Tensor",
      [](Args a) -> Outputs { return {moved_noise(a.tensor(1), a[0], a.tensor(1))}; },
      draws("Normal, with a standard deviation for each element.", kFunction));
  r.composite(
      "normal.size(float mean, float std, int[] size, *, dtype? dtype=None, device? device=None) "
      "-> Tensor",
      [](Args a) -> Outputs {
        require_that(a.real(1) >= 0, "normal", "std", a.real(1), "std >= 0");
        Tensor noise = C::randn(a.ints(2), a[3], a[4]);
        return {M::add(M::mul(noise, a[1]), a[0])};
      },
      draws("Normal, of these sizes.", kFunction));
}

Outputs permutation(Args a) {
  const Int n = a.integer(0);
  if (!require(Relation::le, Int(0), n))
    throw ValueError({.op = "randperm",
                      .problem = "a negative number of elements",
                      .got = to_string(n),
                      .expected = "0 or more",
                      .next = "check how it was computed"});
  Tensor keys = C::rand(Shape{n}, DType::f64, a[2]);
  Tensor order = I::argsort(keys, 0, false);
  return {a.none(1) ? order : M::cast(order, a[1])};
}

/// The chances as f64, each checked; rows along the last axis.
Tensor chances(const Tensor& weights) {
  if (weights.rank() < 1 || weights.rank() > 2)
    throw ShapeError({.op = "multinomial",
                      .problem = "weights have one axis, or two",
                      .got = to_string(weights.shape()),
                      .expected = "[categories] or [rows, categories]",
                      .next = "reshape the weights"});
  require_float("multinomial", weights);
  return D::weight_of(M::cast(weights, DType::f64));
}

/// By an exponential race: category i arrives at a time with the rate of its weight. The first k
/// are a draw without repetition (Efraimidis and Spirakis 2006).
Tensor without_repetition(const Tensor& weights, Int count) {
  if (!require(Relation::le, count, weights.size(-1)))
    throw ValueError({.op = "multinomial",
                      .problem = "more samples than categories, without replacement",
                      .got = absl::StrCat(to_string(count), " of ", to_string(weights.size(-1))),
                      .expected = "at most one of each",
                      .next = "pass replacement=True, or draw fewer"});
  Tensor times = D::arrival(fine_uniform(weights.shape(), weights.device()), weights);
  auto [first, which] = I::topk(times, count, -1, false);
  return D::arrived(which, first);
}

Tensor with_repetition(const Tensor& weights, Int count) {
  Tensor upto = R::cumsum(weights, -1, false);
  Tensor total = S::slice(upto, -1, Arg(Int(-1)), Arg(), 1);
  Shape sizes = weights.shape();
  sizes.back() = count;
  // Below the total, so that there is a category above it.
  Tensor u = M::mul(M::mul(fine_uniform(sizes, weights.device()), total), 1 - 0x1p-52);
  Tensor which = weights.rank() == 1
                     ? I::searchsorted(upto, u, true)
                     : R::sum(M::le(S::unsqueeze(upto, -2), S::unsqueeze(u, -1)), {Int(-1)});
  return D::arrived(which, M::reciprocal(total));  // nothing to choose from weights of 0
}

void add_choices(Definitions& r) {
  r.composite("randperm(int n, *, dtype? dtype=None, device? device=None) -> Tensor", permutation,
              draws("0 to n - 1 in random order; int64 unless a dtype is given."));
  r.elementwise("weight_of(Tensor input) -> Tensor",
                [](Expr w) {
                  Expr fine = le(0, w);
                  if (is_floating(w.dtype())) fine = fine & lt(w, highest(w.dtype()));
                  return check(fine, w, kNoWeight);
                },
                {.domain = real_dtypes,
                 .places = kNowhere,
                 .doc = "A weight as it is; one that is negative or not finite is a ValueError."});
  r.elementwise("arrival(Tensor uniform, Tensor weight) -> Tensor",
                [](Expr u, Expr w) { return -log1p(-u) / w; },
                {.domain = floating,
                 .no_grad = true,
                 .places = kNowhere,
                 .doc = "When an event of this rate happens first; never (inf or NaN) at rate 0."});
  r.elementwise("arrived(Tensor which, Tensor time) -> Tensor",
                [](Expr which, Expr time) {
                  return check(lt(time, highest(time.dtype())), which, kTooFewWeights);
                },
                {.domain = real_dtypes,
                 .promote = Promote::index,
                 .fixed = {{0, DType::i64}},
                 .no_grad = true,
                 .places = kNowhere,
                 .doc = "which, where the time is finite; else there is nothing left to choose."});
  r.composite(
      "multinomial(Tensor input, int num_samples, bool replacement=False) -> Tensor",
      [](Args a) -> Outputs {
        Tensor weights = chances(a.tensor(0));
        if (!require(Relation::lt, Int(0), a.integer(1)))
          throw ValueError({.op = "multinomial",
                            .problem = "the number of samples is not positive",
                            .got = to_string(a.integer(1)),
                            .expected = "1 or more",
                            .next = "check num_samples"});
        return {a.flag(2) ? with_repetition(weights, a.integer(1))
                          : without_repetition(weights, a.integer(1))};
      },
      draws("Categories drawn with chances in proportion to the weights along the last axis."));
}

// ── counts and waiting times ────────────────────────────────────────────────────────────────────

constexpr int kTerms = 48;   // of an inversion: the rest of the distribution is below 1e-14
constexpr int kRounds = 14;  // of a rejection that accepts with a chance of 0.8 or more
constexpr double kFew = 10;  // means below it are drawn by inversion

/// The smallest k whose chance of k or less exceeds u; term(k, chance of k) is that of k + 1.
template <class F>
Expr invert(Expr u, Expr none, F term) {
  Expr chance = none, sum = none, k = constant(u.dtype(), 0);
  for (int i = 0; i < kTerms; ++i) {
    k = select(le(sum, u), constant(u.dtype(), i + 1), k);
    chance = term(i, chance);
    sum = sum + chance;
  }
  return k;
}

/// One round: value(u, v) gives (accepted, value) for u in [-0.5, 0.5) and v in [0, 1).
template <class F>
Tensor accepted(const Tensor& otherwise, F value) {
  Tensor result = otherwise;
  for (int i = 0; i < kRounds; ++i) {
    Tensor u = M::sub(fine_uniform(otherwise.shape(), otherwise.device()), 0.5);
    Tensor v = fine_uniform(otherwise.shape(), otherwise.device());
    auto [ok, found] = value(u, v);
    result = M::where(ok, found, result);
  }
  return result;
}

Tensor both(const Tensor& a, const Tensor& b) { return M::logical_and(a, b); }
Tensor factorial(const Tensor& k) { return M::lgamma(M::add(k, 1.0)); }  // its logarithm

/// Transformed rejection with squeeze (Hoermann 1993), for rates of kFew and more.
Tensor many_events(const Tensor& rate) {
  Tensor log_rate = M::log(rate);
  Tensor b = M::add(M::mul(M::sqrt(rate), 2.53), 0.931);
  Tensor a = M::add(M::mul(b, 0.02483), -0.059);
  Tensor inverse = M::add(M::div(1.1328, M::sub(b, 3.4)), 1.1239);
  Tensor sure = M::sub(0.9277, M::div(3.6224, M::sub(b, 2.0)));
  return accepted(M::floor(rate), [&](const Tensor& u, const Tensor& v) {
    Tensor us = M::sub(0.5, M::abs(u));
    Tensor slope = M::add(M::div(M::mul(a, 2.0), us), b);
    Tensor k = M::floor(M::add(M::add(M::mul(slope, u), rate), 0.43));
    Tensor fast = both(M::ge(us, 0.07), M::le(v, sure));
    Tensor width = M::add(M::div(a, M::square(us)), b);
    Tensor left = M::log(M::div(M::mul(v, inverse), width));
    Tensor right = M::sub(M::sub(M::mul(k, log_rate), rate), factorial(k));
    Tensor slow = both(M::ge(k, 0.0), M::le(left, right));
    return std::pair(both(M::logical_or(fast, slow), M::ge(k, 0.0)), k);
  });
}

Outputs poisson(Args a) {
  Tensor x = a.tensor(0);
  require_float("poisson", x);
  Tensor rate = M::cast(x, DType::f64);
  Tensor small = D::few_events(fine_uniform(x.shape(), x.device()), rate);
  Tensor large = many_events(M::clamp_min(rate, kFew));
  return {M::cast(M::where(M::lt(rate, kFew), small, large), x.dtype())};
}

/// The same for the successes among n trials of chance p <= 0.5 (Hoermann 1993).
Tensor many_successes(const Tensor& n, const Tensor& p) {
  Tensor q = M::sub(1.0, p), log_odds = M::log(M::div(p, q));
  Tensor spread = M::sqrt(M::mul(M::mul(n, p), q));
  Tensor b = M::add(M::mul(spread, 2.53), 1.15);
  Tensor a = M::add(M::add(M::mul(b, 0.0248), M::mul(p, 0.01)), -0.0873);
  Tensor centre = M::add(M::mul(n, p), 0.5);
  Tensor sure = M::sub(0.92, M::div(4.2, b));
  Tensor alpha = M::mul(M::add(M::div(5.1, b), 2.83), spread);
  Tensor mode = M::floor(M::mul(M::add(n, 1.0), p));
  Tensor top = M::add(factorial(mode), factorial(M::sub(n, mode)));
  return accepted(mode, [&](const Tensor& u, const Tensor& v) {
    Tensor us = M::sub(0.5, M::abs(u));
    Tensor k = M::floor(M::add(M::mul(M::add(M::div(M::mul(a, 2.0), us), b), u), centre));
    Tensor inside = both(M::ge(k, 0.0), M::le(k, n));
    Tensor fast = both(M::ge(us, 0.07), M::le(v, sure));
    Tensor left = M::log(M::div(M::mul(v, alpha), M::add(M::div(a, M::square(us)), b)));
    Tensor ways = M::sub(M::sub(top, factorial(k)), factorial(M::sub(n, k)));
    Tensor right = M::add(ways, M::mul(M::sub(k, mode), log_odds));
    return std::pair(both(inside, M::logical_or(fast, M::le(left, right))), k);
  });
}

Outputs binomial(Args a) {
  Tensor count = a.tensor(0), prob = a.tensor(1);
  require_float("binomial", count);
  Tensor n = M::cast(count, DType::f64), p = M::cast(prob, DType::f64);
  Tensor sum = M::add(n, p);
  Tensor turned = M::gt(p, 0.5);
  Tensor rarer = M::where(turned, M::sub(1.0, p), p);
  Tensor small = D::few_successes(fine_uniform(sum.shape(), sum.device()), n, rarer);
  Tensor mean = M::mul(n, rarer);
  Tensor enough = M::ge(mean, kFew);
  Tensor large = many_successes(M::where(enough, n, 2 * kFew), M::where(enough, rarer, 0.5));
  Tensor k = M::where(enough, large, small);
  return {M::cast(M::where(turned, M::sub(n, k), k), count.dtype())};
}

/// Marsaglia and Tsang (2000); shapes below 1 by one above it and a power of a uniform number.
Outputs standard_gamma(Args a) {
  Tensor x = a.tensor(0);
  require_float("standard_gamma", x);
  Tensor shape = M::cast(x, DType::f64);
  Tensor low = M::lt(shape, 1.0);
  Tensor d = M::sub(M::where(low, M::add(shape, 1.0), shape), 1.0 / 3);
  Tensor c = M::rsqrt(M::mul(d, 9.0));
  Tensor found = d;
  for (int i = 0; i < kRounds; ++i) {
    Tensor noise = C::randn(x.shape(), DType::f64, x.device());
    Tensor u = fine_uniform(x.shape(), x.device());
    Tensor root = M::add(M::mul(c, noise), 1.0);
    Tensor v = M::mul(M::mul(root, root), root);
    Tensor bound =
        M::add(M::mul(M::square(noise), 0.5), M::mul(d, M::add(M::sub(1.0, v), M::log(v))));
    Tensor ok = both(M::gt(root, 0.0), M::lt(M::log1p(M::neg(u)), bound));
    found = M::where(ok, M::mul(d, v), found);
  }
  Tensor u = M::log1p(M::neg(fine_uniform(x.shape(), x.device())));
  Tensor scaled = M::mul(found, M::exp(M::div(u, shape)));
  return {M::cast(M::where(low, scaled, found), x.dtype())};
}

void add_counts(Definitions& r) {
  const Extra part{.domain = floating, .no_grad = true, .places = kNowhere};
  Extra e = part;
  e.doc = "The events at this rate (below 10) of which a uniform number is the chance.";
  r.elementwise(
      "few_events(Tensor uniform, Tensor rate) -> Tensor",
      [](Expr u, Expr rate) {
        Expr k =
            invert(u, exp(-rate), [&](int i, Expr chance) { return chance * rate / (i + 1.0); });
        return check(le(0, rate), k, kNegativeRate);
      },
      e);
  e.doc = "The successes among count trials of which a uniform number is the chance.";
  r.elementwise(
      "few_successes(Tensor uniform, Tensor count, Tensor prob) -> Tensor",
      [](Expr u, Expr n, Expr p) {
        Expr odds = p / (1.0 - p);
        Expr k = invert(u, exp(n * log1p(-p)), [&](int i, Expr chance) {
          return chance * odds * (n - static_cast<double>(i)) / (i + 1.0);
        });
        Expr fits = le(0, n) & le(0, p) & le(p, 1);
        return check(fits, pmin(k, n), kNoProbability);
      },
      e);
  r.composite("poisson(Tensor input) -> Tensor", poisson,
              draws("How many events there are at the rate that input has there.", kFunction));
  r.composite("binomial(Tensor count, Tensor prob) -> Tensor", binomial,
              draws("How many of count trials succeed, each with probability prob.", kFunction));
  r.composite("standard_gamma(Tensor alpha) -> Tensor", standard_gamma,
              draws("Gamma with this shape and rate 1.", kNowhere));
}

}  // namespace

Tensor exponential_noise(const Tensor& x) {
  // A uniform number of 0 stands for all below the next one.
  double least = x.dtype() == DType::f64 ? 0x1p-54 : 0x1p-25;
  if (x.dtype() == DType::f16) least = 0x1p-24;  // its smallest
  return M::clamp_min(M::neg(M::log1p(M::neg(uniform_like(x)))), least);
}

void add_random_definitions(Definitions& r) {
  add_written(r);
  add_normal(r);
  add_choices(r);
  add_counts(r);
}

}  // namespace lathe
