// Programs on the device `sim`, whose kernels are run as thread programs there: the bits are those
// of the host.
#include <absl/strings/str_replace.h>
#include <gtest/gtest.h>

#include "core/dispatch/call.h"
#include "graph/pipeline.h"
#include "jit/kernel/simulated.h"
#include "jit/program/program.h"
#include "jit/simt/lower.h"
#include "jit/simt/run.h"
#include "tests/cpp/jit/suite_kernels.h"
#include "tests/cpp/support/kernels_support.h"
#include "tests/fuzz/targets.h"

namespace lathe::jit {
namespace {

constexpr Device kSim{DeviceKind::sim, 0};
int g_calls = 0;

/// All bytes that an argument's accesses reach.
std::vector<absl::Span<std::byte>> reached(const SimulatedCall& c) {
  std::vector<int64_t> elements(c.kernel.buffers.size(), 0);
  each_access(c.kernel.body, [&](const Access& a, bool) {
    int64_t last = c.value(a.map.offset);
    for (size_t axis = 0; axis < c.kernel.axes.size(); ++axis)
      last += std::max<int64_t>(0, c.value(a.map.along(axis))) *
              std::max<int64_t>(0, c.value(c.kernel.axes[axis].extent) - 1);
    auto& n = elements[static_cast<size_t>(a.buf)];
    n = std::max(n, last + 1);
  });
  std::vector<absl::Span<std::byte>> all;
  for (size_t b = 0; b < c.buffers.size(); ++b)
    all.emplace_back(c.buffers[b],
                     static_cast<size_t>(elements[b]) * size_of(c.kernel.buffers[b].dtype));
  return all;
}

/// Pieces of a line are the host's, which combines their states; so is what asks for positions.
bool run_as_threads(const SimulatedCall& c) {
  bool positions = false;
  each_statement(c.kernel.body, [&](const auto& statement) {
    for (const ScalarFunction* f : functions(statement))
      positions = positions || reads_position(*f);
  });
  if (c.kernel.line || positions || !simt::refuses(c.kernel).empty()) return false;
  const std::vector<absl::Span<std::byte>> spans = reached(c);
  simt::run(
      simt::threads_of(c.kernel, {.threads = 64}),
      {.arguments = spans, .uniforms = c.uniforms, .value = c.value, .most_blocks = 3, .order = 7});
  ++g_calls;
  return true;
}

Tensor on(Device device, const Tensor& t) {
  if (device.kind == DeviceKind::cpu) return t;
  return from_host(t.data(), t.dtype(), t.shape(), device);
}
std::string bytes_of(const Tensor& t) {
  std::string out(static_cast<size_t>(t.numel().value()) * size_of(t.dtype()), '\0');
  if (t.device().kind == DeviceKind::cpu)
    std::memcpy(out.data(), t.data(), out.size());
  else {
    Stream& stream = current_stream(t.device());
    stream.copy(reinterpret_cast<std::byte*>(out.data()), t.address(), out.size());
    stream.synchronize();
  }
  return out;
}

/// What the program of a graph gives, its tensors being there.
std::vector<std::string> results(const std::string& text, Device device) {
  const std::string there = device.kind == DeviceKind::cpu ? "]" : "]@sim";
  std::optional<ir::Graph> graph = fuzz::read(absl::StrReplaceAll(text, {{"?]", there}}));
  EXPECT_TRUE(graph) << text;
  if (!graph) return {};
  ir::optimise(*graph);
  ir::Data inputs;
  uint64_t seed = 1;
  for (const ir::Value* v : graph->inputs())
    inputs.emplace_back(on(device, test::random_tensor(v->tensor().dtype, {5, 1100}, seed++)));
  const Program program(std::move(*graph));
  std::vector<std::string> out;
  for (const ir::Datum& d : program.run(inputs)) out.push_back(bytes_of(d.tensor()));
  return out;
}

TEST(SimtPrograms, GiveTheBitsOfTheHost) {
  constexpr const char* kGraphs[] = {
      R"(graph f(%x: f32[s0, s1?]) {
  %0 = amax(%x, [1], True)
  %1 = exp(sub(%x, %0))
  %2 = div(%1, sum(%1, [1], True))
  return %2
})",
      R"(graph f(%x: f16[s0, s1?], %y: f32[s0, s1?]) {
  %0 = mul(%x, %y)
  %1 = sum(%0, [1], True)
  %2 = mul(sub(%y, %1), %x)
  %3 = sum(%2, [0])
  return %2, %3
})",
      R"(graph f(%x: f64[s0, s1?]) {
  %0 = mul(tanh(%x), add(%x, 1))
  return %0
})",
      R"(graph f(%x: f32[s0, s1?], %y: f32[s0, s1?]) {
  %0 = sub(rolled(%x, 3, 1), rolled(%y, -2, 1))
  return %0
})"};
  for (const char* text : kGraphs) {
    const std::vector<std::string> wanted = results(text, {});
    set_simulator(run_as_threads);
    g_calls = 0;
    const std::vector<std::string> got = results(text, kSim);
    set_simulator(nullptr);
    EXPECT_GT(g_calls, 0) << text;
    ASSERT_EQ(got.size(), wanted.size()) << text;
    for (size_t k = 0; k < got.size(); ++k) {
      ASSERT_EQ(got[k].size(), wanted[k].size()) << text;
      const auto [a, b] = std::mismatch(got[k].begin(), got[k].end(), wanted[k].begin());
      EXPECT_EQ(a, got[k].end()) << "result " << k << " at byte " << a - got[k].begin() << "\n"
                                 << text;
    }
  }
}

}  // namespace
}  // namespace lathe::jit
