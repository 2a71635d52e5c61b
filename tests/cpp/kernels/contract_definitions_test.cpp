// Contractions as their formulas say: definitions made here, in a dozen lines, have values, both
// gradients, gradients of gradients, traces and texts.
#include <absl/strings/match.h>
#include <gtest/gtest.h>

#include "autodiff/engine.h"
#include "autodiff/tape.h"
#include "graph/ir/text.h"
#include "graph/ir/verify.h"
#include "graph/trace/interpret.h"
#include "include/lathe/ops/create.h"
#include "include/lathe/ops/math.h"
#include "include/lathe/ops/reduce.h"
#include "include/lathe/ops/shape.h"
#include "jit/function.h"
#include "tests/cpp/support/kernels_support.h"

namespace lathe::test {
namespace {

using M = math_ops<Tensor>;
using R = reduce_ops<Tensor>;
using S = shape_ops<Tensor>;

constexpr DType i8 = DType::i8, i32 = DType::i32, bf16 = DType::bf16, f32 = DType::f32,
                f64 = DType::f64;

void define(Definitions& r) {
  r.contract(
      "scratch_conv3d(Tensor x, Tensor w, int[3] stride=1, int[3] pad=0, int groups=1) -> Tensor",
      "O[n, g o, z, y, x] += X[n, g c, z*stride0 + h - pad0, y*stride1 + i - pad1,"
      " x*stride2 + j - pad2] * W[g o, c, h, i, j] over h, i, j, c where g = groups",
      {.domain = floating, .doc = "A convolution over three axes."});
  r.contract(
      "scratch_transposed(Tensor x, Tensor w, int[2] stride=1, int[2] pad=0, int[2] more=0)"
      " -> Tensor",
      "O[n, o, y*stride0 + i - pad0 (+ more0), x*stride1 + j - pad1 (+ more1)]"
      " += X[n, c, y, x] * W[c, o, i, j] over i, j, c",
      {.domain = floating, .doc = "A transposed convolution."});
  r.contract("scratch_int8(Tensor a, Tensor b) -> Tensor",
             "O[..., m, n] += A[..., m, k] * B[..., k, n]",
             {.domain = {i8}, .sums = {{i8, i8, i32, i32}}, .no_grad = true, .doc = "Exact."});
  r.contract("scratch_bf16(Tensor a, Tensor b) -> Tensor", "O[m, n] += A[m, k] * B[k, n]",
             {.domain = floating, .sums = {{bf16, bf16, f32, f32}}, .doc = "Unrounded sums."});
  r.contract("scratch_weight(Tensor a, Tensor b) -> Tensor", "O[..., n] += A[..., k] * B[n, k]",
             {.domain = floating, .doc = "One weight for all leading axes."});
  r.contract("scratch_turned(Tensor a, Tensor b) -> Tensor", "O[n, m, l] += B[k, l, m] * A[k, n]",
             {.domain = floating, .doc = "Axes in another order."});
  r.contract("scratch_outer(Tensor a, Tensor b) -> Tensor", "O[i, j] += A[i] * B[j]",
             {.domain = floating, .doc = "Nothing is summed."});
  r.contract("scratch_linear(Tensor x, Tensor w) -> Tensor", "O[..., m] += X[..., k] * W[k, m]",
             {.domain = real_numbers, .doc = "Any dtypes that meet."});
}

class ContractDefinitions : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    install_executor();
    install_tape();
    if (find_op("scratch_outer") == nullptr) define_ops(define);
  }
};

// ── values ──────────────────────────────────────────────────────────────────────────────────────

