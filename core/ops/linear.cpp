// Contractions: one index formula each. matmul and linear are composites over mm.
#include <absl/strings/str_cat.h>

#include "core/infer/rules.h"
#include "core/ops/families.h"
#include "include/lathe/ops/math.h"
#include "include/lathe/ops/nn.h"
#include "include/lathe/ops/shape.h"

namespace lathe {
namespace {

using M = math_ops<Tensor>;
using N = nn_ops<Tensor>;
using S = shape_ops<Tensor>;

Grads mm_grad(Grad g) {
  Grads out(2);
  if (g.wants(0)) out[0] = N::mm(g.dy(), conjugate(S::transpose(g.x(1), -1, -2)));
  if (g.wants(1)) out[1] = N::mm(conjugate(S::transpose(g.x(0), -1, -2)), g.dy());
  return out;
}

constexpr std::string_view kWindow =
    ", int[2] stride=1, int[2] pad=0, int[2] dilation=1, int groups=1) -> Tensor";

Grads conv_grad(Grad g) {
  Grads out(2);
  Shape s = g.ints(2), p = g.ints(3), d = g.ints(4);
  if (g.wants(0)) out[0] = N::conv2d_input(g.x(1), g.dy(), g.shape(0), s, p, d, g.integer(5));
  if (g.wants(1)) out[1] = N::conv2d_weight(g.x(0), g.dy(), g.shape(1), s, p, d, g.integer(5));
  return out;
}

/// conv2d_input(w, dy) is linear in both: its own adjoints are the other two.
Grads conv_input_grad(Grad g) {
  Grads out(2);
  Shape s = g.ints(3), p = g.ints(4), d = g.ints(5);
  if (g.wants(0)) out[0] = N::conv2d_weight(g.dy(), g.x(1), g.shape(0), s, p, d, g.integer(6));
  if (g.wants(1)) out[1] = N::conv2d(g.dy(), g.x(0), s, p, d, g.integer(6));
  return out;
}

Grads conv_weight_grad(Grad g) {
  Grads out(2);
  Shape s = g.ints(3), p = g.ints(4), d = g.ints(5);
  if (g.wants(0)) out[0] = N::conv2d_input(g.dy(), g.x(1), g.shape(0), s, p, d, g.integer(6));
  if (g.wants(1)) out[1] = N::conv2d(g.x(0), g.dy(), s, p, d, g.integer(6));
  return out;
}

Outputs matmul_expansion(Args args) {
  Tensor a = args.tensor(0), b = args.tensor(1);
  if (a.rank() == 0 || b.rank() == 0)
    throw ShapeError({.op = "matmul",
                      .problem = "an operand has no axes",
                      .got = absl::StrCat(to_string(type_of(a)), " @ ", to_string(type_of(b))),
                      .expected = "operands of at least one axis",
                      .next = "use * for numbers"});
  const int inner = b.rank() == 1 ? 0 : -2;
  if (!identical(a.size(-1), b.size(inner)) && !require(Relation::eq, a.size(-1), b.size(inner)))
    throw ShapeError(
        {.op = "matmul",
         .problem = "the inner sizes differ",
         .got = absl::StrCat("a", to_string(a.shape()), " @ b", to_string(b.shape())),
         .expected = absl::StrCat("a.size(-1) == b.size(", inner, "), found ",
                                  to_string(a.size(-1)), " and ", to_string(b.size(inner))),
         .next = a.rank() == 1 || b.rank() == 1 ? "give a vector as long as the matrix's side here"
                                                : "transpose an operand: b.transpose(-1, -2)"});
  Tensor left = a.rank() == 1 ? S::unsqueeze(a, 0) : a;
  Tensor right = b.rank() == 1 ? S::unsqueeze(b, 1) : b;
  Tensor y = N::mm(left, right);
  if (b.rank() == 1) y = S::squeeze(y, {Int(-1)});
  if (a.rank() == 1) y = S::squeeze(y, {Int(b.rank() == 1 ? -1 : -2)});
  return {y};
}

/// The formula takes as many groups as the channels allow; the argument says how many there are.
Types infer_conv2d(Args a) {
  Tensor x = a.tensor(0), w = a.tensor(1);
  Int groups = a.integer(5);
  if (x.rank() == 4 && w.rank() == 4) {
    if (!require(Relation::le, 1, groups))
      throw ValueError({.op = "conv2d",
                        .problem = "there is at least one group",
                        .got = absl::StrCat("groups=", to_string(groups)),
                        .expected = "groups >= 1",
                        .next = "leave groups out for an ordinary convolution"});
    if (!require(Relation::eq, x.size(1), w.size(1) * groups) ||
        !require(Relation::eq, mod(w.size(0), groups), 0))
      throw ShapeError({.op = "conv2d",
                        .problem = "the channels do not fit the weights",
                        .got = absl::StrCat("x", to_string(x.shape()), ", w", to_string(w.shape()),
                                            ", groups=", to_string(groups)),
                        .expected = "x[n, c, h, w] with w[o, c / groups, kh, kw], and groups a "
                                    "divisor of o",
                        .next = "check the order of the operands, and groups"});
  }
  return infer_contract(*N::conv2d.op(), a);
}

Outputs linear_expansion(Args a) {
  Tensor x = a.tensor(0), w = a.tensor(1);
  if (x.rank() > 0 && w.rank() > 1 && !identical(x.size(-1), w.size(-1)) &&
      !require(Relation::eq, x.size(-1), w.size(-1)))
    throw ShapeError({.op = "linear",
                      .problem = "the input has another number of features than the weight takes",
                      .got = absl::StrCat("x", to_string(x.shape()), ", w", to_string(w.shape())),
                      .expected = absl::StrCat("x[..., ", to_string(w.size(-1)), "]"),
                      .next = "the features are the input's last axis and the weight's"});
  Tensor y = N::matmul(x, S::transpose(w, -1, -2));
  return {a.none(2) ? y : M::add(y, a.tensor(2))};
}

}  // namespace

void add_linear_rows(Rows& r) {
  r.contract("mm(Tensor input, Tensor mat2) -> Tensor",
             "O[..., m, n] += A[..., m, k] * B[..., k, n]",
             {.domain = numbers,
              .saves = save_x(0) | save_x(1),
              .grad = mm_grad,
              .doc = "Matrix product over the last two axes; leading axes broadcast."});
  r.contract(
      absl::StrCat("conv2d(Tensor x, Tensor w", kWindow),
      "O[n, g o, y, x] += X[n, g c, y*stride0 + i*dilation0 - pad0, x*stride1 + j*dilation1 - pad1]"
      " * W[g o, c, i, j] over i, j, c",
      {.domain = floating,
       .infer = infer_conv2d,
       .saves = save_x(0) | save_x(1),
       .grad = conv_grad,
       .doc = "Cross-correlation of x[n, c, h, w] with w[o, c / groups, kh, kw]."});
  r.contract(
      absl::StrCat("conv2d_input(Tensor w, Tensor dy, int[] shape", kWindow),
      "X[n, g c, y*stride0 + i*dilation0 - pad0, x*stride1 + j*dilation1 - pad1] += W[g o, c, i, j]"
      " * DY[n, g o, y, x] over i, j, o",
      {.domain = floating,
       .saves = save_x(0) | save_x(1),
       .grad = conv_input_grad,
       .places = kNowhere,
       .doc = "Gradient of conv2d by its input of that shape; also a transposed convolution."});
  r.contract(
      absl::StrCat("conv2d_weight(Tensor x, Tensor dy, int[] shape", kWindow),
      "W[g o, c, i, j] += X[n, g c, y*stride0 + i*dilation0 - pad0, x*stride1 + j*dilation1 - pad1]"
      " * DY[n, g o, y, x] over n, y, x",
      {.domain = floating,
       .saves = save_x(0) | save_x(1),
       .grad = conv_weight_grad,
       .places = kNowhere,
       .doc = "Gradient of conv2d by its weight of that shape."});
  r.composite(
      "matmul(Tensor input, Tensor other) -> Tensor", matmul_expansion,
      {.moves = true,
       .doc = "Matrix product; a 1-d operand is a row on the left and a column on the right."});
  r.composite("linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor", linear_expansion,
              {.places = kFunctional,
               .moves = true,
               .doc = "input @ weight.T + bias, with weight[out, in]."});
}

}  // namespace lathe
