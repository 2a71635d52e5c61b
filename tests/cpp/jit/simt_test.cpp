// Thread programs: what the verifier refuses, each thing that the simulator finds, and that the
// barriers of the lowering are those that are needed.
#include <absl/strings/str_cat.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "jit/kernel/codegen.h"
#include "jit/kernel_ir/interpret.h"
#include "jit/kernel_ir/parse.h"
#include "jit/simt/build.h"
#include "jit/simt/lower.h"
#include "jit/simt/run.h"
#include "tests/cpp/jit/random_kernel.h"

namespace lathe::jit::simt {
namespace {

int64_t number_of(Int e) { return e.value(); }

/// A program of one phase and 32 threads: b0, a global f32; b1, a shared one of 32 elements.
struct Small {
  explicit Small(Ix work = 1) {
    b.program.name = "small";
    b.program.threads = 32;
    b.memory({DType::f32, Where::global, false, {}, "y"});
    b.memory({DType::f32, Where::shared, false, 32, "part"});
    b.begin_phase(std::move(work));
    one = b.reg(DType::f32);
    b.set(one, 0x3f800000u);
  }
  /// What a run says, or nothing.
  template <class E = Error>
  std::string run(int64_t most_blocks = 0) {
    std::vector<float> y(64, 0);
    const absl::Span<std::byte> bytes(reinterpret_cast<std::byte*>(y.data()), 4 * y.size());
    try {
      simt::run(b.program,
                {.arguments = {&bytes, 1}, .value = number_of, .most_blocks = most_blocks});
    } catch (const E& e) {
      const ErrorParts& p = e.parts();
      EXPECT_EQ(p.op, "simt of small");
      EXPECT_FALSE(p.expected.empty() || p.next.empty());
      return absl::StrCat(p.problem, "; ", p.got);
    }
    return "";
  }

