#include "core/expr/expr.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <complex>

#include "core/base/error.h"
#include "core/scalar/philox.h"
#include "tests/cpp/support/random_expr.h"

namespace lathe {
namespace {

using testing::random_program;
using testing::same_value;
using testing::special_values;

uint64_t f32(float x) { return std::bit_cast<uint32_t>(x); }
uint64_t f64(double x) { return std::bit_cast<uint64_t>(x); }
float as_f32(uint64_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits)); }
double as_f64(uint64_t bits) { return std::bit_cast<double>(bits); }

ScalarFunction unary_function(DType d, Expr (*body)(Expr)) {
  return build([&](absl::Span<const Expr> in) { return Exprs{body(in[0])}; }, {d});
}
ScalarFunction binary_function(DType d, Expr (*body)(Expr, Expr)) {
  return build([&](absl::Span<const Expr> in) { return Exprs{body(in[0], in[1])}; }, {d, d});
}
uint64_t run(const ScalarFunction& f, std::vector<uint64_t> inputs) {
  return evaluate(f, {.inputs = inputs})[0];
}
/// The body of a function of f32 as its one line of text, without the frame around it.
std::string text_of(Expr (*body)(Expr), DType d = DType::f32) {
  return unary_function(d, body).print();
}

// ── building ────────────────────────────────────────────────────────────────────────────────────
TEST(Expr, SharesEqualNodes) {
  const auto f = binary_function(DType::f32, [](Expr x, Expr y) {
    const Expr sum = x + y;
    return sum * (y + x);
  });
  EXPECT_EQ(f.graph.size(), 4u);
  EXPECT_EQ(f.print(),
            "(%0:f32, %1:f32) -> f32\n"
            "%2:f32 = add(%0, %1)\n"
            "%3:f32 = mul(%2, %2)\n"
            "return %3\n");
}

TEST(Expr, DropsDeadNodesAndKeepsUnusedInputs) {
  const auto f = binary_function(DType::f64, [](Expr x, Expr y) {
    (void)exp(x * y);
    return sqrt(y);
  });
  EXPECT_EQ(f.print(), "(%0:f64, %1:f64) -> f64\n%2:f64 = sqrt(%1)\nreturn %2\n");
}

TEST(Expr, NumbersTakeTheDtypeTheyMeet) {
  EXPECT_EQ(text_of([](Expr x) { return fma(x, 0.1, 2 * x); }),
            "(%0:f32) -> f32\n%1:f32 = mul(2, %0)\n%2:f32 = fma(%0, 0.1, %1)\nreturn %2\n");
  EXPECT_EQ(text_of([](Expr x) { return x & -1 & 12; }, DType::u32),
            "(%0:u32) -> u32\n%1:u32 = bitwise_and(%0, 0xc)\nreturn %1\n");
  EXPECT_THROW(text_of([](Expr x) { return x * 0.5; }, DType::i32), DTypeError);
  EXPECT_THROW(text_of([](Expr x) { return x + 256; }, DType::u8), DTypeError);
  EXPECT_THROW(text_of([](Expr x) { return select(lt(x, 0), 1, 0); }), DTypeError);
}

TEST(Expr, RefusesWhatIsNotDefined) {
  EXPECT_THROW(text_of([](Expr x) { return x + x; }, DType::f16), DTypeError);
  EXPECT_THROW(text_of([](Expr x) { return x / x; }, DType::i32), DTypeError);
  EXPECT_THROW(text_of([](Expr x) { return exp(x); }, DType::i64), DTypeError);
  EXPECT_THROW(text_of([](Expr x) { return x + cast(x, DType::f64); }), DTypeError);
  EXPECT_THROW(text_of([](Expr x) { return select(x, x, x); }), DTypeError);
  EXPECT_THROW(text_of([](Expr x) { return lt(x, x); }, DType::c64), DTypeError);
  EXPECT_THROW((void)current_exprs(), InternalError);
}

