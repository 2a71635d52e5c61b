// Activations, normalisation, pooling, dropout.
#include <absl/algorithm/container.h>
#include <absl/strings/str_cat.h>

#include <cmath>
#include <numbers>

#include "core/ops/families.h"
#include "include/lathe/ops/create.h"
#include "include/lathe/ops/math.h"
#include "include/lathe/ops/nn.h"
#include "include/lathe/ops/reduce.h"
#include "include/lathe/ops/shape.h"

namespace lathe {
namespace {

using M = math_ops<Tensor>;
using N = nn_ops<Tensor>;
using R = reduce_ops<Tensor>;
using S = shape_ops<Tensor>;

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
  r.elementwise("relu(Tensor input) -> Tensor", [](Expr x) { return select(le(x, 0), 0, x); },
                {.domain = real_numbers,
                 .saves = save_y(0),
                 .grad = [](Grad g) { return Grads{M::where(M::le(g.y(), 0), 0, g.dy())}; },
                 .places = kEverywhere,
                 .inplace_argument = true,
                 .moves = true,
                 .doc = "max(x, 0); NaN stays NaN; the derivative at 0 is 0."});
  r.elementwise(
      "leaky_relu(Tensor input, float negative_slope=0.01) -> Tensor",
      [](Expr x, Expr slope) { return select(lt(0, x), x, x * slope); },
      in_functional(with("x where positive, else negative_slope * x.")));
  r.elementwise(
      "silu(Tensor input) -> Tensor", [](Expr x) { return x * sigmoid(x); },
      in_functional(with("x * sigmoid(x).")));
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

/// x - max(x) along dim, a float; the maximum takes no part in the derivative.
Tensor shifted(const Tensor& given, Int dim) {
  Tensor x = as_float(given);
  Tensor top;
  {
    GradMode no_grad(false);
    top = R::amax(x, {dim}, true);
  }
  return M::sub(x, top);
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
        Tensor e = M::exp(shifted(x, a.integer(1)));
        // One division a row: a vector unit does sixteen products while it divides once.
        return {M::mul(e, M::reciprocal(R::sum(e, {a.integer(1)}, true)))};
      },
      {.also = {"special.softmax"}, .doc = "exp(x) / sum(exp(x)) along dim, without overflow."});
  r.composite(
      "log_softmax(Tensor input, int dim) -> Tensor",
      [](Args a) -> Outputs {
        Tensor x = a.tensor(0);
        if (x.rank() == 0) return {along_one(N::log_softmax, x, a.integer(1))};
        Tensor s = shifted(x, a.integer(1));
        return {M::sub(s, M::log(R::sum(M::exp(s), {a.integer(1)}, true)))};
      },
      {.also = {"special.log_softmax"}, .doc = "log(softmax(x)) along dim, without overflow."});
}

Tensor affine(Tensor y, const Tensor& w, const Tensor& b) {
  if (w.defined()) y = M::mul(y, w);
  if (b.defined()) y = M::add(y, b);
  return y;
}

Outputs layer_norm_expansion(Args a) {
  Tensor x = a.tensor(0);
  Shape shape = a.ints(1), dims;
  auto n = static_cast<int>(shape.size());
  for (int i = 0; i < n; ++i) {
    bool fits =
        n <= x.rank() && require(Relation::eq, x.size(i - n), shape[static_cast<size_t>(i)]);
    if (!fits)
      throw ShapeError({.op = "layer_norm",
                        .problem = "the input does not end with the normalised shape",
                        .got = to_string(x.shape()),
                        .expected = absl::StrCat("..., ", to_string(shape)),
                        .next = "give the sizes of the last axes, as they are"});
    dims.push_back(Int(i - n));
  }
  Tensor centred = M::sub(x, R::mean(x, dims, true));
  Tensor var = R::mean(M::square(centred), dims, true);
  Tensor y = M::mul(centred, M::rsqrt(M::add(var, a.real(4))));
  return {affine(y, a.optional_tensor(2), a.optional_tensor(3))};
}

/// [c] → [c, 1, 1 ...], to meet x[n, c, ...].
Tensor per_channel(const Tensor& t, const Tensor& x) {
  Shape shape{t.size(0)};
  for (int i = 2; i < x.rank(); ++i) shape.push_back(Int(1));
  return S::reshape(t, shape);
}

