// Activations.
#include <absl/algorithm/container.h>
#include <absl/strings/str_cat.h>

#include <cmath>
#include <numbers>

#include "core/ops/families.h"
#include "core/ops/names.h"
#include "core/ops/rows.h"

namespace lathe {
namespace {

using namespace names;

void add_activations(Definitions& r) {
  Extra f{.domain = floating, .promote = Promote::to_float};
  auto with = [&](std::string_view doc) {
    Extra e = f;
    e.doc = doc;
    return e;
  };
  auto in_functional = [](Extra e) {
    e.places = kFunctional;
    e.inplace_argument = true;
    return e;
  };
  auto nowhere = [](Extra e) {
    e.places = kNowhere;
    return e;
  };
  r.elementwise(
      "relu(Tensor input) -> Tensor", [](Expr x) { return select(le(x, 0), 0, x); },
      {.domain = real_numbers,
       .saves = save_y(0),
       .grad =
           [](Grad g) { return Grads{g.steps_with(M::where(M::le(g.y(), 0), 0, g.dy()), g.y())}; },
       .places = kEverywhere,
       .inplace_argument = true,
       .moves = true,
       .doc = "max(x, 0); NaN stays NaN; the derivative at 0 is 0."});
  r.elementwise(
      "leaky_relu(Tensor input, float negative_slope=0.01) -> Tensor",
      [](Expr x, Expr slope) { return select(lt(0, x), x, x * slope); },
      in_functional(with("x where positive, else negative_slope * x.")));
  Extra silu = in_functional(with("x * sigmoid(x)."));
  silu.domain = differentiable;
  r.elementwise(
      "silu(Tensor input) -> Tensor", [](Expr x) { return x * sigmoid(x); }, std::move(silu));
  r.elementwise("softplus(Tensor input, float beta=1, float threshold=20) -> Tensor",
                [](Expr x, Expr beta, Expr threshold) {
                  Expr z = x * beta;
                  Expr y = (select(lt(0, z), z, 0) + log1p(exp(-abs(z)))) / beta;
                  return select(lt(threshold, z), x, y);
                },
                {.domain = floating,
                 .promote = Promote::to_float,
                 .saves = save_x(0),
                 .grad =
                     [](Grad g) {
                       Tensor z = M::mul(g.x(0), g.arg(1));
                       Tensor slope = M::where(M::gt(z, g.arg(2)), 1, M::sigmoid(z));
                       return Grads{M::mul(g.dy(), slope)};
                     },
                 .version = 2,
                 .places = kFunctional,
                 .doc = "log(1 + exp(beta x)) / beta, without overflow; x where beta x is above "
                        "threshold."});
  r.elementwise(
      "gelu_erf(Tensor input) -> Tensor",
      [](Expr x) { return 0.5 * x * (1.0 + erf(x * std::numbers::sqrt2 * 0.5)); },
      nowhere(with("0.5 x (1 + erf(x / sqrt(2))) (Hendrycks and Gimpel 2016).")));
  r.elementwise(
      "gelu_tanh(Tensor input) -> Tensor",
      [](Expr x) {
        double c = std::sqrt(2 / std::numbers::pi);
        return 0.5 * x * (1.0 + tanh(c * (x + 0.044715 * x * x * x)));
      },
      nowhere(with("The tanh approximation of gelu (Hendrycks and Gimpel 2016).")));
  r.composite("gelu(Tensor input, *, str approximate='none') -> Tensor",
              [](Args a) -> Outputs {
                if (a.text(1) == "none") return {N::gelu_erf(a.tensor(0))};
                if (a.text(1) == "tanh") return {N::gelu_tanh(a.tensor(0))};
                throw ValueError({.op = "gelu",
                                  .problem = "an unknown approximation",
                                  .got = absl::StrCat("'", a.text(1), "'"),
                                  .expected = "'none' or 'tanh'",
                                  .next = "leave the argument out for the exact one"});
              },
              {.places = kFunctional | kFunction,
               .moves = true,
               .doc = "Gaussian error linear unit, exact by erf or by the tanh approximation."});
}

}  // namespace

void require_default(std::string_view op, std::string_view param, const Arg& given, bool holds) {
  if (holds) return;
  const std::string text = absl::StrCat(param, "=", to_string(given));
  throw UnsupportedError({.op = std::string(op),
                          .problem = absl::StrCat(text, " is not supported yet"),
                          .got = text,
                          .expected = "the default",
                          .next = "leave the argument out"});
}

namespace {

/// x - max(x) along dim, a float; the maximum takes no part in the derivative. Without elements
/// there is no maximum, and nothing to shift.
Tensor shifted(std::string_view op, const Tensor& given, Int dim) {
  Tensor x = as_float(given);
  if (x.size(normalise_axis(op, dim.value(), x.rank())) == Int(0)) return x;
  Tensor top;
  {
    GradMode no_grad(false);
    top = R::amax(x, {dim}, true);
  }
  return M::sub(x, top);
}

/// of(shifted(x)), which makes each line along dim by itself.
template <class F>
Tensor by_lines(std::string_view op, Args a, const F& of) {
  const Tensor x = a.tensor(0);
  const int axis = normalise_axis(op, a.integer(1).value(), x.rank());
  return by_rows(a, x, axis,
                 [&](const Tensor& part) { return of(shifted(op, part, a.integer(1))); });
}

/// f of a tensor without axes, by way of one of a single element.
template <class F>
Tensor along_one(const F& f, const Tensor& x, Int dim) {
  return S::squeeze(f(S::unsqueeze(x, 0), dim), {Int(0)});
}

void add_softmax(Definitions& r) {
  r.composite(
      "softmax(Tensor input, int dim) -> Tensor",
      [](Args a) -> Outputs {
        Tensor x = a.tensor(0);
        if (x.rank() == 0) return {along_one(N::softmax, x, a.integer(1))};
        return {by_lines("softmax", a, [&](const Tensor& s) {
          Tensor e = M::exp(s);
          // One division a row: a vector unit does sixteen products while it divides once.
          return M::mul(e, M::reciprocal(R::sum(e, {a.integer(1)}, true)));
        })};
      },
      {.also = {"special.softmax"}, .doc = "exp(x) / sum(exp(x)) along dim, without overflow."});
  r.composite(
      "log_softmax(Tensor input, int dim) -> Tensor",
      [](Args a) -> Outputs {
        Tensor x = a.tensor(0);
        if (x.rank() == 0) return {along_one(N::log_softmax, x, a.integer(1))};
        return {by_lines("log_softmax", a, [&](const Tensor& s) {
          return M::sub(s, M::log(R::sum(M::exp(s), {a.integer(1)}, true)));
        })};
      },
      {.also = {"special.log_softmax"}, .doc = "log(softmax(x)) along dim, without overflow."});
}

}  // namespace

void add_nn_definitions(Definitions& r) {
  add_activations(r);
  add_softmax(r);
}

}  // namespace lathe
