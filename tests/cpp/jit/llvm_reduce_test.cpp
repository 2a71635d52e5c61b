// Generated reductions and scans against the definition, written out here once more.
#include <absl/strings/str_join.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "tests/cpp/jit/kernel_memory.h"

namespace lathe::jit {
namespace {

namespace testing = lathe::testing;
using testing::Built;
using testing::codegen;
using testing::compile;
using testing::GuardedBytes;
using testing::Layout;
using testing::make_layout;
using testing::read;
using testing::same_value;
using testing::targets;

using State = std::vector<uint64_t>;

/// The four functions as written, and the spec made of them.
struct Reduction {
  std::string name;
  ScalarFunction lift, combine, finish;
  std::vector<uint64_t> unit;

  ReduceSpec spec() const {
    ReduceSpec s;
    s.lift = lower(lift);
    s.combine = lower(combine);
    s.finish = lower(finish);
    s.state = lift.output_types;
    s.unit = unit;
    for (size_t k = 0; k + 1 < lift.inputs.size(); ++k) s.operands.push_back({lift.inputs[k]});
    for (DType d : finish.output_types) s.operands.push_back({d});
    return s;
  }
};

Reduction make_reduction(std::string name, std::vector<DType> operands, std::vector<uint64_t> unit,
                         const BodyFn& lift, const BodyFn& combine, const BodyFn& finish) {
  operands.push_back(DType::i64);
  Reduction f{std::move(name), build(lift, operands), {}, {}, std::move(unit)};
  std::vector<DType> twice = f.lift.output_types, counted = f.lift.output_types;
  twice.insert(twice.end(), f.lift.output_types.begin(), f.lift.output_types.end());
  counted.push_back(DType::i64);
  f.combine = build(combine, twice);
  f.finish = build(finish, counted);
  return f;
}

using Span = absl::Span<const Expr>;

Reduction sum(DType d, DType state) {
  return make_reduction(
      "sum", {d}, {0}, [state](Span in) { return Exprs{cast(in[0], state)}; },
      [](Span in) { return Exprs{in[0] + in[1]}; }, [d](Span in) { return Exprs{cast(in[0], d)}; });
}

std::vector<Reduction> folds() {
  const auto bits = [](float x) { return static_cast<uint64_t>(std::bit_cast<uint32_t>(x)); };
  std::vector<Reduction> all = {sum(DType::f32, DType::f32), sum(DType::f64, DType::f64),
                                sum(DType::i16, DType::i64), sum(DType::bf16, DType::f32),
                                sum(DType::u8, DType::u8)};
  all.push_back(make_reduction(
      "largest, NaN wins", {DType::f32}, {bits(-INFINITY)}, [](Span in) { return Exprs{in[0]}; },
      [](Span in) { return Exprs{select(lt(in[1], in[0]) | isnan(in[0]), in[0], in[1])}; },
      [](Span in) { return Exprs{in[0]}; }));
  all.push_back(make_reduction(
      "any", {DType::f16}, {0}, [](Span in) { return Exprs{ne(cast(in[0], DType::f32), 0)}; },
      [](Span in) { return Exprs{in[0] | in[1]}; }, [](Span in) { return Exprs{in[0]}; }));
  all.push_back(make_reduction(
      "largest and where", {DType::f32}, {bits(-INFINITY), INT64_MAX},
      [](Span in) {
        return Exprs{in[0], in[1]};
      },
      [](Span in) {
        const Expr second = lt(in[0], in[2]) | (eq(in[0], in[2]) & lt(in[3], in[1]));
        return Exprs{select(second, in[2], in[0]), select(second, in[3], in[1])};
      },
      [](Span in) {
        return Exprs{in[1], in[0]};
      }));
  all.push_back(make_reduction(
      "mean and variance", {DType::f32}, {0, 0},
      [](Span in) {
        return Exprs{in[0], in[0] * in[0]};
      },
      [](Span in) {
        return Exprs{in[0] + in[2], in[1] + in[3]};
      },
      [](Span in) {
        const Expr n = cast(in[2], DType::f32), mean = in[0] / n;
        return Exprs{mean, in[1] / n - mean * mean};
      }));
  all.push_back(make_reduction(
      "exponentials", {DType::f32, DType::f32}, {0},
      [](Span in) { return Exprs{exp(in[0] - in[1])}; },
      [](Span in) { return Exprs{in[0] + in[1]}; }, [](Span in) { return Exprs{log(in[0])}; }));
  all.push_back(make_reduction(
      "checked, and random", {DType::i32}, {1},
      [](Span in) {
        return Exprs{check(ne(in[0], 7), in[0], 4) ^ cast(random_word(2), DType::i32) ^
                     cast(linear_index(), DType::i32)};
      },
      [](Span in) { return Exprs{in[0] * 3 + in[1]}; }, [](Span in) { return Exprs{in[0]}; }));
  return all;
}

/// Positions of a shape in row-major order, and what a reduction gives at each.
struct Trial {
  const Reduction& fold;
  const ReduceSpec& spec;
  std::vector<int64_t> extents;
  std::vector<Layout> layouts;
  std::vector<std::unique_ptr<GuardedBytes>> memory;
  std::vector<std::vector<std::byte>> before;
  std::vector<int64_t> strides;
  int64_t kept = 1, reduced = 1;

