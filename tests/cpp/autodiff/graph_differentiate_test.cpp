// differentiate against the tape: the same bits, for ops, structures and second derivatives.
#include <gtest/gtest.h>

#include <cstring>

#include "autodiff/differentiate.h"
#include "autodiff/engine.h"
#include "autodiff/tape.h"
#include "core/base/error.h"
#include "core/dispatch/assign.h"
#include "core/dispatch/call.h"
#include "core/dispatch/fn.h"
#include "graph/ir/text.h"
#include "graph/ir/verify.h"
#include "graph/trace/interpret.h"
#include "graph/trace/structure.h"
#include "graph/trace/trace.h"
#include "include/lathe/ops/create.h"
#include "include/lathe/ops/math.h"
#include "include/lathe/ops/nn.h"
#include "include/lathe/ops/pool.h"
#include "include/lathe/ops/reduce.h"
#include "include/lathe/ops/shape.h"
#include "kernels/executor.h"

namespace lathe::ir {
namespace {

using M = math_ops<Tensor>;
using S = shape_ops<Tensor>;
using R = reduce_ops<Tensor>;
using N = nn_ops<Tensor>;

class Differentiate : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    install_executor();
    install_tape();
  }
};

Tensor wave(IntSpan shape, float phase = 0.3F) {
  std::vector<float> v(static_cast<size_t>(numel(shape).value()));
  for (size_t i = 0; i < v.size(); ++i)
    v[i] = static_cast<float>((static_cast<int>(i * 37 + 11) % 23) - 11) / 8.0F + phase;
  return from_host(v.data(), DType::f32, shape);
}
std::string bytes(const Tensor& t) {
  Tensor c = M::clone(t);
  return {reinterpret_cast<const char*>(c.data()),
          static_cast<size_t>(c.numel().value()) * size_of(c.dtype())};
}
void expect_same(const Tensor& a, const Tensor& b, std::string_view what) {
  ASSERT_EQ(lathe::to_string(type_of(a)), lathe::to_string(type_of(b))) << what;
  EXPECT_EQ(bytes(a), bytes(b)) << what;
}

Graph traced(TracedFunction f, const std::vector<Tensor>& example) {
  std::vector<InputSpec> specs;
  std::string name = "x";
  for (const Tensor& t : example) {
    specs.push_back(spec_of(t, name));
    name = std::string(1, static_cast<char>(name[0] + 1));
  }
  TraceCallbacks host;
  Traced t = trace(f, specs, host, {.aliases = false});
  verify(t.graph);
  return std::move(t.graph);
}

/// Gradients of sum(y * w) for fixed weights w, by the tape and by the graph, for every set of
/// inputs.
void check(TracedFunction f, const std::vector<std::vector<Tensor>>& calls) {
  Graph g = traced(f, calls[0]);
  std::vector<int> wrt;
  for (size_t i = 0; i < calls[0].size(); ++i)
    if (differentiable.has(calls[0][i].dtype())) wrt.push_back(static_cast<int>(i));
  Vjp vjp = differentiate(g, wrt);
  ASSERT_NO_THROW(verify(vjp.forward)) << print(vjp.forward);
  ASSERT_NO_THROW(verify(vjp.backward)) << print(vjp.backward);
  std::string text = print(vjp.backward);
  EXPECT_EQ(print(parse(text, vjp.backward.constants())), text);
  for (const auto& inputs : calls) {
    Data leaves, plain;
    Tensors ys, dys, xs;
    for (size_t i = 0; i < inputs.size(); ++i) {
      Tensor leaf = M::clone(inputs[i]);
      if (differentiable.has(leaf.dtype())) {
        set_requires_grad(leaf, true);
        xs.push_back(leaf);
      }
      leaves.emplace_back(leaf);
      plain.emplace_back(M::clone(inputs[i]));
    }
    Data eager = f(leaves);
    Data forward;
    {
      GradMode off(false);
      forward = interpret(vjp.forward, plain);
    }
    for (size_t k = 0; k < eager.size(); ++k)
      expect_same(eager[k].tensor(), forward[k].tensor(), "result");
    Data backward_in = read(vjp, plain, forward);
    for (int k : vjp.cotangents) {
      const Tensor& y = eager[static_cast<size_t>(k)].tensor();
      ys.push_back(y);
      dys.push_back(wave(y.shape(), 0.7F));
      backward_in.emplace_back(dys.back());
    }
    Tensors wanted = grad(ys, dys, xs, {.allow_unused = true});
    GradMode off(false);
    Data got = interpret(vjp.backward, backward_in);
    for (size_t i = 0; i < wanted.size(); ++i) {
      int at = vjp.gradients[i];
      ASSERT_EQ(at >= 0, wanted[i].defined()) << "input " << i;
      if (at >= 0) expect_same(wanted[i], got[static_cast<size_t>(at)].tensor(), "gradient");
    }
  }
}

