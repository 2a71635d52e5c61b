// Attention: a composite, so that a table entry may claim it whole.
#include <absl/strings/str_cat.h>

#include <limits>

#include "core/ops/families.h"
#include "core/ops/names.h"

namespace lathe {
namespace {

using namespace names;

constexpr double kHidden = -std::numeric_limits<double>::infinity();

/// Every head of keys (or values) once for each of the query heads that share it.
Tensor repeated_heads(const Tensor& x, Int query_heads) {
  Int heads = x.size(-3);
  if (!require(Relation::eq, mod(query_heads, heads), Int(0)))
    throw ShapeError({.op = "scaled_dot_product_attention",
                      .problem = "the heads of the query are not a multiple of those of the key",
                      .got = absl::StrCat(to_string(query_heads), " and ", to_string(heads)),
                      .expected = "whole groups of query heads a key head",
                      .next = "check the third axis from the end"});
  Int group = floor_div(query_heads, heads);
  Shape wide = x.shape(), joined = x.shape();
  wide.insert(wide.end() - 2, group);
  joined[joined.size() - 3] = query_heads;
  return S::reshape(S::expand(S::unsqueeze(x, -3), wide), joined);
}

/// scores with the keys after each query's position hidden.
Tensor causal(const Tensor& scores) {
  Device device = scores.device();
  Tensor rows = S::unsqueeze(C::arange(0, scores.size(-2), 1, DType::i64, device), 1);
  Tensor columns = C::arange(0, scores.size(-1), 1, DType::i64, device);
  return M::where(M::le(columns, rows), scores, kHidden);
}

Tensor masked(const Tensor& scores, const Tensor& mask) {
  if (mask.dtype() == DType::bool_) return M::where(mask, scores, kHidden);
  if (is_floating(mask.dtype())) return M::add(scores, mask);
  throw DTypeError({.op = "scaled_dot_product_attention",
                    .problem = "the mask is neither of bool nor of floats",
                    .got = absl::StrCat("a mask of ", name(mask.dtype())),
                    .expected = "true where a key may be seen, or floats that are added",
                    .next = "compare it: attn_mask != 0"});
}

/// softmax over the last axis; 0 where nothing may be seen, as in PyTorch, and without the NaN that
/// exp(-inf - -inf) and 1 / 0 would leave in the gradient.
Tensor softmax_of_seen(const Tensor& scores) {
  Tensor top;
  {
    GradMode no_grad(false);
    top = R::amax(scores, {Int(-1)}, true);
    top = M::where(M::eq(top, kHidden), 0, top);
  }
  Tensor e = M::exp(M::sub(scores, top));
  Tensor total = R::sum(e, {Int(-1)}, true);
  return M::mul(e, M::reciprocal(M::where(M::eq(total, 0), 1, total)));
}

Outputs attention_expansion(Args a) {
  Tensor query = a.tensor(0), key = a.tensor(1), value = a.tensor(2);
  Tensor mask = a.optional_tensor(3);
  for (const Tensor& t : {query, key, value})
    if (t.rank() < 2)
      throw ShapeError({.op = "scaled_dot_product_attention",
                        .problem = "an operand has less than two axes",
                        .got = to_string(t.shape()),
                        .expected = "[..., time, width]",
                        .next = "unsqueeze() the missing axes"});
  const bool is_causal = a.flag(5);
  if (is_causal && mask.defined())
    throw ValueError({.op = "scaled_dot_product_attention",
                      .problem = "both a mask and is_causal=True are given",
                      .got = to_string(mask.shape()),
                      .expected = "one of them",
                      .next = "make the mask causal: attn_mask.tril()"});
  if (a.flag(7) && query.rank() > 2) {
    key = repeated_heads(key, query.size(-3));
    value = repeated_heads(value, query.size(-3));
  }
  Tensor scores = N::matmul(query, S::transpose(key, -1, -2));
  if (!a.none(6))
    scores = M::mul(scores, a[6]);
  else
    scores = M::mul(scores, M::rsqrt(C::full({}, query.size(-1), query.dtype(), query.device())));
  if (is_causal) scores = causal(scores);
  if (mask.defined()) scores = masked(scores, mask);
  Tensor weights = mask.defined() ? softmax_of_seen(scores) : N::softmax(scores, -1);
  if (a.real(4) != 0) weights = N::dropout(weights, a.real(4), true);
  return {N::matmul(weights, value)};
}

}  // namespace

void add_attention_definitions(Definitions& r) {
  r.composite(
      "scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? "
      "attn_mask=None, float dropout_p=0.0, bool is_causal=False, *, float? scale=None, bool "
      "enable_gqa=False) -> Tensor",
      attention_expansion,
      {.domain = floating,
       .places = kFunctional,
       .autocast = Autocast::narrow,
       .doc = "softmax(query @ key.mT * scale + mask) @ value, of [..., time, width] (Vaswani et "
              "al. 2017). attn_mask: true where a key may be seen, or floats that are added; a "
              "query that sees no key gives 0. scale: 1 / sqrt(width) unless given."});
}

}  // namespace lathe
