// Products of matrices. matmul and linear are composites over the contraction mm.
#include <absl/strings/str_cat.h>

#include "core/infer/rules.h"
#include "core/ops/families.h"
#include "core/ops/names.h"
#include "core/ops/plain_views.h"

namespace lathe {
namespace {

using namespace names;

/// a @ b; out_dtype as of mm.
Tensor product(const Tensor& a, const Tensor& b, Arg out_dtype) {
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
                 : identical(a.size(-1), b.size(-1)) ? "transpose an operand: b.transpose(-1, -2)"
                 : identical(a.size(-2), b.size(-2))
                     ? "transpose an operand: a.transpose(-1, -2)"
                     : "no transpose makes these fit: look where the sizes come from"});
  Tensor left = a.rank() == 1 ? with_axis(a, 0) : a;
  Tensor right = b.rank() == 1 ? with_axis(b, 1) : b;
  Tensor y = N::mm(left, right, out_dtype);
  if (b.rank() == 1) y = without_axis(y, -1);
  if (a.rank() == 1) y = without_axis(y, b.rank() == 1 ? -1 : -2);
  return y;
}

Outputs matmul_expansion(Args args) { return {product(args.tensor(0), args.tensor(1), Arg())}; }

Outputs linear_expansion(Args a) {
  Tensor x = a.tensor(0), w = a.tensor(1);
  if (x.rank() > 0 && w.rank() > 0 && !identical(x.size(-1), w.size(-1)) &&
      !require(Relation::eq, x.size(-1), w.size(-1)))
    throw ShapeError({.op = "linear",
                      .problem = "the input has another number of features than the weight takes",
                      .got = absl::StrCat("x", to_string(x.shape()), ", w", to_string(w.shape())),
                      .expected = absl::StrCat("x[..., ", to_string(w.size(-1)), "]"),
                      .next = "the features are the input's last axis and the weight's"});
  Tensor turned = w.rank() == 1 ? w : S::transpose(w, -1, -2);
  if (a.none(2)) return {N::matmul(x, turned)};
  Tensor bias = a.tensor(2);
  const DType common = promote(x.dtype(), w.dtype()), sums = compute_type(common);
  if (sums == common) return {M::add(N::matmul(x, turned), bias)};
  // f16 and bf16: the sums are rounded once, with the bias. mm reads the operands as they are, so
  // that weights need no copy in f32.
  Tensor y = M::add(product(x, turned, Arg(sums)), bias);
  return {M::cast(y, promote(common, bias.dtype()))};
}

}  // namespace

void add_linear_definitions(Definitions& r) {
  r.contract("mm(Tensor input, Tensor mat2, dtype? out_dtype=None) -> Tensor",
             "O[..., m, n] += A[..., m, k] * B[..., k, n]",
             {.domain = numbers,
              .autocast = Autocast::narrow,
              .doc = "Matrix product over the last two axes; leading axes broadcast. out_dtype: of "
                     "the sums and the result, wider than the operands' own. Gradients of bfloat16 "
                     "operands are products of bfloat16 then, too."});
  r.composite(
      "matmul(Tensor input, Tensor other) -> Tensor", matmul_expansion,
      {.also = {"linalg.matmul"},
       .moves = true,
       .autocast = Autocast::narrow,
       .doc = "Matrix product; a 1-d operand is a row on the left and a column on the right."});
  r.composite("linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor", linear_expansion,
              {.places = kFunctional,
               .moves = true,
               .autocast = Autocast::narrow,
               .doc = "input @ weight.T + bias, with weight[out, in]."});
}

}  // namespace lathe
