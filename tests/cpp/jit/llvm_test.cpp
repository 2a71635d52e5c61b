// Generated code against the reference engine: the same bits for every dtype, length, layout and
// target, and not a byte touched that is not an operand's.
#include <absl/strings/match.h>
#include <absl/strings/str_split.h>
#include <gtest/gtest.h>
#include <atomic>
#include <cmath>
#include <cstring>
#include <numeric>
#include <thread>

#include "core/scalar/philox.h"
#include "jit/kernel/codegen.h"
#include "tests/cpp/jit/kernel_memory.h"
#include "tests/cpp/support/random_expr.h"

namespace lathe::jit {
namespace {

namespace testing = lathe::testing;
using testing::Built;
using testing::codegen;
using testing::compile;
using testing::GuardedBytes;
using testing::kTensorTypes;
using testing::Layout;
using testing::make_layout;
using testing::random_program;
using testing::read;
using testing::same_value;
using testing::Stride;
using testing::targets;

/// A lowered function of elements, and how each operand and then each result moves.
struct Elements {
  ScalarFunction lowered;
  std::vector<Stride> strides;
  int rank = 1;

  DType dtype(size_t k) const {
    const size_t inputs = lowered.inputs.size();
    return k < inputs ? lowered.inputs[k] : lowered.output_types[k - inputs];
  }
  /// Over `rank` axes: all but the last are numbers to the code.
  Kernel kernel() const {
    std::vector<Int> steps;
    for (size_t k = 0; k < lowered.inputs.size(); ++k)
      steps.push_back(testing::step_of(strides[k]));
    Kernel kernel = kernel_of_elements(lowered, 1000, steps);
    kernel.axes.assign(static_cast<size_t>(rank), {Int(1000)});
    kernel.parallel = rank;
    each_access(kernel.body, [&](Access& a, bool) {
      const Int last = testing::step_of(strides[static_cast<size_t>(a.buf)]);
      a.map.strides.assign(static_cast<size_t>(rank), Int(1000));
      a.map.strides.back() = last;
    });
    return kernel;
  }
};

/// One run of a kernel over random operands, compared element by element.
struct Trial {
  std::vector<int64_t> extents;
  std::vector<Layout> layouts;
  std::vector<std::unique_ptr<GuardedBytes>> memory;
  std::vector<std::vector<std::byte>> before;
  std::vector<int64_t> strides;
  int64_t positions = 1;

  Trial(const Elements& e, std::vector<int64_t> shape, std::mt19937_64& rng)
      : extents(std::move(shape)) {
    for (int64_t n : extents) positions *= n;
    const size_t inputs = e.lowered.inputs.size();
    for (size_t k = 0; k < e.strides.size(); ++k) {
      layouts.push_back(make_layout(e.dtype(k), e.strides[k], extents, rng, k < inputs));
      memory.push_back(std::make_unique<GuardedBytes>(positions == 0 ? 0 : layouts[k].bytes));
      keep(k, rng);
      strides.insert(strides.end(), layouts[k].strides.begin(), layouts[k].strides.end());
    }
  }

  void keep(size_t k, std::mt19937_64& rng) {
    std::byte* data = memory[k]->data();
    if (positions > 0) testing::fill(layouts[k], extents, data, rng);
    before.emplace_back(data, data + (positions > 0 ? layouts[k].bytes : 0));
  }

  KernelArgs args(const std::vector<std::byte*>& data, int64_t begin, int64_t end,
                  uint64_t* error) const {
    return {data.data(), extents.data(), strides.data(), begin, end, 11, 22, error};
  }
  std::vector<std::byte*> addresses() const {
    std::vector<std::byte*> data;
    for (size_t k = 0; k < memory.size(); ++k)
      data.push_back(memory[k]->data() + layouts[k].origin);
    return data;
  }

  /// In pieces, as threads would share it out.
  uint64_t run(KernelFn fn, std::mt19937_64& rng) const {
    const auto data = addresses();
    uint64_t error = kNoError;
    for (int64_t begin = 0; begin < positions;) {
      const int64_t end =
          std::min<int64_t>(positions, begin + 1 + static_cast<int64_t>(rng() % 90));
      const KernelArgs a = args(data, begin, end, &error);
      fn(&a);
      begin = end;
    }
    return error;
  }