  Trial(const Reduction& f, const ReduceSpec& s, std::vector<int64_t> shape, std::mt19937_64& rng)
      : fold(f), spec(s), extents(std::move(shape)) {
    const auto axes = static_cast<size_t>(spec.kept);
    for (size_t axis = 0; axis < extents.size(); ++axis)
      (axis < axes ? kept : reduced) *= extents[axis];
    for (size_t k = 0; k < spec.operands.size(); ++k) {
      const bool in = k + 1 < spec.lift.inputs.size();
      layouts.push_back(lay_out(spec.operands[k], in, rng));
      memory.push_back(std::make_unique<GuardedBytes>(layouts[k].bytes));
      testing::fill(layouts[k], shape_of(in), memory[k]->data(), rng);
      before.emplace_back(memory[k]->data(), memory[k]->data() + layouts[k].bytes);
      strides.insert(strides.end(), layouts[k].strides.begin(), layouts[k].strides.end());
    }
    int64_t step = 1;
    std::vector<int64_t> linear(extents.size());
    for (size_t axis = extents.size(); axis-- > 0; step *= extents[axis]) linear[axis] = step;
    strides.insert(strides.end(), linear.begin(), linear.end());
  }

  std::vector<int64_t> shape_of(bool in) const {
    if (in || spec.scan) return extents;
    return {extents.begin(), extents.begin() + spec.kept};
  }

  /// A layout with an entry for every axis; the vector axis is made the innermost in memory.
  Layout lay_out(const OperandSpec& operand, bool in, std::mt19937_64& rng) {
    std::vector<int64_t> shape = shape_of(in);
    const bool turn = spec.columns && (in || spec.scan);
    const auto split = static_cast<ptrdiff_t>(spec.kept);
    if (turn) std::rotate(shape.begin(), shape.begin() + split, shape.end());
    Layout layout = make_layout(operand.dtype, operand.stride, shape, rng, in);
    const auto back = static_cast<ptrdiff_t>(shape.size()) - split;
    if (turn)
      std::rotate(layout.strides.begin(), layout.strides.begin() + back, layout.strides.end());
    layout.strides.resize(extents.size(), 0);
    return layout;
  }

  uint64_t run(KernelFn fn, std::mt19937_64& rng) const {
    std::vector<std::byte*> data;
    for (size_t k = 0; k < memory.size(); ++k)
      data.push_back(memory[k]->data() + layouts[k].origin);
    uint64_t error = kNoError;
    const int64_t origin = 0;
    for (int64_t begin = 0; begin < kept;) {
      const int64_t end = std::min<int64_t>(kept, begin + 1 + static_cast<int64_t>(rng() % 40));
      const KernelArgs args{data.data(), extents.data(), strides.data(), &origin, begin, end, 5,
                            6,           &error};
      fn(&args);
      begin = end;
    }
    return error;
  }

  uint64_t at(size_t k, int64_t position) const {
    return read(before[k].data() + layouts[k].at(extents, position), layouts[k].dtype);
  }

