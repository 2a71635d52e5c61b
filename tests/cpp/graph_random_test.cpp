// Random programs: eager, traced, optimised and from a file give the same bytes, and so do gradients by the
// tape and by the graph. Every program is run on sizes it was not traced with.
#include <absl/strings/str_cat.h>
#include <gtest/gtest.h>

#include <random>

#include "autodiff/differentiate.h"
#include "autodiff/engine.h"
#include "autodiff/tape.h"
#include "core/error.h"
#include "core/fn.h"
#include "core/inplace.h"
#include "graph/file/file.h"
#include "graph/interpret.h"
#include "graph/pipeline.h"
#include "graph/structure.h"
#include "graph/trace.h"
#include "graph/verify.h"
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
using C = create_ops<Tensor>;

/// A program over matrices of one shape, written by a seed: the same seed writes the same program, whether it
/// runs on numbers or symbols.
class RandomProgram {
 public:
  explicit RandomProgram(uint32_t seed) : seed_(seed) {}

  Data operator()(const Data& in) const {
    std::mt19937 rng(seed_);
    std::vector<Tensor> values;
    for (const Datum& d : in) values.push_back(d.tensor());
    // Writes go to a copy, so that leaves may require grad.
    values.push_back(M::clone(values[0]));
    int steps = 4 + static_cast<int>(rng() % 12);
    for (int i = 0; i < steps; ++i) {
      SiteScope site(make_site("random.py", i + 1));
      step(rng, values);
    }
    Data out;
    for (int i = 0; i < 3; ++i) out.emplace_back(values[values.size() - 1 - rng() % values.size()]);
    return out;
  }

 private:
  static Tensor pick(std::mt19937& rng, const std::vector<Tensor>& values) {
    return values[values.size() - 1 - std::min<size_t>(rng() % 4, values.size() - 1)];
  }

  static void step(std::mt19937& rng, std::vector<Tensor>& values) {
    Tensor x = pick(rng, values), y = pick(rng, values);
    switch (rng() % 20) {
      case 0: values.push_back(M::add(x, y)); break;
      case 1: values.push_back(M::mul(x, y)); break;
      case 2: values.push_back(M::sub(x, M::div(y, 4.0))); break;
      case 3: values.push_back(M::tanh(x)); break;
      case 4: values.push_back(M::add(x, R::sum(y, {1}, true))); break;
      case 5: values.push_back(M::mul(x, R::mean(y, {0}, true))); break;
      case 6: values.push_back(N::mm(N::mm(M::tanh(x), S::transpose(M::mul(y, 1.0), 0, 1)), x)); break;
      case 7: values.push_back(N::softmax(x, -1)); break;
      case 8: values.push_back(M::where(M::lt(x, y), x, M::neg(M::neg(y)))); break;
      case 9: values.push_back(S::transpose(S::transpose(x, 0, 1), 1, 0)); break;
      case 10: values.push_back(N::relu(M::sub(x, 0.25))); break;
      case 11: {
        Tensor parts[] = {S::slice(x, 0, 0, 1), S::slice(y, 0, 1, Arg())};
        values.push_back(S::cat(parts, 0));
        break;
      }
      case 12: write(rng, values); break;
      case 13: branch(x, y, values); break;
      case 14: loop(x, y, values); break;
      case 15: values.push_back(M::sigmoid(M::add(M::mul(x, 0.5), 1))); break;
      case 16: values.push_back(S::reshape(S::reshape(x, {x.numel()}), Ints(x.shape()))); break;
      case 17: values.push_back(M::add(M::cast(M::cast(x, DType::f64), DType::f32), M::mul(y, 1))); break;
      case 18: values.push_back(M::maximum(x, y)); break;
      case 19: values.push_back(M::mul(M::exp(M::clamp_max(x, 1.0)), M::square(y))); break;
    }
  }

  static void write(std::mt19937& rng, std::vector<Tensor>& values) {
    Tensor t = M::clone(pick(rng, values));
    Tensor row = S::select(t, 0, 0);
    assign(row, M::mul(row, 2.0));
    assign(S::slice(t, 1, 0, 1), C::ones(Ints{t.size(0), 1}, DType::f32));
    values.push_back(M::add(t, S::unsqueeze(row, 0)));
  }
  static void branch(const Tensor& x, const Tensor& y, std::vector<Tensor>& values) {
    Data r = if_(
        Datum(M::lt(R::sum(x), R::sum(y))), [&] { return Data{M::mul(x, 2.0), y}; },
        [&] { return Data{M::tanh(y), M::add(x, y)}; });
    values.push_back(r[0].tensor());
    values.push_back(r[1].tensor());
  }
  static void loop(const Tensor& x, const Tensor& y, std::vector<Tensor>& values) {
    auto body = [&](Int i, const Data& c) {
      Tensor row = S::select(y, 0, i);
      return Data{M::tanh(M::add(M::mul(c[0].tensor(), 0.5), row))};
    };
    values.push_back(for_(0, y.size(0), 1, body, {Datum(x)})[0].tensor());
  }

