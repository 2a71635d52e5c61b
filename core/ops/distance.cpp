// Likeness and distance of vectors, and the product of two inputs with a weight between them.
#include <absl/strings/str_cat.h>

#include "core/ops/families.h"
#include "core/ops/names.h"

namespace lathe {
namespace {

using namespace names;

Tensor norm_along(const Tensor& x, const Arg& p, const Shape& dim, bool keep) {
  static const Op& op = get_op(R::norm.name());
  ArgBuilder args;
  args.push(x);
  args.push(p);
  args.push(dim);
  args.push(keep);
  return call(op, CompletedArgs(op, args.args()))[0];
}

Outputs cosine_expansion(Args a) {
  const Tensor x = as_float(a.tensor(0)), y = as_float(a.tensor(1));
  auto [xs, ys] = std::pair{x, y};
  const Shape dim{a.integer(2)};
  // Of operands that broadcast, dim counts the axes of the result.
  if (x.rank() != y.rank()) {
    const int rank = std::max(x.rank(), y.rank());
    auto widened = [rank](Tensor t) {
      while (t.rank() < rank) t = S::unsqueeze(t, 0);
      return t;
    };
    xs = widened(x);
    ys = widened(y);
  }
  // One element along dim meets many: a vector's length counts it as often.
  const int axis = normalise_axis("cosine_similarity", dim[0].value(), xs.rank());
  auto as_long = [axis](const Tensor& t, const Tensor& other) {
    if (t.rank() == 0 || t.size(axis) == other.size(axis) || t.size(axis) != Int(1)) return t;
    Shape shape = t.shape();
    shape[static_cast<size_t>(axis)] = other.size(axis);
    return S::expand(t, shape);
  };
  const Tensor longer = as_long(xs, ys);
  ys = as_long(ys, xs);
  xs = longer;
  auto direction = [&](const Tensor& t) {
    return M::div(t, M::clamp_min(norm_along(t, Arg(2.0), dim, true), a[3]));
  };
  return {R::sum(M::mul(direction(xs), direction(ys)), dim)};
}

Outputs distance_expansion(Args a) {
  Tensor d = M::add(M::sub(as_float(a.tensor(0)), as_float(a.tensor(1))), a[3]);
  return {norm_along(d, a[2], {Int(-1)}, a.flag(4))};
}

Outputs bilinear_expansion(Args a) {
  Tensor x = a.tensor(0), y = a.tensor(1), w = a.tensor(2), b = a.optional_tensor(3);
  bool fits = w.rank() == 3 && x.rank() == y.rank() && x.rank() > 0 &&
              require(Relation::eq, x.size(-1), w.size(1)) &&
              require(Relation::eq, y.size(-1), w.size(2));
  for (int i = 0; fits && i + 1 < x.rank(); ++i) fits = require(Relation::eq, x.size(i), y.size(i));
  if (!fits)
    throw ShapeError({.op = "bilinear",
                      .problem = "inputs and weight do not fit",
                      .got = absl::StrCat(to_string(x.shape()), ", ", to_string(y.shape()), " and ",
                                          to_string(w.shape())),
                      .expected = "[..., i], [..., j] and [out, i, j]",
                      .next = "check the last axes, and that the others are the same"});
  const Int out = w.size(0), j = w.size(2);
  Tensor flat = S::reshape(S::permute(w, {Int(1), Int(0), Int(2)}), {w.size(1), out * j});
  Shape shape(x.shape().begin(), x.shape().end() - 1);
  shape.insert(shape.end(), {out, j});
  Tensor left = S::reshape(N::matmul(x, flat), shape);
  Tensor sum = S::squeeze(N::matmul(left, S::unsqueeze(y, -1)), {Int(-1)});
  return {b.defined() ? M::add(sum, b) : sum};
}

}  // namespace

void add_distance_definitions(Definitions& r) {
  r.composite(
      "cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-08) -> Tensor",
      cosine_expansion,
      {.places = kFunction | kFunctional,
       .doc = "The cosine of the angle between vectors along dim; lengths count as eps at least."});
  r.composite(
      "pairwise_distance(Tensor x1, Tensor x2, float p=2, float eps=1e-06, bool keepdim=False) -> "
      "Tensor",
      distance_expansion,
      {.places = kFunction | kFunctional,
       .doc = "The p-norm of x1 - x2 + eps along the last axis."});
  r.composite(
      "bilinear(Tensor input1, Tensor input2, Tensor weight, Tensor? bias=None) -> Tensor",
      bilinear_expansion,
      {.places = kFunction | kFunctional,
       .autocast = Autocast::narrow,
       .doc = "input1[..., i] weight[out, i, j] input2[..., j], summed over i and j, plus bias."});
}

}  // namespace lathe
