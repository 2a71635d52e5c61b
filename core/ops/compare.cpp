// Comparison, logic and selection. Of these, selections have a derivative.
#include <absl/strings/str_cat.h>

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

Extra compare(DTypeSet domain, std::string_view doc, std::vector<std::string_view> also = {}) {
  return {.domain = domain,
          .promote = Promote::boolean,
          .no_grad = true,
          .also = std::move(also),
          .doc = doc};
}

void add_comparisons(Definitions& r) {
  r.elementwise("eq(Tensor input, Tensor|Scalar other) -> Tensor", equal_body,
                compare(all_dtypes, "x == y."));
  r.elementwise(
      "ne(Tensor input, Tensor|Scalar other) -> Tensor",
      [](Expr x, Expr y) { return ~equal_body(x, y); },
      compare(all_dtypes, "x != y; true where either is NaN.", {"not_equal"}));
  r.elementwise(
      "lt(Tensor input, Tensor|Scalar other) -> Tensor", [](Expr x, Expr y) { return lt(x, y); },
      compare(real_dtypes, "x < y.", {"less"}));
  r.elementwise(
      "le(Tensor input, Tensor|Scalar other) -> Tensor", [](Expr x, Expr y) { return le(x, y); },
      compare(real_dtypes, "x <= y.", {"less_equal"}));
  r.elementwise(
      "gt(Tensor input, Tensor|Scalar other) -> Tensor", [](Expr x, Expr y) { return lt(y, x); },
      compare(real_dtypes, "x > y.", {"greater"}));
  r.elementwise(
      "ge(Tensor input, Tensor|Scalar other) -> Tensor", [](Expr x, Expr y) { return le(y, x); },
      compare(real_dtypes, "x >= y.", {"greater_equal"}));
  r.elementwise(
      "isnan(Tensor input) -> Tensor",
      [](Expr x) { return is_complex(x.dtype()) ? isnan(real(x)) | isnan(imag(x)) : isnan(x); },
      compare(all_dtypes, "True where x is not a number."));
  r.elementwise(
      "isfinite(Tensor input) -> Tensor",
      [](Expr x) {
        auto finite = [](Expr v) {
          return is_floating(v.dtype()) ? lt(abs(v), highest(v.dtype())) : eq(v, v);
        };
        return is_complex(x.dtype()) ? finite(real(x)) & finite(imag(x)) : finite(x);
      },
      compare(all_dtypes, "True where x is neither infinite nor NaN."));
  r.elementwise(
      "isinf(Tensor input) -> Tensor",
      [](Expr x) {
        auto infinite = [](Expr v) {
          return is_floating(v.dtype()) ? eq(abs(v), highest(v.dtype())) : ne(v, v);
        };
        return is_complex(x.dtype()) ? infinite(real(x)) | infinite(imag(x)) : infinite(x);
      },
      compare(all_dtypes, "True where x is infinite."));
  for (bool positive : {true, false})
    r.elementwise(
        std::string(positive ? "isposinf" : "isneginf") + "(Tensor input) -> Tensor",
        [positive](Expr x) {
          const DType d = x.dtype();
          return is_floating(d) ? eq(x, positive ? highest(d) : lowest(d)) : ne(x, x);
        },
        compare(real_dtypes,
                positive ? "True where x is plus infinity." : "True where x is minus infinity."));
  r.elementwise(
      "isreal(Tensor input) -> Tensor",
      [](Expr x) { return is_complex(x.dtype()) ? eq(imag(x), 0) : constant(DType::bool_, 1); },
      compare(all_dtypes, "True where the imaginary part is 0."));
}