  State combine(const State& a, const State& b) const {
    State both = a;
    both.insert(both.end(), b.begin(), b.end());
    return evaluate(fold.combine, {.inputs = both});
  }
  State captured(int64_t line, int64_t i, uint64_t* error) const {
    State inputs;
    const int64_t position = line * reduced + i;
    for (size_t k = 0; k + 1 < fold.lift.inputs.size(); ++k) inputs.push_back(at(k, position));
    inputs.push_back(static_cast<uint64_t>(i));
    uint32_t failed = 0;
    const State state = evaluate(
        fold.lift, {.inputs = inputs, .linear = position, .seed = 5, .call = 6, .failed = &failed});
    if (failed != 0) *error = std::min(*error, static_cast<uint64_t>(position) << 16 | failed);
    return state;
  }
  State block(int64_t line, int64_t first, int64_t last, uint64_t* error) const {
    std::array<State, 16> lanes;
    lanes.fill(fold.unit);
    for (int64_t i = first; i < last; ++i) {
      State& lane = lanes[static_cast<size_t>((i - first) % 16)];
      lane = combine(lane, captured(line, i, error));
    }
    for (size_t half = 8; half > 0; half /= 2)
      for (size_t l = 0; l < half; ++l) lanes[l] = combine(lanes[l], lanes[l + half]);
    return lanes[0];
  }
  /// tree(n): of the first p blocks, combined with that of the rest, p the largest power of two
  /// below n.
  State tree(const std::vector<State>& blocks, size_t begin, size_t end) const {
    const size_t n = end - begin;
    if (n == 0) return fold.unit;
    if (n == 1) return blocks[begin];
    size_t p = 1;
    while (2 * p < n) p *= 2;
    return combine(tree(blocks, begin, begin + p), tree(blocks, begin + p, end));
  }
  State finish(State state, int64_t count) const {
    state.push_back(static_cast<uint64_t>(count));
    return evaluate(fold.finish, {.inputs = state});
  }

  std::string compare(uint64_t error) const {
    std::vector<std::vector<std::byte>> after = before;
    uint64_t expected_error = kNoError;
    for (int64_t line = 0; line < kept; ++line) {
      if (spec.scan) {
        State state = fold.unit;
        for (int64_t i = 0; i < reduced; ++i) {
          state = combine(state, captured(line, i, &expected_error));
          if (auto p = check(after, extents, line * reduced + i, finish(state, i + 1)); !p.empty())
            return p;
        }
        continue;
      }
      std::vector<State> blocks;
      for (int64_t first = 0; first < reduced; first += 512)
        blocks.push_back(block(line, first, std::min(reduced, first + 512), &expected_error));
      const State results = finish(tree(blocks, 0, blocks.size()), reduced);
      if (auto p = check(after, shape_of(false), line, results); !p.empty()) return p;
    }
    for (size_t k = 0; k < layouts.size(); ++k)
      if (!std::equal(after[k].begin(), after[k].end(), memory[k]->data()))
        return "a byte outside of operand " + std::to_string(k) + " changed";
    if (error != expected_error) return "another error: " + std::to_string(error_index(error));
    return {};
  }

