// Tracing: what is captured, what is refused, and that running the graph gives eager's bits.
#include <gtest/gtest.h>

#include <cstring>

#include "core/base/error.h"
#include "core/dispatch/assign.h"
#include "core/dispatch/call.h"
#include "core/dispatch/callback.h"
#include "core/dispatch/fn.h"
#include "graph/ir/text.h"
#include "graph/ir/verify.h"
#include "graph/pipeline.h"
#include "graph/trace/interpret.h"
#include "graph/trace/structure.h"
#include "graph/trace/trace.h"
#include "include/lathe/ops/create.h"
#include "include/lathe/ops/math.h"
#include "include/lathe/ops/nn.h"
#include "include/lathe/ops/reduce.h"
#include "include/lathe/ops/shape.h"
#include "kernels/executor.h"

namespace lathe::ir {
namespace {

using M = math_ops<Tensor>;
using S = shape_ops<Tensor>;
using R = reduce_ops<Tensor>;
using N = nn_ops<Tensor>;

class Trace : public testing::Test {
 protected:
  static void SetUpTestSuite() { install_executor(); }
};
using Interpret = Trace;

Tensor floats(std::initializer_list<float> values, IntSpan shape) {
  return from_host(values.begin(), DType::f32, shape);
}
Tensor ramp(IntSpan shape, float from = 1) {
  std::vector<float> v(static_cast<size_t>(numel(shape).value()));
  for (size_t i = 0; i < v.size(); ++i) v[i] = from + 0.25F * static_cast<float>(i);
  return from_host(v.data(), DType::f32, shape);
}

std::string bytes(const Tensor& t) {
  Tensor c = M::clone(t);
  return {reinterpret_cast<const char*>(c.data()),
          static_cast<size_t>(c.numel().value()) * size_of(c.dtype())};
}
void expect_same(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(lathe::to_string(type_of(a)), lathe::to_string(type_of(b)));
  EXPECT_EQ(bytes(a), bytes(b));
}

Traced traced(TracedFunction f, std::initializer_list<Tensor> example,
              TraceCallbacks* host = nullptr) {
  std::vector<InputSpec> specs;
  std::string name = "x";
  for (const Tensor& t : example) {
    specs.push_back(spec_of(t, name));
    name = std::string(1, static_cast<char>(name[0] + 1));
  }
  TraceCallbacks plain;
  Traced t = trace(f, specs, host != nullptr ? *host : plain);
  verify(t.graph);
  std::string text = print(t.graph);
  EXPECT_EQ(print(parse(text, t.graph.constants())), text);
  return t;
}

Data run(const Traced& t, std::initializer_list<Tensor> inputs) {
  Data data;
  for (const Tensor& x : inputs) data.emplace_back(x);
  for (const ir::Datum& x : t.captured_now) data.emplace_back(x);
  Data out = interpret(t.graph, data);
  return returned(t, data, out);
}

/// Eager and traced give the same bytes for each set of inputs; one trace, made with the first.
void same_as_eager(TracedFunction f, std::initializer_list<std::initializer_list<Tensor>> calls) {
  Traced t = traced(f, *calls.begin());
  for (const auto& inputs : calls) {
    Data eager_in, graph_in;
    for (const Tensor& x : inputs) {
      eager_in.emplace_back(M::clone(x));
      graph_in.emplace_back(M::clone(x));
    }
    Data eager = f(eager_in);
    for (const ir::Datum& x : t.captured_now) graph_in.emplace_back(x);
    Data got = returned(t, graph_in, interpret(t.graph, graph_in));
    ASSERT_EQ(eager.size(), got.size());
    for (size_t i = 0; i < eager.size(); ++i) expect_same(eager[i].tensor(), got[i].tensor());
    for (size_t i = 0; i < inputs.size(); ++i)
      expect_same(eager_in[i].tensor(), graph_in[i].tensor());  // writes to inputs, too
  }
}

TEST_F(Trace, RecordsTypesAndSymbols) {
  Traced t = traced(
      [](const Data& in) {
        SiteScope site(make_site("model.py", 7));
        return Data{M::tanh(N::mm(in[0].tensor(), in[1].tensor()))};
      },
      {ramp({2, 3}), ramp({3, 4})});
  EXPECT_EQ(print(t.graph), R"(graph main(%x: f32[s0, s1], %y: f32[s2, s3]) -> (f32[s0, s3]) {
  size s0 = 2
  size s1 = 3
  size s2 = 3
  size s3 = 4
  check s1 == s2                                            # model.py:7
  %0: f32[s0, s3] = mm(%x, %y)                              # model.py:7
  %1: f32[s0, s3] = tanh(%0)                                # model.py:7
  return %1
}
)");
}

TEST_F(Trace, OneGraphForManySizes) {
  auto f = [](const Data& in) {
    const Tensor& x = in[0].tensor();
    return Data{M::add(R::sum(x, {0}), x.size(0)), S::reshape(x, {x.size(0) * x.size(1)})};
  };
  same_as_eager(f, {{ramp({2, 3})}, {ramp({1, 3})}, {ramp({5, 1})}, {ramp({0, 2})}});
}

TEST_F(Trace, BroadcastingGuardsOnlyOnOnes) {
  auto f = [](const Data& in) { return Data{M::add(in[0].tensor(), in[1].tensor())}; };
  Traced t = traced(f, {ramp({1, 2}), ramp({3, 2})});
  expect_same(run(t, {ramp({1, 2}), ramp({4, 2})})[0].tensor(), M::add(ramp({1, 2}), ramp({4, 2})));
  EXPECT_THROW(run(t, {ramp({3, 2}), ramp({3, 2})}), ShapeError);  // the guard: captured for size 1
}

TEST_F(Trace, DataIsRefused) {
  auto refused = [](TracedFunction f) { EXPECT_THROW(traced(f, {ramp({2})}), TraceError); };
  refused(
      [](const Data& in) { return Data{M::mul(in[0].tensor(), in[0].tensor().item_double())}; });
  refused([](const Data& in) {
    in[0].tensor().data();
    return Data{};
  });
  refused([](const Data& in) {
    if (truth(Datum(R::sum(in[0].tensor())))) return Data{in[0]};
    return Data{};
  });
  EXPECT_EQ(thread_state().backend, nullptr);
  EXPECT_EQ(thread_state().trace_epoch, 0u);
  EXPECT_EQ(SymScope::current(), nullptr);
  EXPECT_NO_THROW(M::add(ramp({2}), 1.0).data());
}

TEST_F(Trace, EscapesAreRefused) {
  Tensor kept;
  Traced t = traced(
      [&](const Data& in) {
        kept = M::exp(in[0].tensor());
        return Data{kept};
      },
      {ramp({2})});
  EXPECT_THROW(M::add(kept, 1.0), Error);
  const Arg in_place[] = {Arg(kept)};
  EXPECT_THROW(call(*M::exp.op(), Args(in_place, 1), CallForm::in_place), TraceError);
  EXPECT_THROW(kept.data(), TraceError);
  EXPECT_THROW(
      traced([&](const Data& in) { return Data{M::add(in[0].tensor(), kept)}; }, {ramp({2})}),
      TraceError);
}

TEST_F(Trace, ConcreteTensorsAreCapturedByIdentity) {
  Tensor w = ramp({3});
  Traced t = traced([&](const Data& in) { return Data{M::mul(in[0].tensor(), w)}; }, {ramp({3})});
  ASSERT_GE(t.guards.size(), 2u);
  EXPECT_EQ(t.guards[1].kind, GuardKind::identity);
  EXPECT_TRUE(same(t.guards[1].tensor, w));
  expect_same(run(t, {ramp({3})})[0].tensor(), M::mul(ramp({3}), w));
}

class Named : public TraceCallbacks {
 public:
  explicit Named(Tensor t) : tensor_(std::move(t)) {}
  Found find(const Tensor& met) override {
    if (same(met, tensor_)) return {Found::How::path, {"model.w"}};
    return {Found::How::refused, {}};
  }