void add_logic(Definitions& r) {
  r.elementwise(
      "logical_and(Tensor input, Tensor other) -> Tensor",
      [](Expr x, Expr y) { return truth(x) & truth(y); },
      compare(all_dtypes, "True where both are nonzero."));
  r.elementwise(
      "logical_or(Tensor input, Tensor other) -> Tensor",
      [](Expr x, Expr y) { return truth(x) | truth(y); },
      compare(all_dtypes, "True where either is nonzero."));
  r.elementwise(
      "logical_xor(Tensor input, Tensor other) -> Tensor",
      [](Expr x, Expr y) { return truth(x) ^ truth(y); },
      compare(all_dtypes, "True where just one is nonzero."));
  r.elementwise(
      "logical_not(Tensor input) -> Tensor", [](Expr x) { return ~truth(x); },
      compare(all_dtypes, "True where x is zero."));
  r.elementwise("bitwise_and(Tensor|Scalar input, Tensor|Scalar other) -> Tensor",
                [](Expr x, Expr y) { return x & y; },
                {.domain = kLogic, .no_grad = true, .doc = "Bits set in both; on bool, and."});
  r.elementwise("bitwise_or(Tensor|Scalar input, Tensor|Scalar other) -> Tensor",
                [](Expr x, Expr y) { return x | y; },
                {.domain = kLogic, .no_grad = true, .doc = "Bits set in either; on bool, or."});
  r.elementwise("bitwise_xor(Tensor|Scalar input, Tensor|Scalar other) -> Tensor",
                [](Expr x, Expr y) { return x ^ y; },
                {.domain = kLogic, .no_grad = true, .doc = "Bits set in just one; on bool, xor."});
  r.elementwise("bitwise_not(Tensor input) -> Tensor", [](Expr x) { return ~x; },
                {.domain = kLogic, .no_grad = true, .doc = "Every bit turned; on bool, not."});
  r.elementwise("where(Tensor condition, Tensor|Scalar input, Tensor|Scalar other) -> Tensor",
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
                 .places = kFunction,
                 .doc = "input where the condition holds, else other."});
}

/// The value as `dtype`: one of a kind that the dtype does not hold is refused.
Outputs masked_fill_expansion(Args a) {
  Tensor x = a.tensor(0), mask = a.tensor(1);
  if (mask.dtype() != DType::bool_)
    throw DTypeError({.op = "masked_fill",
                      .problem = "the mask is not of bool",
                      .got = absl::StrCat("a mask of ", name(mask.dtype())),
                      .expected = "a mask of bool",
                      .next = "compare it: mask != 0"});
  Arg value = a[2];
  if (value.tag == Tag::tensor && value.tensor().rank() != 0)
    throw ShapeError({.op = "masked_fill",
                      .problem = "the value is more than one number",
                      .got = to_string(value.tensor().shape()),
                      .expected = "a number, or a tensor without axes",
                      .next = "lathe.where(mask, value, input) takes tensors"});
  if (x.dtype() == DType::bool_ && value.tag != Tag::tensor) {
    if (value.tag == Tag::integer) value = Arg(!(value.integer() == Int(0)));
    if (value.tag == Tag::real) value = Arg(value.real() != 0);
  }
  Tensor y = M::where(mask, value, x);
  if (y.dtype() == x.dtype()) return {y};
  if (category(y.dtype()) > category(x.dtype()))
    throw DTypeError({.op = "masked_fill",
                      .problem = "the value is of a kind that the tensor does not hold",
                      .got = absl::StrCat("a tensor of ", name(x.dtype()),
                                          " and a value that makes it ", name(y.dtype())),
                      .expected = absl::StrCat("a value of ", name(x.dtype())),
                      .next = "convert the tensor or the value with .to(dtype) first"});
  return {M::cast(y, x.dtype())};
}

/// |x - y| <= atol + rtol * |y|; equal infinities are close.
Outputs isclose_expansion(Args a) {
  Tensor x = a.tensor(0), y = a.tensor(1);
  if (!(a.real(2) >= 0 && a.real(3) >= 0))
    throw ValueError({.op = "isclose",
                      .problem = "a tolerance is negative or NaN",
                      .got = absl::StrCat("rtol=", to_string(a[2]), ", atol=", to_string(a[3])),
                      .expected = "tolerances of 0 or more",
                      .next = "take 0 for equality"});
  if (x.dtype() == DType::bool_ && y.dtype() == DType::bool_) return {M::eq(x, y)};
  Tensor room = M::add(M::mul(M::abs(y), a[2]), a[3]);
  Tensor near = M::logical_and(M::le(M::abs(M::sub(x, y)), room), M::isfinite(y));
  near = M::logical_or(M::eq(x, y), near);
  if (a.flag(4)) near = M::logical_or(near, M::logical_and(M::isnan(x), M::isnan(y)));
  return {near};
}

