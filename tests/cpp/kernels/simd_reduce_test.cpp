// Reductions by the SIMD interpreter against the reference's definition of the order, on every
// layout, for every instruction set.
#include "kernels/simd/reduce.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/op/op.h"
#include "kernels/reference/reduce.h"
#include "tests/cpp/support/random_expr.h"

namespace lathe {
namespace {

using testing::random_value;
using testing::same_value;

ReduceBodies bodies_of(const char* op, DType stored) {
  const Op& row = get_op(op);
  DType common = stored;
  ElementTypes types{compute_type(common), common, {common}};
  std::string_view name = op;
  if ((name == "sum" || name == "prod") && !is_floating(stored) && !is_complex(stored))
    types = {DType::i64, DType::i64, {DType::i64}};
  if (name == "any" || name == "all") types.results = {DType::bool_};
  if (name == "argmax" || name == "argmin") types.results = {DType::i64};
  if (name == "max.dim" || name == "min.dim") types.results = {common, DType::i64};
  return reduce_bodies(row, types, stored);
}

uint64_t small_word(std::mt19937_64& rng) {
  return std::bit_cast<uint32_t>(static_cast<float>(static_cast<int64_t>(rng() % 2001) - 1000) /
                                 37);
}

std::vector<std::byte> random_elements(DType d, size_t n, std::mt19937_64& rng, bool tame) {
  std::vector<std::byte> bytes(n * size_of(d) + 16);
  for (size_t i = 0; i < n; ++i) {
    if (d == DType::c128) {  // two words each of which is a small number in f64
      for (size_t part = 0; part < 2; ++part) {
        const double x = std::bit_cast<float>(static_cast<uint32_t>(small_word(rng)));
        std::memcpy(bytes.data() + i * size_of(d) + part * sizeof x, &x, sizeof x);
      }
      continue;
    }
    uint64_t bits = is_complex(d) ? small_word(rng) << 32 | small_word(rng) : random_value(d, rng);
    if (tame && is_floating(d)) {  // sums of which no bit is lost to infinity or NaN
      float v = static_cast<float>(static_cast<int64_t>(rng() % 2001) - 1000) / 37;
      double w = v;
      uint32_t word = 0;
      std::memcpy(&word, &v, 4);
      std::memcpy(&bits, &w, 8);
      if (d != DType::f64)
        bits = d == DType::f16 ? f32_to_f16(v) : d == DType::bf16 ? f32_to_bf16(v) : word;
    }
    std::memcpy(bytes.data() + i * size_of(d), &bits, size_of(d));
  }
  return bytes;
}

struct Layout {
  int64_t x_stride, results;
  std::vector<ReduceAxis> reduced;
};

int64_t offset_of(const Layout& l, int64_t i) {
  int64_t at = 0;
  for (size_t a = l.reduced.size(); a-- > 0; i /= l.reduced[a].size)
    at += i % l.reduced[a].size * l.reduced[a].stride;
  return at;
}

void check_reduction(const ReduceBodies& bodies, DType stored, const Layout& l, const std::byte* x,
                     const std::string& what) {
  int64_t count = 1;
  for (const ReduceAxis& a : l.reduced) count *= a.size;
  ReduceProgram program(bodies);
  size_t outs = bodies.finish.output_types.size();
  std::vector<reference::State> want;
  for (int64_t r = 0; r < l.results; ++r) {
    auto state = reference::reduce_tree(bodies, count, [&](int64_t i) {
      reference::State element;
      reference::read_element(
          stored, x + (r * l.x_stride + offset_of(l, i)) * static_cast<int64_t>(size_of(stored)),
          element);
      return element;
    });
    want.push_back(reference::finish(bodies, state, count));
  }
  for (const SimdLoops* set : simd_loop_sets())
    for (int64_t stride : {1, 2}) {  // of results
      std::vector<std::vector<std::byte>> results(outs);
      absl::InlinedVector<LineOperand, 2> out;
      for (size_t k = 0; k < outs; ++k) {
        results[k].resize(static_cast<size_t>(stride * l.results) *
                          size_of(bodies.finish.output_types[k]));
        out.push_back({results[k].data(), stride});
      }
      program.run(x, {l.x_stride, l.results}, l.reduced, out, *set);
      for (int64_t r = 0; r < l.results; ++r)
        for (size_t k = 0, at = 0; k < outs; ++k) {
          DType d = bodies.finish.output_types[k];
          reference::State got;
          reference::read_element(
              d, results[k].data() + stride * r * static_cast<int64_t>(size_of(d)), got);
          for (uint64_t part : got) {
            const uint64_t expected = want[static_cast<size_t>(r)][at++];
            ASSERT_TRUE(same_value(real_type(d), expected, part))
                << what << " of " << name(stored) << ", " << set->name << ", " << count
                << " elements, result " << r << std::hex << ": " << part << ", not " << expected;
          }
        }
    }
}

std::vector<Layout> layouts(int64_t n) {
  return {
      {n, 3, {{n, 1}}},  // rows
      {n, 9, {{n, 1}}},  // some of them abreast
      {1, 5, {{n, 5}}},  // columns
      {1, 16, {{n, 16}}},
      {1, 300, {{std::min<int64_t>(n, 40), 300}}},
      {2 * n, 2, {{n, 2}}},  // every other element
      {1, 4, {{n, 4}, {1, 77}}},
      {7, 2, {{(n + 6) / 7, 14}, {7, 1}}},  // two axes, not mergeable
      {1, 3, {{(n + 6) / 7, 21}, {7, 3}}},
      {0, 1, {{n, -1}}},  // backwards
      // many results of rows too short for a vector: windows two apart
      {2, 37, {{(n + 2) / 3, 20}, {3, 1}}},
      {1, 37, {{(n + 2) / 3, 11}, {3, 1}}},
  };
}

TEST(ReduceProgram, EveryRowOnEveryLayout) {
  std::mt19937_64 rng(4);
  struct Row {
    const char* op;
    std::vector<DType> types;
  };
  const Row rows[] = {
      {"sum",
       {DType::f32, DType::f64, DType::f16, DType::i64, DType::i32, DType::bool_, DType::u8}},
      {"sum", {DType::c64, DType::c128}},
      {"square_sum", {DType::f32, DType::f64, DType::f16}},
      {"prod", {DType::f32, DType::i64}},
      {"amax", {DType::f32, DType::f64, DType::bf16, DType::i32, DType::u8, DType::i64}},
      {"amin", {DType::f32, DType::i16, DType::i8}},
      {"any", {DType::bool_, DType::f32}},
      {"all", {DType::bool_}},
      {"argmax", {DType::f32, DType::i32, DType::u8, DType::bool_}},
      {"argmin", {DType::f32, DType::i64}},
      {"max.dim", {DType::f64, DType::f16}},
      {"min.dim", {DType::bf16}},
      {"mean", {DType::f32, DType::bf16}},
  };
  for (const Row& row : rows)
    for (DType d : row.types) {
      ReduceBodies bodies = bodies_of(row.op, d);
      for (int64_t n : {1, 5, 16, 17, 100, 511, 512, 513, 1500})
        for (const Layout& l : layouts(n)) {
          auto x = random_elements(d, static_cast<size_t>(12 * n + 13000), rng, n % 2 != 0);
          auto start = x.data() + 2 * n * static_cast<int64_t>(size_of(d));
          ASSERT_NO_FATAL_FAILURE(check_reduction(bodies, d, l, start, row.op));
        }
    }
}

TEST(ReduceProgram, LongRows) {
  std::mt19937_64 rng(5);
  for (const char* op : {"sum", "square_sum", "amax", "argmax", "argmin"})
    for (int64_t n : {64 * 512, 64 * 512 + 1, 3 * 64 * 512 + 5 * 512 + 7}) {
      ReduceBodies bodies = bodies_of(op, DType::f32);
      auto x = random_elements(DType::f32, static_cast<size_t>(2 * n), rng, true);
      ASSERT_NO_FATAL_FAILURE(check_reduction(bodies, DType::f32, {0, 1, {{n, 1}}}, x.data(), op));
      ASSERT_NO_FATAL_FAILURE(check_reduction(bodies, DType::f32, {0, 1, {{n, 2}}}, x.data(), op));
    }
}

/// About where rows are no longer taken abreast, near together and far apart, with NaN and without.
TEST(ReduceProgram, RowsOfSeveralBlocks) {
  std::mt19937_64 rng(7);
  for (const char* op : {"sum", "square_sum", "amax", "amin"})
    for (DType d : {DType::f32, DType::f64, DType::f16})
      for (int64_t n : {256, 1023, 1025, 2047, 2048, 2049, 4101})
        for (int64_t stride : {n, n + 9, 2 * n, -n}) {
          ReduceBodies bodies = bodies_of(op, d);
          auto x = random_elements(d, static_cast<size_t>(2 * 14 * n), rng, n % 2 != 0);
          auto start = x.data() + 14 * n * static_cast<int64_t>(size_of(d));
          ASSERT_NO_FATAL_FAILURE(
              check_reduction(bodies, d, {stride, 6, {{n, 1}}}, stride > 0 ? x.data() : start, op))
              << n << " elements, " << stride << " apart";
        }
}

/// One of some values, the later ones seldom, so that they are met anywhere.
double seldom(const std::vector<double>& some, std::mt19937_64& rng) {
  const size_t k = rng() % 3 != 0 ? 0 : rng() % some.size();
  return some[rng() % 8 == 0 ? k : std::min(k, some.size() / 2)];
}

/// Rows and columns with many equals, both zeros, infinities and NaN: what is first counts, at
/// every place of a vector and of what is left over.
TEST(ReduceProgram, PicksTakeTheFirst) {
  std::mt19937_64 rng(8);
  constexpr double inf = std::numeric_limits<double>::infinity();
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<std::vector<double>> choices = {
      {0.0, -0.0}, {-inf}, {-inf, inf, 1}, {-1, 0.0, -0.0, 1, 2, 3}, {1, 2, 3, 4, 5, 6, 7, nan}};
  std::vector<int64_t> lengths{250, 255, 256, 257, 511, 512, 513, 1000, 1024};
  for (int64_t n = 1; n <= 140; ++n) lengths.push_back(n);
  for (const char* op : {"argmax", "argmin"})
    for (DType d : {DType::f32, DType::f64, DType::i32, DType::u8})
      for (int64_t n : lengths)
        for (const std::vector<double>& some : choices) {
          const int64_t stride = n + static_cast<int64_t>(rng() % 3), rows = n % 2 == 0 ? 5 : 17;
          std::vector<std::byte> x(static_cast<size_t>(rows * stride) * size_of(d));
          for (size_t i = 0; i < static_cast<size_t>(rows * stride); ++i) {
            const double v = seldom(some, rng);
            const auto f = static_cast<float>(v);
            const int64_t whole = std::isfinite(v) ? static_cast<int64_t>(v) + 1 : 9;
            const void* from = d == DType::f64   ? static_cast<const void*>(&v)
                               : d == DType::f32 ? static_cast<const void*>(&f)
                                                 : &whole;  // its first bytes
            std::memcpy(x.data() + i * size_of(d), from, size_of(d));
          }
          const Layout by_rows{stride, rows, {{n, 1}}}, by_columns{1, n, {{rows, stride}}};
          for (const Layout& l : {by_rows, by_columns})
            ASSERT_NO_FATAL_FAILURE(check_reduction(bodies_of(op, d), d, l, x.data(), op));
        }
}

TEST(ReduceProgram, PiecesAreTheWhole) {
  std::mt19937_64 rng(6);
  for (const char* op : {"sum", "square_sum", "argmax", "mean"})
    for (int64_t n : {1, 1000, 5000, 40000}) {
      ReduceBodies bodies = bodies_of(op, DType::f32);
      ReduceProgram program(bodies);
      auto x = random_elements(DType::f32, static_cast<size_t>(n), rng, true);
      ReduceAxis axis[] = {{n, 1}};
      uint64_t whole = 0;
      LineOperand out[] = {{reinterpret_cast<std::byte*>(&whole), 1}};
      program.run(x.data(), {}, axis, out, simd_loops());
      for (int64_t piece : {512, 1024, 8192}) {
        std::vector<uint64_t> states;
        for (int64_t at = 0; at < n; at += piece) {
          uint64_t state[4];
          program.piece(x.data(), axis, at, std::min(n, at + piece), {state, program.states()},
                        simd_loops());
          states.insert(states.end(), state, state + program.states());
        }
        uint64_t joined = 0;
        LineOperand to[] = {{reinterpret_cast<std::byte*>(&joined), 1}};
        program.finish(absl::MakeSpan(states), n, to, simd_loops());
        EXPECT_EQ(joined, whole) << op << " " << n << " in pieces of " << piece;
      }
    }
}

TEST(ReduceProgram, NothingIsTheUnit) {
  ReduceBodies bodies = bodies_of("sum", DType::f32);
  float out[3] = {7, 7, 7};
  ReduceAxis axes[] = {{3, 1}, {0, 1}};
  LineOperand to[] = {{reinterpret_cast<std::byte*>(out), 1}};
  ReduceProgram(bodies).run(nullptr, {1, 3}, axes, to, simd_loops());
  for (float v : out) EXPECT_EQ(v, 0);
}

TEST(ReduceProgram, RowsUseTheirKernels) {
  EXPECT_EQ(ReduceProgram(bodies_of("sum", DType::f32)).known(), Reduction::sum);
  EXPECT_EQ(ReduceProgram(bodies_of("mean", DType::f16)).known(), Reduction::sum);
  EXPECT_EQ(ReduceProgram(bodies_of("prod", DType::f64)).known(), Reduction::prod);
  EXPECT_EQ(ReduceProgram(bodies_of("amax", DType::f32)).known(), Reduction::highest);
  EXPECT_EQ(ReduceProgram(bodies_of("amin", DType::i32)).known(), Reduction::lowest);
  EXPECT_EQ(ReduceProgram(bodies_of("any", DType::f32)).known(), Reduction::any);
  EXPECT_EQ(ReduceProgram(bodies_of("all", DType::bool_)).known(), Reduction::all);
  EXPECT_EQ(ReduceProgram(bodies_of("argmax", DType::f32)).known_pick(), 1);
  EXPECT_EQ(ReduceProgram(bodies_of("min.dim", DType::f16)).known_pick(), 0);
  EXPECT_EQ(ReduceProgram(bodies_of("argmax", DType::i64)).known_pick(), 1);
}

}  // namespace
}  // namespace lathe
