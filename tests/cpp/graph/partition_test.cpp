#include "graph/passes/partition.h"

#include <gtest/gtest.h>

#include "graph/ir/text.h"
#include "graph/ir/verify.h"

namespace lathe::ir {
namespace {

struct Nothing final : HostFunction {
  using HostFunction::HostFunction;
  Outputs run(const Tensors&, const Types&) const override { return {}; }
};

/// Takes neg and exp. The parts, and what is left, as text.
std::vector<std::string> parted(Graph& g, std::vector<PartitionRow>& rows) {
  std::vector<std::string> texts;
  rows = partition(
      g,
      [](const Node& n) {
        const std::string& op = n.op()->name();
        return std::string(op == "neg" || op == "exp" ? "" : "no");
      },
      [&](Graph part) {
        verify(part);
        texts.push_back(print(part));
        std::vector<HostFunction::Declared> results;
        for (const Value* v : part.outputs())
          results.push_back({v->tensor().dtype, static_cast<int>(v->tensor().shape.size()), {}});
        return std::make_shared<Nothing>("part", std::move(results));
      });
  verify(g);
  texts.push_back(print(g));
  return texts;
}

int calls_in(const std::string& text) {
  int count = 0;
  for (size_t at = 0; (at = text.find("callback(<part>", at)) != std::string::npos; ++at) ++count;
  return count;
}

TEST(Partition, NodesHopOverWhatNeedsNoneOfThem) {
  Graph g = parse(R"(graph f(%x: f32[4], %y: f32[4]) {
    %0 = neg(%x)
    %1 = tanh(%y)
    %2 = exp(%0)
    %3 = tanh(%2)
    %4 = neg(%3)
    return %4, %1, %0
  })");
  std::vector<PartitionRow> rows;
  const std::vector<std::string> texts = parted(g, rows);
  ASSERT_EQ(texts.size(), 3u);
  EXPECT_NE(texts[0].find("f_part0(%x: f32[4]) -> (f32[4], f32[4])"), std::string::npos)
      << texts[0];
  EXPECT_NE(texts[1].find("f_part1(%input_0: f32[4]) -> (f32[4])"), std::string::npos) << texts[1];
  EXPECT_EQ(calls_in(texts[2]), 2);
  std::vector<int> parts;
  for (const PartitionRow& r : rows) parts.push_back(r.part);
  EXPECT_EQ(parts, (std::vector<int>{0, -1, 0, -1, 1}));
  EXPECT_EQ(rows[1].why, "no");
}

TEST(Partition, BlocksAreLookedIntoAndEndWhatTheyRead) {
  Graph g = parse(R"(graph f(%x: f32[4], %c: bool[]) {
    %0 = neg(%x)
    %1: f32[4] = if %c { %2 = exp(%0) yield %2 } else { yield %0 }
    %3 = neg(%1)
    return %3
  })");
  std::vector<PartitionRow> rows;
  EXPECT_EQ(calls_in(parted(g, rows).back()), 3);
  EXPECT_EQ(rows[1].op, "if");
  EXPECT_NE(rows[1].why.find("control flow"), std::string::npos);
}

TEST(Partition, WhatHasOpenSizesNumbersOrEffectsStays) {
  Graph g = parse(R"(graph f(%x: f32[s0], %y: f32[4], %n: int) {
    size s0 = 4
    %0 = neg(%x)
    %1 = neg(%y)
    %2 = rand([4])
    return %0, %1, %2
  })");
  std::vector<PartitionRow> rows;
  EXPECT_EQ(calls_in(parted(g, rows).back()), 1);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].why, "its sizes are known only when it runs");
  EXPECT_EQ(rows[1].part, 0);
  EXPECT_EQ(rows[2].why, "it keeps its place among effects");
}

}  // namespace
}  // namespace lathe::ir