TEST_F(ContractDefinitions, Conv3dIsThePlainLoop) {
  Tensor x = random_tensor(f64, {2, 4, 4, 5, 3}, 1), w = random_tensor(f64, {6, 2, 2, 3, 2}, 2);
  const int64_t groups = 2, sz = 1, sy = 2, sx = 1, pz = 0, py = 1, px = 1;
  Tensor y = run1("scratch_conv3d", x, w, Ints{sz, sy, sx}, Ints{pz, py, px}, groups);
  ASSERT_EQ(to_string(y.shape()), "[2, 6, 3, 3, 4]");
  auto xs = values_of<double>(x), ws = values_of<double>(w), ys = values_of<double>(y);
  auto read = [&](int64_t n, int64_t c, int64_t p, int64_t q, int64_t r) {
    bool inside = p >= 0 && p < 4 && q >= 0 && q < 5 && r >= 0 && r < 3;
    return inside ? xs[static_cast<size_t>((((n * 4 + c) * 4 + p) * 5 + q) * 3 + r)] : 0;
  };
  size_t at = 0;
  for (int64_t n = 0; n < 2; ++n)
    for (int64_t o = 0; o < 6; ++o)
      for (int64_t a = 0; a < 3; ++a)
        for (int64_t b = 0; b < 3; ++b)
          for (int64_t d = 0; d < 4; ++d, ++at) {
            double acc = 0;
            for (int64_t h = 0; h < 2; ++h)
              for (int64_t i = 0; i < 3; ++i)
                for (int64_t j = 0; j < 2; ++j)
                  for (int64_t c = 0; c < 2; ++c)
                    acc = std::fma(
                        read(n, o / 3 * 2 + c, a * sz + h - pz, b * sy + i - py, d * sx + j - px),
                        ws[static_cast<size_t>((((o * 2 + c) * 2 + h) * 3 + i) * 2 + j)], acc);
            ASSERT_EQ(ys[at], acc) << at;
          }
}

TEST_F(ContractDefinitions, TransposedConvolutionIsThePlainLoop) {
  Tensor x = random_tensor(f64, {2, 3, 4, 3}, 3), w = random_tensor(f64, {3, 2, 3, 2}, 4);
  const int64_t sy = 2, sx = 3, py = 1, px = 0;
  Tensor y = run1("scratch_transposed", x, w, Ints{sy, sx}, Ints{py, px}, Ints{1, 4});
  // (4 - 1) * 2 + 3 - 2 + 1 and (3 - 1) * 3 + 2 + 4: more than a stride may follow.
  ASSERT_EQ(to_string(y.shape()), "[2, 2, 8, 12]");
  auto xs = values_of<double>(x), ws = values_of<double>(w), ys = values_of<double>(y);
  size_t at = 0;
  for (int64_t n = 0; n < 2; ++n)
    for (int64_t o = 0; o < 2; ++o)
      for (int64_t p = 0; p < 8; ++p)
        for (int64_t q = 0; q < 12; ++q, ++at) {
          double acc = 0;
          for (int64_t i = 0; i < 3; ++i)
            for (int64_t j = 0; j < 2; ++j)
              for (int64_t c = 0; c < 3; ++c) {
                int64_t a = p + py - i, b = q + px - j;
                if (a % sy != 0 || b % sx != 0) continue;
                a /= sy, b /= sx;
                bool inside = a >= 0 && a < 4 && b >= 0 && b < 3;
                double v = inside ? xs[static_cast<size_t>(((n * 3 + c) * 4 + a) * 3 + b)] : 0;
                acc = std::fma(v, ws[static_cast<size_t>(((c * 2 + o) * 3 + i) * 2 + j)], acc);
              }
          ASSERT_EQ(ys[at], acc) << at;
        }
}

TEST_F(ContractDefinitions, Int8IsSummedInInt32) {
  const int64_t k = 1300;  // 1300 * 127 * 127 does not fit in 16 bits
  std::vector<int8_t> av(static_cast<size_t>(3 * k)), bv(static_cast<size_t>(k * 2));
  for (size_t i = 0; i < av.size(); ++i) av[i] = static_cast<int8_t>(i % 5 == 0 ? 127 : -128);
  for (size_t i = 0; i < bv.size(); ++i) bv[i] = static_cast<int8_t>(static_cast<int>(i) % 256);
  Tensor y = run1("scratch_int8", tensor_of(av, i8, {3, k}), tensor_of(bv, i8, {k, 2}));
  ASSERT_EQ(y.dtype(), i32);
  auto ys = values_of<int32_t>(y);
  for (int64_t m = 0; m < 3; ++m)
    for (int64_t n = 0; n < 2; ++n) {
      int32_t want = 0;
      for (int64_t i = 0; i < k; ++i)
        want += av[static_cast<size_t>(m * k + i)] * bv[static_cast<size_t>(i * 2 + n)];
      EXPECT_EQ(ys[static_cast<size_t>(m * 2 + n)], want);
    }
  EXPECT_EQ(bytes_of(run1("mm", tensor_of(av, i8, {3, k}), tensor_of(bv, i8, {k, 2}), i32)),
            bytes_of(y));
  EXPECT_THROW(run1("scratch_int8", y, y), DTypeError);
}

