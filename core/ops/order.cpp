// Order statistics: what stands at a place of the sorted elements.
#include <absl/strings/str_cat.h>

#include "core/base/checks.h"
#include "core/infer/rules.h"
#include "core/ops/families.h"
#include "core/ops/names.h"

namespace lathe {
namespace {

using namespace names;

const Fn<Tensor, Tensor(Tensor x, Tensor rank)> places_of_ranks{"places_of_ranks"};

/// Sorted along `axis`, NaN behind all; without history: what is picked from x has it.
struct Sorted {
  Tensor values, order;
};
Sorted sorted(const Tensor& x, int axis) {
  GradMode no_grad(false);
  auto [values, order] = I::sort(x, axis);
  return {values, order};
}

void require_elements(std::string_view op, const Tensor& x, Int count) {
  if (require(Relation::lt, Int(0), count)) return;
  throw ValueError({.op = std::string(op),
                    .problem = "nothing to choose from: an axis of size 0 has no such value",
                    .got = to_string(type_of(x)),
                    .expected = "at least one element",
                    .next = "test numel() before, or take another axis"});
}

/// An axis to choose along: a tensor without axes counts as having one.
struct Line {
  Tensor x;
  int axis;
  bool point;
  Line(std::string_view op, const Tensor& given, Int dim)
      : x(given.rank() == 0 ? S::unsqueeze(given, 0) : given),
        axis(normalise_axis(op, dim.value(), given.rank())),
        point(given.rank() == 0) {
    require_elements(op, given, x.size(axis));
  }
  /// The chosen elements and where they lie, from `at`, their places along the axis (kept).
  Outputs chosen(const Tensor& at, bool keep) const {
    Tensor values = I::gather(x, axis, at);
    if (keep && !point) return {values, at};
    return {S::squeeze(values, {Int(axis)}), S::squeeze(at, {Int(axis)})};
  }
};

/// The elements of these ranks, one of each line: `rank` has one element along the axis.
Outputs chosen_by_rank(const Line& line, const Tensor& rank, bool keep) {
  Tensor at;
  {
    GradMode no_grad(false);
    at = places_of_ranks(S::transpose(line.x, line.axis, -1), S::transpose(rank, line.axis, -1));
  }
  return line.chosen(S::transpose(at, line.axis, -1), keep);
}

/// One rank for all lines.
Outputs chosen_by_rank(const Line& line, Int rank, bool keep) {
  Shape one = line.x.shape();
  one[static_cast<size_t>(line.axis)] = Int(1);
  return chosen_by_rank(line, S::expand(C::full({}, rank, DType::i64, line.x.device()), one), keep);
}

Outputs kthvalue_expansion(Args a) {
  const Line line("kthvalue", a.tensor(0), a.integer(2));
  const Int k = a.integer(1);
  if (!require(Relation::le, Int(1), k) || !require(Relation::le, k, line.x.size(line.axis)))
    throw ValueError({.op = "kthvalue",
                      .problem = "k is out of range",
                      .got = absl::StrCat("k = ", to_string(k)),
                      .expected = absl::StrCat("1 to ", to_string(line.x.size(line.axis))),
                      .next = "k counts from 1, for the smallest"});
  return chosen_by_rank(line, k - 1, a.flag(3));
}

/// The lower of the two middle elements; a NaN is the median, unless it is left out.
Outputs median_along(std::string_view op, const Tensor& given, Int dim, bool keep, bool nan_out) {
  const Line line(op, given, dim);
  const Int n = line.x.size(line.axis);
  if (!is_floating(given.dtype())) return chosen_by_rank(line, floor_div(n - 1, Int(2)), keep);
  Tensor count = R::sum(M::logical_not(M::isnan(line.x)), {Int(line.axis)}, true);
  Tensor middle = M::div_floor(M::sub(count, 1), 2);
  return chosen_by_rank(line, nan_out ? middle : M::where(M::lt(count, n), count, middle), keep);
}

/// x[..., n] and ranks [..., m] of its lines.
Types infer_places_of_ranks(Args a) {
  const Tensor x = a.tensor(0), rank = a.tensor(1);
  constexpr std::string_view kOp = "places_of_ranks";
  bool fits = x.rank() > 0 && x.rank() == rank.rank();
  for (int i = 0; fits && i + 1 < x.rank(); ++i)
    fits = require(Relation::eq, x.size(i), rank.size(i));
  if (!fits || rank.dtype() != DType::i64)
    throw ShapeError({.op = std::string(kOp),
                      .problem = "the ranks are not those of the lines",
                      .got = absl::StrCat(to_string(type_of(x)), " and ", to_string(type_of(rank))),
                      .expected = "int64, with the axes of the input but for the last one's size",
                      .next = "expand() the ranks"});
  require_elements(kOp, x, x.size(-1));
  return {type_of(rank)};
}

Outputs median_of_all(std::string_view op, const Tensor& x, bool nan_out) {
  if (is_floating(x.dtype()) && x.numel() == Int(0))
    return {C::full({}, std::numeric_limits<double>::quiet_NaN(), x.dtype(), x.device())};
  Tensor m = median_along(op, S::reshape(x, {x.numel()}), 0, false, nan_out)[0];
  if (!is_floating(x.dtype())) return {m};
  // Taken as the largest of the elements that equal it: those share its gradient, as in amax.
  Tensor equal = M::where(M::isnan(m), M::isnan(x), M::eq(x, m));
  Tensor others = M::where(equal, x, -std::numeric_limits<double>::infinity());
  Shape axes;
  for (int k = 0; k < x.rank(); ++k) axes.push_back(Int(k));
  return {R::amax(others, axes, false)};
}

/// The value that occurs most often, of several the smallest, and the last place where it does.
Outputs mode_expansion(Args a) {
  const Line line("mode", a.tensor(0), a.integer(1));
  const int axis = line.axis;
  const Sorted s = sorted(line.x, axis);
  const Int n = line.x.size(axis);
  // How many equal ones end at each place: from the last place that begins a run.
  Tensor later = S::slice(s.values, axis, Int(1), n);
  Tensor differ = M::ne(later, S::slice(s.values, axis, Int(0), n - 1));
  // NaNs, which stand side by side, are one value here.
  if (is_floating(later.dtype()))
    differ =
        M::logical_and(differ, M::logical_not(M::isnan(S::slice(s.values, axis, Int(0), n - 1))));
  Shape one = line.x.shape();
  one[static_cast<size_t>(axis)] = Int(1);
  Tensor begins = S::cat({C::ones(one, DType::bool_, line.x.device()), differ}, axis);
  Shape along(static_cast<size_t>(line.x.rank()), Int(1));
  along[static_cast<size_t>(axis)] = n;
  Tensor place = S::reshape(C::arange(0, n, 1, DType::i64, line.x.device()), along);
  Tensor from = R::running_max(M::where(begins, place, 0), axis, false);
  Tensor best = R::argmax(M::sub(place, from), axis, true);
  return line.chosen(I::gather(s.order, axis, best), a.flag(2));
}

/// PyTorch's two forms of a choice: along dim, and of all elements.
void add_median(Definitions& r, std::string_view name, bool nan_out, std::string_view doc) {
  r.composite(absl::StrCat(name, "(Tensor input) -> Tensor"),
              [=](Args a) { return median_of_all(name, a.tensor(0), nan_out); },
              {.moves = true, .doc = doc});
  r.composite(
      absl::StrCat(name,
                   ".dim(Tensor input, int dim, bool keepdim=False) -> (Tensor values, "
                   "Tensor indices)"),
      [=](Args a) { return median_along(name, a.tensor(0), a.integer(1), a.flag(2), nan_out); },
      {.moves = true, .doc = doc});
}

// ── quantiles ───────────────────────────────────────────────────────────────────────────────────

struct Interpolation {
  bool below = false, above = false, nearest = false, middle = false;  // none: between the two
};

Interpolation interpolation_of(std::string_view op, std::string_view how) {
  if (how == "linear") return {};
  if (how == "lower") return {.below = true};
  if (how == "higher") return {.above = true};
  if (how == "nearest") return {.nearest = true};
  if (how == "midpoint") return {.middle = true};
  throw ValueError({.op = std::string(op),
                    .problem = "an unknown interpolation",
                    .got = absl::StrCat("'", how, "'"),
                    .expected = "'linear', 'lower', 'higher', 'nearest' or 'midpoint'",
                    .next = "leave the argument out for 'linear'"});
}

Tensor quantiles_wanted(std::string_view op, const Tensor& x, const Arg& q) {
  if (q.tag != Tag::tensor) {
    const Real p = Args(&q, 1).real(0);
    if (!(p >= 0 && p <= 1))
      throw ValueError({.op = std::string(op),
                        .problem = "a quantile is outside of [0, 1]",
                        .got = absl::StrCat("q=", to_string(Real(p.hint()))),
                        .expected = "0 <= q <= 1",
                        .next = "q is a share in [0, 1], not a percentage"});
    return C::full({}, q, x.dtype(), x.device());
  }
  Tensor t = q.tensor();
  if (t.rank() > 1 || t.dtype() != x.dtype())
    throw DTypeError({.op = std::string(op),
                      .problem = "q is no number and no axis of numbers of the dtype of input",
                      .got = to_string(type_of(t)),
                      .expected = absl::StrCat(name(x.dtype()), ", at most one axis"),
                      .next = "convert it with .to(dtype), or flatten() it"});
  return M::probability(t);
}

/// The quantiles in front, then the axes of x.
Outputs quantile_along(Args a, std::string_view op, bool nan_out) {
  Tensor x = a.tensor(0);
  const Interpolation how = interpolation_of(op, a.text(4));
  if (x.dtype() != DType::f32 && x.dtype() != DType::f64)
    throw DTypeError({.op = std::string(op),
                      .problem = "quantiles lie between elements, which must be floats",
                      .got = std::string(name(x.dtype())),
                      .expected = "float32 or float64",
                      .next = "convert with .to(lt.float32)"});
  Tensor q = quantiles_wanted(op, x, a[1]);
  const bool all = a.none(2);
  const int rank = x.rank();
  const Line line(op, all ? S::reshape(x, {x.numel()}) : x, all ? Int(0) : a.integer(2));
  // The axis last, with the quantiles in its place.
  Tensor moved = S::transpose(line.x, line.axis, -1);
  auto [values, order] = I::sort(moved, -1);
  const Int n = moved.size(-1);
  Tensor count = R::sum(M::logical_not(M::isnan(moved)), {Int(-1)}, true);
  Tensor wanted = S::reshape(q, {q.numel()});
  Tensor rank_of = M::mul(wanted, M::cast(M::clamp_min(M::sub(count, 1), 0), x.dtype()));
  if (!nan_out)
    rank_of = M::where(M::lt(count, n), M::cast(C::full({}, n - 1), x.dtype()), rank_of);
  if (how.nearest) rank_of = M::round(rank_of);
  Tensor low = M::floor(rank_of), high = M::ceil(rank_of);
  if (how.above) low = high;
  Tensor y = I::gather(values, -1, M::cast(low, DType::i64));
  if (!how.below && !how.above && !how.nearest) {
    Tensor above = I::gather(values, -1, M::cast(high, DType::i64));
    // Between equal infinities there is nothing but them.
    Tensor weight = how.middle ? M::where(M::eq(low, high), 0, M::mul(C::ones_like(low), 0.5))
                               : M::sub(rank_of, low);
    y = M::where(M::eq(weight, 0), y, M::lerp(y, above, weight));
  }
  y = S::transpose(y, line.axis, -1);
  Shape front{Int(line.axis)};
  for (int i = 0; i < y.rank(); ++i)
    if (i != line.axis) front.push_back(Int(i));
  y = S::permute(y, front);
  Shape shape = q.shape();
  for (int i = 0; i < rank; ++i) {
    const bool reduced = all || i == line.axis;
    if (!reduced) shape.push_back(x.size(i));
    if (reduced && a.flag(3)) shape.push_back(Int(1));
  }
  return {S::reshape(y, shape)};
}

void add_quantile(Definitions& r, std::string_view name, bool nan_out, std::string_view doc) {
  r.composite(absl::StrCat(name,
                           "(Tensor input, Tensor|Scalar q, int? dim=None, bool keepdim=False, *, "
                           "str interpolation='linear') -> Tensor"),
              [=](Args a) { return quantile_along(a, name, nan_out); },
              {.moves = true, .doc = doc});
}

void add_shares(Definitions& r) {
  r.elementwise("probability(Tensor input) -> Tensor",
                [](Expr p) { return check(le(0, p) & le(p, 1), p, kNoProbability); },
                {.domain = floating,
                 .grad = [](Grad g) { return Grads{g.dy()}; },
                 .places = kNowhere,
                 .moves = true,
                 .doc = "x, which lies in [0, 1]; else a ValueError."});
}

}  // namespace

void add_order_definitions(Definitions& r) {
  add_shares(r);
  r.composite(
      "kthvalue(Tensor input, int k, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor "
      "indices)",
      kthvalue_expansion,
      {.moves = true, .doc = "The k-th smallest element along dim, from k = 1, and its place."});
  add_median(r, "median", false,
             "The lower of the two middle elements, and its place; NaN if there is one.");
  add_median(r, "nanmedian", true,
             "The lower of the two middle elements that are not NaN, and its place.");
  r.composite(
      "mode(Tensor input, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)",
      mode_expansion,
      {.moves = true,
       .doc = "The element that occurs most often along dim, of several the smallest, and "
              "the last place where it does."});
  add_quantile(r, "quantile", false,
               "The element below which the share q of the others lies, along dim or of all; "
               "between two by interpolation. NaN if there is one.");
  add_quantile(r, "nanquantile", true, "The quantile of what is not NaN.");
  r.opaque("places_of_ranks(Tensor input, Tensor rank) -> Tensor", infer_places_of_ranks,
           {.domain = real_dtypes,
            .no_grad = true,
            .places = kNowhere,
            .leading = true,
            .doc = "Where the elements lie that a sort of the last axis would bring to these "
                   "ranks. Those beyond an end count as that end."});
  r.composite("msort(Tensor input) -> Tensor",
              [](Args a) -> Outputs { return {std::get<0>(I::sort(a.tensor(0), 0))}; },
              {.moves = true, .doc = "Sorted along the first axis."});
}

}  // namespace lathe
