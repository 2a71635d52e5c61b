// Which tensors may share memory, and what is done where they do: ranges of addresses count, not
// the storages that they are reached by.
#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "core/base/error.h"
#include "core/dispatch/assign.h"
#include "core/dispatch/call.h"
#include "core/dispatch/fn.h"
#include "core/dispatch/view_path.h"
#include "core/tensor/shared_memory.h"
#include "include/lathe/ops/math.h"
#include "include/lathe/ops/shape.h"
#include "jit/function.h"

namespace lathe {
namespace {

using M = math_ops<Tensor>;
using S = shape_ops<Tensor>;

/// Memory of somebody else, over which every tensor has a storage of its own.
class Buffer {
 public:
  explicit Buffer(size_t n) : data_(n) { std::iota(data_.begin(), data_.end(), 0.0f); }
  Tensor at(int64_t first, Shape shape, Strides strides, Int offset = 0) {
    auto* storage = new Storage;
    storage->data = reinterpret_cast<std::byte*>(data_.data() + first);
    storage->bytes = data_.size() * sizeof(float);
    return make_tensor(StorageRef(storage), DType::f32,
                       Geometry{std::move(shape), std::move(strides), offset});
  }
  Tensor run(int64_t first, int64_t n) { return at(first, {n}, {1}); }
  const std::vector<float>& data() const { return data_; }