TEST_F(ContractDefinitions, HalfPrecisionSumsAreKeptUnrounded) {
  FlagScope numerics(Flag::numerics, "defined");  // a vendor's products of bf16 have other bits
  Tensor a = random_tensor(bf16, {5, 700}, 5), b = random_tensor(bf16, {700, 4}, 6);
  Tensor wide = run1("mm", run1("cast", a, f32), run1("cast", b, f32));
  Tensor sums = run1("scratch_bf16", a, b);
  ASSERT_EQ(sums.dtype(), f32);
  EXPECT_EQ(bytes_of(sums), bytes_of(wide));
  EXPECT_EQ(bytes_of(run1("mm", a, b, f32)), bytes_of(wide));
  EXPECT_EQ(bytes_of(run1("mm", a, b)), bytes_of(run1("cast", wide, bf16)));
  EXPECT_EQ(bytes_of(run1("mm", a, b, f64)),
            bytes_of(run1("mm", run1("cast", a, f64), run1("cast", b, f64))));
  EXPECT_THROW(run1("mm", wide, wide, bf16), DTypeError);
}

TEST_F(ContractDefinitions, AWeightOfIntegersIsReadInTheInputsDtype) {
  Tensor x = random_tensor(f32, {6, 40}, 7), w = random_tensor(i8, {40, 9}, 8);
  for (const char* op : {"scratch_linear", "mm"}) {
    Tensor y = run1(op, x, w);
    ASSERT_EQ(y.dtype(), f32);
    EXPECT_EQ(bytes_of(y), bytes_of(run1(op, x, run1("cast", w, f32))));
  }
}

// ── gradients ───────────────────────────────────────────────────────────────────────────────────

struct Case {
  const char* op;
  std::vector<Shape> shapes;
  std::vector<Ints> attrs;
};

std::vector<Case> cases() {
  return {{"scratch_conv3d", {{1, 2, 4, 5, 3}, {4, 1, 2, 3, 2}}, {{1, 2, 1}, {0, 1, 1}, {2}}},
          {"scratch_conv3d", {{2, 2, 3, 3, 3}, {2, 2, 2, 2, 1}}, {{2, 2, 2}, {0, 0, 0}, {1}}},
          {"scratch_transposed", {{1, 2, 3, 2}, {2, 3, 3, 2}}, {{2, 3}, {1, 0}, {1, 4}}},
          {"scratch_bf16", {{3, 4}, {4, 2}}, {}},
          {"scratch_weight", {{2, 3, 4}, {5, 4}}, {}},
          {"scratch_turned", {{2, 4, 5}, {2, 3}}, {}},
          {"scratch_outer", {{3}, {4}}, {}},
          {"scratch_linear", {{2, 2, 3}, {3, 4}}, {}}};
}

Tensor apply(const Case& c, const Tensor& a, const Tensor& b) {
  ArgBuilder args;
  args.push(a);
  args.push(b);
  for (const Ints& i : c.attrs) i.values.size() == 1 ? args.push(i.values[0]) : args.push(i);
  const Op& op = get_op(c.op);
  return call(op, CompletedArgs(op, args.args()))[0];
}

/// Weighs every element differently, so that a gradient with transposed elements is another.
Tensor weighed(const Tensor& y) {
  Tensor w = create_ops<Tensor>::linspace(0.6, 1.4, y.numel(), y.dtype(), Device{});
  return R::sum(M::mul(M::mul(y, y), S::reshape(w, y.shape())));
}