TEST_F(Differentiate, Elementwise) {
  check(
      [](const Data& in) {
        const Tensor &x = in[0].tensor(), &y = in[1].tensor();
        Tensor h = M::tanh(M::add(M::mul(x, y), x));
        return Data{M::mul(h, M::exp(x)), M::div(h, M::add(M::square(y), 1.0))};
      },
      {{wave({3, 4}), wave({3, 4}, 0.1F)}, {wave({2, 5}), wave({2, 5}, 0.1F)}});
}

TEST_F(Differentiate, BroadcastReduceAndMatmul) {
  check(
      [](const Data& in) {
        const Tensor &x = in[0].tensor(), &w = in[1].tensor(), &b = in[2].tensor();
        Tensor h = N::gelu(M::add(N::mm(x, w), b));
        return Data{R::sum(M::mul(h, h), {0})};
      },
      {{wave({5, 3}), wave({3, 4}), wave({4})}, {wave({2, 3}), wave({3, 4}), wave({4})}});
}

TEST_F(Differentiate, AValueUsedManyTimes) {
  check(
      [](const Data& in) {
        const Tensor& x = in[0].tensor();
        Tensor a = M::exp(x), b = M::mul(a, x), c = M::add(b, a);
        return Data{M::mul(M::add(c, x), M::sub(a, b)), x};
      },
      {{wave({6})}});
}

TEST_F(Differentiate, ViewsAndLists) {
  check(
      [](const Data& in) {
        const Tensor &x = in[0].tensor(), &y = in[1].tensor();
        Tensor parts[] = {S::transpose(x, 0, 1), y, S::slice(S::transpose(x, 0, 1), 0, 0, 1)};
        Tensor c = S::cat(parts, 0);
        return Data{M::mul(c, M::tanh(c))};
      },
      {{wave({3, 4}), wave({2, 3})}, {wave({3, 6}), wave({1, 3})}});
}

// What is written has its uses, and the view it was written to has others: the tape adds up those
// of the view first.
TEST_F(Differentiate, AViewThatWasWrittenTo) {
  check(
      [](const Data& in) {
        const Tensor& y = in[1].tensor();
        Tensor row = S::select(M::mul(in[0].tensor(), 0.3), 0, 1);
        assign(row, y);
        Tensor a = M::mul(row, 0.1), b = M::mul(y, 0.7), c = M::mul(row, 1.3);
        return Data{a, b, c};
      },
      {{wave({3, 40}), wave({40}, 0.1F)}, {wave({2, 5}), wave({5}, 0.1F)}});
}

// History is that of the value as it is, not as it was before a write elsewhere.
TEST_F(Differentiate, AWriteOfAViewOfWhatWasWrittenTo) {
  check(
      [](const Data& in) {
        Tensor z = M::mul(in[0].tensor(), 0.3), row = S::select(z, 0, 1);
        assign(z, M::tanh(in[1].tensor()));
        Tensor x = M::mul(in[2].tensor(), 0.5);
        assign(x, row);
        return Data{M::exp(x)};
      },
      {{wave({3, 8}), wave({3, 8}, 0.1F), wave({8})}});
}

