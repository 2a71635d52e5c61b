// Losses that want a margin: of one number over another, of a class over the others, of a distance
// over another.
#include <absl/strings/str_cat.h>

#include "core/infer/rules.h"
#include "core/ops/losses.h"
#include "core/ops/names.h"
#include "include/lathe/ops/loss.h"

namespace lathe {
namespace {

using namespace names;

Tensor above_zero(const Tensor& x) { return M::clamp_min(x, 0.0); }

[[noreturn]] void misfit(std::string_view op, std::string_view expected,
                         std::initializer_list<Tensor> given) {
  std::string got;
  for (const Tensor& t : given)
    absl::StrAppend(&got, got.empty() ? "" : ", ", to_string(t.shape()));
  throw ShapeError({.op = std::string(op),
                    .problem = "the shapes do not fit together",
                    .got = got,
                    .expected = std::string(expected),
                    .next = "reshape the operands"});
}

Outputs hinge_embedding_expansion(Args a) {
  Tensor x = a.tensor(0), target = a.tensor(1);
  Tensor margin = M::where(M::ne(target, 1), above_zero(M::sub(a[2], x)), 0);
  Tensor self = M::where(M::ne(target, -1), x, 0);
  constexpr std::string_view kName = "hinge_embedding_loss";
  return {reduced(M::add(margin, self), kName, reduction_of(a[3], a[4], a[5]))};
}

Outputs margin_ranking_expansion(Args a) {
  Tensor x = a.tensor(0), y = a.tensor(1), target = a.tensor(2);
  constexpr std::string_view kName = "margin_ranking_loss";
  if (x.rank() != y.rank() || x.rank() != target.rank())
    misfit(kName, "as many axes of both inputs and the target", {x, y, target});
  Tensor losses = above_zero(M::add(M::mul(M::neg(target), M::sub(x, y)), a[3]));
  return {reduced(losses, kName, reduction_of(a[4], a[5], a[6]))};
}

Outputs soft_margin_expansion(Args a) {
  constexpr std::string_view kName = "soft_margin_loss";
  Tensor losses = N::softplus(M::neg(M::mul(a.tensor(0), a.tensor(1))));
  return {reduced(losses, kName, reduction_of(a[2], a[3], a[4]))};
}

// ── of classes ──────────────────────────────────────────────────────────────────────────────────

/// Input [n, c] and integers of that shape or [n]; one row may stand alone.
struct Rows {
  Tensor x, target;
  bool batched;
};
Rows rows_of(std::string_view op, Args a, bool one_each) {
  Rows r{a.tensor(0), a.tensor(1), true};
  if (r.x.rank() == 0 && r.target.rank() == 0) {  // one score of one class
    r.x = S::unsqueeze(r.x, 0);
    if (!one_each) r.target = S::unsqueeze(r.target, 0);
  }
  const Tensor x = r.x, target = r.target;
  r.batched = x.rank() == 2;
  const int want = one_each ? x.rank() - 1 : x.rank();
  // A single class number may come as a tensor of one element.
  const bool lone = one_each && x.rank() == 1 && target.rank() == 1;
  bool fits = (x.rank() == 1 || x.rank() == 2) && (target.rank() == want || lone);
  for (int i = 0; fits && i < want; ++i) fits = require(Relation::eq, x.size(i), target.size(i));
  if (!fits)
    misfit(op, one_each ? "[n, classes] and a class number for each of n" : "[n, classes], both",
           {x, target});
  if (!is_integer(target.dtype()))
    throw DTypeError({.op = std::string(op),
                      .problem = "class numbers must be integers",
                      .got = std::string(name(target.dtype())),
                      .expected = "int64",
                      .next = "convert with .to(lathe.int64)"});
  if (r.batched) return r;
  r.x = S::unsqueeze(x, 0);
  if (!lone) r.target = S::unsqueeze(target, 0);
  r.batched = lone;
  return r;
}

Tensor of_rows(const Rows& r, const Tensor& losses) {
  return r.batched ? losses : S::squeeze(losses, {Int(0)});
}

Outputs multi_margin_expansion(Args a) {
  constexpr std::string_view kName = "multi_margin_loss";
  const Rows r = rows_of(kName, a, true);
  const Int p = a.integer(2);
  if (p != Int(1) && p != Int(2))
    throw ValueError({.op = std::string(kName),
                      .problem = "this power is not defined",
                      .got = absl::StrCat("p=", to_string(p)),
                      .expected = "1 or 2",
                      .next = "leave the argument out for 1"});
  Tensor target = S::unsqueeze(r.target, 1);  // [n, 1]
  Tensor own = I::gather(r.x, 1, target);
  Tensor losses = above_zero(M::add(M::sub(r.x, own), a[3]));
  if (p == Int(2)) losses = M::square(losses);
  check_class_weight(kName, a.optional_tensor(4), r.x.size(1));
  if (a[4].tag == Tag::tensor)
    losses = M::mul(losses, S::unsqueeze(I::index_select(a.tensor(4), 0, r.target), 1));
  Tensor classes = C::arange(0, r.x.size(1), 1, DType::i64, r.x.device());
  losses = M::where(M::eq(classes, target), 0, losses);
  losses = of_rows(r, M::div(R::sum(losses, {Int(1)}), r.x.size(1)));
  return {reduced(losses, kName, reduction_of(a[5], a[6], a[7]))};
}

Outputs multilabel_margin_expansion(Args a) {
  constexpr std::string_view kName = "multilabel_margin_loss";
  const Rows r = rows_of(kName, a, false);
  // Class numbers up to the first below 0.
  Tensor valid = M::cast(M::ge(r.target, 0), DType::i64);
  valid = M::ne(R::cumprod(valid, 1), 0);  // [n, j]
  Tensor label = M::where(valid, r.target, 0);
  Tensor classes = C::arange(0, r.x.size(1), 1, DType::i64, r.x.device());
  Tensor same = M::eq(S::unsqueeze(label, -1), classes);  // [n, j, i]
  Tensor is_label = R::any(M::logical_and(same, S::unsqueeze(valid, -1)), {Int(1)}, true);
  Tensor own = S::unsqueeze(I::gather(r.x, 1, label), -1);
  Tensor losses = above_zero(M::add(M::sub(S::unsqueeze(r.x, 1), own), 1));
  Tensor counts = M::logical_and(S::unsqueeze(valid, -1), M::logical_not(is_label));
  losses = M::where(counts, losses, 0);
  losses = of_rows(r, M::div(R::sum(losses, {Int(1), Int(2)}), r.x.size(1)));
  return {reduced(losses, kName, reduction_of(a[2], a[3], a[4]))};
}

Outputs multilabel_soft_margin_expansion(Args a) {
  constexpr std::string_view kName = "multilabel_soft_margin_loss";
  Tensor x = a.tensor(0), target = a.tensor(1);
  if (x.rank() == 0) misfit(kName, "[..., classes]", {x, target});
  Tensor losses = N::logits_loss(x, target, 1.0);
  if (a[2].tag == Tag::tensor) losses = M::mul(losses, a.tensor(2));
  losses = M::div(R::sum(losses, {Int(-1)}), x.size(-1));
  return {reduced(losses, kName, reduction_of(a[3], a[4], a[5]))};
}

// ── of distances ────────────────────────────────────────────────────────────────────────────────

Outputs triplet_expansion(Args a) {
  constexpr std::string_view kName = "triplet_margin_loss";
  Tensor anchor = a.tensor(0), positive = a.tensor(1), negative = a.tensor(2);
  if (!(a.real(3) > 0))
    throw ValueError({.op = std::string(kName),
                      .problem = "the margin is not positive",
                      .got = to_string(a.real(3)),
                      .expected = "a number above 0",
                      .next = "leave margin out for 1"});
  if (anchor.rank() != positive.rank() || anchor.rank() != negative.rank())
    misfit(kName, "as many axes of all three", {anchor, positive, negative});
  auto distance = [&](const Tensor& x, const Tensor& y) {
    return N::pairwise_distance(x, y, a.real(4), a.real(5));
  };
  Tensor near = distance(anchor, positive), far = distance(anchor, negative);
  if (a.flag(6)) far = M::minimum(far, distance(positive, negative));
  Tensor losses = above_zero(M::add(M::sub(near, far), a[3]));
  return {reduced(losses, kName, reduction_of(a[7], a[8], a[9]))};
}

Outputs cosine_embedding_expansion(Args a) {
  constexpr std::string_view kName = "cosine_embedding_loss";
  constexpr double kLeast = 1e-12;  // of squared lengths, as in PyTorch
  Tensor x = as_float(a.tensor(0)), y = as_float(a.tensor(1)), target = a.tensor(2);
  if (x.rank() != y.rank() || x.rank() != target.rank() + 1 || target.rank() > 1)
    misfit(kName, "[n, features] twice and a target [n], or the same without n", {x, y, target});
  const Shape last{Int(-1)};
  auto squares = [&](const Tensor& t) { return M::add(R::sum(M::square(t), last), kLeast); };
  Tensor lengths = M::sqrt(M::mul(squares(x), squares(y)));
  Tensor cosine = M::div(R::sum(M::mul(x, y), last), lengths);
  Tensor apart = M::where(M::eq(target, -1), above_zero(M::sub(cosine, a[3])), 0);
  Tensor losses = M::where(M::eq(target, 1), M::sub(1, cosine), apart);
  return {reduced(losses, kName, reduction_of(a[4], a[5], a[6]))};
}

}  // namespace

void add_margin_loss_definitions(Definitions& r) {
  auto with = [](std::string_view doc) {
    Extra e{.domain = floating, .places = kFunctional, .autocast = Autocast::wide};
    e.doc = doc;
    return e;
  };
  const std::string reduction =
      "bool? size_average=None, bool? reduce=None, str reduction='mean') -> Tensor";
  r.composite("hinge_embedding_loss(Tensor input, Tensor target, float margin=1.0, " + reduction,
              hinge_embedding_expansion,
              with("A distance where the target is 1, what it lacks of the margin where that is "
                   "-1."));
  r.composite("margin_ranking_loss(Tensor input1, Tensor input2, Tensor target, float margin=0, " +
                  reduction,
              margin_ranking_expansion,
              with("max(0, margin - target (input1 - input2)), target being 1 or -1."));
  r.composite("soft_margin_loss(Tensor input, Tensor target, " + reduction, soft_margin_expansion,
              with("log(1 + exp(-target input)), target being 1 or -1."));
  r.composite(
      "multi_margin_loss(Tensor input, Tensor target, int p=1, float margin=1.0, Tensor? "
      "weight=None, " +
          reduction,
      multi_margin_expansion,
      with("Mean over the classes of max(0, margin - x[own] + x[other])^p, times the weight of the "
           "own class."));
  r.composite("multilabel_margin_loss(Tensor input, Tensor target, " + reduction,
              multilabel_margin_expansion,
              with("Sum of max(0, 1 - x[label] + x[other]) over labels and other classes, divided "
                   "by the number of classes. The target's rows are class numbers, ended by a "
                   "negative number."));
  r.composite(
      "multilabel_soft_margin_loss(Tensor input, Tensor target, Tensor? weight=None, " + reduction,
      multilabel_soft_margin_expansion,
      with("Mean over the classes (the last axis) of binary_cross_entropy_with_logits."));
  r.composite(
      "triplet_margin_loss(Tensor anchor, Tensor positive, Tensor negative, float margin=1.0, "
      "float p=2, float eps=1e-06, bool swap=False, " +
          reduction,
      triplet_expansion,
      with("max(0, d(anchor, positive) - d(anchor, negative) + margin), d the pairwise_distance; "
           "swap: the negative is as far as it is from the nearer of the two (Balntas et al. "
           "2016)."));
  r.composite(
      "cosine_embedding_loss(Tensor input1, Tensor input2, Tensor target, float margin=0, " +
          reduction,
      cosine_embedding_expansion,
      with("1 - cosine where the target is 1, max(0, cosine - margin) where it is -1."));
}

}  // namespace lathe