/// Both gradients of weighed(op(a, b)) and, by way of their squares, the second derivatives.
Tensors gradients(const Case& c, const Tensor& a0, const Tensor& b0) {
  Tensor a = M::clone(a0), b = M::clone(b0);
  set_requires_grad(a, true);
  set_requires_grad(b, true);
  Tensors first = grad({weighed(apply(c, a, b))}, {}, {a, b}, {.create_graph = true});
  Tensor squares = M::add(R::sum(M::square(first[0])), R::sum(M::square(first[1])));
  Tensors all = grad({squares}, {}, {a, b}, {});
  all.insert(all.begin(), first.begin(), first.end());
  return all;
}

TEST_F(ContractDefinitions, GradientsAreDifferences) {
  for (const Case& c : cases()) {
    Tensors at{random_tensor(f64, c.shapes[0], 11), random_tensor(f64, c.shapes[1], 12)};
    for (Tensor& t : at) t = M::mul(t, 0.3);
    Tensors got = gradients(c, at[0], at[1]);
    auto objective = [&](const Tensors& x, bool second) {
      if (!second) return weighed(apply(c, x[0], x[1])).item_double();
      Tensors g = gradients(c, x[0], x[1]);
      return M::add(R::sum(M::square(g[0])), R::sum(M::square(g[1]))).item_double();
    };
    for (bool second : {false, true})
      for (size_t k = 0; k < 2; ++k) {
        auto slopes = values_of<double>(got[k + (second ? 2 : 0)]);
        ASSERT_EQ(to_string(got[k + (second ? 2 : 0)].shape()), to_string(c.shapes[k])) << c.op;
        for (size_t e = 0; e < slopes.size(); ++e) {
          auto moved = [&](double by) {
            Tensors x{M::clone(at[0]), M::clone(at[1])};
            reinterpret_cast<double*>(x[k].mutable_data())[e] += by;
            return objective(x, second);
          };
          const double h = 1e-6, want = (moved(h) - moved(-h)) / (2 * h);
          EXPECT_NEAR(slopes[e], want, 2e-5 * std::max(1.0, std::abs(want)))
              << c.op << ", operand " << k << ", element " << e << (second ? ", second" : "");
        }
      }
  }
}

TEST_F(ContractDefinitions, GradientsOfMixedDtypesHaveTheOperandsOwn) {
  Tensor a = random_tensor(bf16, {5, 7}, 13), b = random_tensor(bf16, {7, 4}, 14);
  set_requires_grad(a, true);
  Tensor y = run1("scratch_bf16", a, b);
  Tensor da = grad({R::sum(y)}, {}, {a}, {})[0];
  EXPECT_EQ(da.dtype(), bf16);
  Tensor x = random_tensor(f32, {5, 7}, 15), w = random_tensor(i8, {7, 4}, 16);
  set_requires_grad(x, true);
  Tensor dx = grad({R::sum(run1("scratch_linear", x, w))}, {}, {x}, {})[0];
  Tensor ones = create_ops<Tensor>::ones(Shape{5, 4}, f32, Device{});
  EXPECT_EQ(bytes_of(dx),
            bytes_of(run1("mm", ones, run1("transpose", run1("cast", w, f32), 0, 1))));
}

// ── engines ─────────────────────────────────────────────────────────────────────────────────────

/// Values, gradients and second derivatives in one traced function, as eager has them.
TEST_F(ContractDefinitions, TracedIsEagerOnEveryEngine) {
  for (const Case& c : cases())
    for (DType dtype : {f32, bf16}) {
      auto body = [&](const Tensors& x) -> Outputs {
        Tensors all = gradients(c, x[0], x[1]);
        all.push_back(apply(c, x[0], x[1]));
        return Outputs(all.begin(), all.end());
      };
      Tensors in{random_tensor(dtype, c.shapes[0], 21), random_tensor(dtype, c.shapes[1], 22)};
      Outputs eager = body(in);
      jit::Function f("definition");
      for (const char* engine : {"simd", "llvm"})
        for (const char* threads : {"1", "3"}) {
          FlagScope by(Flag::engine, engine), on(Flag::threads, threads);
          Outputs got = f(in, body);
          for (size_t k = 0; k < got.size(); ++k)
            EXPECT_EQ(bytes_of(eager[k]), bytes_of(got[k])) << c.op << ", result " << k;
        }
      FlagScope off(Flag::disabled, "own.gemm,onednn,openblas,eigen");
      Outputs plain = body(in);
      for (size_t k = 0; k < plain.size(); ++k)
        EXPECT_EQ(bytes_of(eager[k]), bytes_of(plain[k])) << c.op << ", reference, result " << k;
    }
}

