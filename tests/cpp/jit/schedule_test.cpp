// Schedules of kernels: which are legal, what is chosen, and what code they ask for.
#include "jit/kernel_ir/scheduling.h"

#include <absl/strings/str_cat.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/sizes/symexpr.h"
#include "jit/kernel_ir/parse.h"

namespace lathe::jit {
namespace {

/// y = x[i1, i0] * 2 + z, of so many rows and columns.
std::string of_elements_text(int rows, int columns, std::string_view schedule = "") {
  return absl::StrCat("kernel e(b0: f32, b1: f32) -> (b2: f32)\n  parallel i0 < ", rows,
                      "\n  parallel i1 < ", columns, "\n", schedule, "  b2[i0*(", columns,
                      ") + i1] = compute (b0[i0 + i1*(", rows, ")], b1[i0*(", columns,
                      ") + i1])\n    (%0:f32, %1:f32) -> f32\n    %2:f32 = fma(%0, 2, %1)\n"
                      "    return %2\n");
}

/// The sum of each row, of b0 row by row and of b1 by columns; and of all rows.
constexpr std::string_view kRows = R"(kernel r(b0: f32, b1: f32) -> (b2: f32, b3: f32)
  parallel i0 < 300
  axis i1 < 200
  b2[i0] = reduce i1 (b0[i0*(200) + i1], b1[i0 + i1*(300)]) f32 from 0x0
    (%0:f32, %1:f32, %2:i64) -> f32
    %3:f32 = mul(%0, %1)
    return %3
    (%0:f32, %1:f32) -> f32
    %2:f32 = add(%0, %1)
    return %2
    (%0:f32, %1:i64) -> f32
    return %0
  b3[i1] = reduce rows i1 (b0[i0*(200) + i1]) f32 from 0x0
    (%0:f32, %1:i64) -> f32
    return %0
    (%0:f32, %1:f32) -> f32
    %2:f32 = add(%0, %1)
    return %2
    (%0:f32, %1:i64) -> f32
    return %0
)";

/// The sums of three columns.
constexpr std::string_view kSums = R"(kernel s(b0: f32) -> (b1: f32)
  parallel i0 < 3000
  axis i1 < 3
  b1[i1] = reduce rows i1 (b0[i0*(3) + i1]) f32 from 0x0
    (%0:f32, %1:i64) -> f32
    return %0
    (%0:f32, %1:f32) -> f32
    %2:f32 = add(%0, %1)
    return %2
    (%0:f32, %1:i64) -> f32
    return %0
)";

std::string told(const Schedule& schedule) {
  std::string out;
  for (const ScheduleStep& s : schedule)
    absl::StrAppend(&out, out.empty() ? "" : ", ", to_string(s));
  return out;
}

std::string with(std::string_view text, const Schedule& schedule) {
  Kernel k = parse_kernel(text);
  k.schedule = schedule;
  return verify(k);
}

using Kind = ScheduleKind;

TEST(Schedule, OfElements) {
  const std::string text = of_elements_text(300, 200);
  EXPECT_EQ(with(text, {{Kind::split, 0, 7}, {Kind::split, 1, 64}, {Kind::stage, 0}}), "");
  EXPECT_EQ(with(text, {{Kind::vectorise, -1, 2}, {Kind::parallel, -1, 3}}), "");
  EXPECT_EQ(with(text, {{Kind::split, 2, 7}}), "split i2 by 7: there is no i2");
  EXPECT_EQ(with(text, {{Kind::split, 1, 7}, {Kind::split, 1, 8}}), "split i1 by 8 is said twice");
  EXPECT_EQ(with(text, {{Kind::split, 1, 0}}), "split i1 by 0: it counts at least one");
  EXPECT_EQ(with(text, {{Kind::split, -1, 2}}), "split i-1 by 2: it is about nothing");
  EXPECT_EQ(with(text, {{Kind::stage, 2}}), "stage b2: b2 is no input");
  EXPECT_EQ(with(text, {{Kind::unroll, -1, 4}}), "unroll by 4: there are no rows to take together");
  EXPECT_EQ(with(text, {{Kind::prefetch, 1}}), "prefetch b1: b1 is not read row by row");
  EXPECT_EQ(with(text, {{Kind::vectorise, -1, 12}}),
            "vectorise by 12: a vector has 1, 2, 4 ... or 64 elements");
}

/// A row and a column beside a matrix.
std::string of_rows_text(int rows, int columns) {
  return absl::StrCat("kernel short(b0: f32, b1: f32, b2: f32) -> (b3: f32)\n  parallel i0 < ",
                      rows, "\n  parallel i1 < ", columns, R"(
  b3[i0*()",
                      columns, R"() + i1] = compute (b0[i0*()", columns, R"() + i1], b1[i1], b2[i0])
    (%0:f32, %1:f32, %2:f32) -> f32
    %3:f32 = mul(%0, %1)
    %4:f32 = add(%3, %2)
    return %4
)");
}

TEST(Schedule, OfOneLine) {
  const std::string text = of_rows_text(3000, 3);
  EXPECT_EQ(with(text, {{Kind::flatten}, {Kind::vectorise, -1, 8}}), "");
  EXPECT_EQ(with(text, {{Kind::flatten}, {Kind::split, 0, 7}}), "flatten: i0 is split");
  EXPECT_EQ(with(kRows, {{Kind::flatten}}),
            "flatten: only what is done element by element is one line");
  EXPECT_EQ(with(R"(kernel line(b0: f32) -> (b1: f32)
  parallel i0 < 300
  b1[i0] = compute (b0[i0])
    (%0:f32) -> f32
    %1:f32 = neg(%0)
    return %1
)",
                 {{Kind::flatten}}),
            "flatten: there is one axis");
  EXPECT_EQ(with(text, {{Kind::unroll, -1, 4}}), "unroll by 4: there are no rows to take together");
  EXPECT_EQ(with(kSums, {{Kind::flatten}}), "");
  EXPECT_EQ(with(kSums, {{Kind::flatten}, {Kind::unroll, -1, 4}}),
            "flatten: rows are taken together");
  EXPECT_EQ(told(choose_schedule(parse_kernel(kSums))), "flatten");
  EXPECT_EQ(told(choose_schedule(parse_kernel(text))), "flatten");
  EXPECT_EQ(told(choose_schedule(parse_kernel(of_rows_text(300, 3)))), "");    // few elements
  EXPECT_EQ(told(choose_schedule(parse_kernel(of_rows_text(300, 100)))), "");  // long rows
}

