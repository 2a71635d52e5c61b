// The PTX of thread programs: what stands in it, and that there is some of every kernel.
//
//   LATHE_PTX=FOLDER      SlowPtxOfKernels writes a file for each kernel there, which ptxas then
//                         checks (tests/prove/parts/kernels/ptx.py)
//   LATHE_PTX_KERNELS=FILE   more kernels for it: texts, one behind the other
//   LATHE_PTX_COUNT=COUNT    so many random kernels (50 if it is not set)
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <absl/strings/str_split.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "jit/kernel/codegen.h"
#include "jit/kernel_ir/parse.h"
#include "jit/simt/lower.h"
#include "tests/cpp/jit/random_kernel.h"
#include "tests/cpp/jit/suite_kernels.h"

namespace lathe::jit::simt {
namespace {

using lathe::testing::codegen;

std::string ptx(const Kernel& kernel, const Shape& shape = {}) {
  const Program program = threads_of(kernel, shape);
  EXPECT_EQ(verify(program), "") << program.print();
  const Result<std::string> text = codegen()->ptx(with_lowered_functions(program));
  EXPECT_EQ(text.error, "") << kernel.print();
  // A register in memory: a place that the thread computes in it.
  EXPECT_EQ(text.value.find(".local"), std::string::npos) << text.value;
  return text.value;
}

void expect_all(const std::string& text, std::initializer_list<std::string_view> parts) {
  for (std::string_view part : parts) EXPECT_NE(text.find(part), std::string::npos) << part << text;
}
void expect_none(const std::string& text, std::initializer_list<std::string_view> parts) {
  for (std::string_view part : parts) EXPECT_EQ(text.find(part), std::string::npos) << part << text;
}

Kernel elements(const BodyFn& body, const std::vector<DType>& types) {
  return kernel_of_elements(build(body, types), Int(100), std::vector<Int>(types.size(), Int(1)));
}

TEST(SimtPtx, Elements) {
  LATHE_NEEDS_LLVM();
  const std::vector<DType> types{DType::f32, DType::f32};
  const auto body = [](absl::Span<const Expr> in) {
    return Exprs{sqrt(in[0] * in[1] + in[0]) / in[1], fma(in[0], in[1], in[0])};
  };
  const std::string text = ptx(elements(body, types), {.threads = 64});
  expect_all(text, {".target sm_80", ".entry lathe_threads_0(", ".maxntid 64", "mul.rn.f32",
                    "add.rn.f32", "sqrt.rn.f32", "div.rn.f32", "fma.rn.f32", "ld.global.f32",
                    "st.global.f32", "%nctaid.x"});
  // Nothing that is contracted, approximated or flushed; nothing that blocks share.
  expect_none(text, {"mul.f32", "add.f32", "approx", ".ftz", "bar.sync", "shfl", ".shared"});
}

/// Of a zero of each sign min.f32 gives -0, and x < y ? x : y gives y.
TEST(SimtPtx, ChoicesAreNoMinimumWhereZerosMeet) {
  LATHE_NEEDS_LLVM();
  const auto chosen = [](Expr x, Expr y) {
    return Exprs{pmin(x, y), pmax(x, y), select(lt(x, y), x, y), select(lt(y, x), x, y)};
  };
  const auto with = [&](double limit) {
    return ptx(elements(
        [&](absl::Span<const Expr> in) { return chosen(in[0], constant(DType::f32, limit)); },
        {DType::f32}));
  };
  expect_none(with(0), {"min.f32", "max.f32", "min.NaN", "max.NaN"});
  expect_none(with(-0.0), {"min.f32", "max.f32", "min.NaN", "max.NaN"});
  expect_none(ptx(elements([&](absl::Span<const Expr> in) { return chosen(in[0], in[1]); },
                           {DType::f32, DType::f32})),
              {"min.f32", "max.f32", "min.NaN", "max.NaN"});
}

TEST(SimtPtx, ChecksAndRemainders) {
  LATHE_NEEDS_LLVM();
  const std::vector<DType> types{DType::f32, DType::f64};
  const auto body = [](absl::Span<const Expr> in) {
    const Expr whole = check(lt(in[0], constant(DType::f32, 1)), in[0], 7);
    return Exprs{fmod(whole, in[0]), fmod(in[1], constant(DType::f64, 3))};
  };
  expect_all(ptx(elements(body, types)),
             {"atom.global.min.u64", ".func", "lathe_fmod32", "lathe_fmod64", "rem.u64"});
}

constexpr std::string_view kRows = R"(kernel rows(b0: f64) -> (b1: f64, b2: f64)
  local b3: f64[1]
  parallel i0 < s0
  axis i1 < s1
  b3[0] = reduce i1 (b0[i0*(s1) + i1]) f64 from 0x0
    (%0:f64, %1:i64) -> f64
    return %0
    (%0:f64, %1:f64) -> f64
    %2:f64 = add(%0, %1)
    return %2
    (%0:f64, %1:i64) -> f64
    return %0
  for i1
    b1[i0*(s1) + i1] = compute (b3[0], b0[i0*(s1) + i1])
      (%0:f64, %1:f64) -> f64
      %2:f64 = sub(%1, %0)
      return %2
  b2[i1] = reduce rows i1 (b0[i0*(s1) + i1]) f64 from 0x0
    (%0:f64, %1:i64) -> f64
    return %0
    (%0:f64, %1:f64) -> f64
    %2:f64 = add(%0, %1)
    return %2
    (%0:f64, %1:i64) -> f64
    return %0
)";

TEST(SimtPtx, Rows) {
  LATHE_NEEDS_LLVM();
  const std::string text = ptx(parse_kernel(kRows));
  expect_all(text, {".entry lathe_threads_0(", ".entry lathe_threads_1(", "bar.sync", "add.rn.f64",
                    ".extern .shared .align 16 .b8 lathe_shared[]", "ld.shared.f64",
                    "shfl.sync.down.b32", "4127"});  // 0x101f: lanes of a half
  const std::string alone = ptx(parse_kernel(kRows), {.rows_in_scratch = true});
  expect_all(alone, {"bar.sync", "lathe_shared"});  // the counter of blocks
}

TEST(SimtPtx, WhatThereIsNoTextOf) {
  LATHE_NEEDS_LLVM();
  const auto body = [](absl::Span<const Expr> in) { return Exprs{exp(in[0])}; };
  Program program = threads_of(elements(body, {DType::f32}));
  EXPECT_EQ(codegen()->ptx(program).error, "the body is not lowered");
  program.numbers.resize(600, Int(3));
  EXPECT_EQ(codegen()->ptx(program).error, "605 arguments; at most 512");
}

uint64_t number_from(const char* variable, uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

/// Kernels of the suites: of the graphs of the tests, at random, and those of LATHE_PTX_KERNELS.
std::vector<std::string> all_kernels() {
  std::vector<std::string> all = kernels_of_graphs();
  for (uint64_t seed = 0; seed < number_from("LATHE_PTX_COUNT", 50); ++seed)
    all.push_back(random_kernel(seed).kernel.print());
  if (const char* more = std::getenv("LATHE_PTX_KERNELS")) {
    std::ifstream in(more);
    EXPECT_TRUE(in) << "cannot read " << more;
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    // Some have a name behind that word, and some have none.
    for (std::string_view one : absl::StrSplit(text, "\nkernel", absl::SkipEmpty()))
      all.push_back(absl::StrCat(one.starts_with("kernel") ? "" : "kernel", one,
                                 one.ends_with("\n") ? "" : "\n"));
  }
  return all;
}

TEST(SimtPtx, SlowPtxOfKernels) {
  LATHE_NEEDS_LLVM();
  const char* folder = std::getenv("LATHE_PTX");
  size_t number = 0;
  for (const std::string& text : all_kernels()) {
    const Kernel kernel = parse_kernel(text);
    ASSERT_EQ(refuses(kernel), "") << text;
    const std::string made = ptx(kernel, {.rows_in_scratch = number % 4 == 3});
    ASSERT_NO_FATAL_FAILURE(expect_all(made, {".entry lathe_threads_0("}));
    if (folder != nullptr) {
      std::ofstream out(std::filesystem::path(folder) / absl::StrFormat("k%05d.ptx", number));
      out << made;
      ASSERT_TRUE(out.flush()) << folder;
    }
    ++number;
  }
  EXPECT_GT(number, 100u);
  printf("texts of %zu kernels\n", number);
}

}  // namespace
}  // namespace lathe::jit::simt