// ── the family ──────────────────────────────────────────────────────────────────────────────────

TEST_F(ContractDefinitions, AdjointsAreNamedDefinitionsWithAnOrderOfSums) {
  const Op& conv = get_op("scratch_conv3d");
  const Op &d0 = get_op("scratch_conv3d_d0"), &d1 = get_op("scratch_conv3d_d1");
  EXPECT_EQ(d0.schema.text,
            "scratch_conv3d_d0(Tensor dy, Tensor w, int[] shape, int[3] stride=1, int[3] pad=0, "
            "int groups=1) -> Tensor");
  EXPECT_EQ(d0.formula.text,
            "X[n, g c, z*stride0 + h - pad0, y*stride1 + i - pad1, x*stride2 + j - pad2] += "
            "O[n, g o, z, y, x] * W[g o, c, h, i, j] over h, i, j, o, z, y, x where g = groups");
  EXPECT_EQ(d1.formula.text,
            "W[g o, c, h, i, j] += X[n, g c, z*stride0 + h - pad0, y*stride1 + i - pad1, "
            "x*stride2 + j - pad2] * O[n, g o, z, y, x] over n, z, y, x where g = groups");
  for (const Op* op : {&conv, &d0, &d1}) {
    EXPECT_EQ(op->roles[0], &conv);
    EXPECT_EQ(op->roles[1], &d0);
    EXPECT_EQ(op->roles[2], &d1);
    EXPECT_EQ(parse_schema(op->schema.text).text, op->schema.text);
    EXPECT_EQ(parse_formula(op->formula.text, op->schema).reduced, op->formula.reduced);
  }
  // Nothing follows from what follows, and a product's adjoints are products.
  for (const char* none : {"scratch_conv3d_d0_d0", "mm_d0", "mm_d1", "scratch_bf16_d0"})
    EXPECT_EQ(find_op(none), nullptr) << none;
  EXPECT_EQ(get_op("scratch_outer_d0").formula.text, "A[i] += O[i, j] * B[j] over j");
  EXPECT_EQ(get_op("scratch_weight_d1").formula.text, "B[n, k] += A[..., k] * O[..., n]");
}

TEST_F(ContractDefinitions, AdjointsArePrintedAndParsed) {
  const std::string text =
      R"(graph f(%dy: f32[1, 2, 3, 3], %w: f32[2, 3, 2, 2]) -> (f32[1, 3, 7, 6]) {
  %x: f32[1, 3, 7, 6] = convolution2d_d0(%dy, %w, [1, 3, 7, 6], stride=[2, 2], padding=[0, 0], dilation=[1, 1])
  return %x
}
)";
  ir::Graph g = ir::parse(text);
  ir::verify(g);
  EXPECT_EQ(ir::print(g), text);
  // As it was written before formulas had adjoints of their own.
  ir::Graph old =
      ir::parse(R"(graph f(%dy: f32[1, 2, 3, 3], %w: f32[2, 3, 2, 2]) -> (f32[1, 3, 7, 6]) {
  %x: f32[1, 3, 7, 6] = conv2d_input(%w, %dy, [1, 3, 7, 6], stride=[2, 2])
  return %x
}
)");
  ir::verify(old);
  EXPECT_EQ(ir::print(old), text);
  old = ir::parse(R"(graph f(%x: f32[1, 3, 7, 6], %dy: f32[1, 2, 3, 3]) {
  %w = conv2d_weight(%x, shape=[2, 3, 2, 2], dy=%dy, stride=2)
  %y = conv2d(%x, %w, pad=[1, 0])
  return %w, %y })");
  ir::verify(old);
  EXPECT_TRUE(absl::StrContains(ir::print(old),
                                "convolution2d_d1(%x, %dy, [2, 3, 2, 2], stride=[2, 2], padding="))
      << ir::print(old);
  EXPECT_TRUE(
      absl::StrContains(ir::print(old), "convolution2d(%x, %w, stride=[1, 1], padding=[1, 0], "));
  EXPECT_THROW(
      ir::parse("graph f(%x: f32[1, 3, 7, 6]) { %y = conv2d(%x, %x, gorups=1) return %y }"),
      TypeError);
}

