// Blocks of pictures turned into channels and back; windows as columns and their sum.
#include <absl/strings/str_cat.h>

#include "core/infer/rules.h"
#include "core/ops/families.h"
#include "core/ops/names.h"
#include "core/ops/windows.h"

namespace lathe {
namespace {

using namespace names;

[[noreturn]] void not_divisible(std::string_view op, std::string_view what, Int size, Int by) {
  throw ShapeError({.op = std::string(op),
                    .problem = absl::StrCat(what, " cannot be divided into equal parts"),
                    .got = absl::StrCat(to_string(size), " by ", to_string(by)),
                    .expected = absl::StrCat("a multiple of ", to_string(by)),
                    .next = "pad or slice the input, or take another factor"});
}

Int divided(std::string_view op, std::string_view what, Int size, Int by) {
  if (!require(Relation::le, 1, by))
    throw ValueError({.op = std::string(op),
                      .problem = "the factor must be positive",
                      .got = to_string(by),
                      .expected = "at least 1",
                      .next = "give a number from 1"});
  if (!require(Relation::eq, mod(size, by), 0)) not_divisible(op, what, size, by);
  return floor_div(size, by);
}

/// The axes before the last three.
Shape leading(const Tensor& x) { return {x.shape().begin(), x.shape().end() - 3}; }

/// x with its axes behind the leading ones split into `split` and put in `order`, then `joined`; in
/// memory of its own, also where nothing moves.
Tensor rearranged(const Tensor& x, std::initializer_list<Int> split,
                  std::initializer_list<int> order, std::initializer_list<Int> joined) {
  Shape apart = leading(x), together = apart;
  const auto lead = static_cast<int>(apart.size());
  Shape axes = all_axes(lead);
  apart.insert(apart.end(), split.begin(), split.end());
  together.insert(together.end(), joined.begin(), joined.end());
  for (int axis : order) axes.push_back(Int(lead + axis));
  return S::reshape(M::clone(S::permute(S::reshape(x, apart), axes)), together);
}

Outputs pixel_shuffle_expansion(Args a) {
  Tensor x = a.tensor(0);
  require_rank("pixel_shuffle", x, 3);
  const Int f = a.integer(1), h = x.size(-2), w = x.size(-1);
  const Int channels = divided("pixel_shuffle", "the axis of channels", x.size(-3), f * f);
  Tensor y = rearranged(x, {channels, f, f, h, w}, {0, 3, 1, 4, 2}, {channels, h * f, w * f});
  return {y};
}

Outputs pixel_unshuffle_expansion(Args a) {
  Tensor x = a.tensor(0);
  require_rank("pixel_unshuffle", x, 3);
  const Int f = a.integer(1), channels = x.size(-3);
  const Int h = divided("pixel_unshuffle", "the height", x.size(-2), f);
  const Int w = divided("pixel_unshuffle", "the width", x.size(-1), f);
  return {rearranged(x, {channels, h, f, w, f}, {0, 2, 4, 1, 3}, {channels * f * f, h, w})};
}

Outputs channel_shuffle_expansion(Args a) {
  Tensor x = a.tensor(0);
  require_rank("channel_shuffle", x, 3);
  const Int groups = a.integer(1);
  const Int each = divided("channel_shuffle", "the axis of channels", x.size(1), groups);
  Shape apart = x.shape(), axes = all_axes(x.rank() + 1);
  apart[1] = groups;
  apart.insert(apart.begin() + 2, each);
  std::swap(axes[1], axes[2]);
  return {S::reshape(M::clone(S::permute(S::reshape(x, apart), axes)), x.shape())};
}

// ── windows as columns ──────────────────────────────────────────────────────────────────────────

/// The arguments that unfold and fold share, of two axes each.
struct Windows {
  Shape kernel, dilation, padding, stride;
  Windows(std::string_view op, Args a, int at)
      : kernel(a.ints(at)),
        dilation(a.ints(at + 1)),
        padding(a.ints(at + 2)),
        stride(a.ints(at + 3)) {
    for (const Shape* list : {&kernel, &dilation, &stride})
      for (Int n : *list)
        if (!require(Relation::le, 1, n)) refuse(op, "kernel_size, dilation and stride", n, 1);
    for (Int n : padding)
      if (!require(Relation::le, 0, n)) refuse(op, "padding", n, 0);
  }
  [[noreturn]] static void refuse(std::string_view op, std::string_view what, Int got, int least) {
    throw ValueError({.op = std::string(op),
                      .problem = absl::StrCat(what, ": a number is too small"),
                      .got = to_string(got),
                      .expected = absl::StrCat("at least ", least),
                      .next = "give one number for both axes, or two"});
  }
  /// What a window reaches over, along axis k.
  Int reach(size_t k) const { return dilation[k] * (kernel[k] - 1) + 1; }
};

Outputs columns_of(Args a) {
  Tensor x = a.tensor(0);
  require_rank("unfold", x, 3, 4);
  const Windows w("unfold", a, 1);
  Tensor y = x.rank() == 3 ? S::unsqueeze(x, 0) : x;
  const Shape& p = w.padding;
  y = S::constant_pad_nd(y, {p[1], p[1], p[0], p[0]});
  y = S::windows(y, w.kernel, w.stride, w.dilation);
  const Shape seen = y.shape();
  y = S::permute(y, {Int(0), Int(1), Int(4), Int(5), Int(2), Int(3)});
  y = S::reshape(y, {seen[0], seen[1] * w.kernel[0] * w.kernel[1], seen[2] * seen[3]});
  return {x.rank() == 3 ? S::squeeze(y, {Int(0)}) : y};
}

Outputs sum_of_columns(Args a) {
  Tensor x = a.tensor(0);
  require_rank("fold", x, 2, 3);
  const Shape size = a.ints(1);
  const Windows w("fold", a, 2);
  Tensor columns = x.rank() == 2 ? S::unsqueeze(x, 0) : x;
  Shape room, count;
  for (size_t k = 0; k < 2; ++k) {
    room.push_back(size[k] + w.padding[k] * 2);
    count.push_back(floor_div(room[k] - w.reach(k), w.stride[k]) + 1);
  }
  const Int channels =
      divided("fold", "the axis of windows", columns.size(1), w.kernel[0] * w.kernel[1]);
  if (!require(Relation::eq, columns.size(2), count[0] * count[1]))
    throw ShapeError({.op = "fold",
                      .problem = "the number of windows does not fit output_size",
                      .got = to_string(columns.size(2)),
                      .expected = absl::StrCat(to_string(count[0]), " * ", to_string(count[1])),
                      .next = "output_size is the size of what unfold() was given"});
  columns = S::reshape(columns,
                       {columns.size(0), channels, w.kernel[0], w.kernel[1], count[0], count[1]});
  columns = S::permute(columns, {Int(0), Int(1), Int(4), Int(5), Int(2), Int(3)});
  Shape shape{columns.size(0), channels, room[0], room[1]};
  Slide slide{.kernel = w.kernel, .stride = w.stride, .dilation = w.dilation};
  Tensor out = overlap_added(columns, shape, slide);
  for (size_t k = 0; k < 2; ++k)
    out = S::slice(out, static_cast<int>(k) + 2, w.padding[k], w.padding[k] + size[k]);
  out = S::contiguous(out);
  return {x.rank() == 2 ? S::squeeze(out, {Int(0)}) : out};
}

}  // namespace

void add_patches_definitions(Definitions& r) {
  constexpr uint8_t kBoth = kFunction | kFunctional;
  r.composite(
      "pixel_shuffle(Tensor input, int upscale_factor) -> Tensor", pixel_shuffle_expansion,
      moving("Channels turned into blocks of pixels: [c f f, h, w] to [c, h f, w f].", kBoth));
  r.composite(
      "pixel_unshuffle(Tensor input, int downscale_factor) -> Tensor", pixel_unshuffle_expansion,
      moving("Blocks of pixels turned into channels: [c, h f, w f] to [c f f, h, w].", kBoth));
  Extra shuffle =
      moving("Channels dealt out anew: those of each group stand apart by groups.", kBoth);
  shuffle.also = {"native_channel_shuffle"};
  r.composite("channel_shuffle(Tensor input, int groups) -> Tensor", channel_shuffle_expansion,
              shuffle);
  r.composite(
      "unfold.functional(Tensor input, int[2] kernel_size, int[2] dilation=1, int[2] padding=0, "
      "int[2] stride=1) -> Tensor",
      columns_of,
      moving("Every window of pictures as a column: [n, c, h, w] to [n, c kernel, windows].",
             kFunctional));
  r.composite(
      "fold(Tensor input, int[2] output_size, int[2] kernel_size, int[2] dilation=1, int[2] "
      "padding=0, int[2] stride=1) -> Tensor",
      sum_of_columns,
      {.places = kFunctional,
       .doc = "Columns of windows added up where they lay in pictures: the reverse of unfold."});
}

}  // namespace lathe