 private:
  Tensor tensor_;
};

TEST_F(Trace, ConcreteTensorsBecomeInputsByPath) {
  Tensor w = ramp({3}), other = ramp({3});
  Named host(w);
  auto f = [&](const Data& in) {
    assign(w, M::mul(w, 2.0));
    return Data{M::add(in[0].tensor(), w)};
  };
  Traced t = traced(f, {ramp({3})}, &host);
  ASSERT_EQ(t.captured.size(), 1u);
  EXPECT_EQ(t.captured[0].text, "model.w");
  ASSERT_EQ(t.graph.writes().size(), 1u);
  expect_same(w, ramp({3}));  // nothing happened to it yet
  Tensor y = run(t, {ramp({3})})[0].tensor();
  expect_same(w, M::mul(ramp({3}), 2.0));
  expect_same(y, M::add(ramp({3}), w));
  EXPECT_THROW(traced([&](const Data& in) { return Data{M::add(in[0].tensor(), other)}; },
                      {ramp({3})}, &host),
               TraceError);
}

TEST_F(Trace, WritesThroughViews) {
  auto g = [](const Data& in) {
    Tensor x = in[0].tensor();
    Tensor v = S::view(x, {4});
    Tensor first = S::slice(v, 0, 0, 1);
    assign(first, scalar_tensor(9.0, DType::f32));
    assign(x, M::mul(x, 2.0));
    return Data{M::add(v, 1.0), first};
  };
  same_as_eager(g, {{ramp({2, 2})}});
}

TEST_F(Trace, ResultsAreTheSameObjects) {
  auto f = [](const Data& in) {
    Tensor y = M::add(in[0].tensor(), 1.0);
    Tensor v = S::slice(y, 0, 0, 1);
    return Data{in[0], y, y, M::add(in[0].tensor(), 1.0), v, S::slice(in[0].tensor(), 0, 1, 2), v};
  };
  Traced t = traced(f, {ramp({2})});
  Tensor x = ramp({2});
  Data out = run(t, {x});
  EXPECT_TRUE(same(out[0].tensor(), x));
  EXPECT_TRUE(same(out[1].tensor(), out[2].tensor()));
  EXPECT_FALSE(same(out[1].tensor(), out[3].tensor()));
  EXPECT_TRUE(same(out[4].tensor(), out[6].tensor()));
  assign(out[4].tensor(), floats({50}, {1}));
  assign(out[5].tensor(), floats({60}, {1}));
  expect_same(out[1].tensor(), floats({50, 2.25}, {2}));
  expect_same(x, floats({1, 60}, {2}));
}

TEST_F(Trace, RandomKeepsItsOrder) {
  Traced t = traced(
      [](const Data&) {
        create_ops<Tensor>::rand({2}, DType::f32);
        return Data{create_ops<Tensor>::rand({2}, DType::f32)};
      },
      {ramp({2})});
  EXPECT_EQ(t.graph.node_count(), 2u);
}

TEST_F(Trace, IfIsRecorded) {
  auto f = [](const Data& in) {
    const Tensor &x = in[0].tensor(), &y = in[1].tensor();
    Datum c(R::amax(M::sub(x, y)));
    return if_(
        c, [&] { return Data{M::mul(x, 10.0)}; }, [&] { return Data{y}; });
  };
  same_as_eager(f, {{floats({1}, {1}), floats({2}, {1})}, {floats({3}, {1}), floats({3}, {1})}});
}

TEST_F(Trace, WritesInsideBranchesLeaveThem) {
  auto f = [](const Data& in) {
    Tensor x = in[0].tensor(), y = in[1].tensor();
    if_(
        Datum(R::sum(x)),
        [&] {
          assign(y, M::add(y, 1.0));
          return Data{};
        },
        [&] { return Data{}; });
    return Data{M::mul(y, 3.0)};
  };
  same_as_eager(f, {{floats({1}, {1}), ramp({2})}, {floats({0}, {1}), ramp({2})}});
}

// One trace serves every size, none included: whether there are elements must not decide whether
// the result is the operand itself.
TEST_F(Trace, ContiguousCopiesATransposedNothing) {
  Tensor x = S::transpose(floats({}, {0, 3}), 0, 1);
  EXPECT_TRUE(x.geometry().is_contiguous());
  EXPECT_FALSE(same(S::contiguous(x), x));
}

// The target keeps its order whatever is written to it, and views of it go by that.
TEST_F(Trace, AViewOfWhatABroadcastWasWrittenTo) {
  auto f = [](const Data& in) {
    Tensor x = M::clone(in[0].tensor());
    Tensor flat = S::flatten(x, 1, -1);
    assign(x, in[1].tensor());
    return Data{flat};
  };
  same_as_eager(f, {{ramp({4, 3, 2}), ramp({2})}, {ramp({1, 2, 5}), ramp({5})}});
}

// What is written was read before the write.
TEST_F(Trace, ATensorIsWrittenToAViewOfItself) {
  auto f = [](const Data& in) {
    Tensor x = M::clone(in[0].tensor()), turned = S::permute(x, {1, 0});
    assign(turned, x);
    return Data{M::exp(turned), M::exp(x)};
  };
  same_as_eager(f, {{ramp({3, 3})}, {ramp({5, 5})}});
}

// An expand that eager does not make would change the order in which gradients arrive.
TEST_F(Trace, AssignOfEqualSizesIsNoStep) {
  Traced t = traced(
      [](const Data& in) {
        Tensor x = M::clone(in[0].tensor());
        assign(x, in[1].tensor());
        return Data{M::exp(x)};
      },
      {ramp({4, 3}), ramp({4, 3})});
  EXPECT_EQ(print(t.graph).find("expand"), std::string::npos) << print(t.graph);
}

// A view that a write has made stale is brought up to date wherever it goes, not by ops alone.
TEST_F(Trace, ALoopBeginsWithAViewOfWhatWasWrittenTo) {
  auto f = [](const Data& in) {
    Tensor x = M::clone(in[0].tensor()), row = S::select(x, 0, 0);
    Tensor flags = M::gt(x, 0.0), first = S::select(S::select(flags, 0, 0), 0, 0);
    assign(x, M::neg(x));
    assign(flags, M::lt(x, -100.0));
    Data r =
        for_(0, x.size(1), 1, [](Int, const Data& c) { return Data{M::mul(c[0].tensor(), 2.0)}; },
             {Datum(row)});
    Data chosen = if_(
        Datum(first), [&] { return Data{M::exp(x)}; }, [&] { return Data{M::neg(x)}; });
    return Data{r[0], chosen[0]};
  };
  same_as_eager(f, {{ramp({3, 2})}, {ramp({2, 4})}});
}

// Sizes that no fact makes one symbol: types must still be what inference gives.
TEST_F(Trace, AWriteOfSizesThatAreWrittenInAnotherWay) {
  auto f = [](const Data& in) {
    Tensor x = M::clone(in[0].tensor()), part = S::slice(x, 0, 1, 4);
    assign(x, M::exp(part));
    return Data{M::exp(part), x};
  };
  same_as_eager(f, {{ramp({0, 3})}, {ramp({0, 2})}});
}

TEST_F(Trace, WhileIsRecorded) {
  auto f = [](const Data& in) {
    Tensor total = S::contiguous(M::mul(in[0].tensor(), 0.0));
    Data out =
        while_([](const Data& c) { return Datum(R::any(M::sub(R::amax(c[0].tensor()), 100.0))); },
               [&](const Data& c) {
                 Tensor h = M::clamp_max(M::mul(c[0].tensor(), 2.0), 100.0);
                 assign(total, M::add(total, h));
                 return Data{h, Datum(Arg(c[1].integer() + 1))};
               },
               {in[0], Datum(Arg(0))});
    return Data{out[0], M::add(total, out[1].integer())};
  };
  Traced t = traced(f, {floats({3, 5}, {2})});
  EXPECT_NE(print(t.graph).find("while"), std::string::npos);
  for (Tensor x : {floats({3, 5}, {2}), floats({99, 0.5}, {2}), floats({100, 7}, {2})}) {
    Data eager = f({Datum(x)});
    Data got = run(t, {x});
    expect_same(eager[0].tensor(), got[0].tensor());
    expect_same(eager[1].tensor(), got[1].tensor());
  }
}

TEST_F(Trace, ForOverASizeIsRecordedOnce) {
  auto f = [](const Data& in) {
    const Tensor& x = in[0].tensor();
    auto body = [&](Int i, const Data& c) {
      return Data{M::add(M::mul(c[0].tensor(), 2.0), S::select(x, 0, i))};
    };
    return for_(0, x.size(0), 1, body, {Datum(S::select(x, 0, 0))});
  };
  Traced t = traced(f, {ramp({4, 3})});
  EXPECT_NE(print(t.graph).find("for %"), std::string::npos) << print(t.graph);
  for (Tensor x : {ramp({4, 3}), ramp({9, 2}), ramp({1, 5})})
    expect_same(f({Datum(x)})[0].tensor(), run(t, {x})[0].tensor());
}

TEST_F(Trace, LoopsThatGrowATensor) {
  auto f = [](const Data& in) {
    const Tensor& x = in[0].tensor();
    auto body = [&](Int, const Data& c) {
      Tensor parts[] = {c[0].tensor(), x};
      return Data{S::cat(parts)};
    };
    return for_(0, x.size(0), 1, body, {Datum(x)});
  };
  Traced t = traced(f, {ramp({3})});
  for (Tensor x : {ramp({3}), ramp({5})})
    expect_same(f({Datum(x)})[0].tensor(), run(t, {x})[0].tensor());
}

TEST_F(Trace, AConditionIsAskedOnceARound) {
  Traced t = traced(
      [](const Data& in) {
        return while_(
            [](const Data& c) {
              Tensor r = create_ops<Tensor>::rand({1}, DType::f32);
              return Datum(R::any(M::sub(R::amax(c[0].tensor()), r)));
            },
            [](const Data& c) { return Data{M::mul(c[0].tensor(), 0.5)}; }, {in[0]});
      },
      {ramp({2})});
  std::string text = print(t.graph);
  EXPECT_EQ(text.find("rand("), text.rfind("rand(")) << text;
}

TEST_F(Interpret, ResultsShareNoMemory) {
  Graph g = parse(
      "graph f(%x: f32[2]) { %c: f32[2] = constant [1.0, 2.0] %y = tanh(%x) "
      "return %x, %y, %y, %c, %c }");
  Tensor x = ramp({2});
  Data out = interpret(g, {Datum(x)});
  for (size_t i = 0; i < out.size(); ++i) {
    EXPECT_NE(out[i].tensor().impl()->storage.get(), x.impl()->storage.get());
    for (size_t k = 0; k < i; ++k)
      EXPECT_NE(out[i].tensor().impl()->storage.get(), out[k].tensor().impl()->storage.get());
  }
}

TEST_F(Trace, AnExceptionLeavesNothingBehind) {
  struct Mine {};
  auto f = [](const Data& in) -> Data {
    M::exp(in[0].tensor());
    throw Mine{};
  };
  EXPECT_THROW(traced(f, {ramp({2})}), Mine);
  EXPECT_EQ(thread_state().backend, nullptr);
  EXPECT_EQ(SymScope::current(), nullptr);
}

TEST_F(Interpret, InputsAreChecked) {
  Graph g = parse(R"(graph f(%x: f32[s0, 4], %y: f32[s0]) {
    size s0 = 2  check s0 <= 3  # model.py:9
    %z = tanh(%x)
    return %z })");
  EXPECT_NO_THROW(interpret(g, {ramp({2, 4}), ramp({2})}));
  EXPECT_THROW(interpret(g, {ramp({2, 5}), ramp({2})}), ShapeError);
  EXPECT_THROW(interpret(g, {ramp({2, 4}), ramp({3})}), ShapeError);
  EXPECT_THROW(interpret(g, {ramp({5, 4}), ramp({5})}), ShapeError);
  EXPECT_THROW(interpret(g, {ramp({2, 4})}), TypeError);
  EXPECT_THROW(interpret(g, {ramp({8}), ramp({2})}), TypeError);
  EXPECT_THROW(interpret(g, {scalar_tensor(1.0, DType::f64), ramp({2})}), TypeError);
}