// The same for tensors whose sizes turn out to be equal: no step more than eager takes.
TEST_F(Differentiate, AWriteOfEqualSizes) {
  check(
      [](const Data& in) {
        const Tensor& y = in[1].tensor();
        Tensor x = M::mul(in[0].tensor(), 0.3);
        assign(x, y);
        Tensor a = M::mul(x, 0.1), b = M::mul(y, 0.7), c = M::mul(x, 1.3);
        return Data{a, b, c};
      },
      {{wave({3, 40}), wave({3, 40}, 0.1F)}, {wave({2, 7}), wave({2, 7}, 0.1F)}});
}

TEST_F(Differentiate, InputsWithoutInfluence) {
  check([](const Data& in) { return Data{M::exp(in[0].tensor())}; }, {{wave({3}), wave({2})}});
}

TEST_F(Differentiate, Softmax) {
  check(
      [](const Data& in) {
        Tensor p = N::log_softmax(in[0].tensor(), -1);
        return Data{M::mul(p, N::softmax(in[0].tensor(), -1))};
      },
      {{wave({3, 4})}, {wave({1, 7})}});
}

TEST_F(Differentiate, If) {
  auto f = [](const Data& in) {
    const Tensor &x = in[0].tensor(), &y = in[1].tensor();
    Tensor h = M::mul(x, y);
    Datum c(R::sum(M::clamp_min(R::amax(x), 0.0)));
    Data r = if_(
        c, [&] { return Data{M::mul(M::tanh(h), x)}; }, [&] { return Data{M::neg(h)}; });
    return Data{M::add(r[0].tensor(), h)};
  };
  Tensor negative = M::sub(M::neg(M::abs(wave({4}))), 1.0);
  check(f, {{wave({4}), wave({4}, 0.9F)}, {negative, wave({4})}});
}

TEST_F(Differentiate, ForWithARecordedBody) {
  auto f = [](const Data& in) {
    const Tensor &x = in[0].tensor(), &w = in[1].tensor();
    auto body = [&](Int i, const Data& c) {
      Tensor row = S::select(x, 0, i);
      return Data{M::tanh(M::add(M::mul(c[0].tensor(), w), row))};
    };
    return for_(0, x.size(0), 1, body, {Datum(M::mul(w, 0.5))});
  };
  check(f, {{wave({4, 3}), wave({3})}, {wave({7, 3}), wave({3})}, {wave({1, 2}), wave({2})}});
}

TEST_F(Differentiate, While) {
  auto f = [](const Data& in) {
    const Tensor& w = in[1].tensor();
    return while_(
        [](const Data& c) {
          return Datum(R::any(M::clamp_min(M::sub(8.0, R::sum(M::square(c[0].tensor()))), 0.0)));
        },
        [&](const Data& c) {
          return Data{M::add(M::mul(c[0].tensor(), w), c[1].tensor()), M::mul(c[1].tensor(), 1.25)};
        },
        {in[0], Datum(M::abs(in[0].tensor()))});
  };
  check(f,
        {{wave({3}), M::add(M::abs(wave({3})), 1.0)}, {M::mul(wave({2}), 0.01), wave({2}, 2.0F)}});
}

// The first round adds to what has arrived from elsewhere, use by use, as on the tape.
TEST_F(Differentiate, WhatALoopBeginsWithIsUsedElsewhere) {
  auto f = [](const Data& in) {
    const Tensor& x = in[0].tensor();
    Tensor h = M::mul(in[1].tensor(), 0.5), before = M::mul(h, 0.7);
    auto body = [&](Int i, const Data& c) {
      const Tensor& t = c[0].tensor();
      return Data{M::add(M::mul(t, M::tanh(t)), M::mul(S::select(x, 0, i), t))};
    };
    Data r = for_(0, x.size(0), 1, body, {Datum(h)});
    return Data{before, M::exp(r[0].tensor()), M::mul(h, 1.1), M::mul(h, 0.3)};
  };
  check(f, {{wave({4, 40}), wave({40})}, {wave({1, 50}), wave({50})}});
}