TEST(Expr, BoolArithmeticIsLogic) {
  EXPECT_EQ(
      binary_function(DType::bool_, [](Expr x, Expr y) { return (x + y) * pmin(x, y); }).print(),
      "(%0:bool, %1:bool) -> bool\n%2:bool = bitwise_or(%0, %1)\n%3:bool = bitwise_and(%0, %1)\n"
      "%4:bool = bitwise_and(%2, %3)\nreturn %4\n");
  for (uint64_t x : {0, 1})
    for (uint64_t y : {0, 1}) {
      EXPECT_EQ(run(binary_function(DType::bool_, lt), {x, y}), x < y);
      EXPECT_EQ(run(binary_function(DType::bool_, le), {x, y}), x <= y);
      EXPECT_EQ(run(binary_function(DType::bool_, eq), {x, y}), x == y);
      EXPECT_EQ(run(binary_function(DType::bool_, ne), {x, y}), x != y);
    }
}

TEST(Expr, HashIsOfTheGraph) {
  const auto f = [](double c) {
    return build([c](absl::Span<const Expr> in) { return Exprs{in[0] * c}; }, {DType::f32}).hash();
  };
  EXPECT_EQ(f(0.5), f(0.5));
  EXPECT_NE(f(0.5), f(0.25));
  EXPECT_NE(f(0.5), unary_function(DType::f64, [](Expr x) { return x * 0.5; }).hash());
}

TEST(Expr, PrintsEveryKindOfConstant) {
  EXPECT_EQ(text_of([](Expr x) { return pmin(pmax(x, -INFINITY), 1e-45); }),
            "(%0:f32) -> f32\n%1:f32 = pmax(%0, -inf)\n%2:f32 = pmin(%1, 1e-45)\nreturn %2\n");
  EXPECT_EQ(text_of([](Expr x) { return x + -7; }, DType::i8),
            "(%0:i8) -> i8\n%1:i8 = add(%0, -7)\nreturn %1\n");
  EXPECT_EQ(text_of([](Expr) { return constant(DType::f32, -0.0); }),
            "(%0:f32) -> f32\nreturn -0:f32\n");
  EXPECT_EQ(text_of([](Expr x) { return check(lt(x, 3), x, 7); }),
            "(%0:f32) -> f32\n%1:bool = lt(%0, 3)\n%2:f32 = check(%1, %0, 7)\nreturn %2\n");
}

// ── simplification ──────────────────────────────────────────────────────────────────────────────
TEST(Simplify, DoesWhatIsExact) {
  const auto same = [](Expr (*body)(Expr), DType d = DType::f32) {
    return unary_function(d, body).graph.size() == 1;
  };
  EXPECT_TRUE(same([](Expr x) { return -(-x); }));
  EXPECT_TRUE(same([](Expr x) { return x * 1 / 1 - 0.0; }));
  EXPECT_TRUE(same([](Expr x) { return x + -0.0; }));
  EXPECT_TRUE(same([](Expr x) { return cast(cast(x, DType::f64), DType::f32); }));
  EXPECT_TRUE(same([](Expr x) { return cast(cast(x, DType::f32), DType::bf16); }, DType::bf16));
  EXPECT_TRUE(same([](Expr x) { return real(complex(x, x + 1)); }));
  EXPECT_TRUE(same([](Expr x) { return frombits(bits(x), DType::f32); }));
  EXPECT_TRUE(same([](Expr x) { return select(eq(x, x + 1), x, x); }));
  EXPECT_TRUE(same([](Expr x) { return (x & -1) + 0; }, DType::i32));
  EXPECT_TRUE(same([](Expr x) { return check(~lt(x, x), x, 1); }));
}

TEST(Simplify, LeavesWhatIsNot) {
  const auto kept = [](Expr (*body)(Expr)) {
    return unary_function(DType::f32, body).graph.size() > 1;
  };
  EXPECT_TRUE(kept([](Expr x) { return x + 0.0; }));      // -0
  EXPECT_TRUE(kept([](Expr x) { return x * 0.0; }));      // NaN, sign
  EXPECT_TRUE(kept([](Expr x) { return x - x; }));        // NaN
  EXPECT_TRUE(kept([](Expr x) { return (x + 1) - 1; }));  // rounding
  EXPECT_TRUE(kept([](Expr x) { return bits(frombits(bits(x), DType::f32)); }));
  EXPECT_TRUE(kept([](Expr x) { return cast(cast(x, DType::f16), DType::f32); }));
}