// ── errors ──────────────────────────────────────────────────────────────────────────────────────

template <class E, class F>
std::string message(F f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  }
  return "nothing was thrown";
}

TEST_F(ContractDefinitions, ErrorsNameTheOperandsAndTheFormula) {
  Tensor x = random_tensor(f32, {1, 4, 3, 3, 3}, 1), w = random_tensor(f32, {4, 2, 2, 2, 2}, 2);
  auto conv = [&](const Tensor& a, const Tensor& b, Int groups, Ints stride = {1, 1, 1}) {
    return [=] { run1("scratch_conv3d", a, b, stride, Ints{0, 0, 0}, groups); };
  };
  auto contains = [](const std::string& text, std::string_view part) {
    EXPECT_TRUE(absl::StrContains(text, part)) << text;
  };
  std::string m = message<ShapeError>(conv(x, w, 1));
  contains(m, "the sizes of 'c' differ");
  contains(m, "x[1, 4, 3, 3, 3], w[4, 2, 2, 2, 2], groups=1");
  contains(message<ShapeError>(conv(x, w, 3)), "is no multiple of 3");
  contains(message<ValueError>(conv(x, w, 0)), "'groups' must be at least 1");
  contains(message<ValueError>(conv(x, w, 2, {1, 0, 1})), "'stride' must be at least 1");
  contains(message<ShapeError>(conv(x, random_tensor(f32, {4, 2, 4, 2, 2}, 3), 2)),
           "the window is larger than the padded input");
  contains(message<ShapeError>(conv(random_tensor(f32, {3, 3}, 1), w, 1)), "x has the wrong rank");
  Tensor a = random_tensor(f32, {1, 2, 3, 2}, 1), b = random_tensor(f32, {2, 3, 2, 2}, 2);
  contains(message<ShapeError>([&] {
             run1("scratch_transposed", a, b, Ints{1, 1}, Ints{4, 4}, Ints{0, 0});
           }),
           "the padding takes off more than there is");
  contains(message<ValueError>([&] {
             run1("scratch_transposed", a, b, Ints{1, 1}, Ints{0, 0}, Ints{-1, 0});
           }),
           "'more' must be at least 0");
  contains(message<ShapeError>([&] {
             run1("scratch_transposed_d0", random_tensor(f32, {1, 3, 9, 9}, 1), b, Ints{1, 2, 3, 2},
                  Ints{1, 1}, Ints{0, 0}, Ints{0, 0});
           }),
           "a size is not the one that the windows reach");
}

TEST_F(ContractDefinitions, BadFormulasSayWhere) {
  auto of = [](const char* formula, const char* schema =
                                        "scratch_bad(Tensor a, Tensor b, "
                                        "int s=1, int[2] p=0) -> Tensor") {
    return message<ValueError>([&] { Definitions().contract(schema, formula, {}); });
  };
  auto contains = [](const std::string& text, std::string_view part) {
    EXPECT_TRUE(absl::StrContains(text, part)) << text;
  };
  contains(of("O[m] += A[m]"), "two operands joined by '*' expected");
  contains(of("O[m] += A[m, k] * B[k] over j"), "an unknown variable");
  contains(of("O[m] += A[m, k] * B[k] over m"), "a variable of the output");
  contains(of("O[m] += A[m, k] * B[k] where k = q"), "an int argument of the op");
  contains(of("O[m] += A[m*p2 + k] * B[k]"), "an int argument of the op");
  contains(of("O[m] += A[m*p + k] * B[k]"), "an int argument of the op");
  contains(of("O[m] += A[m + s] * B[m]"), "an argument where a variable is wanted");
  contains(of("O[m] += A[m + k (s)] * B[k]"), "(+ argument) expected");
  contains(of("O[m] += A[m, ] * B[m]"), "an empty axis");
  contains(of("O[m] += A[m] * B m"), "name[axes] expected");
  contains(of("O[m] += A[m] * B[m]", "scratch_bad(Tensor a, int b) -> Tensor"),
           "first two arguments are its operands");
}

}  // namespace
}  // namespace lathe::test
