// Index and sort definitions against plain loops; errors name the lowest bad position.
#include <algorithm>
#include <numeric>

#include "tests/cpp/support/kernels_support.h"

namespace lathe::test {
namespace {

Tensor random_index(Shape shape, int64_t size, uint32_t seed, DType dtype = DType::i64) {
  std::mt19937 rng(seed);
  int64_t n = numel(shape).value();
  std::vector<int64_t> wide(static_cast<size_t>(n));
  for (int64_t& i : wide) i = static_cast<int64_t>(rng() % static_cast<uint32_t>(size));
  if (dtype == DType::i64) return tensor_of(wide, dtype, shape);
  return tensor_of(std::vector<int32_t>(wide.begin(), wide.end()), dtype, shape);
}

/// Calls f(position) for every index of `shape`, in row-major order.
void for_each(const Shape& shape, const std::function<void(const std::vector<int64_t>&)>& f) {
  std::vector<int64_t> at(shape.size(), 0);
  int64_t n = numel(shape).value();
  for (int64_t i = 0; i < n; ++i) {
    f(at);
    for (size_t a = shape.size(); a-- > 0;) {
      if (++at[a] < shape[a].value()) break;
      at[a] = 0;
    }
  }
}
size_t linear(const Shape& shape, const std::vector<int64_t>& at) {
  int64_t i = 0;
  for (size_t a = 0; a < shape.size(); ++a) i = i * shape[a].value() + at[a];
  return static_cast<size_t>(i);
}

TEST(KernelsIndex, GatherTakesAlongAnyAxis) {
  for (int axis = 0; axis < 3; ++axis)
    for (DType d : {DType::f32, DType::f64, DType::u8, DType::bf16}) {
      Shape xs{4, 5, 6}, is{4, 5, 6};
      is[static_cast<size_t>(axis)] = 9;
      Tensor x = random_tensor(d, xs, 1),
             index = random_index(is, xs[static_cast<size_t>(axis)].value(), 2);
      auto from = bytes_of(x), got = bytes_of(run1("gather", x, axis, index));
      auto where = values_of<int64_t>(index);
      size_t size = size_of(d);
      for_each(is, [&](const std::vector<int64_t>& at) {
        auto source = at;
        source[static_cast<size_t>(axis)] = where[linear(is, at)];
        ASSERT_EQ(std::memcmp(&got[linear(is, at) * size], &from[linear(xs, source) * size], size),
                  0);
      });
    }
}

TEST(KernelsIndex, ScatterLastWinsAndAddGoesInOrder) {
  for (int axis = 0; axis < 3; ++axis) {
    Shape xs{5, 40, 7}, is{5, 40, 7};
    is[static_cast<size_t>(axis)] = 33;
    if (axis != 1) is[1] = 20;
    Tensor x = random_tensor(DType::f32, xs, 3);
    Tensor index = random_index(is, xs[static_cast<size_t>(axis)].value(), 4, DType::i32);
    Tensor source = random_tensor(DType::f32, is, 5);
    auto put = values_of<float>(x), add = put;
    auto where = values_of<int32_t>(index);
    auto values = values_of<float>(source);
    for_each(is, [&](const std::vector<int64_t>& at) {
      auto target = at;
      target[static_cast<size_t>(axis)] = where[linear(is, at)];
      put[linear(xs, target)] = values[linear(is, at)];
      add[linear(xs, target)] += values[linear(is, at)];
    });
    for (const char* threads : {"1", "3"}) {
      FlagScope set(Flag::threads, threads);
      EXPECT_EQ(values_of<float>(run1("scatter", x, axis, index, source)), put);
      EXPECT_EQ(values_of<float>(run1("scatter_add", x, axis, index, source)), add);
    }
  }
  Tensor x = random_tensor(DType::f32, {6}, 6), index = tensor_of<int64_t>({1, 4}, DType::i64, {2});
  auto expected = values_of<float>(x);
  expected[1] = expected[4] = 2.5f;
  EXPECT_EQ(values_of<float>(run1("scatter", x, 0, index, 2.5)), expected);
}

// One element along the axis, of what a pooling's window gives: more than a piece of them, and
// operands whose axes cannot be joined.
TEST(KernelsIndex, OneElementAlongTheAxis) {
  for (int axis = 0; axis < 3; ++axis)
    for (bool turned : {false, true}) {
      Shape xs{30, 40, 50}, is = xs;
      is[static_cast<size_t>(axis)] = 1;
      Tensor x = turned ? run1("permute", random_tensor(DType::f32, {50, 40, 30}, 6), Ints{2, 1, 0})
                        : random_tensor(DType::f32, xs, 6);
      Tensor index = random_index(is, xs[static_cast<size_t>(axis)].value(), 7);
      Tensor source = random_tensor(DType::f32, is, 8);
      auto from = values_of<float>(run1("clone", x)), put = from, add = from, taken = from;
      auto where = values_of<int64_t>(index);
      auto values = values_of<float>(source);
      taken.clear();
      for_each(is, [&](const std::vector<int64_t>& at) {
        auto there = at;
        there[static_cast<size_t>(axis)] = where[linear(is, at)];
        taken.push_back(from[linear(xs, there)]);
        put[linear(xs, there)] = values[linear(is, at)];
        add[linear(xs, there)] += values[linear(is, at)];
      });
      EXPECT_EQ(values_of<float>(run1("gather", x, axis, index)), taken);
      EXPECT_EQ(values_of<float>(run1("scatter", x, axis, index, source)), put);
      EXPECT_EQ(values_of<float>(run1("scatter_add", x, axis, index, source)), add);
    }
}

TEST(KernelsIndex, SelectMovesWholeSlices) {
  Tensor x = random_tensor(DType::f32, {10, 4, 6}, 7);
  for (int axis = 0; axis < 3; ++axis) {
    int64_t size = x.size(axis).value();
    Tensor index = random_index({3, 2}, size, 8);
    auto from = values_of<float>(x), got = values_of<float>(run1("index_select", x, axis, index));
    auto where = values_of<int64_t>(index);
    Shape xs = x.shape(), out = xs;
    out.erase(out.begin() + axis);
    out.insert(out.begin() + axis, {Int(3), Int(2)});
    for_each(out, [&](const std::vector<int64_t>& at) {
      std::vector<int64_t> source(at.begin(), at.begin() + axis);
      source.push_back(where[static_cast<size_t>(at[static_cast<size_t>(axis)] * 2 +
                                                 at[static_cast<size_t>(axis) + 1])]);
      source.insert(source.end(), at.begin() + axis + 2, at.end());
      ASSERT_EQ(got[linear(out, at)], from[linear(xs, source)]);
    });
  }
  Tensor one = run1("index_select", x, 0, tensor_of<int64_t>({3}, DType::i64, {}));
  EXPECT_EQ(to_string(one.shape()), "[4, 6]");
}

TEST(KernelsIndex, AddedSlicesGoInOrder) {
  for (int axis = 0; axis < 2; ++axis) {
    Shape xs{6, 300};
    int64_t size = xs[static_cast<size_t>(axis)].value();
    Tensor x = random_tensor(DType::f32, xs, 9), index = random_index({50}, size, 10);
    Shape ss = xs;
    ss[static_cast<size_t>(axis)] = 50;
    Tensor source = random_tensor(DType::f32, ss, 11);
    auto expected = values_of<float>(x), values = values_of<float>(source);
    auto where = values_of<int64_t>(index);
    for (int64_t i = 0; i < 50; ++i)
      for (int64_t j = 0; j < xs[static_cast<size_t>(1 - axis)].value(); ++j) {
        std::vector<int64_t> to{where[static_cast<size_t>(i)], j}, from{i, j};
        if (axis == 1) std::swap(to[0], to[1]), std::swap(from[0], from[1]);
        expected[linear(xs, to)] += values[linear(ss, from)];
      }
    EXPECT_EQ(values_of<float>(run1("index_add", x, axis, index, source)), expected);
  }
}

TEST(KernelsIndex, ErrorsNameTheLowestBadPosition) {
  Tensor x = random_tensor(DType::f32, {3, 4}, 12);
  Tensor index = tensor_of<int64_t>({0, 1, 2, 0, 1, -1, 3, 9}, DType::i64, {2, 4});
  for (const char* op : {"gather", "scatter_add"}) {
    try {
      std::string(op) == "gather" ? run1(op, x, 0, index) : run1(op, x, 0, index, x);
      FAIL();
    } catch (const IndexError& e) {
      EXPECT_NE(std::string(e.what()).find("-1 at position [1, 1]"), std::string::npos) << e.what();
    }
  }
}

// ── sorting ─────────────────────────────────────────────────────────────────────────────────────

TEST(KernelsSort, StableWithNanLargestAndTiesInOrder) {
  Tensor x = tensor_of<float>({2, NAN, -0.0f, 0.0f, -INFINITY, 2, INFINITY}, DType::f32, {7});
  Outputs up = run("sort", x), down = run("sort", x, -1, true);
  EXPECT_EQ(values_of<int64_t>(up[1]), (std::vector<int64_t>{4, 2, 3, 0, 5, 6, 1}));
  EXPECT_EQ(values_of<int64_t>(down[1]), (std::vector<int64_t>{1, 6, 0, 5, 2, 3, 4}));
  EXPECT_TRUE(std::signbit(values_of<float>(up[0])[1]));
}

template <class T>
void expect_sorted(DType d, int64_t rows, int64_t n) {
  Tensor x = random_tensor(d, {rows, n}, 13);
  auto xs = values_of<T>(x);
  Outputs got = run("sort", x);
  auto values = values_of<T>(got[0]);
  auto indices = values_of<int64_t>(got[1]);
  for (int64_t r = 0; r < rows; ++r) {
    const T* line = &xs[static_cast<size_t>(r * n)];
    std::vector<int64_t> order(static_cast<size_t>(n));
    std::iota(order.begin(), order.end(), int64_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](int64_t a, int64_t b) { return line[a] < line[b]; });
    for (int64_t i = 0; i < n; ++i) {
      ASSERT_EQ(indices[static_cast<size_t>(r * n + i)], order[static_cast<size_t>(i)]);
      ASSERT_EQ(values[static_cast<size_t>(r * n + i)], line[order[static_cast<size_t>(i)]]);
    }
  }
}

TEST(KernelsSort, AgreesWithStableSort) {
  for (int64_t n : {1, 5, 100, 3000}) {
    expect_sorted<float>(DType::f32, 3, n);
    expect_sorted<double>(DType::f64, 2, n);
    expect_sorted<int32_t>(DType::i32, 3, n);
    expect_sorted<int64_t>(DType::i64, 2, n);
    expect_sorted<int8_t>(DType::i8, 2, n);
    expect_sorted<uint8_t>(DType::u8, 2, n);
  }
}

TEST(KernelsSort, TopK) {
  Tensor x = random_tensor(DType::f32, {40, 3}, 14);
  for (int64_t k : {0, 1, 4, 39, 40}) {
    Outputs all = run("sort", x, 0, true), top = run("topk", x, k, 0);
    Tensor head = run1("slice", all[1], 0, 0, k), values = run1("slice", all[0], 0, 0, k);
    EXPECT_EQ(values_of<int64_t>(top[1]), values_of<int64_t>(head));
    EXPECT_EQ(bits_of(top[0]), bits_of(values));
  }
}

/// The first of a sort along the axis, whatever the dtype, the direction and the layout.
void expect_first_of_sort(const Tensor& x, int64_t keep, bool largest) {
  Outputs all = run("sort", x, 1, largest), top = run("topk", x, keep, 1, largest);
  for (size_t k = 0; k < 2; ++k) {
    Tensor first = run1("clone", run1("slice", all[k], 1, 0, keep));
    ASSERT_EQ(bytes_of(top[k]), bytes_of(first)) << keep << " of " << x.size(1).value();
  }
}

TEST(KernelsSort, TopKIsTheFirstOfTheSort) {
  for (DType d :
       {DType::f32, DType::f64, DType::bf16, DType::f16, DType::i64, DType::u8, DType::i16})
    for (int64_t n : {1, 15, 16, 17, 64, 300, 2048})
      for (int64_t keep : {1, 3, 16, 70, 512})
        for (bool largest : {true, false}) {
          if (keep > n) continue;
          Tensor x = random_tensor(d, {3, n}, static_cast<uint32_t>(n + keep));
          expect_first_of_sort(x, keep, largest);
          expect_first_of_sort(run1("flip", x, Shape{1}), keep, largest);
          expect_first_of_sort(run1("permute", random_tensor(d, {n, 3}, 5), Shape{1, 0}), keep,
                               largest);
          if (!is_floating(d)) continue;
          Tensor few = run1("sqrt", run1("floor", x));  // equals, zeros and NaN
          expect_first_of_sort(few, keep, largest);
          expect_first_of_sort(run1("neg", few), keep, largest);
        }
}

TEST(KernelsSort, SearchesSorted) {
  Tensor line = tensor_of<float>({1, 2, 2, 5, NAN}, DType::f32, {5});
  Tensor asked = tensor_of<float>({0, 2, 3, 5, 6, NAN}, DType::f32, {2, 3});
  EXPECT_EQ(values_of<int64_t>(run1("searchsorted", line, asked)),
            (std::vector<int64_t>{0, 1, 3, 3, 4, 4}));
  EXPECT_EQ(values_of<int64_t>(run1("searchsorted", line, asked, true)),
            (std::vector<int64_t>{0, 3, 3, 4, 4, 5}));
}

}  // namespace
}  // namespace lathe::test
