// Batch normalisation after a convolution with constant weights becomes part of the weights.
// Approximate: the scale is applied before the sum instead of after it.
#include "core/dispatch/fn.h"
#include "graph/rewrite/rule.h"
#include "include/lathe/ops/math.h"
#include "include/lathe/ops/shape.h"

namespace lathe::ir {
namespace {

/// A constant with one value a channel: [c, 1, 1] or [1, c, 1, 1], as many as w has outputs.
bool per_channel(Match& m, std::string_view name, Int channels) {
  Tensor s = m.constant(name);
  if (!s.defined() || s.rank() < 3 || s.rank() > 4) return false;
  return identical(s.size(-3), channels) && identical(s.numel(), channels) &&
         is_floating(s.dtype());
}

bool scale_weights(Match& m) {
  Tensor w = m.constant("w");
  if (!w.defined() || !m.single_use("convolution2d") || !per_channel(m, "s", w.size(0)))
    return false;
  BackendScope eager(nullptr);
  GradMode off(false);
  Tensor by = shape_ops<Tensor>::reshape(m.constant("s"), Ints{w.size(0), 1, 1, 1});
  m.bind("v", math_ops<Tensor>::mul(w, by));
  return true;
}

/// Two shifts as a bias and a batch norm have them: other additions keep their rounding.
bool shifts(Match& m) {
  const Tensor w = m.constant("w");
  return w.defined() && per_channel(m, "t", w.size(0)) && per_channel(m, "u", w.size(0));
}

constexpr Rule kRules[] = {
    {"scale_after_conv", Exactness::approximate,
     "mul(convolution2d(x, w, stride=a, padding=b, dilation=c, groups=g), s)",
     "convolution2d(x, v, stride=a, padding=b, dilation=c, groups=g)", scale_weights},
    {"shift_before_scale", Exactness::approximate,
     "mul(sub(convolution2d(x, w, stride=a, padding=b, dilation=c, groups=g), t), s)",
     "sub(convolution2d(x, v, stride=a, padding=b, dilation=c, groups=g), mul(t, s))",
     scale_weights},
    {"bias_before_scale", Exactness::approximate,
     "mul(add(convolution2d(x, w, stride=a, padding=b, dilation=c, groups=g), t), s)",
     "add(convolution2d(x, v, stride=a, padding=b, dilation=c, groups=g), mul(t, s))",
     scale_weights},
    // The same three where a bias follows in one op.
    {"scale_and_bias", Exactness::approximate,
     "addcmul(u, convolution2d(x, w, stride=a, padding=b, dilation=c, groups=g), s)",
     "add(convolution2d(x, v, stride=a, padding=b, dilation=c, groups=g), u)", scale_weights},
    {"shift_before_scale_and_bias", Exactness::approximate,
     "addcmul(u, sub(convolution2d(x, w, stride=a, padding=b, dilation=c, groups=g), t), s)",
     "add(sub(convolution2d(x, v, stride=a, padding=b, dilation=c, groups=g), mul(t, s)), u)",
     scale_weights},
    {"bias_before_scale_and_bias", Exactness::approximate,
     "addcmul(u, add(convolution2d(x, w, stride=a, padding=b, dilation=c, groups=g), t), s)",
     "add(add(convolution2d(x, v, stride=a, padding=b, dilation=c, groups=g), mul(t, s)), u)",
     scale_weights},
    // One addition in place of two.
    {"shift_then_bias", Exactness::approximate,
     "add(sub(convolution2d(x, w, stride=a, padding=b, dilation=c, groups=g), t), u)",
     "add(convolution2d(x, w, stride=a, padding=b, dilation=c, groups=g), sub(u, t))", shifts},
    {"bias_then_shift", Exactness::approximate,
     "sub(add(convolution2d(x, w, stride=a, padding=b, dilation=c, groups=g), t), u)",
     "add(convolution2d(x, w, stride=a, padding=b, dilation=c, groups=g), sub(t, u))", shifts},
    {"bias_then_bias", Exactness::approximate,
     "add(add(convolution2d(x, w, stride=a, padding=b, dilation=c, groups=g), t), u)",
     "add(convolution2d(x, w, stride=a, padding=b, dilation=c, groups=g), add(t, u))", shifts},
};

}  // namespace

absl::Span<const Rule> batch_norm_rules() { return kRules; }

}  // namespace lathe::ir
