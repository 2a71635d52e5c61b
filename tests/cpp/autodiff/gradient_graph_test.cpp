// Gradients that a text declares, and of any value of a graph.
#include "autodiff/gradient_graph.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "graph/ir/query.h"
#include "graph/ir/text.h"
#include "graph/ir/verify.h"
#include "graph/pipeline.h"
#include "kernels/executor.h"

namespace lathe::ir {
namespace {

void ignore(std::string_view, const Graph&) {}

class GradientGraph : public testing::Test {
 protected:
  static void SetUpTestSuite() { install_executor(); }
};

std::string without_lines(std::string_view text) {
  Graph g = parse(text);
  return print(g, {.sites = false});
}

constexpr const char* kModule =
    R"(graph f(%x: f32[s0, 3], %w: f32[3, 2]) -> (f32[s0, 2], f32[s0, 2]) {
  size s0 = 5
  %0: f32[s0, 2] = mm(%x, %w)
  %1: f32[s0, 2] = tanh(%0)
  return %0, %1
}
)";

TEST_F(GradientGraph, DeclarationsArePrintedAndRead) {
  const std::string text = std::string(kModule) +
                           "\ngradient @g of @f wrt 1\n"
                           "\ngradient @h of @f wrt 0, 1 from 1 keeping 0, 1 seeded -> "
                           "(f32[s0, 3], f32[3, 2], f32[s0, 2], f32[s0, 2])\n";
  Graph g = parse(text);
  EXPECT_EQ(print(g), text);
  EXPECT_EQ(print(g.clone()), text);
  EXPECT_THROW(verify(g), ValueError) << "declared, not written";
  EXPECT_EQ(derive_gradients(g, ignore), 2);
  EXPECT_NO_THROW(verify(g));
  ASSERT_NE(g.function("h"), nullptr);
  EXPECT_EQ(g.function("h")->inputs().size(), 3U);
  EXPECT_EQ(g.function("h")->outputs().size(), 4U);
  const std::string written = print(g);
  EXPECT_EQ(print(parse(written)), written);
}

TEST_F(GradientGraph, SeedsAndOnes) {
  Graph g = parse(std::string(kModule) +
                  "gradient @ones of @f wrt 1\n"
                  "gradient @seeded of @f wrt 1 seeded\n");
  derive_gradients(g, ignore);
  for (const auto& f : g.functions()) optimise(*f);
  EXPECT_EQ(print(*g.function("seeded"), {.sites = false}),
            without_lines(R"(graph seeded(%x: f32[s0, 3], %w: f32[3, 2], %dy: f32[s0, 2]) {
              size s0 = 5
              %0: f32[3, s0] = permute(%x, [1, 0])
              %1 = mm(%0, %dy)
              return %1
            })"));
  const std::string ones = print(*g.function("ones"), {.sites = false});
  EXPECT_NE(ones.find("full([s0, 2], 1"), std::string::npos) << ones;
}

TEST_F(GradientGraph, ADerivativeOfADerivative) {
  Graph g = parse(R"(graph f(%x: f32[4]) { %0 = tanh(%x)  return %0 }
    gradient @first of @f wrt 0
    gradient @second of @first wrt 0)");
  EXPECT_EQ(derive_gradients(g, ignore), 2);
  EXPECT_NO_THROW(verify(g));
}

TEST_F(GradientGraph, ThroughCallsAndBlocks) {
  Graph g = parse(R"(graph f(%x: f32[4], %c: bool[]) {
      %h: f32[4] = call @half(%x)
      %y: f32[4] = if %c { %0 = tanh(%h) yield %0 } else { yield %h }
      return %y
    }
    graph half(%x: f32[4]) { %0 = mul(%x, 0.5)  return %0 }
    gradient @g of @f wrt 0 -> (f32[4]))");
  EXPECT_EQ(derive_gradients(g, ignore), 1);
  EXPECT_NO_THROW(verify(g));
}

