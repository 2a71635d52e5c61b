// Kernels of the kernel IR: what the verifier refuses, and random ones by the SIMD interpreter and
// by machine code for every target against the interpreter, by bits.
#include <gtest/gtest.h>

#include "core/base/flags.h"
#include "jit/kernel/row_kernel.h"
#include "jit/kernel_ir/interpret.h"
#include "tests/cpp/jit/kernel_memory.h"

namespace lathe::jit {
namespace {

using testing::GuardedBytes;
using testing::random_value;
using Rng = std::mt19937_64;

int64_t number(Int e) { return e.value(); }

/// A kernel that grows statement by statement: rows, or pieces of a line of so many elements, and
/// one axis along each.
class RandomKernel {
 public:
  RandomKernel(uint64_t seed, std::vector<int64_t> rows, int64_t inner, std::optional<Int> line)
      : rng_(seed) {
    k_.line = line;
    for (int64_t n : rows) k_.axes.push_back({Int(n)});
    k_.axes.push_back({Int(inner)});
    k_.parallel = static_cast<int>(rows.size());
    const size_t statements = 1 + pick(4);
    for (size_t s = 0; s < statements; ++s) {
      const size_t kind = pick(line ? 4 : 5);
      if (kind == 0) k_.body.push_back({compute(/*along=*/false)});
      if (kind == 1) k_.body.push_back({For{inner_axis(), {{compute(/*along=*/true)}}}});
      if (kind == 2 || kind == 3) k_.body.push_back({reduce()});
      if (kind == 4) k_.body.push_back({reduce_rows()});
    }
    put_arguments_first();
  }

  const Kernel& kernel() const { return k_; }

 private:
  size_t pick(size_t n) { return rng_() % n; }
  int inner_axis() const { return k_.parallel; }

  testing::RandomProgram program() {
    while (true) {
      testing::RandomProgram p =
          testing::random_program(rng_, {.steps = 6, .inputs = testing::kTensorTypes});
      const ScalarFunction f = p.built();
      const auto stored = [](DType d) {
        return std::find(std::begin(testing::kTensorTypes), std::end(testing::kTensorTypes), d) !=
               std::end(testing::kTensorTypes);
      };
      const auto& nodes = f.graph.nodes();
      const bool checks = std::any_of(nodes.begin(), nodes.end(),
                                      [](const ExprNode& n) { return n.prim == Prim::check; });
      if (!checks && std::all_of(f.output_types.begin(), f.output_types.end(), stored)) return p;
    }
  }

  int add(DType d, Space space, Int elements = 0) {
    k_.buffers.push_back({d, space, elements, ""});
    return static_cast<int>(k_.buffers.size()) - 1;
  }

  /// Strides of an argument, and with them how much memory it takes.
  IndexMap spread(bool along, bool output) {
    IndexMap map;
    int64_t span = 1;
    std::vector<int64_t> strides(k_.axes.size());
    for (size_t axis = k_.axes.size(); axis-- > 0;) {
      const bool inner = axis + 1 == k_.axes.size();
      const int64_t extent = k_.axes[axis].extent.value();
      int64_t step = span;
      if (inner) step = !along ? 0 : output ? 1 : static_cast<int64_t>(pick(4));
      if (!inner && !output && pick(3) == 0) step = 0;
      if (!inner && step != 0) step += static_cast<int64_t>(pick(3));
      strides[axis] = step;
      span += step * std::max<int64_t>(0, extent - 1);
    }
    for (int64_t s : strides) map.strides.push_back(Int(s));
    return map;
  }

  Operand operand(DType d, bool along) {
    std::vector<Access> fit;
    for (const Access& a : written_)
      if (k_.buffers[static_cast<size_t>(a.buf)].dtype == d &&
          (along || identical(a.map.along(k_.axes.size() - 1), Int(0))))
        fit.push_back(a);
    if (!fit.empty() && pick(2) == 0) return fit[pick(fit.size())];
    if (pick(6) == 0) {
      k_.uniforms.push_back(d);
      return Uniform{static_cast<int>(k_.uniforms.size()) - 1, d};
    }
    const int b = add(d, Space::argument);
    inputs_.push_back(b);
    return Access{b, spread(along, /*output=*/false)};
  }