TEST_F(Differentiate, WhatAWhileBeginsWithIsUsedElsewhere) {
  auto f = [](const Data& in) {
    Tensor h = M::mul(in[0].tensor(), 0.5), before = M::mul(h, 0.7);
    Data r =
        while_([](const Data& c) { return Datum(M::lt(R::sum(M::square(c[0].tensor())), 300.0)); },
               [](const Data& c) {
                 const Tensor& t = c[0].tensor();
                 return Data{M::add(M::mul(t, M::cosh(t)), M::mul(t, 0.5))};
               },
               {Datum(h)});
    return Data{before, M::tanh(r[0].tensor()), M::mul(h, 1.1), M::mul(h, 0.3)};
  };
  check(f, {{wave({40})}, {M::mul(wave({9}), 0.2)}, {M::mul(wave({5}), 100.0)}});
}

// Its sizes are written with the symbols of what was written to it.
TEST_F(Differentiate, ALoopBeginsWithWhatWasWrittenTo) {
  auto f = [](const Data& in) {
    Tensor h = M::mul(in[0].tensor(), 0.5);
    assign(h, M::exp(in[1].tensor()));
    auto body = [&](Int, const Data& c) {
      const Tensor& t = c[0].tensor();
      return Data{M::mul(t, M::tanh(M::mul(t, in[0].tensor())))};
    };
    return for_(0, h.size(0), 1, body, {Datum(h)});
  };
  check(f, {{wave({4, 3}), wave({4, 3}, 0.1F)}, {wave({2, 5}), wave({2, 5}, 0.1F)}});
}

TEST_F(Differentiate, AllThatRanWithGradientsOffHasNone) {
  auto f = [](const Data& in) {
    const GradMode off(false);
    return Data{M::sin(in[0].tensor())};
  };
  const int wrt[] = {0};
  EXPECT_EQ(differentiate(traced(f, {wave({3})}), wrt).gradients[0], -1);
}

TEST_F(Differentiate, IfInsideFor) {
  auto f = [](const Data& in) {
    const Tensor& x = in[0].tensor();
    auto body = [&](Int i, const Data& c) {
      const Tensor& h = c[0].tensor();
      Tensor row = S::select(x, 0, i);
      return if_(
          Datum(R::any(M::clamp_min(R::sum(row), 0.0))), [&] { return Data{M::mul(h, row)}; },
          [&] { return Data{M::add(h, row)}; });
    };
    return for_(0, x.size(0), 1, body, {Datum(M::exp(S::select(x, 0, 0)))});
  };
  check(f, {{wave({5, 3})}, {wave({9, 2})}});
}

TEST_F(Differentiate, TwiceIsOnceOfTheBackward) {
  auto f = [](const Data& in) {
    const Tensor& x = in[0].tensor();
    return Data{R::sum(M::mul(M::mul(x, x), M::tanh(x)))};
  };
  Tensor x = wave({4});
  Graph g = traced(f, {x});
  int first[] = {0};
  Vjp once = differentiate(g, first);
  // y = f(x), dx = f'(x) dy as one function of its own inputs.
  std::vector<int> all;
  for (size_t i = 0; i < once.backward.inputs().size(); ++i)
    if (once.backward.inputs()[i]->type().tensor() != nullptr) all.push_back(static_cast<int>(i));
  Vjp twice = differentiate(once.backward, all);
  verify(twice.forward);
  verify(twice.backward);

  Tensor leaf = M::clone(x);
  set_requires_grad(leaf, true);
  Tensor y = f({Datum(leaf)})[0].tensor();
  Tensor dx = grad({y}, {}, {leaf}, {.create_graph = true})[0];
  Tensor ddx = grad({dx}, {wave({4})}, {leaf})[0];
  EXPECT_EQ(ddx.rank(), 1);
  GradMode off(false);
  Data forward = interpret(once.forward, {Datum(x)});
  Data in = read(once, {Datum(x)}, forward);
  in.emplace_back(create_ops<Tensor>::ones(Ints(Shape{}), DType::f32));
  expect_same(interpret(twice.forward, in)[0].tensor(), dx, "first derivative");
}