TEST_F(GradientGraph, WhatIsRefused) {
  auto derived = [](std::string_view declaration) {
    Graph g = parse(std::string(kModule) + std::string(declaration));
    derive_gradients(g, ignore);
  };
  EXPECT_THROW(derived("gradient @g of @f wrt 1 -> (f32[s0, 2])"), TypeError);
  EXPECT_THROW(derived("gradient @g of @f wrt 1 -> (f32[3, 2], f32[3, 2])"), TypeError);
  EXPECT_THROW(derived("gradient @g of @nothing wrt 1"), NameError);
  EXPECT_THROW(derived("gradient @g of @f wrt 2"), IndexError);
  EXPECT_THROW(derived("gradient @g of @f wrt 0 from 2"), IndexError);
  EXPECT_THROW(derived("gradient @f of @f wrt 0"), NameError) << "the name is taken";
  EXPECT_THROW(derived("gradient @g of @f wrt"), ValueError);
  EXPECT_THROW(derived("gradient @g wrt 0"), ValueError);
  EXPECT_THROW(derived("gradient @g of @f wrt 99999999999"), ValueError);
  Graph loop = parse(R"(graph f(%x: f32[4]) { %0: f32[4] = call @f(%x)  return %0 }
    gradient @g of @f wrt 0)");
  EXPECT_THROW(derive_gradients(loop, ignore), AutogradError);
  Graph integers = parse("graph f(%x: i64[4]) { return %x } gradient @g of @f wrt 0");
  EXPECT_THROW(derive_gradients(integers, ignore), AutogradError);
}

TEST_F(GradientGraph, StagesAreSeen) {
  Graph g = parse(std::string(kModule) + "gradient @g of @f wrt 1");
  std::vector<std::string> stages;
  derive_gradients(g, [&](std::string_view what, const Graph& at) {
    stages.push_back(std::string(what) + " " + std::to_string(at.node_count()));
  });
  EXPECT_EQ(stages, (std::vector<std::string>{"copied 2", "adjoints 5"}));
}

TEST_F(GradientGraph, Queries) {
  Graph g = parse(R"(graph f(%x: f32[2], %z: f32[2]) {
    %w: f32[2] = constant [1.0, 2.0]
    %v: f32[2] = constant [3.0, 4.0]
    %a = mul(%x, %w)
    %b = add(%z, %v)
    %c: f32[2] = tanh(%a)
    return %c, %b
  })");
  auto names = [&](const Values& values) {
    std::vector<std::string> out;
    for (const Value* v : values) out.push_back(v->name());
    return out;
  };
  EXPECT_EQ(names(variables_of(g, named_value(g, "c"))), (std::vector<std::string>{"x", "w"}));
  EXPECT_EQ(names(variables_of(g, named_value(g, "%b"))), (std::vector<std::string>{"z", "v"}));
  EXPECT_EQ(nodes_for(g, named_value(g, "c")).size(), 3U);
  EXPECT_THROW(named_value(g, "d"), NameError);

  const Value* only[] = {named_value(g, "b")};
  Graph part = with_results(g, only);
  optimise(part);
  EXPECT_EQ(part.outputs().size(), 1U);
  EXPECT_EQ(print(part).find("tanh"), std::string::npos);

  const std::string names_of[] = {"w"};
  Graph open = with_inputs(g, names_of);
  verify(open);
  EXPECT_EQ(open.inputs().size(), 3U);
  EXPECT_EQ(open.inputs()[2]->name(), "w");
  const std::string computed[] = {"a"};
  EXPECT_THROW(with_inputs(g, computed), NameError) << "no constant";
}

TEST_F(GradientGraph, OneFunctionOfAModule) {
  Graph g = parse(R"(graph f(%x: f32[4]) { %0: f32[4] = call @a(%x)  return %0 }
    graph a(%x: f32[4]) { %0: f32[4] = call @b(%x)  return %0 }
    graph b(%x: f32[4]) { return %x }
    graph c(%x: f32[4]) { return %x })");
  Graph a = module_of(g, "a");
  verify(a);
  EXPECT_EQ(a.name(), "a");
  ASSERT_EQ(a.functions().size(), 1U);
  EXPECT_EQ(a.functions()[0]->name(), "b");
  EXPECT_THROW(module_of(g, "d"), NameError);
}

}  // namespace
}  // namespace lathe::ir