  uint32_t seed_;
};

Tensor noise(IntSpan shape, uint32_t seed) {
  std::mt19937 rng(seed);
  std::vector<float> v(static_cast<size_t>(numel(shape).value()));
  for (float& f : v) f = static_cast<float>(static_cast<int>(rng() % 4001) - 2000) / 1000.0F;
  return from_host(v.data(), DType::f32, shape);
}
std::string bytes(const Tensor& t) {
  Tensor c = M::clone(t);
  return lathe::to_string(type_of(c)) +
         std::string(reinterpret_cast<const char*>(c.data()),
                     static_cast<size_t>(c.numel().value()) * size_of(c.dtype()));
}
std::string all_bytes(const Data& d) {
  std::string out;
  for (const Datum& x : d) out += bytes(x.tensor());
  return out;
}

class RandomGraphs : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    install_executor();
    install_tape();
  }
};

Graph traced(const RandomProgram& program, const Data& example) {
  std::vector<InputSpec> specs;
  for (size_t i = 0; i < example.size(); ++i)
    specs.push_back(spec_of(example[i].tensor(), absl::StrCat("x", i)));
  Host host;
  auto body = [&](const Data& in) { return program(in); };
  return std::move(trace(body, specs, host, {.aliases = false}).graph);
}

void check_seed(uint32_t seed) {
  RandomProgram program(seed);
  Graph g = traced(program, {noise({3, 4}, seed), noise({3, 4}, seed + 1)});
  verify(g);
  Graph optimised = g.clone();
  optimise(optimised);
  Graph loaded = from_bytes(to_bytes(optimised)).graph;
  int wrt[] = {0, 1};
  Vjp vjp = differentiate(g, wrt);
  verify(vjp.forward);
  verify(vjp.backward);
  optimise(vjp.forward);
  optimise(vjp.backward);
  for (auto [rows, columns] : {std::pair{3, 4}, {2, 7}, {9, 3}}) {
    Data in{noise({rows, columns}, seed + 7), noise({rows, columns}, seed + 8)};
    Data eager;
    {
      GradMode off(false);
      eager = program(in);
    }
    std::string want = all_bytes(eager);
    EXPECT_EQ(all_bytes(interpret(g, in)), want) << "traced, seed " << seed << "\n" << print(g);
    EXPECT_EQ(all_bytes(interpret(optimised, in)), want) << "optimised, seed " << seed << "\n"
                                                         << print(optimised);
    EXPECT_EQ(all_bytes(interpret(loaded, in)), want) << "loaded, seed " << seed;

    Data leaves;
    Tensors xs, ys, dys;
    for (const Datum& d : in) {
      Tensor leaf = M::clone(d.tensor());
      set_requires_grad(leaf, true);
      leaves.emplace_back(leaf);
      xs.push_back(leaf);
    }
    Data tracked = program(leaves);
    GradMode on(true);
    Data forward = interpret(vjp.forward, in);
    Data backward_in(forward.end() - vjp.residuals, forward.end());
    for (int k : vjp.cotangents) {
      const Tensor& y = tracked[static_cast<size_t>(k)].tensor();
      ASSERT_TRUE(y.requires_grad()) << "seed " << seed;
      ys.push_back(y);
      dys.push_back(noise(y.shape(), seed + static_cast<uint32_t>(k)));
      backward_in.emplace_back(dys.back());
    }
    if (ys.empty()) continue;
    Tensors grads = grad(ys, dys, xs, {.allow_unused = true});
    Data got = interpret(vjp.backward, backward_in);
    for (size_t i = 0; i < 2; ++i) {
      ASSERT_EQ(grads[i].defined(), vjp.gradients[i] >= 0) << "seed " << seed;
      if (!grads[i].defined()) continue;
      EXPECT_EQ(bytes(got[static_cast<size_t>(vjp.gradients[i])].tensor()), bytes(grads[i]))
          << "gradient " << i << ", seed " << seed << "\n"
          << print(g);
    }
  }
}

TEST_F(RandomGraphs, SameBitsEverywhere) {
  for (uint32_t seed = 1; seed <= 60 && !HasFailure(); ++seed) check_seed(seed);
}

TEST_F(RandomGraphs, SlowManySeeds) {
  for (uint32_t seed = 1000; seed < 1600 && !HasFailure(); ++seed) check_seed(seed);
}

}  // namespace
}  // namespace lathe::ir