// Sizes of an operand that only the forward pass reads decided what the gradient's sizes simplify
// to.
TEST_F(Differentiate, FactsAboutSizesThatTheBackwardPassDoesNotHave) {
  check(
      [](const Data& in) {
        Tensor y = pool_ops<Tensor>::avg_pool2d(in[0].tensor(), {3, 3}, 8, {1, 1});
        Tensor z = M::clone(y);
        const Arg args[] = {y, in[1].tensor()};
        call(get_op("div"), Args(args, 2), CallForm::in_place);
        return Data{z};
      },
      {{wave({1, 8, 8, 8}), wave({8, 1, 1})}});
}

// That the size of `y`, which the backward pass lacks, is not negative says that a slice of what
// arrives is not cut short.
TEST_F(Differentiate, ASizeThatTheBackwardPassDoesNotHave) {
  check(
      [](const Data& in) {
        Tensor wide = S::constant_pad_nd(in[0].tensor(), {1, in[1].tensor().size(1)}, 0.0);
        return Data{M::mul(wide, in[2].tensor())};
      },
      {{wave({3, 8}), wave({2, 3}), wave({3, 12})}, {wave({2, 4}), wave({2, 0}), wave({2, 5})}});
}

// Floats are inputs of both graphs, and what is computed of them is computed in the one that reads
// it.
TEST_F(Differentiate, FloatInputs) {
  auto body = [](const Tensor& x, double r) {
    return M::mul(M::div(x, r), M::sub(M::mul(x, 1.0 - r), r * r));
  };
  Graph g = parse(R"(graph f(%x: f32[s0], %r: float) -> (f32[s0]) {
    %0: float = sub(1.0, %r)
    %1: float = mul(%r, %r)
    %2: f32[s0] = div(%x, %r)
    %3: f32[s0] = mul(%x, %0)
    %4: f32[s0] = sub(%3, %1)
    %5: f32[s0] = mul(%2, %4)
    return %5
  })");
  int first[] = {0};
  Vjp vjp = differentiate(g, first);
  verify(vjp.forward);
  verify(vjp.backward);
  for (double r : {0.5, 0.3, -2.0}) {
    Tensor x = wave({7}), dy = wave({7}, 0.7F), leaf = M::clone(x);
    set_requires_grad(leaf, true);
    Tensor y = body(leaf, r);
    Tensor dx = grad({y}, {dy}, {leaf})[0];
    GradMode off(false);
    Data forward = interpret(vjp.forward, {Datum(x), Datum(Arg(r))});
    expect_same(forward[0].tensor(), y, "result");
    Data in = read(vjp, {Datum(x), Datum(Arg(r))}, forward);
    in.emplace_back(dy);
    expect_same(interpret(vjp.backward, in)[0].tensor(), dx, "gradient");
  }
}

TEST_F(Differentiate, Refusals) {
  // A round keeps the numbers that it draws, not those of a branch in it.
  auto random = [](const Data& in) {
    return for_(
        0, in[0].tensor().size(0), 1,
        [](Int, const Data& c) {
          const Tensor& x = c[0].tensor();
          return if_(
              Datum(M::gt(R::sum(x), 0)),
              [&] { return Data{Datum(M::mul(x, create_ops<Tensor>::rand({1}, DType::f32)))}; },
              [&] { return Data{Datum(M::mul(x, 2))}; });
        },
        {in[0]});
  };
  int first[] = {0};
  EXPECT_THROW(differentiate(traced(random, {wave({3})}), first), AutogradError);
  auto writes = [](const Data& in) {
    {
      GradMode off(false);
      assign(in[0].tensor(), M::mul(in[1].tensor(), 0.5));
    }
    return Data{M::mul(in[0].tensor(), in[1].tensor())};
  };
  Graph g = traced(writes, {wave({3}), wave({3})});
  EXPECT_THROW(differentiate(g, first), AutogradError);
  int second[] = {1};
  EXPECT_NO_THROW(differentiate(g, second));
}

}  // namespace
}  // namespace lathe::ir
