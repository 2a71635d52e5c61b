// What a plan runs as one step: rows of reductions and kernels, contractions with what follows
// them.
#include <gtest/gtest.h>

#include <random>

#include "core/base/flags.h"
#include "graph/ir/text.h"
#include "include/lathe/ops/math.h"
#include "include/lathe/ops/nn.h"
#include "include/lathe/ops/reduce.h"
#include "include/lathe/ops/shape.h"
#include "jit/function.h"
#include "jit/program/program.h"
#include "tests/cpp/support/tensors.h"

namespace lathe {
namespace {

using testing::bytes;
using testing::normal;
using M = math_ops<Tensor>;
using N = nn_ops<Tensor>;
using R = reduce_ops<Tensor>;
using S = shape_ops<Tensor>;
using Body = Outputs (*)(const Tensors&);

std::string explained(const jit::Function& f) { return f.explain(ir::Detail::verbose); }

/// Eager and the one program of `f` agree on these inputs, by the SIMD interpreter and by machine
/// code, on one thread and on three.
void expect_same(Body body, const Tensors& in, jit::Function& f) {
  Outputs eager = body(in);
  for (const char* engine : {"simd", "llvm"})
    for (const char* threads : {"1", "3"}) {
      FlagScope by(Flag::engine, engine);
      FlagScope on(Flag::threads, threads);
      Outputs got = f(in, body);
      for (size_t k = 0; k < got.size(); ++k)
        EXPECT_EQ(bytes(eager[k]), bytes(got[k]))
            << engine << " on " << threads << ", result " << k << "\n"
            << explained(f);
    }
}

size_t count(const std::string& text, const std::string& what) {
  size_t n = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

Outputs softmax(const Tensors& x) { return {N::softmax(x[0], -1)}; }

TEST(FusedRows, SoftmaxIsOneStepForAllShapes) {
  jit::Function f("softmax");
  for (Shape shape : {Shape{3, 700}, Shape{1, 5}, Shape{40, 1}, Shape{0, 4}, Shape{513, 17}})
    expect_same(softmax, {normal(shape, 1)}, f);
  EXPECT_EQ(f.counts().traces, 1);
  EXPECT_EQ(count(explained(f), "tiled together by rows"), 5u) << explained(f);
}

TEST(FusedRows, ARowMayHaveSeveralAxes) {
  jit::Function f("norm");
  auto body = [](const Tensors& x) -> Outputs {
    return {N::layer_norm(x[0], Shape{6, 7}, Arg(), Arg(), 1e-5)};
  };
  expect_same(body, {normal({4, 5, 6, 7}, 2)}, f);
  EXPECT_GE(count(explained(f), "tiled together by rows"), 4u) << explained(f);
}

TEST(FusedRows, WhatIsReadOutsideIsKept) {
  jit::Function f("kept");
  auto body = [](const Tensors& x) -> Outputs {
    Tensor e = M::exp(x[0]);
    Tensor s = R::sum(e, {Int(1)}, true);
    Tensor y = M::div(e, s);
    return {y, e, S::reshape(s, Shape{9})};
  };
  expect_same(body, {normal({9, 33}, 3)}, f);
}

TEST(FusedRows, ValuesOfRowsWithoutTheReducedAxisReadOthersByRow) {
  jit::Function f("no_keepdim");
  auto body = [](const Tensors& x) -> Outputs {
    Tensor s = R::sum(M::square(x[0]), {Int(1)}, false);
    Tensor weighed = M::mul(M::sqrt(s), x[1]);  // one a row, though rows are as long as there are
    Tensor again = S::expand(S::unsqueeze(weighed, 1), Shape{7, 7});
    return {M::mul(x[0], again), M::add(x[0], S::unsqueeze(weighed, 1))};
  };
  expect_same(body, {normal({7, 7}, 3), normal({7}, 4)}, f);
  EXPECT_GE(count(explained(f), "tiled together by rows"), 4u) << explained(f);
}

TEST(FusedRows, RowsOfDifferentLengthsAreNoOneKernel) {
  jit::Function f("lengths");
  auto body = [](const Tensors& x) -> Outputs {
    Tensor change = M::mul(R::sum(x[1], {Int(1)}, false), 0.5);
    return {M::add(R::sum(M::square(x[0]), {Int(1)}, false), change)};
  };
  for (int64_t other : {1, 5}) expect_same(body, {normal({9, 2}, 3), normal({9, other}, 4)}, f);
}

TEST(FusedRows, WhatFollowsAGroupRunsBehindIt) {
  jit::Function f("followed");
  auto body = [](const Tensors& x) -> Outputs {
    Tensor centred = M::sub(x[0], R::mean(x[0], {Int(1)}, true));
    Tensor other = R::cumsum(centred, 0);  // between two passes over the rows
    Tensor y = M::div(centred, R::sum(M::square(centred), {Int(1)}, true));
    return {y, other, R::cumsum(M::mul(y, x[0]), 0)};
  };
  expect_same(body, {normal({37, 600}, 5)}, f);
  EXPECT_EQ(count(explained(f), "tiled together by rows"), 4u) << explained(f);
}

TEST(FusedRows, SumsOverTheRowsBelongToThem) {
  jit::Function f("columns");
  auto body = [](const Tensors& x) -> Outputs {
    Tensor before = R::sum(x[1], {Int(0)}, true);  // of what the group reads, and read behind it
    Tensor centred = M::sub(x[0], R::mean(x[0], {Int(1)}, true));
    Tensor columns = R::mean(centred, {Int(0)}, false);  // between two passes over the rows
    Tensor y = M::div(M::mul(centred, x[1]), R::sum(M::square(centred), {Int(1)}, true));
    return {y, columns, R::sum(M::mul(y, x[0]), {Int(0)}, false), S::reshape(before, Shape{-1})};
  };
  for (Shape shape : {Shape{37, 600}, Shape{1700, 5}, Shape{1, 40}, Shape{0, 4}, Shape{520, 1}})
    expect_same(body, {normal(shape, 5), normal(shape, 6)}, f);
  EXPECT_EQ(count(explained(f), "own.reduce"), 0u) << explained(f);
}

TEST(FusedRows, RowsOfSeveralAxesAreSummed) {
  jit::Function f("lead");
  auto body = [](const Tensors& x) -> Outputs {
    Tensor e = M::exp(x[0]);
    Tensor y = M::mul(M::sub(e, R::mean(e, {Int(-1)}, true)), x[1]);
    return {y, R::sum(y, {Int(0), Int(1)}, false), R::sum(M::mul(y, e), {Int(0), Int(1)}, true)};
  };
  for (Shape shape : {Shape{2, 5, 8}, Shape{1, 40, 3}, Shape{30, 1, 17}, Shape{1, 1, 33}})
    expect_same(body, {normal(shape, 7), normal({shape[2]}, 8)}, f);
  EXPECT_EQ(count(explained(f), "own.reduce"), 0u) << explained(f);
}

TEST(FusedRows, KnownSizesOfOneAreNoAxesOfRows) {
  auto body = [](const Tensors& x) -> Outputs {
    Tensor e = M::exp(S::unsqueeze(x[0], 0));
    Tensor y = M::sub(e, R::mean(e, {Int(-1)}, true));
    Shape rows;
    for (int axis = 0; axis + 1 < y.rank(); ++axis) rows.push_back(Int(axis));
    return {y, R::sum(y, rows, false), R::sum(M::mul(y, e), rows, true)};
  };
  for (Shape shape : {Shape{33}, Shape{600, 5}}) {
    jit::Function f("ones");
    expect_same(body, {normal(shape, 7)}, f);
    EXPECT_EQ(count(explained(f), "own.reduce"), 0u) << explained(f);
  }
}

TEST(FusedRows, ASumThatAMemberReadsStaysOutside) {
  jit::Function f("read");
  auto body = [](const Tensors& x) -> Outputs {
    Tensor e = M::exp(x[0]), s = R::sum(e, {Int(1)}, true);
    Tensor over_rows = R::sum(M::div(e, s), {Int(0)}, true);
    Tensor y = M::mul(M::div(e, s), over_rows);
    return {y, R::sum(y, {Int(1)}, true), R::sum(y, {Int(0)}, false)};
  };
  for (Shape shape : {Shape{9, 33}, Shape{600, 7}}) expect_same(body, {normal(shape, 4)}, f);
}

TEST(FusedRows, ATemporaryMayLieWhereItsResultWillBe) {
  jit::Function f("replaced");
  auto body = [](const Tensors& x) -> Outputs {
    Tensor e = M::exp(x[0]);  // the last to read it replaces it
    Tensor s = R::sum(e, {Int(1)}, true), m = R::amax(e, {Int(1)}, true);
    Tensor y = M::div(e, s), z = M::sub(M::mul(x[0], m), s);
    return {y, z, R::sum(M::mul(y, z), {Int(1)}, true)};
  };
  expect_same(body, {normal({9, 33}, 3)}, f);
  expect_same(body, {normal({70, 1030}, 3)}, f);
  auto same = [](const Tensors& x) -> Outputs {  // read by two that could
    Tensor e = M::exp(x[0]), s = R::sum(e, {Int(1)}, true);
    Tensor y = M::div(e, s), m = R::amax(y, {Int(1)}, true);
    return {M::add(e, m), M::mul(y, m)};
  };
  jit::Function g("twice");
  expect_same(same, {normal({9, 33}, 3)}, g);
}

TEST(FusedRows, AReductionOverLeadingAxesStaysOutside) {
  jit::Function f("columns");
  auto body = [](const Tensors& x) -> Outputs {
    Tensor e = M::exp(x[0]);
    Tensor s = R::sum(e, {Int(0)}, true);
    return {M::div(e, s), R::amax(M::sub(e, s), {Int(1)}, true)};
  };
  expect_same(body, {normal({9, 33}, 4)}, f);
}

TEST(FusedRows, ABroadcastRowIsNotARowOfTheGroup) {
  jit::Function f("broadcast");
  auto body = [](const Tensors& x) -> Outputs {
    Tensor s = R::sum(M::exp(x[0]), {Int(1)}, true);  // 4 rows, or 1
    return {M::add(s, x[1]), M::mul(x[1], S::reshape(s, Shape{1, 4}))};
  };
  expect_same(body, {normal({4, 5}, 5), normal({4, 4}, 6)}, f);
}

/// Constants are packed once, whichever side they are on and however they lie; sizes of the other
/// operand come and go.
TEST(PackedConstants, HaveTheBitsOfEager) {
  Tensor w = normal({530, 70}, 11), kernel = normal({5, 3, 3, 3}, 12);
  auto body = [&](const Tensors& x) -> Outputs {
    return {N::mm(x[0], w), N::mm(S::transpose(x[0], 0, 1), N::mm(x[0], S::slice(w, 1, 3, 40, 1))),
            N::mm(w, S::transpose(x[1], 0, 1)), N::mm(x[1], S::transpose(w, 0, 1)),
            N::conv2d(x[2], kernel, Arg(), Shape{1, 1}, Shape{1, 1}, Shape{1, 1}, 1)};
  };
  jit::Function f("packed");
  for (int64_t m : {9, 1, 40, 0, 700, 4, 2, 6, 3})
    for (const char* isa : {"auto", "portable"}) {
      FlagScope by(Flag::isa, isa);
      Tensors in{normal({m, 530}, 1), normal({m, 70}, 2), normal({m, 3, 9, 8}, 3)};
      Outputs eager = body(in), got = f(in, body);
      for (size_t k = 0; k < got.size(); ++k)
        EXPECT_EQ(bytes(eager[k]), bytes(got[k])) << "result " << k << " for " << m << ", " << isa;
    }
  EXPECT_EQ(count(explained(f), "packed once, for all calls"), 5u) << explained(f);
  EXPECT_EQ(count(explained(f), "packed once a call"), 2u) << explained(f);  // x[0], read alike
}

TEST(Epilogues, AKernelFollowsItsContraction) {
  jit::Function f("linear");
  auto body = [](const Tensors& x) -> Outputs {
    return {N::gelu(M::add(N::matmul(x[0], x[1]), x[2]), "none")};
  };
  std::mt19937_64 rng(7);
  for (int i = 0; i < 30; ++i) {
    auto m = static_cast<int64_t>(rng() % 70), k = static_cast<int64_t>(rng() % 30),
         n = static_cast<int64_t>(rng() % 90);
    expect_same(body, {normal({m, k}, rng()), normal({k, n}, rng()), normal({n}, rng())}, f);
  }
  EXPECT_EQ(count(explained(f), "as its epilogue"), 1u) << explained(f);
}

TEST(Epilogues, AConvolutionTooAndAVendorAfterwards) {
  auto body = [](const Tensors& x) -> Outputs {
    Tensor y = N::conv2d(x[0], x[1], Arg(), Shape{2, 2}, Shape{1, 1}, Shape{1, 1}, 1);
    return {N::relu(M::add(y, S::reshape(x[2], Shape{4, 1, 1})))};
  };
  Tensors in{normal({2, 3, 9, 8}, 8), normal({4, 3, 3, 3}, 9), normal({4}, 10)};
  {
    jit::Function f("conv");
    expect_same(body, in, f);
    EXPECT_EQ(count(explained(f), "as its epilogue"), 1u) << explained(f);
  }
  // With ours switched off, whoever takes the product calls the kernel once at the end.
  FlagScope off(Flag::disabled, "own.gemm");
  jit::Function f("conv");
  Outputs eager = body(in), traced = f(in, body);
  EXPECT_EQ(bytes(eager[0]), bytes(traced[0])) << explained(f);
}

TEST(Epilogues, AProductThatOthersReadIsKept) {
  jit::Function f("shared");
  auto body = [](const Tensors& x) -> Outputs {
    Tensor y = N::matmul(x[0], x[1]);
    return {M::tanh(y), R::sum(y, {Int(0)})};
  };
  expect_same(body, {normal({8, 5}, 11), normal({5, 6}, 12)}, f);
  EXPECT_EQ(count(explained(f), "as its epilogue"), 0u) << explained(f);
}

/// As a text has it that no pass has rewritten: equal sizes by two names.
TEST(FusedRows, SizesThatAreEqualByAnAssumption) {
  const jit::Program p(ir::parse(R"(graph f(%x: f32[s0, s1], %y: f32[s2, s3]) -> (f32[s0]) {
  size s0 = 3
  size s1 = 4
  size s2 = 3
  size s3 = 4
  assume s1 == s3
  assume s0 == s2
  %0: f32[s2, s3] = mul(%x, %y)
  %1: f32[s0, 1] = mean(%0, dim=[1], keepdim=True)
  %2: f32[s0, s1] = sub(%0, %1)
  %3: f32[s0] = amax(%2, dim=[1])
  return %3
})"));
  Tensor x = normal({3, 4}, 1), y = normal({3, 4}, 2);
  const Tensor made = M::mul(x, y);
  const Tensor want = R::amax(M::sub(made, R::mean(made, {1}, true)), {1});
  EXPECT_EQ(bytes(p.run({ir::Datum(x), ir::Datum(y)})[0].tensor()), bytes(want));
}

}  // namespace
}  // namespace lathe