TEST(Schedule, PositionsAreThoseOfTheWholeKernel) {
  constexpr std::string_view kPositions = R"(kernel p(b0: f32) -> (b1: i64)
  parallel i0 < 300
  b1[i0] = compute (b0[i0])
    (%0:f32) -> i64
    %1:i64 = linear()
    return %1
)";
  EXPECT_EQ(with(kPositions, {{Kind::split, 0, 7}}),
            "split i0 by 7: a function asks where its element is");
  EXPECT_EQ(with(kPositions, {{Kind::stage, 0}}), "stage b0: a function asks where its element is");
  EXPECT_EQ(with(kPositions, {{Kind::parallel, -1, 7}}), "");
}

TEST(Schedule, OfRows) {
  EXPECT_EQ(with(kRows, {{Kind::split, 0, 7}, {Kind::stage, 1}, {Kind::prefetch, 0}}), "");
  EXPECT_EQ(with(kRows, {{Kind::unroll, -1, 8}, {Kind::vectorise, -1, 4}}), "");
  EXPECT_EQ(with(kRows, {{Kind::unroll, -1, 3}}),
            "unroll by 3: 1, 2, 4 or 8 rows are taken together");
  EXPECT_EQ(with(kRows, {{Kind::split, 1, 7}}), "split i1 by 7: the positions of i1 are not apart");
  EXPECT_EQ(with(kRows, {{Kind::prefetch, 1}}), "prefetch b1: b1 is not read row by row");
  EXPECT_EQ(with(kRows, {{Kind::parallel, -1, 2}}),
            "parallel by 2: threads take blocks of the rows that are summed");
}

TEST(Schedule, OfPiecesOfALine) {
  Kernel k = parse_kernel(kRows);
  k.body.pop_back();
  k.buffers.pop_back();
  k.outputs = 1;
  k.line = Int(300 * 200);
  const auto why = [&](const ScheduleStep& s) { return illegal(k, s); };
  EXPECT_EQ(why({Kind::split, 0, 7}), "pieces of a line are taken one by one");
  EXPECT_EQ(why({Kind::stage, 0}), "pieces of a line are read where they lie");
  EXPECT_EQ(why({Kind::unroll, -1, 4}), "there are no rows to take together");
  EXPECT_EQ(why({Kind::parallel, -1, 4}), "");
  EXPECT_EQ(told(choose_schedule(k)), "");
}

TEST(Schedule, TheBest) {
  EXPECT_EQ(told(choose_schedule(parse_kernel(of_elements_text(300, 200)))), "stage b0");
  EXPECT_EQ(told(choose_schedule(parse_kernel(of_elements_text(30, 20)))), "");  // few elements
  EXPECT_EQ(told(choose_schedule(parse_kernel(kRows))), "unroll by 4, prefetch b0, stage b1");
}

/// Who calls the code cuts and copies: the code is that of what lies side by side.
TEST(Schedule, Code) {
  const Kernel turned = parse_kernel(of_elements_text(
      300, 200, "  schedule split i0 by 8, stage b0, parallel by 2, vectorise by 4\n"));
  const Kernel code = code_of(turned);
  EXPECT_EQ(told(code.schedule), "vectorise by 4");
  Kernel beside = parse_kernel(of_elements_text(300, 200, "  schedule vectorise by 4\n"));
  auto& operands = std::get<Compute>(beside.body[0].node).operands;
  EXPECT_NE(code.form(), beside.form());
  std::get<Access>(operands[0]).map = std::get<Access>(operands[1]).map;
  EXPECT_EQ(code.form(), beside.form());
}

TEST(Schedule, Text) {
  constexpr std::string_view kSteps =
      "  schedule split i0 by 8, stage b0, parallel by 2, vectorise by 4\n";
  const std::string text = of_elements_text(300, 200, kSteps);
  EXPECT_EQ(parse_kernel(text).print(), text);
  const auto error = [](std::string_view schedule) -> std::string {
    try {
      parse_kernel(of_elements_text(3, 2, schedule));
    } catch (const ValueError& e) {
      return e.parts().problem;
    }
    return "none";
  };
  EXPECT_EQ(error("  schedule split i0\n"), "'by' is wanted here");
  EXPECT_EQ(error("  schedule stage b9\n"), "there is no b9");
  EXPECT_EQ(error("  schedule stage b0, stage b0\n"), "stage b0 is said twice");
  EXPECT_EQ(error("  schedule unroll by x\n"), "a number of positions is wanted here");
  EXPECT_EQ(error("  schedule hurry\n"),
            "a step of a schedule (split, stage, parallel, unroll, vectorise, prefetch) is wanted "
            "here");
}

}  // namespace
}  // namespace lathe::jit
