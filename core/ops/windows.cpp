// Sliding windows over the last axes: a view of them and the way back.
#include "core/ops/windows.h"

#include <absl/strings/str_cat.h>

#include <limits>

#include "core/ops/names.h"

namespace lathe {

using namespace names;

namespace {
const Fn<Tensor, Tensor(Tensor x, Shape size, Shape stride, Shape dilation)> added{"overlap_add"};
}

Shape per_axis(std::string_view op, std::string_view param, const Shape& given, size_t axes) {
  if (given.size() == axes) return given;
  if (given.size() == 1) return Shape(axes, given[0]);
  throw ValueError({.op = std::string(op),
                    .problem = absl::StrCat(param, " has another number of axes"),
                    .got = to_string(given),
                    .expected = absl::StrCat("one number, or ", axes),
                    .next = "give one number for all axes"});
}

Tensor counted(Int size, size_t k, size_t axes, Device device) {
  Shape shape(axes - k, Int(1));
  shape[0] = size;
  return S::reshape(C::arange(0, size, 1, DType::i64, device), shape);
}

Shape last_axes(size_t axes) {
  Shape out;
  for (size_t k = axes; k > 0; --k) out.push_back(Int(-static_cast<int64_t>(k)));
  return out;
}

Shape with_last(const Shape& shape, const Shape& sizes) {
  Shape out = shape;
  for (size_t k = 0; k < sizes.size(); ++k) out[out.size() - sizes.size() + k] = sizes[k];
  return out;
}

Arg lowest_number(DType dtype) {
  // Complex numbers have no lowest: what takes this one refuses them.
  if (is_floating(dtype) || is_complex(dtype)) return Arg(-std::numeric_limits<double>::infinity());
  if (dtype == DType::bool_) return Arg(false);
  return Arg(Int(std::max(range_of(dtype).low, -(int64_t{1} << 62))));
}

namespace {

/// Arguments `at` and the two behind it.
Slide slide_of(std::string_view op, Args a, int at) {
  Slide s{.kernel = a.ints(at)};
  s.stride = per_axis(op, "stride", a.ints(at + 1), s.axes());
  s.dilation = per_axis(op, "dilation", a.ints(at + 2), s.axes());
  return s;
}

/// x[..., H, W] → x[..., y, x, kh, kw], for any number of axes: every window, without a copy.
Geometry windows_geometry(const Geometry& x, Args a) {
  const Slide s = slide_of("windows", a, 1);
  Geometry g = x;
  if (x.shape.size() < s.axes())
    throw ShapeError({.op = "windows",
                      .problem = "the input has fewer axes than the window",
                      .got = to_string(x.shape),
                      .expected = absl::StrCat("at least ", s.axes(), " axes"),
                      .next = "unsqueeze() the missing ones"});
  for (size_t k = 0; k < s.axes(); ++k) {
    const size_t axis = x.shape.size() - s.axes() + k;
    const Int room = x.shape[axis] - s.span(k);
    bool fits = require(Relation::le, Int(0), room);
    for (Int least : {s.stride[k], s.kernel[k], s.dilation[k]})
      fits = fits && require(Relation::le, Int(1), least);
    if (!fits)
      throw ShapeError(
          {.op = "windows",
           .problem = "the window does not fit",
           .got = absl::StrCat("kernel ", to_string(s.kernel), ", stride ", to_string(s.stride),
                               ", dilation ", to_string(s.dilation), " on ", to_string(x.shape)),
           .expected =
               "numbers of at least 1, and a window that reaches over no more than the last axes",
           .next = "pad the input, or take a smaller kernel"});
    g.shape[axis] = floor_div(room, s.stride[k]) + 1;
    g.strides[axis] = x.strides[axis] * s.stride[k];
    g.shape.push_back(s.kernel[k]);
    g.strides.push_back(x.strides[axis] * s.dilation[k]);
  }
  return g;
}

/// Windows that lie side by side: every element has one place.
Tensor joined_windows(const Tensor& x, size_t axes) {
  const auto n = static_cast<int>(axes), lead = x.rank() - 2 * n;
  Shape order = all_axes(lead), shape(x.shape().begin(), x.shape().begin() + lead);
  for (int k = 0; k < n; ++k) {
    order.insert(order.end(), {Int(lead + k), Int(lead + n + k)});
    shape.push_back(x.size(lead + k) * x.size(lead + n + k));
  }
  return S::reshape(S::permute(x, order), shape);
}

}  // namespace

bool side_by_side(const Slide& s) {
  for (size_t k = 0; k < s.axes(); ++k)
    if (s.kernel[k] != s.stride[k] || s.dilation[k] != Int(1)) return false;
  return true;
}

bool advance(Tap& tap, const Shape& kernel) {
  for (size_t k = tap.size(); k-- > 0;) {
    if (++tap[k] < kernel[k].value()) return true;
    tap[k] = 0;
  }
  return false;
}

Tensor at_tap(const Tensor& x, const Slide& slide, const Shape& counts, const Tap& tap) {
  const int first = x.rank() - static_cast<int>(tap.size());
  Tensor spot = x;
  for (size_t k = 0; k < tap.size(); ++k) {
    const Int start = slide.dilation[k] * tap[k], reach = (counts[k] - 1) * slide.stride[k] + 1;
    spot = S::slice(spot, first + static_cast<int>(k), start, start + reach, slide.stride[k]);
  }
  return spot;
}

Tensor overlap_added(const Tensor& x, const Shape& shape, const Slide& slide) {
  const Shape size(shape.end() - static_cast<ptrdiff_t>(slide.axes()), shape.end());
  return added(x, size, slide.stride, slide.dilation);
}

Tensor overlap_add(const Tensor& x, const Shape& shape, const Slide& slide) {
  const size_t n = slide.axes();
  if (!side_by_side(slide)) return overlap_added(x, shape, slide);
  // Moved back, into zeros unless they are known to cover all.
  Tensor inside = joined_windows(x, n);
  if (identical(inside.shape(), shape)) return inside;
  Tensor out = C::zeros(shape, x.dtype(), x.device()), part = out;
  for (size_t k = 0; k < n; ++k) {
    const int axis = static_cast<int>(shape.size() - n + k);
    part = S::slice(part, axis, Int(0), inside.size(axis));
  }
  assign(part, inside);
  return out;
}

namespace {

/// The window behind the last `axes` axes of x, and how it goes over axes of these sizes.
Slide window_of(const Shape& x, const Shape& stride, const Shape& dilation) {
  Slide s{.kernel = Shape(x.end() - static_cast<ptrdiff_t>(stride.size()), x.end())};
  s.stride = stride;
  s.dilation = dilation;
  return s;
}

Types infer_overlap_add(Args a) {
  const Tensor x = a.tensor(0);
  const Shape size = a.ints(1);
  const size_t n = size.size(), rank = x.shape().size();
  bool fits = n > 0 && a.ints(2).size() == n && a.ints(3).size() == n && rank >= 2 * n;
  if (fits) {
    const Slide s = window_of(x.shape(), a.ints(2), a.ints(3));
    for (size_t k = 0; fits && k < n; ++k) {
      for (Int least : {s.stride[k], s.kernel[k], s.dilation[k]})
        fits = fits && require(Relation::le, Int(1), least);
      const Int room = size[k] - s.span(k);
      fits = fits && require(Relation::le, Int(0), room) &&
             require(Relation::eq, x.size(static_cast<int>(rank - 2 * n + k)),
                     floor_div(room, s.stride[k]) + 1);
    }
  }
  if (!fits)
    throw ShapeError({.op = "overlap_add",
                      .problem = "these are not the windows of such sizes",
                      .got = absl::StrCat(to_string(type_of(x)), " for sizes ", to_string(size)),
                      .expected = "[..., windows by axis, window by axis], a size, a stride and a "
                                  "dilation for each axis",
                      .next = "give what windows() gave"});
  Shape shape(x.shape().begin(), x.shape().end() - static_cast<ptrdiff_t>(2 * n));
  shape.insert(shape.end(), size.begin(), size.end());
  return {TensorType{x.dtype(), shape, x.device()}};
}

Grads overlap_add_grad(Grad g) {
  const Slide s = window_of(g.shape(0), g.ints(2), g.ints(3));
  return {S::windows(g.dy(), s.kernel, s.stride, s.dilation)};
}

}  // namespace

void add_window_definitions(Definitions& r) {
  r.view("windows(Tensor input, int[] kernel, int[] stride=1, int[] dilation=1) -> Tensor",
         windows_geometry,
         {.grad =
              [](Grad g) {
                Slide s{.kernel = g.ints(1)};
                s.stride = per_axis("windows", "stride", g.ints(2), s.axes());
                s.dilation = per_axis("windows", "dilation", g.ints(3), s.axes());
                return Grads{overlap_add(g.dy(), g.shape(0), s)};
              },
          .overlaps = true,
          .places = kNowhere,
          .doc = "Every window over the last axes, as so many new last axes."});
  r.opaque(
      "overlap_add(Tensor input, int[] size, int[] stride, int[] dilation) -> Tensor",
      infer_overlap_add,
      {.grad = overlap_add_grad,
       .places = kNowhere,
       .leading = true,
       .doc = "Windows as windows() gives them, added up where they lie: an element's terms in the "
              "order of their places in the window, from +0."});
}

}  // namespace lathe