TEST_F(Interpret, NumbersAreOrdinaryOps) {
  Graph g = parse(R"(graph f(%n: int, %x: float) {
    %a = mul(add(%n, 3), 2)
    %b = floor_divide(%n, -2)
    %c = lt(%n, 4)
    %d = div(%x, 4)
    return %a, %b, %c, %d })");
  Data out = interpret(g, {Datum(Arg(7)), Datum(Arg(1.0))});
  EXPECT_TRUE(identical(out[0].integer(), Int(20)));
  EXPECT_TRUE(identical(out[1].integer(), Int(-4)));
  EXPECT_EQ(out[2].arg().tag, Tag::flag);
  EXPECT_FALSE(out[2].arg().flag_);
  EXPECT_EQ(out[3].arg().real().value(), 0.25);
}

TEST_F(Interpret, RecursionThroughCalls) {
  Graph g = parse(R"(graph f(%x: f32[s0], %n: int) {
    %r: f32[s0] = call @g(%x, %n)
    return %r }
  graph g(%x: f32[s0], %n: int) {
    %c = eq(%n, 0)
    %r = if %c { yield %x } else {
      %d = mul(%x, 2.0)
      %m = sub(%n, 1)
      %e: f32[s0] = call @g(%d, %m)
      %f = add(%e, %n)
      yield %f
    }
    return %r })");
  expect_same(interpret(g, {floats({1}, {1}), Datum(Arg(4))})[0].tensor(), floats({26}, {1}));
  EXPECT_THROW(interpret(g, {floats({1}, {1}), Datum(Arg(-1))}), ValueError);
}

