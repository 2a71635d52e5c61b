// Normalisation: by the mean and variance of a layer, of groups of channels, of a channel over a
// batch or within one image; by the root mean square; by neighbouring channels.
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <limits>

#include "core/ops/families.h"
#include "core/ops/moments.h"
#include "core/ops/names.h"
#include "core/ops/rows.h"
#include "include/lathe/ops/arithmetic.h"

namespace lathe {
namespace {

using namespace names;

using A = arithmetic_ops<Tensor>;

/// y * w + b, without what is not there.
Tensor affine(const Tensor& y, const Tensor& w, const Tensor& b) {
  if (w.defined()) return b.defined() ? A::addcmul(b, y, w) : M::mul(y, w);
  return b.defined() ? M::add(y, b) : y;
}

/// The last axes, which must have this shape.
Shape ending(std::string_view op, const Tensor& x, const Shape& shape) {
  Shape dims;
  auto n = static_cast<int>(shape.size());
  for (int i = 0; i < std::max(n, 1); ++i) {
    bool fits = n > 0 && n <= x.rank() &&
                require(Relation::eq, x.size(i - n), shape[static_cast<size_t>(i)]);
    if (!fits)
      throw ShapeError({.op = std::string(op),
                        .problem = "the input does not end with the normalised shape",
                        .got = to_string(x.shape()),
                        .expected = absl::StrCat("..., ", to_string(shape)),
                        .next = "give the sizes of the last axes, as they are"});
    dims.push_back(Int(i - n));
  }
  return dims;
}

/// The mean over dims of the squares.
Tensor mean_square(const Tensor& x, const Shape& dims, bool keep) {
  Int count = 1;
  for (Int d : dims) count *= x.size(static_cast<int>(d.value()));
  return M::div(R::square_sum(x, dims, keep), count);
}

/// (x - mean) / sqrt(var + eps) over dims.
struct Moments {
  Tensor mean, apart, var;
  Moments(const Tensor& x, const Shape& dims)
      : mean(R::mean(x, dims, true)),
        apart(centred(x, mean, [&](const Tensor& t) { return R::mean(t, dims, true); })),
        var(mean_square(apart, dims, true)) {}
  Tensor normalised(const Arg& eps) const { return M::mul(apart, M::rsqrt(M::add(var, eps))); }
};

Outputs layer_norm_expansion(Args a) {
  Tensor x = a.tensor(0);
  const Shape dims = ending("layer_norm", x, a.ints(1));
  return {by_rows(a, x, x.rank() - static_cast<int>(dims.size()), [&](const Tensor& part) {
    const Moments m(part, dims);
    return affine(m.normalised(a[4]), a.optional_tensor(2), a.optional_tensor(3));
  })};
}

Outputs native_layer_norm(Args a) {
  Tensor x = a.tensor(0);
  const Shape dims = ending("native_layer_norm", x, a.ints(1));
  const Moments m(x, dims);
  Tensor y = affine(m.normalised(a[4]), a.optional_tensor(2), a.optional_tensor(3));
  return {y, m.mean, M::rsqrt(M::add(m.var, a[4]))};
}

/// [c] → [c, 1, 1 ...], to meet x[n, c, ...].
Tensor per_channel(const Tensor& t, const Tensor& x) {
  Shape shape{t.size(0)};
  for (int i = 2; i < x.rank(); ++i) shape.push_back(Int(1));
  return S::reshape(t, shape);
}

Tensor along_channels(const Tensor& t, const Tensor& x) {
  return t.defined() ? per_channel(t, x) : t;
}

/// One number a channel each, or nothing.
void require_per_channel(std::string_view op, const Tensor& x, std::initializer_list<Tensor> each) {
  for (const Tensor& t : each)
    if (t.defined() && (t.rank() != 1 || !require(Relation::eq, t.size(0), x.size(1))))
      throw ShapeError({.op = std::string(op),
                        .problem = "one number a channel is needed",
                        .got = absl::StrCat(to_string(t.shape()), " for x", to_string(x.shape())),
                        .expected = absl::StrCat("[", to_string(x.size(1)), "]"),
                        .next = "channels are the input's axis 1"});
}

/// What an op writes reaches its expansion as it is stored: this is how to read it.
Tensor widened(const Tensor& t) {
  const DType compute = compute_type(t.dtype());
  return compute == t.dtype() ? t : M::cast(t, compute);
}

/// running: moved towards what this batch has by momentum.
void move_towards(const Tensor& running, const Tensor& now, const Arg& momentum) {
  GradMode no_grad(false);
  assign(running, M::lerp(running, now, momentum));
}

void require_running_statistics(std::string_view op, const Tensor& mean, const Tensor& var,
                                bool training) {
  if (mean.defined() && var.defined()) return;
  if (training && !mean.defined() && !var.defined()) return;
  auto given = [](const Tensor& t) { return t.defined() ? "given" : "None"; };
  throw ValueError({.op = std::string(op),
                    .problem = training ? "one of the two running statistics is missing"
                                        : "running statistics are missing, outside of training",
                    .got = absl::StrCat("running_mean ", given(mean), ", running_var ", given(var)),
                    .expected = training ? "both or neither" : "both",
                    .next = "give them, or take the batch's own by training=True"});
}

/// Of a batch and a channel axis; or the shape [0], which has neither, as in PyTorch.
bool has_channels(const Tensor& x) {
  if (x.rank() >= 2) return true;
  if (x.rank() == 1 && x.size(0) == Int(0)) return false;
  throw ShapeError({.op = "batch_norm",
                    .problem = "the input needs a batch and a channel axis",
                    .got = to_string(x.shape()),
                    .expected = "[n, channels, ...]",
                    .next = "unsqueeze() the missing axes"});
}

/// The mean and the (biased) variance of each channel of this batch, and how far from its mean each
/// element is; the running ones move.
struct OfBatch {
  Tensor mean, apart, var;
  bool empty;  // there is nothing to learn from, and none of these
  OfBatch(const Tensor& x, const Tensor& running_mean, const Tensor& running_var,
          const Arg& momentum) {
    Shape dims{Int(0)};
    Int count = x.size(0);
    for (int i = 2; i < x.rank(); ++i) {
      dims.push_back(Int(i));
      count *= x.size(i);
    }
    empty = !require(Relation::lt, Int(1), count);
    if (empty && !require(Relation::lt, count, Int(1)))
      throw ValueError({.op = "batch_norm",
                        .problem = "more than one value a channel is needed to train",
                        .got = to_string(x.shape()),
                        .expected = "at least two values in each channel",
                        .next = "use a larger batch, or eval() for running statistics"});
    if (empty) return;
    mean = R::mean(x, dims);
    apart = centred(x, per_channel(mean, x),
                    [&](const Tensor& t) { return per_channel(R::mean(t, dims), t); });
    var = mean_square(apart, dims, false);
    if (!running_mean.defined()) return;
    move_towards(running_mean, mean, momentum);
    move_towards(running_var, M::div(M::mul(var, count), count - 1), momentum);
  }
};

/// The result, the batch's mean and 1 / sqrt(its variance + eps). Outside of training the last two
/// are empty, as in PyTorch. Arguments: input, weight, bias, running_mean, running_var, training,
/// momentum, eps.
Outputs native_batch_norm(Args a) {
  Tensor x = a.tensor(0), w = a.optional_tensor(1), b = a.optional_tensor(2);
  Tensor running_mean = a.optional_tensor(3), running_var = a.optional_tensor(4);
  Tensor mean, apart, var;
  const bool training = a.flag(5);
  auto none = [&x] { return C::zeros({Int(0)}, x.dtype(), x.device()); };
  if (!has_channels(x)) return {M::clone(x), none(), none()};
  require_per_channel("batch_norm", x, {w, b, running_mean, running_var});
  require_running_statistics("batch_norm", running_mean, running_var, training);
  if (training) {
    const OfBatch now(x, running_mean, running_var, a[6]);
    if (now.empty) {
      const Tensor nothing = C::zeros({x.size(1)}, x.dtype(), x.device());
      return {affine(x, along_channels(w, x), along_channels(b, x)), nothing, nothing};
    }
    mean = now.mean;
    apart = now.apart;
    var = now.var;
  } else {
    apart = M::sub(x, per_channel(widened(running_mean), x));
    var = widened(running_var);
  }
  Tensor scale = M::rsqrt(M::add(var, a.real(7)));
  // A number a channel is cheap; what is done to each element is not.
  const Tensor slope = w.defined() ? M::mul(scale, w) : scale;
  Tensor y = affine(apart, per_channel(slope, x), along_channels(b, x));
  return {y, training ? mean : none(), training ? scale : none()};
}

Outputs batch_norm_expansion(Args a) {
  const Real eps = a.real(7);
  const bool training = a.flag(5);
  // The variance of a batch may be zero, a running one seldom is.
  if (training ? !(eps > 0) : !(eps >= 0))
    throw ValueError({.op = "batch_norm",
                      .problem = "eps is too small",
                      .got = absl::StrCat("eps=", to_string(eps)),
                      .expected = training ? "above 0 in training" : "0 or more",
                      .next = "leave the argument out for its default"});
  return {native_batch_norm(a)[0]};
}

// ── groups of channels ──────────────────────────────────────────────────────────────────────────

void require_values(std::string_view op, const Tensor& x, Int count) {
  if (require(Relation::ne, count, Int(1))) return;
  throw ValueError({.op = std::string(op),
                    .problem = "more than one value is needed to normalise",
                    .got = to_string(x.shape()),
                    .expected = "at least two values together",
                    .next = "use larger images, or other groups"});
}

Outputs group_norm_expansion(Args a) {
  Tensor x = a.tensor(0), w = a.optional_tensor(2), b = a.optional_tensor(3);
  const Int groups = a.integer(1);
  if (x.rank() < 2 || !require(Relation::le, Int(1), groups) ||
      !require(Relation::eq, mod(x.size(1), groups), Int(0)))
    throw ValueError({.op = "group_norm",
                      .problem = "the groups do not divide the channels",
                      .got = absl::StrCat(to_string(groups), " groups of ", to_string(x.shape())),
                      .expected = "channels on axis 1, and a divisor of how many",
                      .next = "choose another number of groups"});
  require_per_channel("group_norm", x, {w, b});
  Int each = floor_div(x.size(1), groups);
  for (int i = 2; i < x.rank(); ++i) each *= x.size(i);
  if (x.rank() == 2) require_values("group_norm", x, x.size(0) * each);
  Tensor grouped = S::reshape(x, {x.size(0), groups, each});
  Tensor y = Moments(grouped, {Int(-1)}).normalised(a[4]);
  return {affine(S::reshape(y, x.shape()), along_channels(w, x), along_channels(b, x))};
}

/// Arguments: input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps.
Outputs instance_norm_expansion(Args a) {
  Tensor x = a.tensor(0), w = a.optional_tensor(1), b = a.optional_tensor(2);
  Tensor running_mean = a.optional_tensor(3), running_var = a.optional_tensor(4);
  const bool own = a.flag(5);
  if (x.rank() < 2)
    throw ShapeError({.op = "instance_norm",
                      .problem = "the input needs a batch and a channel axis",
                      .got = to_string(x.shape()),
                      .expected = "[n, channels, ...]",
                      .next = "unsqueeze() the missing axes"});
  require_per_channel("instance_norm", x, {w, b, running_mean, running_var});
  require_running_statistics("instance_norm", running_mean, running_var, own);
  Tensor scaled_weight = along_channels(w, x), shift = along_channels(b, x);
  if (!own) {
    Tensor apart = M::sub(x, per_channel(widened(running_mean), x));
    Tensor scale = M::rsqrt(M::add(widened(running_var), a[7]));
    const Tensor slope = w.defined() ? M::mul(scale, w) : scale;
    return {affine(apart, per_channel(slope, x), shift)};
  }
  Shape dims;
  Int count = 1;
  for (int i = 2; i < x.rank(); ++i) {
    dims.push_back(Int(i));
    count *= x.size(i);
  }
  require_values("instance_norm", x, count);
  if (dims.empty()) dims.push_back(Int(2));  // refused above: one value each
  const Moments m(x, dims);
  if (running_mean.defined()) {
    Shape all = dims;
    all.insert(all.begin(), Int(0));
    move_towards(running_mean, R::mean(x, all), a[6]);
    Tensor unbiased = M::div(M::mul(m.var, count), count - 1);
    move_towards(running_var, R::mean(unbiased, all), a[6]);
  }
  return {affine(m.normalised(a[7]), scaled_weight, shift)};
}

// ── others ──────────────────────────────────────────────────────────────────────────────────────

double epsilon_of(DType dtype) {
  return dtype == DType::f64 ? std::numeric_limits<double>::epsilon()
                             : static_cast<double>(std::numeric_limits<float>::epsilon());
}

Outputs rms_norm_expansion(Args a) {
  Tensor x = a.tensor(0), w = a.optional_tensor(2);
  const Shape dims = ending("rms_norm", x, a.ints(1));
  const Arg eps = a.none(3) ? Arg(epsilon_of(x.dtype())) : a[3];
  Tensor mean = mean_square(x, dims, true);
  return {affine(M::mul(x, M::rsqrt(M::add(mean, eps))), w, Tensor())};
}

Outputs local_response_expansion(Args a) {
  Tensor x = a.tensor(0);
  const Int size = a.integer(1);
  if (x.rank() < 3 || !require(Relation::le, Int(1), size))
    throw ValueError({.op = "local_response_norm",
                      .problem = "the input has too few axes, or size is below 1",
                      .got = absl::StrCat(to_string(x.shape()), ", size ", to_string(size)),
                      .expected = "[n, channels, length, ...] and a size from 1",
                      .next = "unsqueeze() the missing axes"});
  if (x.numel() == Int(0)) return {M::clone(x)};
  // Means over neighbouring channels, as windows of the last axis; what is missing counts as 0.
  Tensor last = S::transpose(M::square(x), 1, -1);
  const Int before = floor_div(size, Int(2));
  last = S::constant_pad_nd(last, {before, size - 1 - before}, 0);
  Tensor near = S::windows(last, {size}, {Int(1)});
  // Of integers rounded towards 0, as avg_pool does.
  Tensor mean = is_integer(x.dtype()) ? M::div_trunc(R::sum(near, {Int(-1)}), size)
                                      : R::mean(near, {Int(-1)});
  Tensor base = M::add(M::mul(S::transpose(mean, 1, -1), a[2]), a[4]);
  return {M::div(x, M::pow(base, a[3]))};
}

/// With the statistics that the results were normalised by.
void add_native_norms(Definitions& r) {
  Extra extra{.places = kFunction,
              .doc = "layer_norm(), the mean and 1 / sqrt(var + eps), each with axes of 1."};
  r.composite(
      "native_layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight, Tensor? bias, "
      "float "
      "eps) -> (Tensor output, Tensor mean, Tensor rstd)",
      native_layer_norm, extra);
  extra.doc =
      "batch_norm(), and in training the mean and 1 / sqrt(var + eps) of each channel; else two "
      "empty tensors.";
  r.composite(
      "native_batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor(!)? running_mean, "
      "Tensor(!)? running_var, bool training, float momentum, float eps) -> (Tensor output, Tensor "
      "mean, Tensor rstd)",
      native_batch_norm, extra);
}

void add_group_norms(Definitions& r) {
  Extra extra{.places = kFunctional | kFunction,
              .results_like_first = true,
              .doc =
                  "(x - mean) / sqrt(var + eps) of each group of channels of each image, then "
                  "weight and bias a channel (Wu and He 2018)."};
  r.composite(
      "group_norm(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, float "
      "eps=1e-05) -> Tensor",
      group_norm_expansion, extra);
  extra.places = kFunction;
  r.composite(
      "group_norm.cudnn(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, "
      "float eps=1e-05, bool cudnn_enabled) -> Tensor",
      group_norm_expansion, extra);
  extra.doc =
      "(x - mean) / sqrt(var + eps) of each channel of each image, then weight and bias (Ulyanov "
      "et "
      "al. 2016); the running mean and (unbiased) variance move by momentum, and stand for the "
      "image's own if use_input_stats is False.";
  r.composite(
      "instance_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor(!)? running_mean, "
      "Tensor(!)? running_var, bool use_input_stats, float momentum, float eps, bool "
      "cudnn_enabled) -> Tensor",
      instance_norm_expansion, extra);
  extra.places = kFunctional;
  r.composite(
      "instance_norm.functional(Tensor input, Tensor(!)? running_mean=None, Tensor(!)? "
      "running_var=None, Tensor? weight=None, Tensor? bias=None, bool use_input_stats=True, float "
      "momentum=0.1, float eps=1e-05) -> Tensor",
      [](Args a) {
        const Arg all[] = {a[0], a[3], a[4], a[1], a[2], a[5], a[6], a[7]};
        return instance_norm_expansion(Args(all, 8));
      },
      extra);
}

}  // namespace

void add_normalisation_definitions(Definitions& r) {
  r.composite(
      "layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, Tensor? bias=None, "
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
  add_native_norms(r);
  r.composite(
      "layer_norm.cudnn(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, Tensor? "
      "bias=None, float eps=1e-05, bool cudnn_enable) -> Tensor",
      layer_norm_expansion,
      {.places = kFunction,
       .results_like_first = true,
       .doc = "As layer_norm; there is no cuDNN to switch off."});
  add_group_norms(r);
  r.composite(
      "rms_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, float? eps=None) -> "
      "Tensor",
      rms_norm_expansion,
      {.places = kFunctional | kFunction,
       .results_like_first = true,
       .doc =
           "x / sqrt(mean(x^2) + eps) over the last axes, then weight (Zhang and Sennrich 2019). "
           "eps: that of the dtype computed in unless given."});
  r.composite(
      "local_response_norm(Tensor input, int size, float alpha=0.0001, float beta=0.75, float "
      "k=1.0) -> Tensor",
      local_response_expansion,
      {.domain = real_numbers,
       .places = kFunctional,
       .doc = "x / (k + alpha * mean)^beta, of the mean square of `size` neighbouring channels "
              "(Krizhevsky et al. 2012)."});
}

}  // namespace lathe
