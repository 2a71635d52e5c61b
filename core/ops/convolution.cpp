// Convolutions of one, two and three axes, and transposed ones: one formula each, and over it the
// function that users call, with a bias and without a batch axis too.
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>

#include "core/infer/rules.h"
#include "core/ops/families.h"
#include "core/ops/names.h"

namespace lathe {
namespace {

using namespace names;

constexpr std::string_view kPlaces[] = {"z", "y", "x"}, kTaps[] = {"h", "i", "j"};

std::string contraction_name(int axes, bool transposed) {
  return absl::StrCat(transposed ? "convolution_transpose" : "convolution", axes, "d");
}

/// Arguments of a convolution over so many axes, after its tensors, in PyTorch's order.
std::string arguments(int axes, bool transposed) {
  auto list = [&](std::string_view name, int value) {
    return absl::StrCat(", int[", axes, "] ", name, "=", value);
  };
  const std::string dilation = list("dilation", 1), groups = ", int groups=1";
  return absl::StrCat(list("stride", 1), list("padding", 0),
                      transposed ? absl::StrCat(list("output_padding", 0), groups, dilation)
                                 : absl::StrCat(dilation, groups));
}

void add_contraction(Definitions& r, int axes, bool transposed) {
  std::vector<std::string> windows;
  const auto places = absl::MakeSpan(kPlaces).last(static_cast<size_t>(axes));
  const auto taps = absl::MakeSpan(kTaps).last(static_cast<size_t>(axes));
  for (int k = 0; k < axes; ++k) {
    const auto at = static_cast<size_t>(k);
    windows.push_back(
        absl::StrCat(places[at], "*stride", k, " + ", taps[at], "*dilation", k, " - padding", k));
    if (transposed) absl::StrAppend(&windows.back(), " (+ output_padding", k, ")");
  }
  const std::string at = absl::StrJoin(places, ", "), tap = absl::StrJoin(taps, ", "),
                    window = absl::StrJoin(windows, ", ");
  const std::string formula =
      transposed ? absl::StrCat("O[n, g o, ", window, "] += X[n, g c, ", at, "] * W[g c, o, ", tap)
                 : absl::StrCat("O[n, g o, ", at, "] += X[n, g c, ", window, "] * W[g o, c, ", tap);
  r.contract(
      absl::StrCat(contraction_name(axes, transposed), "(Tensor input, Tensor weight",
                   arguments(axes, transposed), ", dtype? out_dtype=None) -> Tensor"),
      absl::StrCat(formula, "] over ", tap, ", c where g = groups"),
      {.domain = numbers,
       .places = kNowhere,
       .doc = transposed ? "The sum of a transposed convolution, without a bias."
                         : "The sum of a convolution (a cross-correlation), without a bias."});
}

/// The arguments of a contraction, from those of the function over it: all but the bias.
struct Convolution {
  const Op& op;
  Tensor input, weight, bias;
  absl::Span<const Arg> rest;
};

void require_bias(const Convolution& c, const Tensor& y) {
  if (category(c.bias.dtype()) > category(y.dtype()))
    throw DTypeError({.op = c.op.name(),
                      .problem = "the bias does not fit into the dtype of the result",
                      .got = absl::StrCat("bias ", name(c.bias.dtype())),
                      .expected = std::string(name(y.dtype())),
                      .next = "give the bias the dtype of the weight"});
  const Shape want{y.size(1)};
  if (require_equal(c.bias.shape(), want)) return;
  throw ShapeError({.op = c.op.name(),
                    .problem = "the bias is not one number for each channel of the result",
                    .got = absl::StrCat("bias", to_string(c.bias.shape())),
                    .expected = absl::StrCat("bias", to_string(want)),
                    .next = "give as many as the weight has output channels"});
}

void require_window(const Convolution& c, int axes) {
  for (int k = c.weight.rank() - axes; k >= 0 && k < c.weight.rank(); ++k)
    if (!require(Relation::le, 1, c.weight.size(k)))
      throw ShapeError({.op = c.op.name(),
                        .problem = "the window has no elements",
                        .got = absl::StrCat("weight", to_string(c.weight.shape())),
                        .expected = "a window of at least 1 along each axis",
                        .next = "check the order of the weight's axes"});
}

Tensor convolve(const Convolution& c, int axes) {
  require_window(c, axes);
  const bool batched = c.input.rank() != axes + 1;
  const Tensor input = batched ? c.input : S::unsqueeze(c.input, 0);  // args only borrow it
  absl::InlinedVector<Arg, 8> args{Arg(input), Arg(c.weight)};
  args.insert(args.end(), c.rest.begin(), c.rest.end());
  // f16 and bf16: the sums are rounded once, with the bias.
  const DType common = promote(input.dtype(), c.weight.dtype()), sums = compute_type(common);
  const bool rounds_later = c.bias.defined() && sums != common;
  args.push_back(rounds_later ? Arg(sums) : Arg());
  Tensor y = call(c.op, absl::MakeConstSpan(args))[0];
  if (c.bias.defined()) {
    require_bias(c, y);
    Shape per_channel(static_cast<size_t>(axes) + 1, Int(1));
    per_channel[0] = Int(-1);
    y = M::add(y, S::reshape(c.bias, per_channel));
    if (rounds_later) y = M::cast(y, promote(common, c.bias.dtype()));
  }
  return batched ? y : S::squeeze(y, {Int(0)});
}

/// Of a transposed convolution: what is put at the end of an axis is no whole step of a window.
void require_output_padding(const Op& op, const Shape& more, const Shape& stride,
                            const Shape& dilation) {
  for (size_t k = 0; k < more.size(); ++k)
    if (!require(Relation::lt, more[k], max(stride[k], dilation[k])))
      throw ValueError({.op = op.name(),
                        .problem = "output_padding is not below stride or dilation",
                        .got = absl::StrCat("output_padding ", to_string(more), ", stride ",
                                            to_string(stride), ", dilation ", to_string(dilation)),
                        .expected = "less than the larger of the two on each axis",
                        .next = "pad() the result by the rest"});
}

template <int axes, bool transposed>
Outputs expansion(Args a) {
  static const Op& op = get_op(contraction_name(axes, transposed));
  if constexpr (transposed) require_output_padding(op, a.ints(5), a.ints(3), a.ints(7));
  const absl::Span<const Arg> all(a.begin(), a.size());
  return {convolve({op, a.tensor(0), a.tensor(1), a.optional_tensor(2), all.subspan(3)}, axes)};
}

/// What padding="same" puts around each axis in all: as many as the window is longer than one.
Shape same_padding(const Tensor& weight, const Shape& dilation, int axes) {
  Shape total;
  for (int k = 0; k < axes; ++k)
    total.push_back(dilation[static_cast<size_t>(k)] * (weight.size(k - axes) - 1));
  return total;
}

/// The input with zeros around it, the odd one at the end.
Tensor padded(const Tensor& input, const Shape& total) {
  Shape border;  // pairs, from the last axis to the first
  for (size_t k = total.size(); k-- > 0;) {
    border.push_back(floor_div(total[k], Int(2)));
    border.push_back(total[k] - border.back());
  }
  return S::constant_pad_nd(input, border);
}

/// padding is "valid" or "same": arguments 3 to 6 are stride, padding, dilation, groups.
template <int axes>
Outputs padded_expansion(Args a) {
  static const Op& op = get_op(contraction_name(axes, false));
  const std::string_view padding = a.text(4);
  const Shape stride = a.ints(3);
  const bool same = padding == "same";
  const bool strided = std::any_of(stride.begin(), stride.end(), [](Int s) { return s != Int(1); });
  if ((!same && padding != "valid") || (same && strided))
    throw ValueError({.op = op.name(),
                      .problem = "a padding this stride cannot have",
                      .got = absl::StrCat("'", padding, "', stride ", to_string(stride)),
                      .expected = "numbers, 'valid', or 'same' at stride 1",
                      .next = "give the padding as numbers"});
  Tensor input = a.tensor(0);
  std::vector<Arg> ends(static_cast<size_t>(axes), Arg(Int(0)));
  if (same) {
    const Shape total = same_padding(a.tensor(1), a.ints(5), axes);
    auto odd = [](Int n) { return mod(n, Int(2)) != Int(0); };
    if (std::any_of(total.begin(), total.end(), odd))
      input = padded(input, total);
    else
      for (size_t k = 0; k < ends.size(); ++k) ends[k] = Arg(floor_div(total[k], Int(2)));
  }
  const ArgList list{ends.data(), ends.size()};
  const Arg rest[] = {a[3], Arg(list), a[5], a[6]};
  return {convolve({op, input, a.tensor(1), a.optional_tensor(2), rest}, axes)};
}

template <int axes, bool transposed>
void add_function(Definitions& r) {
  constexpr std::string_view kDocs[] = {
      "Cross-correlation of input[n, c, ...] with weight[o, c / groups, ...], plus bias[o]; input "
      "without n is one image. padding: numbers, 'valid', or 'same' at stride 1.",
      "Transposed convolution of input[n, c, ...] with weight[c, o / groups, ...], plus bias[o]: "
      "what a convolution's gradient does. output_padding: sizes more at the end of each axis."};
  // conv2d was the name of the contraction alone (graph/text/upgrade.cpp).
  const Extra extra{.version = axes == 2 && !transposed ? 2 : 1,
                    .places = kFunction | kFunctional,
                    .moves = true,  // the contraction reads half precision as it is
                    .autocast = Autocast::narrow,
                    .doc = kDocs[transposed ? 1 : 0]};
  const std::string name = absl::StrCat(transposed ? "conv_transpose" : "conv", axes, "d");
  const std::string_view operands = "(Tensor input, Tensor weight, Tensor? bias=None";
  r.composite(absl::StrCat(name, operands, arguments(axes, transposed), ") -> Tensor"),
              expansion<axes, transposed>, extra);
  if constexpr (!transposed)
    r.composite(absl::StrCat(name, ".padding", operands, ", int[", axes,
                             "] stride=1, str padding='valid', int[", axes,
                             "] dilation=1, int groups=1) -> Tensor"),
                padded_expansion<axes>, extra);
}

/// Arguments: input, weight, bias, stride, padding, dilation, transposed, output_padding, groups.
Outputs any_convolution(Args a) {
  const int axes = a.tensor(0).rank() - 2;
  if (axes < 1 || axes > 3)
    throw ShapeError({.op = "convolution",
                      .problem = "a convolution is over one to three axes",
                      .got = to_string(a.shape(0)),
                      .expected = "input[n, channels, ...]",
                      .next = "unsqueeze() the missing axes"});
  const bool transposed = a.flag(6);
  const Op& op = get_op(absl::StrCat(transposed ? "conv_transpose" : "conv", axes, "d"));
  const std::vector<Arg> given =
      transposed ? std::vector<Arg>{a[0], a[1], a[2], a[3], a[4], a[7], a[8], a[5]}
                 : std::vector<Arg>{a[0], a[1], a[2], a[3], a[4], a[5], a[8]};
  return call(op, CompletedArgs(op, given));
}

/// Of a sequence with time first: input[time, n, c] and weight[width, c, o].
Outputs time_convolution(Args a) {
  Tensor x = a.tensor(0), w = a.tensor(1);
  if (x.rank() != 3 || w.rank() != 3)
    throw ShapeError({.op = "conv_tbc",
                      .problem = "operands of three axes expected",
                      .got = absl::StrCat(to_string(x.shape()), " and ", to_string(w.shape())),
                      .expected = "input[time, n, channels], weight[width, channels, out]",
                      .next = "unsqueeze() the missing axes"});
  Tensor input = S::permute(x, {Int(1), Int(2), Int(0)});
  Tensor weight = S::permute(w, {Int(2), Int(1), Int(0)});
  Tensor y = N::conv1d(input, weight, a[2], {Int(1)}, {a.integer(3)});
  return {S::permute(y, {Int(2), Int(0), Int(1)})};
}

}  // namespace

void add_convolution_definitions(Definitions& r) {
  for (int axes : {1, 2, 3})
    for (bool transposed : {false, true}) add_contraction(r, axes, transposed);
  add_function<1, false>(r);
  add_function<2, false>(r);
  add_function<3, false>(r);
  add_function<1, true>(r);
  add_function<2, true>(r);
  add_function<3, true>(r);
  r.composite(
      "convolution(Tensor input, Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] "
      "dilation, bool transposed, int[] output_padding, int groups) -> Tensor",
      any_convolution,
      {.places = kFunction,
       .moves = true,
       .autocast = Autocast::narrow,
       .doc = "conv1d, conv2d, conv3d or the transposed ones, by input's rank."});
  r.composite("conv_tbc(Tensor input, Tensor weight, Tensor bias, int pad=0) -> Tensor",
              time_convolution,
              {.places = kFunction | kFunctional,
               .moves = true,
               .autocast = Autocast::narrow,
               .doc = "conv1d of input[time, n, c] with weight[width, c, o]: time comes first."});
}

}  // namespace lathe
