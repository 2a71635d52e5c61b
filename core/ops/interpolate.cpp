// Images of another size. Along each axis in turn an element of the result is a weighted sum of a
// few of the input's, which are gathered; with antialias of as many as the filter reaches, and that
// is a product with a matrix of weights.
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>

#include "core/ops/names.h"
#include "core/ops/resample.h"
#include "core/ops/windows.h"

namespace lathe {

using namespace names;

/// The two pieces of Keys's cubic (1981): of distances up to 1, and from 1 to 2.
static Tensor near_cubic(const Tensor& d, double a) {
  Tensor inner = M::sub(M::mul(d, a + 2), a + 3);
  return M::add(M::mul(M::mul(inner, d), d), 1);
}
static Tensor far_cubic(const Tensor& d, double a) {
  Tensor inner = M::add(M::mul(M::sub(M::mul(d, a), 5 * a), d), 8 * a);
  return M::sub(M::mul(inner, d), 4 * a);
}

std::array<Tensor, 4> cubic_weights(const Tensor& t, double a) {
  Tensor left = M::sub(1, t);
  return {far_cubic(M::add(t, 1), a), near_cubic(t, a), near_cubic(left, a),
          far_cubic(M::add(left, 1), a)};
}

namespace {

constexpr double kSharpness = -0.75, kAntialiasSharpness = -0.5;  // of the cubic, as PyTorch has it

enum class Mode : uint8_t { nearest, nearest_exact, linear, cubic, area };

struct NamedMode {
  std::string_view name;
  Mode mode;
  int axes;  // 0: one to three
};
constexpr NamedMode kModes[] = {
    {"nearest", Mode::nearest, 0}, {"nearest-exact", Mode::nearest_exact, 0},
    {"area", Mode::area, 0},       {"linear", Mode::linear, 1},
    {"bilinear", Mode::linear, 2}, {"trilinear", Mode::linear, 3},
    {"bicubic", Mode::cubic, 2},
};

/// One axis of the input and the result.
struct Resized {
  Int from, to;
  Arg factor;  // None: from / to
  bool corners;
  DType dtype;  // of coordinates
  Device device;
};

Tensor number(Int n, const Resized& r) { return C::full({}, n, r.dtype, r.device); }

/// How far the places of neighbours in the result are apart in the input.
Arg step_of(const Resized& r, Tensor& kept) {
  if (r.corners) {
    if (r.to <= Int(1)) return Arg(0.0);
    kept = M::div(number(r.from - 1, r), number(r.to - 1, r));
  } else if (!r.factor.none()) {
    return Arg(1 / Args(&r.factor, 1).real(0));
  } else {
    kept = M::div(number(r.from, r), number(r.to, r));
  }
  return Arg(kept);
}

Tensor positions(const Resized& r) {
  return M::cast(C::arange(0, r.to, 1, DType::i64, r.device), r.dtype);
}

/// Places of the result's elements in the input.
Tensor coordinates(const Resized& r) {
  Tensor kept;
  const Arg step = step_of(r, kept);
  Tensor i = positions(r);
  if (r.corners) return M::mul(i, step);
  return M::sub(M::mul(M::add(i, 0.5), step), 0.5);
}

Tensor whole(const Tensor& t, Int from) {
  return M::clamp(M::cast(M::floor(t), DType::i64), 0, from - 1);
}

/// A vector along `axis`, to meet x.
Tensor along(const Tensor& v, const Tensor& x, int axis) {
  Shape shape(static_cast<size_t>(x.rank() - axis), Int(1));
  shape[0] = v.size(0);
  return S::reshape(v, shape);
}

Tensor nearest(const Tensor& x, int axis, const Resized& r, double shift) {
  Tensor kept, i = positions(r);
  const Arg step = step_of(r, kept);
  return I::index_select(x, axis, whole(M::mul(shift == 0 ? i : M::add(i, shift), step), r.from));
}

Tensor linear(const Tensor& x, int axis, const Resized& r) {
  Tensor at = coordinates(r);
  if (!r.corners) at = M::maximum(at, 0.0);
  Tensor low = whole(at, r.from), high = M::minimum(M::add(low, 1), r.from - 1);
  Tensor part = M::clamp(M::sub(at, M::cast(low, r.dtype)), 0.0, 1.0);
  Tensor a = I::index_select(x, axis, low), b = I::index_select(x, axis, high);
  return M::add(M::mul(a, along(M::sub(1, part), x, axis)), M::mul(b, along(part, x, axis)));
}

Tensor cubic(const Tensor& x, int axis, const Resized& r) {
  Tensor at = coordinates(r), first = M::floor(at), sum;
  const std::array<Tensor, 4> weights = cubic_weights(M::sub(at, first), kSharpness);
  for (int k = 0; k < 4; ++k) {
    Tensor place = whole(M::add(first, k - 1), r.from);
    Tensor term =
        M::mul(I::index_select(x, axis, place), along(weights[static_cast<size_t>(k)], x, axis));
    sum = k == 0 ? term : M::add(sum, term);
  }
  return sum;
}

/// Weights of a filter as wide as the result's steps: [to, from], each row of sum 1.
Tensor filter_matrix(const Resized& r, bool is_cubic) {
  Tensor kept;
  const Arg step = step_of(r, kept);
  Tensor scale = kept.defined() ? kept : C::full({}, step, r.dtype, r.device);
  Tensor wide = M::maximum(scale, 1.0);
  Tensor center = S::unsqueeze(M::mul(M::add(positions(r), 0.5), scale), 1);
  Tensor reach = M::mul(wide, is_cubic ? 2.0 : 1.0);
  Tensor first = M::clamp_min(M::trunc(M::add(M::sub(center, reach), 0.5)), 0.0);
  Tensor end = M::minimum(M::trunc(M::add(M::add(center, reach), 0.5)), r.from);
  Tensor j = M::cast(C::arange(0, r.from, 1, DType::i64, r.device), r.dtype);
  Tensor d = M::abs(M::div(M::add(M::sub(j, center), 0.5), wide));
  Tensor weight = M::clamp_min(M::sub(1, d), 0.0);
  if (is_cubic) {
    Tensor far = M::where(M::lt(d, 2), far_cubic(d, kAntialiasSharpness), 0);
    weight = M::where(M::lt(d, 1), near_cubic(d, kAntialiasSharpness), far);
  }
  weight = M::where(M::logical_and(M::le(first, j), M::lt(j, end)), weight, 0);
  return M::div(weight, R::sum(weight, {Int(1)}, true));
}

Tensor filtered(const Tensor& x, int axis, const Resized& r, bool is_cubic) {
  Tensor weights = M::cast(filter_matrix(r, is_cubic), x.dtype());
  Tensor last = S::transpose(x, axis, -1);
  return S::transpose(N::matmul(last, S::transpose(weights, 0, 1)), axis, -1);
}

// ── what is asked for ───────────────────────────────────────────────────────────────────────────

[[noreturn]] void refuse(std::string problem, std::string got, std::string expected) {
  throw ValueError({.op = "interpolate",
                    .problem = std::move(problem),
                    .got = std::move(got),
                    .expected = std::move(expected),
                    .next = "see help(lathe.nn.functional.interpolate)"});
}

Mode mode_of(std::string_view name, int axes) {
  const auto* found = std::find_if(std::begin(kModes), std::end(kModes),
                                   [&](const NamedMode& m) { return m.name == name; });
  if (found == std::end(kModes))
    refuse("an unknown mode", absl::StrCat("'", name, "'"),
           "'nearest', 'nearest-exact', 'area', 'linear', 'bilinear', 'bicubic' or 'trilinear'");
  if (axes < 1 || axes > 3 || (found->axes != 0 && found->axes != axes))
    refuse(absl::StrCat("mode='", name, "' is not for such an input"),
           absl::StrCat("rank ", axes + 2),
           found->axes == 0 ? "[n, channels, ...] with one to three axes more"
                            : absl::StrCat("[n, channels, ...] with ", found->axes, " more"));
  return found->mode;
}

const Arg& item_of(const Arg& list, size_t k, size_t axes, std::string_view name) {
  if (list.tag != Tag::list) return list;
  if (list.list_->size != 1 && list.list_->size != axes)
    refuse(absl::StrCat(name, " has another number of axes"), to_string(list),
           absl::StrCat("one number, or ", axes));
  return list.list_->data[list.list_->size == 1 ? 0 : k];
}

/// floor(size * factor), as Python computes it; of a symbolic size by fractions.
Int scaled_size(Int size, Real factor) {
  const double f = factor.value();
  if (!(std::abs(f) < 0x1p31))
    refuse("scale_factor is no usable number", to_string(factor), "a positive number");
  if (size.known())
    return Int(static_cast<int64_t>(std::floor(static_cast<double>(size.value()) * f)));
  int64_t below = 1;
  while (below < 4096 &&
         std::floor(f * static_cast<double>(below)) != f * static_cast<double>(below))
    below *= 2;
  const double above = f * static_cast<double>(below);
  if (std::floor(above) != above) return scaled_size(Int(size.value()), factor);
  return floor_div(size * Int(static_cast<int64_t>(above)), Int(below));
}

struct Request {
  Tensor input;
  Arg size, factor;
  std::string_view mode;
  bool corners, recompute, antialias;
};

Outputs interpolate(const Request& q) {
  const int axes = q.input.rank() - 2;
  const Mode mode = mode_of(q.mode, axes);
  const auto n = static_cast<size_t>(axes);
  if (q.size.none() == q.factor.none())
    refuse("the size is not said, or twice",
           absl::StrCat("size=", to_string(q.size), ", scale_factor=", to_string(q.factor)),
           "one of the two");
  if (q.antialias && (axes != 2 || (mode != Mode::linear && mode != Mode::cubic)))
    refuse("antialias is for other modes", absl::StrCat("mode='", q.mode, "'"),
           "'bilinear' or 'bicubic'");
  if (q.recompute && q.factor.none())
    refuse("there is no scale to compute anew", "recompute_scale_factor=True and a size",
           "scale_factor with it");
  const bool weighs = mode == Mode::linear || mode == Mode::cubic;
  if (weighs && !is_floating(q.input.dtype()))
    throw DTypeError({.op = "interpolate",
                      .problem = absl::StrCat("mode='", q.mode, "' is not for integers"),
                      .got = std::string(name(q.input.dtype())),
                      .expected = "a floating dtype",
                      .next = "convert with .float(), or take mode='nearest'"});
  Shape sizes;
  std::vector<Resized> resized;
  for (size_t k = 0; k < n; ++k) {
    const Int have = q.input.size(2 + static_cast<int>(k));
    const Arg size = q.size.none() ? Arg() : item_of(q.size, k, n, "size");
    Arg factor = q.factor.none() ? Arg() : item_of(q.factor, k, n, "scale_factor");
    sizes.push_back(size.none() ? scaled_size(have, Args(&factor, 1).real(0)) : size.integer());
    if (!require(Relation::le, Int(1), sizes.back()) || !require(Relation::le, Int(1), have))
      refuse("a size below 1", absl::StrCat(to_string(have), " to ", to_string(sizes.back())),
             "sizes of at least 1");
    if (q.recompute) factor = Arg();
    const DType dtype = q.input.dtype() == DType::f64 ? DType::f64 : DType::f32;
    resized.push_back({have, sizes.back(), factor, q.corners, dtype, q.input.device()});
  }
  if (mode == Mode::area) {
    const std::string pool = absl::StrCat("adaptive_avg_pool", axes, "d");
    ArgBuilder args;
    args.push(q.input);
    args.push(sizes);
    return call(get_op(pool), CompletedArgs(get_op(pool), args.args()));
  }
  Tensor y = q.input;
  for (size_t k = 0; k < n; ++k) {
    const int axis = 2 + static_cast<int>(k);
    if (q.antialias)
      y = filtered(y, axis, resized[k], mode == Mode::cubic);
    else if (weighs)
      y = mode == Mode::linear ? linear(y, axis, resized[k]) : cubic(y, axis, resized[k]);
    else
      y = nearest(y, axis, resized[k], mode == Mode::nearest ? 0 : 0.5);
  }
  return {y};
}

bool on(const Arg& flag) { return flag.tag == Tag::flag && flag.flag_; }

Outputs interpolate_expansion(Args a) {
  const Request q{.input = a.tensor(0),
                  .size = a[1],
                  .factor = a[2],
                  .mode = a.text(3),
                  .corners = on(a[4]),
                  .recompute = on(a[5]),
                  .antialias = a.flag(6)};
  if (!a.none(4) && (q.mode.starts_with("nearest") || q.mode == "area"))
    refuse("align_corners has no meaning here", absl::StrCat("mode='", q.mode, "'"),
           "align_corners=None");
  return interpolate(q);
}

}  // namespace

void add_interpolate_definitions(Definitions& r) {
  Extra extra{
      .places = kFunctional,
      .doc =
          "input[n, c, ...] at another size, or scaled. mode: 'nearest', 'nearest-exact', "
          "'area', and 'linear', 'bilinear', 'bicubic', 'trilinear' for one, two, two and three "
          "axes. align_corners: the outermost elements keep their places. antialias: the filter "
          "widens where the result is smaller."};
  r.composite(
      "interpolate(Tensor input, int[]? size=None, float[]? scale_factor=None, str "
      "mode='nearest', bool? align_corners=None, bool? recompute_scale_factor=None, bool "
      "antialias=False) -> Tensor",
      interpolate_expansion, extra);
  r.composite(
      "upsample(Tensor input, int[]? size=None, float[]? scale_factor=None, str mode='nearest', "
      "bool? align_corners=None) -> Tensor",
      [](Args a) {
        const Arg all[] = {a[0], a[1], a[2], a[3], a[4], Arg(), Arg(false)};
        return interpolate_expansion(Args(all, 7));
      },
      extra);
  extra.doc = "interpolate with mode='nearest'.";
  r.composite(
      "upsample_nearest(Tensor input, int[]? size=None, float[]? scale_factor=None) -> Tensor",
      [](Args a) {
        return interpolate({a.tensor(0), a[1], a[2], "nearest", false, false, false});
      },
      extra);
  extra.doc = "interpolate with mode='bilinear' and align_corners=True.";
  r.composite(
      "upsample_bilinear(Tensor input, int[]? size=None, float[]? scale_factor=None) -> Tensor",
      [](Args a) {
        return interpolate({a.tensor(0), a[1], a[2], "bilinear", true, false, false});
      },
      extra);
}

}  // namespace lathe
