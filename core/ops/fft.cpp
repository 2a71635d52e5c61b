// Fourier transforms.
//
// Three opaque definitions transform along axes: complex to complex, real to the half of a complex
// spectrum that decides the rest, and back. PyTorch's functions are composed of them. `norm` of
// these three: 0 no scale, 1 by the root of the length, 2 by the length.
#include <absl/strings/str_cat.h>
#include <absl/strings/str_replace.h>

#include "core/infer/rules.h"
#include "core/ops/matrices.h"
#include "core/ops/names.h"
#include "include/lathe/ops/fft.h"

namespace lathe {
namespace {

using namespace names;
using F = fft_ops<Tensor>;

/// The complex dtype of these parts; DTypeError where there is none.
DType complex_of(std::string_view op, DType dtype) {
  const DType to = real_type(dtype) == DType::f64 ? DType::c128 : DType::c64;
  if (!info(to).tensor || is_narrow(dtype))
    throw DTypeError({.op = std::string(op),
                      .problem = "there is no complex dtype of this precision",
                      .got = std::string(name(dtype)),
                      .expected = "float32 or complex64",
                      .next = "convert with .to(lathe.float32)"});
  return to;
}

Tensor as_complex(std::string_view op, const Tensor& x) {
  Tensor y = as_float(x);
  return is_complex(y.dtype()) ? y : M::cast(y, complex_of(op, y.dtype()));
}

Tensor as_real(std::string_view op, const Tensor& x) {
  if (is_complex(x.dtype()))
    throw DTypeError({.op = std::string(op),
                      .problem = "the operand is complex",
                      .got = std::string(name(x.dtype())),
                      .expected = "real numbers",
                      .next = "use fft() for complex ones"});
  return as_float(x);
}

// ── the three ───────────────────────────────────────────────────────────────────────────────────

void require_points(std::string_view op, Int n) {
  if (require(Relation::lt, Int(0), n)) return;
  throw ShapeError({.op = std::string(op),
                    .problem = "a transform needs a point at least",
                    .got = absl::StrCat("n = ", to_string(n)),
                    .expected = "a positive length",
                    .next = "give n, or an operand that is not empty along this axis"});
}

/// An axis that there is something to transform along.
size_t axis_of(std::string_view op, const Tensor& x, Int axis) {
  const int found = size_axis(op, axis.value(), x.rank());
  require_points(op, x.size(found));
  return static_cast<size_t>(found);
}

Types infer_c2c(Args a) {
  Tensor x = a.tensor(0);
  const Shape dims = a.ints(1);
  require_points(F::c2c.name(), Int(dims.size()));
  for (Int d : dims) axis_of(F::c2c.name(), x, d);
  return {type_of(x)};
}

Types infer_r2c(Args a) {
  Tensor x = a.tensor(0);
  const size_t axis = axis_of(F::r2c.name(), x, a.integer(1));
  Shape shape = x.shape();
  shape[axis] = floor_div(shape[axis], 2) + 1;
  return {result_like(x, shape, complex_of(F::r2c.name(), x.dtype()))};
}

Types infer_c2r(Args a) {
  Tensor x = a.tensor(0);
  const size_t axis = axis_of(F::c2r.name(), x, a.integer(1));
  Shape shape = x.shape();
  require_points(F::c2r.name(), a.integer(3));
  require_sizes(F::c2r.name(), "this is not half of such a spectrum", shape[axis],
                floor_div(a.integer(3), 2) + 1);
  shape[axis] = a.integer(3);
  return {result_like(x, shape, real_type(x.dtype()))};
}

/// x with its axis cut to n, or zeros behind it.
Tensor resized(const Tensor& x, int axis, Int n) {
  const Int have = x.size(axis);
  if (identical(have, n) || have == n) return x;
  if (n < have) return S::narrow(x, axis, 0, n);
  Shape pad;
  for (int i = x.rank(); --i >= axis;) {
    pad.push_back(Int(0));
    pad.push_back(i == axis ? n - have : Int(0));
  }
  return S::constant_pad_nd(x, pad, 0);
}

Grads r2c_grad(Grad g) {
  const int axis = g.axis(1, 0);
  Tensor whole = resized(g.dy(), axis, g.shape(0)[static_cast<size_t>(axis)]);
  return {M::real_part(F::c2c(whole, {Int(axis)}, g.integer(2), false))};
}

Grads c2r_grad(Grad g) {
  const int axis = g.axis(1, 0);
  const Int last = g.integer(3);
  Tensor half = F::r2c(g.dy(), axis, g.integer(2));
  // Each number but the first (and the middle one of an even length) stands for two.
  Tensor k = C::arange(0, half.size(axis), 1, DType::i64, half.device());
  Tensor once = M::logical_or(M::eq(k, 0), M::eq(M::mul(k, 2), last));
  Tensor weights = M::where(once, 1.0, 2.0);
  for (int i = axis + 1; i < half.rank(); ++i) weights = as_column(weights);
  return {M::mul(half, M::cast(weights, real_type(half.dtype())))};
}

void add_transforms(Definitions& r) {
  Extra e{.domain = complexes, .places = kNowhere, .leading = true};
  e.grad = [](Grad g) { return Grads{F::c2c(g.dy(), g.ints(1), g.integer(2), !g.flag(3))}; };
  e.doc = "The transform along these axes, forward or backward.";
  r.opaque("fft_c2c(Tensor input, int[] dim, int norm, bool forward) -> Tensor", infer_c2c, e);
  e.domain = DTypeSet{DType::f32, DType::f64};
  e.grad = r2c_grad;
  e.doc = "The first half of the forward transform of real numbers along an axis.";
  r.opaque("fft_r2c(Tensor input, int dim, int norm) -> Tensor", infer_r2c, e);
  e.domain = complexes;
  e.grad = c2r_grad;
  e.doc = "The backward transform, to real numbers, of the first half of one of length `last`.";
  r.opaque("fft_c2r(Tensor input, int dim, int norm, int last) -> Tensor", infer_c2r, e);
}

// ── one axis ────────────────────────────────────────────────────────────────────────────────────

/// What 'norm' means for a transform in this direction.
int mode_of(std::string_view op, const Arg& norm, bool forward) {
  const std::string_view text = norm.none() ? "backward" : norm.text_;
  if (text == "ortho") return 1;
  if (text == "forward") return forward ? 2 : 0;
  if (text == "backward") return forward ? 0 : 2;
  throw ValueError({.op = std::string(op),
                    .problem = "an unknown norm",
                    .got = absl::StrCat("'", text, "'"),
                    .expected = "'forward', 'backward' or 'ortho'"});
}

/// What a function transforms: an operand, its axes in order, and the length along each.
struct Plan {
  std::string op;
  Tensor x;
  absl::InlinedVector<int, 4> axes;
  Shape lengths;
};

/// Cut and padded to its lengths.
Tensor fitted(const Plan& p, size_t count) {
  Tensor x = p.x;
  for (size_t i = 0; i < count; ++i) {
    require_points(p.op, p.lengths[i]);
    x = resized(x, p.axes[i], p.lengths[i]);
  }
  return x;
}

Tensor along(const Tensor& x, absl::Span<const int> axes, int mode, bool forward) {
  if (axes.empty()) return x;
  Shape dims;
  for (size_t i = axes.size(); i-- > 0;) dims.push_back(Int(axes[i]));
  return F::c2c(x, dims, mode, forward);
}

Tensor complex_transform(Plan p, const Arg& norm, bool forward) {
  p.x = as_complex(p.op, p.x);
  if (p.axes.empty()) return M::clone(p.x);
  return along(fitted(p, p.axes.size()), p.axes, mode_of(p.op, norm, forward), forward);
}

void require_axis(const Plan& p) {
  if (!p.axes.empty()) return;
  throw ShapeError({.op = p.op,
                    .problem = "there is no axis to transform along",
                    .got = to_string(type_of(p.x)),
                    .expected = "one axis at least"});
}

/// Of real numbers: the last axis becomes half a spectrum. `forward`: ihfft is the conjugate.
Tensor from_real(Plan p, const Arg& norm, bool forward) {
  p.x = as_real(p.op, p.x);
  require_axis(p);
  const int mode = mode_of(p.op, norm, forward);
  Tensor y = F::r2c(fitted(p, p.axes.size()), p.axes.back(), mode);
  if (!forward) y = M::conj(y);
  return along(y, absl::MakeConstSpan(p.axes).first(p.axes.size() - 1), mode, forward);
}

/// To real numbers: `lengths` are the result's. `forward`: hfft, of the conjugate.
Tensor to_real(Plan p, const Arg& norm, bool forward) {
  p.x = as_complex(p.op, p.x);
  require_axis(p);
  const size_t before = p.axes.size() - 1;
  const int mode = mode_of(p.op, norm, forward), last = p.axes.back();
  const Int n = p.lengths.back();
  require_points(p.op, n);
  Tensor x = resized(fitted(p, before), last, floor_div(n, 2) + 1);
  x = along(x, absl::MakeConstSpan(p.axes).first(before), mode, forward);
  return F::c2r(forward ? M::conj(x) : x, last, mode, n);
}

using Way = Tensor (*)(Plan, const Arg& norm, bool forward);

Int given_length(const Arg& n, Int otherwise) {
  return n.none() || n.integer() == Int(-1) ? otherwise : n.integer();
}

/// The length of the real result where none is given: the spectrum's is one more than its half.
Int whole(Int half) { return (half - 1) * 2; }

/// `found`: as lathe has it, "fft.rfft"; the definition's own name is of both words.
std::string own_name(std::string_view found) { return absl::StrReplaceAll(found, {{".", "_"}}); }

void add_line(Definitions& r, std::string_view found, Way way, bool forward, std::string_view doc) {
  const std::string op(found);
  auto expansion = [op, way, forward](Args a) -> Outputs {
    Plan p{op, a.tensor(0), {}, {}};
    if (p.x.rank() == 0) require_axis(p);
    p.axes = {size_axis(op, a.integer(2).value(), p.x.rank())};
    const Int have = p.x.size(p.axes[0]);
    p.lengths = {given_length(a[1], way == to_real ? whole(have) : have)};
    return {way(p, a[3], forward)};
  };
  r.composite(absl::StrCat(own_name(found),
                           "(Tensor input, int? n=None, int dim=-1, str? norm=None) -> Tensor"),
              expansion, in_module(found, doc));
}

// ── several axes ────────────────────────────────────────────────────────────────────────────────

/// Axes and lengths as PyTorch's s and dim say them.
Plan planned(const std::string& op, const Tensor& x, const Arg& s, const Arg& dim, Way way) {
  Plan p{op, x, {}, {}};
  const int rank = x.rank();
  auto list = [](const Arg& a) { return Args(&a, 1).ints(0); };
  const Shape sizes = s.none() ? Shape{} : list(s);
  if (!dim.none()) {
    const Shape dims = list(dim);
    AxisMask seen(static_cast<size_t>(std::max(rank, 1)), false);
    for (Int d : dims) {
      const int axis = size_axis(op, d.value(), rank);
      if (seen[static_cast<size_t>(axis)])
        throw ShapeError({.op = op,
                          .problem = absl::StrCat("axis ", axis, " is named twice"),
                          .got = to_string(dims),
                          .expected = "each axis at most once"});
      seen[static_cast<size_t>(axis)] = true;
      p.axes.push_back(axis);
    }
    if (!s.none() && sizes.size() != dims.size())
      throw ShapeError({.op = op,
                        .problem = "s and dim are not of one length",
                        .got = absl::StrCat("s=", to_string(sizes), ", dim=", to_string(dims)),
                        .expected = "a length for each axis"});
  } else {
    const int count = s.none() ? rank : static_cast<int>(sizes.size());
    if (count > rank)
      throw ShapeError({.op = op,
                        .problem = "s has more lengths than the operand has axes",
                        .got = absl::StrCat("s=", to_string(sizes), " of ", to_string(type_of(x))),
                        .expected = "a length for each axis at most"});
    for (int i = rank - count; i < rank; ++i) p.axes.push_back(i);
  }
  for (size_t i = 0; i < p.axes.size(); ++i) {
    const bool last = i + 1 == p.axes.size();
    const Int have = x.size(p.axes[i]);
    p.lengths.push_back(given_length(s.none() ? Arg() : Arg(sizes[i]),
                                     last && way == to_real ? whole(have) : have));
  }
  return p;
}

void add_box(Definitions& r, std::string_view found, Way way, bool forward, std::string_view doc) {
  const std::string op(found);
  auto expansion = [op, way, forward](Args a) -> Outputs {
    return {way(planned(op, a.tensor(0), a[1], a[2], way), a[3], forward)};
  };
  const char* dims = found.back() == '2' ? "int[] dim=[-2, -1]" : "int[]? dim=None";
  r.composite(absl::StrCat(own_name(found), "(Tensor input, int[]? s=None, ", dims,
                           ", str? norm=None) -> Tensor"),
              expansion, in_module(found, doc));
}

// ── frequencies, halves ─────────────────────────────────────────────────────────────────────────

/// k / (n d) in the dtype asked for; negative ones in the second half unless of a half spectrum.
Tensor frequencies(Args a, bool half) {
  const Int n = a.integer(0);
  require_points(half ? "fft.rfftfreq" : "fft.fftfreq", n);
  const DType dtype = a.none(2) ? default_dtype() : a.dtype(2);
  Tensor k = C::arange(0, half ? floor_div(n, 2) + 1 : n, 1, DType::i64, a[3]);
  if (!half) k = M::where(M::lt(k, floor_div(n + 1, 2)), k, M::sub(k, n));
  Tensor span = M::mul(C::full(Shape{}, a[1], DType::f64, a[3]), n);
  return M::mul(M::cast(k, dtype), M::cast(M::reciprocal(span), dtype));
}

Tensor rolled(const Tensor& x, int axis, Int by) {
  const Int n = x.size(axis);
  return S::cat({{S::narrow(x, axis, n - by, by), S::narrow(x, axis, 0, n - by)}}, axis);
}

Outputs shifted(Args a, const char* op, bool back) {
  Tensor x = a.tensor(0);
  const Shape dims = a.none(1) ? all_axes(x.rank()) : a.ints(1);
  Tensor y = x;
  for (Int d : dims) {
    const int axis = size_axis(op, d.value(), x.rank());
    y = rolled(y, axis, floor_div(x.size(axis) + Int(back ? 1 : 0), 2));
  }
  return {same(x, y) ? M::clone(x) : y};
}

void add_helpers(Definitions& r) {
  Extra e = in_module("fft.fftfreq", "The frequencies of fft() of n points that are d apart.",
                      Autocast::none);
  e.no_grad = true;
  r.composite(
      "fft_fftfreq(int n, float d=1.0, *, dtype? dtype=None, device? device=None) -> Tensor",
      [](Args a) -> Outputs { return {frequencies(a, false)}; }, e);
  e = in_module("fft.rfftfreq", "The frequencies of rfft() of n points that are d apart.",
                Autocast::none);
  e.no_grad = true;
  r.composite(
      "fft_rfftfreq(int n, float d=1.0, *, dtype? dtype=None, device? device=None) -> Tensor",
      [](Args a) -> Outputs { return {frequencies(a, true)}; }, e);
  e = in_module("fft.fftshift", "The frequency 0 moved to the middle, along dim or every axis.",
                Autocast::none);
  e.moves = true;
  r.composite(
      "fft_fftshift(Tensor input, int[]? dim=None) -> Tensor",
      [](Args a) { return shifted(a, "fft.fftshift", false); }, e);
  e = in_module("fft.ifftshift", "The inverse of fftshift().", Autocast::none);
  e.moves = true;
  r.composite(
      "fft_ifftshift(Tensor input, int[]? dim=None) -> Tensor",
      [](Args a) { return shifted(a, "fft.ifftshift", true); }, e);
}

}  // namespace

void add_fft_definitions(Definitions& r) {
  add_transforms(r);
  struct Kind {
    std::string_view line, plane, box;
    Way way;
    bool forward;
    std::string_view doc;
  };
  constexpr Kind kKinds[] = {
      {"fft.fft", "fft.fft2", "fft.fftn", complex_transform, true,
       "The discrete Fourier transform. Norm 'backward' scales "
       "the inverse by 1 / n, 'forward' this one, 'ortho' both by "
       "its root. Operands are cut or padded to the lengths given."},
      {"fft.ifft", "fft.ifft2", "fft.ifftn", complex_transform, false, "The inverse of fft."},
      {"fft.rfft", "fft.rfft2", "fft.rfftn", from_real, true,
       "The first half of the transform of real numbers, n / 2 + 1 along "
       "the last axis: the rest are its conjugates."},
      {"fft.irfft", "fft.irfft2", "fft.irfftn", to_real, false,
       "The inverse of rfft; the length of the last axis is an even one "
       "unless it is given."},
      {"fft.hfft", "fft.hfft2", "fft.hfftn", to_real, true,
       "The transform, which is real, of the first half of numbers whose "
       "second half is its conjugate."},
      {"fft.ihfft", "fft.ihfft2", "fft.ihfftn", from_real, false, "The inverse of hfft."},
  };
  for (const Kind& k : kKinds) {
    add_line(r, k.line, k.way, k.forward, k.doc);
    add_box(r, k.plane, k.way, k.forward, k.doc);
    add_box(r, k.box, k.way, k.forward, k.doc);
  }
  add_helpers(r);
}

}  // namespace lathe
