// Every kind on the `sim` device, whose work runs later in memory the host cannot touch: results
// must be those of the cpu, and errors must reach whoever waits.
#include "core/dispatch/assign.h"
#include "core/dispatch/call.h"
#include "core/tensor/random.h"
#include "tests/cpp/support/kernels_support.h"

namespace lathe::test {
namespace {

constexpr Device kSim{DeviceKind::sim, 0};

Tensor to_sim(const Tensor& t) {
  auto bytes = bytes_of(t);
  return from_host(bytes.data(), t.dtype(), t.shape(), kSim);
}

Tensor to_cpu(const Tensor& t) {
  Tensor even = t.geometry().is_contiguous() ? t : run1("clone", t);
  Tensor out = empty({t.dtype(), t.shape(), Device{}});
  Stream& stream = current_stream(kSim);
  stream.copy(out.mutable_data(), even.address(), bytes_of(out).size());
  stream.synchronize();
  return out;
}

template <class... A>
void expect_same(const char* op, const A&... args) {
  auto on_sim = [](const auto& a) {
    if constexpr (std::is_same_v<std::decay_t<decltype(a)>, Tensor>)
      return to_sim(a);
    else
      return a;
  };
  Outputs want = run(op, args...), got = run(op, on_sim(args)...);
  ASSERT_EQ(got.size(), want.size());
  for (size_t k = 0; k < got.size(); ++k) {
    EXPECT_EQ(got[k].device(), kSim);
    EXPECT_EQ(bits_of(to_cpu(got[k])), bits_of(want[k])) << op << " result " << k;
  }
}

TEST(KernelsSim, EveryKind) {
  Tensor x = random_tensor(DType::f32, {6, 50}, 1), y = random_tensor(DType::f32, {50}, 2);
  Tensor index = tensor_of<int64_t>({3, 0, 5, 5}, DType::i64, {4});
  expect_same("add", x, y);
  expect_same("mul", x, 3.5);
  expect_same("sum", x, Ints{1});
  expect_same("cumsum", x, 0);
  expect_same("mm", x, random_tensor(DType::f32, {50, 9}, 3));
  expect_same("mm", x, random_tensor(DType::f16, {50, 9}, 3));
  expect_same("index_select", x, 0, index);
  expect_same("index_add", x, 0, index, random_tensor(DType::f32, {4, 50}, 4));
  expect_same("sort", x, 1);
  expect_same("slice_put", x, random_tensor(DType::f32, {6, 10}, 5), 1, 5, 15);
  expect_same("permute", x, Ints{1, 0});
}

TEST(KernelsSim, CreateAndRandom) {
  for (const char* op : {"rand", "randn"}) {
    manual_seed(7);
    Tensor want = run1(op, Ints{40, 30});
    manual_seed(7);
    Tensor got = run1(op, Ints{40, 30}, std::nullopt, kSim);
    EXPECT_EQ(bits_of(to_cpu(got)), bits_of(want)) << op;
  }
}

TEST(KernelsSim, PointsOfTheHostMeetAnyDevice) {
  Tensor x = random_tensor(DType::f32, {20}, 1), s = tensor_of<float>({2.5f}, DType::f32, {});
  EXPECT_EQ(bits_of(to_cpu(run1("mul", to_sim(x), s))), bits_of(run1("mul", x, s)));
}

TEST(KernelsSim, AWriteFromAnotherDeviceIsRefused) {
  Tensor here = run1("full", Ints{3}, 1.0);
  Tensor there = to_sim(here);
  EXPECT_THROW(assign(here, there), DeviceError);
  EXPECT_THROW(assign(there, here), DeviceError);
  EXPECT_EQ(values_of<float>(here), (std::vector<float>{1, 1, 1}));
}

TEST(KernelsSim, WritesAndKeepsOperandsAlive) {
  Tensor x = random_tensor(DType::f32, {30, 30}, 1);
  Tensor result;
  {
    Tensor a = to_sim(x);
    for (int i = 0; i < 20; ++i) a = run1("add", a, a);
    result = a;
  }
  Tensor want = x;
  for (int i = 0; i < 20; ++i) want = run1("add", want, want);
  EXPECT_EQ(bits_of(to_cpu(result)), bits_of(want));
  Tensor dst = run1("slice", result, 0, 0, 2);
  executor().write(dst, to_sim(random_tensor(DType::f32, {30}, 2)));
  Tensor dst_cpu = run1("slice", want, 0, 0, 2);
  executor().write(dst_cpu, random_tensor(DType::f32, {30}, 2));
  EXPECT_EQ(bits_of(to_cpu(result)), bits_of(want));
}

TEST(KernelsSim, ErrorsReachWhoeverWaits) {
  Tensor x = to_sim(random_tensor(DType::f32, {3}, 1));
  Tensor bad = to_sim(tensor_of<int64_t>({0, 7}, DType::i64, {2}));
  Tensor y = run1("index_select", x, 0, bad);
  EXPECT_THROW(to_cpu(y), IndexError);
}

// ── epilogues ───────────────────────────────────────────────────────────────────────────────────

struct Doubling {
  float* out;
  std::vector<std::atomic<int>> seen;
};

TEST(KernelsEpilogue, SeesEveryOutputOnceWithItsFinalValue) {
  for (auto [m, n, k] :
       {std::array<int64_t, 3>{70, 90, 1100}, {1, 300, 20}, {3, 40, 20}, {5, 4, 0}, {200, 9, 30}}) {
    Tensor a = random_tensor(DType::f32, {m, k}, 1), b = random_tensor(DType::f32, {k, n}, 2);
    auto want = values_of<float>(run1("mm", a, b));
    Tensor out = empty({DType::f32, {m, n}, Device{}});
    const Op& op = get_op("mm");
    std::vector<Arg> args{Arg(a), Arg(b), Arg()};
    Args all(args.data(), args.size());
    Types types = op.infer(all);
    Operand in[] = {operand(a), operand(b)}, to = operand(out);
    for (const Entry* each : entries(Kind::contract)) {
      const Entry& entry = *each;
      if (!entry.accepts(entry, make_query(op, all, types)).accepted()) continue;
      auto prepared = entry.prepare(entry, {op, all, in, to, DType::f32});
      Doubling doubling{reinterpret_cast<float*>(out.mutable_data()),
                        std::vector<std::atomic<int>>(static_cast<size_t>(m * n))};
      Epilogue epilogue{[](void* context, const Epilogue::Lines& piece) {
                          auto& d = *static_cast<Doubling*>(context);
                          for (int64_t l = 0; l < piece.lines; ++l)
                            for (int64_t k = 0; k < piece.count; ++k) {
                              const int64_t i = piece.first + l * piece.apart + k;
                              d.out[i] *= 2;
                              ++d.seen[static_cast<size_t>(i)];
                            }
                        },
                        &doubling};
      entry.run(entry, *prepared, {in[0].data, in[1].data, to.data, epilogue});
      auto got = values_of<float>(out);
      for (size_t i = 0; i < got.size(); ++i) {
        ASSERT_EQ(doubling.seen[i].load(), 1) << entry.name;
        if (entry.bits == Bits::defined) {
          ASSERT_EQ(got[i], want[i] * 2) << entry.name;
        }
      }
    }
  }
}

}  // namespace
}  // namespace lathe::test
