// Identities of arithmetic that hold for every bit pattern: signed zeros, infinities, subnormals,
// NaN.
//
// What is not here on purpose: x + 0 (turns -0.0 into 0.0), x * 0, x - x, x / x (infinities, NaN),
// log(exp(x)), 1 / (1 / x), sums regrouped.
#include <cmath>

#include "graph/rewrite/rule.h"

namespace lathe::ir {
namespace {

bool integer_x(Match& m) { return m.is_tensor("x") && is_integer(m.dtype("x")); }

/// x / c is x * (1 / c), rounded once either way, exactly where 1 / c is a number of the same kind:
/// c is a power of two.
bool divide_by_power_of_two(Match& m) {
  if (m.is_value("c") || !m.is_tensor("x") || !is_floating(m.dtype("x"))) return false;
  const Arg& c = m.literal("c");
  double v = c.tag == Tag::real ? c.real().value() : 0;
  if (c.tag == Tag::integer && c.integer().known()) v = static_cast<double>(c.integer().value());
  int exponent = 0;
  if (!std::isfinite(v) || std::abs(std::frexp(v, &exponent)) != 0.5) return false;
  if (exponent < -64 || exponent > 64)
    return false;  // well inside f32, whose numbers it is computed in
  m.bind("r", Arg(1 / v));
  return true;
}

/// The negative of an unsigned number is another one.
bool signed_x(Match& m) { return m.is_tensor("x") && is_signed(m.dtype("x")); }

bool real_x(Match& m) { return m.is_tensor("x") && !is_complex(m.dtype("x")); }

/// A small whole number, which every dtype has but bool: a tensor filled with it is that number.
bool whole_c(Match& m) {
  if (m.is_value("c") || !real_x(m)) return false;
  if (const Arg& a = m.literal("a"); a.tag == Tag::dtype && a.dtype_ == DType::bool_) return false;
  const Arg& c = m.literal("c");
  const bool whole = c.tag == Tag::integer && c.integer().known();
  if (!whole && c.tag != Tag::real) return false;
  const double v = whole ? static_cast<double>(c.integer().value()) : c.real().value();
  return v >= 0 && v <= 8 && v == std::floor(v) && !std::signbit(v);
}

constexpr Rule kRules[] = {
    {"conj_of_real", Exactness::exact, "conj(x)", "x", real_x},
    {"mul_by_one", Exactness::exact, "mul(x, 1)", "x", real_x},
    {"mul_by_one_real", Exactness::exact, "mul(x, 1.0)", "x", real_x},
    {"div_by_one", Exactness::exact, "div(x, 1)", "x", real_x},
    {"div_by_one_real", Exactness::exact, "div(x, 1.0)", "x", real_x},
    {"add_zero_integer", Exactness::exact, "add(x, 0)", "x", integer_x},
    {"add_minus_zero", Exactness::exact, "add(x, -0.0)", "x", real_x},
    {"sub_zero", Exactness::exact, "sub(x, 0)", "x"},
    {"sub_zero_real", Exactness::exact, "sub(x, 0.0)", "x"},
    {"div_to_mul", Exactness::exact, "div(x, c)", "mul(x, r)", divide_by_power_of_two},
    {"add_of_filled", Exactness::exact, "add(full(s, c, dtype=a, device=b), x)", "add(x, c)",
     whole_c},
    {"add_filled", Exactness::exact, "add(x, full(s, c, dtype=a, device=b))", "add(x, c)", whole_c},
    {"mul_of_filled", Exactness::exact, "mul(full(s, c, dtype=a, device=b), x)", "mul(x, c)",
     whole_c},
    {"mul_filled", Exactness::exact, "mul(x, full(s, c, dtype=a, device=b))", "mul(x, c)", whole_c},
    {"neg_of_neg", Exactness::exact, "neg(neg(x))", "x"},
    {"abs_of_abs", Exactness::exact, "abs(abs(x))", "abs(x)"},
    {"abs_of_neg", Exactness::exact, "abs(neg(x))", "abs(x)", signed_x},
    {"relu_of_relu", Exactness::exact, "relu(relu(x))", "relu(x)"},
    {"floor_of_floor", Exactness::exact, "floor(floor(x))", "floor(x)"},
    {"ceil_of_ceil", Exactness::exact, "ceil(ceil(x))", "ceil(x)"},
    {"trunc_of_trunc", Exactness::exact, "trunc(trunc(x))", "trunc(x)"},
    {"round_of_round", Exactness::exact, "round(round(x))", "round(x)"},
    {"not_of_not", Exactness::exact, "logical_not(logical_not(x))", "x"},
    {"where_of_same", Exactness::exact, "where(c, x, x)", "x"},
    {"overwritten_to_value", Exactness::exact, "overwritten(x, v)", "v"},
    {"steps_with_to_input", Exactness::exact, "steps_with(x, y)", "x"},
};

}  // namespace

absl::Span<const Rule> algebra_rules() { return kRules; }

}  // namespace lathe::ir
