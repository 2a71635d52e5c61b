// Random kernels, in every engine the same bytes, however they are walked: the interpreter says
// what they mean; the SIMD interpreter with the loops of each instruction set and machine code for
// each target say the same on any number of threads, of the kernel, of what its text reads as, of
// random schedules, and of short rows written out; so does the thread program, on grids and blocks
// of random sizes, in which the simulator finds no race.
//
//   LATHE_KERNELS=COUNT        SlowRandomKernels runs so many, all of them by machine code, each
//   for
//                              one target in turn (1,000 if it is not set)
//   LATHE_KERNELS_FIRST=SEED   from this seed on
//   LATHE_KERNELS_TARGETS=all  each for every target
//   LATHE_KERNELS_SEED=SEED    RandomKernels.OneSeed runs this one, for every target
#include <gtest/gtest.h>

#include "core/base/flags.h"
#include "jit/kernel/element_kernel.h"
#include "jit/kernel/row_kernel.h"
#include "jit/kernel_ir/interpret.h"
#include "jit/kernel_ir/parse.h"
#include "jit/kernel_ir/scheduling.h"
#include "jit/kernel_ir/unroll_rows.h"
#include "jit/simt/lower.h"
#include "jit/simt/run.h"
#include "tests/cpp/jit/host_blocks.h"
#include "tests/cpp/jit/random_kernel.h"

