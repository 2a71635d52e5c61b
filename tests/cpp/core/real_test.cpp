// Symbolic floats: arithmetic, guards, programs that take them as inputs, and every op definition
// with a fresh one for each float it takes.
#include "core/sizes/real.h"

#include <absl/container/flat_hash_set.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "autodiff/differentiate.h"
#include "autodiff/engine.h"
#include "autodiff/tape.h"
#include "core/base/error.h"
#include "core/dispatch/assign.h"
#include "core/dispatch/call.h"
#include "core/dispatch/custom.h"
#include "core/tensor/random.h"
#include "graph/ir/text.h"
#include "graph/ir/verify.h"
#include "graph/trace/interpret.h"
#include "include/lathe/ops/math.h"
#include "include/lathe/ops/nn.h"
#include "include/lathe/ops/reduce.h"
#include "jit/function.h"
#include "tests/cpp/support/samples.h"
#include "tests/cpp/support/tensors.h"

namespace lathe {
namespace {

using testing::bytes;
using testing::normal;
using testing::Sample;
using testing::SampleTensor;
using M = math_ops<Tensor>;
using N = nn_ops<Tensor>;
using R = reduce_ops<Tensor>;

class Scope : public RealScope {
 public:
  Scope() { enter(); }
  ~Scope() { leave(); }
};

TEST(Real, NumbersComputeAsDoubles) {
  Real a = 0.1, b = 0.2;
  EXPECT_TRUE((a + b).known());
  EXPECT_EQ((a + b).value(), 0.1 + 0.2);
  EXPECT_EQ((a / b).value(), 0.1 / 0.2);
  EXPECT_EQ((-a).value(), -0.1);
  EXPECT_EQ(abs(-b).value(), 0.2);
  EXPECT_TRUE(a < b && b > a && a <= a && !(a == b));
  EXPECT_TRUE(std::isinf((a / 0.0).value()));
}

// An expression lives in the bits of a NaN: no number may look like one.
TEST(Real, EveryNaNIsANumber) {
  for (uint64_t word : {0xFFFFFFFFFFFFFFFFu, 0xFFFC000000000001u, 0xFFF8000000000000u,
                        0x7FFFFFFFFFFFFFFFu, 0x7FF8000000000000u}) {
    Real r = std::bit_cast<double>(word);
    EXPECT_TRUE(r.known());
    EXPECT_TRUE(std::isnan(r.value()));
  }
}

TEST(Real, ExpressionsAreInternedAndEvaluateToPythonsBits) {
  Scope scope;
  Real r = scope.fresh(0.3), s = scope.fresh(-7.0);
  Real e = (1.0 - r * 0.01) / abs(s) + -r;
  EXPECT_FALSE(e.known());
  EXPECT_TRUE(identical(e, (1.0 - r * 0.01) / abs(s) + -r));
  EXPECT_FALSE(identical(e, (1.0 - r * 0.02) / abs(s) + -r));
  EXPECT_EQ(scope.hint(e), (1.0 - 0.3 * 0.01) / 7.0 + -0.3);
  EXPECT_TRUE(scope.facts().empty());
  EXPECT_NE(to_string(e).find(" * 0.01"), std::string::npos) << to_string(e);
}

TEST(Real, QuestionsAreGuards) {
  Scope scope;
  Real r = scope.fresh(0.25);
  EXPECT_TRUE(r < 1.0);
  EXPECT_TRUE(r < 1.0);
  EXPECT_FALSE(r == 0.0);
  ASSERT_EQ(scope.facts().size(), 2u);
  EXPECT_TRUE(scope.facts()[0].holds);
  EXPECT_FALSE(scope.facts()[1].holds);
  EXPECT_FALSE(scope.fixed(r).known());
  EXPECT_EQ(r.value(), 0.25);
  EXPECT_TRUE(scope.fixed(r).known());
  EXPECT_EQ(scope.facts().back().relation, RealRelation::same);
}

TEST(Real, ValuesAreComparedByTheirBits) {
  EXPECT_FALSE(compare(RealRelation::same, 0.0, -0.0));
  EXPECT_TRUE(compare(RealRelation::eq, 0.0, -0.0));
  EXPECT_TRUE(compare(RealRelation::same, NAN, -NAN));
}

TEST(Real, OutsideOfItsTraceItIsRefused) {
  Real r;
  {
    Scope scope;
    r = scope.fresh(2.0);
  }
  EXPECT_THROW(r.value(), TraceError);
  EXPECT_THROW((void)(r < 1.0), TraceError);
  EXPECT_THROW(M::mul(normal({2}, 1), Arg(r)), TraceError);
  Scope another;
  EXPECT_THROW(r.value(), TraceError);
}

// ── programs ────────────────────────────────────────────────────────────────────────────────────

using Body = std::function<Tensor(const Tensor&, Real)>;

/// A function of a tensor and a float.
struct Traced {
  explicit Traced(Body b) : body(std::move(b)) {}
  Tensor operator()(const Tensor& x, double r) {
    jit::FunctionCallbacks host;
    auto run = [&](const ir::Data& in) -> ir::Data {
      return {ir::Datum(body(in[0].tensor(), in[1].arg().real()))};
    };
    const std::string names[] = {"x", "r"};
    return function({ir::Datum(x), ir::Datum(Arg(r))}, names, run, host)[0].tensor();
  }
  void same_as_eager(const Tensor& x, double r) {
    EXPECT_EQ(bytes(body(x, r)), bytes((*this)(x, r))) << r << "\n" << text();
  }
  std::string text() const { return ir::print(function.compiled()[0]->traced.graph); }
  int64_t traces() const { return function.counts().traces; }
  Body body;
  jit::Function function{"f"};
};

TEST(RealInputs, OneProgramServesAllValues) {
  Traced f(
      [](const Tensor& x, Real r) { return N::gelu(M::add(M::mul(x, r), 1.0 - r * 0.5), "none"); });
  Tensor x = normal({5, 7}, 1);
  for (double r : {0.5, 1.0, 0.0, -0.0, -3.75, 1e-300, 1e300, 0.1, double(INFINITY), double(NAN)})
    f.same_as_eager(x, r);
  EXPECT_EQ(f.traces(), 1) << f.text();
  EXPECT_EQ(f.function.compiled()[0]->program->kernels(), 1);
  ir::Graph again = ir::parse(f.text());
  ir::verify(again);
  EXPECT_EQ(ir::print(again), f.text());
}

TEST(RealInputs, ABranchIsAGuard) {
  Traced f([](const Tensor& x, Real r) { return r > 0.0 ? M::mul(x, r) : M::neg(x); });
  Tensor x = normal({9}, 1);
  for (double r : {0.5, 2.0, -1.0, 3.0, -2.0, 0.0}) f.same_as_eager(x, r);
  EXPECT_EQ(f.traces(), 2);
}

TEST(RealInputs, AValueThatIsReadIsAGuard) {
  Traced f([](const Tensor& x, Real r) { return M::mul(x, std::sqrt(r.value())); });
  Tensor x = normal({9}, 1);
  for (double r : {4.0, 9.0, 4.0, 9.0, 0.0, -0.0}) f.same_as_eager(x, r);
  EXPECT_EQ(f.traces(), 4);
  EXPECT_EQ(f.text().find("sqrt"), std::string::npos);
}

TEST(RealInputs, RewritesDoNotTakeThemForTheirFirstValue) {
  Traced f([](const Tensor& x, Real r) { return M::add(M::mul(x, r), r - 1.0); });
  Tensor x = normal({9}, 1);
  for (double r : {1.0, 2.0, 0.0}) f.same_as_eager(x, r);
  EXPECT_EQ(f.traces(), 1);
}

TEST(RealInputs, GradientsAreTheSameBits) {
  Traced f([](const Tensor& x, Real r) {
    Tensor leaf = M::clone(x);
    set_requires_grad(leaf, true);
    Tensor loss = R::sum(M::mul(M::div(leaf, r), M::sub(M::mul(leaf, 1.0 - r), r)));
    return grad({loss}, {}, {leaf})[0];
  });
  Tensor x = normal({33}, 1);
  for (double r : {0.5, 0.25, 3.0}) f.same_as_eager(x, r);
  EXPECT_EQ(f.traces(), 1) << f.text();
}

// ── every definition ────────────────────────────────────────────────────────────────────────────

bool takes_float(const Param& p, const Arg& a) {
  return !p.list && a.scalar() && a.tag != Tag::flag &&
         (p.type == ArgType::real || p.type == ArgType::scalar || p.type == ArgType::tensor);
}
double number(const Arg& a) {
  return a.tag == Tag::real ? a.real().value() : static_cast<double>(a.integer().value());
}

/// A call with inputs for its tensors and floats.
struct Variant {
  const Op* op;
  absl::InlinedVector<Arg, 8> args;
  std::vector<size_t> inputs;

