// Sets of values and counts of them: unique, searches in sorted sequences, histograms.
#include <absl/strings/str_cat.h>

#include <cmath>

#include "core/infer/rules.h"
#include "core/ops/families.h"
#include "core/ops/names.h"

namespace lathe {
namespace {

using namespace names;

Tensor flat(const Tensor& x) { return S::reshape(x, {x.numel()}); }

// ── unique ──────────────────────────────────────────────────────────────────────────────────────

/// What is told apart: elements, or slices along an axis.
struct Things {
  Tensor of;     // what they are slices of: the input, flattened if it is its elements
  int axis = 0;  // of `of`
  Tensor rows;   // a row of real numbers each, in the order given
  Tensor order;  // by value; undefined: as given
};

/// A complex number is told apart, and put in order, by its real part and then its imaginary one.
Tensor real_rows(const Tensor& rows) {
  if (!is_complex(rows.dtype())) return rows;
  return S::reshape(S::view_as_real(rows), {rows.size(0), rows.size(1) * 2});
}

/// The rows in ascending order, compared from the first column on: stable sorts, last column first.
Tensor ascending(const Tensor& rows) {
  const Int width = rows.size(1);
  if (width == Int(1)) return I::argsort(S::select(rows, 1, 0), 0);
  Tensor order = C::arange(0, rows.size(0), 1, DType::i64, rows.device());
  for (Int k = width; k > 0; k = k - 1) {
    Tensor column = I::index_select(S::select(rows, 1, k - 1), 0, order);
    order = I::index_select(order, 0, I::argsort(column, 0));
  }
  return order;
}

/// (values, inverse if asked, counts if asked) of runs of equal things, `elements` of x or slices.
Outputs runs(const Tensor& x, const Things& things, bool elements, bool inverse, bool counts) {
  Tensor rows =
      things.order.defined() ? I::index_select(things.rows, 0, things.order) : things.rows;
  const Int n = rows.size(0);
  Outputs out;
  // The first thing begins a run, if there is one, and so does each that differs from the last.
  Tensor differ = M::ne(S::slice(rows, 0, Int(1), n), S::slice(rows, 0, Int(0), max(n - 1, 0)));
  Tensor starts =
      S::cat({C::ones({min(n, 1)}, DType::bool_, x.device()), R::any(differ, {Int(1)})});
  Tensor first = positions_of(starts)[0];
  Tensor from = things.order.defined() ? I::index_select(things.order, 0, first) : first;
  out.push_back(I::index_select(things.of, things.axis, from));
  if (inverse) {
    Tensor number = M::sub(R::cumsum(starts, 0), 1);
    if (things.order.defined())
      number = I::scatter(C::zeros({n}, DType::i64, x.device()), 0, things.order, number);
    out.push_back(elements ? S::reshape(number, x.shape()) : number);
  }
  if (counts) {
    Tensor ends = S::cat({first, C::full({Int(1)}, Arg(n), DType::i64, x.device())});
    out.push_back(R::diff(ends));
  }
  return out;
}

Outputs unique(Args a, bool sorts, int first_flag) {
  Tensor x = a.tensor(0);
  GradMode no_grad(false);
  Things things;
  const Arg& dim = a[static_cast<size_t>(first_flag) + 2];
  if (dim.none()) {
    things.of = flat(x);
    things.rows = real_rows(S::unsqueeze(things.of, 1));
  } else {
    const char* name = sorts ? "unique" : "unique_consecutive";
    things.of = x;
    things.axis = size_axis(name, dim.integer().value(), x.rank());
    for (int i = 0; i < x.rank(); ++i)
      if (i != things.axis && x.size(i) == Int(0))
        throw ShapeError({.op = name,
                          .problem = "slices without elements cannot be told apart",
                          .got = to_string(type_of(x)),
                          .expected = "no axis of size 0 but dim",
                          .next = "leave dim out"});
    Shape front{Int(things.axis)};
    for (int i = 0; i < x.rank(); ++i)
      if (i != things.axis) front.push_back(Int(i));
    Tensor moved = S::permute(x, front);
    const Int n = moved.size(0);
    things.rows = real_rows(S::reshape(moved, {n, n == Int(0) ? Int(0) : floor_div(x.numel(), n)}));
  }
  if (sorts) things.order = ascending(things.rows);
  return runs(x, things, dim.none(), a.flag(first_flag), a.flag(first_flag + 1));
}

void add_unique(Definitions& r) {
  r.composite(
      "unique(Tensor input, bool sorted=True, bool return_inverse=False, bool "
      "return_counts=False, int? dim=None) -> Tensor[]",
      [](Args a) { return unique(a, true, 2); },
      {.no_grad = true,
       .moves = true,
       .lone = [](Args a) { return !a.flag(2) && !a.flag(3); },
       .doc = "The elements (the slices along dim) of input without repetitions, always in "
              "ascending order; if asked, which of them each one is, and how often each occurs."});
  r.composite(
      "unique_consecutive(Tensor input, bool return_inverse=False, bool return_counts=False, int? "
      "dim=None) -> Tensor[]",
      [](Args a) { return unique(a, false, 1); },
      {.no_grad = true,
       .moves = true,
       .lone = [](Args a) { return !a.flag(1) && !a.flag(2); },
       .doc =
           "The first of each run of equal elements (slices along dim); if asked, which run each "
           "belongs to, and how long each is."});
}

// ── searches ────────────────────────────────────────────────────────────────────────────────────

Tensor as_asked(const Tensor& found, bool out_int32) {
  return out_int32 ? M::cast(found, DType::i32) : found;
}

/// A number as a tensor that can be compared with elements of x: in x's dtype, or in the default
/// float where it is one and they are not.
Tensor beside(Tensor& x, const Arg& number) {
  if (number.tag == Tag::real && category(x.dtype()) < 2) x = M::cast(x, default_dtype());
  return C::full({}, number, x.dtype(), x.device());
}

/// Arguments from out_int32 on: out_int32, right, side, sorter.
Outputs search(Tensor sorted, Tensor values, Args a) {
  bool right = a.flag(3);
  if (!a.none(4)) {
    const std::string_view side = a.text(4);
    if ((side != "left" && side != "right") || (right && side == "left"))
      throw ValueError({.op = "searchsorted",
                        .problem = "an unknown side, or not the one that right=True says",
                        .got = absl::StrCat("side='", side, "', right=", right ? "True" : "False"),
                        .expected = "'left' or 'right'",
                        .next = "give one of the two"});
    right = side == "right";
  }
  const DType common = promote(sorted.dtype(), values.dtype());
  if (sorted.dtype() != common) sorted = M::cast(sorted, common);
  if (values.dtype() != common) values = M::cast(values, common);
  if (!a.none(5)) sorted = I::gather(sorted, -1, a.tensor(5));
  return {as_asked(I::searchsorted(sorted, values, right), a.flag(2))};
}

/// Which elements are among those of `set`: each is looked for in the sorted set.
Tensor is_among(Tensor elements, Tensor set, bool invert) {
  const DType common = promote(elements.dtype(), set.dtype());
  elements = M::cast(elements, common);
  set = M::cast(flat(set), common);
  const Int n = set.numel();
  if (n == Int(0)) return C::full(elements.shape(), invert, DType::bool_, elements.device());
  Tensor sorted = std::get<0>(I::sort(set, 0));
  Tensor at = M::clamp_max(I::searchsorted(sorted, elements, false), n - 1);
  Tensor found = M::eq(I::index_select(sorted, 0, at), elements);
  return invert ? M::logical_not(found) : found;
}

void add_searches(Definitions& r) {
  Extra extra{.no_grad = true, .places = kFunction, .moves = true};
  auto with = [&](std::string_view doc) {
    Extra e = extra;
    e.doc = doc;
    return e;
  };
  constexpr std::string_view kWhere =
      "Where each value would go into an ascending sequence (of its row, or the only one): before "
      "equal elements, or behind them if right or side='right'. sorter: what sorts the sequence.";
  r.composite(
      "searchsorted.side(Tensor sorted_sequence, Tensor input, *, bool out_int32=False, bool "
      "right=False, str? side=None, Tensor? sorter=None) -> Tensor",
      [](Args a) { return search(a.tensor(0), a.tensor(1), a); }, with(kWhere));
  r.composite(
      "searchsorted.number(Tensor sorted_sequence, Scalar self, *, bool out_int32=False, bool "
      "right=False, str? side=None, Tensor? sorter=None) -> Tensor",
      [](Args a) {
        Tensor sorted = a.tensor(0), value = beside(sorted, a[1]);
        return search(sorted, value, a);
      },
      with(kWhere));
  constexpr std::string_view kBucket =
      "The number of boundaries below each value; of those not above it, if right.";
  r.composite(
      "bucketize(Tensor input, Tensor boundaries, *, bool out_int32=False, bool right=False) -> "
      "Tensor",
      [](Args a) -> Outputs {
        Tensor x = a.tensor(0), edges = a.tensor(1);
        const DType common = promote(x.dtype(), edges.dtype());
        return {as_asked(I::searchsorted(M::cast(edges, common), M::cast(x, common), a.flag(3)),
                         a.flag(2))};
      },
      with(kBucket));
  r.composite(
      "bucketize.number(Scalar self, Tensor boundaries, *, bool out_int32=False, bool right=False) "
      "-> Tensor",
      [](Args a) -> Outputs {
        Tensor edges = a.tensor(1), value = beside(edges, a[0]);
        return {as_asked(I::searchsorted(edges, value, a.flag(3)), a.flag(2))};
      },
      with(kBucket));
  constexpr std::string_view kAmong =
      "True where an element is among the test elements; where it is not, if invert.";
  r.composite(
      "isin(Tensor elements, Tensor test_elements, *, bool assume_unique=False, bool invert=False) "
      "-> Tensor",
      [](Args a) -> Outputs { return {is_among(a.tensor(0), a.tensor(1), a.flag(3))}; },
      with(kAmong));
  r.composite(
      "isin.number(Tensor elements, Scalar test_element, *, bool assume_unique=False, bool "
      "invert=False) -> Tensor",
      [](Args a) -> Outputs {
        return {a.flag(3) ? M::ne(a.tensor(0), a[1]) : M::eq(a.tensor(0), a[1])};
      },
      with(kAmong));
  r.composite(
      "isin.element(Scalar element, Tensor test_elements, *, bool assume_unique=False, bool "
      "invert=False) -> Tensor",
      [](Args a) -> Outputs {
        Tensor set = a.tensor(1), value = beside(set, a[0]);
        return {is_among(value, set, a.flag(3))};
      },
      with(kAmong));
}

// ── counts ──────────────────────────────────────────────────────────────────────────────────────

/// How many (how much weight) fell to each of so many places; at `places` itself lies what fell
/// beside them.
Tensor tallied(const Tensor& at, Int places, const Tensor& weight) {
  Tensor none = C::zeros({places + 1}, weight.dtype(), weight.device());
  return S::slice(I::scatter_add(none, 0, at, weight), 0, Int(0), places);
}

Outputs bincount_expansion(Args a) {
  Tensor x = a.tensor(0);
  if (!integers.has(x.dtype()) || x.rank() != 1)
    throw ShapeError({.op = "bincount",
                      .problem = "only integers along one axis can be counted",
                      .got = to_string(type_of(x)),
                      .expected = "one axis of integers, from 0",
                      .next = "flatten() it, or convert with .to(lt.int64)"});
  Tensor at = M::cast(x, DType::i64);
  Int places = 0;
  if (x.numel() > Int(0)) {
    const Tensor least = R::amin(at), most = R::amax(at);
    if (!captures() && least.item_int() < 0)
      throw ValueError({.op = "bincount",
                        .problem = "a negative number",
                        .got = absl::StrCat(least.item_int()),
                        .expected = "integers from 0",
                        .next = "subtract the smallest first"});
    places = size_in(M::where(M::lt(least, 0), -1, M::add(most, 1)));
  }
  if (a.integer(2) < Int(0))
    throw ValueError({.op = "bincount",
                      .problem = "a negative length",
                      .got = absl::StrCat("minlength=", to_string(a.integer(2))),
                      .expected = "0 or more",
                      .next = "leave the argument out"});
  Tensor weight;
  if (a.none(1)) {
    weight = S::expand(C::ones({}, DType::i64, x.device()), x.shape());
  } else {
    weight = a.tensor(1);
    if (weight.rank() != 1 || !require(Relation::eq, weight.size(0), x.size(0)))
      throw ShapeError(
          {.op = "bincount",
           .problem = "there is not one weight for each number",
           .got = absl::StrCat(to_string(weight.shape()), " for ", to_string(x.shape())),
           .expected = to_string(x.shape()),
           .next = "give weights of the shape of the input"});
    if (weight.dtype() != DType::f32) weight = M::cast(weight, DType::f64);
  }
  return {tallied(at, max(places, a.integer(2)), weight)};
}

struct Range {
  Tensor low, high;  // 0-d; apart
};

/// From number to number, or from the least to the greatest element where no numbers are given;
/// by `apart` to either side where the two are equal.
Range range_of_bins(std::string_view op, const Tensor& x, const Arg& low, const Arg& high,
                    double apart) {
  auto wide = [apart](const Tensor& l, const Tensor& h) {
    Tensor equal = M::eq(l, h);
    return Range{M::where(equal, M::sub(l, apart), l), M::where(equal, M::add(h, apart), h)};
  };
  auto number = [&](const Arg& v) { return C::full({}, v, x.dtype(), x.device()); };
  if (low.tag == Tag::none) {
    if (x.numel() == Int(0)) return {number(Arg(0.0)), number(Arg(1.0))};
    return wide(R::amin(x), R::amax(x));
  }
  Args given[] = {Args(&low, 1), Args(&high, 1)};
  const Real from = given[0].real(0), to = given[1].real(0);
  if (!(from <= to))
    throw ValueError({.op = std::string(op),
                      .problem = "the range ends before it begins",
                      .got = absl::StrCat(to_string(low), " to ", to_string(high)),
                      .expected = "min <= max",
                      .next = "leave both out for the range of the elements"});
  return wide(number(Arg(from)), number(Arg(to)));
}

void require_bins(std::string_view op, Int bins) {
  if (bins > Int(0)) return;
  throw ValueError({.op = std::string(op),
                    .problem = "at least one bin is needed",
                    .got = absl::StrCat("bins=", to_string(bins)),
                    .expected = "1 or more",
                    .next = "leave the argument out for 100"});
}

Outputs histc_expansion(Args a) {
  const Int bins = a.integer(1);
  require_bins("histc", bins);
  Tensor x = flat(a.tensor(0));
  const bool own = a.real(2) == a.real(3);  // both are 0 if they are left out
  const Range range = range_of_bins("histc", x, own ? Arg() : a[2], own ? Arg() : a[3], 1.0);
  Tensor inside = M::logical_and(M::le(range.low, x), M::le(x, range.high));
  Tensor share = M::div(M::mul(M::sub(x, range.low), bins), M::sub(range.high, range.low));
  Tensor at = M::clamp_max(M::cast(M::where(inside, share, 0), DType::i64), bins - 1);
  return {tallied(M::where(inside, at, bins), bins, C::ones_like(x))};
}

/// n + 1 borders of n equal bins, counted from the nearer end, so that both ends are exact.
Tensor borders(const Range& range, Int bins) {
  Tensor i = C::arange(0, bins + 1, 1, range.low.dtype(), range.low.device());
  Tensor width = M::div(M::sub(range.high, range.low), bins);
  Tensor from_low = M::add(range.low, M::mul(i, width));
  Tensor from_high = M::sub(range.high, M::mul(M::sub(bins, i), width));
  return M::where(M::lt(M::mul(i, 2), bins + 1), from_low, from_high);
}

/// Which bin each of x falls into, and whether there is one. A bin holds what is not below its
/// lower border and below its upper one; the last holds its upper border too.
struct Binned {
  Tensor at, inside;
  Binned(const Tensor& x, const Tensor& edges) {
    const Int bins = edges.size(0) - 1;
    Tensor last = S::select(edges, 0, bins), first = S::select(edges, 0, 0);
    inside = M::logical_and(M::le(first, x), M::le(x, last));
    at = M::clamp_max(M::sub(I::searchsorted(edges, x, true), 1), bins - 1);
  }
};

/// (hist, bin_edges).
Outputs histogram(const Tensor& given, const Tensor& edges, const Tensor& given_weight,
                  bool density) {
  Tensor x = flat(given);
  const Int bins = edges.size(0) - 1;
  Tensor weight = given_weight.defined() ? flat(given_weight) : C::ones_like(x);
  if (weight.dtype() != x.dtype() || !require(Relation::eq, weight.numel(), x.numel()))
    throw ShapeError(
        {.op = "histogram",
         .problem = "there is not one weight of the dtype of the input for each element",
         .got = absl::StrCat(to_string(type_of(weight)), " for ", to_string(type_of(x))),
         .expected = to_string(type_of(x)),
         .next = "give weights of the shape and dtype of the input"});
  const Binned b(x, edges);
  Tensor hist = tallied(M::where(b.inside, b.at, bins), bins, weight);
  if (density) hist = M::div(hist, M::mul(R::sum(hist), R::diff(edges)));
  return {hist, M::clone(edges)};  // a tensor of its own, as in PyTorch
}

Outputs histogram_of_count(Args a) {
  Tensor x = a.tensor(0);
  const Int bins = a.integer(1);
  require_bins("histogram", bins);
  Arg low, high;
  if (!a.none(2)) {
    const ArgList& range = *a[2].list_;
    if (range.size != 2)
      throw ValueError({.op = "histogram",
                        .problem = "a range has two ends",
                        .got = absl::StrCat(range.size, " numbers"),
                        .expected = "(least, greatest)",
                        .next = "leave it out for the range of the elements"});
    low = range.data[0];
    high = range.data[1];
  }
  return histogram(x, borders(range_of_bins("histogram", flat(x), low, high, 0.5), bins),
                   a.optional_tensor(3), a.flag(4));
}

// ── of several axes ─────────────────────────────────────────────────────────────────────────────

constexpr std::string_view kGrid = "histogramdd";

/// The points of input[..., axes], one row each.
Tensor points(const Tensor& input) {
  if (input.rank() >= 2 && require(Relation::le, Int(1), input.size(-1)))
    return S::flatten(input, 0, input.rank() - 2);
  throw ShapeError({.op = std::string(kGrid),
                    .problem = "the input is not points along its last axis",
                    .got = to_string(type_of(input)),
                    .expected = "[..., axes] with an axis at least",
                    .next = "unsqueeze(-1) for points on a line, or take histogram()"});
}

void require_axes_of(Int given, Int axes, std::string_view what) {
  if (require(Relation::eq, given, axes)) return;
  throw ValueError({.op = std::string(kGrid),
                    .problem = absl::StrCat("there are not so many ", what,
                                            " as the points have "
                                            "coordinates"),
                    .got = to_string(given),
                    .expected = to_string(axes),
                    .next = "the last axis of the input is that of the coordinates"});
}

/// (hist, the edges along each axis).
Outputs grid_of(const Tensor& input, const Tensors& edges, const Tensor& given_weight,
                bool density) {
  Tensor x = points(input), weight;
  const Shape front(input.shape().begin(), input.shape().end() - 1);
  if (given_weight.defined()) {
    if (given_weight.dtype() != x.dtype() || given_weight.rank() != input.rank() - 1 ||
        !require(Relation::eq, given_weight.numel(), x.size(0)))
      throw ShapeError({.op = std::string(kGrid),
                        .problem = "there is not one weight of the dtype of the input for each "
                                   "point",
                        .got = to_string(type_of(given_weight)),
                        .expected = to_string(TensorType{x.dtype(), front, x.device()}),
                        .next = "give weights of the shape of the input without its last axis"});
    weight = flat(given_weight);
  } else {
    weight = C::ones({x.size(0)}, x.dtype(), x.device());
  }
  Tensor at, inside, area;
  Shape sizes;
  Outputs out{Tensor()};
  for (size_t k = 0; k < edges.size(); ++k) {
    const Int bins = edges[k].size(0) - 1;
    const Binned b(S::contiguous(S::select(x, 1, static_cast<int64_t>(k))), edges[k]);
    at = at.defined() ? M::add(M::mul(at, bins), b.at) : b.at;
    inside = inside.defined() ? M::logical_and(inside, b.inside) : b.inside;
    Tensor width = R::diff(edges[k]);
    area = area.defined() ? M::mul(S::unsqueeze(area, -1), width) : width;
    sizes.push_back(bins);
    out.push_back(M::clone(edges[k]));
  }
  const Int cells = numel(sizes);
  Tensor hist = S::reshape(tallied(M::where(inside, at, cells), cells, weight), sizes);
  if (density) hist = M::div(hist, M::mul(R::sum(hist), area));
  out[0] = hist;
  return out;
}

/// Arguments: input, how many bins, range, weight, density.
Outputs grid_of_counts(Args a) {
  Tensor x = points(a.tensor(0));
  const int64_t axes = x.size(1).value();
  Shape bins = a[1].tag == Tag::list ? a.ints(1) : Shape(static_cast<size_t>(axes), a.integer(1));
  require_axes_of(Int(static_cast<int64_t>(bins.size())), x.size(1), "numbers of bins");
  const bool ranged = !a.none(2);
  if (ranged)
    require_axes_of(Int(static_cast<int64_t>(a[2].list_->size)), x.size(1) * 2,
                    "halves of ends of ranges");
  Tensors edges;
  for (size_t k = 0; k < bins.size(); ++k) {
    require_bins(kGrid, bins[k]);
    const Arg low = ranged ? a[2].list_->data[2 * k] : Arg();
    const Arg high = ranged ? a[2].list_->data[2 * k + 1] : Arg();
    Tensor along = S::select(x, 1, static_cast<int64_t>(k));
    edges.push_back(borders(range_of_bins(kGrid, along, low, high, 0.5), bins[k]));
  }
  return grid_of(a.tensor(0), edges, a.optional_tensor(3), a.flag(4));
}

Outputs grid_of_edges(Args a) {
  Tensor x = points(a.tensor(0));
  const Tensors edges = a.tensors(1);
  require_axes_of(Int(static_cast<int64_t>(edges.size())), x.size(1), "tensors of borders");
  for (const Tensor& e : edges)
    if (e.rank() != 1 || e.dtype() != x.dtype())
      throw ShapeError({.op = std::string(kGrid),
                        .problem = "borders of bins do not lie along one axis, in the dtype of the "
                                   "input",
                        .got = to_string(type_of(e)),
                        .expected = absl::StrCat(name(x.dtype()), "[n + 1], ascending"),
                        .next = "flatten() and convert them"});
  return grid_of(a.tensor(0), edges, a.optional_tensor(3), a.flag(4));
}

void add_grids(Definitions& r) {
  const Extra extra{.domain = floating,
                    .no_grad = true,
                    .places = kFunction,
                    .doc =
                        "How many points (or what weight), which lie along the last axis of "
                        "input, fall into each bin of a grid, and the bins' borders along each "
                        "axis; with density divided so that the volume is 1. range: both ends "
                        "along the first axis, along the second, and so on."};
  const std::string_view rest =
      ", float[]? range=None, Tensor? weight=None, bool density=False) -> (Tensor hist, "
      "Tensor[] bin_edges)";
  r.composite(absl::StrCat("histogramdd(Tensor input, int bins", rest), grid_of_counts, extra);
  r.composite(absl::StrCat("histogramdd.counts(Tensor input, int[] bins", rest), grid_of_counts,
              extra);
  r.composite(
      "histogramdd.edges(Tensor input, Tensor[] bins, None range=None, Tensor? weight=None, bool "
      "density=False) -> (Tensor hist, Tensor[] bin_edges)",
      grid_of_edges, extra);
}

void add_counts(Definitions& r) {
  r.composite("bincount(Tensor input, Tensor? weights=None, int minlength=0) -> Tensor",
              bincount_expansion,
              {.no_grad = true,
               .moves = true,
               .doc = "How often (with what weight) each integer from 0 to the greatest occurs."});
  r.composite("histc(Tensor input, int bins=100, Scalar min=0, Scalar max=0) -> Tensor",
              histc_expansion,
              {.domain = floating,
               .no_grad = true,
               .doc = "How many elements fall into each of so many equal bins between min and max, "
                      "or between the least and the greatest element if those are equal. Others "
                      "are left out."});
  constexpr std::string_view kDoc =
      "How many elements (or what weight) fall into each bin, and the bins' borders; with density "
      "divided so that the area is 1.";
  r.composite(
      "histogram(Tensor input, int bins=100, *, float[]? range=None, Tensor? weight=None, bool "
      "density=False) -> (Tensor hist, Tensor bin_edges)",
      histogram_of_count, {.no_grad = true, .doc = kDoc});
  r.composite(
      "histogram.edges(Tensor input, Tensor bins, *, Tensor? weight=None, bool density=False) -> "
      "(Tensor hist, Tensor bin_edges)",
      [](Args a) {
        if (a.tensor(1).rank() != 1)
          throw ShapeError({.op = "histogram",
                            .problem = "borders of bins lie along one axis",
                            .got = to_string(type_of(a.tensor(1))),
                            .expected = "one axis, ascending",
                            .next = "flatten() it"});
        return histogram(a.tensor(0), a.tensor(1), a.optional_tensor(2), a.flag(3));
      },
      {.no_grad = true, .doc = kDoc});
}

}  // namespace

void add_set_definitions(Definitions& r) {
  add_unique(r);
  add_searches(r);
  add_counts(r);
  add_grids(r);
}

}  // namespace lathe
