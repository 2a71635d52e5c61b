// Products of a few sums of a few terms (own/product_small.cpp): the bits of the reference for all
// dtypes, layouts, lists of products and instruction sets, with and without an epilogue.
#include "kernels/own/product_ways.h"
#include "kernels/simd/choose_loops.h"
#include "tests/cpp/support/kernels_support.h"

namespace lathe::test {
namespace {

void expect_reference_bits(const std::string& what, const Tensor& a, const Tensor& b) {
  Tensor own = run1("mm", a, b);
  FlagScope off(Flag::disabled, "own.gemm,onednn,openblas,eigen");
  EXPECT_EQ(bits_of(own), bits_of(run1("mm", a, b))) << what;
}

/// A list of matrices, the axes of which may be in the other order in memory.
Tensor matrices(DType d, Shape list, int64_t rows, int64_t cols, bool turned, uint32_t seed) {
  Shape shape = std::move(list);
  const auto rank = static_cast<int64_t>(shape.size());
  shape.push_back(turned ? cols : rows);
  shape.push_back(turned ? rows : cols);
  const Tensor t = random_tensor(d, shape, seed);
  return turned ? run1("transpose", t, rank, rank + 1) : t;
}

TEST(SmallProducts, EqualTheReference) {
  uint32_t seed = 0;
  for (const SimdLoops* set : simd_loop_sets()) {
    const FlagScope chosen(Flag::isa, set->name);
    for (DType d : {DType::f32, DType::f64, DType::i32, DType::i64, DType::bf16, DType::c64})
      for (auto [m, n, k] : {std::array{3, 3, 3},
                             {3, 1, 3},
                             {1, 4, 4},
                             {2, 2, 2},
                             {4, 4, 4},
                             {5, 5, 5},
                             {1, 1, 3},
                             {7, 2, 1},
                             {2, 3, 20}})
        for (int form = 0; form < 4; ++form) {
          const std::string what =
              absl::StrCat(set->name, " ", name(d), " ", m, " ", n, " ", k, " form ", form);
          const bool left = form % 2 == 1, right = form / 2 == 1;
          const auto make = [&](Shape list, bool of_a) {
            return of_a ? matrices(d, std::move(list), m, k, left, ++seed)
                        : matrices(d, std::move(list), k, n, right, ++seed);
          };
          expect_reference_bits(what, make({}, true), make({}, false));
          expect_reference_bits(what + ", lists", make({3, 1, 5}, true), make({2, 5}, false));
          expect_reference_bits(what + ", one of them", make({}, true), make({7, 1}, false));
        }
  }
}

TEST(SmallProducts, AreShared) {
  for (const char* threads : {"1", "3"}) {
    const FlagScope set(Flag::threads, threads);
    expect_reference_bits(threads, random_tensor(DType::f32, {9000, 4, 4}, 1),
                          random_tensor(DType::f32, {9000, 4, 4}, 2));
  }
}

TEST(SmallProducts, AreThoseOfFewMultiplications) {
  const auto fits = [](int64_t m, int64_t n, int64_t k) {
    Contraction c;
    c.batch = {50};
    c.extent = {m, n, k};
    c.outer = {0, 1};
    c.reduced = {2};
    c.a = {.dtype = DType::f32, .batch = {m * k}, .stride = {k, 0, 1}};
    c.b = {.dtype = DType::f32, .batch = {n * k}, .stride = {0, 1, n}};
    c.out = {.dtype = DType::f32, .batch = {m * n}, .stride = {n, 1, 0}};
    return own::small_fits(own::make_product(c, own::tiles<float>()));
  };
  EXPECT_TRUE(fits(3, 3, 3));
  EXPECT_TRUE(fits(3, 1, 3));
  EXPECT_FALSE(fits(16, 16, 16)) << "tiles are faster";
  EXPECT_FALSE(fits(1, 1, 4)) << "they are summed side by side";
  EXPECT_FALSE(fits(3, 0, 3));
}

}  // namespace
}  // namespace lathe::test