/// What an op writes reaches its expansion as it is stored: this is how to read it.
Tensor widened(const Tensor& t) {
  const DType compute = compute_type(t.dtype());
  return compute == t.dtype() ? t : M::cast(t, compute);
}

void require_running_statistics(const Tensor& mean, const Tensor& var, bool training) {
  if (mean.defined() && var.defined()) return;
  if (training && !mean.defined() && !var.defined()) return;
  auto given = [](const Tensor& t) { return t.defined() ? "given" : "None"; };
  throw ValueError({.op = "batch_norm",
                    .problem = training ? "one of the two running statistics is missing"
                                        : "running statistics are missing, outside of training",
                    .got = absl::StrCat("running_mean ", given(mean), ", running_var ", given(var)),
                    .expected = training ? "both or neither" : "both",
                    .next = "give them, or take the batch's own by training=True"});
}

Outputs batch_norm_expansion(Args a) {
  Tensor x = a.tensor(0), w = a.optional_tensor(1), b = a.optional_tensor(2);
  Tensor running_mean = a.optional_tensor(3), running_var = a.optional_tensor(4);
  bool training = a.flag(5);
  if (x.rank() < 2)
    throw ShapeError({.op = "batch_norm",
                      .problem = "the input needs a batch and a channel axis",
                      .got = to_string(x.shape())});
  for (const Tensor& t : {w, b, running_mean, running_var})
    if (t.defined() && (t.rank() != 1 || !require(Relation::eq, t.size(0), x.size(1))))
      throw ShapeError({.op = "batch_norm",
                        .problem = "one number a channel is needed",
                        .got = absl::StrCat(to_string(t.shape()), " for x", to_string(x.shape())),
                        .expected = absl::StrCat("[", to_string(x.size(1)), "]"),
                        .next = "channels are the input's axis 1"});
  require_running_statistics(running_mean, running_var, training);
  Tensor mean, var;
  if (training) {
    Shape dims{Int(0)};
    Int count = x.size(0);
    for (int i = 2; i < x.rank(); ++i) {
      dims.push_back(Int(i));
      count *= x.size(i);
    }
    if (!require(Relation::lt, Int(1), count))
      throw ValueError({.op = "batch_norm",
                        .problem = "more than one value a channel is needed to train",
                        .got = to_string(x.shape()),
                        .expected = "at least two values in each channel",
                        .next = "use a larger batch, or eval() for running statistics"});
    mean = R::mean(x, dims);
    var = R::mean(M::square(M::sub(x, per_channel(mean, x))), dims);
    if (running_mean.defined()) {
      GradMode no_grad(false);
      Arg momentum = a[6];
      assign(running_mean, M::lerp(running_mean, mean, momentum));
      Tensor unbiased = M::div(M::mul(var, count), count - 1);
      assign(running_var, M::lerp(running_var, unbiased, momentum));
    }
  } else {
    mean = widened(running_mean);
    var = widened(running_var);
  }
  Tensor scale = M::rsqrt(M::add(var, a.real(7)));
  Tensor y = M::mul(M::sub(x, per_channel(mean, x)), per_channel(scale, x));
  return {affine(y, w.defined() ? per_channel(w, x) : w, b.defined() ? per_channel(b, x) : b)};
}

Outputs dropout_expansion(Args a) {
  Tensor x = a.tensor(0);
  const Real p = a.real(1);
  if (!(p >= 0 && p <= 1))
    throw ValueError({.op = "dropout",
                      .problem = "the probability p is outside of [0, 1]",
                      .got = absl::StrCat("p=", to_string(Real(p.hint()))),
                      .expected = "0 <= p <= 1",
                      .next = "p is a probability in [0, 1], not a percentage"});
  if (!a.flag(2) || p == 0) return {x};
  const DType compute = compute_type(x.dtype());
  Tensor mask = create_ops<Tensor>::bernoulli(x.shape(), 1 - p, compute, x.device());
  Tensor y = M::mul(x, M::mul(mask, p == 1 ? Real(0.0) : 1 / (1 - p)));
  return {compute == x.dtype() ? y : M::cast(y, x.dtype())};
}