// ── calls of the front end ──────────────────────────────────────────────────────────────────────

struct Noted final : HostFunction {
  Noted(std::string name, std::vector<std::string>& calls, bool gives)
      : HostFunction(name,
                     gives ? std::vector<Declared>{{DType::f32, 1, {}}} : std::vector<Declared>{}),
        calls(calls) {}
  Outputs run(const Tensors& xs, const Types& types) const override {
    calls.push_back(name);
    return types.empty() ? Outputs() : Outputs{M::mul(xs[0], 2)};
  }
  std::vector<std::string>& calls;
};

TEST_F(Trace, CallsOfTheFrontEndKeepTheirOrder) {
  std::vector<std::string> calls;
  const auto pure = std::make_shared<Noted>("pure", calls, true);
  const auto first = std::make_shared<Noted>("first", calls, false);
  const auto second = std::make_shared<Noted>("second", calls, false);
  const Tensor x = ramp({3});
  TraceCallbacks host;
  const InputSpec spec = spec_of(x, "x");
  Traced traced = trace(
      [&](const Data& in) {
        const Tensor& t = in[0].tensor();
        auto twice = [&] { return call_host(*pure, {t}, t.shape(), false)[0]; };
        call_host(*second, {t}, {}, true);
        call_host(*first, {}, {}, true);
        call_host(*pure, {M::neg(t)}, t.shape(), false);  // not used
        call_host(*second, {t}, {}, true);
        return Data{Datum(M::add(twice(), twice()))};
      },
      absl::MakeConstSpan(&spec, 1), host);
  verify(traced.graph);
  EXPECT_TRUE(calls.empty());
  optimise(traced.graph);
  verify(traced.graph);
  const Data out = interpret(traced.graph, {Datum(x)});
  EXPECT_EQ(calls, (std::vector<std::string>{"second", "first", "second", "pure"}));
  expect_same(out[0].tensor(), M::mul(x, 4));
  const std::string text = print(traced.graph);
  EXPECT_NE(text.find("ordered_callback(<first>, [], [])"), std::string::npos) << text;
  EXPECT_THROW(parse(text), ValueError);
}

}  // namespace
}  // namespace lathe::ir
