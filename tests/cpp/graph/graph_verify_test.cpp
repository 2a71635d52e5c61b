// Each rule of the verifier, broken once.
#include <absl/strings/str_cat.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "graph/ir/arguments.h"
#include "graph/ir/text.h"
#include "graph/ir/verify.h"

namespace lathe::ir {
namespace {

void refused(const Graph& g, std::string_view says) {
  try {
    verify(g);
    ADD_FAILURE() << "accepted:\n" << print(g);
  } catch (const ValueError& e) {
    EXPECT_NE(std::string(e.what()).find(says), std::string::npos) << e.what();
  }
}
void refused(std::string_view text, std::string_view says) { refused(parse(text), says); }

TEST(GraphVerify, Types) {
  refused("graph f(%x: f32[2, 3]) { %y: f32[2, 4] = tanh(%x) return %y }", "result 0 has type");
  refused("graph f(%x: f32[2, 3]) { %y: f64[2, 3] = tanh(%x) return %y }", "result 0 has type");
  refused("graph f(%x: f32[2], %y: f32[3]) { %z: f32[2] = add(%x, %y) return %z }", "add");
  refused("graph f(%x: f32[s0], %y: f32[s1]) { %z: f32[s0] = add(%x, %y) return %z }", "broadcast");
  EXPECT_NO_THROW(verify(parse(R"(graph f(%x: f32[s0], %y: f32[s1]) {
      size s0 = 4  size s1 = 4  check s0 == s1
      %z: f32[s0] = add(%x, %y) return %z })")));
}

// Equal, but not by their normal form: those of a rewrite are compared by value, others are not.
TEST(GraphVerify, SizesThatARewriteReachedAnotherWay) {
  auto graph_with = [](std::string_view size) {
    return parse(absl::StrCat(R"(graph f(%x: f32[s0], %y: f32[s1], %z: f32[s2]) {
      size s0 = 4  size s1 = 5  size s2 = 6
      %r: f32[)",
                              size, R"(] = full([max(s0, max(s1, s2))], 0, dtype=f32, device=@cpu)
      return %r })"));
  };
  EXPECT_NO_THROW(verify_rewritten(graph_with("max(s0, max(s1, s2))")));
  EXPECT_NO_THROW(verify_rewritten(graph_with("max(max(s0, s1), s2)")));
  refused(graph_with("max(max(s0, s1), s2)"), "result 0 has type");
  for (std::string_view other : {"max(s1, s2)", "max(max(s0, 2*s1 - 5), s2)", "6"})
    EXPECT_THROW(verify_rewritten(graph_with(other)), ValueError) << other;
  // A number is a size like others: here the facts leave 2 alone.
  EXPECT_NO_THROW(verify_rewritten(parse(R"(graph f(%x: f32[s0, s1]) {
      size s0 = 2  size s1 = 2  assume 2 >= s0  check 2 <= min(s0, s1)
      %r: f32[2] = full([s0], 0, dtype=f32, device=@cpu)
      return %r })")));
}

TEST(GraphVerify, SizesOfOthersThatAreNotProvenAreChecked) {
  Graph g = parse(R"(graph f(%x: f32[s0], %y: f32[s1], %z: f32[s2]) {
      size s0 = 4  size s1 = 5  size s2 = 6
      %r: f32[max(max(s0, s1), s2)] = full([max(s0, max(s1, s2))], 0, dtype=f32, device=@cpu)
      return %r })");
  verify_loaded(g);
  ASSERT_EQ(g.checks().size(), 1U);
  EXPECT_EQ(g.checks()[0].relation, Relation::eq);
  Graph wrong = parse(R"(graph f(%x: f32[s0], %y: f32[s1]) {
      size s0 = 4  size s1 = 5
      %r: f32[s1] = full([max(s0, s1)], 0, dtype=f32, device=@cpu)
      return %r })");
  EXPECT_THROW(verify_loaded(wrong), ValueError);
}

TEST(GraphVerify, UseBeforeDefinition) {
  Graph g = parse("graph f(%x: f32[2]) { %y = tanh(%x) %z = exp(%y) return %z }");
  Node* exp = g.body().last();
  g.move_before(exp, g.body().first());
  refused(g, "not made before it is used");
}

TEST(GraphVerify, ValuesOfABlockStayInIt) {
  Graph g = parse(R"(graph f(%x: f32[2], %c: bool[]) {
    %y = if %c { %a = tanh(%x) yield %a } else { yield %x }
    %z = exp(%y)
    return %z })");
  Node* branch = g.body().first();
  g.set_input(branch->next(), 0, branch->block(0).first()->out(0));
  refused(g, "not made before it is used");
}

TEST(GraphVerify, GroupsSeeOnlyTheirInputs) {
  Graph g = parse(R"(graph f(%x: f32[2], %y: f32[2]) {
    %z = group 'g' (%a = %x) { %b = tanh(%a) yield %b }
    return %z })");
  EXPECT_NO_THROW(verify(g));
  g.set_input(g.body().first()->block(0).first(), 0, g.inputs()[1]);
  refused(g, "not made before it is used");
}

