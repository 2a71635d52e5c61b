#include "core/tensor/tensor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <optional>

#include "core/base/error.h"
#include "core/sizes/symexpr.h"

namespace lathe {
namespace {

Tensor counting(IntSpan shape) {
  std::vector<float> data(static_cast<size_t>(numel(shape).value()));
  std::iota(data.begin(), data.end(), 0.0f);
  return from_host(data.data(), DType::f32, shape);
}

Tensor symbolic_tensor(Shape shape) {
  auto* t = new TensorImpl;
  t->geometry = Geometry::contiguous(std::move(shape));
  t->symbol = {1, 0};
  return Tensor(t);
}

TEST(Tensor, KnowsItsType) {
  Tensor t = counting({2, 3});
  EXPECT_EQ(t.dtype(), DType::f32);
  EXPECT_EQ(t.rank(), 2);
  EXPECT_EQ(t.size(-1).value(), 3);
  EXPECT_EQ(t.numel().value(), 6);
  EXPECT_EQ(to_string(type_of(t)), "f32[2, 3]");
  EXPECT_EQ(to_string(TensorType{DType::i64, {symbol(0)}, {DeviceKind::sim, 0}}), "i64[s0] on sim");
  EXPECT_FALSE(t.symbolic());
  EXPECT_FALSE(t.requires_grad());
  EXPECT_EQ(reinterpret_cast<const float*>(t.data())[5], 5.0f);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(t.data()) % 64, 0u);
  EXPECT_THROW(t.size(2), IndexError);
}

TEST(Tensor, HandlesShareAndRelease) {
  Tensor a = counting({4});
  Tensor b = a, c = std::move(b);
  EXPECT_TRUE(same(a, c));
  EXPECT_FALSE(b.defined());  // NOLINT(bugprone-use-after-move): what is tested
  EXPECT_EQ(a.impl()->refs.load(), 2u);
  Tensor d = Tensor::borrow(a.impl());
  EXPECT_EQ(a.impl()->refs.load(), 3u);
  TensorImpl* raw = d.release();
  EXPECT_TRUE(same(Tensor(raw), a));
  EXPECT_THROW(Tensor().dtype(), ValueError);
}

TEST(Tensor, StoragesOfAnySizeAndForeignMemory) {
  for (int64_t n : {0, 1, 900, 5000, 1 << 20}) {
    Tensor t = empty({DType::u8, {n}, {}});
    std::memset(t.mutable_data(), 1, static_cast<size_t>(n));
    EXPECT_EQ(t.impl()->storage->bytes, static_cast<size_t>(n));
  }
  int released = 0;
  std::byte outside[8] = {};
  {
    StorageRef s(new Storage);
    s->data = outside;
    s->bytes = 8;
    s->release = [&](Storage&) { released++; };
    Tensor t = make_tensor(s, DType::i32, Geometry::contiguous({2}));
    Tensor view = make_tensor(s, DType::i32, Geometry::contiguous({1}));
  }
  EXPECT_EQ(released, 1);
  EXPECT_THROW(empty({DType::f64, {int64_t{1} << 40, int64_t{1} << 30}, {}}), Error);
  EXPECT_THROW(empty({DType::f8e4m3, {1}, {}}), UnsupportedError);
}

TEST(Tensor, ItemOfEveryType) {
  for (DType d :
       {DType::u8, DType::i8, DType::i16, DType::i32, DType::i64, DType::f16, DType::bf16,
        DType::f32, DType::f64, DType::c64, DType::u16, DType::u32, DType::u64, DType::c128}) {
    EXPECT_EQ(scalar_tensor(7, d).item_int(), 7) << name(d);
    EXPECT_EQ(scalar_tensor(7.0, d).item_double(), 7.0) << name(d);
  }
  EXPECT_EQ(scalar_tensor(2, DType::bool_).item_int(), 1);
  EXPECT_EQ(scalar_tensor(1.0, DType::f32).item_bits(), 0x3f800000u);
  EXPECT_THROW(counting({2}).item_int(), ValueError);
  float parts[] = {1, 2};
  EXPECT_THROW(from_host(parts, DType::c64, {}).item_double(), ValueError);
  EXPECT_EQ(counting({1, 1}).item_double(), 0.0);
}

TEST(Tensor, ASymbolicTensorHasNoData) {
  Tensor t = symbolic_tensor({2, symbol(0)});
  EXPECT_TRUE(t.symbolic());
  SiteScope line(make_site("train.py", 8));
  try {
    t.item_double();
    FAIL();
  } catch (const TraceError& e) {
    EXPECT_STREQ(
        e.what(),
        "item: a trace sees types and sizes, never the data of a tensor\n"
        "  got:      a symbolic tensor f32[2, s0]\n"
        "  expected: ops on tensors, and questions about shape, dtype and device\n"
        "  at:       train.py:8\n"
        "  next:     to choose by data:      y = lathe.where(condition, a, b)\n"
        "            to branch or loop on it: in code that lathe.script reads, or outside of a "
        "capture\n"
        "            to compute with it:      leave out item(), a tensor of one element is as "
        "good");
  }
  EXPECT_THROW(t.data(), TraceError);
  EXPECT_THROW(t.mutable_data(), TraceError);
  EXPECT_THROW(t.address(), TraceError);
  EXPECT_THROW(empty(type_of(t)), TraceError);
}

TEST(Tensor, DataWaitsForPendingWork) {
  struct Counting final : EventState {
    int waits = 0;
    bool reached() const override { return true; }
    void wait() override { waits++; }
  };
  auto event = std::make_shared<Counting>();
  Tensor t = counting({2});
  t.impl()->storage->ready = event;
  t.data();
  EXPECT_EQ(event->waits, 1);
}

TEST(Tensor, AxesAreNormalised) {
  EXPECT_EQ(normalise_axis("sum", -1, 3), 2);
  EXPECT_EQ(normalise_axis("sum", 0, 3), 0);
  try {
    normalise_axis("sum", 3, 2);
    FAIL();
  } catch (const IndexError& e) {
    EXPECT_STREQ(e.what(),
                 "sum: the axis is out of range\n"
                 "  got:      axis 3 of a tensor of rank 2\n"
                 "  expected: -2 to 1\n"
                 "  next:     name an axis that the tensor has");
  }
  EXPECT_EQ(normalise_axis("sum", 0, 0), 0);
  EXPECT_EQ(normalise_axis("sum", -1, 0), 0);
  EXPECT_THROW(normalise_axis("sum", 1, 0), IndexError);
  EXPECT_THROW(size_axis("size", 0, 0), IndexError);
}

// ── geometry ────────────────────────────────────────────────────────────────────────────────────

std::string text(const Geometry& g) {
  return to_string(IntSpan(g.shape)) + " " + to_string(IntSpan(g.strides)) + " +" +
         to_string(g.offset);
}

TEST(Geometry, ViewAlgebra) {
  Geometry g = Geometry::contiguous({4, 6});
  EXPECT_EQ(text(g), "[4, 6] [6, 1] +0");
  EXPECT_EQ(text(g.slice(1, 1, 3, 2)), "[4, 3] [6, 2] +1");
  EXPECT_EQ(text(g.slice(0, 3, 4, -1)), "[4, 6] [-6, 1] +18");
  EXPECT_EQ(text(g.permute({1, 0})), "[6, 4] [1, 6] +0");
  EXPECT_EQ(text(g.unsqueeze(0)), "[1, 4, 6] [24, 6, 1] +0");
  EXPECT_EQ(text(g.unsqueeze(2)), "[4, 6, 1] [6, 1, 1] +0");
  EXPECT_EQ(text(g.unsqueeze(0).squeeze(0)), text(g));
  EXPECT_EQ(text(Geometry::contiguous({1, 3}).expand({2, 5, 3})), "[2, 5, 3] [0, 0, 1] +0");
  EXPECT_EQ(text(Geometry::contiguous({}).expand({2})), "[2] [0] +0");
}

TEST(Geometry, Contiguity) {
  EXPECT_TRUE(Geometry::contiguous({}).is_contiguous());
  EXPECT_TRUE(Geometry::contiguous({2, 3}).is_contiguous());
  EXPECT_FALSE(Geometry::contiguous({2, 3}).permute({1, 0}).is_contiguous());
  EXPECT_TRUE(Geometry::contiguous({1, 3}).permute({1, 0}).is_contiguous());
  EXPECT_TRUE(Geometry::contiguous({2, 0}).permute({1, 0}).is_contiguous());
  EXPECT_TRUE((Geometry{{1, 3}, {77, 1}, 5}.is_contiguous()));
  EXPECT_FALSE(Geometry::contiguous({1}).expand({3}).is_contiguous());
}

std::vector<int64_t> addresses(const Geometry& g) {
  std::vector<int64_t> out;
  int64_t count = numel(g.shape).value();
  for (int64_t k = 0; k < count; k++) {
    int64_t rest = k, at = g.offset.value();
    for (size_t i = g.shape.size(); i-- > 0;) {
      at += rest % g.shape[i].value() * g.strides[i].value();
      rest /= g.shape[i].value();
    }
    out.push_back(at);
  }
  return out;
}

std::optional<Geometry> reshaped(const Geometry& g, const Shape& to) {
  Geometry out;
  if (!g.reshape(to, out)) return std::nullopt;
  return out;
}

TEST(Geometry, ReshapeWithoutACopy) {
  Geometry g = Geometry::contiguous({4, 6});
  EXPECT_EQ(text(*reshaped(g, {24})), "[24] [1] +0");
  EXPECT_EQ(text(*reshaped(g, {2, 2, 1, 3, 2})), "[2, 2, 1, 3, 2] [12, 6, 6, 2, 1] +0");
  EXPECT_FALSE(reshaped(g.permute({1, 0}), {24}));
  EXPECT_EQ(text(*reshaped(g.permute({1, 0}), {3, 2, 4})), "[3, 2, 4] [2, 1, 6] +0");
  EXPECT_EQ(text(*reshaped(g.slice(1, 1, 3, 2), {2, 2, 3})), "[2, 2, 3] [12, 6, 2] +1");
  EXPECT_EQ(text(*reshaped(g.slice(1, 0, 3, 2), {12})), "[12] [2] +0");
  EXPECT_FALSE(reshaped(g.slice(1, 0, 2, 2), {8}));
  EXPECT_EQ(text(*reshaped(Geometry::contiguous({}), {1, 1})), "[1, 1] [1, 1] +0");
  EXPECT_EQ(text(*reshaped(Geometry::contiguous({1, 1}), {})), "[] [] +0");
  EXPECT_EQ(text(*reshaped(Geometry::contiguous({0, 3}), {5, 0})), "[5, 0] [0, 1] +0");
  EXPECT_TRUE(reshaped(Geometry::contiguous({0, 3}).permute({1, 0}), {0}));
}

// The rule against the definition, on every small case: same addresses in the same order, and
// possible whenever it says so for merges of axes.
TEST(Geometry, ReshapeKeepsElementOrder) {
  const std::vector<Shape> shapes = {{12},      {3, 4},    {4, 3},       {2, 6},     {1, 12},
                                     {2, 2, 3}, {3, 2, 2}, {2, 1, 3, 2}, {12, 1, 1}, {1, 3, 1, 4}};
  int possible = 0;
  for (const Shape& from : shapes) {
    std::vector<int> order(from.size());
    std::iota(order.begin(), order.end(), 0);
    do {
      Geometry g = Geometry::contiguous(from).permute(order);
      for (const Shape& to : shapes) {
        auto r = reshaped(g, to);
        if (!r) {
          EXPECT_FALSE(g.is_contiguous());
          continue;
        }
        possible++;
        ASSERT_EQ(addresses(*r), addresses(g)) << text(g) << " -> " << to_string(IntSpan(to));
      }
    } while (std::next_permutation(order.begin(), order.end()));
  }
  EXPECT_GT(possible, 300);
}

struct SymbolicGeometry : testing::Test {
  SymbolicGeometry() { scope.enter(); }
  SymScope scope;
};

TEST_F(SymbolicGeometry, ReshapeRecordsNoGuard) {
  Int s0 = scope.fresh(8), s1 = scope.fresh(3);
  Geometry g = Geometry::contiguous({s0, 4, s1});
  EXPECT_EQ(text(*reshaped(g, {s0, 4 * s1})), "[s0, 4*s1] [4*s1, 1] +0");
  EXPECT_EQ(text(*reshaped(g, {s0 * 4 * s1})), "[4*s0*s1] [1] +0");
  EXPECT_EQ(text(*reshaped(g, {2, 2 * s0, s1})), "[2, 2*s0, s1] [2*s0*s1, s1, 1] +0");
  EXPECT_EQ(text(*reshaped(g, {s0, 2, 2, s1})), "[s0, 2, 2, s1] [4*s1, 2*s1, s1, 1] +0");
  EXPECT_TRUE(g.is_contiguous());
  EXPECT_TRUE(scope.guards().empty());
  EXPECT_TRUE(scope.checks().empty());
}

TEST_F(SymbolicGeometry, OfPermutedAxes) {
  Int s0 = scope.fresh(8), s1 = scope.fresh(3);
  Geometry g = Geometry::contiguous({s0, s1, 5}).permute({1, 0, 2});
  EXPECT_EQ(text(*reshaped(g, {s1, s0, 5, 1})), "[s1, s0, 5, 1] [5, 5*s1, 1, 1] +0");
  EXPECT_FALSE(reshaped(g, {s1 * s0, 5}));
  EXPECT_FALSE(g.is_contiguous());
}

TEST_F(SymbolicGeometry, ExpandKeepsProvenEqualAxes) {
  Int s0 = scope.fresh(8);
  EXPECT_EQ(text(Geometry::contiguous({s0, 1}).expand({2, s0, 7})), "[2, s0, 7] [0, 1, 0] +0");
}

TEST(Geometry, SymbolicWithoutAScopeIsSafe) {
  Geometry g = Geometry::contiguous({symbol(0), symbol(1)});
  EXPECT_TRUE(g.is_contiguous());
  EXPECT_FALSE(g.permute({1, 0}).is_contiguous());
  EXPECT_TRUE(reshaped(g, {symbol(0) * symbol(1)}));
}

}  // namespace
}  // namespace lathe