/// One value, of a kind that the input holds.
void check_fill(Args a) {
  if (a[1].tag != Tag::tensor) return;
  const Tensor value = a.tensor(1);
  const DType dtype = a.tensor(0).dtype();
  if (value.rank() != 0)
    throw ShapeError({.op = "fill",
                      .problem = "the value is more than one number",
                      .got = to_string(value.shape()),
                      .expected = "a number, or a tensor without axes",
                      .next = "expand() a tensor of values"});
  if (is_complex(value.dtype()) && !is_complex(dtype))
    throw DTypeError({.op = "fill",
                      .problem = "the value is complex, and the input is not",
                      .got = std::string(name(value.dtype())),
                      .expected = std::string(name(dtype)),
                      .next = "give its real part: lathe.real(value)"});
}

Expr beside_nan(Expr x, Expr y, bool largest) {
  Expr wins = largest ? le(y, x) : le(x, y);
  if (is_floating(x.dtype())) wins = wins | isnan(y);
  return select(wins, x, y);
}

/// `larger`: by the order that wins.
template <class Larger>
Grads beside_nan_grad(Grad g, const Larger& larger) {
  Tensor x = g.x(0), y = g.x(1), y_loses = M::bitwise_or(larger(x, y), M::isnan(y));
  return extremum_grad(g, M::logical_not(M::bitwise_or(y_loses, M::eq(x, y))), y_loses);
}

void add_selection(Definitions& r) {
  r.elementwise("fmax(Tensor input, Tensor other) -> Tensor",
                [](Expr x, Expr y) { return beside_nan(x, y, true); },
                {.domain = real_dtypes,
                 .saves = save_x(0) | save_x(1),
                 .grad = [](Grad g) { return beside_nan_grad(g, M::gt); },
                 .doc = "The larger of the two; where one is NaN, the other."});
  r.elementwise("fmin(Tensor input, Tensor other) -> Tensor",
                [](Expr x, Expr y) { return beside_nan(x, y, false); },
                {.domain = real_dtypes,
                 .saves = save_x(0) | save_x(1),
                 .grad = [](Grad g) { return beside_nan_grad(g, M::lt); },
                 .doc = "The smaller of the two; where one is NaN, the other."});
  r.elementwise("filled(Tensor input, Tensor|Scalar value) -> Tensor",
                [](Expr, Expr value) { return value; },
                {.promote = Promote::first,
                 .places = kNowhere,
                 .doc = "value, broadcast to the shape of input and in its dtype."});
  const Op* filled = r.find("filled");
  r.composite(
      "fill(Tensor input, Tensor|Scalar value) -> Tensor",
      [filled](Args a) {
        check_fill(a);
        return call(*filled, a);
      },
      moving("value, a number or a tensor without axes, in the shape and dtype of input.",
             kFunction));
  r.composite("masked_fill(Tensor input, Tensor mask, Tensor|Scalar value) -> Tensor",
              masked_fill_expansion,
              {.inplace = true,
               .moves = true,
               .doc = "value where mask (bool) is true, in the dtype of input."});
  r.composite(
      "where.self(Tensor input, Tensor condition, Tensor|Scalar other) -> Tensor",
      [](Args a) -> Outputs { return {M::where(a.tensor(1), a[0], a[2])}; },
      {.places = kMethod, .moves = true, .doc = "input where the condition holds, else other."});
  r.composite(
      "isclose(Tensor input, Tensor other, float rtol=1e-05, float atol=1e-08, bool "
      "equal_nan=False) -> Tensor",
      isclose_expansion,
      {.no_grad = true,
       .doc = "|input - other| <= atol + rtol * |other|, element by element; equal "
              "infinities are close, NaNs if equal_nan."});
}

}  // namespace

void add_compare_definitions(Definitions& r) {
  add_comparisons(r);
  add_logic(r);
  add_selection(r);
}

}  // namespace lathe
