// Borders: of one value, or of the input's own elements, which are joined to it along each axis in
// turn.
#include <absl/strings/str_cat.h>

#include "core/ops/names.h"
#include "core/ops/windows.h"

namespace lathe {
namespace {

using namespace names;

/// What is put around the axes, from the last on: (before, after) each.
struct Border {
  int axis;
  Int before, after;
};
std::vector<Border> borders(std::string_view op, const Tensor& x, const Shape& pad) {
  if (pad.size() % 2 != 0 || pad.size() / 2 > static_cast<size_t>(x.rank()))
    throw ValueError({.op = std::string(op),
                      .problem = "two numbers an axis expected, last axis first",
                      .got = absl::StrCat(to_string(pad), " for rank ", x.rank()),
                      .expected = absl::StrCat("at most ", x.rank(), " pairs"),
                      .next = "give (before, after) of the last axis, then of the one before"});
  std::vector<Border> out;
  for (size_t k = 0; 2 * k < pad.size(); ++k) {
    const int axis = x.rank() - 1 - static_cast<int>(k);
    out.push_back({axis, pad[2 * k], pad[2 * k + 1]});
    if (!require(Relation::le, Int(0), x.size(axis) + pad[2 * k] + pad[2 * k + 1]))
      throw ValueError({.op = std::string(op),
                        .problem = "more is cut off than there is",
                        .got = absl::StrCat(to_string(pad), " on ", to_string(x.shape())),
                        .expected = "a size of 0 or more",
                        .next = "negative numbers shorten an axis"});
  }
  return out;
}

/// x without what negative numbers cut off.
Tensor shortened(const Tensor& x, const Border& b) {
  const Int first = max(-b.before, Int(0)), rest = max(-b.after, Int(0));
  if (identical(first, Int(0)) && identical(rest, Int(0))) return x;
  return S::slice(x, b.axis, first, x.size(b.axis) - rest);
}

/// A border of one value; what is negative shortens the axis.
Outputs constant_expansion(Args a) {
  Tensor x = a.tensor(0);
  const std::vector<Border> around = borders("constant_pad_nd", x, a.ints(1));
  Shape shape = x.shape();
  bool shorter = false;
  for (const Border& b : around) {
    shape[static_cast<size_t>(b.axis)] += b.before + b.after;
    shorter = shorter || b.before < Int(0) || b.after < Int(0);
  }
  if (shorter)
    for (const Border& b : around) x = shortened(x, b);
  Tensor out = C::full(shape, a[2], x.dtype(), x.device());
  Shape start, length;
  for (auto b = around.rbegin(); b != around.rend(); ++b) {
    start.push_back(shorter ? max(b->before, Int(0)) : b->before);
    length.push_back(x.size(b->axis));
  }
  assign(S::narrow_axes(out, start, length), x);
  return {out};
}

/// The value as a tensor without axes, as complex numbers come.
Outputs tensor_border(Args a) {
  Tensor x = a.tensor(0), value = a.tensor(2);
  require_rank("constant_pad_nd", value, 0, 0);
  if (is_complex(value.dtype()) && !is_complex(x.dtype()))
    throw DTypeError({.op = "constant_pad_nd",
                      .problem = "the value is complex, and the input is not",
                      .got = absl::StrCat(name(value.dtype()), " around ", name(x.dtype())),
                      .expected = "a real number",
                      .next = "convert the input with .to(lathe.complex64)"});
  Tensor all = C::ones(x.shape(), DType::bool_, x.device());
  return {M::where(S::constant_pad_nd(all, a.ints(1), false), S::constant_pad_nd(x, a.ints(1), 0),
                   M::cast(value, x.dtype()))};
}

enum class Around : uint8_t { reflect, replicate, circular };

/// So many elements of its own at each end.
Tensor surrounded(const Tensor& x, const Border& b, Around how) {
  const int axis = b.axis;
  const Int size = x.size(axis), before = max(b.before, Int(0)), after = max(b.after, Int(0));
  const auto part = [&](Int first, Int last) { return S::slice(x, axis, first, last); };
  const auto repeated = [&](const Tensor& end, Int count) {
    Shape shape = x.shape();
    shape[static_cast<size_t>(axis)] = count;
    return S::expand(end, shape);
  };
  const auto mirrored = [&](const Tensor& end) { return S::flip(end, {Int(axis)}); };
  std::vector<Tensor> parts{x};
  if (!identical(before, Int(0)))
    parts.insert(parts.begin(), how == Around::replicate  ? repeated(part(0, 1), before)
                                : how == Around::circular ? part(size - before, size)
                                                          : mirrored(part(1, before + 1)));
  if (!identical(after, Int(0)))
    parts.push_back(how == Around::replicate  ? repeated(part(size - 1, size), after)
                    : how == Around::circular ? part(0, after)
                                              : mirrored(part(size - 1 - after, size - 1)));
  return parts.size() == 1 ? M::clone(x) : S::cat(parts, axis);
}

Tensor padded(const Tensor& given, const Shape& pad, Around how, std::string_view mode) {
  // Parts of the gradient are added as they are, and rounded once.
  if (given.dtype() == DType::f16 || given.dtype() == DType::bf16)
    return M::cast(padded(M::cast(given, DType::f32), pad, how, mode), given.dtype());
  Tensor x = given;
  for (const Border& b : borders("pad", given, pad)) {
    if (identical(b.before, Int(0)) && identical(b.after, Int(0))) continue;
    // What is cut off does not come back at the other end; a mirror shows it.
    if (how == Around::circular) x = shortened(x, b);
    const Int size = x.size(b.axis);
    const auto none = [](Int n) { return require(Relation::eq, n, Int(0)); };
    bool fits = require(Relation::le, Int(1), size);
    if (!fits && none(b.before) && none(b.after)) continue;
    // A reflection has one element less to show, a copy of an end shows as many as are asked for.
    const Int most = how == Around::reflect ? size - 1 : size;
    for (Int n : {b.before, b.after})
      fits = fits && (how == Around::replicate || require(Relation::le, n, most));
    if (!fits)
      throw ShapeError({.op = "pad",
                        .problem = absl::StrCat("the input is too short for such a border"),
                        .got = absl::StrCat(to_string(pad), " around ", to_string(given.shape()),
                                            ", mode='", mode, "'"),
                        .expected = absl::StrCat("at most ", to_string(most), " on axis ", b.axis),
                        .next = "pad() less, or in two steps"});
    x = surrounded(x, b, how);
    if (how != Around::circular) x = shortened(x, b);
  }
  return same(x, given) ? M::clone(x) : x;  // memory of its own, also where no border is asked for
}

Outputs pad_expansion(Args a) {
  Tensor x = a.tensor(0);
  const std::string_view mode = a.text(2);
  if (mode == "constant") return {S::constant_pad_nd(x, a.ints(1), a.none(3) ? Arg(0) : a[3])};
  if (!a.none(3))
    throw ValueError({.op = "pad",
                      .problem = "a value for a border that shows the input",
                      .got = absl::StrCat("mode='", mode, "', value=", to_string(a[3])),
                      .expected = "value=None",
                      .next = "leave value out, or take mode='constant'"});
  constexpr std::string_view kModes[] = {"reflect", "replicate", "circular"};
  const auto* found = std::find(std::begin(kModes), std::end(kModes), mode);
  if (found == std::end(kModes))
    throw ValueError({.op = "pad",
                      .problem = "an unknown mode",
                      .got = absl::StrCat("'", mode, "'"),
                      .expected = "'constant', 'reflect', 'replicate' or 'circular'",
                      .next = "leave the argument out for a border of one value"});
  return {padded(x, a.ints(1), static_cast<Around>(found - std::begin(kModes)), mode)};
}

}  // namespace

void add_padding_definitions(Definitions& r) {
  const Extra border{.places = kFunction,
                     .moves = true,
                     .doc =
                         "input with a border of value; pad lists (before, after) from the last "
                         "axis on, and what is negative shortens an axis."};
  r.composite("constant_pad_nd(Tensor input, int[] pad, Scalar value=0) -> Tensor",
              constant_expansion, border);
  r.composite("constant_pad_nd.tensor(Tensor input, int[] pad, Tensor value) -> Tensor",
              tensor_border, border);
  r.composite(
      "pad(Tensor input, int[] pad, str mode='constant', float? value=None) -> Tensor",
      pad_expansion,
      {.places = kFunctional,
       .moves = true,
       .doc =
           "input with a border: of value ('constant'), of itself mirrored at the ends "
           "('reflect'), of its end repeated ('replicate') or of its other end ('circular'). pad "
           "lists (before, after) from the last axis on."});
}

}  // namespace lathe
