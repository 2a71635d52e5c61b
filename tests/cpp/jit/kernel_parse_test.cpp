// The text of kernels reads as the same kernels; what is no such text is an error with its place.
#include <absl/strings/str_cat.h>
#include <absl/strings/str_replace.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/sizes/symexpr.h"
#include "jit/kernel_ir/parse.h"
#include "tests/cpp/jit/random_kernel.h"
#include "tests/cpp/jit/suite_kernels.h"

namespace lathe::jit {
namespace {

constexpr std::string_view kCentred =
    R"(kernel centred(b0: f32 %x, b1: f16) -> (b2: f32 %y, b3: f32 'of all')
  number u0: f32
  local b4: f32 %mean[1]
  local b5: f32[s1]
  parallel i0 < s0
  axis i1 < s1
  b4[0] = reduce i1 (b0[s2 - 1 + i0*(-s1) + i1], u0) f32 from 0xff800000
    (%0:f32, %1:f32, %2:i64) -> f32
    %3:f32 = mul(%0, %1)
    return %3
    (%0:f32, %1:f32) -> f32
    %2:f32 = add(%0, %1)
    return %2
    (%0:f32, %1:i64) -> f32
    return %0
  for i1
    b2[i0*(s1) + i1], b5[i1] = compute (b4[0], b1[3 + i1*(2)])
      (%0:f32, %1:f16) -> f32, f32
      %2:f32 = cast(%1)
      %3:f32 = sub(%2, %0)
      return %3, 0.5:f32
  b3[i1] = reduce rows i1 (b5[i1]) f32 from 0x0
    (%0:f32, %1:i64) -> f32
    return %0
    (%0:f32, %1:f32) -> f32
    %2:f32 = add(%0, %1)
    return %2
    (%0:f32, %1:i64) -> f32
    return %0
)";

void expect_back(std::string_view text) {
  const Kernel read = parse_kernel(text);
  ASSERT_EQ(read.print(), text);
  ASSERT_EQ(verify(read), "") << text;
}

constexpr std::string_view kPieces =
    R"(kernel padded(b0: f32 %x, b1: f32) -> (b2: f32)
  parallel i0 < s0
  parallel i1 < 9
  b2[i0*(9) + i1] = compute (pieces f32 {0x0, b0[-1 + i0*(7) + i1] within i1 from 1 to 8, b1[i1] within i0 from 2 to s0 and i1 from 0 to s0 - 1}, b0[i1])
    (%0:f32, %1:f32) -> f32
    %2:f32 = add(%0, %1)
    return %2
)";

TEST(KernelParse, AnOperandOfPieces) {
  expect_back(kPieces);
  const Kernel k = parse_kernel(kPieces);
  ASSERT_EQ(piecewise(k).size(), 1u);
  const Pieces& pieces = *piecewise(k)[0].second;
  ASSERT_EQ(pieces.all.size(), 3u);
  EXPECT_FALSE(pieces.all[0].from);
  EXPECT_EQ(pieces.all[1].within[0].axis, 1);
  EXPECT_EQ(pieces.all[2].within.size(), 2u);
}

/// The kernel with one thing said otherwise.
std::string wrong_pieces(std::string_view what, std::string_view instead) {
  return verify(parse_kernel(absl::StrReplaceAll(kPieces, {{what, instead}})));
}

TEST(KernelParse, PiecesThatAreNone) {
  EXPECT_EQ(wrong_pieces("{0x0, ", "{"), "no piece is there for all positions");
  EXPECT_EQ(wrong_pieces("i0*(7) + i1]", "i0*(7) + i1*(2)]"),
            "the elements of a piece do not lie side by side");
  EXPECT_EQ(wrong_pieces("b1: f32", "b1: i32"), "the pieces differ in dtype");
  EXPECT_EQ(wrong_pieces("and i1 from 0", "and i0 from 0"), "a piece has two ranges of i0");
  EXPECT_EQ(wrong_pieces("b1[i1] within", "b2[i1] within"), "b2 is read before it is written");
  Kernel places = parse_kernel(kPieces);
  std::get<Compute>(places.body[0].node).f = build(
      [](absl::Span<const Expr> in) {
        return Exprs{in[0] + in[1] + cast(linear_index(), DType::f32)};
      },
      {DType::f32, DType::f32});
  EXPECT_EQ(verify(places), "a function asks for its place, which a box does not say");
  Kernel rows = parse_kernel(kCentred);
  auto& loop = std::get<For>(rows.body[1].node);
  std::get<Compute>(loop.body[0].node).operands[1] = Pieces{DType::f16, {Piece{}}};
  EXPECT_EQ(verify(rows), "only what is done element by element has pieces");
}

TEST(KernelParse, EveryStatement) {
  expect_back(kCentred);
  const Kernel k = parse_kernel(kCentred);
  EXPECT_EQ(k.name, "centred");
  EXPECT_EQ(k.inputs, 2);
  EXPECT_EQ(k.outputs, 2);
  EXPECT_EQ(k.parallel, 1);
  EXPECT_EQ(k.facts.loads, 2);
  EXPECT_EQ(k.facts.stores, 2);
  EXPECT_EQ(k.buffers[3].name, "of all");
  EXPECT_EQ(std::get<Reduce>(k.body[0].node).bodies.unit[0], 0xff800000u);
}

