// The text of scalar functions reads as the same functions, constants to the bit; what is no such
// text is an error with its place.
#include "core/expr/parse.h"

#include <absl/strings/str_cat.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "tests/cpp/support/random_expr.h"

namespace lathe {
namespace {

using testing::kScalarTypes;
using In = absl::Span<const Expr>;

void expect_back(const ScalarFunction& f) {
  const std::string text = f.print();
  const ScalarFunction read = parse_function(text);
  ASSERT_EQ(read.print(), text);
  ASSERT_EQ(read.inputs, f.inputs) << text;
  ASSERT_EQ(read.output_types, f.output_types) << text;
}

/// Of build(): the very same graph.
void expect_same(const ScalarFunction& f) {
  ASSERT_NO_FATAL_FAILURE(expect_back(f));
  EXPECT_EQ(parse_function(f.print()).hash(), f.hash()) << f.print();
}

TEST(ExprParse, RandomFunctions) {
  std::mt19937_64 rng(1);
  for (int round = 0; round < 1000; ++round) {
    const auto p = testing::random_program(rng, {.steps = 14, .leaves = round % 2 == 0});
    ASSERT_NO_FATAL_FAILURE(expect_same(p.built()));
    ASSERT_NO_FATAL_FAILURE(expect_back(p.raw()));
    ASSERT_NO_FATAL_FAILURE(expect_same(lower(p.built())));
    const ScalarFunction f = p.raw(), read = parse_function(f.print());
    std::vector<uint64_t> inputs;
    for (DType d : f.inputs) inputs.push_back(testing::random_value(d, rng));
    ASSERT_EQ(evaluate(f, {.inputs = inputs}), evaluate(read, {.inputs = inputs})) << f.print();
  }
}

TEST(ExprParse, ConstantsToTheBit) {
  std::mt19937_64 rng(2);
  for (DType d : kScalarTypes) {
    std::vector<uint64_t> values = testing::special_values(d);
    for (int k = 0; k < 300; ++k) values.push_back(testing::random_value(d, rng));
    expect_same(build(
        [&](In) {
          Exprs all;
          for (uint64_t bits : values) all.push_back(constant_bits(d, bits));
          return all;
        },
        {}));
  }
}

TEST(ExprParse, WhatAnElementIsGivenBesideItsInputs) {
  expect_same(build([](In) { return Exprs{index(2), linear_index(), random_word(1023)}; }, {}));
  expect_same(build([](In in) { return Exprs{check(lt(in[0], 2), in[0], 65535)}; }, {DType::f32}));
  expect_same(build(
      [](In in) {
        return Exprs{in[0] * in[1], real(in[0])};
      },
      {DType::c64, DType::c64}));
  expect_same(build([](In) { return Exprs{}; }, {DType::f16}));
  ScalarFunction raw = build([](In in) { return Exprs{bits(in[0])}; }, {DType::f32});
  ScalarFunction f;
  f.inputs = raw.inputs;
  for (ExprNode n : raw.graph.nodes()) {
    n.payload += n.prim == Prim::bits ? 1 : 0;
    f.graph.intern(n);
  }
  f.outputs = raw.outputs;
  f.output_types = raw.output_types;
  EXPECT_NE(f.print().find("raw_bits"), std::string::npos);
  expect_same(f);
}

TEST(ExprParse, AConstantWhoseDtypeNothingSays) {
  ScalarFunction f;
  const uint32_t one = f.graph.intern({Prim::constant, DType::i32, 0, {}, 1});
  const uint32_t two = f.graph.intern({Prim::constant, DType::i32, 0, {}, 2});
  f.outputs = {f.graph.intern({Prim::cast, DType::f32, 1, {one}, 0}),
               f.graph.intern({Prim::lt, DType::bool_, 2, {one, two}, 0})};
  f.output_types = {DType::f32, DType::bool_};
  EXPECT_EQ(f.print(),
            "() -> f32, bool\n%0:f32 = cast(1:i32)\n%1:bool = lt(1:i32, 2:i32)\nreturn %0, %1\n");
  expect_back(f);
}

std::string error_of(std::string_view text) {
  try {
    (void)parse_function(text, "f", 10);
  } catch (const ValueError& e) {
    return absl::StrCat(e.parts().op, " ", e.parts().problem);
  }
  return "";
}

TEST(ExprParse, ErrorsSayWhereAndWhatIsWanted) {
  const std::string head = "(%0:f32) -> f32\n";
  EXPECT_EQ(error_of(""), "f:10:1 '(' is wanted here");
  EXPECT_EQ(error_of("(%1:f32)"), "f:10:3 the next value is %0");
  EXPECT_EQ(error_of("(%0:f33)"), "f:10:5 this is no dtype");
  EXPECT_EQ(error_of("(%0:i4)"), "f:10:5 this dtype is reserved");
  EXPECT_EQ(error_of("(%0:f32 %1:f32)"), "f:10:9 ',' is wanted here");
  EXPECT_EQ(error_of("(%0:f32)\nreturn"), "f:11:1 '->' is wanted here");
  EXPECT_EQ(error_of(head), "f:11:1 the function does not end: 'return' is wanted here");
  EXPECT_EQ(error_of(head + "%2:f32 = neg(%0)"), "f:11:2 the next value is %1");
  EXPECT_EQ(error_of(head + "%1:f32 = nog(%0)"), "f:11:10 there is no such primitive");
  EXPECT_EQ(error_of(head + "%1:f32 = conj(%0)"), "f:11:10 there is no such primitive");
  EXPECT_EQ(error_of(head + "%1:f32 = neg(%1)"), "f:11:14 this value is not defined yet");
  EXPECT_EQ(error_of(head + "%1:f32 = add(%0)"), "f:11:16 ',' is wanted here");
  EXPECT_EQ(error_of(head + "%1:f32 = neg(%0, %0)"), "f:11:16 ')' is wanted here");
  EXPECT_EQ(error_of(head + "%1:f32 = neg()"), "f:11:14 a value or a constant is wanted here");
  EXPECT_EQ(error_of(head + "%1:f32 = add(%0, 1x)"), "f:11:18 this is no constant of float32");
  EXPECT_EQ(error_of(head + "%1:f32 = add(%0, 1:i8)"),
            "f:11:1 the scalar language does not define it for these operands: float32, int8: cast "
            "the operands to one dtype");
  EXPECT_EQ(error_of(head + "%1:f64 = neg(%0)"),
            "f:11:1 the scalar language does not define it for these operands: float32: it cannot "
            "give float64");
  EXPECT_EQ(error_of(head + "%1:f32 = cast(1)"),
            "f:11:15 this constant needs its dtype behind it: 1:i32");
  EXPECT_EQ(error_of(head + "%1:i32 = index(0)"), "f:11:1 a position is i64");
  EXPECT_EQ(error_of(head + "%1:i64 = index(64)"), "f:11:16 the number of an axis is wanted here");
  EXPECT_EQ(error_of(head + "%1:u64 = random(0)"), "f:11:1 a random word is u32");
  EXPECT_EQ(error_of(head + "%1:u32 = random(1024)"),
            "f:11:17 the number of a random word is wanted here");
  EXPECT_EQ(error_of(head + "%1:f32 = check(true, %0, 65536)"),
            "f:11:26 the code of a check is wanted here");
  EXPECT_EQ(error_of("(%0:c64) -> f32\n%1:f32 = real(1:f32)\nreturn %1"),
            "f:11:1 this is a part of an input");
  EXPECT_EQ(error_of("(%0:c64) -> c64\nreturn %0"),
            "f:11:8 result 0 is stated as float32 and returned as complex64");
  EXPECT_EQ(error_of(head + "return"), "f:11:7 a value or a constant is wanted here");
  EXPECT_EQ(error_of(head + "return 1"), "f:11:9 ':' and the constant's dtype is wanted here");
  EXPECT_EQ(error_of(head + "return 1:f64"),
            "f:11:8 result 0 is stated as float32 and returned as float64");
  EXPECT_EQ(error_of(head + "return %0, %0"), "f:11:10 the text of the function has ended");
  for (const char* none : {"256:u8", "-1:u8", "-129:i8", "128:i8", "9223372036854775808:i64",
                           "1:u32", "0x:u32", "0x-1:u32", "0x100000000:u32", "2:bool", "1e99:f32",
                           "0.1:f16", "1e5:f16", "+1:f32", "infinity:f32", "0x1:f32", "1e999:f64"})
    EXPECT_NE(error_of(absl::StrCat("() -> f32\nreturn ", none)).find("this is no constant of"),
              std::string::npos)
        << none;
}

TEST(ExprParse, ChangedTextsAreErrorsOrFunctions) {
  std::mt19937_64 rng(3);
  int read = 0;
  for (int round = 0; round < 3000; ++round) {
    const auto p = testing::random_program(rng, {.steps = 6, .leaves = round % 2 == 0});
    std::string text = p.built().print();
    for (uint64_t left = 1 + rng() % 3; left > 0; --left) {
      static constexpr std::string_view kPieces[] = {"%0",  "%9", "1",   "0x",   ":f64",
                                                     ",",   "(",  ")",   "\n",   "return ",
                                                     "neg", "-",  "nan", ":c64", ""};
      const std::string_view piece = kPieces[rng() % std::size(kPieces)];
      text.replace(rng() % text.size(), rng() % 4, piece);
    }
    try {
      expect_back(parse_function(text));
      ++read;
    } catch (const ValueError&) {
      continue;
    }
  }
  EXPECT_GT(read, 30);
}

}  // namespace
}  // namespace lathe
