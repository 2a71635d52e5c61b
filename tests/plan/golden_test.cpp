// Each file of tests/plan is named after a pass over plans and holds cases: a graph, "---", its
// plan without the pass, "---", its plan with it; "====" between cases. Lines that start with '#'
// say what a case is about; "# after: NAME" says which other pass runs before, where it needs one.
//
// Beside the text, the bits: both plans give what the graph gives node by node.
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <absl/strings/str_split.h>
#include <absl/strings/strip.h>
#include <gtest/gtest.h>

#include <set>

#include "core/base/flags.h"
#include "graph/ir/text.h"
#include "graph/ir/verify.h"
#include "graph/trace/interpret.h"
#include "jit/plan/plan.h"
#include "kernels/executor.h"
#include "tests/ir/graph_files.h"

namespace lathe::jit {
namespace {

using Names = std::vector<std::string_view>;

std::string all_but(const Names& passes) {
  Names names = plan_rewrite_names();
  for (std::string_view pass : passes) std::erase(names, pass);
  return absl::StrJoin(names, ",");
}

Names runs_after(std::string_view text) {
  Names out;
  for (std::string_view line : absl::StrSplit(text, '\n'))
    if (absl::ConsumePrefix(&line, "# after: ")) out.push_back(line);
  return out;
}

/// What a plan says and what it gives.
struct Planned {
  std::string text;
  std::string bytes;
  int changes = 0;
};

Planned planned(const ir::Graph& graph, const Names& passes, std::string_view pass) {
  const FlagScope off(Flag::rewrites_off, all_but(passes));
  const Program program(graph.clone());
  Planned out;
  out.text = program.instructions();
  out.bytes = test::bytes_of(program.run(test::inputs_for(graph)));
  for (const auto& [name, count] : program.changes())
    if (name == pass) out.changes = count;
  return out;
}

class PlanGolden : public testing::TestWithParam<std::string_view> {
 protected:
  static void SetUpTestSuite() { install_executor(); }
};

TEST_P(PlanGolden, File) {
  const std::string file = test::read_graphs("plan", GetParam());
  ASSERT_FALSE(file.empty()) << "tests/plan/" << GetParam() << ".txt is missing";
  for (std::string_view text : absl::StrSplit(file, "====\n")) {
    const std::vector<std::string_view> parts = absl::StrSplit(text, "---\n");
    ASSERT_EQ(parts.size(), 3u) << text;
    const ir::Graph graph = ir::parse(test::without_comments(parts[0]));
    ir::verify(graph);
    const std::string want = test::bytes_of(ir::interpret(graph, test::inputs_for(graph)));
    Names passes = runs_after(parts[0]);
    const Planned without = planned(graph, passes, GetParam());
    passes.push_back(GetParam());
    const Planned with = planned(graph, passes, GetParam());
    EXPECT_EQ(without.text, test::without_comments(parts[1])) << parts[0];
    EXPECT_EQ(with.text, test::without_comments(parts[2])) << parts[0];
    EXPECT_EQ(without.changes, 0);
    EXPECT_GT(with.changes, 0);
    EXPECT_EQ(without.bytes, want);
    EXPECT_EQ(with.bytes, want);
  }
}

INSTANTIATE_TEST_SUITE_P(Passes, PlanGolden, testing::ValuesIn(plan_rewrite_names()),
                         [](const auto& info) { return std::string(info.param); });

TEST(PlanPasses, TheLimitBisects) {
  install_executor();
  const ir::Graph graph = ir::parse(R"(graph f(%x: f32[8, 16], %w: f32[16, 16]) -> (f32[16, 8]) {
  %a: f32[8, 16] = mm(%x, %w)
  %b: f32[8, 16] = relu(%a)
  %m: f32[8, 1] = amax(%b, dim=[1], keepdim=True)
  %c: f32[8, 16] = sub(%b, %m)
  %t: f32[16, 8] = permute(%c, [1, 0])
  %y: f32[16, 8] = exp(%t)
  return %y
})");
  const std::string want = test::bytes_of(ir::interpret(graph, test::inputs_for(graph)));
  std::set<std::string> texts;
  for (int limit = 0; limit < 12; ++limit) {
    const FlagScope scope(Flag::rewrite_limit, absl::StrCat(limit));
    const Program program(graph.clone());
    texts.insert(program.instructions());
    EXPECT_EQ(test::bytes_of(program.run(test::inputs_for(graph))), want) << limit;
  }
  EXPECT_GT(texts.size(), 4u);
}

TEST(PlanPasses, AWrongPlanIsFound) {
  std::vector<Step> steps(2);
  const ir::Graph graph = ir::parse("graph f(%x: f32[2]) { %a = exp(%x) return %a }");
  for (Step& s : steps) s.node = graph.body().first();
  steps[0].in = {0}, steps[0].out = {1}, steps[0].shifts = {Int(0)};
  steps[1].in = {1}, steps[1].out = {2}, steps[1].shifts = {Int(0)};
  EXPECT_EQ(verify_plan(steps, {0}, {2}, {}), "");
  EXPECT_EQ(verify_plan(steps, {0}, {3}, {}), "the result b3 is not there");
  EXPECT_EQ(verify_plan(steps, {}, {2}, {}), "exp reads b0, which is not there");
  steps[0].frees = {1};
  EXPECT_EQ(verify_plan(steps, {0}, {2}, {}), "exp reads b1, which is not there");
  steps[0].frees = {7};
  EXPECT_EQ(verify_plan(steps, {0}, {2}, {}), "exp frees b7, which is not there");
  steps[0].frees = {}, steps[1].shifts = {};
  EXPECT_EQ(verify_plan(steps, {0}, {2}, {}), "exp has not a shift for each operand");
  steps[1].shifts = {Int(0)}, steps[0].replaces = {0}, steps[1].replaces = {Step::kGivenBack};
  EXPECT_EQ(verify_plan(steps, {0}, {2}, {0}), "");
  steps[1].in = {0};
  EXPECT_EQ(verify_plan(steps, {0}, {2}, {0}), "exp reads b0, which is replaced");
  steps[1].in = {1}, steps[1].replaces = {};
  EXPECT_EQ(verify_plan(steps, {0}, {2}, {0}), "exp stands behind a step that replaces an input");
}

}  // namespace
}  // namespace lathe::jit