  ir::Data operator()(const ir::Data& in) const {
    absl::InlinedVector<Arg, 8> now = args;
    for (size_t k = 0; k < inputs.size(); ++k) now[inputs[k]] = in[k].arg();
    ir::Data out;
    for (const Tensor& t : lathe::call(*op, Args(now.data(), now.size()))) out.emplace_back(t);
    return out;
  }
};

/// The sample's call with its own floats; then with a float for one tensor after the other, where
/// the op takes one.
std::vector<Variant> variants(const testing::PreparedCall& call) {
  std::vector<Variant> out;
  for (size_t replaced = 0; replaced < call.args.size(); ++replaced) {
    const bool tensor = call.args[replaced].tag == Tag::tensor;
    if (replaced > 0 && (!tensor || call.op->kind != Kind::elementwise)) continue;
    Variant v{call.op, call.args, {}};
    if (replaced > 0) v.args[replaced] = Arg(0.75);
    bool floats = false;
    for (size_t i = 0; i < v.args.size(); ++i) {
      const bool takes = takes_float(call.op->schema.params[i], v.args[i]);
      if (takes || v.args[i].tag == Tag::tensor) v.inputs.push_back(i);
      floats |= takes;
    }
    if (floats) out.push_back(std::move(v));
  }
  return out;
}

void same_for_all_floats(const Variant& v, const std::string& what) {
  ir::Data inputs;
  std::vector<std::string> names;
  for (size_t i : v.inputs) {
    const Arg& a = v.args[i];
    inputs.emplace_back(a.tag == Tag::tensor ? a : Arg(number(a)));
    names.push_back("x" + std::to_string(i));
  }
  jit::Function f(v.op->name());
  jit::FunctionCallbacks host;
  for (double shift : {0.0, 0.125, 0.25}) {
    for (size_t k = 0; k < v.inputs.size(); ++k)
      if (!inputs[k].is_tensor()) inputs[k] = Arg(number(v.args[v.inputs[k]]) + shift);
    ir::Data eager;
    try {
      manual_seed(3);
      eager = v(inputs);
    } catch (const Error&) {  // a probability above 1; an op of integers only
      EXPECT_ANY_THROW(f(inputs, names, v, host)) << what;
      continue;
    }
    manual_seed(3);
    ir::Data got = f(inputs, names, v, host);
    ASSERT_EQ(eager.size(), got.size()) << what;
    for (size_t k = 0; k < got.size(); ++k)
      EXPECT_EQ(bytes(eager[k].tensor()), bytes(got[k].tensor())) << what << " by " << shift;
  }
  // The number itself is a guard only where it decides how many elements there are, or where
  // constants are made of it that no expression over symbols can say (roots, Bessel functions).
  static const absl::flat_hash_set<std::string_view> kDecided = {"arange",
                                                                 "range",
                                                                 "alpha_dropout",
                                                                 "feature_alpha_dropout",
                                                                 "hamming_window",
                                                                 "kaiser_window",
                                                                 "signal_kaiser",
                                                                 "signal_general_hamming",
                                                                 "signal_exponential",
                                                                 "signal_gaussian"};
  const bool decides = kDecided.contains(v.op->public_name());
  for (const auto& c : f.compiled())
    for (const ir::Guard& g : c->traced.guards)
      if (g.kind == ir::GuardKind::number && g.number->relation == RealRelation::same && !decides)
        ADD_FAILURE() << what << " guards " << to_string(*g.number);
}

/// Inferred and expanded with a fresh float for each that it takes, no definition asks for a number
/// itself, and the program is right for other numbers.
TEST(RealInputs, NoDefinitionSpecialises) {
  GradMode no_grad(false);
  int tried = 0;
  for (DType dtype : {DType::f32, DType::f64, DType::f16, DType::bf16})
    for (const Sample& s : testing::samples()) {
      std::mt19937_64 rng(s.seed());
      testing::PreparedCall call = testing::prepare(
          s, [&](const SampleTensor& t) { return testing::make_tensor(t, dtype, rng); });
      if (call.op->schema.writes() || custom_of(*call.op) != nullptr) continue;
      for (const Variant& v : variants(call)) {
        same_for_all_floats(v, std::string(name(dtype)) + " " + s.name);
        ++tried;
      }
    }
  EXPECT_GT(tried, 160);
}

}  // namespace
}  // namespace lathe
