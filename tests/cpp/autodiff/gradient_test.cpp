// Every row's derivative against central differences in f64, and the derivative's own derivative.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "autodiff/engine.h"
#include "autodiff/tape.h"
#include "core/error.h"
#include "core/random.h"
#include "include/lathe/ops/create.h"
#include "include/lathe/ops/math.h"
#include "include/lathe/ops/reduce.h"
#include "tests/cpp/support/samples.h"

namespace lathe {
namespace {

using M = math_ops<Tensor>;
using R = reduce_ops<Tensor>;
using testing::Sample;
using testing::SampleTensor;

std::vector<double> numbers(const Tensor& t) {
  Tensor real = is_complex(t.dtype()) ? M::real(t) : t;
  Tensor wide = M::clone(M::cast(real, DType::f64));
  const auto* p = reinterpret_cast<const double*>(wide.data());
  return {p, p + wide.numel().value()};
}

/// A scalar that weighs every floating result element differently.
Tensor objective(const Outputs& ys) {
  Tensor total;
  for (const Tensor& y : ys) {
    if (!differentiable.has(y.dtype()) || !y.requires_grad()) continue;
    Tensor flat = is_complex(y.dtype()) ? M::add(M::real(y), M::mul(M::imag(y), 0.7)) : y;
    Tensor weights = create_ops<Tensor>::linspace(0.6, 1.4, flat.numel(), flat.dtype(), Device{});
    ArgBuilder b;
    b.push(weights);
    b.push(flat.shape());
    weights = call_completed(get_op("reshape"), b.args())[0];
    Tensor part = R::sum(M::mul(flat, weights));
    total = total.defined() ? M::add(total, part) : part;
  }
  return total;
}

/// A sample as a function of its floating tensors.
struct Problem {
  const Sample& sample;
  std::vector<std::vector<double>> values;  // of each tensor
  std::vector<Tensor> originals;

  Tensor make(size_t i, bool track) const {
    Tensor t = from_host(values[i].data(), DType::f64, originals[i].shape());
    if (track) set_requires_grad(t, true);
    return t;
  }

  Tensor run(std::vector<Tensor>& made, bool second) const {
    size_t i = 0;
    testing::PreparedCall call = testing::prepare(sample, [&](const SampleTensor&) {
      Tensor t = originals[i].dtype() == DType::f64 ? make(i, true) : originals[i];
      made.push_back(t);
      ++i;
      return t;
    });
    manual_seed(7);
    // Buffers that the op writes are no variables.
    Tensor y = objective(lathe::call(*call.op, call.view()));
    if (!second || !y.defined()) return y;
    Tensors xs;
    for (const Tensor& t : made)
      if (t.requires_grad()) xs.push_back(t);
    Tensors gs =
        grad({y}, {}, xs, {.retain_graph = true, .create_graph = true, .allow_unused = true});
    Tensor total;
    for (const Tensor& g : gs) {
      if (!g.defined() || !g.requires_grad()) continue;
      Tensor part = R::sum(M::square(g));
      total = total.defined() ? M::add(total, part) : part;
    }
    return total;
  }
};

bool has_written_arguments(const Op& op) { return op.schema.writes(); }

void check(const Sample& s, bool second) {
  std::mt19937_64 rng(static_cast<uint64_t>(s.line) * 977);
  Problem p{s, {}, {}};
  testing::PreparedCall call = testing::prepare(s, [&](const SampleTensor& t) {
    p.originals.push_back(testing::make_tensor(t, DType::f64, rng));
    p.values.push_back(numbers(p.originals.back()));
    return p.originals.back();
  });
  std::vector<Tensor> made;
  Tensor y = p.run(made, second);
  if (!y.defined()) return;
  Tensors xs;
  std::vector<size_t> which;
  for (size_t i = 0; i < made.size(); ++i) {
    if (!made[i].requires_grad()) continue;
    xs.push_back(made[i]);
    which.push_back(i);
  }
  Tensors gs = grad({y}, {}, xs, {.allow_unused = true});
  for (size_t k = 0; k < xs.size(); ++k) {
    std::vector<double> got =
        gs[k].defined() ? numbers(gs[k]) : std::vector<double>(p.values[which[k]].size(), 0.0);
    for (size_t at = 0; at < got.size(); ++at) {
      double& x = p.values[which[k]][at];
      double kept = x, h = 1e-6;
      auto value = [&](double to) {
        x = to;
        std::vector<Tensor> ignored;
        return p.run(ignored, second).item_double();
      };
      double slope = (value(kept + h) - value(kept - h)) / (2 * h);
      x = kept;
      EXPECT_NEAR(got[at], slope, 2e-4 * std::max(1.0, std::abs(slope)))
          << s.op << " (line " << s.line << "), tensor " << which[k] << ", element " << at
          << (second ? ", second order" : "");
    }
  }
}

class Gradients : public ::testing::TestWithParam<size_t> {};

TEST_P(Gradients, MatchDifferences) {
  const Sample& s = testing::samples()[GetParam()];
  const Op& op = get_op(s.op);
  // f32-only and complex samples are checked in their own tests; written buffers are no variables.
  bool complex_only = false;
  for (const auto& a : s.args)
    for (const auto& t : a.tensors) complex_only |= t.kind == 'c';
  if (op.extra.no_grad || complex_only || !s.smooth || has_written_arguments(op) ||
      s.op == "complex")
    return;
  check(s, false);
  check(s, true);
}

INSTANTIATE_TEST_SUITE_P(Rows, Gradients, ::testing::Range<size_t>(0, testing::samples().size()),
                         [](const auto& p) {
                           const Sample& s = testing::samples()[p.param];
                           std::string name = s.op;  // a test's name has no dot
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name + "_line" + std::to_string(s.line);
                         });

}  // namespace
}  // namespace lathe