TEST(Simplify, FoldsConstantsOfEveryDtype) {
  const auto folded = [](Expr (*body)()) {
    return build([&](absl::Span<const Expr>) { return Exprs{body()}; }, {}).print();
  };
  EXPECT_EQ(folded([] { return sqrt(constant(DType::f32, 2)); }),
            "() -> f32\nreturn 1.4142135:f32\n");
  EXPECT_EQ(folded([] { return cast(constant(DType::f64, 300.7), DType::u8); }),
            "() -> u8\nreturn 255:u8\n");
  EXPECT_EQ(folded([] { return constant(DType::i8, 127) + 1; }), "() -> i8\nreturn -128:i8\n");
  EXPECT_EQ(folded([] { return lt(constant(DType::u64, 1), 2); }),
            "() -> bool\nreturn true:bool\n");
}

TEST(Simplify, ChangesNoBitOfRandomPrograms) {
  std::mt19937_64 rng(1);
  size_t smaller = 0;
  for (int round = 0; round < 4000; ++round) {
    const auto program = random_program(rng, {.steps = 14, .leaves = true});
    const ScalarFunction raw = program.raw(), built = program.built();
    smaller += built.graph.size() < raw.graph.size();
    for (int sample = 0; sample < 12; ++sample) {
      std::vector<uint64_t> inputs;
      for (DType d : program.inputs) inputs.push_back(testing::random_value(d, rng));
      const ScalarEnv env{
          .inputs = inputs, .linear = static_cast<int64_t>(rng() % 1000), .seed = 7};
      const auto expected = evaluate(raw, env), got = evaluate(built, env);
      for (size_t k = 0; k < expected.size(); ++k)
        ASSERT_TRUE(same_value(built.output_types[k], expected[k], got[k]))
            << raw.print() << "\nsimplified to\n"
            << built.print() << "output " << k << ": " << std::hex << expected[k] << " became "
            << got[k] << " for the first input " << inputs[0];
    }
  }
  EXPECT_GT(smaller, 1000u);
}

// ── meaning ─────────────────────────────────────────────────────────────────────────────────────
TEST(Evaluate, IntegersWrapAndNeverTrap) {
  const auto i32 = [](auto body, int32_t a, int32_t b) {
    return static_cast<int32_t>(run(binary_function(DType::i32, body),
                                    {static_cast<uint32_t>(a), static_cast<uint32_t>(b)}));
  };
  const int32_t low = INT32_MIN;
  EXPECT_EQ(i32([](Expr a, Expr b) { return a * b; }, low, -1), low);
  EXPECT_EQ(i32(floor_div, low, -1), low);
  EXPECT_EQ(i32(mod, low, -1), 0);
  EXPECT_EQ(i32(floor_div, -7, 2), -4);
  EXPECT_EQ(i32(mod, -7, 2), 1);
  EXPECT_EQ(i32(mod, 7, -2), -1);
  EXPECT_EQ(i32(floor_div, 5, 0), 0);
  EXPECT_EQ(i32(mod, 5, 0), 0);
  EXPECT_EQ(i32(shl, 1, 33), 2);
  EXPECT_EQ(i32(shr, -8, 1), -4);
  EXPECT_EQ(run(binary_function(DType::u32, mulhi), {0xffffffff, 0xffffffff}), 0xfffffffeu);
}

TEST(Evaluate, ConversionsSaturate) {
  const auto convert = [](DType from, DType to, uint64_t bits) {
    const auto f =
        build([to](absl::Span<const Expr> in) { return Exprs{cast(in[0], to)}; }, {from});
    return run(f, {bits});
  };
  EXPECT_EQ(convert(DType::f32, DType::i32, f32(3e9f)), 0x7fffffffu);
  EXPECT_EQ(convert(DType::f32, DType::i32, f32(-3e9f)), 0x80000000u);
  EXPECT_EQ(convert(DType::f32, DType::i32, f32(NAN)), 0u);
  EXPECT_EQ(convert(DType::f32, DType::i32, f32(-1.9f)), 0xffffffffu);
  EXPECT_EQ(convert(DType::f64, DType::i64, f64(1e19)), 0x7fffffffffffffffu);
  EXPECT_EQ(convert(DType::f64, DType::u64, f64(1e19)), 10000000000000000000u);
  EXPECT_EQ(convert(DType::f32, DType::u8, f32(-1)), 0u);
  EXPECT_EQ(convert(DType::f32, DType::bool_, f32(NAN)), 1u);
  EXPECT_EQ(convert(DType::i64, DType::i8, 200), 200u);
  EXPECT_EQ(convert(DType::f64, DType::f16, f64(65520)), 0x7c00u);
  EXPECT_EQ(convert(DType::bf16, DType::f64, 0x3fc0), f64(1.5));
}