 private:
  std::vector<float> data_;
};

TEST(SharedMemory, RangesAreCompared) {
  Buffer b(24);
  struct Case {
    const char* what;
    Tensor x, y;
    bool shared;
  };
  const Case cases[] = {
      {"one element in common", b.run(0, 5), b.run(4, 5), true},
      {"side by side", b.run(0, 4), b.run(4, 4), false},
      {"one inside the other", b.run(0, 12), b.run(3, 2), true},
      {"apart", b.run(0, 2), b.run(9, 2), false},
      {"the same", b.run(2, 4), b.run(2, 4), true},
      {"no elements", b.run(0, 0), b.run(0, 8), false},
      {"an axis without elements", b.at(0, {4, 0}, {1, 1}), b.run(0, 8), false},
      {"backwards, over it", b.at(0, {4}, {-1}, 7), b.run(4, 1), true},
      {"backwards, after it", b.at(0, {4}, {-1}, 7), b.run(0, 4), false},
      {"backwards, before it", b.at(0, {4}, {-1}, 7), b.run(8, 4), false},
      {"expanded, on it", b.at(3, {9}, {0}), b.run(3, 1), true},
      {"expanded, beside it", b.at(3, {9}, {0}), b.run(4, 8), false},
      {"columns, the last element", b.at(0, {3, 2}, {4, 1}), b.run(9, 1), true},
      {"columns, past the last element", b.at(0, {3, 2}, {4, 1}), b.run(10, 4), false},
      {"taking turns: may", b.at(0, {4}, {2}), b.at(1, {4}, {2}), true},
      {"an offset", b.at(0, {4}, {1}, 4), b.run(0, 4), false},
      {"no axes", b.at(5, {}, {}), b.run(5, 1), true},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(may_share_memory(c.x, c.y), c.shared) << c.what;
    EXPECT_EQ(may_share_memory(c.y, c.x), c.shared) << c.what << ", the other way round";
  }
}

TEST(SharedMemory, OtherDevicesAndSymbolicTensorsShareNone) {
  Buffer b(4);
  Tensor x = b.run(0, 4), elsewhere = b.run(0, 4);
  elsewhere.impl()->device = {DeviceKind::sim, 0};
  EXPECT_FALSE(may_share_memory(x, elsewhere));
  auto* impl = new TensorImpl;
  impl->geometry = Geometry::contiguous({symbol(0)});
  EXPECT_FALSE(may_share_memory(x, Tensor(impl)));
}

// Element by element in any order, the written ones would be read again.
TEST(SharedMemory, AWriteReadsItsValueInFull) {
  for (int64_t apart : {-3, -1, 1, 3, 8}) {
    Buffer b(24);
    std::vector<float> want = b.data();
    for (int64_t i = 0; i < 8; ++i)
      want[static_cast<size_t>(8 + i)] = b.data()[static_cast<size_t>(8 + apart + i)];
    assign(b.run(8, 8), b.run(8 + apart, 8));
    EXPECT_EQ(b.data(), want) << apart;
  }
}

TEST(SharedMemory, AnInPlaceOpReadsItsOperandsInFull) {
  for (int64_t apart : {-3, -1, 0, 1, 3, 8}) {
    Buffer b(24);
    std::vector<float> want = b.data();
    for (int64_t i = 0; i < 8; ++i)
      want[static_cast<size_t>(8 + i)] += b.data()[static_cast<size_t>(8 + apart + i)];
    Tensor x = b.run(8, 8), y = b.run(8 + apart, 8);
    const Arg args[] = {Arg(x), Arg(y)};
    call(get_op("add"), absl::MakeConstSpan(args), CallForm::in_place);
    EXPECT_EQ(b.data(), want) << apart;
  }
}

Outputs write_and_read(const Tensors& x) {
  assign(x[0], M::mul(x[0], 2.0));
  return {M::add(x[1], 1.0)};
}

TEST(SharedMemory, ATracedWriteRefusesAnInputOverTheSameMemory) {
  for (int64_t first : {1, 4, 7}) {
    Buffer b(24);
    jit::Function f("f");
    EXPECT_THROW(f({b.run(4, 4), b.run(first, 4)}, write_and_read), TraceError) << first;
    EXPECT_EQ(b.data()[4], 4.0f) << "written all the same";
  }
}

TEST(SharedMemory, ManyAskedAtOnceShareAsTheirPairsDo) {
  std::mt19937_64 rng(5);
  for (int round = 0; round < 50; ++round) {
    Buffer b(400), other(400);
    std::vector<Tensor> all;
    lathe::SharedMemory memory;
    for (size_t i = 0; i < 1 + rng() % 40; ++i) {
      const auto first = static_cast<int64_t>(rng() % 380), n = static_cast<int64_t>(rng() % 12);
      Buffer& in = rng() % 4 == 0 ? other : b;
      all.push_back(rng() % 3 == 0 ? in.at(first, {n % 4, 2}, {5, 1}) : in.run(first, n));
      memory.add(all.back().impl());
      if (rng() % 5 == 0) memory.add(nullptr), all.emplace_back();
    }
    for (size_t i = 0; i < all.size(); ++i) {
      if (!all[i].defined()) continue;
      const auto shares = [&](size_t k) {
        return k != i && all[k].defined() && may_share_memory(all[k], all[i]);
      };
      bool any = false;
      for (size_t k = 0; k < all.size(); ++k) any = any || shares(k);
      EXPECT_EQ(memory.any(*all[i].impl(), [&](size_t k) { return k != i; }), any);
    }
  }
}

TEST(SharedMemory, ATraceIsNotUsedForInputsOverTheSameMemory) {
  Buffer b(24), apart(24);
  jit::Function f("f");
  f({b.run(4, 4), b.run(8, 4)}, write_and_read);  // side by side
  EXPECT_EQ(f.counts().traces, 1);
  EXPECT_EQ(b.data()[4], 8.0f);
  f({apart.run(8, 4), apart.run(4, 4)}, write_and_read);
  EXPECT_EQ(f.counts().traces, 1);
  EXPECT_THROW(f({b.run(4, 4), b.run(7, 4)}, write_and_read), TraceError);
  EXPECT_EQ(b.data()[4], 8.0f) << "written all the same";
}

// A chain of views shares its steps, and comes apart without recursion.
TEST(SharedMemory, ChainsOfViewsShareTheirSteps) {
  Tensor x = from_host(std::vector<float>{1, 2}.data(), DType::f32, {2});
  Tensor one = S::unsqueeze(x, 0), two = S::squeeze(one, {Int(0)}), other = S::unsqueeze(one, 0);
  auto path_of = [](const Tensor& t) { return t.impl()->view->path; };
  EXPECT_TRUE(same(two.impl()->view->base, x));
  EXPECT_EQ(path_of(two)->before, path_of(one));
  EXPECT_EQ(path_of(other)->before, path_of(one));
  EXPECT_EQ(steps_of(*two.impl()->view).size(), 2u);
  auto path = path_of(one);
  for (int i = 0; i < 500000; ++i) path = std::make_shared<const ViewPath>(path, path->step);
  EXPECT_EQ(path->length, 500001u);
  path = nullptr;
}

}  // namespace
}  // namespace lathe
