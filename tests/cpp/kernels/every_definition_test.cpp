// Every definition of the samples run in more than one way: from a program that is linked with the
// static archives (this one), on the `sim` device, and, to see that these tests can fail, on a
// `sim` whose one necessary wait was taken out.
#include <atomic>
#include <chrono>
#include <set>
#include <thread>

#include "core/dispatch/custom.h"
#include "core/dispatch/grad.h"
#include "core/tensor/random.h"
#include "kernels/runtime/launch.h"
#include "tests/cpp/support/kernels_support.h"
#include "tests/cpp/support/samples.h"

namespace lathe::test {
namespace {

using lathe::testing::Sample;
using lathe::testing::SampleTensor;

constexpr Device kSim{DeviceKind::sim, 0};

Tensor on_sim(const Tensor& t) {
  auto bytes = bytes_of(t);
  return from_host(bytes.data(), t.dtype(), t.shape(), kSim);
}

Tensor to_cpu(const Tensor& t) {
  if (t.device().kind == DeviceKind::cpu) return t;
  Tensor even = t.geometry().is_contiguous() ? t : run1("clone", t);
  Tensor out = empty({t.dtype(), t.shape(), Device{}});
  Stream& stream = current_stream(kSim);
  stream.wait(even.impl()->storage->ready);
  stream.copy(out.mutable_data(), even.address(), bytes_of(out).size());
  stream.synchronize();
  return out;
}

/// The results' bytes, with the tensors of the sample on this device.
std::vector<std::vector<std::byte>> results(const Sample& s, Device device) {
  install_executor();
  manual_seed(5);
  std::mt19937_64 rng(s.seed());
  GradMode no_history(false);
  lathe::testing::PreparedCall call = lathe::testing::prepare(s, [&](const SampleTensor& t) {
    Tensor made = lathe::testing::make_tensor(t, DType::f32, rng);
    return device == kSim ? on_sim(made) : made;
  });
  std::vector<std::vector<std::byte>> out;
  for (const Tensor& t : lathe::call(*call.op, call.view())) out.push_back(bits_of(to_cpu(t)));
  return out;
}

/// A static registrar that the linker dropped would be a definition that is not there.
TEST(StaticLink, CallsEveryOp) {
  std::set<std::string> called;
  for (const Sample& s : lathe::testing::samples()) {
    EXPECT_NE(results(s, Device{}).empty(), s.gives()) << s.op;
    called.insert(s.op);
  }
  for (const Op* op : all_ops())
    EXPECT_TRUE(called.contains(op->name()) || custom_of(*op) != nullptr ||
                op->extra.host != HostCall::none || lathe::testing::scratch(*op))
        << op->name();
}

TEST(KernelsSim, EverySample) {
  int compared = 0;
  for (const Sample& s : lathe::testing::samples()) {
    bool tensors = false;
    for (const auto& a : s.args) tensors = tensors || !a.tensors.empty();
    if (!tensors) continue;  // made on the host unless told otherwise
    std::vector<std::vector<std::byte>> host;
    try {
      host = results(s, Device{});
    } catch (const UnsupportedError& e) {  // linear algebra, where there is no OpenBLAS
      if (std::string_view(e.what()).find("openblas.lapack (pinned): not found") ==
          std::string_view::npos)
        throw;
      std::cout << s.where << ": left out: only OpenBLAS has it, which is not found here\n";
      continue;
    }
    EXPECT_EQ(results(s, kSim), host) << s.where;
    ++compared;
  }
  EXPECT_GT(compared, 120);
}

/// y = x + x where another stream writes x late. `remove`: the reader does not wait for it.
std::vector<float> read_what_another_stream_writes(bool remove) {
  Tensor x = on_sim(tensor_of<float>(std::vector<float>(64, 1.0F), DType::f32, {64}));
  current_stream(kSim).synchronize();
  std::atomic<bool> handed{false};
  std::thread writer([&] {
    Tensor late = on_sim(tensor_of<float>(std::vector<float>(64, 3.0F), DType::f32, {64}));
    std::byte *to = x.address(), *from = late.address();
    submit(kSim, {late}, {x}, [=] {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      std::memcpy(to, from, 64 * sizeof(float));
    });
    handed = true;
    current_stream(kSim).synchronize();
  });
  while (!handed) std::this_thread::yield();
  Event written = x.impl()->storage->ready;
  if (remove) x.impl()->storage->ready = nullptr;
  auto got = values_of<float>(to_cpu(run1("add", x, x)));
  writer.join();
  return got;
}

TEST(KernelsSim, ARemovedWaitIsCaught) {
  EXPECT_EQ(read_what_another_stream_writes(false), std::vector<float>(64, 6.0F));
  EXPECT_NE(read_what_another_stream_writes(true), std::vector<float>(64, 6.0F));
}

TEST(KernelsSimDeathTest, RemovedWaitOfTheHostFaults) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        Tensor x = on_sim(tensor_of<float>({1, 2, 3}, DType::f32, {3}));
        current_stream(kSim).synchronize();
        volatile float first = *reinterpret_cast<const float*>(x.address());
        (void)first;
      },
      "");
}

}  // namespace
}  // namespace lathe::test