TEST(KernelParse, PiecesOfALineAndKernelsOfNothing) {
  expect_back("kernel() -> ()\n");
  expect_back("kernel 'a b'() -> ()\n  pieces i0 < floor_div(s0 + 9, 10) of s0\n  axis i1 < 10\n");
  expect_back(
      "kernel x() -> (b0: u8)\n  parallel i0 < 4\n  b0[i0] = compute ()\n    () -> u8\n"
      "    return 7:u8\n");
}

TEST(KernelParse, FactsAndCounts) {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    const RandomKernel random = random_kernel(seed);
    ASSERT_NO_FATAL_FAILURE(expect_back(random.kernel.print())) << seed;
    const Kernel read = parse_kernel(random.kernel.print());
    EXPECT_EQ(read.form(), random.kernel.form());
    EXPECT_EQ(read.facts.flops_per_element, random.kernel.facts.flops_per_element);
    EXPECT_EQ(read.facts.loads, random.kernel.facts.loads);
  }
}

TEST(KernelParse, ALongSumIsOneAtom) {
  Int sum = 3;
  for (uint32_t k = 0; k < 40; ++k) sum += symbol(k) * symbol(k + 1);
  Kernel k = parse_kernel(kCentred);
  std::get<Access>(std::get<Reduce>(k.body[0].node).operands[0]).map.offset =
      sym_add_whole(sum, 1) + symbol(2);
  EXPECT_NE(k.print().find("b0[s2 + (s0*s1 + "), std::string::npos) << k.print();
  expect_back(k.print());
}

/// Of every program that the graphs of the tests make.
TEST(KernelParse, KernelsOfPrograms) {
  size_t kernels = 0, rows = 0;
  for (const std::string& kernel : kernels_of_graphs()) {
    ASSERT_NO_FATAL_FAILURE(expect_back(kernel));
    ++kernels;
    rows += kernel.starts_with("kernel rows(") ? 1 : 0;
  }
  EXPECT_GT(kernels, 100u);
  EXPECT_GT(rows, 8u);
}

std::string error_of(std::string_view text) {
  try {
    (void)parse_kernel(text, "k");
  } catch (const ValueError& e) {
    EXPECT_NE(e.parts().expected.find("kernel"), std::string::npos);
    return absl::StrCat(e.parts().op, " ", e.parts().problem);
  }
  return "";
}
/// Of the kernel above where this stands in place of that.
std::string error_with(std::string_view that, std::string_view now) {
  std::string text(kCentred);
  const size_t at = text.find(that);
  EXPECT_NE(at, std::string::npos) << that;
  return error_of(text.replace(at, that.size(), now));
}

TEST(KernelParse, ErrorsOfTheHead) {
  EXPECT_EQ(error_of(""), "k:2:1 'kernel' is wanted here");
  EXPECT_EQ(error_of("kernel"), "k:2:1 the kernel's name is wanted here");
  EXPECT_EQ(error_of("kernel 7()"), "k:1:8 the kernel's name is wanted here");
  EXPECT_EQ(error_of("kernel $"), "k:1:8 this character means nothing here");
  EXPECT_EQ(error_with("b1: f16", "b2: f16"), "k:1:28 there is no b2");
  EXPECT_EQ(error_with("b1: f16", "b0: f16"), "k:1:28 the next one is b1");
  EXPECT_EQ(error_with("b1: f16", "c1: f16"), "k:1:28 a buffer (b0, ...) is wanted here");
  EXPECT_EQ(error_with("b1: f16", "b1: f12"), "k:1:32 no buffer has this dtype");
  EXPECT_EQ(error_with("b1: f16", "b1: i4"), "k:1:32 no buffer has this dtype");
  EXPECT_EQ(error_with(", b1", " b1"), "k:1:27 ',' is wanted here");
  EXPECT_EQ(error_with("->", ""), "k:1:38 '->' is wanted here");
  EXPECT_EQ(error_with("u0: f32", "u1: f32"), "k:2:10 there is no u1");
  EXPECT_EQ(error_with("mean[1]", "mean"), "k:4:3 '[' is wanted here");
  EXPECT_EQ(error_with("< s0", "< t0"), "k:5:17 a size is wanted here");
  EXPECT_EQ(error_with("< s0", "< 99999999999999999999"), "k:5:37 this number is out of range");
  EXPECT_EQ(error_with("< s0", "< 4000000000000000000*s1*4"), "k:5:17 a size is too large");
  EXPECT_EQ(error_with("< s0", "< floor_div(s0, 0)"), "k:5:17 division by zero");
  EXPECT_EQ(error_with("< s0", "< (s0 + 1)*s1"),
            "k:5:17 parentheses are for sums of many terms alone");
  EXPECT_EQ(error_with("axis i1", "parallel i2"), "k:6:12 there is no i2");
  EXPECT_EQ(error_with("parallel i0", "axis i0"), "");  // for verify() to say
  EXPECT_EQ(error_with("axis i1 < s1", "axis i1 < s1\n  parallel i2 < 3"),
            "k:7:3 parallel axes come before the others");
  EXPECT_EQ(
      error_with("parallel i0 < s0\n  axis i1 < s1", "pieces i0 < s0 of 8\n  pieces i1 < s1 of 9"),
      "k:6:3 these are pieces of another line");
  EXPECT_EQ(error_with("parallel i0 < s0", "pieces i0 < s0"), "k:6:3 'of' is wanted here");
}

