// Programs against the interpreter and eager, by bytes.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "autodiff/engine.h"
#include "autodiff/tape.h"
#include "core/base/error.h"
#include "core/base/flags.h"
#include "core/dispatch/assign.h"
#include "core/dispatch/call.h"
#include "graph/ir/text.h"
#include "graph/trace/interpret.h"
#include "include/lathe/ops/math.h"
#include "include/lathe/ops/nn.h"
#include "include/lathe/ops/reduce.h"
#include "include/lathe/ops/shape.h"
#include "jit/function.h"
#include "tests/cpp/support/tensors.h"

namespace lathe {
namespace {

using testing::bytes;
using testing::normal;
using M = math_ops<Tensor>;
using N = nn_ops<Tensor>;
using R = reduce_ops<Tensor>;
using S = shape_ops<Tensor>;

Outputs layer(const Tensors& x) { return {N::gelu(M::add(N::matmul(x[0], x[1]), x[2]), "none")}; }

TEST(Jit, OneProgramServesAllShapes) {
  jit::Function f("layer");
  std::mt19937_64 rng(5);
  for (int i = 0; i < 200; ++i) {
    int64_t m = static_cast<int64_t>(rng() % 9), k = static_cast<int64_t>(rng() % 7),
            n = static_cast<int64_t>(rng() % 40);
    Tensors in{normal({m, k}, rng()), normal({k, n}, rng()), normal({n}, rng())};
    Outputs eager = layer(in), traced = f(in, layer);
    ASSERT_EQ(bytes(eager[0]), bytes(traced[0])) << m << " " << k << " " << n;
  }
  EXPECT_EQ(f.counts().traces, 1) << f.explain(ir::Detail::verbose);
  EXPECT_EQ(f.counts().node_by_node, 0);
}

TEST(Jit, EveryEngineGivesTheSameBits) {
  auto body = [](const Tensors& x) -> Outputs {
    Tensor y = M::tanh(M::mul(M::add(x[0], x[1]), 0.5));
    Tensor z = M::exp(M::neg(M::square(y)));
    return {M::where(M::lt(y, z), y, z), R::sum(z, {Int(1)}), N::softmax(y, 1)};
  };
  Tensors in{normal({17, 33}, 1), normal({33}, 2)};
  Outputs eager = body(in);
  for (const char* engine : {"simd", "llvm", "auto", "nodes"}) {
    FlagScope scope(Flag::engine, engine);
    jit::Function f("body");
    Outputs got = f(in, body);
    for (size_t k = 0; k < got.size(); ++k)
      EXPECT_EQ(bytes(eager[k]), bytes(got[k])) << engine << " " << k;
  }
}

TEST(Jit, WritesReachTheInput) {
  auto body = [](const Tensors& x) -> Outputs {
    Tensor row = S::select(x[0], 0, 0);
    assign(row, M::add(row, 1));
    return {M::mul(x[0], 2)};
  };
  Tensor a = normal({3, 4}, 3), b = M::clone(a);
  jit::Function f("body");
  Outputs eager = body({a}), traced = f({b}, body);
  EXPECT_EQ(bytes(a), bytes(b));
  EXPECT_EQ(bytes(eager[0]), bytes(traced[0]));
}

// What is written to a tensor may lie otherwise: the tensor keeps its order, and its memory is its
// own, element by element.
TEST(Jit, WhatWasWrittenToLiesAsItDid) {
  auto body = [](const Tensors& x) -> Outputs {
    Tensor turned = M::clone(x[0]), broad = M::clone(x[0]);
    Tensor flat = S::flatten(turned, 0, -1);
    assign(turned, S::permute(M::exp(x[1]), {1, 0}));
    assign(broad, S::select(M::exp(x[0]), 0, 0));
    return {M::mul(flat, 2), flat, broad};
  };
  for (const char* engine : {"simd", "llvm", "auto", "nodes"}) {
    FlagScope scope(Flag::engine, engine);
    jit::Function f("body");
    for (int64_t n : {3, 4, 1}) {
      Tensors in{normal({3, n}, 1), normal({n, 3}, 2)};
      Outputs eager = body(in), traced = f(in, body);
      for (Outputs* out : {&eager, &traced}) assign((*out)[2], M::add((*out)[2], 1));
      for (size_t k = 0; k < eager.size(); ++k) {
        EXPECT_EQ(bytes(eager[k]), bytes(traced[k])) << engine << " " << n << " " << k;
        EXPECT_EQ(eager[k].geometry().strides, traced[k].geometry().strides);
      }
    }
  }
}

// Programs take their inputs in row-major order: a view that an input's own order allows is a copy.
TEST(Jit, AViewThatOnlyTheInputsOrderAllows) {
  auto body = [](const Tensors& x) -> Outputs {
    return {M::mul(S::view(S::permute(x[0], {1, 0}), {-1}), 2)};
  };
  for (const char* engine : {"simd", "llvm", "auto", "nodes"}) {
    FlagScope scope(Flag::engine, engine);
    jit::Function f("body");
    for (int64_t n : {3, 5, 2}) {
      Tensor x = S::permute(normal({n, 4}, 1), {1, 0});
      x = make_tensor(x.impl()->storage, x.dtype(), x.geometry());
      EXPECT_EQ(bytes(body({x})[0]), bytes(f({x}, body)[0])) << engine << " " << n;
    }
    EXPECT_EQ(f.counts().traces, 1);
  }
}

TEST(Jit, FusesAndExplains) {
  jit::Function f("layer");
  Tensors in{normal({4, 8}, 1), normal({8, 16}, 2), normal({16}, 3)};
  f(in, layer);
  ASSERT_EQ(f.compiled().size(), 1u);
  std::string text = f.explain(ir::Detail::verbose);
  EXPECT_NE(text.find("group of 2 ops"), std::string::npos) << text;
  EXPECT_NE(text.find("chosen"), std::string::npos) << text;
}

TEST(Jit, TrainingStepInsideATrace) {
  auto step = [](const Tensors& x) -> Outputs {
    Tensor w = x[1];
    set_requires_grad(w, true);
    Tensor loss = R::mean(M::square(M::sub(N::matmul(x[0], w), x[2])));
    Tensors g = grad({loss}, {}, {w});
    GradMode no_grad(false);
    return {loss, M::sub(detach(w), M::mul(g[0], 0.1))};
  };
  Tensors in{normal({5, 3}, 1), normal({3, 2}, 2), normal({5, 2}, 3)};
  Tensors other{in[0], M::clone(in[1]), in[2]};
  Outputs eager = step(in);
  jit::Function f("step");
  Outputs traced = f(other, step);
  EXPECT_EQ(bytes(eager[0]), bytes(traced[0]));
  EXPECT_EQ(bytes(eager[1]), bytes(traced[1]));
}

}  // namespace
}  // namespace lathe