  Access result(DType d, bool along) {
    const bool local = pick(2) == 0;
    const int b = add(d, local ? Space::local : Space::argument,
                      !local  ? Int(0)
                      : along ? k_.axes.back().extent
                              : Int(1));
    if (!local) outputs_.push_back(b);
    IndexMap map;
    if (local) {
      map.strides.assign(k_.axes.size(), Int(0));
      map.strides.back() = Int(along ? 1 : 0);
    }
    return {b, local ? map : spread(along, /*output=*/true)};
  }

  Compute compute(bool along) {
    Compute c;
    c.f = program().built();
    for (DType d : c.f.inputs) c.operands.push_back(operand(d, along));
    for (DType d : c.f.output_types) c.stores.push_back(result(d, along));
    written_.insert(written_.end(), c.stores.begin(), c.stores.end());
    return c;
  }

  Reduce reduce() {
    Reduce r;
    r.axis = inner_axis();
    r.bodies = bodies(r.operands);
    for (DType d : r.bodies.state) r.stores.push_back(result(d, false));
    written_.insert(written_.end(), r.stores.begin(), r.stores.end());
    return r;
  }

  /// Its results are arguments, which nothing reads.
  ReduceRows reduce_rows() {
    ReduceRows r;
    r.axis = inner_axis();
    r.bodies = bodies(r.operands);
    for (DType d : r.bodies.state) {
      const int b = add(d, Space::argument);
      outputs_.push_back(b);
      IndexMap map;
      map.strides.assign(k_.axes.size(), Int(0));
      map.strides.back() = Int(1);
      r.stores.push_back({b, map});
    }
    return r;
  }

  ReduceBodies bodies(std::vector<Operand>& operands) {
    const ScalarFunction f = program().built();
    for (DType in : f.inputs) operands.push_back(operand(in, true));
    std::vector<DType> types = f.inputs;
    types.push_back(DType::i64);
    std::vector<size_t> ways;  // by part
    std::vector<DType> parts;  // what each begins with
    for (DType d : f.output_types) {
      parts.push_back(d == DType::f16 || d == DType::bf16 ? DType::f32 : d);
      ways.push_back(pick(is_floating(parts.back()) ? 5 : 2));
      if (ways.size() == 2) break;
    }
    ReduceBodies b;
    for (size_t p = 0; p < parts.size(); ++p) {
      b.state.push_back(parts[p]);
      b.unit.push_back(ways[p] == 3 ? bits_of_infinity(parts[p]) : 0);
      if (ways[p] < 3) continue;
      b.state.push_back(ways[p] == 3 ? DType::i64 : parts[p]);
      b.unit.push_back(ways[p] == 3 ? static_cast<uint64_t>(INT64_MAX) : 0);
    }
    b.lift = build(
        [&](absl::Span<const Expr> in) {
          const Exprs x = inline_call(f, in.subspan(0, f.inputs.size()));
          Exprs states;
          for (size_t p = 0; p < parts.size(); ++p) {
            states.push_back(x[p].dtype() == parts[p] ? x[p] : cast(x[p], parts[p]));
            if (ways[p] >= 3)
              states.push_back(ways[p] == 3 ? in.back() : states.back() * states.back());
          }
          return states;
        },
        types);
    std::vector<DType> both = b.state, counted = b.state;
    both.insert(both.end(), b.state.begin(), b.state.end());
    counted.push_back(DType::i64);
    b.combine = build([&](absl::Span<const Expr> in) { return combined(ways, in); }, both);
    const bool mean = is_floating(b.state[0]) && pick(2) == 0;
    b.finish = build(
        [&](absl::Span<const Expr> in) {
          Exprs out(in.begin(), in.end() - 1);
          if (mean) out[0] = out[0] / cast(in.back(), b.state[0]);
          return out;
        },
        counted);
    return b;
  }

  static uint64_t bits_of_infinity(DType d) {  // the negative one
    return d == DType::f32 ? 0xff800000u : 0xfff0000000000000u;
  }

  /// By part: 0 a sum, 1 a maximum, 2 what no loop is made for, 3 the largest and where it is, 4
  /// two states that read each other.
  static Exprs combined(const std::vector<size_t>& ways, absl::Span<const Expr> in) {
    Exprs out;
    size_t s = 0;
    for (size_t way : ways) {
      const Expr a = in[s], b = in[in.size() / 2 + s];
      if (way == 0) out.push_back(a + b);
      if (way == 1) out.push_back(pmax(a, b));
      if (way == 2) out.push_back(fma(a, constant(a.dtype(), 0.5), b));
      s += way >= 3 ? 2 : 1;
      if (way < 3) continue;
      const Expr more = in[s - 1], other = in[in.size() / 2 + s - 1];
      if (way == 4) {
        out.push_back(a + b);
        out.push_back(fma(a, b, more + other));
        continue;
      }
      const Expr beats = (lt(a, b) | (isnan(b) & ~isnan(a))) & ~(isnan(a) & ~isnan(b));
      const Expr ties = eq(a, b) | (isnan(a) & isnan(b));
      const Expr take = beats | (ties & lt(other, more));
      out.push_back(select(take, b, a));
      out.push_back(select(take, other, more));
    }
    return out;
  }

