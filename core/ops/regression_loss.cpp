// Losses of numbers and of probabilities, element by element. As all losses: composites, so that
// their derivatives are those of their parts.
#include <absl/strings/str_cat.h>

#include <cmath>
#include <numbers>

#include "core/base/checks.h"
#include "core/infer/rules.h"
#include "core/ops/losses.h"
#include "core/ops/names.h"
#include "include/lathe/ops/loss.h"

namespace lathe {
namespace {

using namespace names;
using L = loss_ops<Tensor>;

void require_positive(std::string_view op, std::string_view param, Real value, bool or_zero) {
  if (or_zero ? value >= 0 : value > 0) return;
  throw ValueError({.op = std::string(op),
                    .problem = absl::StrCat(param, or_zero ? " is negative" : " is not positive"),
                    .got = absl::StrCat(param, "=", to_string(value)),
                    .expected = or_zero ? "0 or more" : "above 0",
                    .next = "leave the argument out for its default"});
}

Outputs smooth_l1_expansion(Args a) {
  const Real beta = a.real(5);
  require_positive("smooth_l1_loss", "beta", beta, true);
  Tensor apart = M::sub(a.tensor(0), a.tensor(1)), d = M::abs(apart);
  if (beta != 0) {  // the square is not of d, which has a kink at 0: second derivatives see it
    Tensor inside = M::div(M::mul(M::square(apart), 0.5), beta);
    d = M::where(M::lt(d, beta), inside, M::sub(d, beta * 0.5));
  }
  const std::string_view how = reduction_of(a[2], a[3], a[4]);
  return {reduced(d, "smooth_l1_loss", how)};
}

Outputs huber_expansion(Args a) {
  const Real delta = a.real(3);
  require_positive("huber_loss", "delta", delta, false);
  Tensor apart = M::sub(a.tensor(0), a.tensor(1)), d = M::abs(apart);
  Tensor outside = M::mul(M::sub(d, delta * 0.5), delta);
  Tensor losses = M::where(M::lt(d, delta), M::mul(M::square(apart), 0.5), outside);
  const Tensor weight = a.optional_tensor(4);
  if (weight.defined()) losses = weighted("huber_loss", losses, "none", weight);
  return {reduced(losses, "huber_loss", a.text(2))};  // a mean over all, as PyTorch's is
}

/// t log t, 0 at 0.
Tensor times_log(const Tensor& t) {
  Tensor zero = M::eq(t, 0);
  return M::where(zero, 0, M::mul(t, M::log(M::where(zero, 1, t))));
}

Outputs kl_div_expansion(Args a) {
  Tensor x = a.tensor(0), target = a.tensor(1);
  const std::string_view how = reduction_of(a[2], a[3], a[4]);
  Tensor losses = a.flag(5) ? M::mul(M::exp(target), M::sub(target, x))
                            : M::sub(times_log(target), M::mul(target, x));
  if (how != "batchmean") return {reduced(losses, "kl_div", how)};
  return {M::div(R::sum(losses), x.rank() == 0 ? Int(1) : x.size(0))};
}

Outputs poisson_expansion(Args a) {
  Tensor x = a.tensor(0), target = a.tensor(1);
  Tensor losses = a.flag(2) ? M::sub(M::exp(x), M::mul(target, x))
                            : M::sub(x, M::mul(target, M::log(M::add(x, a[5]))));
  if (a.flag(3)) {  // log(target!) by Stirling, where it is above 1
    Tensor above = M::gt(target, 1), t = M::where(above, target, 1);
    Tensor root = M::mul(M::log(M::mul(t, 2 * std::numbers::pi)), 0.5);
    Tensor factorial = M::add(M::sub(M::mul(t, M::log(t)), t), root);
    losses = M::add(losses, M::where(above, factorial, 0));
  }
  const std::string_view how = reduction_of(a[4], a[6], a[7]);
  return {reduced(losses, "poisson_nll_loss", how)};
}

/// The variance, to meet x: of each element, of each row, or of all.
Tensor variance_of(const Tensor& x, const Tensor& given) {
  if (given.rank() == 0) return given;
  const int last = x.rank() - 1;
  if (given.rank() == last &&
      require_equal(given.shape(), Shape(x.shape().begin(), x.shape().end() - 1)))
    return S::unsqueeze(given, -1);
  bool fits = given.rank() == x.rank();
  for (int i = 0; fits && i < x.rank(); ++i)
    fits = given.size(i) == Int(1) || require(Relation::eq, given.size(i), x.size(i));
  if (!fits)
    throw ValueError({.op = "gaussian_nll_loss",
                      .problem = "the variance does not fit the input",
                      .got = absl::StrCat(to_string(given.shape()), " for ", to_string(x.shape())),
                      .expected = "one number, or one for each element or each row",
                      .next = "give a size of 1 where a variance stands for a whole axis"});
  return given;
}

Outputs gaussian_expansion(Args a) {
  Tensor x = a.tensor(0);
  const bool number = a[2].tag != Tag::tensor;
  if (number) require_positive("gaussian_nll_loss", "var", a.real(2), true);
  Tensor var = number ? C::full({}, a[2], x.dtype(), x.device()) : variance_of(x, a.tensor(2));
  var = L::variance_at_least(var, a.real(4));
  Tensor losses = M::add(M::log(var), M::div(M::square(M::sub(x, a.tensor(1))), var));
  losses = M::mul(losses, 0.5);
  if (a.flag(3)) losses = M::add(losses, 0.5 * std::log(2 * std::numbers::pi));
  return {reduced(losses, "gaussian_nll_loss", a.text(5))};
}

// ── probabilities ───────────────────────────────────────────────────────────────────────────────

/// Logarithms count as -100 at least, as in PyTorch.
Expr limited_log(Expr v) { return select(lt(v, -100), -100, v); }

Expr probability_loss_body(Expr x, Expr t) {
  Expr positive = t * limited_log(log(x)), negative = (1.0 - t) * limited_log(log1p(-x));
  return check(le(0, x) & le(x, 1), -(positive + negative), kNoProbability);
}

Grads probability_loss_grad(Grad g) {
  Tensor x = g.x(0), t = g.x(1), rest = M::sub(1, x);
  Grads out(2);
  if (g.wants(0)) {
    Tensor slope = M::div(M::sub(x, t), M::clamp_min(M::mul(x, rest), 1e-12));
    out[0] = M::mul(g.dy(), slope);
  }
  if (g.wants(1)) {
    auto limited = [](const Tensor& v) { return M::clamp_min(M::log(v), -100.0); };
    out[1] = M::mul(g.dy(), M::sub(limited(rest), limited(x)));
  }
  return out;
}

Outputs bce_expansion(Args a) {
  Tensor x = a.tensor(0), target = a.tensor(1), weight = a.optional_tensor(2);
  constexpr std::string_view kName = "binary_cross_entropy";
  if (!require_equal(x.shape(), target.shape()))
    throw ValueError({.op = std::string(kName),
                      .problem = "input and target differ in shape",
                      .got = absl::StrCat(to_string(x.shape()), " and ", to_string(target.shape())),
                      .expected = "one shape",
                      .next = "reshape the target"});
  Tensor losses = L::probability_loss(x, target);
  losses = rescaled(kName, losses, x.shape(), weight);
  return {reduced(losses, kName, reduction_of(a[3], a[4], a[5]))};
}

}  // namespace

void add_regression_loss_definitions(Definitions& r) {
  auto with = [](std::string_view doc) {
    Extra e{.domain = floating, .places = kFunctional, .autocast = Autocast::wide};
    e.doc = doc;
    return e;
  };
  r.composite(
      "smooth_l1_loss(Tensor input, Tensor target, bool? size_average=None, bool? reduce=None, str "
      "reduction='mean', float beta=1.0) -> Tensor",
      smooth_l1_expansion,
      with("|d| - beta / 2 of the difference d, and d^2 / (2 beta) where it is below beta."));
  r.composite(
      "huber_loss(Tensor input, Tensor target, str reduction='mean', float delta=1.0, Tensor? "
      "weight=None) -> Tensor",
      huber_expansion,
      with("d^2 / 2 of the difference d, and delta (|d| - delta / 2) where it is above delta "
           "(Huber 1964)."));
  r.composite(
      "kl_div(Tensor input, Tensor target, bool? size_average=None, bool? reduce=None, str "
      "reduction='mean', bool log_target=False) -> Tensor",
      kl_div_expansion,
      with("target (log(target) - input), where input holds log probabilities, and target does if "
           "log_target. reduction='batchmean' divides the sum by the size of the batch, which is "
           "the divergence of Kullback and Leibler."));
  r.composite(
      "poisson_nll_loss(Tensor input, Tensor target, bool log_input=True, bool full=False, bool? "
      "size_average=None, float eps=1e-08, bool? reduce=None, str reduction='mean') -> Tensor",
      poisson_expansion,
      with(
          "exp(x) - target x, or x - target log(x + eps) if not log_input; full: with log(target!) "
          "by Stirling's formula."));
  r.composite(
      "gaussian_nll_loss(Tensor input, Tensor target, Tensor|Scalar var, bool full=False, float "
      "eps=1e-06, str reduction='mean') -> Tensor",
      gaussian_expansion,
      with("(log(var) + (input - target)^2 / var) / 2, var counting as eps at least, a negative "
           "one is a ValueError; full: with log(2 pi) / 2."));
  r.elementwise("variance_at_least(Tensor var, Scalar least) -> Tensor",
                [](Expr v, Expr least) {
                  return check(le(0, v) | ne(v, v), select(lt(v, least), least, v),
                               kNegativeVariance);
                },
                {.domain = floating,
                 .grad = [](Grad g) { return Grads{g.dy()}; },
                 .places = kNowhere,
                 .doc = "max(var, least), whose derivative is 1 everywhere, as in PyTorch's "
                        "gaussian_nll_loss; ValueError for var below 0."});
  r.elementwise("probability_loss(Tensor input, Tensor target) -> Tensor", probability_loss_body,
                {.domain = floating,
                 .promote = Promote::to_float,
                 .saves = save_x(0) | save_x(1),
                 .grad = probability_loss_grad,
                 .places = kNowhere,
                 .doc = "What binary_cross_entropy reduces: -(t log x + (1 - t) log(1 - x)), "
                        "logarithms counting as -100 at least; ValueError for x outside of "
                        "[0, 1]."});
  r.composite(
      "binary_cross_entropy(Tensor input, Tensor target, Tensor? weight=None, bool? "
      "size_average=None, bool? reduce=None, str reduction='mean') -> Tensor",
      bce_expansion,
      with("-(t log x + (1 - t) log(1 - x)) of probabilities x and targets t, times weight; "
           "logarithms count as -100 at least."));
}

}  // namespace lathe
