// Every definition's derivative against central differences in f64, and the derivative's own
// derivative.
#include <absl/container/flat_hash_set.h>
#include <absl/strings/str_replace.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "autodiff/engine.h"
#include "autodiff/tape.h"
#include "core/base/error.h"
#include "core/tensor/random.h"
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

/// Every number of a tensor; of a complex one both parts of each element, side by side.
std::vector<double> numbers(const Tensor& t) {
  if (is_complex(t.dtype())) {
    std::vector<double> re = numbers(M::real_part(t)), im = numbers(M::imag_part(t)), both;
    for (size_t i = 0; i < re.size(); ++i) both.insert(both.end(), {re[i], im[i]});
    return both;
  }
  Tensor wide = M::clone(M::cast(t, DType::f64));
  const auto* p = reinterpret_cast<const double*>(wide.data());
  return {p, p + wide.numel().value()};
}

/// The inverse: a tensor of this dtype and shape with these numbers.
Tensor from_numbers(const std::vector<double>& values, DType dtype, const Shape& shape) {
  if (!is_complex(dtype)) return M::cast(from_host(values.data(), DType::f64, shape), dtype);
  if (dtype == DType::c128) return from_host(values.data(), dtype, shape);
  std::vector<float> parts(values.begin(), values.end());
  return from_host(parts.data(), dtype, shape);
}

/// A scalar that weighs every floating result element differently.
Tensor objective(const Outputs& ys) {
  Tensor total;
  for (const Tensor& y : ys) {
    if (!differentiable.has(y.dtype()) || !y.requires_grad()) continue;
    Tensor flat = is_complex(y.dtype()) ? M::add(M::real_part(y), M::mul(M::imag_part(y), 0.7)) : y;
    Tensor weights = create_ops<Tensor>::linspace(0.6, 1.4, flat.numel(), flat.dtype(), Device{});
    ArgBuilder b;
    b.push(weights);
    b.push(flat.shape());
    const Op& reshape = get_op("reshape");
    weights = call(reshape, CompletedArgs(reshape, b.args()))[0];
    Tensor part = R::sum(M::mul(flat, weights));
    total = total.defined() ? M::add(total, part) : part;
  }
  return total;
}

/// The sum of the squared magnitudes.
Tensor squares(const Tensor& g) {
  if (!is_complex(g.dtype())) return R::sum(M::square(g));
  return M::add(R::sum(M::square(M::real_part(g))), R::sum(M::square(M::imag_part(g))));
}

/// A sample as a function of its floating and complex tensors, but those that the op writes.
struct Problem {
  const Sample& sample;
  std::vector<Tensor> originals;
  std::vector<std::vector<double>> values;  // of each tensor
  std::vector<bool> variable;

  /// Real operands are of this dtype. Throws DTypeError where the op is not defined for it.
  Problem(const Sample& s, DType real) : sample(s) {
    std::mt19937_64 rng(s.seed());
    testing::PreparedCall call = testing::prepare(s, [&](const SampleTensor& t) {
      originals.push_back(testing::make_tensor(t, real, rng));
      return originals.back();
    });
    absl::flat_hash_set<const TensorImpl*> written;
    for (size_t i = 0; i < call.args.size(); ++i)
      if (call.op->schema.params[i].written && call.args[i].tag == Tag::tensor)
        written.insert(call.args[i].tensor_);
    for (const Tensor& t : originals) {
      values.push_back(numbers(t));
      variable.push_back(differentiable.has(t.dtype()) && !written.contains(t.impl()));
    }
    std::vector<Tensor> ignored;
    run(ignored, false);
  }

  /// Are all numbers computed with in double precision?
  bool wide() const {
    return std::all_of(originals.begin(), originals.end(), [](const Tensor& t) {
      return !differentiable.has(t.dtype()) || real_type(t.dtype()) == DType::f64;
    });
  }

  Tensor make(size_t i) const {
    Tensor t = from_numbers(values[i], originals[i].dtype(), originals[i].shape());
    if (variable[i]) set_requires_grad(t, true);
    return t;
  }

  /// The objective; of second order: the squares of the objective's gradients. Undefined if nothing
  /// of it depends on a variable.
  Tensor run(std::vector<Tensor>& made, bool second) const {
    testing::PreparedCall call = testing::prepare(sample, [&](const SampleTensor&) {
      made.push_back(make(made.size()));
      return made.back();
    });
    manual_seed(7);
    Tensor y = objective(lathe::call(*call.op, call.view()));
    if (!second || !y.defined()) return y;
    Tensors xs;
    for (const Tensor& t : made)
      if (t.requires_grad()) xs.push_back(t);
    Tensors gs =
        grad({y}, {}, xs, {.retain_graph = true, .create_graph = true, .allow_unused = true});
    Tensor total;
    for (const Tensor& g : gs) {
      if (!g.defined()) continue;
      total = total.defined() ? M::add(total, squares(g)) : squares(g);
    }
    return total;
  }
};

