// Several threads in the tape, the executor, the caches and one compiled function at a time. Run
// under the thread sanitizer (LATHE_PRESET=tsan ./dev test --cpp Threads), which sees what results
// alone cannot show.
#include <filesystem>
#include <thread>

#include "autodiff/engine.h"
#include "autodiff/tape.h"
#include "include/lathe/ops/math.h"
#include "include/lathe/ops/nn.h"
#include "include/lathe/ops/reduce.h"
#include "jit/function.h"
#include "jit/initialise.h"
#include "tests/cpp/support/kernels_support.h"

namespace lathe::test {
namespace {

using M = math_ops<Tensor>;
using N = nn_ops<Tensor>;
using R = reduce_ops<Tensor>;

constexpr int kThreads = 4, kRounds = 12;

template <class F>
void on_threads(F f) {
  initialise();
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) threads.emplace_back([&f, t] { f(t); });
  for (std::thread& t : threads) t.join();
}

TEST(Threads, ExecutorOnSharedOperands) {
  Tensor x = random_tensor(DType::f32, {70, 50}, 1), w = random_tensor(DType::f32, {50, 60}, 2);
  auto body = [&] { return bits_of(R::sum(M::tanh(N::mm(x, w)), Ints{Int(1)})); };
  auto want = body();
  on_threads([&](int) {
    for (int i = 0; i < kRounds; ++i) EXPECT_EQ(body(), want);
  });
}

TEST(Threads, TapeOfEachThreadOverSharedLeaves) {
  initialise();
  Tensor w = random_tensor(DType::f32, {30, 20}, 3), x = random_tensor(DType::f32, {10, 30}, 4);
  set_requires_grad(w, true);
  auto slope = [&] { return bits_of(grad({R::sum(M::square(N::mm(x, w)))}, {Tensor()}, {w})[0]); };
  auto want = slope();
  // A leaf of its own a round: what its first use makes is what threads could make twice.
  for (int i = 0; i < kRounds; ++i) {
    w = M::clone(detach(w));
    set_requires_grad(w, true);
    on_threads([&](int) { EXPECT_EQ(slope(), want); });
  }
  on_threads([&](int) {
    for (int i = 0; i < kRounds; ++i) EXPECT_EQ(slope(), want);
  });
}

TEST(Threads, CacheOfProgramsAndKernels) {
  initialise();
  auto folder =
      std::filesystem::temp_directory_path() / ("lathe-threads-" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  std::string before = flag_text(Flag::cache_dir);
  set_flag(Flag::cache_dir, folder.string());
  auto body = [](const Tensors& in) -> Outputs {
    return {M::mul(M::exp(M::neg(M::square(in[0]))), in[1])};
  };
  jit::Function shared("shared");
  on_threads([&](int t) {
    jit::Function own("own");
    for (int i = 0; i < kRounds; ++i) {
      Tensor a = random_tensor(DType::f32, {t + 1, i + 1}, 5),
             b = random_tensor(DType::f32, {i + 1}, 6);
      auto want = bits_of(body({a, b})[0]);
      EXPECT_EQ(bits_of(own({a, b}, body)[0]), want);
      EXPECT_EQ(bits_of(shared({a, b}, body)[0]), want);
    }
  });
  set_flag(Flag::cache_dir, before);
  std::filesystem::remove_all(folder);
}

/// More programs than a function keeps, so that threads trace, find, reorder and drop them at once.
TEST(Threads, OneFunctionOfMoreProgramsThanItKeeps) {
  initialise();
  auto body = [](const Tensors& in) -> Outputs { return {M::mul(M::add(in[0], in[0]), in[0])}; };
  const DType dtypes[] = {DType::i8,  DType::i16, DType::i32, DType::i64, DType::u8,
                          DType::f32, DType::f64, DType::f16, DType::c64};
  Tensors all;
  for (DType d : dtypes)
    for (size_t rank = 1; rank <= 8; ++rank)
      all.push_back(random_tensor(d, Shape(rank, Int(2)), static_cast<uint64_t>(rank)));
  std::vector<std::vector<std::byte>> want;
  for (const Tensor& x : all) want.push_back(bits_of(body({x})[0]));
  jit::Function shared("shared");
  on_threads([&](int t) {
    for (size_t i = 0; i < 2 * all.size(); ++i) {
      size_t k = (i * 5 + static_cast<size_t>(t) * 17) % all.size();
      EXPECT_EQ(bits_of(shared({all[k]}, body)[0]), want[k]);
    }
  });
  EXPECT_EQ(shared.counts().calls, static_cast<int64_t>(2 * kThreads * all.size()));
  EXPECT_LT(shared.compiled().size(), all.size());
}

}  // namespace
}  // namespace lathe::test
