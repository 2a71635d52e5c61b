// SimdProgram against the reference engine: random bodies on every layout of operands, in place,
// with single elements, checks, random words and complex numbers.
#include "kernels/simd/program.h"

#include <gtest/gtest.h>

#include <cstring>

#include "kernels/reference/body.h"
#include "tests/cpp/support/random_expr.h"

namespace lathe {
namespace {

using testing::random_program;
using testing::random_value;
using testing::same_value;

/// A line's memory: n elements `stride` apart (0: one; negative: backwards), between guards.
struct Line {
  DType dtype;
  int64_t n, stride;
  std::vector<std::byte> bytes;

  Line(DType d, int64_t count, int64_t step, std::mt19937_64& rng)
      : dtype(d), n(count), stride(step) {
    int64_t size = static_cast<int64_t>(size_of(d)),
            span = std::abs(step) * std::max<int64_t>(0, count - 1) + 1;
    bytes.resize(static_cast<size_t>((span + 16) * size));
    for (int64_t i = 0; i < span + 16; ++i) {
      uint64_t bits = is_complex(d)
                          ? random_value(DType::f32, rng) << 32 | random_value(DType::f32, rng)
                          : random_value(d, rng);
      std::memcpy(bytes.data() + i * size, &bits, static_cast<size_t>(size));
    }
  }
  LineOperand operand() {
    auto size = static_cast<int64_t>(size_of(dtype));
    int64_t start = 8 + (stride < 0 ? -stride * std::max<int64_t>(0, n - 1) : 0);
    return {bytes.data() + start * size, stride};
  }
  uint64_t at(int64_t element) {
    uint64_t bits = 0;
    std::memcpy(&bits, bytes.data() + element * static_cast<int64_t>(size_of(dtype)),
                size_of(dtype));
    return bits;
  }
};

bool same_element(DType d, uint64_t a, uint64_t b) {
  if (!is_complex(d)) return same_value(d, a, b);
  return same_value(DType::f32, a & 0xffffffffu, b & 0xffffffffu) &&
         same_value(DType::f32, a >> 32, b >> 32);
}

void expect_same(Line& want, Line& got, const ScalarFunction& f, const std::string& how) {
  int64_t all = static_cast<int64_t>(want.bytes.size() / size_of(want.dtype));
  for (int64_t i = 0; i < all; ++i)
    ASSERT_TRUE(same_element(want.dtype, want.at(i), got.at(i)))
        << how << ", element " << i - 8 << std::hex << ": " << got.at(i) << ", not " << want.at(i)
        << "\n"
        << f.print();
}

/// Runs `f` both ways on the same lines, output k on input in_place[k] where that is >= 0.
void check_program(const ScalarFunction& f, int64_t n, std::mt19937_64& rng, bool alias) {
  constexpr int64_t kStrides[] = {1, 1, 1, 0, 2, 3, -1, -2};
  std::vector<Line> in, out;
  for (DType d : f.inputs) in.emplace_back(d, n, kStrides[rng() % 8], rng);
  for (DType d : f.output_types) {
    int64_t stride = kStrides[rng() % 8];
    out.emplace_back(d, n, stride == 0 ? 1 : stride, rng);
  }
  std::vector<int> place(out.size(), -1);
  if (alias)
    for (size_t k = 0; k < out.size(); ++k)
      for (size_t j = 0; j < in.size(); ++j)
        if (in[j].stride != 0 && in[j].dtype == out[k].dtype &&
            std::find(place.begin(), place.end(), static_cast<int>(j)) == place.end()) {
          place[k] = static_cast<int>(j);
          break;
        }
  int64_t index[] = {3, 5};
  CheckSlot expected;
  LineContext context{
      .seed = 11, .call = 4, .linear = 1000, .index = index, .axis = 1, .checks = &expected};
  auto operands = [&](std::vector<Line>& lines) {
    absl::InlinedVector<LineOperand, 4> ops;
    for (Line& l : lines) ops.push_back(l.operand());
    return ops;
  };
  std::vector<Line> in_before = in, want = out;
  reference::run_line(f, operands(in), operands(want), n, context);
  for (const SimdLoops* set : simd_loop_sets()) {
    std::vector<Line> inputs = in_before, results = out;
    auto to = operands(results);
    for (size_t k = 0; k < place.size(); ++k)
      if (place[k] >= 0) to[k] = inputs[static_cast<size_t>(place[k])].operand();
    CheckSlot found;
    context.checks = &found;
    SimdProgram(f).run(operands(inputs), to, n, context, *set);
    std::string how = std::string(set->name) + ", " + std::to_string(n) + " elements";
    EXPECT_EQ(found.lowest.load(), expected.lowest.load()) << how << "\n" << f.print();
    for (size_t k = 0; k < place.size(); ++k) {
      if (place[k] < 0) {
        ASSERT_NO_FATAL_FAILURE(expect_same(want[k], results[k], f, how));
        continue;
      }
      // In place: only the elements themselves can be compared.
      Line& line = inputs[static_cast<size_t>(place[k])];
      LineOperand a = want[k].operand(), b = line.operand();
      auto size = static_cast<int64_t>(size_of(line.dtype));
      for (int64_t i = 0; i < n; ++i) {
        uint64_t x = 0, y = 0;
        std::memcpy(&x, a.data + i * a.stride * size, static_cast<size_t>(size));
        std::memcpy(&y, b.data + i * b.stride * size, static_cast<size_t>(size));
        ASSERT_TRUE(same_element(line.dtype, x, y)) << how << " in place, element " << i << "\n"
                                                    << f.print();
      }
    }
  }
}

TEST(SimdProgram, RandomBodies) {
  std::mt19937_64 rng(1);
  for (int round = 0; round < 600; ++round) {
    auto program = random_program(rng, {.steps = 2 + round % 14, .leaves = round % 3 == 0});
    ScalarFunction f = round % 2 != 0 ? program.raw() : program.built();
    int64_t n = round % 10 == 0 ? 2500 : static_cast<int64_t>(rng() % 80);
    ASSERT_NO_FATAL_FAILURE(check_program(f, n, rng, false)) << "round " << round;
    ASSERT_NO_FATAL_FAILURE(check_program(f, n, rng, true)) << "round " << round;
  }
}

TEST(SimdProgram, OneStepIsOneCall) {
  std::mt19937_64 rng(2);
  for (Prim prim : {Prim::add, Prim::lt, Prim::fma, Prim::select, Prim::exp, Prim::cast}) {
    auto f = build(
        [&](absl::Span<const Expr> in) -> Exprs {
          switch (prim) {
            case Prim::add:
              return {in[0] + in[1]};
            case Prim::lt:
              return {lt(in[0], in[1])};
            case Prim::fma:
              return {fma(in[0], in[1], 0.5)};
            case Prim::select:
              return {select(in[2], in[0], in[1])};
            case Prim::exp:
              return {exp(in[0])};
            default:
              return {cast(in[0], DType::f16)};
          }
        },
        std::vector<DType>{DType::f32, DType::f32, DType::bool_});
    SimdProgram p(f);
    EXPECT_EQ(p.steps(), 1u) << p.summary();
    for (int64_t n : {0, 1, 7, 16, 1000, 5000}) {
      ASSERT_NO_FATAL_FAILURE(check_program(f, n, rng, false));
      ASSERT_NO_FATAL_FAILURE(check_program(f, n, rng, true));
    }
  }
}

TEST(SimdProgram, StreamedResultsHaveTheSameBits) {
  for (const SimdLoops* set : simd_loop_sets())
    for (DType d : {DType::f32, DType::f64})
      for (int64_t n : {1, 7, 64, 1000}) {
        const SimdProgram program(
            build([](absl::Span<const Expr> in) { return Exprs{in[0] - in[1]}; }, {d, d}));
        std::mt19937_64 rng(static_cast<uint64_t>(n));
        Line a(d, n, 1, rng), b(d, n, 0, rng);
        std::vector<std::byte> want(static_cast<size_t>(n) * 8), room(want.size() + 128);
        auto* got = room.data() + (64 - reinterpret_cast<uintptr_t>(room.data()) % 64);
        const LineOperand in[] = {a.operand(), b.operand()}, to{want.data(), 1};
        program.run(in, absl::MakeConstSpan(&to, 1), n, {}, *set);
        ASSERT_EQ(program.run_streamed(in, {got, 1}, n, *set), true) << set->name << " " << n;
        EXPECT_EQ(std::memcmp(got, want.data(), static_cast<size_t>(n) * size_of(d)), 0);
        EXPECT_FALSE(program.run_streamed(in, {got + size_of(d), 1}, n, *set));
      }
  const SimdProgram two(
      build([](absl::Span<const Expr> in) { return Exprs{exp(in[0]) + in[0]}; }, {DType::f32}));
  alignas(64) float x[16] = {}, y[16] = {};
  const LineOperand in{reinterpret_cast<std::byte*>(x), 1};
  EXPECT_FALSE(two.run_streamed(absl::MakeConstSpan(&in, 1), {reinterpret_cast<std::byte*>(y), 1},
                                16, simd_loops()));
}

/// Comparisons joined by and, or and not, at random.
Expr joined(absl::Span<const Expr> in, int depth, std::mt19937_64& rng) {
  auto any = [&] { return rng() % 5 == 0 ? constant(in[0].dtype(), 0) : in[rng() % in.size()]; };
  if (depth == 0 || rng() % 4 == 0) {
    const Expr a = rng() % 5 == 0 ? in[0] * 2 : in[rng() % in.size()], b = any();
    return rng() % 4 == 0   ? isnan(a)
           : rng() % 3 == 0 ? le(b, a)
           : rng() % 2 == 0 ? eq(a, b)
                            : lt(a, b);
  }
  const Expr a = joined(in, depth - 1, rng);
  if (rng() % 4 == 0) return ~a;
  const Expr b = joined(in, depth - 1, rng);
  return rng() % 2 == 0 ? a & b : a | b;
}

TEST(SimdProgram, ChoicesNeedNoMask) {
  auto steps = [](auto body) {
    ScalarFunction f = build([&](absl::Span<const Expr> in) { return Exprs{body(in[0], in[1])}; },
                             {DType::f32, DType::f32});
    return SimdProgram(f).steps();
  };
  EXPECT_EQ(steps([](Expr x, Expr y) { return select(le(x, y), 0, x); }), 1u);
  EXPECT_EQ(steps([](Expr x, Expr y) { return select(isnan(x) | lt(y, x), x, y); }), 1u);
  EXPECT_EQ(steps([](Expr x, Expr y) { return select(lt(x, y) | isnan(x), x, y); }), 1u);
  EXPECT_EQ(steps([](Expr x, Expr y) { return select(isnan(y) | lt(y, x), x, y); }), 2u);
  EXPECT_EQ(steps([](Expr x, Expr y) { return select(~(lt(y, x) & lt(x, 3)), x, y); }), 2u);
  std::mt19937_64 rng(29);
  for (int i = 0; i < 300; ++i) {
    const DType d = rng() % 2 == 0 ? DType::f32 : DType::f64;
    auto body = [&](absl::Span<const Expr> in) {
      const Expr mask = joined(in, static_cast<int>(rng() % 4), rng);
      Exprs out{select(mask, in[rng() % 3], in[0] + in[1])};
      out.push_back(select(joined(in, 1, rng), out[0], constant(d, -1)));
      const Expr a = rng() % 4 == 0 ? constant(d, 0) : in[rng() % 3], b = in[rng() % 3];
      const Expr beats = rng() % 2 == 0 ? lt(a, b) : lt(b, a);
      out.push_back(rng() % 2 == 0 ? select(isnan(a) | beats, a, b)
                                   : select(beats | isnan(b), b, a));
      if (rng() % 3 == 0) out.push_back(mask);  // it is wanted as well
      return out;
    };
    ScalarFunction f = build(body, {d, d, d});
    for (int64_t n : {1, 5, 300, 3000}) ASSERT_NO_FATAL_FAILURE(check_program(f, n, rng, i % 2));
  }
}

TEST(SimdProgram, FewStripsForLongChains) {
  auto f = build(
      [](absl::Span<const Expr> in) {
        Expr x = in[0];
        for (int i = 0; i < 40; ++i) x = sin(x * (2.0 + i)) + x;
        return Exprs{x};
      },
      std::vector<DType>{DType::f32});
  EXPECT_EQ(SimdProgram(f).summary(), "120 steps, 2 strips of 1024");
}

TEST(SimdProgram, Complex) {
  std::mt19937_64 rng(5);
  auto f = build(
      [](absl::Span<const Expr> in) {
        return Exprs{in[0] * in[1] + in[0], real(in[1]) * imag(in[0])};
      },
      std::vector<DType>{DType::c64, DType::c64});
  for (int64_t n : {1, 15, 100, 3000})
    for (int turn = 0; turn < 10; ++turn)
      ASSERT_NO_FATAL_FAILURE(check_program(f, n, rng, turn % 2 != 0));
}

TEST(SimdProgram, Checks) {
  auto f = build(
      [](absl::Span<const Expr> in) {
        Expr y = check(ne(in[1], 0), in[1], 2);
        return Exprs{floor_div(check(lt(in[0], 100), in[0], 1), y)};
      },
      std::vector<DType>{DType::i32, DType::i32});
  std::vector<int32_t> a(5000, 7), b(5000, 3), c(5000);
  b[4000] = 0;
  a[3999] = 100;
  for (const SimdLoops* set : simd_loop_sets()) {
    CheckSlot slot;
    LineContext context{.linear = 10, .checks = &slot};
    LineOperand in[] = {{reinterpret_cast<std::byte*>(a.data()), 1},
                        {reinterpret_cast<std::byte*>(b.data()), 1}};
    LineOperand out[] = {{reinterpret_cast<std::byte*>(c.data()), 1}};
    SimdProgram(f).run(in, out, 5000, context, *set);
    EXPECT_EQ(slot.lowest.load(), uint64_t{4009} << 8 | 1);
    EXPECT_EQ(c[0], 2);
    EXPECT_EQ(c[4000], 0);
  }
}

}  // namespace
}  // namespace lathe
