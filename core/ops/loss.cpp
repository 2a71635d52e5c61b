// Losses: composites, so that their derivatives are those of their parts.
#include <absl/strings/str_cat.h>

#include "core/infer/rules.h"
#include "core/ops/losses.h"
#include "core/ops/names.h"

namespace lathe {
namespace {

using namespace names;

}  // namespace

void check_reduction(std::string_view op, std::string_view how) {
  if (how == "mean" || how == "sum" || how == "none") return;
  throw ValueError({.op = std::string(op),
                    .problem = "an unknown reduction",
                    .got = absl::StrCat("'", how, "'"),
                    .expected = "'mean', 'sum' or 'none'",
                    .next = "leave the argument out for the mean"});
}

void check_class_weight(std::string_view op, const Tensor& weight, Int classes) {
  if (!weight.defined()) return;
  if (weight.rank() == 1 && require(Relation::eq, weight.size(0), classes)) return;
  throw ShapeError({.op = std::string(op),
                    .problem = "the weight is not one number for each class",
                    .got = to_string(weight.shape()),
                    .expected = absl::StrCat("[", to_string(classes), "]"),
                    .next = "give a weight for every class, or none"});
}

const char* legacy_reduction(const Arg& size_average, const Arg& reduce) {
  auto off = [](const Arg& a) { return a.tag == Tag::flag && !a.flag_; };
  return off(reduce) ? "none" : off(size_average) ? "sum" : "mean";
}

const char* numbered_reduction(std::string_view op, Int number) {
  constexpr const char* kWords[] = {"none", "mean", "sum"};
  for (int i = 0; i < 3; ++i)
    if (number == Int(i)) return kWords[i];
  throw ValueError({.op = std::string(op),
                    .problem = "an unknown reduction",
                    .got = to_string(number),
                    .expected = "0 (none), 1 (mean) or 2 (sum)",
                    .next = "leave the argument out for the mean"});
}

std::string_view reduction_of(const Arg& size_average, const Arg& reduce, const Arg& reduction) {
  if (!size_average.none() || !reduce.none()) return legacy_reduction(size_average, reduce);
  return reduction.text_;
}

Tensor reduced(const Tensor& losses, std::string_view op, std::string_view how) {
  check_reduction(op, how);
  if (how == "none") return losses;
  return how == "sum" ? R::sum(losses) : R::mean(losses);
}

Tensor rescaled(std::string_view op, const Tensor& losses, const Shape& shape,
                const Tensor& weight) {
  const Tensor out = weight.defined() ? M::mul(losses, weight) : losses;
  if (require_equal(out.shape(), shape)) return out;
  throw ShapeError({.op = std::string(op),
                    .problem = "a weight has more elements than the input",
                    .got = absl::StrCat(to_string(out.shape()), " with it"),
                    .expected = to_string(shape),
                    .next = "give weights that broadcast to the input's shape"});
}

Tensor weighted(std::string_view op, Tensor losses, std::string_view how, const Tensor& weight) {
  if (!weight.defined()) return reduced(losses, op, how);
  if (!require_equal(losses.shape(), weight.shape()))
    throw ShapeError(
        {.op = std::string(op),
         .problem = "losses and weight differ in shape",
         .got = absl::StrCat(to_string(losses.shape()), " and ", to_string(weight.shape())),
         .expected = "a weight for each element",
         .next = "expand the weight to the shape of the input"});
  losses = M::mul(losses, weight);
  if (how != "mean") return reduced(losses, op, how);
  return M::div(R::sum(losses), R::sum(weight));
}

namespace {

/// -(p t log s(x) + (1 - t) log(1 - s(x))), s the sigmoid, as (1 - t) softplus(x) + p t
/// softplus(-x) with softplus(x) = max(x, 0) + log1p(exp(-|x|)): for targets in [0, 1] a sum of
/// terms of one sign, which does not cancel. max(x, 0) - x t + log1p(exp(-|x|)) does, at large x
/// with t = 1.
Expr logits_loss_body(Expr x, Expr t, Expr p) {
  // A weight of 0 takes no part, also where it meets an infinite logit.
  auto part = [](Expr weight, Expr v) { return select(eq(weight, 0), 0, weight * v); };
  Expr positive = p * t, negative = 1.0 - t;
  Expr above = select(lt(0, x), x, 0), below = select(lt(x, 0), -x, 0);
  Expr tail = log1p(exp(-abs(x)));
  return part(negative, above) + part(positive, below) + (positive + negative) * tail;
}

/// By its parts, which do not cancel either: by the logit (1 - t) s(x) - p t s(-x).
Grads logits_loss_grad(Grad g) {
  Tensor x = g.x(0), t = g.x(1), below = M::neg(x);
  const bool weighted = !g.arg(2).scalar();
  Grads out(3);
  if (g.wants(0)) {
    Tensor positive = weighted ? M::mul(g.x(2), t) : t;
    Tensor slope = M::sub(M::mul(M::sub(1, t), M::sigmoid(x)), M::mul(positive, M::sigmoid(below)));
    out[0] = M::mul(g.dy(), slope);
  }
  if (g.wants(1)) {
    // softplus(-x) - softplus(x) is -x.
    Tensor slope = weighted ? M::sub(M::mul(g.x(2), N::softplus(below)), N::softplus(x)) : below;
    out[1] = M::mul(g.dy(), slope);
  }
  if (g.wants(2)) out[2] = M::mul(g.dy(), M::mul(t, N::softplus(below)));
  return out;
}

Outputs logits_expansion(Args a) {
  Tensor x = a.tensor(0), target = a.tensor(1);
  Tensor weight = a.optional_tensor(2), positive = a.optional_tensor(4);
  constexpr std::string_view kName = "binary_cross_entropy_with_logits";
  if (!require_equal(x.shape(), target.shape()))
    throw ShapeError({.op = std::string(kName),
                      .problem = "input and target differ in shape",
                      .got = absl::StrCat(to_string(x.shape()), " and ", to_string(target.shape())),
                      .expected = "one shape",
                      .next = "reshape the target"});
  Tensor losses = N::logits_loss(x, target, positive.defined() ? Arg(positive) : Arg(1.0));
  losses = rescaled(kName, losses, x.shape(), weight);
  return {reduced(losses, kName, a.text(3))};
}

void check_classes(std::string_view op, const Tensor& x, const Tensor& target) {
  Shape want = x.shape();
  if (x.rank() > 0) want.erase(want.begin() + (x.rank() > 1 ? 1 : 0));
  bool fits = x.rank() > 0 && target.rank() == static_cast<int>(want.size());
  for (int i = 0; fits && i < target.rank(); ++i)
    fits = require(Relation::eq, target.size(i), want[static_cast<size_t>(i)]);
  if (!fits)
    throw ShapeError({.op = std::string(op),
                      .problem = "input and target do not fit",
                      .got = absl::StrCat("input ", to_string(x.shape()), ", target ",
                                          to_string(target.shape())),
                      .expected = absl::StrCat("a class number for each of ", to_string(want)),
                      .next = "check the batch size, and which axis holds the classes"});
  if (target.dtype() != DType::i64 && target.dtype() != DType::i32 && target.dtype() != DType::u8)
    throw DTypeError({.op = std::string(op),
                      .problem = "class numbers must be integers",
                      .got = std::string(name(target.dtype())),
                      .expected = "int64",
                      .next = "convert with .to(lt.int64)"});
}

/// Where the classes of x lie.
int class_axis(const Tensor& x) { return x.rank() > 1 ? 1 : 0; }

/// -log p of the target class, weighted, 0 where ignored; and the weights.
std::pair<Tensor, Tensor> picked(const Tensor& logp, Tensor target, const Tensor& weight,
                                 Int ignore) {
  if (target.dtype() == DType::u8) target = M::cast(target, DType::i64);
  const int axis = class_axis(logp);
  Tensor keep = M::ne(target, ignore);
  Tensor safe = M::where(keep, target, 0);
  Tensor loss = M::neg(S::squeeze(I::gather(logp, axis, S::unsqueeze(safe, axis)), {Int(axis)}));
  Tensor w = M::cast(keep, logp.dtype());
  if (weight.defined()) w = M::mul(w, I::index_select(weight, 0, safe));
  return {M::where(keep, weight.defined() ? M::mul(loss, w) : loss, 0), w};
}

Tensor reduced(const std::pair<Tensor, Tensor>& losses, std::string_view how) {
  if (how == "none") return losses.first;
  Tensor total = R::sum(losses.first);
  return how == "sum" ? total : M::div(total, R::sum(losses.second));
}

Outputs nll_expansion(Args a) {
  Tensor x = a.tensor(0), target = a.tensor(1);
  check_reduction("nll_loss", a.text(4));
  check_classes("nll_loss", x, target);
  check_class_weight("nll_loss", a.optional_tensor(2), x.size(class_axis(x)));
  return {reduced(picked(x, target, a.optional_tensor(2), a.integer(3)), a.text(4))};
}

/// [classes], to meet x along its axis of classes.
Tensor along_classes(const Tensor& weight, const Tensor& x, int axis) {
  Shape shape(static_cast<size_t>(x.rank()), Int(1));
  shape[static_cast<size_t>(axis)] = weight.size(0);
  return S::reshape(weight, shape);
}

/// Of a target that holds a probability for each class.
Tensor soft_cross_entropy(const Tensor& x, Tensor target, const Tensor& weight, Real smoothing,
                          std::string_view how, Int ignored) {
  if (!require(Relation::lt, ignored, Int(0)))
    throw ValueError({.op = "cross_entropy",
                      .problem = "ignore_index is for class numbers, not for probabilities",
                      .got = absl::StrCat("ignore_index=", to_string(ignored)),
                      .expected = "a number below 0",
                      .next = "leave it out, and give a probability of 0 instead"});
  const int axis = class_axis(x);
  Tensor logp = N::log_softmax(x, axis);
  if (smoothing != 0)
    target = M::add(M::mul(target, 1 - smoothing),
                    M::div(C::full({}, smoothing, x.dtype(), x.device()), x.size(axis)));
  if (weight.defined()) logp = M::mul(logp, along_classes(weight, x, axis));
  Tensor losses = M::neg(R::sum(M::mul(logp, target), {Int(axis)}));
  return reduced(losses, "cross_entropy", how);
}

Outputs cross_entropy_expansion(Args a) {
  Tensor x = a.tensor(0), target = a.tensor(1), weight = a.optional_tensor(2);
  std::string_view how = a.text(4);
  const Real smoothing = a.real(5);
  check_reduction("cross_entropy", how);
  const bool soft = is_floating(target.dtype()) && x.rank() > 0 && x.rank() == target.rank() &&
                    require_equal(x.shape(), target.shape());
  if (!soft) check_classes("cross_entropy", x, target);
  if (!(smoothing >= 0 && smoothing <= 1))
    throw ValueError({.op = "cross_entropy",
                      .problem = "smoothing outside [0, 1]",
                      .got = to_string(smoothing),
                      .expected = "0 <= label_smoothing <= 1",
                      .next = "leave it out for none"});
  check_class_weight("cross_entropy", weight, x.size(class_axis(x)));
  if (soft) return {soft_cross_entropy(x, target, weight, smoothing, how, a.integer(3))};
  const int axis = class_axis(x);
  Tensor logp = N::log_softmax(x, axis);
  auto hard = picked(logp, target, weight, a.integer(3));
  Tensor loss = reduced(hard, how);
  if (smoothing == 0) return {loss};
  // The rest of the probability is spread over all classes (Szegedy et al. 2016).
  Tensor spread = logp;
  if (weight.defined()) spread = M::mul(spread, along_classes(weight, x, axis));
  Tensor keep = M::ne(target, a.integer(3));
  Tensor each = M::div(M::neg(R::sum(spread, {Int(axis)})), x.size(axis));
  Tensor smooth = M::where(keep, each, 0);
  Tensor rest = reduced({smooth, hard.second}, how);
  return {M::add(M::mul(loss, 1 - smoothing), M::mul(rest, smoothing))};
}

}  // namespace

void add_loss_definitions(Definitions& r) {
  r.composite(
      "mse_loss(Tensor input, Tensor target, *, str reduction='mean', Tensor? weight=None) -> "
      "Tensor",
      [](Args a) {
        return Outputs{weighted("mse_loss", M::square(M::sub(a.tensor(0), a.tensor(1))), a.text(2),
                                a.optional_tensor(3))};
      },
      {.domain = floating,
       .places = kFunctional,
       .autocast = Autocast::wide,
       .doc = "Squared difference, averaged, summed or as it is."});
  r.composite(
      "l1_loss(Tensor input, Tensor target, *, str reduction='mean', Tensor? weight=None) -> "
      "Tensor",
      [](Args a) {
        return Outputs{weighted("l1_loss", M::abs(M::sub(a.tensor(0), a.tensor(1))), a.text(2),
                                a.optional_tensor(3))};
      },
      {.domain = floating,
       .places = kFunctional,
       .autocast = Autocast::wide,
       .doc = "Absolute difference, averaged, summed or as it is."});
  r.elementwise(
      "logits_loss(Tensor input, Tensor target, Tensor|Scalar pos_weight) -> Tensor",
      logits_loss_body,
      {.domain = floating,
       .promote = Promote::to_float,
       .saves = save_x(0) | save_x(1) | save_x(2),
       .grad = logits_loss_grad,
       .places = kNowhere,
       .doc = "What binary_cross_entropy_with_logits reduces: (1 - t) softplus(x) + pos_weight * t "
              "* softplus(-x) with t the target, in terms that do not cancel."});
  r.composite(
      "binary_cross_entropy_with_logits(Tensor input, Tensor target, Tensor? weight=None, *, str "
      "reduction='mean', Tensor? pos_weight=None) -> Tensor",
      logits_expansion,
      {.domain = floating,
       .places = kFunctional,
       .autocast = Autocast::wide,
       .doc = "-(p t log s(x) + (1 - t) log(1 - s(x))), s the sigmoid, p the weight of positives; "
              "without overflow."});
  r.composite(
      "nll_loss(Tensor input, Tensor target, Tensor? weight=None, *, int ignore_index=-100, "
      "str reduction='mean') -> Tensor",
      nll_expansion,
      {.domain = floating,
       .places = kFunctional,
       .autocast = Autocast::wide,
       .doc = "-x at the target class; x holds log probabilities [n, classes, ...]."});
  r.composite(
      "cross_entropy(Tensor input, Tensor target, Tensor? weight=None, *, int ignore_index=-100, "
      "str reduction='mean', float label_smoothing=0.0) -> Tensor",
      cross_entropy_expansion,
      {.domain = floating,
       .places = kFunctional,
       .autocast = Autocast::wide,
       .doc = "nll_loss of log_softmax(x), with label smoothing; a target of floats in the "
              "shape of x holds a probability for each class."});
}

}  // namespace lathe