  void put_arguments_first() {
    std::vector<int> order = inputs_;
    order.insert(order.end(), outputs_.begin(), outputs_.end());
    for (size_t b = 0; b < k_.buffers.size(); ++b)
      if (k_.buffers[b].space == Space::local) order.push_back(static_cast<int>(b));
    std::vector<int> now(order.size());
    std::vector<Buf> buffers;
    for (size_t i = 0; i < order.size(); ++i) {
      now[static_cast<size_t>(order[i])] = static_cast<int>(i);
      buffers.push_back(k_.buffers[static_cast<size_t>(order[i])]);
    }
    k_.buffers = buffers;
    k_.inputs = static_cast<int>(inputs_.size());
    k_.outputs = static_cast<int>(outputs_.size());
    const auto rename = [&](auto& statement) {
      for (Operand& o : statement.operands)
        if (auto* a = std::get_if<Access>(&o)) a->buf = now[static_cast<size_t>(a->buf)];
      for (Access& a : statement.stores) a.buf = now[static_cast<size_t>(a.buf)];
    };
    for (Statement& s : k_.body) {
      if (auto* c = std::get_if<Compute>(&s.node)) rename(*c);
      if (auto* r = std::get_if<Reduce>(&s.node)) rename(*r);
      if (auto* r = std::get_if<ReduceRows>(&s.node)) rename(*r);
      if (auto* f = std::get_if<For>(&s.node)) rename(std::get<Compute>(f->body[0].node));
    }
  }

  Rng rng_;
  Kernel k_;
  std::vector<int> inputs_, outputs_;
  std::vector<Access> written_;  // may be read
};

/// The arguments of a kernel, in memory that ends where they end.
class Arguments {
 public:
  Arguments(const Kernel& k, Rng& rng) {
    std::vector<int64_t> elements(k.buffers.size(), 1);
    const auto note = [&](const Access& a) {
      int64_t last = 0;
      for (size_t axis = 0; axis < k.axes.size(); ++axis)
        last += a.map.along(axis).value() * std::max<int64_t>(0, k.axes[axis].extent.value() - 1);
      auto& n = elements[static_cast<size_t>(a.buf)];
      n = std::max(n, last + 1);
    };
    each_operand(
        k.body,
        [&](const Operand& o) {
          if (const auto* a = std::get_if<Access>(&o)) note(*a);
        },
        note);
    for (int b = 0; b < k.inputs + k.outputs; ++b) {
      const DType d = k.buffers[static_cast<size_t>(b)].dtype;
      const int64_t n = elements[static_cast<size_t>(b)];
      dtypes_.push_back(d);
      elements_.push_back(n);
      memory_.push_back(std::make_unique<GuardedBytes>(static_cast<size_t>(n) * size_of(d)));
      begins.push_back(memory_.back()->data());
      for (int64_t i = 0; i < n; ++i) {
        const uint64_t bits = random_value(d, rng);
        std::memcpy(begins.back() + i * static_cast<int64_t>(size_of(d)), &bits, size_of(d));
      }
    }
    for (DType d : k.uniforms) uniforms.push_back(random_value(d, rng));
  }

  /// Where the two differ first, or nothing.
  std::string difference(const Arguments& other) const {
    for (size_t b = 0; b < begins.size(); ++b)
      for (int64_t i = 0; i < elements_[b]; ++i) {
        const int64_t at = i * static_cast<int64_t>(size_of(dtypes_[b]));
        const uint64_t mine = testing::read(begins[b] + at, dtypes_[b]);
        const uint64_t theirs = testing::read(other.begins[b] + at, dtypes_[b]);
        if (!testing::same_value(dtypes_[b], mine, theirs))
          return absl::StrCat("b", b, " element ", i, ": ", absl::Hex(mine), " and ",
                              absl::Hex(theirs));
      }
    return "";
  }

  std::vector<std::byte*> begins;
  std::vector<uint64_t> uniforms;