TEST(Evaluate, MinMaxAreSelects) {
  const auto low = binary_function(DType::f32, pmin), high = binary_function(DType::f32, pmax);
  EXPECT_EQ(run(low, {f32(NAN), f32(1)}), f32(1));
  EXPECT_TRUE(std::isnan(as_f32(run(low, {f32(1), f32(NAN)}))));
  EXPECT_EQ(run(low, {f32(0.0f), f32(-0.0f)}), f32(-0.0f));
  EXPECT_EQ(run(high, {f32(-0.0f), f32(0.0f)}), f32(0.0f));
}

TEST(Evaluate, SignIgnoresNan) {
  const auto negative = unary_function(DType::f32, is_negative);
  EXPECT_EQ(run(negative, {0x80000000}), 1u);
  EXPECT_EQ(run(negative, {0xffc00000}), 0u);
  EXPECT_EQ(run(unary_function(DType::f64, bits), {0xfff8000000000001}), 0x7ff8000000000000u);
}

TEST(Evaluate, ChecksReportTheirCode) {
  const auto f = binary_function(
      DType::f32, [](Expr x, Expr y) { return check(ne(y, 0), x / y, 3) + check(le(0, x), x, 2); });
  uint32_t failed = 0;
  const std::vector<uint64_t> bad = {f32(-1), f32(0)}, good = {f32(1), f32(2)};
  (void)evaluate(f, {.inputs = good, .failed = &failed});
  EXPECT_EQ(failed, 0u);
  (void)evaluate(f, {.inputs = bad, .failed = &failed});
  EXPECT_EQ(failed, 2u);
}

