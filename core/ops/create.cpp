// Tensors from nothing. Bodies of create and random definitions get a zero of the dtype first, then
// the numbers.
#include <absl/strings/str_cat.h>

#include <cmath>
#include <numbers>

#include "core/base/checks.h"
#include "core/infer/rules.h"
#include "core/ops/families.h"
#include "include/lathe/ops/create.h"

namespace lathe {
namespace {

using C = create_ops<Tensor>;

DType dtype_or_default(const Arg& a) { return a.none() ? default_dtype() : a.dtype_; }
Device device_of(const Arg& a) { return a.none() ? Device{} : a.device_; }

Shape checked_shape(std::string_view op, Shape shape) {
  for (Int s : shape)
    if (!require(Relation::le, Int(0), s))
      throw ValueError({.op = std::string(op),
                        .problem = "a negative size",
                        .got = to_string(shape),
                        .expected = "sizes of 0 or more",
                        .next = "check how the size was computed"});
  return shape;
}

DType number_dtype(const Arg& value) {
  if (value.tag == Tag::flag) return DType::bool_;
  return value.tag == Tag::integer ? DType::i64 : default_dtype();
}

Types infer_full(Args a) {
  DType dtype = a.none(2) ? number_dtype(a[1]) : a.dtype(2);
  require_in_range("full", dtype, a[1]);
  return {TensorType{dtype, checked_shape("full", a.ints(0)), device_of(a[3])}};
}

double number(const Arg& a) {
  if (a.tag == Tag::real) return a.real().value();
  return a.tag == Tag::flag ? a.flag_ : static_cast<double>(a.integer().value());
}

[[noreturn]] void wrong_way(const char* op, Args a) {
  throw ValueError(
      {.op = op,
       .problem = "the step leads away from the end",
       .got = absl::StrCat(to_string(a[0]), " to ", to_string(a[1]), ", step ", to_string(a[2])),
       .expected = "start <= end for a step above 0, end <= start for one below",
       .next = "change the sign of the step, or exchange the bounds"});
}

/// How many steps: ceil((end - start) / step), or, where the end counts, the whole part of that
/// plus one; exactly for integers and symbols.
Types infer_steps(const char* op, Args given, bool closed) {
  absl::InlinedVector<Arg, 5> all(given.begin(), given.end());
  for (Arg& x : all)
    if (x.tag == Tag::flag) x = Arg(Int(x.flag_ ? 1 : 0));
  const Args a = absl::MakeConstSpan(all);
  bool ints = a[0].tag == Tag::integer && a[1].tag == Tag::integer && a[2].tag == Tag::integer;
  DType dtype = !a.none(3) ? a.dtype(3) : ints && !closed ? DType::i64 : default_dtype();
  // In int64, PyTorch takes the whole parts of the numbers first.
  auto number_of = [dtype](const Arg& x) {
    return dtype == DType::i64 ? std::trunc(number(x)) : number(x);
  };
  bool zero_step = ints ? !require(Relation::ne, a.integer(2), Int(0)) : number_of(a[2]) == 0;
  if (zero_step)
    throw ValueError({.op = op,
                      .problem = "the step is zero",
                      .got = to_string(a[2]),
                      .expected = "a step above or below 0",
                      .next = "use full() for one value many times"});
  Int count;
  if (ints) {
    Int start = a.integer(0), end = a.integer(1), step = a.integer(2);
    const bool down = step < Int(0);
    if (!require(Relation::le, down ? end : start, down ? start : end)) wrong_way(op, a);
    count = closed ? floor_div(end - start, step) + 1 : ceil_div(end - start, step);
    if (is_integer(dtype) && dtype != DType::i64) {
      require_in_range(op, dtype, a[0]);
      // Of no elements, the last one is the one before the start: on the side that is not asked.
      Int last = start + (count - 1) * step;
      require_in_range(op, dtype, Arg(down ? min(start, last) : max(start, last)));
    }
  } else {
    const double start = number_of(a[0]), end = number_of(a[1]), step = number_of(a[2]);
    if (!(step > 0 ? start <= end : end <= start)) wrong_way(op, a);
    const double steps = (end - start) / step;
    double n = closed ? std::floor(steps) + 1 : std::ceil(steps);
    if (!(n < 0x1p62))
      throw OverflowError({.op = op,
                           .problem = "too many elements",
                           .got = absl::StrCat(start, " to ", end),
                           .expected = "fewer than 2^62",
                           .next = "check the step"});
    count = n > 0 ? Int(static_cast<int64_t>(n)) : Int(0);
    if (n > 0) {
      require_in_range(op, dtype, start);
      require_in_range(op, dtype, start + (n - 1) * step);
    }
  }
  return {TensorType{dtype, {count}, device_of(a[4])}};
}

Types infer_arange(Args a) { return infer_steps("arange", a, false); }
Types infer_range(Args a) { return infer_steps("range", a, true); }

Types infer_linspace(Args a) {
  return {TensorType{dtype_or_default(a[3]), checked_shape("linspace", {a.integer(2)}),
                     device_of(a[4])}};
}

Types infer_eye(Args a) {
  Int n = a.integer(0), m = a.none(1) ? n : a.integer(1);
  return {TensorType{dtype_or_default(a[2]), checked_shape("eye", {n, m}), device_of(a[3])}};
}

Types infer_random(Args a) {
  return {TensorType{dtype_or_default(a[1]), checked_shape("random", a.ints(0)), device_of(a[2])}};
}

Types infer_bernoulli(Args a) {
  const Real p = a.real(1);
  if (!(p >= 0 && p <= 1))
    throw ValueError({.op = "bernoulli",
                      .problem = "the probability p is outside of [0, 1]",
                      .got = absl::StrCat("p=", to_string(Real(p.hint()))),
                      .expected = "0 <= p <= 1",
                      .next = "p is a probability in [0, 1], not a percentage"});
  return {
      TensorType{dtype_or_default(a[2]), checked_shape("bernoulli", a.ints(0)), device_of(a[3])}};
}

/// A whole number below `range` (u64), which is at most 2^63. Fixed-point multiplication: bias
/// below 2^-32 times the range (Lemire 2019). Above 2^32, where one random word would not do, 64 of
/// the 128 bits of a product with two words; up to there the second is not looked at.
Expr below(Expr range) {
  const DType u64 = DType::u64;
  const auto low_half = [](Expr x) { return x & constant_bits(DType::u64, 0xFFFFFFFF); };
  Expr high = shr(range, 32), low = low_half(range), none = constant_bits(u64, 0);
  Expr first = cast(random_word(0), u64);
  Expr second = select(lt(none, high), cast(random_word(1), u64), none);
  Expr upper = first * low, lower = second * high;
  Expr carried = low_half(upper) + low_half(lower) + shr(second * low, 32);
  return first * high + shr(upper, 32) + shr(lower, 32) + shr(carried, 32);
}

Types infer_randint(Args a) {
  if (!require(Relation::lt, a.integer(0), a.integer(1)))
    throw ValueError({.op = "randint",
                      .problem = "low must be below high",
                      .got = absl::StrCat(to_string(a[0]), " and ", to_string(a[1])),
                      .expected = "low < high",
                      .next = "randint(low, high) leaves high itself out: add 1"});
  DType dtype = a.none(3) ? DType::i64 : a.dtype(3);
  require_in_range("randint", dtype, a[0]);
  require_in_range("randint", dtype, Arg(a.integer(1) - 1));
  return {TensorType{dtype, checked_shape("randint", a.ints(2)), device_of(a[4])}};
}

/// Uniform in [0, 1): 24 random bits for f32, 53 for f64; `word` picks which of the four to use.
Expr uniform(DType d, int word) {
  if (d == DType::f64) {
    Expr high = cast(shr(random_word(word), 5), d), low = cast(shr(random_word(word + 1), 6), d);
    return (high * 67108864.0 + low) * 0x1p-53;
  }
  return cast(shr(random_word(word), 8), d) * 0x1p-24;
}

/// In few digits what is just below 1 would be rounded to 1.
Expr uniform_body(Expr zero) {
  const DType stored = real_type(zero.dtype()), d = compute_type(stored);
  Expr one = uniform(d, 0);
  const Expr largest = constant(d, 1 - (stored == DType::f16 ? 0x1p-11 : 0x1p-8));
  if (stored != d) one = pmin(one, largest);
  return is_complex(zero.dtype()) ? complex(one, uniform(d, 2)) : one;
}

/// Box and Muller (1958): two uniforms give one normal, or the two parts of a complex one, each of
/// variance 1/2. The first is moved to (0, 1].
Expr normal_body(Expr zero) {
  const DType d = compute_type(real_type(zero.dtype()));
  Expr u = 1.0 - uniform(d, 0), angle = (2 * std::numbers::pi) * uniform(d, 2);
  if (!is_complex(zero.dtype())) return sqrt(-2.0 * log(u)) * cos(angle);
  Expr radius = sqrt(-log(u));
  return complex(radius * cos(angle), radius * sin(angle));
}

Extra nowhere(Extra e) {
  e.places = kNowhere;
  return e;
}

Extra over(DTypeSet domain, std::string_view doc) {
  return {.domain = domain, .no_grad = true, .doc = doc};
}

/// `steps` numbers from `start` to `end`, each from the nearer end, so that both are exact.
Expr evenly(Expr start, Expr end, Expr steps) {
  const DType d = start.dtype();
  Expr i = cast(index(0), d), last = cast(steps, d) - 1.0;
  Expr step = (end - start) / select(lt(0.0, last), last, constant(d, 1));
  return select(lt(i + i, last + 1.0), start + i * step, end - (last - i) * step);
}

/// In f64 for integers; the ends of a complex one are real numbers, or linspace.ends has them.
Expr spaced_body(Expr zero, Expr start, Expr end, Expr steps) {
  const DType given = zero.dtype(), d = is_integer(given) ? DType::f64 : real_type(given);
  auto real_of = [d](Expr e) { return cast(is_complex(e.dtype()) ? real(e) : e, d); };
  return cast(evenly(real_of(start), real_of(end), real_of(steps)), given);
}

Expr step_by_step(Expr zero, Expr start, Expr, Expr step) {
  return start + cast(index(0), zero.dtype()) * step;
}

void add_constant(Definitions& r) {
  r.create(
      "full(int[] size, Scalar fill_value, *, dtype? dtype=None, device? device=None) -> Tensor",
      infer_full, [](Expr, Expr value) { return value; },
      {.no_grad = true,
       .doc = "value everywhere; its type decides the dtype unless one is given."});
  r.create(
      "arange(Scalar start, Scalar end, Scalar step=1, *, dtype? dtype=None, device? device=None) "
      "-> "
      "Tensor",
      infer_arange, step_by_step,
      {.domain = real_numbers,
       .no_grad = true,
       .doc =
           "start, start + step, ... below end; each is start + i * step, rounded once a step."});
  r.create(
      "range(Scalar start, Scalar end, Scalar step=1, *, dtype? dtype=None, device? device=None) "
      "-> "
      "Tensor",
      infer_range, step_by_step,
      {.domain = real_numbers,
       .no_grad = true,
       .places = kFunction,
       .doc = "start, start + step, ... up to end, which counts; of the default dtype unless one "
              "is given, for integers too. PyTorch's older form of arange."});
  r.create(
      "linspace(Scalar start, Scalar end, int steps, *, dtype? dtype=None, device? device=None) -> "
      "Tensor",
      infer_linspace, spaced_body,
      over(numbers, "steps evenly spaced numbers from start to end, both included."));
  r.create(
      "eye(int n, int? m=None, *, dtype? dtype=None, device? device=None) -> Tensor", infer_eye,
      [](Expr zero) { return select(eq(index(0), index(1)), constant(zero.dtype(), 1), zero); },
      {.no_grad = true, .doc = "Ones on the diagonal of an n x m matrix, zeros elsewhere."});
}

void add_random(Definitions& r) {
  r.random("rand(int[] size, *, dtype? dtype=None, device? device=None) -> Tensor", infer_random,
           uniform_body,
           over(differentiable,
                "Uniform in [0, 1), both parts of a complex number. Philox4x32-10 keyed by seed, "
                "call and element: the same stream in "
                "every mode and for any thread count (Salmon et al. 2011)."));
  r.random("randn(int[] size, *, dtype? dtype=None, device? device=None) -> Tensor", infer_random,
           normal_body,
           over(differentiable,
                "Normal with mean 0 and variance 1, of a complex number 1/2 in each part (Box and "
                "Muller 1958)."));
  r.random(
      "bernoulli.size(int[] size, float p, *, dtype? dtype=None, device? device=None) -> Tensor",
      infer_bernoulli,
      [](Expr zero, Expr p) {
        DType d = zero.dtype();
        return select(lt(uniform(d, 0), p), constant(d, 1), zero);
      },
      nowhere(over(floating, "1 with probability p, else 0.")));
  r.random(
      "randint(int low, int high, int[] size, *, dtype? dtype=None, device? device=None) -> Tensor",
      infer_randint,
      [](Expr zero, Expr low, Expr high) {
        return cast(low + cast(below(cast(high - low, DType::u64)), DType::i64), zero.dtype());
      },
      {.domain = real_dtypes, .no_grad = true, .doc = "Uniform integers in [low, high)."});
}

template <class F>
void add_likes(Definitions& r, std::string_view schema, F make, std::string_view doc) {
  r.composite(schema, make, {.no_grad = true, .places = kFunction, .moves = true, .doc = doc});
}

}  // namespace

Arg like_dtype(Args a, int at) {
  return a.none(at) ? Arg(a.tensor(0).dtype()) : a[static_cast<size_t>(at)];
}

Arg like_device(Args a, int at) {
  return a.none(at) ? Arg(a.tensor(0).device()) : a[static_cast<size_t>(at)];
}

void add_create_definitions(Definitions& r) {
  add_constant(r);
  add_random(r);
  r.elementwise("bernoulli_of(Tensor uniform, Tensor input) -> Tensor",
                [](Expr u, Expr p) {
                  Expr drawn = select(lt(u, p), constant(p.dtype(), 1), 0);
                  return check(le(0, p) & le(p, 1), drawn, kNoProbability);
                },
                {.domain = floating,
                 .no_grad = true,
                 .places = kNowhere,
                 .doc = "1 where a uniform number is below the probability input, else 0."});
  add_likes(
      r, "zeros(int[] size, *, dtype? dtype=None, device? device=None) -> Tensor",
      [](Args a) -> Outputs { return {C::full(a.ints(0), 0, dtype_or_default(a[1]), a[2])}; },
      "Zeros.");
  add_likes(
      r, "ones(int[] size, *, dtype? dtype=None, device? device=None) -> Tensor",
      [](Args a) -> Outputs { return {C::full(a.ints(0), 1, dtype_or_default(a[1]), a[2])}; },
      "Ones.");
  add_likes(
      r, "zeros_like(Tensor input, *, dtype? dtype=None, device? device=None) -> Tensor",
      [](Args a) -> Outputs {
        return {C::full(a.shape(0), 0, like_dtype(a, 1), like_device(a, 2))};
      },
      "Zeros of x's shape.");
  add_likes(
      r, "ones_like(Tensor input, *, dtype? dtype=None, device? device=None) -> Tensor",
      [](Args a) -> Outputs {
        return {C::full(a.shape(0), 1, like_dtype(a, 1), like_device(a, 2))};
      },
      "Ones of x's shape.");
  add_likes(
      r,
      "full_like(Tensor input, Scalar fill_value, *, dtype? dtype=None, device? device=None) -> "
      "Tensor",
      [](Args a) -> Outputs {
        return {C::full(a.shape(0), a[1], like_dtype(a, 2), like_device(a, 3))};
      },
      "value in x's shape and dtype.");
}

}  // namespace lathe