  std::string check(std::vector<std::vector<std::byte>>& after, const std::vector<int64_t>& shape,
                    int64_t position, const State& results) const {
    for (size_t r = 0; r < results.size(); ++r) {
      const size_t k = spec.lift.inputs.size() - 1 + r;
      const int64_t offset = layouts[k].at(shape, position);
      const uint64_t got = read(memory[k]->data() + offset, layouts[k].dtype);
      if (!same_value(layouts[k].dtype, results[r], got)) {
        std::ostringstream text;
        text << "result " << r << " at " << position << ": expected " << std::hex << results[r]
             << ", got " << got;
        return text.str();
      }
      std::memcpy(after[k].data() + offset, memory[k]->data() + offset, size_of(layouts[k].dtype));
    }
    return {};
  }
};

void expect_same(const Reduction& fold, const ReduceSpec& spec,
                 const std::vector<std::vector<int64_t>>& shapes, std::mt19937_64& rng,
                 const std::vector<Target>& on) {
  for (const Target& target : on) {
    const Built kernel = compile(spec, target);
    ASSERT_NE(kernel.fn, nullptr) << fold.name;
    for (const auto& shape : shapes) {
      Trial trial(fold, spec, shape, rng);
      ASSERT_EQ(trial.compare(trial.run(kernel.fn, rng)), "")
          << fold.name << " on " << target.cpu << (spec.columns ? " by columns" : " by rows")
          << (spec.scan ? ", scan" : "") << " over " << absl::StrJoin(shape, " x ") << ", "
          << spec.kept << " axes kept";
    }
  }
}

TEST(LlvmReduce, RowsHaveTheBitsOfTheDefinition) {
  LATHE_NEEDS_LLVM();
  std::mt19937_64 rng(1);
  for (const Reduction& fold : folds()) {
    ReduceSpec spec = fold.spec();
    spec.kept = 1;
    expect_same(fold, spec,
                {{3, 1},
                 {1, 15},
                 {2, 16},
                 {2, 17},
                 {1, 511},
                 {1, 512},
                 {2, 513},
                 {1, 2047},
                 {2, 2049},
                 {1, 3700},
                 {1, 5200}},
                rng, {codegen()->host()});
    if (HasFatalFailure()) return;
  }
}

TEST(LlvmReduce, ColumnsHaveTheBitsOfTheDefinition) {
  LATHE_NEEDS_LLVM();
  std::mt19937_64 rng(2);
  for (const Reduction& fold : folds()) {
    ReduceSpec spec = fold.spec();
    spec.kept = 1;
    spec.columns = true;
    expect_same(fold, spec, {{1, 1}, {3, 15}, {16, 17}, {21, 40}, {65, 3}, {5, 513}, {2, 1600}},
                rng, {codegen()->host()});
    if (HasFatalFailure()) return;
  }
}

TEST(LlvmReduce, AnyLayoutOnAnyTarget) {
  LATHE_NEEDS_LLVM();
  std::mt19937_64 rng(3);
  for (const Reduction& fold : folds()) {
    ReduceSpec spec = fold.spec();
    spec.kept = static_cast<int>(rng() % 3);
    spec.reduced = 1 + static_cast<int>(rng() % 3);
    spec.columns = spec.kept > 0 && rng() % 2 == 0;
    for (OperandSpec& operand : spec.operands)
      if (rng() % 2 == 0) operand.stride = Stride::strided;
    if (rng() % 2 == 0) spec.operands[0].stride = Stride::uniform;
    std::vector<std::vector<int64_t>> shapes;
    for (int i = 0; i < 3; ++i) {
      std::vector<int64_t> shape;
      for (int axis = 0; axis < spec.kept; ++axis)
        shape.push_back(1 + static_cast<int64_t>(rng() % 7));
      for (int axis = 0; axis < spec.reduced; ++axis)
        shape.push_back(1 + static_cast<int64_t>(rng() % (spec.reduced == 1 ? 900 : 24)));
      shapes.push_back(shape);
    }
    expect_same(fold, spec, shapes, rng, targets());
    if (HasFatalFailure()) return;
  }
}

TEST(LlvmReduce, NoElementsGiveTheUnit) {
  LATHE_NEEDS_LLVM();
  std::mt19937_64 rng(4);
  const Reduction fold = sum(DType::f32, DType::f32);
  for (bool columns : {false, true}) {
    ReduceSpec spec = fold.spec();
    spec.kept = 1;
    spec.columns = columns;
    const Built kernel = compile(spec, codegen()->host());
    ASSERT_NE(kernel.fn, nullptr);
    std::vector<float> out(5, 9);
    std::byte* data[] = {nullptr, reinterpret_cast<std::byte*>(out.data())};
    const int64_t extents[] = {5, 0}, strides[] = {4, 4, 4, 0}, origin = 0;
    const KernelArgs args{data, extents, strides, &origin, 0, 5};
    kernel.fn(&args);
    EXPECT_EQ(out, std::vector<float>(5, 0));
  }
}

TEST(LlvmReduce, ScansKeepEveryPrefix) {
  LATHE_NEEDS_LLVM();
  std::mt19937_64 rng(5);
  for (const Reduction& fold : folds())
    for (bool columns : {false, true}) {
      ReduceSpec spec = fold.spec();
      spec.kept = 1;
      spec.scan = true;
      spec.columns = columns;
      expect_same(fold, spec, {{1, 1}, {3, 40}, {19, 21}, {40, 2}}, rng, {codegen()->host()});
      if (HasFatalFailure()) return;
    }
}

TEST(LlvmReduce, RefusesWithReasons) {
  LATHE_NEEDS_LLVM();
  const auto refusal = [](void (*change)(ReduceSpec&)) {
    ReduceSpec spec = sum(DType::f32, DType::f32).spec();
    spec.kept = 1;
    change(spec);
    return codegen()->compile(spec, codegen()->host()).error;
  };
  EXPECT_EQ(refusal([](ReduceSpec&) {}), "");
  EXPECT_NE(refusal([](ReduceSpec& s) { s.kept = 16; }), "");
  EXPECT_NE(refusal([](ReduceSpec& s) { s.kept = 0, s.columns = true; }), "");
  EXPECT_NE(refusal([](ReduceSpec& s) { s.scan = true, s.reduced = 2; }), "");
  EXPECT_NE(refusal([](ReduceSpec& s) { s.unit.clear(); }), "");
  EXPECT_NE(refusal([](ReduceSpec& s) { s.operands.pop_back(); }), "");
  EXPECT_NE(refusal([](ReduceSpec& s) { s.combine = s.finish; }), "");
}

}  // namespace
}  // namespace lathe::jit