TEST(GraphVerify, Structures) {
  refused("graph f(%x: f32[2]) { %y: f32[2] = if %x { yield %x } else { yield %x } return %y }",
          "a condition is");
  refused(R"(graph f(%x: f32[2], %w: f32[3], %c: bool[]) {
      %y: f32[2] = if %c { yield %x } else { yield %w } return %y })",
          "a value yielded has type");
  refused(R"(graph f(%x: f32[2]) {
      %y: f32[2] = for %i in range(0, 3, 1) (%h: f32[2] = %x) { %w: f32[4] = constant [1.0, 1.0, 1.0, 1.0] yield %w }
      return %y })",
          "a value carried round has type");
  EXPECT_NO_THROW(verify(parse(R"(graph f(%x: f32[s0], %w: f32[s1], %c: bool[]) {
      %y: f32[s2] = if %c { yield %x } else { yield %w } return %y })")));
}

TEST(GraphVerify, Symbols) {
  refused("graph f(%x: f32[2]) { %y: f32[2] = expand(%x, [s0]) return %y }", "s0 is not known yet");
  refused("graph f(%x: f32[s0 + 1]) { return %x }", "nothing says what s0 is");
  Graph g = parse("graph f(%x: f32[s0]) { return %x }");
  g.symbols().clear();
  refused(g, "not declared");
}

TEST(GraphVerify, Calls) {
  refused("graph f(%x: f32[2]) { %y: f32[2] = call @g(%x) return %y }", "no function 'g'");
  const char* two =
      "graph f(%x: f32[2]) { %y: f64[2] = call @g(%x) return %y }\n"
      "graph g(%x: f32[s0]) { return %x }";
  refused(two, "the function has");
}

TEST(GraphVerify, ContradictoryHintsAreRefused) {
  refused("graph f(%x: f32[s0]) { size s0 = 5 assume s0 == 1 return %x }", "contradict");
}

TEST(GraphEdit, ReplaceEraseAndCopy) {
  Graph g = parse("graph f(%x: f32[2]) { %y = tanh(%x) %z = add(%y, %y) return %z }");
  Node* tanh = g.body().first();
  EXPECT_EQ(tanh->out(0)->uses().size(), 2u);
  g.replace(tanh->out(0), g.inputs()[0]);
  EXPECT_EQ(g.inputs()[0]->uses().size(), 3u);
  g.erase(tanh);
  verify(g);
  EXPECT_EQ(g.node_count(), 1u);
  EXPECT_THROW(g.erase(g.body().first()), InternalError);
  Graph copy = g.clone();
  EXPECT_EQ(print(copy), print(g));
}

TEST(GraphEdit, EffectsComeFromTheRows) {
  Graph g = parse(R"(graph f(%x: f32[2], %i: i64[2], %c: bool[]) {
    %a = tanh(%x)
    %b = rand([2])
    %d = floor_divide(%i, %i)
    %e = floor_divide(%x, %x)
    %f = gather(%x, 0, %i)
    %g = if %c { %r = rand([2]) yield %r } else { yield %x }
    return %a })");
  std::vector<Effects> got;
  for (Node* n : g.body().nodes()) got.push_back(effects(*n, g));
  EXPECT_EQ(got, (std::vector<Effects>{Effects::pure, Effects::ordered, Effects::fails,
                                       Effects::pure, Effects::fails, Effects::ordered}));
}

}  // namespace
}  // namespace lathe::ir
