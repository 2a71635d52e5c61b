// Products whose rows and columns change places, and those that are read in even strips or as they
// come from memory: the same bits, and nothing written beside the outputs.
#include "core/base/flags.h"
#include "kernels/own/product.h"
#include "kernels/simd/choose_loops.h"
#include "tests/cpp/support/kernels_support.h"

namespace lathe::test {
namespace {

constexpr const char* kOwnOff = "own.gemm,onednn,openblas,eigen";

void expect_reference_bits(const std::string& what, const char* op, const Tensor& a,
                           const Tensor& b) {
  Tensor own = run1(op, a, b);
  FlagScope off(Flag::disabled, kOwnOff);
  EXPECT_EQ(bits_of(own), bits_of(run1(op, a, b))) << what;
}

/// Of a product of m x k by k x n, as its definition gives it.
bool turned(int64_t m, int64_t n, int64_t k) {
  Contraction c;
  c.extent = {m, n, k};
  c.outer = {0, 1};
  c.reduced = {2};
  c.a = {.dtype = DType::f32, .stride = {k, 0, 1}};
  c.b = {.dtype = DType::f32, .stride = {0, 1, n}};
  c.out = {.dtype = DType::f32, .stride = {n, 1, 0}};
  return own::make_product(c, own::tiles<float>()).turned;
}

TEST(TurnedProducts, EqualTheReference) {
  uint32_t seed = 0;
  for (const SimdLoops* set : simd_loop_sets()) {
    const FlagScope chosen(Flag::isa, set->name);
    for (int64_t n : {17, 25, 33, 49, 53})
      for (auto [m, k] : {std::pair{64, 96}, {97, 520}})
        for (DType d : {DType::f32, DType::f64, DType::i32, DType::i64}) {
          Tensor a = random_tensor(d, {m, k}, ++seed), b = random_tensor(d, {k, n}, ++seed);
          expect_reference_bits(absl::StrCat(set->name, " ", name(d), " ", m, " ", n, " ", k), "mm",
                                a, b);
        }
  }
}

TEST(TurnedProducts, AreThoseThatFillTheirVectorsBadly) {
  const own::Tiles<float>& tiles = own::tiles<float>();
  if (tiles.cols == tiles.lanes) GTEST_SKIP() << "a tile has one vector of columns here";
  const int64_t bad = tiles.cols + tiles.lanes + 1;  // of the last vector one lane is used
  EXPECT_TRUE(turned(1024, bad, 512));
  EXPECT_FALSE(turned(1024, 2 * tiles.cols, 512)) << "all lanes are used";
  EXPECT_FALSE(turned(1024, tiles.cols + 1, 512)) << "the last column is summed by rows";
  EXPECT_FALSE(turned(1024, bad, 20)) << "turning would take longer than the sums";
  EXPECT_FALSE(turned(8, bad, 512)) << "there are few rows to fill vectors with";
}

TEST(TurnedProducts, ConvolutionsOfSmallPictures) {
  uint32_t seed = 900;
  for (const SimdLoops* set : simd_loop_sets()) {
    const FlagScope chosen(Flag::isa, set->name);
    for (int64_t size : {5, 7})
      for (int64_t kernel : {1, 3}) {
        Tensor x = random_tensor(DType::f32, {2, 130, size, size}, ++seed);
        Tensor w = random_tensor(DType::f32, {70, 130, kernel, kernel}, ++seed);
        auto own = run1("conv2d", x, w, std::nullopt, Ints{1, 1}, Ints{kernel / 2, kernel / 2});
        FlagScope off(Flag::disabled, kOwnOff);
        auto reference =
            run1("conv2d", x, w, std::nullopt, Ints{1, 1}, Ints{kernel / 2, kernel / 2});
        EXPECT_EQ(bits_of(own), bits_of(reference)) << set->name << " " << size << " " << kernel;
      }
  }
}

TEST(EvenStrips, EqualTheReference) {
  uint32_t seed = 500;
  for (const SimdLoops* set : simd_loop_sets()) {
    const FlagScope chosen(Flag::isa, set->name);
    for (int64_t m : {2, 5, 8, 13, 15, 16, 27, 29, 43, 57})
      for (auto [n, k] : {std::pair{96, 100}, {70, 1030}}) {
        Tensor a = random_tensor(DType::f32, {m, k}, ++seed);
        Tensor b = random_tensor(DType::f32, {k, n}, ++seed);
        expect_reference_bits(absl::StrCat(set->name, " ", m, " ", n, " ", k), "mm", a, b);
        Tensor w = run1("transpose", random_tensor(DType::f32, {n, k}, ++seed), 0, 1);
        expect_reference_bits(absl::StrCat(set->name, " ", m, " ", n, " ", k, " turned"), "mm", a,
                              w);
      }
  }
}

}  // namespace
}  // namespace lathe::test
