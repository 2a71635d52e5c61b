// Kernels of the kernel IR: what the verifier refuses, and what their form says.
#include <gtest/gtest.h>

#include "jit/kernel_ir/kernel.h"

namespace lathe::jit {
namespace {

/// mean of each row, then what is left of x.
Kernel centred() {
  Kernel k;
  k.name = "centred";
  k.axes = {{Int(3)}, {Int(40)}};
  k.parallel = 1;
  k.inputs = k.outputs = 1;
  k.buffers = {{DType::f32, Space::argument, 0, "x"},
               {DType::f32, Space::argument, 0, "y"},
               {DType::f32, Space::local, 1, "mean"}};
  const Access x{0, {Int(0), {Int(40), Int(1)}}}, y{1, {Int(0), {Int(40), Int(1)}}}, mean{2, {}};
  const std::vector<DType> f32{DType::f32}, two{DType::f32, DType::f32};
  const std::vector<DType> counted{DType::f32, DType::i64};
  using In = absl::Span<const Expr>;
  ReduceBodies b{f32,
                 {0},
                 build([](In in) { return Exprs{in[0]}; }, counted),
                 build([](In in) { return Exprs{in[0] + in[1]}; }, two),
                 build([](In in) { return Exprs{in[0] / cast(in[1], DType::f32)}; }, counted)};
  k.body.push_back({Reduce{1, b, {x}, {mean}}});
  const Compute left{build([](In in) { return Exprs{in[0] - in[1]}; }, two), {x, mean}, {y}};
  k.body.push_back({For{1, {{left}}}});
  return k;
}

TEST(KernelIr, TheVerifierSaysWhatIsWrong) {
  const auto wrong = [](void (*change)(Kernel&)) {
    Kernel k = centred();
    change(k);
    return verify(k);
  };
  EXPECT_EQ(wrong([](Kernel&) {}), "");
  EXPECT_EQ(wrong([](Kernel& k) { k.body.erase(k.body.begin()); }),
            "b2 is read before it is written");
  EXPECT_EQ(wrong([](Kernel& k) { k.body.pop_back(); }), "nothing writes b1");
  EXPECT_EQ(wrong([](Kernel& k) { std::get<Reduce>(k.body[0].node).axis = 0; }),
            "i0 is entered twice");
  EXPECT_EQ(wrong([](Kernel& k) { std::get<Reduce>(k.body[0].node).axis = 2; }), "i2 is no axis");
  EXPECT_EQ(wrong([](Kernel& k) {
              auto compute = std::get<For>(k.body[1].node).body[0];
              k.body[1] = compute;
            }),
            "b0 is indexed by i1 outside of its loop");
  EXPECT_EQ(wrong([](Kernel& k) { std::get<Reduce>(k.body[0].node).stores[0].buf = 0; }),
            "b0 is an input, and is written");
  EXPECT_EQ(wrong([](Kernel& k) { std::get<Reduce>(k.body[0].node).bodies.unit.clear(); }),
            "the unit does not fit the state");
  EXPECT_EQ(wrong([](Kernel& k) { k.buffers[0].dtype = DType::f64; }),
            "the operands do not fit what is reduced");
  EXPECT_EQ(wrong([](Kernel& k) { k.parallel = 3; }), "there are more parallel axes than axes");
  EXPECT_EQ(wrong([](Kernel& k) { k.outputs = 2; }),
            "b2 is in the wrong place: arguments come first");
}

TEST(KernelIr, LocalsAreOfARow) {
  const auto wrong = [](void (*change)(Kernel&)) {
    Kernel k = centred();
    change(k);
    return verify(k);
  };
  EXPECT_EQ(wrong([](Kernel& k) { k.buffers[2].elements = 40; }), "");
  EXPECT_EQ(wrong([](Kernel& k) { k.buffers[2].elements = 39; }),
            "b2 has neither one element nor one for each position of a row");
  EXPECT_EQ(wrong([](Kernel& k) { std::get<Reduce>(k.body[0].node).stores[0].map.offset = 1; }),
            "b2 is local, and not indexed along a row");
  EXPECT_EQ(wrong([](Kernel& k) { std::get<Reduce>(k.body[0].node).stores[0].map.strides = {1}; }),
            "b2 is local, and not indexed along a row");
}

TEST(KernelIr, PiecesOfALineHaveOneAxis) {
  Kernel k = centred();
  k.line = Int(100);
  EXPECT_EQ(verify(k), "");
  EXPECT_NE(k.print().find("pieces i0 < 3 of 100\n  axis i1 < 40\n"), std::string::npos);
  k.axes.insert(k.axes.begin(), {Int(2)});
  k.parallel = 2;
  EXPECT_EQ(verify(k),
            "pieces of a line are one parallel axis and one along them, and no sums over rows");
}

TEST(KernelIr, ResultsOfAllRowsAreReadByNobody) {
  Kernel k = centred();
  k.outputs = 2;
  k.buffers.insert(k.buffers.begin() + 2, {DType::f32, Space::argument, 0, "sums"});
  each_access(k.body, [](Access& a, bool) { a.buf += a.buf == 2; });
  ReduceRows r{1, std::get<Reduce>(k.body[0].node).bodies, {}, {{2, {Int(0), {Int(0), Int(1)}}}}};
  r.operands = std::get<Reduce>(k.body[0].node).operands;
  k.body.push_back({r});
  EXPECT_EQ(verify(k), "");
  Kernel apart = k, inside = k;
  std::get<ReduceRows>(apart.body[2].node).stores[0].map.strides[1] = 2;
  EXPECT_EQ(verify(apart), "b2 has the results of rows, and not side by side");
  inside.axes.push_back({Int(2)});
  inside.buffers[3].elements = 1;
  inside.body[2] = {For{2, {inside.body[2]}}};
  EXPECT_EQ(verify(inside), "a sum over rows stands in a loop");
  Kernel reads = k;
  std::swap(reads.body[1], reads.body[2]);
  std::get<Compute>(std::get<For>(reads.body[2].node).body[0].node).operands[0] = r.stores[0];
  EXPECT_EQ(verify(reads), "b2 is read before all rows are done");
  std::get<ReduceRows>(k.body[2].node).stores[0].map.strides[0] = 40;
  EXPECT_EQ(verify(k), "b2 has one value for all rows, and moves along i0");
}

TEST(KernelIr, TheFormLeavesOutNamesAndSizes) {
  Kernel k = centred(), other = centred();
  other.name = "other";
  other.buffers[0].name = "z";
  other.axes[1].extent = Int(50);
  EXPECT_NE(k.print(), other.print());
  EXPECT_EQ(k.form(), other.form());
  std::get<For>(other.body[1].node).axis = 1;
  std::get<Compute>(std::get<For>(other.body[1].node).body[0].node).stores[0].map.strides[1] = 2;
  EXPECT_NE(k.form(), other.form());  // another stride class is another kernel
}

}  // namespace
}  // namespace lathe::jit