 private:
  std::vector<DType> dtypes_;
  std::vector<int64_t> elements_;
  std::vector<std::unique_ptr<GuardedBytes>> memory_;
};

/// Whether what this code makes of the kernel is what the interpreter makes; none: the SIMD one.
void expect_right(const Kernel& k, uint64_t seed, KernelFn fn, const std::string& by) {
  const char* threads[] = {"1", "2", "5"};
  FlagScope on(Flag::threads, threads[seed % 3]);
  Rng first(seed), again(seed);
  const Arguments expected(k, first), got(k, again);
  interpret(k, expected.begins, expected.uniforms, number);
  const RowKernel kernel(LoweredRows{k, {}, {}, {}, {}});
  kernel.run(fn, kernel.bind(number), {.buffers = got.begins, .uniforms = got.uniforms});
  ASSERT_EQ(expected.difference(got), "") << by << "\n" << k.print();
}

void expect_machine_code_is_right(const Kernel& k, uint64_t seed) {
  for (const Target& target : testing::targets()) {
    const testing::Built built = testing::compile(with_lowered_functions(k), target);
    ASSERT_NE(built.fn, nullptr);
    ASSERT_NO_FATAL_FAILURE(expect_right(k, seed, built.fn, target.key()));
  }
}

void expect_simd_is_right(const Kernel& k, uint64_t seed) {
  for (const SimdLoops* loops : simd_loop_sets()) {
    FlagScope with(Flag::isa, loops->name);
    ASSERT_NO_FATAL_FAILURE(expect_right(k, seed, nullptr, loops->name));
  }
}

using Check = void (*)(const Kernel&, uint64_t);
void random_kernels(uint64_t first, uint64_t count, Check check) {
  const int64_t lengths[] = {1, 5, 16, 17, 100, 511, 512, 513, 1100, 2600};
  for (uint64_t seed = first; seed < first + count; ++seed) {
    Rng rng(seed);
    std::vector<int64_t> rows{static_cast<int64_t>(1 + rng() % 6)};
    if (rng() % 3 == 0) rows.push_back(static_cast<int64_t>(1 + rng() % 5));
    int64_t inner = rng() % 20 == 0 ? 0 : lengths[rng() % std::size(lengths)];
    if (rng() % 6 == 0) {  // blocks of rows
      rows = {static_cast<int64_t>(rng() % 1700)};
      inner = static_cast<int64_t>(rng() % 20);
    }
    std::optional<Int> line;
    if (rng() % 5 == 0 && rows.size() == 1 && rows[0] > 0 && inner > 0)
      line = rows[0] * inner - static_cast<int64_t>(rng() % static_cast<uint64_t>(inner));
    const RandomKernel random(seed, rows, inner, line);
    ASSERT_EQ(verify(random.kernel()), "") << seed << "\n" << random.kernel().print();
    ASSERT_NO_FATAL_FAILURE(check(random.kernel(), seed)) << "seed " << seed;
  }
}

TEST(KernelIr, RandomKernelsByMachineCode) {
  LATHE_NEEDS_LLVM();
  random_kernels(1, 10, expect_machine_code_is_right);
}

TEST(KernelIr, RandomKernelsBySimd) { random_kernels(1, 300, expect_simd_is_right); }

TEST(KernelIr, SlowRandomKernelsByMachineCode) {
  LATHE_NEEDS_LLVM();
  random_kernels(1000, 1000, expect_machine_code_is_right);
}

/// mean of each row, then what is left of x.
Kernel centred() {
  Kernel k;
  k.name = "centred";
  k.axes = {{Int(3)}, {Int(40)}};
  k.parallel = 1;
  k.inputs = k.outputs = 1;
  k.buffers = {{DType::f32, Space::argument, 0, "x"},
               {DType::f32, Space::argument, 0, "y"},
               {DType::f32, Space::local, 1, "mean"}};
  const Access x{0, {Int(0), {Int(40), Int(1)}}}, y{1, {Int(0), {Int(40), Int(1)}}}, mean{2, {}};
  const std::vector<DType> f32{DType::f32}, two{DType::f32, DType::f32};
  const std::vector<DType> counted{DType::f32, DType::i64};
  using In = absl::Span<const Expr>;
  ReduceBodies b{f32,
                 {0},
                 build([](In in) { return Exprs{in[0]}; }, counted),
                 build([](In in) { return Exprs{in[0] + in[1]}; }, two),
                 build([](In in) { return Exprs{in[0] / cast(in[1], DType::f32)}; }, counted)};
  k.body.push_back({Reduce{1, b, {x}, {mean}}});
  const Compute left{build([](In in) { return Exprs{in[0] - in[1]}; }, two), {x, mean}, {y}};
  k.body.push_back({For{1, {{left}}}});
  return k;
}

TEST(KernelIr, TheVerifierSaysWhatIsWrong) {
  const auto wrong = [](void (*change)(Kernel&)) {
    Kernel k = centred();
    change(k);
    return verify(k);
  };
  EXPECT_EQ(wrong([](Kernel&) {}), "");
  EXPECT_EQ(wrong([](Kernel& k) { k.body.erase(k.body.begin()); }),
            "b2 is read before it is written");
  EXPECT_EQ(wrong([](Kernel& k) { k.body.pop_back(); }), "nothing writes b1");
  EXPECT_EQ(wrong([](Kernel& k) { std::get<Reduce>(k.body[0].node).axis = 0; }),
            "i0 is entered twice");
  EXPECT_EQ(wrong([](Kernel& k) { std::get<Reduce>(k.body[0].node).axis = 2; }), "i2 is no axis");
  EXPECT_EQ(wrong([](Kernel& k) {
              auto compute = std::get<For>(k.body[1].node).body[0];
              k.body[1] = compute;
            }),
            "b0 is indexed by i1 outside of its loop");
  EXPECT_EQ(wrong([](Kernel& k) { std::get<Reduce>(k.body[0].node).stores[0].buf = 0; }),
            "b0 is an input, and is written");
  EXPECT_EQ(wrong([](Kernel& k) { std::get<Reduce>(k.body[0].node).bodies.unit.clear(); }),
            "the unit does not fit the state");
  EXPECT_EQ(wrong([](Kernel& k) { k.buffers[0].dtype = DType::f64; }),
            "the operands do not fit what is reduced");
  EXPECT_EQ(wrong([](Kernel& k) { k.parallel = 3; }), "there are more parallel axes than axes");
  EXPECT_EQ(wrong([](Kernel& k) { k.outputs = 2; }),
            "b2 is in the wrong place: arguments come first");
}

TEST(KernelIr, PiecesOfALineHaveOneAxis) {
  Kernel k = centred();
  k.line = Int(100);
  EXPECT_EQ(verify(k), "");
  EXPECT_NE(k.print().find("pieces i0 < 3 of 100\n  axis i1 < 40\n"), std::string::npos);
  k.axes.insert(k.axes.begin(), {Int(2)});
  k.parallel = 2;
  EXPECT_EQ(verify(k),
            "pieces of a line are one parallel axis and one along them, and no sums over rows");
}

TEST(KernelIr, ResultsOfAllRowsAreReadByNobody) {
  Kernel k = centred();
  k.outputs = 2;
  k.buffers.insert(k.buffers.begin() + 2, {DType::f32, Space::argument, 0, "sums"});
  each_access(k.body, [](Access& a, bool) { a.buf += a.buf == 2; });
  ReduceRows r{1, std::get<Reduce>(k.body[0].node).bodies, {}, {{2, {Int(0), {Int(0), Int(1)}}}}};
  r.operands = std::get<Reduce>(k.body[0].node).operands;
  k.body.push_back({r});
  EXPECT_EQ(verify(k), "");
  Kernel reads = k;
  std::swap(reads.body[1], reads.body[2]);
  std::get<Compute>(std::get<For>(reads.body[2].node).body[0].node).operands[0] = r.stores[0];
  EXPECT_EQ(verify(reads), "b2 is read before all rows are done");
  std::get<ReduceRows>(k.body[2].node).stores[0].map.strides[0] = 40;
  EXPECT_EQ(verify(k), "b2 has one value for all rows, and moves along i0");
}

TEST(KernelIr, TheFormLeavesOutNamesAndSizes) {
  Kernel k = centred(), other = centred();
  other.name = "other";
  other.buffers[0].name = "z";
  other.axes[1].extent = Int(50);
  EXPECT_NE(k.print(), other.print());
  EXPECT_EQ(k.form(), other.form());
  std::get<For>(other.body[1].node).axis = 1;
  std::get<Compute>(std::get<For>(other.body[1].node).body[0].node).stores[0].map.strides[1] = 2;
  EXPECT_NE(k.form(), other.form());  // another stride class is another kernel
}

}  // namespace
}  // namespace lathe::jit