  std::vector<uint64_t> expected(const ScalarFunction& f, int64_t position,
                                 uint32_t* failed) const {
    std::vector<uint64_t> inputs;
    for (size_t k = 0; k < f.inputs.size(); ++k)
      for (size_t part = 0; part < parts_of(f.inputs[k]); ++part)
        inputs.push_back(read(before[k].data() + layouts[k].at(extents, position) +
                                  part * size_of(real_type(f.inputs[k])),
                              real_type(f.inputs[k])));
    return evaluate(
        f, {.inputs = inputs, .linear = position, .seed = 11, .call = 22, .failed = failed});
  }

  /// Empty when every element and every byte around them is right.
  std::string compare(const ScalarFunction& f, uint64_t error) const {
    uint64_t expected_error = kNoError;
    std::vector<std::vector<std::byte>> after = before;
    for (int64_t p = 0; p < positions; ++p) {
      uint32_t failed = 0;
      const auto values = expected(f, p, &failed);
      if (failed != 0)
        expected_error = std::min(expected_error, static_cast<uint64_t>(p) << 16 | failed);
      size_t next = 0;
      for (size_t k = f.inputs.size(); k < layouts.size(); ++k) {
        const int64_t at = layouts[k].at(extents, p);
        const DType d = real_type(layouts[k].dtype);
        for (size_t part = 0; part < parts_of(layouts[k].dtype); ++part) {
          const uint64_t want = values[next++];
          const uint64_t got = read(memory[k]->data() + at + size_of(d) * part, d);
          if (!same_value(d, want, got)) {
            std::ostringstream text;
            text << "position " << p << ", output " << k - f.inputs.size() << ": expected "
                 << std::hex << want << ", got " << got;
            return text.str();
          }
          std::memcpy(after[k].data() + at + size_of(d) * part,
                      memory[k]->data() + at + size_of(d) * part, size_of(d));
        }
      }
    }
    for (size_t k = 0; k < layouts.size(); ++k)
      if (!std::equal(after[k].begin(), after[k].end(), memory[k]->data()))
        return "a byte outside of operand " + std::to_string(k) + " changed";
    if (error != expected_error)
      return "expected error word " + std::to_string(expected_error) + ", got " +
             std::to_string(error);
    return {};
  }
};

Elements elements_of(const ScalarFunction& f, std::mt19937_64* rng = nullptr, int rank = 1) {
  Elements e{lower(f), {}, rank};
  for (size_t k = 0; k < f.inputs.size() + f.output_types.size(); ++k) {
    const bool in = k < f.inputs.size();
    Stride stride = Stride::contiguous;
    if (rng != nullptr && (*rng)() % 3 == 0) stride = Stride::strided;
    if (rng != nullptr && in && (*rng)() % 5 == 0) stride = Stride::uniform;
    e.strides.push_back(stride);
  }
  return e;
}

/// Compiles for every target, runs over each of the shapes, and compares.
void expect_same(const ScalarFunction& f, const Elements& elements,
                 const std::vector<std::vector<int64_t>>& shapes, std::mt19937_64& rng,
                 const std::vector<Target>& on = targets()) {
  for (const Target& target : on) {
    const Built kernel = compile(elements.kernel(), target);
    ASSERT_NE(kernel.fn, nullptr);
    for (const auto& shape : shapes) {
      Trial trial(elements, shape, rng);
      const std::string problem = trial.compare(f, trial.run(kernel.fn, rng));
      ASSERT_EQ(problem, "") << target.cpu << "\n"
                             << f.print() << "lowered:\n"
                             << elements.lowered.print();
    }
  }
}

void compare_random_programs(int rounds, uint64_t seed) {
  std::mt19937_64 rng(seed);
  for (int round = 0; round < rounds; ++round) {
    const ScalarFunction f =
        random_program(
            rng,
            {.steps = 16, .transcendental = round % 2 == 0, .leaves = true, .inputs = kTensorTypes})
            .built();
    const int rank = 1 + static_cast<int>(rng() % 3);
    const Elements elements = elements_of(f, &rng, rank);
    std::vector<std::vector<int64_t>> shapes;
    for (int i = 0; i < 4; ++i) {
      std::vector<int64_t> shape;
      for (int axis = 0; axis < rank; ++axis) shape.push_back(1 + static_cast<int64_t>(rng() % 6));
      shape.back() = 1 + static_cast<int64_t>(rng() % 70);
      shapes.push_back(shape);
    }
    expect_same(f, elements, shapes, rng);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TEST(Llvm, RandomProgramsHaveTheBitsOfTheReference) {
  LATHE_NEEDS_LLVM();
  compare_random_programs(15, 3);
}
TEST(Llvm, RandomProgramsSlow) {
  LATHE_NEEDS_LLVM();
  compare_random_programs(300, 4);
}

TEST(Llvm, EveryLengthOfEveryDtype) {
  LATHE_NEEDS_LLVM();
  std::mt19937_64 rng(4);
  std::vector<std::vector<int64_t>> lengths;
  for (int64_t n = 0; n <= 70; ++n) lengths.push_back({n});
  for (DType d : kTensorTypes) {
    const auto f = build(
        [d](absl::Span<const Expr> in) {
          const DType wide = compute_type(d);
          const Expr x = cast(in[0], wide), y = cast(in[1], wide);
          return Exprs{cast(x + y, d), cast(pmin(x, y), d)};
        },
        {d, d});
    for (Stride stride : {Stride::contiguous, Stride::strided}) {
      Elements elements = elements_of(f);
      elements.strides.assign(elements.strides.size(), stride);
      expect_same(f, elements, lengths, rng);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(Llvm, EveryConversion) {
  LATHE_NEEDS_LLVM();
  std::mt19937_64 rng(5);
  for (DType from : lathe::testing::kScalarTypes) {
    const auto f = build(
        [](absl::Span<const Expr> in) {
          Exprs all;
          for (DType to : lathe::testing::kScalarTypes) all.push_back(cast(in[0], to));
          return all;
        },
        {from});
    expect_same(f, elements_of(f), {{700}}, rng);
  }
}

void compare_functions(const std::vector<Target>& on, int64_t elements) {
  std::mt19937_64 rng(6);
  for (int p = 0; p < kPrims; ++p) {
    const auto prim = static_cast<Prim>(p);
    if (!info(prim).transcendental) continue;
    for (DType d : {DType::f32, DType::f64}) {
      const std::vector<DType> types(info(prim).arity, d);
      const auto f =
          build([&](absl::Span<const Expr> in) { return Exprs{make(prim, d, in)}; }, types);
      expect_same(f, elements_of(f), {{elements}}, rng, on);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(Llvm, EveryFunction) {
  LATHE_NEEDS_LLVM();
  compare_functions({codegen()->host()}, 500);
}
TEST(Llvm, EveryFunctionOnEveryTargetSlow) {
  LATHE_NEEDS_LLVM();
  compare_functions(targets(), 20000);
}

TEST(Llvm, EveryHalfPattern) {
  LATHE_NEEDS_LLVM();
  for (DType half : {DType::f16, DType::bf16}) {
    const auto f = build(
        [half](absl::Span<const Expr> in) {
          return Exprs{cast(in[0], DType::f32), cast(cast(in[0], DType::f32) * 1.0009765625, half)};
        },
        {half});
    const Kernel elements = elements_of(f).kernel();
    std::vector<uint16_t> in(65536);
    std::iota(in.begin(), in.end(), 0);
    for (const Target& target : targets()) {
      const Built kernel = compile(elements, target);
      ASSERT_NE(kernel.fn, nullptr);
      std::vector<uint32_t> wide(in.size());
      std::vector<uint16_t> back(in.size());
      std::byte* data[] = {reinterpret_cast<std::byte*>(in.data()),
                           reinterpret_cast<std::byte*>(wide.data()),
                           reinterpret_cast<std::byte*>(back.data())};
      const int64_t extent = 65536, strides[] = {2, 4, 2};
      const KernelArgs args{data, &extent, strides, 0, extent};
      kernel.fn(&args);
      for (size_t i = 0; i < in.size(); ++i) {
        const std::vector<uint64_t> x = {in[i]};
        const auto want = evaluate(f, {.inputs = x});
        ASSERT_TRUE(same_value(DType::f32, want[0], wide[i])) << target.cpu << " " << i;
        ASSERT_TRUE(same_value(half, want[1], back[i])) << target.cpu << " " << i;
      }
    }
  }
}

TEST(Llvm, ComplexOperandsArePairsInMemory) {
  LATHE_NEEDS_LLVM();
  std::mt19937_64 rng(6);
  for (DType d : {DType::c64, DType::c128}) {
    const auto f = build(
        [](absl::Span<const Expr> in) {
          return Exprs{in[0] * in[1], abs(in[0]), complex(imag(in[1]), in[2])};
        },
        {d, d, real_type(d)});
    for (int round = 0; round < 4; ++round)
      expect_same(f, elements_of(f, &rng, 2), {{3, 1}, {2, 8}, {2, 17}, {5, 40}}, rng);
  }
}

TEST(Llvm, RandomWordsAndPositions) {
  LATHE_NEEDS_LLVM();
  std::mt19937_64 rng(7);
  const auto f = build(
      [](absl::Span<const Expr>) {
        return Exprs{random_word(0), random_word(3), random_word(9), linear_index()};
      },
      {});
  expect_same(f, elements_of(f, nullptr, 2), {{1, 1}, {3, 21}, {4, 33}}, rng);
}

TEST(Llvm, RareSidesRunOnlyWhereAsked) {
  LATHE_NEEDS_LLVM();
  std::mt19937_64 rng(8);
  // One rare side inside another, a node shared with the fast side, and a random word in the slow
  // side.
  const auto f = build(
      [](absl::Span<const Expr> in) {
        const Expr x = in[0], shared = x * 3, word = cast(random_word(1), DType::f32);
        const Expr inner = rare(lt(x, -2), sqrt(abs(x)) + shared, shared / (x + 7) + word);
        return Exprs{rare(lt(x, 0), shared + 1, inner), cast(random_word(2), DType::f32)};
      },
      {DType::f32});
  expect_same(f, elements_of(f), {{1}, {16}, {37}, {64}}, rng);
}

/// What two slow sides share is computed in both of them, not for all elements.
TEST(Llvm, RareSidesShareNothingOutside) {
  LATHE_NEEDS_LLVM();
  std::mt19937_64 rng(9);
  const auto f = build(
      [](absl::Span<const Expr> in) {
        const Expr x = in[0], root = sqrt(abs(x));
        const Expr first = rare(lt(x, -2), x, root + 1), second = rare(lt(x, -3), x, root * 2);
        return Exprs{first - second, rare(lt(x, -4), x, rare(lt(x, -5), x + 1, root))};
      },
      {DType::f32});
  expect_same(f, elements_of(f), {{1}, {16}, {37}, {64}}, rng);
  const auto text = codegen()->print(elements_of(f).kernel(), codegen()->host());
  ASSERT_TRUE(text) << text.error;
  std::string block;
  int roots = 0;
  for (absl::string_view line : absl::StrSplit(text.value, '\n')) {
    const size_t colon = line.find(':');
    if (!line.empty() && line[0] != ' ' && colon != line.npos)
      block = std::string(line.substr(0, colon));
    if (!absl::StrContains(line, "llvm.sqrt") || absl::StrContains(line, "declare")) continue;
    EXPECT_TRUE(absl::StartsWith(block, "slow")) << block << ": " << line;
    ++roots;
  }
  EXPECT_GE(roots, 3);
}

TEST(Llvm, ChecksReportTheLowestElement) {
  LATHE_NEEDS_LLVM();
  std::mt19937_64 rng(9);
  const auto f = build(
      [](absl::Span<const Expr> in) {
        const Expr positive = check(le(-2, in[0]), in[0], 3);
        // The check stays outside of the rare side: it fails whether or not a lane goes there.
        const Expr slow = check(ne(in[0], 1), in[0] * 2, 2);
        return Exprs{rare(lt(positive, 0), positive, slow)};
      },
      {DType::f32});
  for (int round = 0; round < 5; ++round)
    expect_same(f, elements_of(f, &rng, 2), {{1, 1}, {3, 7}, {2, 16}, {7, 33}}, rng);
}

TEST(Llvm, IntegerDivisionNeverTraps) {
  LATHE_NEEDS_LLVM();
  std::mt19937_64 rng(10);
  for (DType d :
       {DType::u8, DType::i8, DType::i16, DType::i32, DType::i64, DType::u32, DType::u64}) {
    const auto f = build(
        [d](absl::Span<const Expr> in) {
          const Expr seven = constant(d, 7);
          return Exprs{floor_div(in[0], in[1]), mod(in[0], in[1]), floor_div(in[0], seven),
                       mod(in[0], seven)};
        },
        {d, d});
    expect_same(f, elements_of(f), {{999}}, rng);
  }
}

TEST(Llvm, ThreadsCompileAndShareAnErrorWord) {
  LATHE_NEEDS_LLVM();
  const auto f = build(
      [](absl::Span<const Expr> in) { return Exprs{check(lt(in[0], 5), in[0], 1)}; }, {DType::i64});
  std::vector<int64_t> in(4000), out(4000);
  std::iota(in.begin(), in.end(), -1000);
  uint64_t error = kNoError;
  std::vector<std::thread> threads;
  for (int64_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      const Built kernel = compile(elements_of(f).kernel(), codegen()->host());
      std::byte* data[] = {reinterpret_cast<std::byte*>(in.data()),
                           reinterpret_cast<std::byte*>(out.data())};
      const int64_t extent = 4000, strides[] = {8, 8};
      const KernelArgs args{data, &extent, strides, 1000 * t, 1000 * (t + 1), 0, 0, &error};
      kernel.fn(&args);
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(error_index(error), 1005);
  EXPECT_EQ(error_code(error), 1u);
  EXPECT_EQ(in, out);
}

TEST(Llvm, RefusesWithReasons) {
  LATHE_NEEDS_LLVM();
  EXPECT_NE(codegen()->target("pentium").error, "");
  const auto f = build([](absl::Span<const Expr> in) { return Exprs{exp(in[0])}; }, {DType::f32});
  const Target host = codegen()->host();
  Elements elements = elements_of(f);
  elements.lowered = f;
  EXPECT_EQ(codegen()->compile(elements.kernel(), host).error, "the body is not lowered");
  elements = elements_of(f);
  elements.rank = 17;
  EXPECT_EQ(codegen()->compile(elements.kernel(), host).error, "the rank is not within 1 .. 16");
  const auto counts = build([](absl::Span<const Expr>) { return Exprs{index(0)}; }, {});
  EXPECT_EQ(codegen()->compile(elements_of(counts).kernel(), host).error,
            "the body asks for a position along an axis");
  EXPECT_NE(codegen()->load("garbage").error, "");
  auto object = codegen()->compile(elements_of(f).kernel(), host);
  ASSERT_TRUE(object) << object.error;
  EXPECT_NE(
      codegen()->load(std::string_view(object.value).substr(0, object.value.size() / 2)).error, "");
  EXPECT_TRUE(codegen()->load(object.value));  // and it all still works
  EXPECT_EQ(codegen()->load(object.value).value->symbol("nothing"), nullptr);
}

TEST(Llvm, GeneratedCodeFusesNothingByItself) {
  LATHE_NEEDS_LLVM();
  const auto f = build([](absl::Span<const Expr> in) { return Exprs{in[0] * in[1] + in[2]}; },
                       {DType::f32, DType::f32, DType::f32});
  const auto text = codegen()->print(elements_of(f).kernel(), codegen()->host());
  ASSERT_TRUE(text) << text.error;
  for (const char* word : {"fast", "contract", "reassoc", "nnan", "fmuladd"})
    EXPECT_EQ(text.value.find(std::string(" ") + word), std::string::npos) << word;
  const Built kernel = compile(elements_of(f).kernel(), codegen()->host());
  float x = 1 + 0x1p-13f, y = 1 - 0x1p-13f, z = -1, out = 7;
  std::byte* data[] = {reinterpret_cast<std::byte*>(&x), reinterpret_cast<std::byte*>(&y),
                       reinterpret_cast<std::byte*>(&z), reinterpret_cast<std::byte*>(&out)};
  const int64_t extent = 1, strides[] = {4, 4, 4, 4};
  const KernelArgs args{data, &extent, strides, 0, 1};
  kernel.fn(&args);
  EXPECT_EQ(out, 0.0f);  // an FMA would give -2^-26
}

}  // namespace
}  // namespace lathe::jit
