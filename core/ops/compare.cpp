// Comparison, logic and selection. None but `where` has a derivative.
#include <limits>

#include "core/ops/families.h"
#include "include/lathe/ops/math.h"

namespace lathe {

Expr lowest(DType d) {
  if (is_floating(d)) return constant(d, -std::numeric_limits<double>::infinity());
  return constant_bits(d, static_cast<uint64_t>(range_of(d).low));
}

Expr highest(DType d) {
  if (is_floating(d)) return constant(d, std::numeric_limits<double>::infinity());
  return constant_bits(d, static_cast<uint64_t>(range_of(d).high));
}

namespace {

using M = math_ops<Tensor>;
constexpr DTypeSet kLogic = integers | DTypeSet{DType::bool_};

Expr equal_body(Expr x, Expr y) {
  return is_complex(x.dtype()) ? eq(real(x), real(y)) & eq(imag(x), imag(y)) : eq(x, y);
}
Expr truth(Expr x) {
  return x.dtype() == DType::bool_ ? x : ~equal_body(x, constant(x.dtype(), 0));
}

Extra compare(DTypeSet domain, std::string_view doc) {
  return {.domain = domain, .promote = Promote::boolean, .no_grad = true, .doc = doc};
}

}  // namespace

void add_compare_rows(Rows& r) {
  r.elementwise("eq(Tensor x, Tensor y) -> Tensor", equal_body, compare(all_dtypes, "x == y."));
  r.elementwise(
      "ne(Tensor x, Tensor y) -> Tensor", [](Expr x, Expr y) { return ~equal_body(x, y); },
      compare(all_dtypes, "x != y; true where either is NaN."));
  r.elementwise(
      "lt(Tensor x, Tensor y) -> Tensor", [](Expr x, Expr y) { return lt(x, y); },
      compare(real_dtypes, "x < y."));
  r.elementwise(
      "le(Tensor x, Tensor y) -> Tensor", [](Expr x, Expr y) { return le(x, y); },
      compare(real_dtypes, "x <= y."));
  r.elementwise(
      "gt(Tensor x, Tensor y) -> Tensor", [](Expr x, Expr y) { return lt(y, x); },
      compare(real_dtypes, "x > y."));
  r.elementwise(
      "ge(Tensor x, Tensor y) -> Tensor", [](Expr x, Expr y) { return le(y, x); },
      compare(real_dtypes, "x >= y."));
  r.elementwise(
      "isnan(Tensor x) -> Tensor",
      [](Expr x) { return is_complex(x.dtype()) ? isnan(real(x)) | isnan(imag(x)) : isnan(x); },
      compare(all_dtypes, "True where x is not a number."));
  r.elementwise(
      "isfinite(Tensor x) -> Tensor",
      [](Expr x) {
        auto finite = [](Expr v) {
          return is_floating(v.dtype()) ? lt(abs(v), highest(v.dtype())) : eq(v, v);
        };
        return is_complex(x.dtype()) ? finite(real(x)) & finite(imag(x)) : finite(x);
      },
      compare(all_dtypes, "True where x is neither infinite nor NaN."));
  r.elementwise(
      "logical_and(Tensor x, Tensor y) -> Tensor",
      [](Expr x, Expr y) { return truth(x) & truth(y); },
      compare(all_dtypes, "True where both are nonzero."));
  r.elementwise(
      "logical_or(Tensor x, Tensor y) -> Tensor",
      [](Expr x, Expr y) { return truth(x) | truth(y); },
      compare(all_dtypes, "True where either is nonzero."));
  r.elementwise(
      "logical_not(Tensor x) -> Tensor", [](Expr x) { return ~truth(x); },
      compare(all_dtypes, "True where x is zero."));
  r.elementwise("bitwise_and(Tensor x, Tensor y) -> Tensor", [](Expr x, Expr y) { return x & y; },
                {.domain = kLogic, .no_grad = true, .doc = "Bits set in both; on bool, and."});
  r.elementwise("bitwise_or(Tensor x, Tensor y) -> Tensor", [](Expr x, Expr y) { return x | y; },
                {.domain = kLogic, .no_grad = true, .doc = "Bits set in either; on bool, or."});
  r.elementwise("bitwise_xor(Tensor x, Tensor y) -> Tensor", [](Expr x, Expr y) { return x ^ y; },
                {.domain = kLogic, .no_grad = true, .doc = "Bits set in just one; on bool, xor."});
  r.elementwise("bitwise_not(Tensor x) -> Tensor", [](Expr x) { return ~x; },
                {.domain = kLogic, .no_grad = true, .doc = "Every bit turned; on bool, not."});
  r.elementwise("where(Tensor condition, Tensor x, Tensor y) -> Tensor",
                [](Expr c, Expr x, Expr y) { return select(c, x, y); },
                {.fixed = {{0, DType::bool_}},
                 .saves = save_x(0),
                 .grad =
                     [](Grad g) {
                       Grads out(3);
                       if (g.wants(1)) out[1] = M::where(g.x(0), g.dy(), 0);
                       if (g.wants(2)) out[2] = M::where(g.x(0), 0, g.dy());
                       return out;
                     },
                 .doc = "x where the condition holds, else y."});
}

}  // namespace lathe
