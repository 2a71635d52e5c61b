// Machine code for lines of eager elementwise ops: the interpreter's bits, and when it is asked
// for.
#include "jit/kernel/line_code.h"

#include <gtest/gtest.h>

#include <cstring>

#include "core/base/flags.h"
#include "core/ops/names.h"
#include "jit/kernel/background.h"
#include "kernels/own/program.h"
#include "tests/cpp/support/kernels_support.h"
#include "tests/cpp/support/random_expr.h"

namespace lathe::jit {
namespace {

using namespace names;

struct Lines {
  std::vector<std::vector<std::byte>> bytes;
  absl::InlinedVector<LineOperand, 6> at;

  void add(DType d, int64_t n, bool single, std::mt19937_64& rng) {
    std::vector<std::byte> line(static_cast<size_t>(n) * size_of(d));
    for (int64_t i = 0; i < n; ++i) {
      const uint64_t bits = testing::random_value(d, rng);
      std::memcpy(line.data() + static_cast<size_t>(i) * size_of(d), &bits, size_of(d));
    }
    bytes.push_back(std::move(line));
    at.push_back({bytes.back().data(), single ? 0 : 1});
  }
};

void expect_same(const ScalarFunction& f, const Lines& want, const Lines& got,
                 const std::string& how) {
  for (size_t k = 0; k < f.output_types.size(); ++k) {
    const DType d = f.output_types[k];
    for (size_t i = 0; i < want.bytes[k].size(); i += size_of(d)) {
      uint64_t a = 0, b = 0;
      std::memcpy(&a, want.bytes[k].data() + i, size_of(d));
      std::memcpy(&b, got.bytes[k].data() + i, size_of(d));
      ASSERT_TRUE(testing::same_value(d, a, b)) << how << ", byte " << i << "\n" << f.print();
    }
  }
}

/// The code of f for this pattern, made, against the interpreter.
void check_code(const ScalarFunction& f, unsigned splat, std::mt19937_64& rng) {
  const own::LineCode* code = line_code(f, splat);
  ASSERT_NE(code, nullptr);
  EXPECT_EQ(line_code(f, splat), code) << "it is given for good";
  for (const int64_t n : {1, 7, 64, 1000}) {
    Lines in, want;
    for (size_t k = 0; k < f.inputs.size(); ++k) in.add(f.inputs[k], n, splat >> k & 1, rng);
    for (DType d : f.output_types) want.add(d, n, false, rng);
    Lines got = want;
    for (size_t k = 0; k < got.at.size(); ++k) got.at[k].data = got.bytes[k].data();
    SimdProgram(f).run(in.at, want.at, n, LineContext{});
    if (!code->run(in.at, got.at, n)) {  // it is compiled in the background
      wait_for_background();
      ASSERT_TRUE(code->run(in.at, got.at, n));
    }
    ASSERT_NO_FATAL_FAILURE(expect_same(f, want, got, absl::StrCat(n, " elements, ", splat)));
  }
}

TEST(LineCode, HasTheBitsOfTheInterpreter) {
  std::mt19937_64 rng(3);
  const auto of = [](const BodyFn& body, std::vector<DType> inputs) { return build(body, inputs); };
  for (const DType d : {DType::f32, DType::f64, DType::i32}) {
    check_code(
        of([](absl::Span<const Expr> x) { return Exprs{select(lt(0, x[0]), x[0], x[0] * x[1])}; },
           {d, d}),
        2, rng);
    check_code(
        of([](absl::Span<const Expr> x) { return Exprs{pmin(x[2], pmax(x[1], x[0]))}; }, {d, d, d}),
        6, rng);
    check_code(of(
                   [](absl::Span<const Expr> x) {
                     return Exprs{x[0] * x[1] + x[2], lt(x[0], x[1])};
                   },
                   {d, d, d}),
               0, rng);
  }
}

TEST(LineCode, RandomBodies) {
  std::mt19937_64 rng(7);
  for (int i = 0; i < 30; ++i) {
    testing::ProgramOptions options;
    options.steps = 6;
    const ScalarFunction f = testing::random_program(rng, options).built();
    bool checks = false;
    for (const ExprNode& n : f.graph.nodes()) checks |= n.prim == Prim::check;
    if (checks || !own::LineCodes::serves(f)) continue;
    const auto patterns = (1u << f.inputs.size()) - 1;
    check_code(f, static_cast<unsigned>(rng()) % patterns, rng);
  }
}

TEST(LineCode, TheFlagsDecide) {
  const ScalarFunction f = build([](absl::Span<const Expr> x) { return Exprs{x[0] * x[0] + x[0]}; },
                                 std::vector<DType>{DType::f32});
  {
    FlagScope simd(Flag::engine, "simd");
    EXPECT_EQ(line_code(f, 0), nullptr);
  }
  std::mt19937_64 rng(1);
  Lines in, out;
  in.add(DType::f32, 64, false, rng), out.add(DType::f32, 64, false, rng);
  own::LineCodes codes(f, 10, 1000);
  {
    FlagScope never(Flag::fuse_after, "-1");
    for (int i = 0; i < 3; ++i) EXPECT_FALSE(codes.run(in.at, out.at, 64));
  }
  FlagScope soon(Flag::fuse_after, "0");
  EXPECT_FALSE(codes.run(in.at, out.at, 64)) << "there has been no work to speak of";
  for (int i = 0; i < 5000; ++i) codes.run(in.at, out.at, 64);  // half a millisecond, as it counts
  wait_for_background();
  EXPECT_TRUE(codes.run(in.at, out.at, 64));
  in.at[0].stride = 2;
  EXPECT_FALSE(codes.run(in.at, out.at, 32)) << "only what is contiguous, or one element";
  in.at[0].stride = 0;
  EXPECT_FALSE(codes.run(in.at, out.at, 64)) << "what is one element throughout is filled";
}

TEST(LineCode, EagerOpsHaveTheSameBits) {
  FlagScope soon(Flag::fuse_after, "0");
  const Tensor x = test::random_tensor(DType::f32, {37, 300}, 5);
  const auto all = [&] {
    return Tensors{N::gelu(x, "none"),
                   N::leaky_relu(x, 0.01),
                   M::sign(x),
                   M::clamp(x, -1, 1),
                   M::where(M::gt(x, 0), M::mul(x, 2), M::sigmoid(x)),
                   N::softplus(x)};
  };
  for (int i = 0; i < 200; ++i) (void)all();
  wait_for_background();
  const Tensors coded = all();
  FlagScope simd(Flag::engine, "simd");
  const Tensors plain = all();
  for (size_t k = 0; k < plain.size(); ++k)
    EXPECT_EQ(test::bits_of(coded[k]), test::bits_of(plain[k])) << k;
}

}  // namespace
}  // namespace lathe::jit
