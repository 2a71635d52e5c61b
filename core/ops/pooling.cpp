// Pooling over windows of one size: of the largest elements, their mean, and their p-norm. A
// pooling is the view `windows` of the input with its border, reduced; so derivatives, dtypes and
// traces are those of its parts.
#include <absl/strings/str_cat.h>

#include "core/dispatch/backend.h"
#include "core/ops/names.h"
#include "core/ops/windows.h"
#include "include/lathe/ops/pool.h"

namespace lathe {
namespace {

using namespace names;
using P = pool_ops<Tensor>;

struct Pool {
  std::string_view op;  // the name that its definition keeps
  Slide slide;
  Shape padding;
  bool ceil;
  size_t axes() const { return padding.size(); }
};

/// kernel_size and stride are arguments `at` and the next.
Slide slide_of(std::string_view op, Args a, int at) {
  Slide s{.kernel = a.ints(at)};
  const auto next = static_cast<size_t>(at) + 1;
  Shape stride = a[next].none() ? Shape{} : a.ints(at + 1);
  s.stride = stride.empty() ? s.kernel : per_axis(op, "stride", stride, s.axes());
  s.dilation = Shape(s.axes(), Int(1));
  return s;
}

void require_fitting(const Pool& p, const Tensor& x) {
  if (x.rank() < static_cast<int>(p.axes()))
    throw ShapeError({.op = std::string(p.op),
                      .problem = "the input has fewer axes than the window",
                      .got = to_string(x.shape()),
                      .expected = absl::StrCat("at least ", p.axes(), " axes"),
                      .next = "unsqueeze() the missing ones"});
  for (size_t k = 0; k < p.axes(); ++k) {
    if (!require(Relation::le, Int(1), p.slide.stride[k]) ||
        !require(Relation::le, Int(1), p.slide.kernel[k]) ||
        !require(Relation::le, Int(1), p.slide.dilation[k]))
      throw ValueError({.op = std::string(p.op),
                        .problem = "kernel, stride and dilation must be at least 1",
                        .got = absl::StrCat("kernel ", to_string(p.slide.kernel), ", stride ",
                                            to_string(p.slide.stride), ", dilation ",
                                            to_string(p.slide.dilation)),
                        .expected = "numbers from 1",
                        .next = "leave stride and dilation out for their defaults"});
    if (!require(Relation::le, Int(0), p.padding[k]) ||
        !require(Relation::le, p.padding[k] * 2, p.slide.span(k)))
      throw ValueError({.op = std::string(p.op),
                        .problem = "padding above half of the kernel",
                        .got = absl::StrCat("kernel ", to_string(p.slide.kernel), ", padding ",
                                            to_string(p.padding)),
                        .expected = "padding of at most half the kernel",
                        .next = "pad the input with pad() first"});
  }
}

/// How many windows there are on an axis, and how far the last reaches behind input and padding.
struct Reach {
  Int count, behind;
};
Reach reach(const Pool& p, Int size, size_t k) {
  const Int stride = p.slide.stride[k], pad = p.padding[k], span = p.slide.span(k);
  Int room = size + pad * 2 - span;
  if (p.ceil) room += stride - 1;
  Int count = floor_div(room, stride) + 1;
  // The last one has to begin in the input or in the border before it.
  if (p.ceil && (count - 1) * stride >= size + pad) count = count - 1;
  if (!require(Relation::le, Int(1), count))
    throw ShapeError({.op = std::string(p.op),
                      .problem = "the window does not fit into the input",
                      .got = absl::StrCat("a window over ", to_string(span), " on an axis of ",
                                          to_string(size), ", padding ", to_string(pad)),
                      .expected = "an input at least as large as the window",
                      .next = "pad the input, or take a smaller kernel"});
  const Int end = (count - 1) * stride + span;
  return {count, p.ceil ? max(end - size - pad * 2, Int(0)) : Int(0)};
}

/// x with `border` around it, and how many windows there are along its last axes.
struct Bordered {
  Tensor x;
  Shape counts;
};
Bordered bordered(const Pool& p, Tensor x, const Arg& border) {
  require_fitting(p, x);
  Shape pad, counts(p.axes(), Int(0));
  bool padded = false;
  const auto n = static_cast<int>(p.axes());
  for (int k = n; k-- > 0;) {
    const auto at = static_cast<size_t>(k);
    const auto [count, behind] = reach(p, x.size(k - n), at);
    counts[at] = count;
    const Int before = p.padding[at], after = before + behind;
    pad.insert(pad.end(), {before, after});
    padded = padded || !identical(before, Int(0)) || !identical(after, Int(0));
  }
  return {padded ? S::constant_pad_nd(x, pad, border) : x, counts};
}

/// The last window ends inside. Said once, so that the slices of every place of the windows are
/// known to have one element a window, whatever symbols stand for the sizes.
void require_inside(const Tensor& x, const Slide& slide, const Shape& counts) {
  for (size_t k = 0; k < counts.size(); ++k) {
    const Int end = (counts[k] - 1) * slide.stride[k] + slide.span(k);
    const Int size = x.size(static_cast<int>(k) - static_cast<int>(counts.size()));
    LATHE_CHECK(require(Relation::le, end, size));
  }
}

/// All windows, as so many last axes.
Tensor windows_of(const Pool& p, const Tensor& x) {
  return S::windows(x, p.slide.kernel, p.slide.stride, p.slide.dilation);
}

/// The sum of an overlapping window is that of its places in turn, all windows at once; the
/// gradients of its largest element are summed window by window. Side by side, or very large,
/// windows are reduced one by one.
bool place_by_place(const Slide& s) {
  constexpr int64_t kMost = 64;
  int64_t places = 1;
  for (Int k : s.kernel) {
    if (k > Int(kMost)) return false;  // asked of a trace, too: the orders of the sums differ
    places *= k.value();
  }
  return places <= kMost && !side_by_side(s);
}

// ── the largest ─────────────────────────────────────────────────────────────────────────────────

Pool max_pool_of(std::string_view op, Args a) {
  Pool p{.op = op, .slide = slide_of(op, a, 1), .padding = a.ints(3), .ceil = a.flag(5)};
  p.slide.dilation = a.ints(4);
  return p;
}

/// Only a batch may be empty.
void require_channels(const Pool& p, const Tensor& x) {
  const int at = x.rank() - static_cast<int>(p.axes()) - 1;
  if (at < 0 || at > 1 || require(Relation::le, Int(1), x.size(at))) return;
  throw ShapeError({.op = std::string(p.op),
                    .problem = "the input has no channels",
                    .got = to_string(x.shape()),
                    .expected = absl::StrCat("at least 1 on axis ", at),
                    .next = "only the first axis of a batch may be empty"});
}

/// Where in the last axes of x, flattened, element `taps` of each window lies: how far from the
/// first of the window that is, and where this one lies.
Tensor spots_of(const Slide& slide, const Tensor& taps, const Tensor& x) {
  const size_t n = slide.axes();
  Tensor within, first;
  Int inner = 1;
  for (size_t k = n; k-- > 0;) {
    const int axis = static_cast<int>(k) - static_cast<int>(n);
    Tensor step = M::mul(counted(slide.kernel[k], k, n, x.device()), slide.dilation[k] * inner);
    Tensor start = M::mul(counted(taps.size(axis), k, n, x.device()), slide.stride[k] * inner);
    within = within.defined() ? M::add(within, step) : step;
    first = first.defined() ? M::add(first, start) : start;
    inner *= x.size(axis);
  }
  const Tensor flat = S::reshape(taps, {numel(taps.shape())});
  const Tensor offsets = I::gather_inside(S::reshape(within, {numel(slide.kernel)}), 0, flat);
  return M::add(S::reshape(offsets, taps.shape()), first);
}

/// Largest element of each window, and which of the window it is: the first.
std::tuple<Tensor, Tensor> largest(const Pool& p, const Tensor& given) {
  require_channels(p, given);
  const auto [x, counts] = bordered(p, given, lowest_number(given.dtype()));
  const auto n = static_cast<int>(p.axes());
  if (numel(p.slide.kernel) == Int(1)) {  // the input's own elements, which no result ever is
    require_inside(x, p.slide, counts);
    Tensor best = M::clone(at_tap(x, p.slide, counts, Tap(p.axes(), 0)));
    return {best, C::zeros(best.shape(), DType::i64, x.device())};
  }
  if (!place_by_place(p.slide) || !thread_state().grad_enabled)
    return R::largest_of(windows_of(p, x), last_axes(p.axes()));
  // An element of several windows gets a gradient of each: the history is that of the same elements
  // picked from x, which nothing computes where no gradient is asked for.
  std::tuple<Tensor, Tensor> found;
  {
    GradMode no_grad(false);
    found = R::largest_of(windows_of(p, x), last_axes(p.axes()));
  }
  const auto& [values, taps] = found;
  const Tensor spots = spots_of(p.slide, taps, x);
  Tensor picked = I::gather_inside(S::flatten(x, -n, -1), -1, S::flatten(spots, -n, -1));
  return {S::overwritten(S::reshape(picked, taps.shape()), values), taps};
}

/// Where in the last axes of x, flattened, element `taps` of each window lies.
Tensor places_of(const Pool& p, Tensor taps, const Tensor& x) {
  const size_t n = p.axes();
  Tensor places;
  Int inner = 1;
  for (size_t k = n; k-- > 0;) {
    const int axis = static_cast<int>(k) - static_cast<int>(n);
    const Int step = p.slide.dilation[k];
    Tensor tap = k == 0 ? taps : M::remainder(taps, p.slide.kernel[k]);
    if (k > 0) taps = M::div_floor(taps, p.slide.kernel[k]);
    Tensor start = counted(taps.size(axis), k, n, x.device());
    start = M::sub(M::mul(start, p.slide.stride[k]), p.padding[k]);
    Tensor at = M::add(M::mul(tap, step), start);
    // Where all are lowest, the border counts as first: PyTorch names the first element inside.
    at = M::where(M::lt(at, 0), M::remainder(at, step), at);
    Tensor term = M::mul(at, inner);
    places = places.defined() ? M::add(places, term) : term;
    inner *= x.size(axis);
  }
  return places;
}

Outputs max_pool_with_indices(const Pool& p, const Tensor& x) {
  auto [values, taps] = largest(p, x);
  return {values, places_of(p, taps, x)};
}

void add_max_pool(Definitions& r, int axes) {
  const std::string name = absl::StrCat("max_pool", axes, "d"), n = absl::StrCat("int[", axes, "]");
  const std::string arguments =
      absl::StrCat("(Tensor input, ", n, " kernel_size, int[]? stride=None, ", n, " padding=0, ", n,
                   " dilation=1, bool ceil_mode=False, ");
  const std::string_view both = ") -> (Tensor values, Tensor indices)";
  auto with_indices = [name](Args a) {
    return max_pool_with_indices(max_pool_of(name, a), a.tensor(0));
  };
  r.composite(
      absl::StrCat(name, arguments, "False return_indices=False) -> Tensor"),
      [name](Args a) -> Outputs {
        return {std::get<0>(largest(max_pool_of(name, a), a.tensor(0)))};
      },
      {.domain = real_numbers,
       .places = kFunctional | kFunction,
       .moves = true,
       .doc = "Largest element of each window over the last axes; the first of equal ones takes "
              "the gradient."});
  Extra extra{.domain = real_numbers,
              .places = kFunctional,
              .moves = true,
              .doc =
                  "Largest element of each window over the last axes, and where in these axes, "
                  "flattened, it lies."};
  r.composite(absl::StrCat(name, ".indices", arguments, "True return_indices", both), with_indices,
              extra);
  if (axes == 1) extra.places = kFunctional | kFunction;
  r.composite(absl::StrCat(name, "_with_indices", arguments, "bool return_indices=False", both),
              with_indices, extra);
}

// ── the mean ────────────────────────────────────────────────────────────────────────────────────

/// How many elements each window has, padding counted or not, to divide sums by.
Tensor counts_of(const Pool& p, const Tensor& x, bool include_pad, const Shape& found) {
  Tensor counts;
  const size_t n = p.axes();
  for (size_t k = 0; k < n; ++k) {
    const Int size = x.size(static_cast<int>(k) - static_cast<int>(n)), pad = p.padding[k];
    Tensor start = counted(found[found.size() - n + k], k, n, x.device());
    start = M::sub(M::mul(start, p.slide.stride[k]), pad);
    Tensor end = M::minimum(M::add(start, p.slide.kernel[k]), size + pad);
    if (!include_pad) {
      start = M::maximum(start, 0);
      end = M::minimum(end, size);
    }
    Tensor length = M::sub(end, start);
    counts = counts.defined() ? M::mul(counts, length) : length;
  }
  return M::cast(counts, x.dtype());
}

/// The sum of each window.
Tensor totals(const Pool& p, const Bordered& b) {
  if (!place_by_place(p.slide)) return R::sum(windows_of(p, b.x), last_axes(p.axes()));
  Tap tap(p.axes(), 0);
  require_inside(b.x, p.slide, b.counts);
  Tensor total = at_tap(b.x, p.slide, b.counts, tap);
  while (advance(tap, p.slide.kernel)) total = M::add(total, at_tap(b.x, p.slide, b.counts, tap));
  return total;
}

/// Sums of integers are divided towards zero, as in PyTorch, and given back in their dtype.
Tensor share(const Tensor& total, const Arg& count, DType dtype) {
  if (!is_integer(dtype)) return M::div(total, count);
  return M::cast(M::div_trunc(total, count), dtype);
}

Tensor mean_pool(const Pool& p, const Tensor& given, bool include_pad, const Arg& divisor) {
  const DType dtype = given.dtype();
  if (dtype == DType::bool_)
    throw DTypeError({.op = std::string(p.op),
                      .problem = "not defined for bool",
                      .got = to_string(type_of(given)),
                      .expected = "floats or integers",
                      .next = "convert with .to(lathe.float32)"});
  const Tensor x = is_integer(dtype) ? M::cast(given, DType::i64) : given;
  const Bordered b = bordered(p, x, Arg(Int(0)));
  if (!divisor.none()) {
    if (!require(Relation::ne, divisor.integer(), Int(0)))
      throw ValueError({.op = std::string(p.op),
                        .problem = "divisor_override is 0",
                        .got = to_string(divisor),
                        .expected = "any other number",
                        .next = "leave it out to divide by the size of the window"});
    return share(totals(p, b), divisor, dtype);
  }
  const bool padded =
      std::any_of(p.padding.begin(), p.padding.end(), [](Int v) { return v != Int(0); });
  if (!p.ceil && (include_pad || !padded)) {
    if (!is_integer(dtype) && !place_by_place(p.slide))
      return R::mean(windows_of(p, b.x), last_axes(p.axes()));
    return share(totals(p, b), Arg(numel(p.slide.kernel)), dtype);
  }
  Tensor total = totals(p, b);
  return share(total, Arg(counts_of(p, x, include_pad, total.shape())), dtype);
}

void add_avg_pool(Definitions& r, int axes) {
  const std::string name = absl::StrCat("avg_pool", axes, "d"), n = absl::StrCat("int[", axes, "]");
  r.composite(
      absl::StrCat(name, "(Tensor input, ", n, " kernel_size, int[]? stride=None, ", n,
                   " padding=0, bool ceil_mode=False, bool count_include_pad=True",
                   axes == 1 ? "" : ", int? divisor_override=None", ") -> Tensor"),
      [name, axes](Args a) -> Outputs {
        const Pool p{
            .op = name, .slide = slide_of(name, a, 1), .padding = a.ints(3), .ceil = a.flag(4)};
        return {mean_pool(p, a.tensor(0), a.flag(5), axes == 1 ? Arg() : a[6])};
      },
      {.domain = real_numbers,
       .places = static_cast<uint8_t>(axes == 1 ? kFunctional | kFunction : kFunctional),
       .doc = "Mean of each window over the last axes; padding counts as 0, or not at all "
              "(count_include_pad=False). divisor_override: what sums are divided by instead. Of "
              "integers the quotient towards zero, in their dtype."});
}

// ── the p-norm ──────────────────────────────────────────────────────────────────────────────────

void add_lp_pool(Definitions& r, int axes) {
  const std::string name = absl::StrCat("lp_pool", axes, "d"), n = absl::StrCat("int[", axes, "]");
  r.composite(absl::StrCat(name, "(Tensor input, float norm_type, ", n,
                           " kernel_size, int[]? stride=None, bool ceil_mode=False) -> Tensor"),
              [name, axes](Args a) -> Outputs {
                const Pool p{.op = name,
                             .slide = slide_of(name, a, 2),
                             .padding = Shape(static_cast<size_t>(axes), Int(0)),
                             .ceil = a.flag(4)};
                // The mean of the elements that a window has, times those it should have: so says
                // PyTorch.
                Tensor mean = mean_pool(p, M::pow(a.tensor(0), a[1]), true, Arg());
                Tensor total =
                    M::mul(M::mul(M::sign(mean), N::relu(M::abs(mean))), numel(p.slide.kernel));
                return {M::pow(total, 1 / a.real(1))};
              },
              {.domain = floating,
               .places = kFunctional,
               .doc = "(sum x^p)^(1/p) of each window over the last axes, p = norm_type."});
}

}  // namespace

void add_pooling_definitions(Definitions& r) {
  for (int axes : {1, 2, 3}) {
    add_max_pool(r, axes);
    add_avg_pool(r, axes);
    add_lp_pool(r, axes);
  }
}

}  // namespace lathe