/// All windows of x padded by `border`, as two last axes.
Tensor pooled_windows(Args a, std::string_view op, double border) {
  Tensor x = a.tensor(0);
  Shape kernel = a.ints(1), stride = a.none(2) ? kernel : a.ints(2), pad = a.ints(3);
  if (stride.empty()) stride = kernel;
  if (stride.size() == 1) stride.push_back(stride[0]);
  for (size_t i = 0; i < 2; ++i)
    if (!require(Relation::le, pad[i] * 2, kernel[i]))
      throw ValueError(
          {.op = std::string(op),
           .problem = "padding above half of the kernel",
           .got = absl::StrCat("kernel ", to_string(kernel), ", padding ", to_string(pad)),
           .expected = "padding of at most half the kernel",
           .next = "pad the input with pad() first"});
  if (!identical(pad[0], Int(0)) || !identical(pad[1], Int(0)))
    x = S::constant_pad_nd(x, {pad[1], pad[1], pad[0], pad[0]}, border);
  return S::windows(x, kernel, stride);
}

void add_pooling(Definitions& r) {
  r.composite(
      "max_pool2d(Tensor input, int[2] kernel_size, int[]? stride=None, int[2] padding=0, "
      "int[2] dilation=1, bool ceil_mode=False, bool return_indices=False) -> Tensor",
      [](Args a) -> Outputs {
        const Shape dilation = a.ints(4);
        const bool dense = absl::c_all_of(dilation, [](Int v) { return v == Int(1); });
        require_default("max_pool2d", "dilation", a[4], dense);
        require_off("max_pool2d", "ceil_mode", a[5]);
        require_off("max_pool2d", "return_indices", a[6]);
        constexpr double kLow = -std::numeric_limits<double>::infinity();
        Tensor w = pooled_windows(a, "max_pool2d", kLow);
        // The first largest element of a window takes its gradient.
        return {std::get<0>(R::max_dim(S::flatten(w, -2, -1), -1))};
      },
      {.domain = floating,
       .places = kFunctional | kFunction,
       .moves = true,
       .doc = "Largest element of each window of x[..., h, w]."});
  r.composite(
      "avg_pool2d(Tensor input, int[2] kernel_size, int[]? stride=None, int[2] padding=0, bool "
      "ceil_mode=False, bool count_include_pad=True, int? divisor_override=None) -> Tensor",
      [](Args a) -> Outputs {
        require_off("avg_pool2d", "ceil_mode", a[4]);
        require_default("avg_pool2d", "count_include_pad", a[5], a.flag(5));
        require_default("avg_pool2d", "divisor_override", a[6], a.none(6));
        return {R::mean(pooled_windows(a, "avg_pool2d", 0), {Int(-2), Int(-1)})};
      },
      {.domain = floating,
       .places = kFunctional,
       .doc = "Mean of each window of x[..., h, w]; padding counts as 0."});
}

}  // namespace

void add_nn_definitions(Definitions& r) {
  add_activations(r);
  add_softmax(r);
  add_pooling(r);
  r.composite(
      "layer_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, Tensor? bias=None, "
      "float eps=1e-05) -> Tensor",
      layer_norm_expansion,
      {.places = kFunctional | kFunction,
       .results_like_first = true,
       .doc = "(x - mean) / sqrt(var + eps) over the last axes, then weight and bias (Ba et al. "
              "2016)."});
  r.composite(
      "batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor(!)? running_mean, "
      "Tensor(!)? running_var, bool training, float momentum, float eps, bool "
      "cudnn_enabled=False) -> Tensor",
      batch_norm_expansion,
      {.places = kFunction,
       .results_like_first = true,
       .doc = "Normalisation a channel over batch and space (Ioffe and Szegedy 2015); in training "
              "the running mean and (unbiased) variance move by momentum."});
  r.composite("dropout(Tensor input, float p=0.5, bool training=True) -> Tensor", dropout_expansion,
              {.places = kFunctional,
               .inplace = true,
               .inplace_argument = true,
               .moves = true,
               .doc = "In training, zeros with probability p and the rest scaled by 1 / (1 - p)."});
}

}  // namespace lathe