namespace lathe::jit {
namespace {

constexpr const char* kThreads[] = {"1", "2", "3", "8"};

uint64_t number_from(const char* variable, uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

/// One kernel, what it gives by its meaning, and every engine beside that.
class Comparison {
 public:
  Comparison(uint64_t seed, RandomKernel random)
      : seed_(seed), random_(std::move(random)), expected_(random_, seed) {}
  explicit Comparison(uint64_t seed) : Comparison(seed, random_kernel(seed)) {}

  void run(absl::Span<const Target> targets) {
    // Two of three are walked in some way.
    if (random_.kernel.schedule.empty() && seed_ % 3 != 0)
      random_.kernel.schedule = random_schedule(random_.kernel, seed_);
    const Kernel& k = random_.kernel;
    text_ = k.print();
    ASSERT_EQ(verify(k), "") << told("verify");
    const Kernel read = parse_kernel(text_);
    ASSERT_EQ(read.print(), text_) << told("its text");
    ASSERT_EQ(verify(read), "") << told("its text");
    interpret(k, expected_.begins, expected_.uniforms, value());
    ASSERT_NO_FATAL_FAILURE(by_threads(seed_ % 2 == 0 ? k : read, targets));
    // By turns of the kernel itself and of what was read.
    if (of_elements(k) != nullptr) {
      const ElementKernel both[] = {ElementKernel({k, {}, {}}), ElementKernel({read, {}, {}})};
      return engines(both, targets);
    }
    const RowKernel both[] = {RowKernel({k, {}, {}, {}, {}}), RowKernel({read, {}, {}, {}, {}})};
    ASSERT_NO_FATAL_FAILURE(engines(both, targets));
    const std::optional<Kernel> unrolled = unroll_rows(k, random_.value(k.axes.back().extent));
    if (!unrolled) return;
    text_ = unrolled->print();
    const KernelArguments got(random_, seed_);
    interpret(*unrolled, got.begins, got.uniforms, value());
    ASSERT_EQ(expected_.difference(got), "") << told("the interpreter, rows written out");
    const ElementKernel rows[] = {ElementKernel({*unrolled, {}, {}}),
                                  ElementKernel({parse_kernel(text_), {}, {}})};
    // It has an axis less than what may have too many of them for code.
    engines(rows, random_.compiles ? targets : absl::Span<const Target>());
  }

 private:
  template <class K>
  void engines(const K (&both)[2], absl::Span<const Target> targets) {
    size_t turn = seed_;
    for (const SimdLoops* loops : simd_loop_sets()) {
      FlagScope with(Flag::isa, loops->name);
      for (size_t more = 0; more < 2; ++more)
        ASSERT_NO_FATAL_FAILURE(expect_same(both[more], nullptr, turn++, loops->name));
    }
    for (const Target& target : targets) {
      const Kernel lowered = with_lowered_functions(code_of(both[turn % 2].loops()));
      const Result<std::string> object = testing::codegen()->compile(lowered, target);
      ASSERT_EQ(static_cast<bool>(object), random_.compiles) << object.error << told(target.key());
      if (!object) continue;
      const Result<LoadedCodeRef> code = testing::codegen()->load(object.value);
      ASSERT_TRUE(code) << code.error << told(target.key());
      const auto fn = reinterpret_cast<KernelFn>(code.value->symbol(kKernelSymbol));
      for (size_t more = 0; more < std::size(kThreads); ++more)
        ASSERT_NO_FATAL_FAILURE(expect_same(both[turn % 2], fn, turn + more, target.key()));
      ++turn;
    }
  }

  /// By blocks of some size, as many side by side as may be; rows that are too long to share are
  /// not. By the simulator, and by machine code of one thread.
  void by_threads(const Kernel& kernel, absl::Span<const Target> targets) {
    constexpr int kSizes[] = {16, 32, 48, 128, 256};
    std::mt19937_64 rng(seed_);
    simt::Shape shape{kSizes[rng() % std::size(kSizes)], rng() % 4 == 0};
    const auto most = static_cast<int64_t>(rng() % 5);
    for (int tries = 0; tries < 2; ++tries, shape.rows_in_scratch = true) {
      const simt::Program program = simt::threads_of(kernel, shape);
      ASSERT_EQ(simt::verify(program), "") << told("simt") << program.print();
      const KernelArguments got(random_, seed_);
      const std::vector<absl::Span<std::byte>> spans = got.spans();
      const simt::Launch launch{spans, got.uniforms, value(), 0, 0, nullptr, most, seed_};
      try {
        simt::run(program, launch);
      } catch (const UnsupportedError&) {
        ASSERT_FALSE(shape.rows_in_scratch) << told("simt");
        continue;
      } catch (const Error& e) {
        FAIL() << e.what() << told("simt") << program.print();
      }
      ASSERT_EQ(expected_.difference(got), "") << told("simt") << program.print();
      if (!testing::kRunsOnHost) return;
      for (const Target& target : targets) ASSERT_NO_FATAL_FAILURE(on_host(program, target, most));
      return;
    }
  }
  void on_host(const simt::Program& program, const Target& target, int64_t most) {
    const simt::Program lowered = simt::with_lowered_functions(program);
    const Result<std::string> object = testing::codegen()->host_threads(lowered, target);
    ASSERT_TRUE(object) << object.error << told("simt");
    const Result<LoadedCodeRef> code = testing::codegen()->load(object.value);
    ASSERT_TRUE(code) << code.error << told("simt");
    const KernelArguments got(random_, seed_);
    const std::vector<absl::Span<std::byte>> spans = got.spans();
    testing::run_on_host(lowered, *code.value,
                         {spans, got.uniforms, value(), 0, 0, nullptr, most, seed_});
    ASSERT_EQ(expected_.difference(got), "")
        << told(absl::StrCat("simt, ", target.key())) << program.print();
  }

  std::function<int64_t(Int)> value() const {
    return [this](Int e) { return random_.value(e); };
  }
  std::string told(std::string_view by) const {
    return absl::StrCat("\nseed ", seed_, " by ", by, "; again: LATHE_KERNELS_SEED=", seed_,
                        " RandomKernels.OneSeed\n", text_);
  }
  template <class K>
  void expect_same(const K& kernel, KernelFn fn, size_t turn, std::string_view by) {
    const char* threads = kThreads[turn % std::size(kThreads)];
    FlagScope on(Flag::threads, threads);
    const KernelArguments got(random_, seed_);
    kernel.run(fn, kernel.bind(value()), {.buffers = got.begins, .uniforms = got.uniforms});
    ASSERT_EQ(expected_.difference(got), "") << told(absl::StrCat(by, " on ", threads, " threads"));
  }

  uint64_t seed_;
  RandomKernel random_;
  KernelArguments expected_;
  std::string text_;
};

std::vector<Target> all_targets() {
  return testing::codegen() == nullptr ? std::vector<Target>() : testing::targets();
}

/// Every `apart`th kernel by machine code, for one target in turn or for all.
void random_kernels(uint64_t first, uint64_t count, uint64_t apart, bool every_target) {
  const std::vector<Target> targets = all_targets();
  uint64_t compiled = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    absl::Span<const Target> now = targets;
    if (seed % apart != 0) now = {};
    if (!now.empty() && !every_target) now = now.subspan(compiled++ % targets.size(), 1);
    ASSERT_NO_FATAL_FAILURE(Comparison(seed).run(now)) << "seed " << seed;
  }
}

TEST(RandomKernels, TheSameBytesInEveryEngine) { random_kernels(1, 200, 10, false); }

// ── what was found ──

void expect_right(std::string_view text) {
  for (uint64_t seed = 0; seed < 4; ++seed)
    Comparison(seed, {parse_kernel(text), {}}).run(all_targets());
}

/// It was written to memory and read from a register.
TEST(RandomKernels, ALocalOfRowsOfOnePosition) {
  expect_right(R"(kernel one(b0: f32) -> (b1: f32)
  local b2: f32[1]
  parallel i0 < 6
  axis i1 < 1
  for i1
    b2[i1] = compute (b0[i0])
      (%0:f32) -> f32
      %1:f32 = mul(%0, 3)
      return %1
  for i1
    b1[i0 + i1] = compute (b2[i1])
      (%0:f32) -> f32
      %1:f32 = add(%0, 1)
      return %1
)");
}

/// The SIMD interpreter took the elements of such a reduction from behind the operands.
TEST(RandomKernels, ThreeStatesThatReadEachOther) {
  expect_right(R"(kernel variance(b0: f32) -> (b1: f32)
  parallel i0 < 5
  axis i1 < 700
  b1[i0] = reduce i1 (b0[i0*(700) + i1]) f32 from 0x0, f32 from 0x0, f32 from 0x0
    (%0:f32, %1:i64) -> f32, f32, f32
    return 1:f32, %0, 0:f32
    (%0:f32, %1:f32, %2:f32, %3:f32, %4:f32, %5:f32) -> f32, f32, f32
    %6:f32 = add(%0, %3)
    %7:f32 = sub(%4, %1)
    %8:f32 = div(%3, %6)
    %9:f32 = fma(%7, %8, %1)
    %10:f32 = add(%2, %5)
    %11:f32 = fma(%7, %7, %10)
    return %6, %9, %11
    (%0:f32, %1:f32, %2:f32, %3:i64) -> f32
    %4:f32 = div(%2, %0)
    return %4
)");
}

TEST(RandomKernels, OneSeed) {
  const char* seed = std::getenv("LATHE_KERNELS_SEED");
  if (seed == nullptr) GTEST_SKIP() << "for one seed by hand";
  random_kernels(std::strtoull(seed, nullptr, 10), 1, 1, true);
}

TEST(RandomKernels, SlowRandomKernels) {
  LATHE_NEEDS_LLVM();
  const char* targets = std::getenv("LATHE_KERNELS_TARGETS");
  random_kernels(number_from("LATHE_KERNELS_FIRST", 100'000), number_from("LATHE_KERNELS", 1000), 1,
                 targets != nullptr && std::string_view(targets) == "all");
}

}  // namespace
}  // namespace lathe::jit
