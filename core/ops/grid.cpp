// Images seen through a grid: affine_grid makes one, grid_sample reads an image at its places. The
// elements around a place are gathered from the image, whose axes are joined into one.
#include <absl/strings/str_cat.h>

#include <algorithm>

#include "core/ops/names.h"
#include "core/ops/resample.h"
#include "core/ops/windows.h"

namespace lathe {
namespace {

using namespace names;

constexpr double kSharpness = -0.75;

enum class Outside : uint8_t { zeros, border, reflection };
enum class Mode : uint8_t { linear, nearest, cubic };
constexpr const char *kModes[] = {"bilinear", "nearest", "bicubic"},
                     *kOutside[] = {"zeros", "border", "reflection"};  // by these

struct Sampler {
  Tensor image;            // [n, c, places]
  std::vector<Int> sizes;  // of the image's axes, the last first, as grids name them
  Outside outside;
  bool corners;
};

template <size_t n>
size_t position(std::string_view name, const char* const (&names)[n], std::string_view what) {
  const auto* found = std::find(std::begin(names), std::end(names), name);
  if (found != std::end(names)) return static_cast<size_t>(found - std::begin(names));
  std::string expected;
  for (std::string_view each : names)
    absl::StrAppend(&expected, expected.empty() ? "'" : ", '", each, "'");
  throw ValueError({.op = "grid_sample",
                    .problem = absl::StrCat("an unknown ", what),
                    .got = absl::StrCat("'", name, "'"),
                    .expected = expected,
                    .next = "leave the argument out for the first of them"});
}

/// From [-1, 1] to places along an axis.
Tensor to_places(const Tensor& c, Int size, bool corners) {
  if (corners) return M::mul(M::div(M::add(c, 1), 2), size - 1);
  return M::div(M::sub(M::mul(M::add(c, 1), size), 1), 2);
}

/// Folded into [low, low + span].
Tensor folded(const Tensor& place, double low, Int span) {
  if (span == Int(0)) return M::mul(place, 0);
  Tensor d = M::abs(M::sub(place, low)), extra = M::fmod(d, span);
  Tensor odd = M::ne(M::remainder(M::floor(M::div(d, span)), 2), 0);
  return M::add(M::where(odd, M::sub(span, extra), extra), low);
}

Tensor moved_inside(const Tensor& place, Int size, const Sampler& s) {
  if (s.outside == Outside::zeros) return place;
  Tensor p = place;
  if (s.outside == Outside::reflection)
    p = s.corners ? folded(p, 0, size - 1) : folded(p, -0.5, size);
  return M::where(M::isnan(p), 0, M::clamp(p, 0, size - 1));  // what is nowhere is at 0
}

/// The image at whole places (floats); 0 outside of it.
Tensor taken(const Sampler& s, const std::vector<Tensor>& places) {
  Tensor flat, inside;
  Int inner = 1;
  for (size_t k = 0; k < places.size(); ++k) {
    const Tensor& p = places[k];
    Tensor within = M::logical_and(M::le(0, p), M::le(p, s.sizes[k] - 1));
    inside = inside.defined() ? M::logical_and(inside, within) : within;
    Tensor at = M::mul(M::cast(M::where(within, p, 0), DType::i64), inner);
    flat = flat.defined() ? M::add(flat, at) : at;
    inner *= s.sizes[k];
  }
  const Shape shape{s.image.size(0), s.image.size(1), flat.size(1)};
  Tensor found = I::gather(s.image, -1, S::expand(S::unsqueeze(flat, 1), shape));
  return M::where(S::unsqueeze(inside, 1), found, 0);
}

/// The sum of the image at 2^n places around each, by their distances.
Tensor linear(const Sampler& s, const std::vector<Tensor>& places) {
  std::vector<Tensor> low;
  for (const Tensor& p : places) low.push_back(M::floor(p));
  Tensor sum;
  for (size_t corner = 0; corner < size_t{1} << places.size(); ++corner) {
    std::vector<Tensor> at;
    Tensor weight;
    for (size_t k = 0; k < places.size(); ++k) {
      const bool high = (corner >> k & 1) != 0;
      Tensor part = M::sub(places[k], low[k]);
      if (!high) part = M::sub(1, part);
      weight = weight.defined() ? M::mul(weight, part) : part;
      at.push_back(high ? M::add(low[k], 1) : low[k]);
    }
    Tensor value = taken(s, at);
    Tensor term = M::mul(value, S::unsqueeze(weight, 1));
    sum = sum.defined() ? M::add(sum, term) : term;
  }
  return sum;
}

Tensor cubic(const Sampler& s, const std::vector<Tensor>& places) {
  std::vector<Tensor> low;
  std::vector<std::array<Tensor, 4>> weights;
  for (const Tensor& p : places) {
    low.push_back(M::floor(p));
    weights.push_back(cubic_weights(M::sub(p, low.back()), kSharpness));
  }
  auto at = [&](size_t k, int step) {
    return moved_inside(M::add(low[k], step - 1), s.sizes[k], s);
  };
  Tensor sum;
  for (int i = 0; i < 4; ++i) {
    Tensor row;
    for (int j = 0; j < 4; ++j) {
      Tensor value = taken(s, {at(0, j), at(1, i)});
      Tensor term = M::mul(value, S::unsqueeze(weights[0][static_cast<size_t>(j)], 1));
      row = row.defined() ? M::add(row, term) : term;
    }
    Tensor term = M::mul(row, S::unsqueeze(weights[1][static_cast<size_t>(i)], 1));
    sum = sum.defined() ? M::add(sum, term) : term;
  }
  return sum;
}

void require_fitting(const Tensor& x, const Tensor& grid) {
  const int axes = x.rank() - 2;
  bool fits = (axes == 2 || axes == 3) && grid.rank() == x.rank() &&
              require(Relation::eq, grid.size(-1), Int(axes)) &&
              require(Relation::eq, grid.size(0), x.size(0));
  for (int k = 0; fits && k < axes; ++k) fits = require(Relation::le, Int(1), x.size(2 + k));
  if (fits) return;
  throw ShapeError(
      {.op = "grid_sample",
       .problem = "input and grid do not fit",
       .got = absl::StrCat(to_string(x.shape()), " and ", to_string(grid.shape())),
       .expected = "[n, c, h, w] and [n, h2, w2, 2], or [n, c, d, h, w] and [n, d2, h2, w2, 3]",
       .next = "the last axis of the grid holds places as (x, y) or (x, y, z)"});
}

Outputs sample_expansion(Args a) {
  Tensor x = a.tensor(0), grid = a.tensor(1);
  require_fitting(x, grid);
  const int axes = x.rank() - 2;
  const auto mode = static_cast<Mode>(position(a.text(2), kModes, "mode"));
  Sampler s{.outside = static_cast<Outside>(position(a.text(3), kOutside, "padding_mode")),
            .corners = a[4].tag == Tag::flag && a[4].flag_};
  if (mode == Mode::cubic && axes != 2)
    throw ValueError({.op = "grid_sample",
                      .problem = "mode='bicubic' is for images of two axes",
                      .got = to_string(x.shape()),
                      .expected = "[n, c, h, w]",
                      .next = "take mode='bilinear'"});
  s.image = S::flatten(x, 2, -1);
  Shape shape{x.size(0), x.size(1)};
  Int count = 1;
  for (int k = 0; k < axes; ++k) {
    shape.push_back(grid.size(1 + k));
    count *= grid.size(1 + k);
    s.sizes.push_back(x.size(-1 - k));
  }
  std::vector<Tensor> places;
  for (int k = 0; k < axes; ++k) {
    Tensor c = S::reshape(S::select(grid, -1, k), {grid.size(0), count});
    const Int size = s.sizes[static_cast<size_t>(k)];
    Tensor p = to_places(c, size, s.corners);
    if (mode != Mode::cubic) p = moved_inside(p, size, s);
    places.push_back(mode == Mode::nearest ? M::round(p) : p);
  }
  Tensor y = mode == Mode::linear  ? linear(s, places)
             : mode == Mode::cubic ? cubic(s, places)
                                   : taken(s, places);
  return {S::reshape(y, shape)};
}

/// Places of the elements of an axis in [-1, 1].
Tensor axis_places(Int size, bool corners, const Tensor& like) {
  Tensor i = C::arange(0, size, 1, DType::i64, like.device());
  auto number = [&](Int n) { return C::full({}, n, like.dtype(), like.device()); };
  if (corners && size <= Int(1)) return M::cast(M::mul(i, 0), like.dtype());
  // From the middle, so that both ends are as far from it.
  Tensor from_middle = M::cast(M::sub(M::mul(i, 2), size - 1), like.dtype());
  return M::div(from_middle, number(corners ? size - 1 : size));
}

Outputs grid_expansion(Args a) {
  Tensor theta = a.tensor(0);
  const Shape size = a.ints(1);
  const int axes = static_cast<int>(size.size()) - 2;
  const bool corners = a[2].tag == Tag::flag && a[2].flag_;
  bool fits = (axes == 2 || axes == 3) && theta.rank() == 3 &&
              require(Relation::eq, theta.size(0), size[0]) &&
              require(Relation::eq, theta.size(1), Int(axes)) &&
              require(Relation::eq, theta.size(2), Int(axes + 1));
  for (Int s : size) fits = fits && require(Relation::le, Int(1), s);
  if (!fits)
    throw ShapeError(
        {.op = "affine_grid",
         .problem = "theta and size do not fit",
         .got = absl::StrCat(to_string(theta.shape()), " and ", to_string(size)),
         .expected = "theta[n, 2, 3] and [n, c, h, w], or [n, 3, 4] and [n, c, d, h, w]",
         .next = "theta holds a matrix and a shift for each image"});
  Shape shape(size.begin() + 2, size.end());
  std::vector<Tensor> parts;
  for (int k = axes; k-- > 0;) {  // x stands along the last axis
    Shape along(static_cast<size_t>(axes - k), Int(1));
    along[0] = shape[static_cast<size_t>(k)];
    Tensor c = S::reshape(axis_places(along[0], corners, theta), along);
    parts.push_back(S::expand(c, shape));
  }
  parts.push_back(C::ones(shape, theta.dtype(), theta.device()));
  Tensor base = S::stack(parts, -1);
  Tensor flat = S::flatten(base, 0, -2);
  Tensor y = N::matmul(flat, S::transpose(theta, 1, 2));
  Shape out = shape;
  out.insert(out.begin(), size[0]);
  out.push_back(Int(axes));
  return {S::reshape(y, out)};
}

/// PyTorch's functions of numbers: the same, where modes are counted in the order of their names.
template <size_t n>
Arg named(const Arg& number, const char* const (&names)[n]) {
  for (size_t i = 0; i < n; ++i)
    if (number.integer() == Int(i)) return Arg(names[i]);
  throw ValueError({.op = "grid_sampler",
                    .problem = "an unknown mode",
                    .got = to_string(number),
                    .expected = absl::StrCat("0 to ", n - 1),
                    .next = "see help(lathe.nn.functional.grid_sample), which takes names"});
}

Outputs numbered_sample(Args a) {
  const Arg all[] = {a[0], a[1], named(a[2], kModes), named(a[3], kOutside), a[4]};
  return sample_expansion(Args(all, 5));
}

}  // namespace

void add_grid_definitions(Definitions& r) {
  for (std::string_view name : {"grid_sampler", "grid_sampler_2d", "grid_sampler_3d"})
    r.composite(absl::StrCat(name,
                             "(Tensor input, Tensor grid, int interpolation_mode, int "
                             "padding_mode, bool align_corners) -> Tensor"),
                numbered_sample,
                {.domain = floating,
                 .places = kFunction,
                 .doc = "grid_sample, with numbers for the modes."});
  r.composite(
      "affine_grid_generator(Tensor theta, int[] size, bool align_corners) -> Tensor",
      grid_expansion,
      {.domain = floating, .places = kFunction, .doc = "affine_grid under its other name."});
  r.composite(
      "grid_sample(Tensor input, Tensor grid, str mode='bilinear', str padding_mode='zeros', bool? "
      "align_corners=None) -> Tensor",
      sample_expansion,
      {.domain = floating,
       .places = kFunctional,
       .autocast = Autocast::wide,
       .doc = "input[n, c, h, w] at the places of grid[n, h2, w2, 2] as (x, y) in [-1, 1], and the "
              "same with one axis more. mode: 'bilinear', 'nearest' or 'bicubic'. padding_mode: "
              "what is outside: 'zeros', the 'border', or a 'reflection'. align_corners: -1 and 1 "
              "are the middles of the outermost elements, not their ends."});
  r.composite("affine_grid(Tensor theta, int[] size, bool? align_corners=None) -> Tensor",
              grid_expansion,
              {.domain = floating,
               .places = kFunctional,
               .doc = "The grid for grid_sample that theta[n, 2, 3] (a matrix and a shift) makes "
                      "of the places of an image of `size`; or theta[n, 3, 4]."});
}

}  // namespace lathe
