// The tiles of matrix products alone, of every instruction set: they give the defined sums, read
// nothing outside of their operands and write nothing but their outputs.
#include "kernels/own/tiles.h"

#include <algorithm>

#include "kernels/simd/choose_loops.h"
#include "tests/cpp/support/guarded_bytes.h"
#include "tests/cpp/support/kernels_support.h"

namespace lathe::test {
namespace {

/// Elements that end where a page does.
template <class T>
class Elements {
 public:
  explicit Elements(int64_t n) : bytes_(static_cast<size_t>(n) * sizeof(T)), n_(n) {
    for (int64_t i = 0; i < n; ++i) (*this)[i] = static_cast<T>(i * 37 % 101 + 1) / 7;
  }
  T& operator[](int64_t i) { return data()[i]; }
  T* data() const { return reinterpret_cast<T*>(bytes_.data()); }
  std::vector<T> copy() const { return {data(), data() + n_}; }

 private:
  testing::GuardedBytes bytes_;
  int64_t n_;
};

struct Case {
  int rows, cols;
  int64_t depth, b_k, ldc;
  bool add;
};

/// `run(a, b, c)` must leave what the definition says in c. Element (r, k) of a is at r*a_row +
/// k*a_k.
template <class T, class Run>
void expect_sums(const Case& of, int64_t a_row, int64_t a_k, Run run) {
  Elements<T> a((of.rows - 1) * a_row + (of.depth - 1) * a_k + 1);
  Elements<T> b((of.depth - 1) * of.b_k + of.cols), c((of.rows - 1) * of.ldc + of.cols);
  std::vector<T> expected = c.copy();
  for (int64_t r = 0; r < of.rows; ++r)
    for (int64_t j = 0; j < of.cols; ++j) {
      T sum = 0;
      for (int64_t k = 0; k < of.depth; ++k)
        if constexpr (std::is_floating_point_v<T>)
          sum = std::fma(a[r * a_row + k * a_k], b[k * of.b_k + j], sum);
        else
          sum = a[r * a_row + k * a_k] * b[k * of.b_k + j] + sum;
      T& to = expected[static_cast<size_t>(r * of.ldc + j)];
      to = of.add ? to + sum : sum;
    }
  run(a.data(), b.data(), c.data());
  EXPECT_EQ(c.copy(), expected) << of.rows << " rows, " << of.cols << " columns, depth " << of.depth
                                << ", rows of b " << of.b_k << " apart, add " << of.add;
}

template <class T>
void expect_tiles() {
  const own::Tiles<T>& tiles = own::tiles<T>();
  const auto check = [&](const Case& of) {
    expect_sums<T>(of, 1, tiles.rows, [&](const T* a, const T* b, T* c) {
      tiles.tile({.a = a,
                  .b = b,
                  .c = c,
                  .a_k = tiles.rows,
                  .b_k = of.b_k,
                  .ldc = of.ldc,
                  .depth = of.depth,
                  .rows = of.rows,
                  .cols = of.cols,
                  .add = of.add,
                  .ahead = reinterpret_cast<uintptr_t>(b),
                  .ahead_k = 0});
    });
    if (of.rows > tiles.direct_rows) return;
    expect_sums<T>(of, of.depth + 3, 1, [&](const T* a, const T* b, T* c) {
      tiles.tile_rows({.a = a,
                       .b = b,
                       .c = c,
                       .a_row = of.depth + 3,
                       .b_k = of.b_k,
                       .ldc = of.ldc,
                       .depth = of.depth,
                       .rows = of.rows,
                       .cols = of.cols,
                       .add = of.add,
                       .ahead = reinterpret_cast<uintptr_t>(b),
                       .ahead_k = 0});
    });
  };
  for (int cols = 1; cols <= tiles.cols; ++cols)
    for (int rows : {1, 3, tiles.rows})
      for (int64_t depth : {1, 2, 19})
        for (int64_t b_k : {1, 3, cols, cols + 5, tiles.cols})
          for (bool add : {false, true}) check({rows, cols, depth, b_k, cols + 2, add});
}

TEST(Tiles, SumAndReadNothingElse) {
  for (const SimdLoops* set : simd_loop_sets()) {
    SCOPED_TRACE(set->name);
    const FlagScope chosen(Flag::isa, set->name);
    expect_tiles<float>();
    expect_tiles<double>();
    expect_tiles<uint32_t>();
    expect_tiles<uint64_t>();
  }
}

/// Some elements of a vector, from every place in and around the end of a page.
TEST(Tiles, PackPartsOfVectors) {
  for (const SimdLoops* set : simd_loop_sets()) {
    SCOPED_TRACE(set->name);
    const FlagScope chosen(Flag::isa, set->name);
    const own::Tiles<float>& tiles = own::tiles<float>();
    for (int valid = 1; valid <= tiles.cols; ++valid)
      for (int64_t ld : {valid, valid + 3}) {
        const int64_t depth = 40;
        Elements<float> from((depth - 1) * ld + valid);
        std::vector<float> to(static_cast<size_t>(depth * tiles.cols), -1), expected = to;
        for (int64_t k = 0; k < depth; ++k)
          for (int64_t r = 0; r < tiles.cols; ++r)
            expected[static_cast<size_t>(k * tiles.cols + r)] = r < valid ? from[k * ld + r] : 0;
        tiles.pack_straight(from.data(), ld, depth, valid, tiles.cols, to.data());
        EXPECT_EQ(to, expected) << valid << " of each " << ld;
      }
  }
}

}  // namespace
}  // namespace lathe::test