TEST(KernelParse, ErrorsOfStatements) {
  EXPECT_EQ(error_with("for i1", "for i2"), "k:16:7 there is no i2");
  EXPECT_EQ(error_with("for i1", "for"), "k:17:5 an axis (i0, ...) is wanted here");
  EXPECT_EQ(error_with("= compute", "= compare"),
            "k:17:32 'compute', 'reduce' or 'reduce rows' is wanted here");
  EXPECT_EQ(error_with("b5[i1] = compute", "b5[i1] compute"), "k:17:30 '=' is wanted here");
  EXPECT_EQ(error_with("b1[3 + i1*(2)]", "b9[0]"), "k:17:48 there is no b9");
  EXPECT_EQ(error_with("b1[3 + i1*(2)]", "u1"), "k:17:48 there is no u1");
  EXPECT_EQ(error_with("b1[3 + i1*(2)]", "b1[i5]"), "k:17:51 there is no i5");
  EXPECT_EQ(error_with("b1[3 + i1*(2)]", "b1[3 - i1]"),
            "k:17:55 a stride below 0 is written behind its axis");
  EXPECT_EQ(error_with("b1[3 + i1*(2)]", "b1[i1 + i1]"), "k:17:56 this axis is there twice");
  EXPECT_EQ(error_with("b1[3 + i1*(2)]", "b1[i1*2]"), "k:17:54 '(' is wanted here");
  EXPECT_EQ(error_with("b1[3 + i1*(2)]", "b1[]"), "k:17:51 a size is wanted here");
  EXPECT_EQ(error_with("b1[3 + i1*(2)]", "b1[3"), "k:17:52 ']' is wanted here");
  EXPECT_EQ(error_with("from 0xff800000", "from u0"), "k:7:63 the bits of a unit are wanted here");
  EXPECT_EQ(error_with("0xff800000", "0xff8000000000000000"),
            "k:7:83 up to sixteen hexadecimal digits are wanted behind 0x");
  EXPECT_EQ(error_with("from 0x0", "from 0x0, "), "");
  EXPECT_EQ(error_with("  b3[i1] =", "   b3[i1] ="),
            "k:22:4 this statement is indented like none before it");
  EXPECT_EQ(error_with("      (%0:f32, %1:f16) -> f32, f32\n", ""),
            "k:18:7 the lines of a function are wanted before this");
  EXPECT_EQ(error_with("%2:f32 = cast(%1)", "%2:f32 = cost(%1)"),
            "k:19:16 there is no such primitive");
  EXPECT_EQ(error_with("    (%0:f32, %1:i64) -> f32\n    return %0\n  for", "  for"),
            "k:14:3 the lines of a function are wanted before this");
  EXPECT_EQ(error_with("  for i1\n", "  () -> f32\n  return 0:f32\n  for i1\n"),
            "k:16:1 no statement takes this function");
  EXPECT_EQ(error_of(absl::StrCat(kCentred, "() ->\nreturn\n")),
            "k:30:1 no statement takes this function");
  std::string deep = "kernel() -> ()\n  axis i0 < 1\n";
  for (size_t k = 1; k < 60; ++k) absl::StrAppend(&deep, std::string(k, ' '), "for i0\n");
  EXPECT_NE(error_of(deep).find("too many things inside each other"), std::string::npos);
}

TEST(KernelParse, ChangedTextsAreErrorsOrKernels) {
  std::mt19937_64 rng(7);
  int read = 0, right = 0;
  for (uint64_t round = 0; round < 6000; ++round) {
    std::string text(kCentred);
    if (round % 2 == 0) text = random_kernel(rng() % 100).kernel.print();
    for (uint64_t left = 1 + rng() % 3; left > 0; --left) {
      static constexpr std::string_view kPieces[] = {
          "b0", "b9", "i1", "i7",   "u0",     "0x1", "s0", "f64", "bool", " + ", "*", "(",
          ")",  "[",  "]",  "for ", "reduce", "%0",  "\n", "  ",  ", ",   "'",   "#", ""};
      const std::string_view piece = kPieces[rng() % std::size(kPieces)];
      text.replace(rng() % text.size(), rng() % 4, piece);
    }
    try {
      const Kernel k = parse_kernel(text);
      const std::string printed = k.print();
      ASSERT_EQ(parse_kernel(printed).print(), printed);
      ++read;
      right += verify(k).empty() ? 1 : 0;
    } catch (const Error& e) {
      ASSERT_EQ(e.kind(), ErrorKind::value) << e.what() << text;
    }
  }
  EXPECT_GT(right, 100);
  EXPECT_GT(read, right);
}

}  // namespace
}  // namespace lathe::jit
