// Statistics made of the reductions: with NaNs left out, in pairs, and as distances.
#include <absl/strings/str_cat.h>

#include "core/infer/rules.h"
#include "core/ops/families.h"
#include "core/ops/names.h"

namespace lathe {
namespace {

using namespace names;

/// Argument 1, the axes: all of them where it is None.
Shape axes_of(Args a) { return a.none(1) ? Shape{} : a.ints(1); }

Tensor in_dtype(Args a, int at) {
  return a.none(at) ? a.tensor(0) : M::cast(a.tensor(0), a[static_cast<size_t>(at)]);
}

/// x without its NaNs: 0 in their place.
Tensor numbers_of(const Tensor& x) {
  return category(x.dtype()) < 2 ? x : M::where(M::isnan(x), 0, x);
}

Outputs nansum_expansion(Args a) {
  Tensor y = R::sum(numbers_of(in_dtype(a, 3)), axes_of(a), a.flag(2));
  // Sums of small integers and of bool are int64 by themselves.
  return {a.none(3) || y.dtype() == a.dtype(3) ? y : M::cast(y, a[3])};
}

Outputs nanmean_expansion(Args a) {
  Tensor x = in_dtype(a, 3);
  if (category(x.dtype()) < 2)
    throw DTypeError({.op = "nanmean",
                      .problem = "the mean of integers is no integer",
                      .got = std::string(name(x.dtype())),
                      .expected = "a floating dtype",
                      .next = "convert with .to(lt.float32), or give dtype=lt.float32"});
  Tensor count = R::sum(M::logical_not(M::isnan(x)), axes_of(a), a.flag(2));
  return {M::div(R::sum(numbers_of(x), axes_of(a), a.flag(2)), count)};
}

/// (spread, mean) of var_mean and std_mean.
template <auto& Spread>
Outputs with_mean(Args a) {
  return {Spread(a.tensor(0), a[1], a[2], a.flag(3)), R::mean(a.tensor(0), axes_of(a), a.flag(3))};
}

Outputs aminmax_expansion(Args a) {
  const Shape dims = axes_of(a);
  return {R::amin(a.tensor(0), dims, a.flag(2)), R::amax(a.tensor(0), dims, a.flag(2))};
}

/// Slices along `dim` whose norm is above the bound are scaled down to it.
Outputs renorm_expansion(Args a) {
  Tensor x = a.tensor(0);
  if (x.rank() < 2)
    throw ShapeError({.op = "renorm",
                      .problem = "the input needs at least two axes",
                      .got = to_string(type_of(x)),
                      .expected = "slices that have elements of their own",
                      .next = "divide by norm() where there is one vector"});
  if (!(a.real(1) > 0) || !(a.real(3) >= 0))
    throw ValueError({.op = "renorm",
                      .problem = "p must be positive and maxnorm not negative",
                      .got = absl::StrCat("p=", to_string(a[1]), ", maxnorm=", to_string(a[3])),
                      .expected = "p > 0 and maxnorm >= 0",
                      .next = "take p=2 for lengths"});
  const int axis = size_axis("renorm", a.integer(2).value(), x.rank());
  Shape others;
  for (int i = 0; i < x.rank(); ++i)
    if (i != axis) others.push_back(Int(i));
  Tensor norm = R::norm(x, a[1], others, true);
  Tensor factor = M::div(a[3], M::add(norm, 1e-7));
  return {M::mul(x, M::where(M::gt(norm, a[3]), factor, 1))};
}

void add_without_nan(Definitions& r) {
  r.composite("count_nonzero(Tensor input, int[]? dim=None) -> Tensor",
              [](Args a) -> Outputs { return {R::sum(M::ne(a.tensor(0), 0), axes_of(a))}; },
              {.no_grad = true, .moves = true, .doc = "How many elements along dim are not 0."});
  r.composite(
      "nansum(Tensor input, int[]? dim=None, bool keepdim=False, *, dtype? dtype=None) -> Tensor",
      nansum_expansion, {.doc = "Sum over the axes of dim in which NaN counts as 0."});
  r.composite(
      "nanmean(Tensor input, int[]? dim=None, bool keepdim=False, *, dtype? dtype=None) -> Tensor",
      nanmean_expansion, {.doc = "Mean over the axes of dim of what is not NaN."});
}

void add_pairs(Definitions& r) {
  r.composite(
      "var_mean(Tensor input, int[]? dim=None, *, Scalar? correction=1, bool keepdim=False) -> "
      "Tensor[]",
      with_mean<R::var>, {.doc = "(var, mean) over the axes of dim."});
  r.composite(
      "std_mean(Tensor input, int[]? dim=None, *, Scalar? correction=1, bool keepdim=False) -> "
      "Tensor[]",
      with_mean<R::std>, {.doc = "(std, mean) over the axes of dim."});
  r.composite(
      "aminmax(Tensor input, *, int? dim=None, bool keepdim=False) -> (Tensor min, Tensor max)",
      aminmax_expansion,
      {.moves = true, .doc = "The smallest and the largest element along dim, or of all."});
}

void add_distances(Definitions& r) {
  r.composite("dist(Tensor input, Tensor other, Scalar p=2) -> Tensor",
              [](Args a) -> Outputs { return {R::norm(M::sub(a[0], a[1]), a[2])}; },
              {.doc = "The p-norm of input - other."});
  r.composite("renorm(Tensor input, Scalar p, int dim, Scalar maxnorm) -> Tensor", renorm_expansion,
              {.inplace = true,
               .doc = "input with the slices along dim whose p-norm is above maxnorm scaled down "
                      "to it."});
}

// ── sums over intervals ─────────────────────────────────────────────────────────────────────────

/// x from `start` to the end of the axis, or as far as `less` before it.
Tensor part(const Tensor& x, int axis, Int start, Int less = 0) {
  return S::slice(x, axis, start, x.size(axis) - less);
}

Tensor step_of(const Tensor& x, int axis) { return M::sub(part(x, axis, 1), part(x, axis, 0, 1)); }

/// The areas under the straight lines from point to point. `dx`: a tensor of steps, or a number.
Tensor trapezoids(const Tensor& y, int axis, const Arg& dx) {
  return M::mul(dx, M::div(M::add(part(y, axis, 1), part(y, axis, 0, 1)), 2));
}

int interval_axis(std::string_view op, const Tensor& y, Int dim) {
  return size_axis(op, dim.value(), y.rank());
}

/// Arguments (y, x, *, dim): x of one axis lies along dim.
Tensor trapezoids_at(std::string_view op, Args a) {
  Tensor y = as_float(a.tensor(0)), x = as_float(a.tensor(1));
  const int axis = interval_axis(op, y, a.integer(2));
  if (x.rank() == 1 && y.rank() > 1) {
    if (!require(Relation::eq, x.size(0), y.size(axis)))
      throw ShapeError({.op = std::string(op),
                        .problem = "there is not one x for each y",
                        .got = absl::StrCat(to_string(x.shape()), " for ", to_string(y.shape())),
                        .expected = "as many as y has along dim",
                        .next = "leave x out, and give dx, for equal steps"});
    Shape along(static_cast<size_t>(y.rank()), Int(1));
    along[static_cast<size_t>(axis)] = x.size(0);
    x = S::reshape(x, along);
  }
  if (x.rank() != y.rank()) x = S::expand(x, y.shape());
  return trapezoids(y, axis, step_of(x, axis));
}
Tensor trapezoids_by(std::string_view op, Args a) {
  Tensor y = as_float(a.tensor(0));
  return trapezoids(y, interval_axis(op, y, a.integer(2)), a[1]);
}

void add_integrals(Definitions& r) {
  auto add = [&](std::string_view name, bool running, std::string_view doc) {
    auto result = [running](Tensor areas, Args a) -> Outputs {
      const Int dim = a.integer(2);
      return {running ? R::cumsum(areas, dim) : R::sum(areas, {dim})};
    };
    auto form = [&](const char* schema, auto areas) {
      r.composite(absl::StrCat(name, schema), [=](Args a) { return result(areas(name, a), a); },
                  {.places = kFunction, .doc = doc});
    };
    form(".x(Tensor y, Tensor x, *, int dim=-1) -> Tensor", trapezoids_at);
    form("(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor", trapezoids_by);
  };
  constexpr std::string_view kArea =
      "The area under the straight lines from point to point along dim; points are dx apart, or at "
      "x.";
  add("trapezoid", false, kArea);
  add("trapz", false, kArea);
  add("cumulative_trapezoid", true,
      "The area under the straight lines up to each point but the first along dim.");
}

// ── differences ─────────────────────────────────────────────────────────────────────────────────

Outputs diff_expansion(Args a) {
  Tensor x = a.tensor(0);
  if (x.rank() == 0)
    throw ShapeError({.op = "diff",
                      .problem = "a tensor without axes has no neighbours",
                      .got = to_string(type_of(x)),
                      .expected = "at least one axis",
                      .next = "reshape it to one axis first"});
  const int axis = size_axis("diff", a.integer(2).value(), x.rank());
  const int64_t n = a.integer(1).value();
  if (n < 0)
    throw ValueError({.op = "diff",
                      .problem = "a negative number of differences",
                      .got = absl::StrCat("n=", n),
                      .expected = "0 or more",
                      .next = "n=1 takes the difference of neighbours once"});
  if (n == 0) return {M::clone(x)};  // whatever was to stand beside it
  Tensors parts;
  for (int k : {3, 0, 4})
    if (!a.none(k)) parts.push_back(a.tensor(k));
  if (parts.size() > 1) x = S::cat(parts, axis);
  for (int64_t k = 0; k < n; ++k) {
    if (x.size(axis) == Int(0)) break;
    Tensor later = part(x, axis, 1), earlier = part(x, axis, 0, 1);
    x = x.dtype() == DType::bool_ ? M::ne(later, earlier) : M::sub(later, earlier);
  }
  return {same(x, a.tensor(0)) ? M::clone(x) : x};
}

/// How far apart points are along an axis: a number, or positions.
struct Spacing {
  Arg step = Arg(1);
  Tensor at;
};

/// The slope at each point along the axis: by both neighbours inside, exact for parabolas; at the
/// ends by the line through two points, or by the parabola through three.
Tensor slope(const Tensor& x, int axis, const Spacing& given, int order) {
  Shape along(static_cast<size_t>(x.rank()), Int(1));
  along[static_cast<size_t>(axis)] = x.size(axis) - 1;
  Tensor h;  // from each point to the next
  if (given.at.defined()) {
    h = S::reshape(step_of(given.at, 0), along);
  } else {
    h = M::mul(C::ones(along, x.dtype(), x.device()), given.step);
  }
  Tensor rise = M::div(step_of(x, axis), h);  // of the lines between neighbours
  Tensor before = part(rise, axis, 0, 1), behind = part(rise, axis, 1);
  Tensor hb = part(h, axis, 0, 1), ha = part(h, axis, 1);
  auto inner = [&] {  // the parabola's slope at its middle point
    // Of even steps it does not depend on the value there, which may be infinite.
    if (!given.at.defined())
      return M::div(M::div(M::sub(part(x, axis, 2), part(x, axis, 0, 2)), given.step), 2);
    return M::div(M::add(M::mul(before, ha), M::mul(behind, hb)), M::add(ha, hb));
  };
  const Tensor inside = inner();
  auto end = [&](const Tensor& t, bool last) {
    return last ? part(t, axis, t.size(axis) - 1) : S::slice(t, axis, 0, 1);
  };
  auto edge = [&](bool last) {
    Tensor line = end(rise, last);
    if (order == 1) return line;
    // A parabola's slope changes evenly: at its end it is twice the line's less the middle's.
    return M::sub(M::mul(line, 2), end(inside, last));
  };
  return S::cat({edge(false), inside, edge(true)}, axis);
}

/// `spacing_of(k)`: of the k-th of `dims`.
template <class F>
Outputs slopes(const Tensor& given, const Arg& dim, Int edge_order, size_t spacings, F spacing_of) {
  Tensor x = as_float(given);
  const Int order = edge_order;
  if (order != Int(1) && order != Int(2))
    throw ValueError({.op = "gradient",
                      .problem = "there are borders of first and of second order only",
                      .got = absl::StrCat("edge_order=", to_string(order)),
                      .expected = "1 or 2",
                      .next = "leave the argument out"});
  Shape dims = all_axes(x.rank());
  if (dim.tag == Tag::integer) dims = {dim.integer()};
  if (dim.tag == Tag::list) dims = Args(&dim, 1).ints(0);
  for (Int d : dims) size_axis("gradient", d.value(), x.rank());
  named_axes("gradient", dims, x.rank());
  if (spacings != 0 && spacings != dims.size())
    throw ValueError({.op = "gradient",
                      .problem = "there is not one spacing for each axis",
                      .got = absl::StrCat(spacings, " for ", dims.size(), " axes"),
                      .expected = "one for each, or one number for all",
                      .next = "give as many as dim names axes"});
  Outputs out;
  for (size_t k = 0; k < dims.size(); ++k) {
    const int axis = size_axis("gradient", dims[k].value(), x.rank());
    if (!require(Relation::le, order + 1, x.size(axis)))
      throw ShapeError({.op = "gradient",
                        .problem = "too few points along an axis",
                        .got = to_string(x.shape()),
                        .expected = absl::StrCat("at least ", to_string(order + 1)),
                        .next = "leave that axis out of dim"});
    const Spacing spacing = spacing_of(k);
    if (spacing.at.defined() &&
        (spacing.at.rank() != 1 || !require(Relation::eq, spacing.at.size(0), x.size(axis))))
      throw ShapeError({.op = "gradient",
                        .problem = "there is not one position for each point",
                        .got = to_string(spacing.at.shape()),
                        .expected = absl::StrCat("[", to_string(x.size(axis)), "]"),
                        .next = "give the coordinates of the points along the axis"});
    out.push_back(slope(x, axis, spacing, order == Int(1) ? 1 : 2));
  }
  return out;
}

void add_differences(Definitions& r) {
  r.composite(
      "diff(Tensor input, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None) -> "
      "Tensor",
      diff_expansion,
      {.moves = true,
       .doc = "Differences of neighbours along dim, n times; of bool, whether they "
              "differ."});
  const Extra extra{.doc =
                        "The slope of input along each axis of dim (each axis, if None), from "
                        "values that lie spacing apart, or at positions that it gives."};
  r.composite(
      "gradient(Tensor input, *, Scalar? spacing=None, int[]? dim=None, int edge_order=1) -> "
      "Tensor[]",
      [](Args a) {
        const Spacing all{.step = a.none(1) ? Arg(1) : a[1]};
        return slopes(a.tensor(0), a[2], a.integer(3), 0, [&](size_t) { return all; });
      },
      extra);
  r.composite(
      "gradient.steps(Tensor input, *, float[] spacing, int[]? dim=None, int edge_order=1) -> "
      "Tensor[]",
      [](Args a) {
        const ArgList& list = *a[1].list_;
        return slopes(a.tensor(0), a[2], a.integer(3), list.size,
                      [&](size_t k) { return Spacing{.step = list.data[k]}; });
      },
      extra);
  r.composite(
      "gradient.positions(Tensor input, *, Tensor[] spacing, int[]? dim=None, int edge_order=1) -> "
      "Tensor[]",
      [](Args a) {
        const Tensors list = a.tensors(1);
        return slopes(a.tensor(0), a[2], a.integer(3), list.size(),
                      [&](size_t k) { return Spacing{.at = list[k]}; });
      },
      extra);
}

}  // namespace

void add_statistics_definitions(Definitions& r) {
  add_without_nan(r);
  add_pairs(r);
  add_distances(r);
  add_integrals(r);
  add_differences(r);
}

}  // namespace lathe
