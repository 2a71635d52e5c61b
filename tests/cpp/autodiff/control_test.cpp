// cond and its kin in C++: a captured function gives the bits of eager, gradients included.
#include "autodiff/control.h"

#include <gtest/gtest.h>

#include <vector>

#include "autodiff/differentiate.h"
#include "autodiff/engine.h"
#include "autodiff/tape.h"
#include "core/base/error.h"
#include "core/dispatch/call.h"
#include "core/dispatch/fn.h"
#include "graph/ir/verify.h"
#include "graph/trace/interpret.h"
#include "graph/trace/trace.h"
#include "include/lathe/ops/math.h"
#include "include/lathe/ops/reduce.h"
#include "include/lathe/ops/shape.h"
#include "kernels/executor.h"

namespace lathe {
namespace {

using M = math_ops<Tensor>;
using R = reduce_ops<Tensor>;
using S = shape_ops<Tensor>;

class Control : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    install_executor();
    install_tape();
  }
};

Tensor wave(IntSpan shape) {
  std::vector<float> v(static_cast<size_t>(numel(shape).value()));
  for (size_t i = 0; i < v.size(); ++i)
    v[i] = static_cast<float>((static_cast<int>(i * 37 + 11) % 23) - 11) / 16.0F + 0.1F;
  return from_host(v.data(), DType::f32, shape);
}

std::vector<float> elements(const Tensor& t) {
  const Tensor c = M::clone(t);
  const auto* at = reinterpret_cast<const float*>(c.data());
  return {at, at + c.numel().value()};
}

/// The function of one tensor in eager and as a graph: result, and gradient of its sum.
void check(absl::FunctionRef<Tensor(const Tensor&)> f, const Tensor& x) {
  Tensor leaf = detach(x);
  set_requires_grad(leaf, true);
  const Tensor y = f(leaf);
  const Tensor dx = grad({R::sum(y)}, {}, {leaf}, {})[0];

  ir::Graph g = ir::trace([&](const ir::Data& in) { return ir::Data{f(in[0].tensor())}; },
                          std::vector<ir::InputSpec>{ir::spec_of(x, "x")})
                    .graph;
  ir::verify(g);
  const GradMode off(false);
  EXPECT_EQ(elements(ir::interpret(g, {x})[0].tensor()), elements(y));
  const int wrt[] = {0};
  const Vjp vjp = differentiate(g, wrt);
  ir::verify(vjp.whole);
  ir::verify(vjp.backward);
  ir::Data in = read(vjp, {x}, ir::interpret(vjp.forward, {x}));
  in.emplace_back(M::add(M::mul(y, 0.0), 1.0));
  const ir::Data found = ir::interpret(vjp.backward, in);
  ASSERT_GE(vjp.gradients[0], 0);
  EXPECT_EQ(elements(found[static_cast<size_t>(vjp.gradients[0])].tensor()), elements(dx));
}

TEST_F(Control, Cond) {
  auto f = [](const Tensor& x) {
    return cond(
        M::gt(R::sum(x), 0.0), [&] { return Tensors{M::sin(x)}; },
        [&] { return Tensors{M::mul(x, x)}; })[0];
  };
  check(f, wave({3, 4}));
  check(f, M::neg(M::square(wave({5, 2}))));
}

TEST_F(Control, Loops) {
  auto until = [](const Tensor& x) {
    return while_loop([](const Tensors& c) { return M::lt(R::sum(M::square(c[0])), 90.0); },
                      [&](const Tensors& c) { return Tensors{M::add(M::mul(c[0], 1.2), x)}; },
                      {x})[0];
  };
  check(until, wave({6}));
  auto counted = [](const Tensor& x) {
    auto body = [&](Int i, const Tensors& c) {
      return Tensors{M::add(M::tanh(c[0]), S::select(x, 0, i))};
    };
    return fori_loop(0, x.size(0), body, {M::sin(S::select(x, 0, 0))})[0];
  };
  for (int rows : {1, 3, 128, 129, 260}) check(counted, wave({rows, 2}));
}

TEST_F(Control, ScanKeepsTheOrderOfSums) {
  for (bool reverse : {false, true})
    for (int rows : {1, 20, 129}) {
      auto f = [reverse](const Tensor& x) {
        auto round = [](const Tensors& c, const Tensors& row) {
          const Tensor h = M::tanh(M::add(M::mul(c[0], row[0]), M::square(c[0])));
          return Scanned{{h}, {M::mul(h, row[0]), h}};
        };
        const Scanned s = scan(round, {M::cos(S::select(x, 0, 0))}, {x}, x.size(0), reverse);
        return M::add(M::add(s.stacked[0], s.stacked[1]), s.carried[0]);
      };
      check(f, wave({rows, 3}));
    }
}

TEST_F(Control, AssociativeScan) {
  auto f = [](const Tensor& x) {
    auto combine = [](const Tensors& a, const Tensors& b) {
      return Tensors{M::add(M::mul(a[0], b[0]), M::mul(a[0], 0.1))};
    };
    return associative_scan(combine, {x}, 0, true)[0];
  };
  check(f, wave({11, 2}));
}

TEST_F(Control, WhatRoundsHandOnStaysAsItIs) {
  const Tensor x = wave({3});
  auto doubled = [](Int, const Tensors& c) { return Tensors{M::cast(c[0], DType::f64)}; };
  EXPECT_THROW(fori_loop(0, 3, doubled, {x}), TypeError);
  auto two = [](Int, const Tensors& c) { return Tensors{c[0], c[0]}; };
  EXPECT_THROW(fori_loop(0, 3, two, {x}), TypeError);
  EXPECT_THROW(cond(
                   x, [&] { return Tensors{x}; }, [&] { return Tensors{x}; }),
               ValueError);
}

}  // namespace
}  // namespace lathe
