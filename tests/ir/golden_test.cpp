// Each file of tests/ir is named after a pass and holds cases: a graph, "---", what the pass makes
// of it;
// "====" between cases. Lines that start with '#' say what a case is about.
//
// Beside the text, the bits: input and output give the same results on the same data.
#include <absl/strings/match.h>
#include <absl/strings/str_split.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/base/flags.h"
#include "graph/ir/text.h"
#include "graph/ir/verify.h"
#include "graph/pipeline.h"
#include "graph/rewrite/rule.h"
#include "graph/trace/interpret.h"
#include "kernels/executor.h"
#include "tests/ir/graph_files.h"

namespace lathe::ir {
namespace {

using test::inputs_for;
using test::read_graphs;
using test::without_comments;

std::string bytes_of(const Graph& g) {
  try {
    return test::bytes_of(interpret(g, inputs_for(g)));
  } catch (const Error& e) {
    return e.what();
  }
}

class Golden : public testing::TestWithParam<std::string_view> {
 protected:
  static void SetUpTestSuite() { install_executor(); }
};

TEST_P(Golden, File) {
  if (GetParam() == "fold_batch_norm") return;  // approximate: tested by value below
  std::string file = read_graphs("ir", GetParam());
  ASSERT_FALSE(file.empty()) << "tests/ir/" << GetParam() << ".txt is missing";
  for (std::string_view test : absl::StrSplit(file, "====\n")) {
    std::vector<std::string_view> halves = absl::StrSplit(test, "---\n");
    ASSERT_EQ(halves.size(), 2u) << test;
    Graph g = parse(without_comments(halves[0]));
    verify(g);
    bool draws = absl::StrContains(halves[0], "rand(");
    std::string before = draws ? "" : bytes_of(g);
    run_pass(GetParam(), g);
    EXPECT_NO_THROW(verify(g)) << print(g);
    EXPECT_EQ(print(g), without_comments(halves[1])) << halves[0];
    EXPECT_EQ(draws ? "" : bytes_of(g), before) << print(g);
  }
}

INSTANTIATE_TEST_SUITE_P(Passes, Golden, testing::ValuesIn(pass_names()),
                         [](const auto& info) { return std::string(info.param); });

class Pipeline : public testing::Test {
 protected:
  static void SetUpTestSuite() { install_executor(); }
};

constexpr const char* kProgram = R"(graph f(%x: f32[s0, 4], %w: f32[4, 4]) {
  %t = permute(permute(%w, [1, 0]), [1, 0])
  %a = mm(%x, %t)
  %b = mul(1.0, tanh(%a))
  %c = mul(1.0, tanh(%a))
  %d = add(%b, div(%c, 2.0))
  return %d
})";

TEST_F(Pipeline, ReachesAFixedPointAndReports) {
  Graph g = parse(kProgram);
  std::string before = bytes_of(g);
  Report r = optimise(g);
  EXPECT_EQ(bytes_of(g), before);
  EXPECT_EQ(print(g), R"(graph f(%x: f32[s0, 4], %w: f32[4, 4]) -> (f32[s0, 4]) {
  size s0 = 5
  %a: f32[s0, 4] = mm(%x, %w)
  %d: f32[s0, 4] = group 'pointwise' (%a.1: f32[s0, 4] = %a) {
    %b: f32[s0, 4] = tanh(%a.1)
    %0: f32[s0, 4] = mul(%b, 0.5)
    %d.1: f32[s0, 4] = add(%b, %0)
    yield %d.1
  }
  return %d
}
)");
  std::string text = r.print(Detail::verbose);
  EXPECT_NE(text.find("mul_by_one_real"), std::string::npos) << text;
  EXPECT_NE(text.find("(unchanged)"), std::string::npos) << text;
}

TEST_F(Pipeline, RulesAndPassesAreSwitchable) {
  {
    FlagScope off(Flag::rewrites_off, "div_to_mul, merge_common");
    Graph g = parse(kProgram);
    optimise(g);
    std::string text = print(g);
    EXPECT_NE(text.find("div("), std::string::npos) << text;
  }
  FlagScope off(Flag::rewrites_off, "all");
  Graph g = parse(kProgram);
  std::string before = print(g);
  optimise(g);
  EXPECT_EQ(print(g), before);
}

TEST_F(Pipeline, TheLimitBisects) {
  std::string last;
  int different = 0;
  for (int limit = 0; limit < 40; ++limit) {
    FlagScope scope(Flag::rewrite_limit, absl::StrCat(limit));
    Graph g = parse(kProgram);
    std::string before = print(g);
    optimise(g);
    EXPECT_TRUE(limit > 0 || print(g) == before);
    different += print(g) != last;
    last = print(g);
  }
  EXPECT_GT(different, 5);
}

TEST_F(Pipeline, BatchNormGoesIntoTheWeights) {
  std::vector<float> w(2 * 3 * 2 * 2), t{0.5F, -1.0F}, s{2.0F, 0.25F};
  for (size_t i = 0; i < w.size(); ++i) w[i] = static_cast<float>(i % 7) - 3.0F;
  Tensor constants[] = {from_host(w.data(), DType::f32, {2, 3, 2, 2})};
  Graph g = parse(R"(graph f(%x: f32[2, 3, 5, 5]) {
    %w: f32[2, 3, 2, 2] = const#0
    %t: f32[2, 1, 1] = constant [0.5, -1.0]
    %s: f32[2, 1, 1] = constant [2.0, 0.25]
    %c = conv2d(%x, %w)
    %y = mul(sub(%c, %t), %s)
    return %y })",
                  constants);
  Data in;
  std::vector<float> x(2 * 3 * 5 * 5);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 5) - 2.0F;
  in.emplace_back(from_host(x.data(), DType::f32, {2, 3, 5, 5}));
  Tensor before = interpret(g, in)[0].tensor();
  EXPECT_EQ(run_pass("fold_batch_norm", g), 1);
  run_pass("eliminate_dead", g);
  verify(g);
  Tensor after = interpret(g, in)[0].tensor();
  // Small integers and powers of two: here both orders are exact.
  EXPECT_EQ(
      std::memcmp(before.data(), after.data(), static_cast<size_t>(before.numel().value()) * 4), 0);
}

TEST(Rules, AllCanBeReadAndAreNamedOnce) {
  std::set<std::string_view> names;
  for (auto rules : {algebra_rules(), cast_rules(), view_rules(), batch_norm_rules()}) {
    EXPECT_NO_THROW(RuleSet{rules});
    for (const Rule& r : rules) EXPECT_TRUE(names.insert(r.name).second) << r.name;
  }
}

TEST(Rules, MistakesInTextsAreRefused) {
  Rule unknown[] = {{"a", Exactness::exact, "no_such(x)", "x"}};
  EXPECT_THROW(RuleSet{unknown}, NameError);
  Rule bare[] = {{"b", Exactness::exact, "x", "x"}};
  EXPECT_THROW(RuleSet{bare}, ValueError);
  Rule cut[] = {{"c", Exactness::exact, "neg(neg(x)", "x"}};
  EXPECT_THROW(RuleSet{cut}, ValueError);
}

}  // namespace
}  // namespace lathe::ir