TEST(Philox, KnownAnswers) {
  // From the reference implementation's kat_vectors.
  const auto run = [](std::array<uint32_t, 4> c, uint32_t low, uint32_t high) {
    return philox4x32_10<uint32_t>(c, {low, high});
  };
  using Words = std::array<uint32_t, 4>;
  EXPECT_EQ(run({0, 0, 0, 0}, 0, 0), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(run({~0u, ~0u, ~0u, ~0u}, ~0u, ~0u),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(run({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0xa4093822, 0x299f31d0),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, WordsOfAnElementAreDistinctBlocks) {
  EXPECT_EQ(philox_word(0, 0, 0, 0), 0x6627e8d5u);
  EXPECT_EQ(philox_word(0, 0, 0, 3), 0x9b00dbd8u);
  EXPECT_NE(philox_word(0, 0, 0, 4), philox_word(0, 0, 0, 0));
  EXPECT_NE(philox_word(0, 0, 0, 4), philox_word(0, 1, 0, 0));
  const auto f = build([](absl::Span<const Expr>) { return Exprs{random_word(5)}; }, {});
  EXPECT_EQ(evaluate(f, {.linear = 9, .seed = 1, .call = 2})[0], philox_word(1, 2, 9, 5));
}

// ── functions of functions ──────────────────────────────────────────────────────────────────────
TEST(Lower, KeepsTheBitsOfEveryFunction) {
  std::mt19937_64 rng(2);
  for (int p = 0; p < kPrims; ++p) {
    const auto prim = static_cast<Prim>(p);
    if (!info(prim).transcendental) continue;
    for (DType d : {DType::f32, DType::f64}) {
      const auto f = build(
          [&](absl::Span<const Expr> in) {
            return Exprs{make(prim, d, in.subspan(0, info(prim).arity))};
          },
          {d, d});
      const auto lowered = lower(f);
      for (const ExprNode& node : lowered.graph.nodes())
        ASSERT_FALSE(info(node.prim).transcendental);
      auto values = special_values(d);
      for (int i = 0; i < 300; ++i) values.push_back(testing::random_value(d, rng));
      for (size_t i = 0; i < values.size(); ++i) {
        const std::vector<uint64_t> in = {values[i], values[rng() % values.size()]};
        const uint64_t expected = run(f, in), got = run(lowered, in);
        ASSERT_TRUE(same_value(d, expected, got))
            << info(prim).name << " of " << std::hex << in[0] << ", " << in[1] << ": " << expected
            << " lowered to " << got;
      }
    }
  }
}

TEST(InlineCall, PutsOneBodyInAnother) {
  const auto inner = build(
      [](absl::Span<const Expr> in) {
        return Exprs{in[0] * in[1], in[0] + in[1]};
      },
      {DType::f32, DType::f32});
  const auto f = build(
      [&](absl::Span<const Expr> in) {
        const Exprs r = inline_call(inner, {in[0], Expr(2.0)});
        return Exprs{r[0] - r[1]};
      },
      {DType::f32});
  EXPECT_EQ(f.print(),
            "(%0:f32) -> f32\n%1:f32 = mul(%0, 2)\n%2:f32 = add(%0, 2)\n"
            "%3:f32 = sub(%1, %2)\nreturn %3\n");
  EXPECT_THROW(build(
                   [&](absl::Span<const Expr> in) {
                     return inline_call(inner, {in[0], in[0]});
                   },
                   {DType::f64}),
               DTypeError);
}

// ── complex ─────────────────────────────────────────────────────────────────────────────────────
using Complex = std::complex<double>;

Complex run_complex(const ScalarFunction& f, std::vector<Complex> inputs) {
  const bool wide = f.inputs[0] == DType::c128;
  std::vector<uint64_t> raw;
  for (Complex z : inputs)
    for (double part : {z.real(), z.imag()})
      raw.push_back(wide ? f64(part) : f32(static_cast<float>(part)));
  const auto out = evaluate(f, {.inputs = raw});
  const auto number = [&](uint64_t bits) { return wide ? as_f64(bits) : as_f32(bits); };
  return {number(out[0]), out.size() > 1 ? number(out[1]) : 0.0};
}

TEST(ComplexExpr, EvaporatesIntoPairs) {
  const auto f = binary_function(DType::c64, [](Expr a, Expr b) { return a * b; });
  EXPECT_EQ(f.outputs.size(), 2u);
  EXPECT_EQ(f.output_types, std::vector{DType::c64});
  for (const ExprNode& node : f.graph.nodes())
    EXPECT_TRUE(node.prim == Prim::input || node.dtype != DType::c64) << f.print();
}

TEST(ComplexExpr, MatchesTheStandardLibrary) {
  struct Case {
    ScalarFunction f;
    Complex (*expected)(Complex, Complex);
  };
  const Case cases[] = {
      {binary_function(DType::c64, [](Expr a, Expr b) { return a + b; }),
       [](Complex a, Complex b) { return a + b; }},
      {binary_function(DType::c64, [](Expr a, Expr b) { return a - b; }),
       [](Complex a, Complex b) { return a - b; }},
      {binary_function(DType::c64, [](Expr a, Expr b) { return a * b; }),
       [](Complex a, Complex b) { return a * b; }},
      {binary_function(DType::c64, [](Expr a, Expr b) { return a / b; }),
       [](Complex a, Complex b) { return a / b; }},
      {binary_function(DType::c64, [](Expr a, Expr) { return abs(a); }),
       [](Complex a, Complex) -> Complex { return std::abs(a); }},
      {binary_function(DType::c64, [](Expr a, Expr) { return sqrt(a); }),
       [](Complex a, Complex) { return std::sqrt(a); }},
      {binary_function(DType::c64, [](Expr a, Expr) { return -a; }),
       [](Complex a, Complex) { return -a; }},
  };
  const Complex points[] = {{1, 2},         {-3, 0.5}, {0, -1},  {1e20, 1e19},
                            {1e-30, 2e-30}, {-4, 0},   {2.5, -7}};
  for (const Case& c : cases)
    for (Complex a : points)
      for (Complex b : points) {
        const Complex exact = c.expected(a, b), got = run_complex(c.f, {a, b});
        if (std::abs(exact) > 1e38 || (std::abs(exact) < 1e-36 && exact != 0.0)) continue;
        EXPECT_LE(std::abs(got - exact), 3e-7 * std::abs(exact)) << c.f.print() << a << b;
      }
  const auto modulus = unary_function(DType::c64, abs);
  EXPECT_EQ(run_complex(modulus, {{INFINITY, NAN}}).real(), INFINITY);
  EXPECT_EQ(run_complex(modulus, {{3e38, 0}}).real(), static_cast<float>(3e38));
}

TEST(ComplexExpr, DoublesKeepTheirRange) {
  const auto quotient = binary_function(DType::c128, [](Expr a, Expr b) { return a / b; });
  const auto modulus = unary_function(DType::c128, abs);
  const auto root = unary_function(DType::c128, sqrt);
  const auto logarithm = unary_function(DType::c128, log);
  EXPECT_EQ(quotient.output_types, std::vector{DType::c128});
  const Complex points[] = {{1, 2},           {-3, 0.5},         {0, -1},   {1e300, 1e299},
                            {1e-300, 2e-300}, {-4, 0},           {2.5, -7}, {1 + 1e-12, 1e-7},
                            {1e308, 1e308},   {4e-320, -3e-320}, {0.6, 0.8}};
  const auto near = [](Complex got, Complex want, const char* what, Complex at) {
    EXPECT_LE(std::abs(got.real() - want.real()) + std::abs(got.imag() - want.imag()),
              8e-16 * (std::abs(want.real()) + std::abs(want.imag())) + 1e-322)
        << what << at << got << want;
  };
  for (Complex a : points) {
    near(run_complex(modulus, {a}), std::hypot(a.real(), a.imag()), "abs", a);
    near(run_complex(root, {a}), std::sqrt(a), "sqrt", a);
    if (a != Complex(0.6, 0.8)) near(run_complex(logarithm, {a}), std::log(a), "log", a);
    near(run_complex(quotient, {a, a}), 1.0, "div", a);
    near(run_complex(quotient, {a, {2, 0}}), a / 2.0, "div", a);
    near(run_complex(quotient, {{2, -3}, {0, 0.5}}), Complex(-6, -4), "div", a);
  }
  EXPECT_EQ(run_complex(modulus, {{INFINITY, NAN}}).real(), INFINITY);
  EXPECT_EQ(run_complex(modulus, {{0, 0}}).real(), 0);
  EXPECT_EQ(run_complex(logarithm, {{0, 0}}).real(), -INFINITY);
}

// ── derivative ──────────────────────────────────────────────────────────────────────────────────
ScalarFunction gradient(const ScalarFunction& f) {
  return build(
      [&](absl::Span<const Expr> in) {
        return derivative(f, in, {constant(f.output_types[0], 1.0)});
      },
      f.inputs);
}

/// Compares with central differences in f64 at points inside every function's domain.
void expect_gradient(const ScalarFunction& f, std::vector<double> at, const std::string& what) {
  std::vector<uint64_t> bits;
  for (double x : at) bits.push_back(f64(x));
  const auto grads = evaluate(gradient(f), {.inputs = bits});
  for (size_t i = 0; i < at.size(); ++i) {
    const double h = 1e-5;
    auto up = bits, down = bits;
    up[i] = f64(at[i] + h);
    down[i] = f64(at[i] - h);
    const double slope = (as_f64(run(f, up)) - as_f64(run(f, down))) / (2 * h);
    EXPECT_NEAR(as_f64(grads[i]), slope, 1e-6 * (1 + std::fabs(slope)))
        << what << " at " << at[0] << ", argument " << i << "\n"
        << gradient(f).print();
  }
}

TEST(Derivative, OfEverySmoothPrimitive) {
  for (int p = 0; p < kPrims; ++p) {
    const auto prim = static_cast<Prim>(p);
    const PrimInfo& about = info(prim);
    if (!about.smooth || !about.domain.has(DType::f64) || about.arity == 0) continue;
    if (prim == Prim::select || prim == Prim::rare || prim == Prim::check || prim == Prim::addexp)
      continue;
    if (prim == Prim::complex) continue;  // no number, and gone when a body is finished
    const std::vector<DType> types(about.arity, DType::f64);
    const auto f =
        build([&](absl::Span<const Expr> in) { return Exprs{make(prim, DType::f64, in)}; }, types);
    const bool above_one = prim == Prim::acosh;
    for (double x : {0.31, 0.72}) {
      std::vector<double> at{above_one ? x + 1 : x, 0.43, -0.9};
      at.resize(about.arity);
      expect_gradient(f, at, std::string(about.name));
    }
  }
}

TEST(Derivative, OfChoicesAndChecks) {
  const auto f = binary_function(DType::f64, [](Expr x, Expr y) {
    return rare(lt(x, 0), check(lt(y, 9), x * y, 1), select(lt(y, x), x, y) * y);
  });
  for (double x : {-0.7, 0.4})
    for (double y : {-0.8, 0.9}) expect_gradient(f, {x, y}, "choices");
  const auto scaled =
      unary_function(DType::f64, [](Expr x) { return addexp(x * x, constant(DType::f64, 3)); });
  expect_gradient(scaled, {1.7}, "addexp");
}

TEST(Derivative, TiesAndKinks) {
  const auto grads = [](const ScalarFunction& f, std::vector<double> at) {
    std::vector<uint64_t> bits;
    for (double x : at) bits.push_back(f64(x));
    std::vector<double> out;
    for (uint64_t g : evaluate(gradient(f), {.inputs = bits})) out.push_back(as_f64(g));
    return out;
  };
  using V = std::vector<double>;
  EXPECT_EQ(grads(binary_function(DType::f64, pmin), {1, 1}), (V{0, 1}));
  EXPECT_EQ(grads(binary_function(DType::f64, pmax), {1, 1}), (V{0, 1}));
  EXPECT_EQ(grads(unary_function(DType::f64, [](Expr x) { return abs(x); }), {0}), V{0});
  EXPECT_EQ(grads(unary_function(DType::f64, floor), {1.5}), V{0});
  EXPECT_EQ(grads(binary_function(DType::f64, pow), {0, 2}), (V{0, 0}));
}

TEST(Derivative, ThroughStorageTypes) {
  const auto f = build(
      [](absl::Span<const Expr> in) {
        const Expr x = cast(in[0], DType::f32);
        return Exprs{cast(x * x * cast(in[1], DType::f32), DType::bf16)};
      },
      {DType::bf16, DType::i32});
  const auto g = build(
      [&](absl::Span<const Expr> in) {
        const Exprs d = derivative(f, in, {constant(DType::bf16, 1)});
        EXPECT_FALSE(d[1].valid());
        return Exprs{d[0]};
      },
      f.inputs);
  EXPECT_EQ(run(g, {f32_to_bf16(3), 2}), f32_to_bf16(12));
}

TEST(Derivative, OfComplexIsDoneOnWholeNumbers) {
  const auto gradient_at = [](Expr (*f)(Expr), Complex at) {
    const auto whole = build([f](absl::Span<const Expr> in) { return Exprs{f(in[0])}; },
                             {DType::c128}, ComplexAs::whole);
    return run_complex(build(
                           [&](absl::Span<const Expr> in) {
                             return derivative(whole, in, {constant(whole.output_types[0], 1)});
                           },
                           {DType::c128}),
                       {at});
  };
  const Complex at(3, -4);
  // L = |z|^2: dL/dRe + i dL/dIm = 2 z.
  EXPECT_EQ(gradient_at([](Expr z) { return real(z) * real(z) + imag(z) * imag(z); }, at),
            Complex(6, -8));
  EXPECT_LT(std::abs(gradient_at([](Expr z) { return abs(z); }, at) - at / 5.0), 1e-15);
  EXPECT_EQ(gradient_at([](Expr z) { return abs(z); }, 0), Complex(0, 0));
  EXPECT_EQ(gradient_at([](Expr z) { return conj(z) * 2.0; }, at), Complex(2, 0));
  EXPECT_EQ(gradient_at([](Expr z) { return complex(imag(z), real(z) * 3.0); }, at), Complex(0, 1));
  // Of a holomorphic f the conjugate of f'(z).
  EXPECT_EQ(gradient_at([](Expr z) { return z * z * complex(0.0, constant(DType::f64, 1)); }, at),
            Complex(8, -6));
  const Complex slope = gradient_at([](Expr z) { return unary(Prim::asinh, z); }, at);
  EXPECT_LT(std::abs(slope - std::conj(1.0 / std::sqrt(1.0 + at * at))), 1e-15);
}

TEST(Derivative, OfDerivatives) {
  const auto f = unary_function(DType::f64, [](Expr x) { return x * x * x; });
  const auto second = gradient(gradient(f));
  EXPECT_EQ(as_f64(run(second, {f64(2)})), 12.0);
}

}  // namespace
}  // namespace lathe
