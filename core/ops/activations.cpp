// The rest of the activations: those of core/ops/nn.cpp are what everything else is built on. And
// dropout in its variants. Functions with a kink have their derivative at the kink from the branch
// that the value is taken from, or 0 where both sides are level.
#include "include/lathe/ops/activations.h"

#include <absl/strings/str_cat.h>

#include <cmath>
#include <utility>

#include "core/ops/families.h"
#include "core/ops/names.h"
#include "core/ops/noise.h"

namespace lathe {
namespace {

using A = activation_ops<Tensor>;
using namespace names;

/// Of floats, integers converted; by default in nn.functional alone.
Extra of_floats(std::string_view doc, uint8_t places = kFunctional) {
  Extra e{.domain = floating, .promote = Promote::to_float, .places = places};
  e.doc = doc;
  return e;
}
Extra with_inplace(Extra e) {
  e.inplace_argument = true;
  return e;
}

// ── exponential units ───────────────────────────────────────────────────────────────────────────

// The fixed point of selu (Klambauer et al. 2017, section 2).
constexpr double kAlpha = 1.6732632423543772848170429916717;
constexpr double kScale = 1.0507009873554804934193349852946;

/// scale * x above 0, scale * alpha * (exp(x / width) - 1) below.
Expr exponential_unit(Expr x, Expr alpha, Expr scale, Expr width) {
  Expr above = lt(0, x);
  Expr below = select(above, 0.0, x);
  return select(above, scale * x, scale * alpha * unary(Prim::expm1, below / width));
}

/// By way of exp: the value + 1 has lost its digits where it is near 0.
Grads exponential_unit_grad(Grad g, const Arg& alpha, double scale, const Arg& width) {
  Tensor x = g.x(0), power = M::exp(M::div(M::where(M::gt(x, 0), 0, x), width));
  Tensor below = M::div(M::mul(M::mul(g.dy(), power), alpha), width);
  Tensor slope = M::where(M::le(x, 0), below, g.dy());
  return {scale == 1 ? slope : M::mul(slope, scale)};
}
Extra with_rule(Extra e, GradRule rule) {
  e.saves = save_x(0);
  e.grad = rule;
  return e;
}

Outputs celu_expansion(Args a) {
  const Real alpha = a.real(1);
  if (alpha == 0)
    throw ValueError({.op = "celu",
                      .problem = "alpha is 0",
                      .got = "alpha=0",
                      .expected = "any other number",
                      .next = "relu is the limit for small alpha"});
  return {A::celu_width(a.tensor(0), a[1])};
}

void add_exponential(Definitions& r) {
  r.elementwise(
      "elu(Tensor input, float alpha=1.0) -> Tensor",
      [](Expr x, Expr alpha) { return exponential_unit(x, alpha, 1.0, 1.0); },
      with_rule(
          with_inplace(of_floats("x above 0, alpha (exp(x) - 1) below (Clevert et al. 2015).")),
          [](Grad g) { return exponential_unit_grad(g, g.arg(1), 1, Arg(1.0)); }));
  r.elementwise(
      "selu(Tensor input) -> Tensor",
      [](Expr x) { return exponential_unit(x, kAlpha, kScale, 1.0); },
      with_rule(with_inplace(of_floats("elu with the alpha and the scale that keep mean "
                                       "0 and variance 1 (Klambauer et al. 2017).",
                                       kFunction | kFunctional)),
                [](Grad g) { return exponential_unit_grad(g, Arg(kAlpha), kScale, Arg(1.0)); }));
  r.elementwise(
      "celu_width(Tensor input, float alpha) -> Tensor",
      [](Expr x, Expr alpha) { return exponential_unit(x, alpha, 1.0, alpha); },
      with_rule(of_floats("celu for an alpha that is not 0.", kNowhere),
                [](Grad g) { return exponential_unit_grad(g, g.arg(1), 1, g.arg(1)); }));
  r.composite("celu(Tensor input, float alpha=1.0) -> Tensor", celu_expansion,
              {.places = kFunction | kFunctional,
               .inplace = true,
               .inplace_argument = true,
               .moves = true,
               .doc = "x above 0, alpha (exp(x / alpha) - 1) below (Barron 2017)."});
  r.elementwise(
      "mish(Tensor input) -> Tensor",
      // tanh(log(1 + e)) = n / (n + 2) with n = e (e + 2); 1 for every large x.
      [](Expr x) {
        Expr e = exp(select(lt(20.0, x), 20.0, x)), n = e * (e + 2.0);
        return x * (n / (n + 2.0));
      },
      with_inplace(of_floats("x tanh(log(1 + exp(x))) (Misra 2019).")));
  r.elementwise(
      "logsigmoid(Tensor input) -> Tensor",
      [](Expr x) { return select(lt(0, x), 0.0, x) - log1p(exp(-abs(x))); },
      with_rule(of_floats("log(sigmoid(x)), without overflow."),
                [](Grad g) { return Grads{M::mul(g.dy(), M::sigmoid(M::neg(g.x(0))))}; }));
}

// ── pieces of straight lines ────────────────────────────────────────────────────────────────────

/// low up to `from`, high from `to` on, and `between` inside; a NaN is inside.
Expr clipped(Expr x, Expr from, Expr to, Expr low, Expr high, Expr between) {
  return select(le(x, from), low, select(le(to, x), high, between));
}

Expr sixth(Expr x) { return (x + 3.0) * (1.0 / 6); }

void require_ordered(std::string_view op, std::string_view low, std::string_view high, Real from,
                     Real to) {
  if (from <= to) return;
  throw ValueError({.op = std::string(op),
                    .problem = absl::StrCat(low, " is above ", high),
                    .got = absl::StrCat(low, "=", from.hint(), ", ", high, "=", to.hint()),
                    .expected = absl::StrCat(low, " <= ", high),
                    .next = "exchange the two"});
}

Outputs hardtanh_expansion(Args a) {
  require_ordered("hardtanh", "min_val", "max_val", a.real(1), a.real(2));
  return {A::hard_limits(a.tensor(0), a[1], a[2])};
}

Outputs softshrink_expansion(Args a) {
  if (!(a.real(1) >= 0))
    throw ValueError({.op = "softshrink",
                      .problem = "lambd is negative or NaN",
                      .got = absl::StrCat("lambd=", a.real(1).hint()),
                      .expected = "lambd >= 0",
                      .next = "lambd is how far values are moved towards 0"});
  return {A::shrink_by(a.tensor(0), a[1])};
}

void add_hard(Definitions& r) {
  r.elementwise("hard_limits(Tensor input, Scalar low, Scalar high) -> Tensor",
                [](Expr x, Expr low, Expr high) { return clipped(x, low, high, low, high, x); },
                {.domain = real_numbers,
                 .promote = Promote::first,
                 .places = kNowhere,
                 .moves = true,
                 .doc = "x limited to [low, high]; at the limits the derivative is 0."});
  r.composite("hardtanh(Tensor input, float min_val=-1.0, float max_val=1.0) -> Tensor",
              hardtanh_expansion,
              {.places = kFunctional,
               .inplace = true,
               .inplace_argument = true,
               .moves = true,
               .doc = "x limited to [min_val, max_val]; at the limits the derivative is 0."});
  r.composite("relu6(Tensor input) -> Tensor",
              [](Args a) -> Outputs { return {A::hard_limits(a.tensor(0), 0, 6)}; },
              {.places = kFunctional,
               .inplace = true,
               .inplace_argument = true,
               .moves = true,
               .doc = "x limited to [0, 6] (Krizhevsky 2010)."});
  r.elementwise(
      "hardsigmoid(Tensor input) -> Tensor",
      [](Expr x) { return clipped(x, -3.0, 3.0, 0.0, 1.0, sixth(x)); },
      with_rule(with_inplace(of_floats("(x + 3) / 6 limited to [0, 1].")), [](Grad g) {
        return Grads{M::where(M::lt(M::abs(g.x(0)), 3.0), M::mul(g.dy(), 1.0 / 6), 0)};
      }));
  Extra swish =
      with_inplace(of_floats("x times (x + 3) / 6 limited to [0, 1] (Howard et al. 2019)."));
  swish.version = 2;
  r.elementwise(
      "hardswish(Tensor input) -> Tensor",
      // x times what hardsigmoid gives, so x * 0 below; a NaN is x.
      [](Expr x) {
        Expr rest = select(lt(x, 3.0), x * sixth(x), x);
        return select(le(x, -3.0), x * 0.0, rest);
      },
      with_rule(swish, [](Grad g) {
        Tensor x = g.x(0), slope = M::add(M::mul(x, 1.0 / 3), 0.5);
        Tensor rest = M::where(M::lt(x, 3.0), M::mul(g.dy(), slope), g.dy());
        return Grads{M::where(M::le(x, -3.0), 0, rest)};
      }));
  r.elementwise(
      "hardshrink(Tensor input, float lambd=0.5) -> Tensor",
      [](Expr x, Expr lambd) { return select(le(abs(x), lambd), 0.0, x); },
      of_floats("x, or 0 where |x| is at most lambd.", kEverywhere));
  r.elementwise(
      "shrink_by(Tensor input, float lambd) -> Tensor",
      [](Expr x, Expr lambd) {
        return select(le(abs(x), lambd), x * 0.0, select(lt(0, x), x - lambd, x + lambd));
      },
      of_floats("softshrink by a lambd that is not negative.", kNowhere));
  r.composite(
      "softshrink(Tensor input, float lambd=0.5) -> Tensor", softshrink_expansion,
      {.places = kFunctional, .moves = true, .doc = "x moved towards 0 by lambd, at most to 0."});
  r.elementwise("threshold(Tensor input, Scalar threshold, Scalar value) -> Tensor",
                [](Expr x, Expr bound, Expr value) { return select(le(x, bound), value, x); },
                {.domain = real_numbers,
                 .promote = Promote::first,
                 .places = kFunction | kFunctional,
                 .inplace_argument = true,
                 .doc = "x above threshold, else value."});
  r.elementwise(
      "softsign(Tensor input) -> Tensor", [](Expr x) { return x / (1.0 + abs(x)); },
      of_floats("x / (1 + |x|)."));
  r.elementwise(
      "tanhshrink(Tensor input) -> Tensor", [](Expr x) { return x - tanh(x); },
      of_floats("x - tanh(x)."));
}

// ── slopes below 0 ──────────────────────────────────────────────────────────────────────────────

Outputs prelu_expansion(Args a) {
  Tensor x = a.tensor(0), w = a.tensor(1);
  if (w.rank() > 1)
    throw ShapeError({.op = "prelu",
                      .problem = "the weight has more than one axis",
                      .got = to_string(w.shape()),
                      .expected = "one number, or one a channel",
                      .next = "flatten it"});
  if (w.rank() == 1 && !(w.size(0) == Int(1))) {
    const Int channels = x.rank() > 1 ? x.size(1) : Int(1);
    if (!require(Relation::eq, w.size(0), channels))
      throw ShapeError(
          {.op = "prelu",
           .problem = "the weight has not one number a channel",
           .got = absl::StrCat(to_string(w.shape()), " for input", to_string(x.shape())),
           .expected = absl::StrCat("[", to_string(channels), "]"),
           .next = "channels are the input's axis 1"});
    Shape spread{w.size(0)};
    for (int i = 2; i < x.rank(); ++i) spread.push_back(Int(1));
    w = S::reshape(w, spread);
  } else if (w.rank() == 1 && x.rank() == 0) {
    w = S::reshape(w, Shape{});
  }
  return {A::slope_below(x, w)};
}

Outputs rrelu_expansion(Args a) {
  Tensor x = a.tensor(0);
  const Real lower = a.real(1), upper = a.real(2);
  require_ordered("rrelu", "lower", "upper", lower, upper);
  if (!a.flag(3)) return {N::leaky_relu(x, (lower + upper) / 2)};
  const DType compute = compute_type(x.dtype());
  Tensor slope = C::rand(x.shape(), compute, x.device());
  slope = M::add(M::mul(slope, Arg(upper - lower)), Arg(lower));
  Tensor y = A::slope_below(x, slope);
  return {y.dtype() == x.dtype() ? y : M::cast(y, x.dtype())};
}

void add_slopes(Definitions& r) {
  r.elementwise(
      "slope_below(Tensor input, Tensor weight) -> Tensor",
      [](Expr x, Expr w) { return select(lt(0, x), x, x * w); },
      of_floats("x above 0, else weight * x.", kNowhere));
  r.composite("prelu(Tensor input, Tensor weight) -> Tensor", prelu_expansion,
              {.places = kEverywhere,
               .moves = true,
               .doc = "x above 0, else weight * x, with one weight or one a channel (He et al. "
                      "2015)."});
  r.composite(
      "rrelu(Tensor input, float lower=0.125, float upper=0.3333333333333333, bool "
      "training=False) -> Tensor",
      rrelu_expansion,
      {.places = kFunction | kFunctional,
       .inplace = true,
       .inplace_argument = true,
       .moves = true,
       .doc = "x above 0, else x times a slope: in training drawn from [lower, upper] for "
              "each element, else their mean (Xu et al. 2015)."});
}

// ── along an axis ───────────────────────────────────────────────────────────────────────────────

Outputs glu_expansion(Args a) {
  Tensor x = a.tensor(0);
  const Int dim = a.integer(1);
  const int axis = normalise_axis("glu", dim.value(), x.rank());
  const Int size = x.size(axis);
  const Int half = floor_div(size, Int(2));
  if (!require(Relation::eq, half * 2, size))
    throw ShapeError({.op = "glu",
                      .problem = "the axis that is halved has an odd size",
                      .got = absl::StrCat(to_string(x.shape()), ", dim ", to_string(dim)),
                      .expected = "an even size",
                      .next = "one half is the gate of the other"});
  Shape halves =
      x.shape();  // as an axis of two: the size of each is then `half`, whatever is known
  halves[static_cast<size_t>(axis)] = half;
  halves.insert(halves.begin() + axis, Int(2));
  Tensor both = S::reshape(x, halves);
  return {M::mul(S::select(both, axis, 0), M::sigmoid(S::select(both, axis, 1)))};
}

/// Gumbel noise is the logarithm of an exponential variable, negated.
Outputs gumbel_softmax_expansion(Args a) {
  Tensor x = a.tensor(0);
  const Int dim = a.integer(4);
  Tensor noise;
  {
    GradMode no_grad(false);
    noise = M::neg(M::log(exponential_noise(x)));
    if (noise.dtype() != x.dtype()) noise = M::cast(noise, x.dtype());
  }
  Tensor soft = N::softmax(M::div(M::add(x, noise), a[1]), dim);
  if (!a.flag(2)) return {soft};
  Tensor hard, rest;
  {
    GradMode no_grad(false);
    Tensor index = R::argmax(soft, dim, true);
    hard = I::scatter(M::mul(soft, 0), dim, index, 1.0);
    rest = M::sub(hard, soft);
  }
  // The values of `hard` with the derivative of `soft`.
  return {M::add(rest, soft)};
}

void add_gates(Definitions& r) {
  r.composite(
      "glu(Tensor input, int dim=-1) -> Tensor", glu_expansion,
      {.places = kFunctional,
       .doc = "The first half along dim times sigmoid of the second (Dauphin et al. 2016)."});
  r.composite(
      "softmin(Tensor input, int? dim=None, int _stacklevel=3, dtype? dtype=None) -> Tensor",
      [](Args a) -> Outputs {
        const Tensor negated = M::neg(a.tensor(0));
        const Arg args[] = {Arg(negated), a[1], a[2], a[3]};
        return call(get_op("softmax.functional"), Args(args, 4));
      },
      {.places = kFunctional, .moves = true, .doc = "softmax(-input) along dim."});
  r.composite(
      "gumbel_softmax(Tensor logits, float tau=1, bool hard=False, float eps=1e-10, int "
      "dim=-1) -> Tensor",
      gumbel_softmax_expansion,
      {.places = kFunctional,
       .doc = "softmax of the logits with Gumbel noise over tau (Jang et al. 2016); if hard, "
              "1 at its largest element, with the derivative of the softmax. eps has no "
              "effect."});
}

}  // namespace

void add_activation_definitions(Definitions& r) {
  add_exponential(r);
  add_hard(r);
  add_slopes(r);
  add_gates(r);
}

}  // namespace lathe
