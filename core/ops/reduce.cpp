// Reductions (a monoid each), and the statistics made of them. Products are in scan.cpp.
#include <absl/strings/str_cat.h>

#include "core/infer/rules.h"
#include "core/ops/families.h"
#include "core/ops/moments.h"
#include "core/ops/names.h"

namespace lathe {
namespace {

using namespace names;

Expr zero(DType d) { return constant(d, 0); }

/// Undoes a reduction's loss of axes, so that the result broadcasts against the input again.
Tensor unreduce(const Grad& g, Tensor t) {
  const Shape& x = g.shape(0);
  if (g.flag(kReduceKeep)) return t;
  absl::InlinedVector<Arg, 3> args{Arg(), g.arg(kReduceDim), Arg()};
  auto mask = reduced_axes(g.op(), Args(args.data(), args.size()), static_cast<int>(x.size()));
  Shape kept;
  for (size_t i = 0; i < x.size(); ++i) kept.push_back(mask[i] ? Int(1) : x[i]);
  return S::reshape(t, kept);
}

Int count_of(const Grad& g) {
  const Shape& x = g.shape(0);
  absl::InlinedVector<Arg, 3> args{Arg(), g.arg(kReduceDim), Arg()};
  auto mask = reduced_axes(g.op(), Args(args.data(), args.size()), static_cast<int>(x.size()));
  Int n = 1;
  for (size_t i = 0; i < x.size(); ++i)
    if (mask[i]) n *= x[i];
  return n;
}

/// The axes that were reduced.
Shape dims_of(const Grad& g) {
  Shape dims;
  absl::InlinedVector<Arg, 3> args{Arg(), g.arg(kReduceDim), Arg()};
  auto mask =
      reduced_axes(g.op(), Args(args.data(), args.size()), static_cast<int>(g.shape(0).size()));
  for (size_t i = 0; i < mask.size(); ++i)
    if (mask[i]) dims.push_back(Int(i));
  return dims;
}

/// Elements equal to the extremum share its gradient equally; if that is NaN, all NaNs do.
Grads extremum_grad(Grad g) {
  Tensor hit = M::bitwise_or(M::eq(g.x(0), unreduce(g, g.y())), M::isnan(g.x(0)));
  Shape dims = dims_of(g);
  Tensor dy = unreduce(g, g.dy());
  if (!dims.empty()) dy = M::div(dy, R::sum(M::cast(hit, g.dtype(0)), dims, true));
  return {M::where(hit, dy, 0)};
}

/// The better of two (value, index) pairs: NaN beats all, then the value, then the lower index.
Exprs pick(Exprs a, Exprs b, bool largest) {
  Expr beats = largest ? lt(a[0], b[0]) : lt(b[0], a[0]);
  Expr ties = eq(a[0], b[0]);
  if (is_floating(a[0].dtype())) {
    beats = beats | (isnan(b[0]) & ~isnan(a[0]));
    ties = ties | (isnan(a[0]) & isnan(b[0]));
    beats = beats & ~(isnan(a[0]) & ~isnan(b[0]));
  }
  Expr take_b = beats | (ties & lt(b[1], a[1]));
  return {select(take_b, b[0], a[0]), select(take_b, b[1], a[1])};
}

enum class Give : uint8_t { index, both };

Monoid picking(bool largest, Give give) {
  return {.unit =
              [largest](DType d) {
                return Exprs{largest ? lowest(d) : highest(d), highest(DType::i64)};
              },
          .lift = [](Exprs x) { return x; },
          .combine = [largest](Exprs a, Exprs b) { return pick(a, b, largest); },
          .finish = [give](Exprs s, Expr) { return give == Give::index ? Exprs{s[1]} : s; },
          .needs_element = true};
}

Monoid extremum(bool largest) {
  Monoid m = {.unit = [largest](DType d) { return Exprs{largest ? lowest(d) : highest(d)}; },
              .lift = [](Exprs x) { return Exprs{x[0]}; },
              .combine =
                  [largest](Exprs a, Exprs b) {
                    Expr best = largest ? pmax(a[0], b[0]) : pmin(a[0], b[0]);
                    if (is_floating(a[0].dtype())) best = select(isnan(a[0]), a[0], best);
                    return Exprs{best};
                  },
              .finish = [](Exprs s, Expr) { return s; },
              .needs_element = true};
  return m;
}

Grads pick_grad(Grad g) {
  int axis = g.axis(1, 0);
  Tensor dy = g.dy(), index = g.y(1);
  if (!g.flag(kReduceKeep) && !g.shape(0).empty()) {
    dy = S::unsqueeze(dy, axis);
    index = S::unsqueeze(index, axis);
  }
  Tensor zeros = create_ops<Tensor>::zeros(g.shape(0), dy.dtype(), g.type(0).device);
  return {index_ops<Tensor>::scatter(zeros, axis, index, dy)};
}

/// The same where the last axes were reduced, which are one to the index.
Grads largest_grad(Grad g) {
  const Shape& x = g.shape(0);
  Shape flat(x.begin(), x.end() - static_cast<ptrdiff_t>(dims_of(g).size()));
  flat.push_back(Int(1));
  const Tensor dy = S::reshape(g.dy(), flat), index = S::reshape(g.y(1), flat);
  flat.back() = count_of(g);
  Tensor zeros = create_ops<Tensor>::zeros(flat, dy.dtype(), g.type(0).device);
  return {S::reshape(index_ops<Tensor>::scatter(zeros, -1, index, dy), x)};
}

void add_monoids(Definitions& r) {
  r.reduce("sum(Tensor input, int[]? dim=None, bool keepdim=False) -> Tensor",
           monoid(zero, [](Expr a, Expr b) { return a + b; }),
           {.promote = Promote::sum,
            .grad = [](Grad g) { return Grads{S::expand(unreduce(g, g.dy()), g.shape(0))}; },
            .moves = true,
            .doc = "Sum over the axes of dim (all if empty). Order: the fixed tree of "
                   "docs/architecture.md."});
  Monoid squares = monoid(zero, [](Expr a, Expr b) { return a + b; });
  squares.lift = [](Exprs x) { return Exprs{x[0] * x[0]}; };
  r.reduce(
      "square_sum(Tensor input, int[]? dim=None, bool keepdim=False) -> Tensor", squares,
      {.domain = floating,
       .saves = save_x(0),
       .grad = [](Grad g) { return Grads{M::mul(M::add(g.x(0), g.x(0)), unreduce(g, g.dy()))}; },
       .places = kNowhere,
       .doc = "sum() of the squares, without a tensor of them."});
  Monoid mean = monoid(zero, [](Expr a, Expr b) { return a + b; });
  mean.finish = [](Exprs s, Expr n) { return Exprs{s[0] / cast(n, s[0].dtype())}; };
  r.reduce("mean(Tensor input, int[]? dim=None, bool keepdim=False) -> Tensor", mean,
           {.domain = differentiable,
            .grad =
                [](Grad g) {
                  return Grads{S::expand(M::div(unreduce(g, g.dy()), count_of(g)), g.shape(0))};
                },
            .moves = true,
            .doc = "Arithmetic mean over the axes of dim; NaN of no elements."});
  r.reduce("amax(Tensor input, int[] dim=[], bool keepdim=False) -> Tensor", extremum(true),
           {.domain = real_dtypes,
            .saves = save_x(0) | save_y(0),
            .grad = extremum_grad,
            .doc = "Largest element over the axes of dim; NaN if there is one."});
  r.reduce("amin(Tensor input, int[] dim=[], bool keepdim=False) -> Tensor", extremum(false),
           {.domain = real_dtypes,
            .saves = save_x(0) | save_y(0),
            .grad = extremum_grad,
            .doc = "Smallest element over the axes of dim; NaN if there is one."});
  // u8 was PyTorch's bool once, and gives u8 there to this day.
  auto truth_type = [](DType d) { return d == DType::u8 ? d : DType::bool_; };
  auto truth = [truth_type](Exprs x) {
    const DType d = x[0].dtype();
    if (is_complex(d)) return Exprs{ne(real(x[0]), 0) | ne(imag(x[0]), 0)};
    return Exprs{d == DType::bool_ ? x[0] : cast(ne(x[0], 0), truth_type(d))};
  };
  r.reduce("any(Tensor input, int[]? dim=None, bool keepdim=False) -> Tensor",
           {.unit = [=](DType d) { return Exprs{constant(truth_type(d), 0)}; },
            .lift = truth,
            .combine = [](Exprs a, Exprs b) { return Exprs{a[0] | b[0]}; },
            .finish = [](Exprs s, Expr) { return s; }},
           {.promote = Promote::truth,
            .no_grad = true,
            .doc = "True if an element is nonzero; of uint8 1 or 0 in uint8, as in PyTorch."});
  r.reduce("all(Tensor input, int[]? dim=None, bool keepdim=False) -> Tensor",
           {.unit = [=](DType d) { return Exprs{constant(truth_type(d), 1)}; },
            .lift = truth,
            .combine = [](Exprs a, Exprs b) { return Exprs{a[0] & b[0]}; },
            .finish = [](Exprs s, Expr) { return s; }},
           {.promote = Promote::truth,
            .no_grad = true,
            .doc = "True if no element is zero; of uint8 1 or 0 in uint8, as in PyTorch."});
}

void add_picks(Definitions& r) {
  r.reduce(
      "argmax(Tensor input, int? dim=None, bool keepdim=False) -> Tensor",
      picking(true, Give::index),
      {.domain = real_dtypes,
       .promote = Promote::index,
       .no_grad = true,
       .doc = "Index of the largest element along dim (of the flattened input if None); the lowest "
              "such index; a NaN counts as largest."});
  r.reduce("argmin(Tensor input, int? dim=None, bool keepdim=False) -> Tensor",
           picking(false, Give::index),
           {.domain = real_dtypes,
            .promote = Promote::index,
            .no_grad = true,
            .doc = "Index of the smallest element along dim; the lowest such index; a NaN counts "
                   "as smallest."});
  r.reduce("max.dim(Tensor input, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
           picking(true, Give::both),
           {.domain = real_dtypes,
            .saves = save_y(1),
            .grad = pick_grad,
            .moves = true,
            .doc = "Largest element along dim, and its lowest index."});
  r.reduce(
      "largest_of(Tensor input, int[] dim, bool keepdim=False) -> (Tensor values, Tensor "
      "indices)",
      picking(true, Give::both),
      {.domain = real_dtypes,
       .saves = save_y(1),
       .grad = largest_grad,
       .places = kNowhere,
       .moves = true,
       .doc = "Largest element over the last axes, which dim names, and its lowest index in "
              "these, flattened."});
  r.reduce("min.dim(Tensor input, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
           picking(false, Give::both),
           {.domain = real_dtypes,
            .saves = save_y(1),
            .grad = pick_grad,
            .moves = true,
            .doc = "Smallest element along dim, and its lowest index."});
}

/// A correction that is no integer asks for the count as a number.
double number_of(Int n) { return static_cast<double>(n.value()); }

/// How many elements each result is made of; `a` begins as sum's arguments.
Int reduced_count(Args a) {
  const Tensor x = a.tensor(0);
  Int n = 1;
  auto mask = reduced_axes(*R::sum.op(), Args(a.begin(), 3), x.rank());
  for (int i = 0; i < x.rank(); ++i)
    if (mask[static_cast<size_t>(i)]) n *= x.size(i);
  return n;
}

Outputs var_expansion(Args a) {
  Tensor x = a.tensor(0);
  const Int n = reduced_count(a);
  Shape dims = a.none(1) ? Shape{} : a.ints(1);
  const Tensor apart = centred(x, [&](const Tensor& t) { return R::mean(t, dims, true); });
  Tensor total = sum_of_squares(apart, dims, a.flag(3));
  if (a[2].tag == Tag::real) {
    const Real left = number_of(n) - a.real(2);
    return {M::div(total, left < 0.0 ? Real(0.0) : left)};
  }
  return {M::div(total, max(n - (a.none(2) ? Int(1) : a.integer(2)), Int(0)))};
}

void add_statistics(Definitions& r) {
  r.composite(
      "var(Tensor input, int[]? dim=None, *, Scalar? correction=1, bool keepdim=False) -> Tensor",
      var_expansion,
      {.doc =
           "Sum of squared distances from the mean, over (count - correction); of complex numbers "
           "real; free of the mean's error."});
  r.composite(
      "std(Tensor input, int[]? dim=None, *, Scalar? correction=1, bool keepdim=False) -> Tensor",
      [](Args a) -> Outputs {
        // Where all elements are equal, the root has no slope: its gradient is 0 there.
        Tensor v = var_expansion(a)[0], equal = M::eq(v, 0);
        return {M::where(equal, 0, M::sqrt(M::where(equal, 1, v)))};
      },
      {.doc = "Square root of var; its gradient is 0 where that is 0."});
  r.composite(
      "logsumexp(Tensor input, int[] dim=[], bool keepdim=False) -> Tensor",
      [](Args a) -> Outputs {
        Tensor x = as_float(a.tensor(0));
        Shape dims = a.ints(1);
        if (reduced_count(a) == Int(0)) return {M::log(R::sum(M::exp(x), dims, a.flag(2)))};
        Tensor top;
        {
          GradMode no_grad(false);
          top = R::amax(x, dims, true);
          top = M::where(M::isfinite(top), top, 0);
        }
        Tensor total = M::log(R::sum(M::exp(M::sub(x, top)), dims, true));
        Tensor y = M::add(total, top);
        return {a.flag(2) ? y : S::squeeze(y, dims.empty() ? all_axes(x.rank()) : dims)};
      },
      {.also = {"special.logsumexp"},
       .doc = "log(sum(exp(x))), without overflow: the largest element is taken out first; of no "
              "elements -inf."});
}

}  // namespace

Tensor sum_of_squares(const Tensor& x, const Shape& dims, bool keep) {
  return is_complex(x.dtype()) ? R::sum(squared_modulus(x), dims, keep)
                               : R::square_sum(x, dims, keep);
}

void add_reduce_definitions(Definitions& r) {
  add_monoids(r);
  add_picks(r);
  add_statistics(r);
}

}  // namespace lathe