  Builder b;
  int one;
};

TEST(Simt, WhatIsRight) {
  Small s;
  s.b.store(1, this_thread(), {s.one});
  s.b.barrier();
  s.b.store(0, this_thread(), s.b.load(1, Ix(31) - this_thread()));
  EXPECT_EQ(verify(s.b.program), "");
  EXPECT_EQ(s.run(), "");
}

TEST(Simt, RacesInABlock) {
  Small writes;
  writes.b.store(1, 0, {writes.one});
  EXPECT_EQ(writes.run<AliasError>(),
            "a race on element 0 of b1 part; thread 0 of block 0 at 'b1[0] = r0', and thread 1 of "
            "block 0 at 'b1[0] = r0'");
  Small reads;
  reads.b.store(1, this_thread(), {reads.one});
  reads.b.load(1, Ix(31) - this_thread());  // before the other has written, in this order
  EXPECT_EQ(reads.run<ValueError>(),
            "element 31 of b1 part is read; thread 0 of block 0 at 'r1 = b1[31 - thread]'");
  Small late;  // what is read is written later, without a barrier
  late.b.store(1, this_thread(), {late.one});
  late.b.barrier();
  late.b.load(1, Ix(31) - this_thread());
  late.b.store(1, this_thread(), {late.one});
  EXPECT_EQ(
      late.run<AliasError>(),
      "a race on element 15 of b1 part; thread 15 of block 0 at 'b1[thread] = r0', and thread "
      "16 of block 0 at 'r1 = b1[31 - thread]'");
  Small globally;
  globally.b.store(0, this_thread(), {globally.one});
  globally.b.load(0, this_thread() + 1);
  EXPECT_EQ(globally.run<AliasError>(),
            "a race on element 1 of b0 y; thread 0 of block 0 at 'r1 = b0[thread + 1]', and thread "
            "1 of block 0 at 'b0[thread] = r0'");
}

TEST(Simt, RacesBetweenBlocks) {
  Small writes(2);
  writes.b.store(0, this_thread(), {writes.one});
  EXPECT_EQ(writes.run<AliasError>(),
            "a race on element 0 of b0 y; thread 0 of block 0 at 'b0[thread] = r0', and thread 0 "
            "of block 1 at 'b0[thread] = r0'");
  EXPECT_EQ(writes.run(/*most_blocks=*/1), "");  // nobody to race with
  // Many readers do not hide the one of another block.
  Small reads(2);
  reads.b.when(this_block(), Compare::equal, 0, [&] { reads.b.load(0, 0); });
  reads.b.when(this_block(), Compare::equal, 1, [&] {
    reads.b.load(0, 0);
    reads.b.barrier();
    reads.b.first_thread([&] { reads.b.store(0, 0, {reads.one}); });
  });
  EXPECT_NE(reads.run<AliasError>().find("a race on element 0 of b0 y; thread"), std::string::npos);
  // A phase comes after all blocks of the one before.
  Small phases(2);
  phases.b.store(0, this_block() * 32 + this_thread(), {phases.one});
  phases.b.begin_phase(2);
  phases.b.load(0, Ix(63) - this_block() * 32 - this_thread());
  EXPECT_EQ(phases.run(), "");
}

TEST(Simt, ArgumentsThatOverlapAreOneMemory) {
  Small s;
  s.b.memory({DType::f64, Where::global, false, {}, "z"});
  s.b.store(0, this_thread(), {s.one});
  s.b.load(2, 8);
  std::vector<double> y(64, 0);
  const auto* begin = reinterpret_cast<std::byte*>(y.data());
  const absl::Span<std::byte> all(const_cast<std::byte*>(begin), 512), both[] = {all, all};
  const Launch launch{.arguments = both, .value = number_of};
  EXPECT_THROW(run(s.b.program, launch), AliasError);
}

TEST(Simt, PlacesOutsideOfMemory) {
  Small above, below, shared;
  above.b.store(0, this_thread() * 3, {above.one});
  EXPECT_EQ(above.run<IndexError>(),
            "element 66 of b0 y; thread 22 of block 0 at 'b0[thread*3] = r0'");
  below.b.load(0, this_thread() - 1);
  EXPECT_EQ(below.run<IndexError>(),
            "element -1 of b0 y; thread 0 of block 0 at 'r1 = b0[thread - "
            "1]'");
  shared.b.store(1, this_thread() + 1, {shared.one});
  EXPECT_EQ(shared.run<IndexError>(),
            "element 32 of b1 part; thread 31 of block 0 at 'b1[thread + 1] = r0'");
}

TEST(Simt, MemoryThatNobodyWrote) {
  Small s;
  s.b.when(this_thread(), Compare::less, 31, [&] { s.b.store(1, this_thread(), {s.one}); });
  s.b.barrier();
  s.b.load(1, this_thread());
  EXPECT_EQ(s.run<ValueError>(),
            "element 31 of b1 part is read; thread 31 of block 0 at 'r1 = b1[thread]'");
  Small blocks(2);  // each has its own
  blocks.b.when(this_block(), Compare::equal, 0,
                [&] { blocks.b.store(1, this_thread(), {blocks.one}); });
  blocks.b.load(1, this_thread());
  EXPECT_EQ(blocks.run<ValueError>(),
            "element 0 of b1 part is read; thread 0 of block 1 at 'r1 = b1[thread]'");
}

TEST(Simt, BarriersThatNotAllReach) {
  Small some, two, lanes;
  some.b.when(this_thread(), Compare::less, 16, [&] { some.b.barrier(); });
  EXPECT_EQ(verify(some.b.program), "barrier: it stands under what differs between threads");
  EXPECT_EQ(
      some.run<ValueError>(),
      "not all threads reach a barrier; thread 0 of block 0 is at 'barrier', thread 16 at the "
      "end");
  two.b.when(
      this_thread(), Compare::less, 16, [&] { two.b.barrier(); }, [&] { two.b.barrier(); });
  EXPECT_EQ(two.run<ValueError>(),
            "not all threads reach a barrier; thread 0 of block 0 is at 'barrier', thread 16 at "
            "'barrier'");
  lanes.b.when(this_thread() % 16, Compare::less, 8,
               [&] { lanes.b.shuffle(lanes.one, lanes.one, 8); });
  EXPECT_EQ(verify(lanes.b.program),
            "r0 = r0 of the lane 8 on: it stands under what differs between threads");
  EXPECT_EQ(lanes.run<ValueError>(),
            "not all threads reach a shuffle; thread 0 of block 0 is at 'r0 = r0 of the lane 8 "
            "on', thread 8 at the end");
}

TEST(Simt, ShufflesStayInTheirHalf) {
  Small s;
  const int from = s.b.reg(DType::i64), to = s.b.reg(DType::i64);
  s.b.program.memories[0].dtype = DType::i64;
  s.b.let(from, this_thread() * 10);
  s.b.shuffle(to, from, 4);
  s.b.store(0, this_thread(), {to});
  std::vector<int64_t> y(32, 0);
  const absl::Span<std::byte> bytes(reinterpret_cast<std::byte*>(y.data()), 8 * y.size());
  run(s.b.program, {.arguments = {&bytes, 1}, .value = number_of});
  for (int t = 0; t < 32; ++t)
    EXPECT_EQ(y[static_cast<size_t>(t)], 10 * (t % 16 + 4 < 16 ? t + 4 : t)) << t;
}

TEST(Simt, Launches) {
  Small s;
  s.b.memory({DType::f64, Where::shared, false, s.b.number(Int(20865)), ""});
  EXPECT_EQ(s.run<UnsupportedError>(), "a block has too little shared memory; 167048 bytes");
  s.b.memory({DType::f64, Where::global, true, {}, ""});
  EXPECT_EQ(s.run<ValueError>(), "a launch needs each of its arguments; 1 arguments, 0 numbers");
}

TEST(Simt, TheVerifierSaysWhatIsWrong) {
  const auto wrong = [](void (*change)(Small&)) {
    Small s;
    change(s);
    return verify(s.b.program);
  };
  EXPECT_EQ(wrong([](Small& s) { s.b.program.threads = 24; }),
            "a block of 24 threads; wanted: a multiple of 16, at most 1024");
  EXPECT_EQ(wrong([](Small& s) { s.b.store(1, 32, {s.one}); }), "b1[32] = r0: b1 has 32 elements");
  EXPECT_EQ(wrong([](Small& s) { s.b.store(2, 0, {s.one}); }), "b2[0] = r0: there is no b2");
  EXPECT_EQ(wrong([](Small& s) { s.b.store(0, value_of(s.one), {s.one}); }),
            "b0[r0] = r0: r0 is no integer");
  EXPECT_EQ(wrong([](Small& s) {
              s.b.store(0, 0, {s.one, s.one});
            }),
            "b0[0] = r0, r0: the registers do not fit an element");
  EXPECT_EQ(wrong([](Small& s) { s.b.let(s.one, 0); }), "r0 = 0: r0 is no integer");
  EXPECT_EQ(wrong([](Small& s) { s.b.let(Ix(IxOp::number, 3)); }), "r1 = n3: there is no n3");
  EXPECT_EQ(wrong([](Small& s) { s.b.copy(s.b.reg(DType::i64), s.one); }),
            "r1 = r0: the registers are of two types");
  EXPECT_EQ(wrong([](Small& s) { s.b.copy(7, s.one); }), "r7 = r0: there is no r7");
  EXPECT_EQ(wrong([](Small& s) { s.b.fetch(s.one, 0); }), "r0 = u0: there is no u0 of that type");
  EXPECT_EQ(wrong([](Small& s) { s.b.shuffle(s.one, s.one, 16); }),
            "r0 = r0 of the lane 16 on: a half-warp has 16 lanes");
  EXPECT_EQ(wrong([](Small& s) { s.b.loop(0, 4, 0, [](const Ix&) {}); }),
            "loop r1 = 0 to 4 by 0: a step goes up");
  EXPECT_EQ(wrong([](Small& s) { s.b.call({s.one}, 0, {}); }), "r0 = f0(): there is no f0");
  EXPECT_EQ(wrong([](Small& s) {
              s.b.memory({DType::f32, Where::global, true, {}, "x"});
              s.b.store(2, 0, {s.one});
            }),
            "b2[0] = r0: b2 is an input, and is written");
  EXPECT_EQ(wrong([](Small& s) {
              const auto twice = [](absl::Span<const Expr> in) { return Exprs{in[0] + in[0]}; };
              s.b.call({s.one}, s.b.function(build(twice, {DType::f32})), {});
            }),
            "r0 = f0(): the inputs do not fit the function");
  // A loop that runs another number of rounds for each thread, a register that says how many.
  EXPECT_EQ(wrong([](Small& s) {
              s.b.loop(0, s.b.let(this_thread()), 1, [&](const Ix&) { s.b.barrier(); });
            }),
            "barrier: it stands under what differs between threads");
  EXPECT_EQ(wrong([](Small& s) {
              const Ix rounds = s.b.let(4);
              s.b.loop(0, 3, 1, [&](const Ix&) {
                s.b.loop(0, rounds, 1, [&](const Ix&) { s.b.barrier(); });
                s.b.when(this_thread(), Compare::less, 4,
                         [&] { s.b.let(static_cast<int>(rounds->value), 1); });
              });
            }),
            "barrier: it stands under what differs between threads");
}

TEST(Simt, KernelsThatAreRefused) {
  const auto told = [](std::string_view text) {
    const Kernel k = parse_kernel(text);
    try {
      (void)threads_of(k);
    } catch (const UnsupportedError& e) {
      EXPECT_EQ(e.parts().op, "simt of kernel k");
      EXPECT_EQ(e.parts().got, refuses(k));
      return e.parts().got;
    }
    return std::string();
  };
  EXPECT_EQ(told("kernel k(b0: f32) -> (b1: f32)\n  parallel i0 < 4\n  axis i1 < 5\n  for i1\n"
                 "    b1[i0] = compute (b0[i1])\n      (%0:f32) -> f32\n      return %0\n"),
            "a loop whose rounds write one element");
  EXPECT_EQ(told("kernel k(b0: f32) -> (b1: f32)\n  parallel i0 < 4\n  axis i1 < 5\n  axis i2 < 5\n"
                 "  for i1\n    for i2\n      b1[i1 + i2*(5)] = compute (b0[i1])\n"
                 "        (%0:f32) -> f32\n        return %0\n"),
            "more than one axis inside of the parallel ones");
  const Kernel rows = parse_kernel(
      "kernel k(b0: f32) -> (b1: f32)\n  parallel i0 < 4\n  axis i1 < 5\n  for i1\n"
      "    b1[i0*(5) + i1] = compute (b0[i1])\n      (%0:f32) -> f32\n      return %0\n");
  EXPECT_EQ(refuses(rows), "");
  Kernel random = rows, along = rows, inside = rows;
  std::get<Compute>(std::get<For>(random.body[0].node).body[0].node).f = build(
      [](absl::Span<const Expr> in) { return Exprs{in[0] + cast(random_word(0), DType::f32)}; },
      {DType::f32});
  EXPECT_EQ(refuses(random), "rows with positions, random words or checks");
  std::get<Compute>(std::get<For>(along.body[0].node).body[0].node).f =
      build([](absl::Span<const Expr> in) { return Exprs{in[0] + cast(index(0), DType::f32)}; },
            {DType::f32});
  EXPECT_EQ(refuses(along), "a function asks for a position along an axis");
  std::get<For>(inside.body[0].node).body[0] = {For{1, {}}};
  EXPECT_EQ(refuses(inside), "a loop of anything but computations");
}

// ── functions of elements: checks, positions, random words, complex values ──

TEST(Simt, ChecksRandomWordsAndComplexElements) {
  const std::vector<DType> types{DType::c64, DType::f32};
  const ScalarFunction f = build(
      [](absl::Span<const Expr> in) {
        const Expr safe = check(le(in[1], constant(DType::f32, 0.5)), in[1], 7);
        const Expr noise = cast(random_word(1), DType::f32) + cast(linear_index(), DType::f32);
        return Exprs{complex(real(in[0]) * safe, imag(in[0]) - noise), noise};
      },
      types);
  const Kernel k = kernel_of_elements(f, Int(100), std::vector<Int>{Int(1), Int(1)});
  const Program p = threads_of(k, {.threads = 32});
  ASSERT_EQ(verify(p), "") << p.print();
  std::vector<float> z(200), x(100), out(200), noise(100);
  for (size_t i = 0; i < 100; ++i) {
    z[2 * i] = static_cast<float>(i), z[2 * i + 1] = 3;
    x[i] = i == 41 || i == 77 ? 1.0f : 0.25f;
  }
  const auto bytes = [](std::vector<float>& v) {
    return absl::Span<std::byte>(reinterpret_cast<std::byte*>(v.data()), 4 * v.size());
  };
  const absl::Span<std::byte> arguments[] = {bytes(z), bytes(x), bytes(out), bytes(noise)};
  uint64_t error = kNoError;
  run(p, {.arguments = arguments,
          .value = number_of,
          .seed = 11,
          .call = 22,
          .error = &error,
          .most_blocks = 2,
          .order = 5});
  EXPECT_EQ(error_index(error), 41);
  EXPECT_EQ(error_code(error), 7u);
  for (size_t i = 0; i < 100; ++i) {
    const auto bits = [](float v) { return uint64_t{std::bit_cast<uint32_t>(v)}; };
    const uint64_t in[] = {bits(z[2 * i]), bits(z[2 * i + 1]), bits(x[i])};
    const auto wanted =
        evaluate(f, {.inputs = in, .linear = static_cast<int64_t>(i), .seed = 11, .call = 22});
    EXPECT_EQ(bits(out[2 * i]), wanted[0]) << i;
    EXPECT_EQ(bits(out[2 * i + 1]), wanted[1]) << i;
    EXPECT_EQ(bits(noise[i]), wanted[2]) << i;
  }
}

// ── barriers ──

/// The program without its barrier number `which`, if it has so many.
bool drop_barrier(Steps& steps, size_t& which) {
  for (size_t k = 0; k < steps.size(); ++k) {
    if (std::holds_alternative<Barrier>(steps[k].node) && which-- == 0) {
      steps.erase(steps.begin() + static_cast<ptrdiff_t>(k));
      return true;
    }
    if (auto* loop = std::get_if<Loop>(&steps[k].node))
      if (drop_barrier(loop->body, which)) return true;
    if (auto* when = std::get_if<When>(&steps[k].node))
      if (drop_barrier(when->then, which) || drop_barrier(when->otherwise, which)) return true;
  }
  return false;
}

/// Of every barrier of some kernels: without it a run is an error. Two rows a block, so that one
/// follows the other; rows of four blocks of 512 for two half-warps.
TEST(Simt, EveryBarrierIsNeeded) {
  constexpr const char* kSum =
      "      (%0:f32, %1:i64) -> f32\n      return %0\n"
      "      (%0:f32, %1:f32) -> f32\n      %2:f32 = add(%0, %1)\n      return %2\n"
      "      (%0:f32, %1:i64) -> f32\n      return %0\n";
  constexpr const char* kLess =
      "      (%0:f32, %1:f32) -> f32\n      %2:f32 = sub(%0, %1)\n      return %2\n";
  const std::string kernels[] = {
      absl::StrCat("kernel centred(b0: f32) -> (b1: f32)\n  local b2: f32[1]\n  parallel i0 < 4\n"
                   "  axis i1 < 1700\n  b2[0] = reduce i1 (b0[i0*(1700) + i1]) f32 from 0x0\n",
                   kSum, "  for i1\n    b1[i0*(1700) + i1] = compute (b0[i0*(1700) + i1], b2[0])\n",
                   kLess),
      absl::StrCat("kernel twice(b0: f32) -> (b1: f32, b2: f32)\n  local b3: f32[1]\n"
                   "  local b4: f32[1700]\n  parallel i0 < 4\n  axis i1 < 1700\n"
                   "  b3[0] = reduce i1 (b0[i0*(1700) + i1]) f32 from 0x0\n",
                   kSum, "  for i1\n    b4[i1] = compute (b0[i0*(1700) + i1], b3[0])\n", kLess,
                   "  b2[i0] = reduce i1 (b4[i1]) f32 from 0x0\n", kSum,
                   "  for i1\n    b1[i0*(1700) + i1] = compute (b4[i1], b3[0])\n", kLess)};
  for (const std::string& text : kernels) {
    const Kernel k = parse_kernel(text);
    ASSERT_EQ(jit::verify(k), "");
    const Program whole = threads_of(k, {.threads = 32});
    std::vector<std::vector<float>> memory(static_cast<size_t>(k.inputs + k.outputs),
                                           std::vector<float>(4 * 1700, 0.5f));
    std::vector<absl::Span<std::byte>> spans;
    for (auto& m : memory) spans.emplace_back(reinterpret_cast<std::byte*>(m.data()), 4 * m.size());
    const Launch launch{.arguments = spans, .value = number_of, .most_blocks = 2};
    run(whole, launch);
    size_t barriers = 0;
    for (;; ++barriers) {
      Program less = whole;
      size_t which = barriers;
      if (!drop_barrier(less.phases[0].body, which)) break;
      EXPECT_THROW(run(less, launch), Error) << "not needed: barrier " << barriers << " of\n"
                                             << whole.print();
    }
    EXPECT_GE(barriers, 3u) << whole.print();
  }
}

/// Of kernels at random, too, whose rows are long enough for every loop of theirs to go round.
TEST(Simt, EveryBarrierOfRandomKernelsIsNeeded) {
  size_t barriers = 0;
  for (uint64_t seed = 0; seed < 600; ++seed) {
    const RandomKernel random = random_kernel(seed);
    const Kernel& k = random.kernel;
    const auto value = [&](Int e) { return random.value(e); };
    int64_t rows = 1;
    for (int a = 0; a < k.parallel; ++a) rows *= value(k.axes[static_cast<size_t>(a)].extent);
    if (of_elements(k) != nullptr || rows < 2 || value(k.axes.back().extent) < 1600) continue;
    const Program whole = threads_of(k, {.threads = 32, .rows_in_scratch = true});
    for (size_t n = 0;; ++n, ++barriers) {
      Program less = whole;
      size_t which = n;
      if (!drop_barrier(less.phases[0].body, which)) break;
      const KernelArguments got(random, seed);
      const std::vector<absl::Span<std::byte>> spans = got.spans();
      EXPECT_THROW(run(less, {spans, got.uniforms, value, 0, 0, nullptr, /*most_blocks=*/1}), Error)
          << "not needed: barrier " << n << " of\n"
          << whole.print();
    }
  }
  EXPECT_GT(barriers, 20u);
}

}  // namespace
}  // namespace lathe::jit::simt
