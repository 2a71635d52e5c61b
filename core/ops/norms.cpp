// Norms of vectors, and what divides by one.
#include <absl/strings/str_cat.h>

#include <cmath>

#include "core/ops/families.h"
#include "core/ops/names.h"

namespace lathe {
namespace {

using namespace names;

/// How many elements are not 0. Its derivative is 0, as that of sign is.
Tensor count_nonzero(const Tensor& magnitude, const Shape& dims, bool keep) {
  return R::sum(M::where(M::isnan(magnitude), 1.0, M::sign(magnitude)), dims, keep);
}

/// |x|^p, whose derivative is taken as 0 where x is 0 and p < 1 makes it infinite.
Tensor powers(const Tensor& magnitude, Real p) {
  if (p >= 1) return M::pow(magnitude, p);
  Tensor zero = M::eq(magnitude, 0);
  return M::where(zero, p < 0 ? kInfinity : 0.0, M::pow(M::where(zero, 1.0, magnitude), p));
}

/// (sum |x|^p)^(1/p) over `dims` ([]: all); the limits for p = 0 and infinite p.
Tensor vector_norm(const Tensor& given, Real p, const Shape& dims, bool keep) {
  const Tensor x = as_float(given);
  const bool euclidean = p == 2;
  Tensor magnitude = euclidean ? Tensor() : M::abs(x);
  if (p == kInfinity) return R::amax(magnitude, dims, keep);
  if (p == -kInfinity) return R::amin(magnitude, dims, keep);
  if (p == 0) return count_nonzero(magnitude, dims, keep);
  if (p == 1) return R::sum(magnitude, dims, keep);
  Tensor total =
      euclidean ? sum_of_squares(x, dims, keep) : R::sum(powers(magnitude, p), dims, keep);
  // A root is infinitely steep at 0, and that times the 0 behind it would be NaN.
  Tensor zero = M::eq(total, 0), safe = M::where(zero, 1.0, total);
  Tensor root = euclidean ? M::sqrt(safe) : M::pow(safe, 1 / p);
  return M::where(zero, p < 0 ? kInfinity : 0.0, root);
}

Outputs norm_expansion(Args a, Real p) {
  Tensor x = a.tensor(0);
  if (!a.none(4)) {
    if (category(a.dtype(4)) < 2)
      throw DTypeError({.op = "norm",
                        .problem = "a norm is no integer",
                        .got = absl::StrCat("dtype=", name(a.dtype(4))),
                        .expected = "a floating dtype"});
    x = M::cast(x, a.dtype(4));
  }
  return {vector_norm(x, p, a.none(2) ? Shape{} : a.ints(2), a.flag(3))};
}

Outputs named_norm(Args a) {
  std::string_view p = a.text(1);
  if (p == "fro") return norm_expansion(a, 2);
  if (p == "nuc") {
    static const Op& of_matrices = get_op("linalg_matrix_norm");
    const Arg last[] = {Arg(Int(-2)), Arg(Int(-1))};
    const ArgList matrix{last, 2};
    const Arg args[] = {a[0], a[1], a.none(2) ? Arg(matrix) : a[2], a[3], a[4]};
    return call(of_matrices, Args(args, 5));
  }
  throw ValueError({.op = "norm",
                    .problem = "this norm does not exist here",
                    .got = absl::StrCat("'", p, "'"),
                    .expected = "a number, inf, -inf, 'fro' or 'nuc'",
                    .next = "for p-norms give p as a number"});
}

Outputs normalize_expansion(Args a) {
  Tensor x = a.tensor(0);
  Tensor length = vector_norm(x, a.real(1), a.ints(2), true);
  return {M::div(x, M::clamp_min(length, a[3]))};
}

}  // namespace

void add_norm_definitions(Definitions& r) {
  Extra e{.doc =
              "(sum |x|^p)^(1/p) over dim, or over everything; integers as floats. p: a number, "
              "inf, -inf, 0 (how many elements are not 0) or 'fro', which is 2. Where the norm "
              "is 0 its derivative is taken as 0."};
  r.composite(
      "norm(Tensor input, Scalar? p=2, int[]? dim=None, bool keepdim=False, dtype? "
      "dtype=None) -> Tensor",
      [](Args a) { return norm_expansion(a, a.none(1) ? 2 : a.real(1)); }, e);
  r.composite(
      "norm.name(Tensor input, str p, int[]? dim=None, bool keepdim=False, dtype? "
      "dtype=None) -> Tensor",
      named_norm, e);
  r.composite("normalize(Tensor input, float p=2.0, int[] dim=1, float eps=1e-12) -> Tensor",
              normalize_expansion,
              {.places = kFunctional,
               .doc = "input divided by its norm along dim, which counts as eps at least."});
}

}  // namespace lathe