/// Compares the gradients with central differences. Returns whether there was anything to compare.
bool compare(Problem& p, bool second) {
  std::vector<Tensor> made;
  Tensor y = p.run(made, second);
  if (!y.defined()) return false;
  Tensors xs;
  std::vector<size_t> which;
  for (size_t i = 0; i < made.size(); ++i) {
    if (!p.variable[i]) continue;
    xs.push_back(made[i]);
    which.push_back(i);
  }
  Tensors gs(xs.size());  // zeros where nothing is known to depend on the variables
  if (y.requires_grad()) gs = grad({y}, {}, xs, {.allow_unused = true});
  const double h = p.wide() ? 1e-6 : 2e-3, tolerance = p.wide() ? 2e-4 : 5e-3;
  for (size_t k = 0; k < xs.size(); ++k) {
    std::vector<double> got =
        gs[k].defined() ? numbers(gs[k]) : std::vector<double>(p.values[which[k]].size(), 0.0);
    for (size_t at = 0; at < got.size(); ++at) {
      double& x = p.values[which[k]][at];
      double kept = x;
      auto value = [&](double to) {
        x = to;
        std::vector<Tensor> ignored;
        return p.run(ignored, second).item_double();
      };
      double slope = (value(kept + h) - value(kept - h)) / (2 * h);
      x = kept;
      EXPECT_NEAR(got[at], slope, tolerance * std::max(1.0, std::abs(slope)))
          << p.sample.where << ": tensor " << which[k] << ", number " << at
          << (second ? ", second order" : "");
    }
  }
  return !xs.empty();
}

/// In double precision, or in single where the op knows no other.
Problem problem_of(const Sample& s) {
  try {
    return Problem(s, DType::f64);
  } catch (const DTypeError&) {
    return Problem(s, DType::f32);
  }
}

/// Samples of ops with a derivative that are not compared, and why. Everything else is; an op whose
/// definition says that it has no derivative has nothing to be compared with.
struct LeftOut {
  std::string_view sample, why;
};
constexpr std::string_view kTriangle =
    "reads one triangle, and has the derivative of a function of Hermitian matrices";
const std::vector<LeftOut> kLeftOut = {
    {"linalg_cholesky_ex_1", kTriangle},
    {"linalg_cholesky_1", kTriangle},
    {"cholesky_1", kTriangle},
    {"linalg_eigh_1", kTriangle},
    {"linalg_eigvalsh_1", kTriangle},
    {"linalg_eig_1", "the objective depends on the vectors' phases, which is refused"},
    {"fill_diagonal__1", "its one tensor is the one it writes"},
    {"fill_diagonal__2", "its one tensor is the one it writes"},
    {"linalg_pinv_of_1", "the value given is no pseudoinverse of the matrix"},
    {"embedding.renorm_1", "its one float tensor is the one it writes"},
    {"embedding_bag.renorm_1", "its one float tensor is the one it writes"},
    {"embedding_2", "the row of padding_idx has no gradient, by definition"},
    {"embedding.functional_2", "the row of padding_idx has no gradient, by definition"},
    {"reinterpreted_put_1", "its elements are integers and bools"},
    {"overwritten_1", "the history is one operand's and the value the other's, by definition"},
    {"igamma_1", "there is no derivative by the first operand, as in PyTorch"},
    {"igammac_1", "there is no derivative by the first operand, as in PyTorch"},
    {"gumbel_softmax_2", "hard: its derivative is that of the softmax, by definition"},
};

bool left_out(const Sample& s) {
  return std::any_of(kLeftOut.begin(), kLeftOut.end(),
                     [&](const LeftOut& l) { return l.sample == s.name; });
}

std::vector<const Sample*> compared() {
  std::vector<const Sample*> out;
  for (const Sample& s : testing::samples())
    if (!get_op(s.op).extra.no_grad && !left_out(s)) out.push_back(&s);
  return out;
}

// A line of the samples that begins with '!' meets points without a derivative.
TEST(GradientsLeftOut, AreListedByNameWithAReason) {
  for (const LeftOut& l : kLeftOut) {
    const auto& all = testing::samples();
    auto found = std::find_if(all.begin(), all.end(), [&](auto& s) { return s.name == l.sample; });
    ASSERT_NE(found, all.end()) << l.sample << " is left out, and there is no such sample";
    EXPECT_FALSE(get_op(found->op).extra.no_grad) << l.sample << " has no derivative anyway";
    EXPECT_FALSE(l.why.empty()) << l.sample;
  }
  for (const Sample& s : testing::samples())
    EXPECT_TRUE(s.smooth || left_out(s)) << s.where << ": give the reason in kLeftOut";
}

class Gradients : public ::testing::TestWithParam<const Sample*> {};

TEST_P(Gradients, MatchDifferences) {
  Problem p = problem_of(*GetParam());
  EXPECT_TRUE(compare(p, false)) << p.sample.where << ": nothing was compared";
  EXPECT_TRUE(compare(p, true)) << p.sample.where << ": nothing was compared, second order";
}

INSTANTIATE_TEST_SUITE_P(Rows, Gradients, ::testing::ValuesIn(compared()), [](const auto& p) {
  return absl::StrReplaceAll(p.param->name, {{".", "__"}});  // a test's name has no dot
});

}  // namespace
}  // namespace lathe
