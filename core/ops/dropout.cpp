// Dropout: elements, or whole channels, are left out at random in training. The rest is scaled, or
// (for networks of selu) moved too, so that mean and variance stay as they are.
#include <absl/strings/str_cat.h>

#include <cmath>

#include "core/ops/families.h"
#include "core/ops/names.h"

namespace lathe {
namespace {

using namespace names;

/// What becomes of those left out: 0, or the value that selu gives to what is far below 0.
enum class Left : uint8_t { zero, saturated };
/// One number is drawn for each element, for each channel (axis 1), or for each slice of axis 0.
enum class Drawn : uint8_t { element, channel, slice };

/// Arguments: input, p, and whether to do it at all.
Outputs drop(std::string_view op, Args a, Drawn drawn, Left left) {
  Tensor x = a.tensor(0);
  const Real p = a.real(1);
  if (!(p >= 0 && p <= 1))
    throw ValueError({.op = std::string(op),
                      .problem = "the probability p is outside of [0, 1]",
                      .got = absl::StrCat("p=", to_string(Real(p.hint()))),
                      .expected = "0 <= p <= 1",
                      .next = "p is a probability in [0, 1], not a percentage"});
  if (!a.flag(2) || p == 0) return {x};
  if (drawn == Drawn::channel && x.rank() < 2)
    throw ShapeError({.op = std::string(op),
                      .problem = "there are no channels",
                      .got = to_string(x.shape()),
                      .expected = "a batch axis and a channel axis",
                      .next = "dropout() drops single elements"});
  const DType compute = compute_type(x.dtype());
  Shape shape = x.shape();
  for (size_t i = drawn == Drawn::slice ? 1 : 2; drawn != Drawn::element && i < shape.size(); ++i)
    shape[i] = Int(1);
  Tensor kept = C::bernoulli(shape, 1 - p, compute, x.device()), y;
  if (left == Left::zero) {
    y = M::mul(x, M::mul(kept, p == 1 ? Real(0.0) : 1 / (1 - p)));
  } else if (p == 1) {
    y = M::mul(x, 0);
  } else {
    constexpr double kSaturated = -1.7580993408473766;  // selu of minus infinity
    const double q = p.value(), scale = 1 / std::sqrt((kSaturated * kSaturated * q + 1) * (1 - q));
    Tensor mixed = M::where(M::ne(kept, 0), x, kSaturated);
    y = M::sub(M::mul(mixed, scale), scale * kSaturated * q);
  }
  return {compute == x.dtype() ? y : M::cast(y, x.dtype())};
}

struct Dropout {
  std::string_view name;
  Drawn drawn;
  Left left;
  bool training;  // by default
  std::string_view doc;
};
constexpr Dropout kAll[] = {
    {"dropout", Drawn::element, Left::zero, true,
     "In training, zeros with probability p and the rest scaled by 1 / (1 - p)."},
    {"alpha_dropout", Drawn::element, Left::saturated, false,
     "In training, the value that selu has far below 0 with probability p; the result is scaled "
     "and "
     "moved so that mean and variance stay (Klambauer et al. 2017)."},
    {"feature_alpha_dropout", Drawn::channel, Left::saturated, false,
     "alpha_dropout of whole channels, those of axis 1."},
};

void add_dropout(Definitions& r, const Dropout& d) {
  const auto expand = [d](Args a) { return drop(d.name, a, d.drawn, d.left); };
  Extra extra{.places = kFunctional, .inplace = true, .inplace_argument = true, .moves = true};
  extra.doc = d.doc;
  r.composite(absl::StrCat(d.name, "(Tensor input, float p=0.5, bool training=",
                           d.training ? "True" : "False", ") -> Tensor"),
              expand, extra);
  extra.places = kFunction;
  extra.inplace_argument = false;
  r.composite(absl::StrCat(d.name, ".train(Tensor input, float p, bool train) -> Tensor"), expand,
              extra);
}

/// Of so many axes behind the channels; an input without a batch has its channels on axis 0.
void add_channel_dropout(Definitions& r, int axes) {
  const std::string name = absl::StrCat("dropout", axes, "d");
  r.composite(
      absl::StrCat(name, "(Tensor input, float p=0.5, bool training=True) -> Tensor"),
      [name, axes](Args a) {
        const int rank = a.tensor(0).rank();
        // PyTorch takes more axes behind the channels of images than it asks for.
        if (rank < axes + 1 || (axes == 1 && rank > 3))
          throw ShapeError(
              {.op = name,
               .problem = "the input has another number of axes",
               .got = to_string(a.shape(0)),
               .expected = absl::StrCat("[n, channels] and ", axes, " more, or the same without n"),
               .next = "reshape the input"});
        // Of two axes behind the channels PyTorch takes three in all for a batch with one.
        const bool batched = rank != axes + 1 || axes == 2;
        return drop(name, a, batched ? Drawn::channel : Drawn::slice, Left::zero);
      },
      {.places = kFunctional,
       .inplace = true,
       .inplace_argument = true,
       .moves = true,
       .doc = "In training, whole channels are zeros with probability p and the rest is scaled by "
              "1 / (1 - p) (Tompson et al. 2015)."});
}

}  // namespace

void add_dropout_definitions(Definitions& r) {
  for (const Dropout& d : kAll) add_dropout(r, d);
  for (int axes : {1, 2, 3}) add_channel_dropout(r, axes);
  r.composite(
      "feature_dropout(Tensor input, float p, bool train) -> Tensor",
      [](Args a) { return drop("feature_dropout", a, Drawn::channel, Left::zero); },
      {.places = kFunction,
       .inplace = true,
       .moves = true,
       .doc = "In training, whole channels (axis 1) are zeros with probability p and the rest is "
              "scaled by 1 / (1 - p)."});
}

}  // namespace lathe
