// Every kind of row against plain loops.
#include <numeric>

#include "core/tensor/random.h"
#include "tests/cpp/support/kernels_support.h"

namespace lathe::test {
namespace {

template <class T>
std::vector<T> counted(size_t n) {
  std::vector<T> v(n);
  std::iota(v.begin(), v.end(), T{0});
  return v;
}

// ── elementwise ─────────────────────────────────────────────────────────────────────────────────

TEST(KernelsElementwise, Broadcasts) {
  Tensor x = tensor_of(counted<float>(6), DType::f32, {2, 3});
  Tensor y = tensor_of<float>({10, 20, 30}, DType::f32, {3});
  EXPECT_EQ(values_of<float>(run1("add", x, y)), (std::vector<float>{10, 21, 32, 13, 24, 35}));
  Tensor z = tensor_of<float>({100, 200}, DType::f32, {2, 1});
  EXPECT_EQ(values_of<float>(run1("add", y, z)),
            (std::vector<float>{110, 120, 130, 210, 220, 230}));
  EXPECT_EQ(values_of<float>(run1("mul", x, 2.0)), (std::vector<float>{0, 2, 4, 6, 8, 10}));
}

TEST(KernelsElementwise, StridesAndShapesAgainstLoops) {
  for (Shape shape : {Shape{}, Shape{0}, Shape{1}, Shape{7}, Shape{3, 5}, Shape{2, 3, 4},
                      Shape{5, 700}, Shape{700, 5}, Shape{4, 1, 3000}}) {
    Tensor x = random_tensor(DType::f32, shape, 3), y = random_tensor(DType::f32, shape, 4);
    auto xs = values_of<float>(x), ys = values_of<float>(y),
         got = values_of<float>(run1("sub", x, y));
    ASSERT_EQ(got.size(), xs.size());
    for (size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], xs[i] - ys[i]);
    if (shape.size() < 2) continue;
    Tensor xt = run1("transpose", x, 0, 1), yt = run1("clone", run1("transpose", y, 0, 1));
    EXPECT_EQ(values_of<float>(run1("transpose", run1("sub", xt, yt), 0, 1)), got);
  }
}

TEST(KernelsElementwise, MixedDtypesMeet) {
  Tensor i = tensor_of<int32_t>({1, -2, 3}, DType::i32, {3});
  Tensor f = tensor_of<float>({0.5f, 0.25f, 4}, DType::f32, {3});
  EXPECT_EQ(values_of<float>(run1("mul", i, f)), (std::vector<float>{0.5f, -0.5f, 12}));
  Tensor b = tensor_of<uint8_t>({1, 0, 1}, DType::bool_, {3});
  EXPECT_EQ(values_of<float>(run1("where", b, f, i)), (std::vector<float>{0.5f, -2, 4}));
  EXPECT_EQ(values_of<uint8_t>(run1("lt", i, f)), (std::vector<uint8_t>{0, 1, 1}));
}

TEST(KernelsElementwise, HalvesAreComputedInSinglePrecisionAndRounded) {
  for (DType d : {DType::f16, DType::bf16}) {
    Tensor x = random_tensor(d, {500}, 5), y = random_tensor(d, {500}, 6);
    auto xs = values_of<uint16_t>(x), ys = values_of<uint16_t>(y),
         got = values_of<uint16_t>(run1("add", x, y));
    for (size_t i = 0; i < got.size(); ++i) {
      float sum = d == DType::f16 ? f16_to_f32(xs[i]) + f16_to_f32(ys[i])
                                  : bf16_to_f32(xs[i]) + bf16_to_f32(ys[i]);
      ASSERT_EQ(got[i], d == DType::f16 ? f32_to_f16(sum) : f32_to_bf16(sum));
    }
  }
}

TEST(KernelsElementwise, IntegerDivisionByZeroNamesTheLowestElement) {
  std::vector<int32_t> divisors(5000, 1);
  divisors[4321] = divisors[3210] = 0;
  Tensor x = tensor_of(std::vector<int32_t>(5000, 7), DType::i32, {5, 1000});
  Tensor y = tensor_of(divisors, DType::i32, {5, 1000});
  try {
    run1("floor_divide", x, y);
    FAIL();
  } catch (const ValueError& e) {
    EXPECT_NE(e.parts().got.find("[3, 210]"), std::string::npos) << e.what();
    EXPECT_EQ(e.parts().op, "floor_divide");
  }
}

TEST(KernelsElementwise, ThreadsDoNotShow) {
  Tensor x = random_tensor(DType::f32, {300, 171}, 7), y = random_tensor(DType::f32, {171}, 8);
  auto all = [&] { return bits_of(run1("add", run1("sigmoid", x), y)); };
  auto expected = all();
  for (const char* threads : {"1", "2", "3", "8"}) {
    FlagScope set(Flag::threads, threads);
    EXPECT_EQ(all(), expected) << threads;
  }
}

// ── reduce, scan ────────────────────────────────────────────────────────────────────────────────

/// The fixed tree of docs, written plainly for a float sum.
float tree_sum(const std::vector<float>& x) {
  std::vector<std::pair<int, float>> stack;  // (height, value)
  for (size_t begin = 0; begin < x.size(); begin += 512) {
    float lane[16] = {};
    for (size_t i = begin; i < std::min(x.size(), begin + 512); ++i) lane[(i - begin) % 16] += x[i];
    for (int half = 8; half > 0; half /= 2)
      for (int l = 0; l < half; ++l) lane[l] += lane[l + half];
    std::pair<int, float> node{0, lane[0]};
    while (!stack.empty() && stack.back().first == node.first) {
      node = {node.first + 1, stack.back().second + node.second};
      stack.pop_back();
    }
    stack.push_back(node);
  }
  if (stack.empty()) return 0;
  float total = stack.back().second;
  for (size_t i = stack.size() - 1; i-- > 0;) total = stack[i].second + total;
  return total;
}

TEST(KernelsReduce, SumsInTheFixedTree) {
  for (int64_t n : {0, 1, 2, 15, 16, 17, 511, 512, 513, 1024, 1500, 2048, 5000}) {
    Tensor x = random_tensor(DType::f32, {n}, 9);
    EXPECT_EQ(values_of<float>(run1("sum", x))[0], tree_sum(values_of<float>(x))) << n;
  }
}

TEST(KernelsReduce, AxesInAnyOrderAndStride) {
  Tensor x = random_tensor(DType::f32, {4, 30, 50}, 10);
  auto xs = values_of<float>(x);
  auto at = [&](int64_t i, int64_t j, int64_t k) {
    return xs[static_cast<size_t>((i * 30 + j) * 50 + k)];
  };
  auto last = values_of<float>(run1("sum", x, Ints{2}));
  auto middle = values_of<float>(run1("sum", x, Ints{1}, true));
  auto outer = values_of<float>(run1("sum", x, Ints{0, 2}));
  auto turned = values_of<float>(run1("sum", run1("transpose", x, 1, 2), Ints{2}));
  for (int64_t i = 0; i < 4; ++i) {
    for (int64_t j = 0; j < 30; ++j) {
      std::vector<float> line;
      for (int64_t k = 0; k < 50; ++k) line.push_back(at(i, j, k));
      ASSERT_EQ(last[static_cast<size_t>(i * 30 + j)], tree_sum(line));
    }
    for (int64_t k = 0; k < 50; ++k) {
      std::vector<float> line;
      for (int64_t j = 0; j < 30; ++j) line.push_back(at(i, j, k));
      ASSERT_EQ(middle[static_cast<size_t>(i * 50 + k)], tree_sum(line));
      ASSERT_EQ(turned[static_cast<size_t>(i * 50 + k)], tree_sum(line));
    }
  }
  for (int64_t j = 0; j < 30; ++j) {
    std::vector<float> line;
    for (int64_t i = 0; i < 4; ++i)
      for (int64_t k = 0; k < 50; ++k) line.push_back(at(i, j, k));
    ASSERT_EQ(outer[static_cast<size_t>(j)], tree_sum(line));
  }
}

TEST(KernelsReduce, OtherMonoids) {
  Tensor x = tensor_of<float>({3, -1, NAN, 7, 7, 2}, DType::f32, {2, 3});
  auto largest = values_of<float>(run1("amax", x, Ints{1}));
  EXPECT_TRUE(std::isnan(largest[0]));
  EXPECT_EQ(largest[1], 7);
  EXPECT_EQ(values_of<int64_t>(run1("argmax", x, 1)), (std::vector<int64_t>{2, 0}));
  Tensor i = tensor_of<int32_t>({1, 2, 3, 4}, DType::i32, {4});
  EXPECT_EQ(values_of<int64_t>(run1("sum", i))[0], 10);
  EXPECT_EQ(values_of<int64_t>(run1("prod", i))[0], 24);
  EXPECT_EQ(values_of<uint8_t>(run1("all", i))[0], 1);
  Outputs both = run("max.dim", x, 1);
  EXPECT_EQ(values_of<int64_t>(both[1]), (std::vector<int64_t>{2, 0}));
  EXPECT_EQ(values_of<float>(both[0])[1], 7);
  EXPECT_THROW(run1("amax", random_tensor(DType::f32, {0}, 1)), ValueError);
}

TEST(KernelsReduce, LargeAndThreaded) {
  Tensor x = random_tensor(DType::f32, {3000}, 11), wide = random_tensor(DType::f32, {64, 900}, 12);
  auto all = [&] {
    auto bytes = bytes_of(run1("sum", x));
    for (Ints dims : {Ints{0}, Ints{1}, Ints{0, 1}}) {
      auto more = bytes_of(run1("sum", wide, dims));
      bytes.insert(bytes.end(), more.begin(), more.end());
    }
    return bytes;
  };
  auto expected = all();
  for (const char* threads : {"1", "2", "3", "8"}) {
    FlagScope set(Flag::threads, threads);
    EXPECT_EQ(all(), expected) << threads;
  }
}

TEST(KernelsScan, FoldsFromTheLeft) {
  Tensor x = random_tensor(DType::f32, {3, 40, 5}, 13);
  auto xs = values_of<float>(x), got = values_of<float>(run1("cumsum", x, 1));
  for (size_t i = 0; i < 3; ++i)
    for (size_t k = 0; k < 5; ++k) {
      float sum = 0;
      for (size_t j = 0; j < 40; ++j) {
        sum += xs[(i * 40 + j) * 5 + k];
        ASSERT_EQ(got[(i * 40 + j) * 5 + k], sum);
      }
    }
  Tensor last = random_tensor(DType::f64, {7, 33}, 14);
  auto ls = values_of<double>(last), sums = values_of<double>(run1("cumsum", last, -1));
  for (size_t i = 0; i < 7; ++i) {
    double sum = 0;
    for (size_t j = 0; j < 33; ++j) ASSERT_EQ(sums[i * 33 + j], sum += ls[i * 33 + j]);
  }
}

// ── view, create, random ────────────────────────────────────────────────────────────────────────

TEST(KernelsView, SharesTheStorage) {
  Tensor x = tensor_of(counted<float>(24), DType::f32, {2, 3, 4});
  Tensor y = run1("slice", run1("permute", x, Ints{2, 0, 1}), 0, 1, std::nullopt, 2);
  EXPECT_EQ(y.impl()->storage.get(), x.impl()->storage.get());
  EXPECT_EQ(values_of<float>(y), (std::vector<float>{1, 5, 9, 13, 17, 21, 3, 7, 11, 15, 19, 23}));
}

// Copies of lines of a few elements go by nests of up to three axes, longer ones line by line; all
// axes in all orders, each of them short and long, and repeated.
TEST(KernelsView, CopiesInAnyOrderOfAxes) {
  std::mt19937 rng(3);
  for (DType d : {DType::u8, DType::bf16, DType::f32, DType::f64})
    for (int trial = 0; trial < 60; ++trial) {
      Shape shape;
      Shape order;
      for (int64_t i = 0; i < 5; ++i) {
        const int64_t sizes[] = {1, 2, 3, 4, 5, 9};
        shape.push_back(sizes[rng() % 6]);
        order.push_back(i);
      }
      std::shuffle(order.begin(), order.end(), rng);
      Tensor x = random_tensor(d, shape, static_cast<uint32_t>(trial));
      Tensor y = run1("permute", x, order);
      if (trial % 3 == 0) y = run1("unsqueeze", y, static_cast<int>(rng() % 6));
      if (trial % 3 == 0) {
        Shape wide = y.shape();
        for (Int& size : wide)
          if (identical(size, Int(1))) size = 3;
        y = run1("expand", y, wide);
      }
      const auto from = bytes_of(x);
      Tensor copy = run1("clone", y);
      const size_t bytes = size_of(d);
      const int64_t n = y.numel().value();
      for (int64_t i = 0; i < n; ++i) {
        int64_t rest = i, at = 0;
        for (size_t axis = y.shape().size(); axis-- > 0;) {
          at += rest % y.shape()[axis].value() * y.geometry().strides[axis].value();
          rest /= y.shape()[axis].value();
        }
        ASSERT_EQ(std::memcmp(copy.data() + i * static_cast<int64_t>(bytes),
                              &from[static_cast<size_t>(at) * bytes], bytes),
                  0)
            << to_string(y.shape()) << " element " << i;
      }
    }
}

TEST(KernelsView, CopiesOfManyShortLinesAreCut) {
  for (const Shape& shape : {Shape{2, 3, 100000}, Shape{3, 5, 40000}, Shape{2, 2, 2, 70000}}) {
    Tensor x = random_tensor(DType::f32, shape, 1);
    const int last = static_cast<int>(shape.size()) - 1;
    Tensor turned = run1("clone", run1("transpose", x, last - 1, last));
    EXPECT_EQ(bytes_of(run1("transpose", turned, last - 1, last)), bytes_of(x));
  }
}

TEST(KernelsView, PutsBack) {
  Tensor x = tensor_of(counted<float>(6), DType::f32, {2, 3});
  Tensor v = tensor_of<float>({70, 80}, DType::f32, {2, 1});
  Tensor y = run1("slice_put", x, v, 1, 1, 2);
  EXPECT_EQ(values_of<float>(y), (std::vector<float>{0, 70, 2, 3, 80, 5}));
  EXPECT_EQ(values_of<float>(x), counted<float>(6));
}

TEST(KernelsCreate, FillsByIndex) {
  EXPECT_EQ(values_of<int64_t>(run1("arange", 2, 11, 3)), (std::vector<int64_t>{2, 5, 8}));
  EXPECT_EQ(values_of<float>(run1("full", Ints{2, 2}, 1.5)),
            (std::vector<float>{1.5, 1.5, 1.5, 1.5}));
  EXPECT_EQ(values_of<float>(run1("eye", 2, 3)), (std::vector<float>{1, 0, 0, 0, 1, 0}));
  EXPECT_EQ(values_of<float>(run1("linspace", 0.0, 1.0, 5)),
            (std::vector<float>{0, 0.25, 0.5, 0.75, 1}));
}

TEST(KernelsRandom, IsAddressedBySeedAndCall) {
  manual_seed(42);
  auto first = bytes_of(run1("rand", Ints{100})), second = bytes_of(run1("rand", Ints{100}));
  EXPECT_NE(first, second);
  EXPECT_EQ(random_state().call, 2u);
  manual_seed(42);
  FlagScope set(Flag::threads, "1");
  auto again = bytes_of(run1("rand", Ints{10, 10}));
  EXPECT_EQ(again, first);
  for (float x : values_of<float>(run1("rand", Ints{1000}))) EXPECT_TRUE(x >= 0 && x < 1);
  for (int64_t x : values_of<int64_t>(run1("randint", -3, 4, Ints{1000})))
    EXPECT_TRUE(x >= -3 && x < 4);
}

// ── writing ─────────────────────────────────────────────────────────────────────────────────────

TEST(KernelsWrite, ConvertsAndBroadcasts) {
  Tensor x = tensor_of(counted<float>(6), DType::f32, {2, 3});
  Tensor dst = run1("slice", run1("transpose", x, 0, 1), 0, 0, 2);
  uint32_t before = x.version();
  executor().write(dst, tensor_of<int32_t>({8, 9}, DType::i32, {2}));
  EXPECT_EQ(values_of<float>(x), (std::vector<float>{8, 8, 2, 9, 9, 5}));
  EXPECT_GT(x.version(), before);
}

}  // namespace
}  // namespace lathe::test
