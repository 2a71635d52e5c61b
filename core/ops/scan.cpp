// Scans, and the products, whose derivatives are made of scans.
#include <absl/strings/str_cat.h>

#include <limits>

#include "core/infer/rules.h"
#include "core/ops/families.h"
#include "core/ops/names.h"

namespace lathe {
namespace {

using namespace names;

using Scan = Tensor(Tensor x, Int dim, bool reverse);
const Fn<Tensor, Scan> running_argmax{"running_argmax"};
const Fn<Tensor, Scan> running_argmin{"running_argmin"};

/// x moved by one element along axis in the direction of a scan (of a reversed one: to lower
/// indexes), with `fill` in the place that becomes free.
Tensor delayed(const Tensor& x, int axis, bool reverse, double fill) {
  Shape one = x.shape();
  one[static_cast<size_t>(axis)] = Int(1);
  Tensor edge = C::full(one, fill, x.dtype(), x.device());
  Tensor longer = S::cat(reverse ? Tensors{x, edge} : Tensors{edge, x}, axis);
  return S::narrow(longer, axis, Int(reverse ? 1 : 0), x.size(axis));
}

/// a * b, but 0 where one of them is 0, even if the other is infinite: it is a derivative's factor
/// that overflowed.
Tensor vanishing_product(const Tensor& a, const Tensor& b) {
  Tensor y = M::mul(a, b);
  Tensor zero = M::bitwise_or(M::eq(a, 0), M::eq(b, 0));
  return M::where(M::bitwise_and(M::isnan(y), zero), 0, y);
}

/// y[i] = a[i] * y[i - 1] + b[i] along axis; reversed, of y[i + 1].
Tensor recurrence(const Tensor& a, const Tensor& b, int axis, bool reverse) {
  // Pairs side by side, in the order in which the scan meets them.
  Tensor pairs = S::stack(reverse ? Tensors{b, a} : Tensors{a, b}, axis + 1);
  Tensor y = R::affine_scan(S::flatten(pairs, axis, axis + 1), axis, reverse);
  return S::select(S::reshape(y, pairs.shape()), axis + 1, reverse ? 0 : 1);
}

/// Element i is in the products from i on: dx[i] = (the product of those before it) * s[i], where
/// s[i] = dy[i] + x[i + 1] * s[i + 1] leaves x[i] out. No division, so zeros are as good as others.
Grads cumprod_grad(Grad g) {
  if (g.shape(0).empty()) return {g.dy()};
  const int axis = g.axis(kScanDim, 0);
  const bool reverse = g.flag(kScanReverse);
  Tensor x = conjugate(g.x(0)), y = conjugate(g.y());
  Tensor behind = recurrence(delayed(x, axis, !reverse, 0), g.dy(), axis, !reverse);
  return {vanishing_product(delayed(y, axis, reverse, 1), behind)};
}

/// The reduced axes, of a tensor of that rank.
absl::InlinedVector<bool, 6> reduced_of(const Grad& g) {
  absl::InlinedVector<Arg, 3> args{Arg(), g.arg(kReduceDim), Arg()};
  return reduced_axes(g.op(), Args(args.data(), args.size()), static_cast<int>(g.shape(0).size()));
}

/// The product of the other elements, as that of those before times that of those behind.
Grads prod_grad(Grad g) {
  const Shape& shape = g.shape(0);
  const int rank = static_cast<int>(shape.size());
  auto mask = reduced_of(g);
  Shape order, back(shape.size(), Int(0)), kept;
  for (bool reduced : {false, true})
    for (int i = 0; i < rank; ++i)
      if (mask[static_cast<size_t>(i)] == reduced) {
        back[static_cast<size_t>(i)] = Int(static_cast<int64_t>(order.size()));
        order.push_back(Int(i));
      }
  Int count = 1;
  for (int i = 0; i < rank; ++i)
    if (mask[static_cast<size_t>(i)])
      count *= shape[static_cast<size_t>(i)];
    else
      kept.push_back(shape[static_cast<size_t>(i)]);
  if (rank == 0) return {g.dy()};
  const int axis = static_cast<int>(kept.size());
  Shape flat = kept, single = kept;
  flat.push_back(count);
  single.push_back(Int(1));
  Tensor moved = S::permute(conjugate(g.x(0)), order);
  Tensor x = S::reshape(moved, flat);
  Tensor before = delayed(R::cumprod(x, axis, false), axis, false, 1);
  Tensor behind = delayed(R::cumprod(x, axis, true), axis, true, 1);
  Tensor dx = vanishing_product(S::reshape(g.dy(), single), vanishing_product(before, behind));
  return {S::permute(S::reshape(dx, moved.shape()), back)};
}

/// True at the elements of x along axis that scale: every other one, from the first that the scan
/// meets.
Tensor scales(const Tensor& x, int axis, bool reverse) {
  Tensor i = C::arange(0, x.size(axis), 1, DType::i64, x.device());
  if (reverse) i = M::sub(x.size(axis) - 1, i);
  Shape shape(static_cast<size_t>(x.rank()), Int(1));
  shape[static_cast<size_t>(axis)] = x.size(axis);
  return M::eq(M::remainder(S::reshape(i, shape), 2), 0);
}

/// With c[m] what step m multiplies by, cotangents come back as l[m] = dy[m] + c[m + 1] * l[m + 1].
Grads affine_scan_grad(Grad g) {
  if (g.shape(0).empty()) return {constant_like(g.dy(), Arg(0))};
  const int axis = g.axis(kScanDim, 0);
  const bool reverse = g.flag(kScanReverse);
  Tensor x = conjugate(g.x(0)), y = conjugate(g.y()), scale = scales(x, axis, reverse);
  Tensor factor = delayed(M::where(scale, x, 1), axis, !reverse, 0);
  Tensor back = recurrence(factor, g.dy(), axis, !reverse);
  return {M::where(scale, vanishing_product(back, delayed(y, axis, reverse, 0)), back)};
}

/// States are maps y -> scale * y + shift; elements take turns in being a scale and a shift.
Monoid affine() {
  return {
      .unit =
          [](DType d) {
            return Exprs{constant(d, 1), constant(d, 0)};
          },
      .lift =
          [](Exprs x) {
            const DType d = x[0].dtype();
            Expr scale = eq(x[1] & 1, 0);
            return Exprs{select(scale, x[0], constant(d, 1)), select(scale, constant(d, 0), x[0])};
          },
      .combine =
          [](Exprs a, Exprs b) {
            Expr none = eq(a[1], 0) | eq(b[0], 0);
            return Exprs{b[0] * a[0], select(none, b[1], b[0] * a[1] + b[1])};
          },
      .finish = [](Exprs s, Expr) { return Exprs{s[1]}; }};
}

/// `best` of two, or the first of them if it is a NaN.
Expr or_nan(Expr best, Expr a) { return is_floating(a.dtype()) ? select(isnan(a), a, best) : best; }

/// The extremum so far; a NaN is every extremum from then on.
Monoid running_extremum(bool largest) {
  if (largest) return monoid(lowest, [](Expr a, Expr b) { return or_nan(pmax(a, b), a); });
  return monoid(highest, [](Expr a, Expr b) { return or_nan(pmin(a, b), a); });
}

/// Where the extremum so far lies: of equal ones, and of NaNs, at the last.
Monoid running_place(bool largest) {
  return {.unit =
              [largest](DType d) {
                return Exprs{largest ? lowest(d) : highest(d), constant(DType::i64, 0)};
              },
          .lift = [](Exprs x) { return x; },
          .combine =
              [largest](Exprs a, Exprs b) {
                Expr take = largest ? le(a[0], b[0]) : le(b[0], a[0]);
                if (is_floating(a[0].dtype())) take = take | isnan(b[0]);
                return Exprs{select(take, b[0], a[0]), select(take, b[1], a[1])};
              },
          .finish = [](Exprs s, Expr) { return Exprs{s[1]}; }};
}

/// log(exp(a) + exp(b)), where one of them may be infinite.
Expr log_of_sum(Expr a, Expr b) {
  Expr less_than = lt(real(a), real(b));
  Expr high = select(less_than, b, a), low = select(less_than, a, b);
  Expr less = select(eq(high, low), 0, low - high);  // equal infinities have no difference
  return high + log1p(exp(less));
}

/// With y the results, element i has the share exp(x[i] - y[j]) in y[j]; those shares shrink from j
/// to j + 1 by exp(y[j] - y[j + 1]), which is at most 1.
Grads logcumsumexp_grad(Grad g) {
  if (g.shape(0).empty()) return {g.dy()};
  const int axis = g.axis(kScanDim, 0);
  const bool reverse = g.flag(kScanReverse);
  Tensor x = g.x(0), y = g.y();
  // Behind the last there is nothing to share in.
  Tensor next = delayed(y, axis, !reverse, kInfinity);
  auto share = [](const Tensor& part, const Tensor& whole) {
    Tensor none = M::eq(whole, -std::numeric_limits<double>::infinity());
    return conjugate(M::where(none, 0, M::exp(M::sub(part, M::where(none, 0, whole)))));
  };
  Tensor shares = recurrence(share(y, next), g.dy(), axis, !reverse);
  return {vanishing_product(share(x, y), shares)};
}

/// The extrema so far and where they lie.
template <auto& Place>
Outputs with_places(Args a) {
  Tensor x = a.tensor(0);
  const Int dim = a.integer(1);
  const char* name = &Place == &running_argmax ? "cummax" : "cummin";
  normalise_axis(name, dim.value(), x.rank());
  if (x.rank() == 0) return {M::clone(x), C::zeros({}, DType::i64, x.device())};
  x = S::contiguous(x);  // it is read twice
  Tensor at;
  {
    GradMode no_grad(false);
    at = Place(x, dim, false);
  }
  return {I::gather_inside(x, dim, at), at};
}

void add_running(Definitions& r) {
  for (const bool largest : {true, false}) {
    const std::string_view end = largest ? "max" : "min";
    r.scan(absl::StrCat("running_", end, "(Tensor input, int dim, bool reverse=False) -> Tensor"),
           running_extremum(largest),
           {.domain = real_dtypes,
            .no_grad = true,
            .places = kNowhere,
            .doc = largest ? "The largest element so far." : "The smallest element so far."});
    r.scan(
        absl::StrCat("running_arg", end, "(Tensor input, int dim, bool reverse=False) -> Tensor"),
        running_place(largest),
        {.domain = real_dtypes,
         .promote = Promote::index,
         .no_grad = true,
         .places = kNowhere,
         .doc = largest ? "The place of the largest element so far, counted as the scan goes: of "
                          "equal ones, and of NaNs, the last."
                        : "The place of the smallest element so far, counted as the scan goes: "
                          "of equal ones, and of NaNs, the last."});
    r.composite(
        absl::StrCat("cum", end, "(Tensor input, int dim) -> (Tensor values, Tensor indices)"),
        largest ? with_places<running_argmax> : with_places<running_argmin>,
        {.moves = true,
         .doc = largest ? "The largest element so far along dim, and where it lies (the last such "
                          "place). A NaN counts as largest."
                        : "The smallest element so far along dim, and where it lies (the last "
                          "such place). A NaN counts as smallest."});
  }
  r.scan("logcumsumexp_scan(Tensor input, int dim, bool reverse=False) -> Tensor",
         monoid([](DType d) { return constant(d, -kInfinity); }, log_of_sum),
         {.domain = differentiable,
          .promote = Promote::to_float,
          .saves = save_x(0) | save_y(0),
          .grad = logcumsumexp_grad,
          .places = kNowhere,
          .doc = "log of the running sum of exp(x) along dim."});
  r.composite(
      "logcumsumexp(Tensor input, int dim) -> Tensor",
      [](Args a) -> Outputs { return {R::logcumsumexp_scan(a.tensor(0), a.integer(1), false)}; },
      {.doc = "log of the running sum of exp(x) along dim, without overflow."});
}

}  // namespace

void add_scan_definitions(Definitions& r) {
  r.reduce("prod(Tensor input, int[]? dim=None, bool keepdim=False) -> Tensor",
           monoid([](DType d) { return constant(d, 1); }, [](Expr a, Expr b) { return a * b; }),
           {.promote = Promote::sum,
            .saves = save_x(0),
            .grad = prod_grad,
            .autocast = Autocast::wide,
            .doc = "Product over the axes of dim."});
  r.scan("cumsum(Tensor input, int dim, *, bool reverse=False) -> Tensor",
         monoid([](DType d) { return constant(d, 0); }, [](Expr a, Expr b) { return a + b; }),
         {.promote = Promote::sum,
          .grad =
              [](Grad g) {
                if (g.shape(0).empty()) return Grads{g.dy()};
                return Grads{R::cumsum(g.dy(), g.axis(kScanDim, 0), !g.flag(kScanReverse))};
              },
          .version = 2,
          .doc = "Running sum along dim, from its start or, reversed, from its end. Order: "
                 "docs/architecture.md."});
  r.scan("cumprod(Tensor input, int dim, *, bool reverse=False) -> Tensor",
         monoid([](DType d) { return constant(d, 1); }, [](Expr a, Expr b) { return a * b; }),
         {.promote = Promote::sum,
          .saves = save_x(0) | save_y(0),
          .grad = cumprod_grad,
          .version = 2,
          .doc = "Running product along dim, from its start or, reversed, from its end."});
  r.scan("affine_scan(Tensor input, int dim, bool reverse=False) -> Tensor", affine(),
         {.domain = differentiable,
          .saves = save_x(0) | save_y(0),
          .grad = affine_scan_grad,
          .places = kNowhere,
          .doc = "From y = 0 along dim, by turns y * x[i] and y + x[i]: with pairs (a, b) side by "
                 "side, every second result is y[k] = a[k] * y[k - 1] + b[k]. 0 times an overflow "
                 "is 0."});
  add_running(r);
}

}  // namespace lathe
