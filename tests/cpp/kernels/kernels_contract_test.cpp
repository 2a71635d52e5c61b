// Contractions: ours equal the reference bit for bit, over shapes, strides, dtypes, threads and
// instruction sets.
#include "kernels/simd/choose_loops.h"
#include "tests/cpp/support/kernels_support.h"

namespace lathe::test {
namespace {

constexpr const char* kOwnOff = "own.gemm,onednn,openblas,eigen";

/// The same call by our kernels and by the reference.
template <class... A>
void expect_reference_bits(const char* op, const std::string& what, const A&... args) {
  FlagScope numerics(Flag::numerics, "defined");  // ours, also of bf16
  Tensor own = run1(op, args...);
  FlagScope off(Flag::disabled, kOwnOff);
  Tensor reference = run1(op, args...);
  ASSERT_EQ(to_string(type_of(own)), to_string(type_of(reference))) << what;
  EXPECT_EQ(bits_of(own), bits_of(reference)) << what;
}

struct Extents {
  int64_t m, n, k;
};

std::vector<Extents> product_extents() {
  std::vector<Extents> all;
  const int64_t sizes[] = {0, 1, 2, 3, 5, 7, 13, 14, 15, 16, 17, 31, 32, 33, 47, 65};
  const int64_t depths[] = {0, 1, 2, 3, 4, 7, 16, 63, 511, 512, 513, 1500};
  std::mt19937 rng(5);
  for (int64_t k : depths)
    for (int i = 0; i < 12; ++i) all.push_back({sizes[rng() % 16], sizes[rng() % 16], k});
  all.push_back({300, 700, 40});
  all.push_back({64, 2100, 33});
  all.push_back({1, 5000, 600});
  all.push_back({900, 1, 520});
  all.push_back({70, 1, 1024});  // rows whose lines have one place in the first-level cache
  all.push_back({70, 2, 2048});
  return all;
}

TEST(KernelsContract, ProductsEqualTheReference) {
  uint32_t seed = 0;
  for (auto [m, n, k] : product_extents())
    for (DType d : {DType::f32, DType::f64, DType::i32, DType::i64}) {
      Tensor a = random_tensor(d, {m, k}, ++seed), b = random_tensor(d, {k, n}, ++seed);
      expect_reference_bits("mm", absl::StrCat(name(d), " ", m, " ", n, " ", k), a, b);
    }
}

TEST(KernelsContract, TransposedAndStridedOperands) {
  uint32_t seed = 100;
  for (auto [m, n, k] : {Extents{33, 40, 70}, {1, 90, 600}, {70, 1, 600}, {20, 33, 513}, {5, 5, 5}})
    for (int form = 0; form < 9; ++form) {
      auto make = [&](int64_t r, int64_t c, int how) {
        if (how == 0) return random_tensor(DType::f32, {r, c}, ++seed);
        if (how == 1) return run1("transpose", random_tensor(DType::f32, {c, r}, ++seed), 0, 1);
        Tensor wide = random_tensor(DType::f32, {r * 2, c * 3}, ++seed);
        Tensor rows = run1("slice", wide, 0, 1, std::nullopt, 2);
        return run1("slice", rows, 1, 2, std::nullopt, 3);
      };
      Tensor a = make(m, k, form / 3), b = make(k, n, form % 3);
      expect_reference_bits("mm", absl::StrCat("form ", form, " ", m, " ", n, " ", k), a, b);
    }
}

TEST(KernelsContract, BatchesBroadcast) {
  Tensor a = random_tensor(DType::f32, {3, 1, 17, 20}, 1),
         b = random_tensor(DType::f32, {2, 20, 9}, 2);
  expect_reference_bits("mm", "batch", a, b);
  expect_reference_bits("mm", "shared left", random_tensor(DType::f32, {17, 20}, 3), b);
  expect_reference_bits("mm", "expanded",
                        run1("expand", random_tensor(DType::f32, {1, 20}, 4), Ints{40, 20}),
                        random_tensor(DType::f32, {20, 50}, 5));
}

TEST(KernelsContract, OtherDtypes) {
  for (DType d : {DType::f16, DType::bf16, DType::i8, DType::i16, DType::u8, DType::u16, DType::u32,
                  DType::u64, DType::c64, DType::c128})
    for (int64_t k : {1, 40, 700}) {
      Tensor a = random_tensor(d, {9, k}, 11), b = random_tensor(d, {k, 35}, 12);
      expect_reference_bits("mm", absl::StrCat(name(d), " ", k), a, b);
    }
}

TEST(KernelsContract, NonFiniteValues) {
  Tensor a = random_tensor(DType::f32, {20, 600}, 21), b = random_tensor(DType::f32, {600, 40}, 22);
  auto* x = reinterpret_cast<float*>(a.mutable_data());
  x[5] = INFINITY;
  x[700] = NAN;
  x[1300] = 3e38f;
  auto* y = reinterpret_cast<float*>(b.mutable_data());
  y[40] = -INFINITY;
  y[41] = 1e-44f;
  expect_reference_bits("mm", "non-finite", a, b);
}

struct Conv {
  int64_t n, c, h, w, o, kh, kw;
  Ints stride, pad, dilation;
  int64_t groups;
};

std::vector<Conv> convolutions() {
  return {{2, 3, 9, 11, 5, 3, 3, {1, 1}, {1, 1}, {1, 1}, 1},
          {1, 16, 14, 14, 20, 3, 3, {2, 2}, {1, 1}, {1, 1}, 1},
          {2, 8, 12, 10, 8, 3, 2, {1, 2}, {0, 1}, {2, 1}, 4},
          {3, 6, 8, 8, 6, 3, 3, {1, 1}, {1, 1}, {1, 1}, 6},
          {1, 70, 6, 6, 33, 1, 1, {1, 1}, {0, 0}, {1, 1}, 1},
          {1, 64, 9, 40, 15, 3, 3, {1, 1}, {2, 2}, {1, 1}, 1},
          {2, 1, 28, 28, 4, 5, 5, {1, 1}, {0, 0}, {1, 1}, 1},
          {1, 4, 7, 7, 4, 3, 3, {3, 3}, {2, 2}, {2, 2}, 2}};
}

TEST(KernelsContract, ConvolutionAndItsGradients) {
  uint32_t seed = 300;
  int number = 0;
  for (const Conv& c : convolutions())
    for (DType d : {DType::f32, DType::f64, DType::i64}) {
      std::string what = absl::StrCat("convolution ", number++);
      Tensor x = random_tensor(d, {c.n, c.c, c.h, c.w}, ++seed);
      Tensor w = random_tensor(d, {c.o, c.c / c.groups, c.kh, c.kw}, ++seed);
      expect_reference_bits("convolution2d", what, x, w, c.stride, c.pad, c.dilation, c.groups);
      if (is_integer(d)) continue;  // no gradients
      Tensor y = run1("convolution2d", x, w, c.stride, c.pad, c.dilation, c.groups);
      Tensor dy = random_tensor(d, y.shape(), ++seed);
      expect_reference_bits("convolution2d_d0", what + " by input", dy, w, x.shape(), c.stride,
                            c.pad, c.dilation, c.groups);
      expect_reference_bits("convolution2d_d1", what + " by weight", x, dy, w.shape(), c.stride,
                            c.pad, c.dilation, c.groups);
    }
}

/// Few channels a group, where the windows are read where they lie: sizes that end in every lane,
/// windows that reach past the operand, several blocks of the sum, operands in other layouts.
TEST(KernelsContract, GroupedConvolutionsAtRandom) {
  std::mt19937 rng(77);
  auto pick = [&](int64_t least, int64_t most) {
    return least + static_cast<int64_t>(rng() % static_cast<uint32_t>(most - least + 1));
  };
  uint32_t seed = 500;
  for (const SimdLoops* set : simd_loop_sets())
    for (int i = 0; i < 60; ++i) {
      const FlagScope flag(Flag::isa, set->name);
      const DType d = std::array{DType::f32, DType::f64, DType::i32, DType::bf16}[rng() % 4];
      const int64_t groups = pick(1, 9), each = pick(1, 4) == 4 ? pick(2, 40) : 1;
      const int64_t height = pick(1, 20), width = pick(1, 40);
      const int64_t padding[] = {pick(0, 3), pick(0, 3)}, apart[] = {pick(1, 2), pick(1, 2)};
      const Ints stride{pick(1, 3), pick(1, 3)}, pad{padding[0], padding[1]},
          dilation{apart[0], apart[1]};
      auto taps = [&](int axis, int64_t size) {
        return pick(1, std::min<int64_t>((size + 2 * padding[axis] - 1) / apart[axis] + 1, 5));
      };
      const Shape x_shape{pick(0, 3), groups * each, height, width};
      const int64_t filters = pick(1, 4) == 4 ? pick(6, 40) : pick(1, 5);
      const Shape w_shape{groups * filters, each, taps(0, height), taps(1, width)};
      const std::string what = absl::StrCat(set->name, " ", name(d), " ", to_string(x_shape), " ",
                                            to_string(w_shape), " ", i);
      Tensor x = random_tensor(d, x_shape, ++seed), w = random_tensor(d, w_shape, ++seed);
      if (i % 3 == 1)  // channels last
        x = run1("permute", random_tensor(d, {x_shape[0], height, width, x_shape[1]}, ++seed),
                 Ints{0, 3, 1, 2});
      expect_reference_bits("convolution2d", what, x, w, stride, pad, dilation, groups);
      if (is_integer(d)) continue;
      Tensor y = run1("convolution2d", x, w, stride, pad, dilation, groups);
      Tensor dy = random_tensor(d, y.shape(), ++seed);
      expect_reference_bits("convolution2d_d0", what, dy, w, x_shape, stride, pad, dilation,
                            groups);
      expect_reference_bits("convolution2d_d1", what, x, dy, w_shape, stride, pad, dilation,
                            groups);
    }
}

/// Sums over the places of windows: blocks of terms that begin and end within lines and images,
/// lines longer than a block, as many rows as fill tiles or not, one to three axes.
TEST(KernelsContract, GradientsByWeightAtRandom) {
  std::mt19937 rng(78);
  auto pick = [&](int64_t least, int64_t most) {
    return least + static_cast<int64_t>(rng() % static_cast<uint32_t>(most - least + 1));
  };
  uint32_t seed = 800;
  for (const SimdLoops* set : simd_loop_sets())
    for (int i = 0; i < 60; ++i) {
      const FlagScope flag(Flag::isa, set->name);
      const DType d = std::array{DType::f32, DType::f64, DType::i32}[rng() % 3];
      const int axes = static_cast<int>(pick(1, 3));
      const int64_t groups = std::array{1, 1, 2, 17}[rng() % 4];
      const int64_t out = groups * (groups == 17 ? pick(1, 2) : pick(1, 70)), each = pick(1, 5);
      Shape x_shape{pick(1, 4), groups * each}, w_shape{out, each};
      Shape stride, pad, dilation;
      for (int k = 0; k < axes; ++k) {
        const bool last = k == axes - 1;
        const int64_t size = last && axes == 1 ? pick(1, 1400) : pick(1, axes == 3 ? 9 : 30);
        const int64_t around = pick(0, 3), apart = pick(1, 2);
        pad.push_back(around);
        dilation.push_back(apart);
        stride.push_back(pick(1, 3));
        const int64_t most = (size + 2 * around - 1) / apart + 1;
        x_shape.push_back(size);
        w_shape.push_back(pick(1, std::min<int64_t>(most, 5)));
      }
      const bool transposed = rng() % 4 == 0;
      const std::string name =
          absl::StrCat("convolution", transposed ? "_transpose" : "", axes, "d");
      const std::string what = absl::StrCat(set->name, " ", lathe::name(d), " ", name, " ",
                                            to_string(x_shape), " ", to_string(w_shape), " ", i);
      Tensor x = random_tensor(d, x_shape, ++seed);
      if (transposed) {  // its weight has the input's channels first
        w_shape = Shape{x_shape[1], out / groups, w_shape.back()};
        for (int k = 0; k + 1 < axes; ++k) w_shape.insert(w_shape.begin() + 2, Int(pick(1, 3)));
      }
      Tensor w = random_tensor(d, w_shape, ++seed);
      const Shape none(static_cast<size_t>(axes), Int(0));
      auto with = [&](auto f) {
        transposed ? f(Ints(stride), Ints(none), Ints(none), groups, Ints(dilation))
                   : f(Ints(stride), Ints(pad), Ints(dilation), groups);
      };
      with([&](const auto&... rest) {
        Tensor y = run1(name.c_str(), x, w, rest...);
        if (is_integer(d)) return expect_reference_bits(name.c_str(), what, x, w, rest...);
        Tensor dy = random_tensor(d, y.shape(), ++seed);
        const std::string gradient = name + "_d1";
        expect_reference_bits(gradient.c_str(), what, x, dy, Ints(w_shape), rest...);
      });
    }
}

TEST(KernelsContract, LongLinesAndThreeAxes) {
  for (const int64_t step : {1, 2, 3}) {
    Tensor x = random_tensor(DType::f32, {2, 3, 9001}, 61),
           w = random_tensor(DType::f32, {6, 1, 7}, 62);
    expect_reference_bits("convolution1d", absl::StrCat("step ", step), x, w, Ints{step}, Ints{5},
                          Ints{4}, 3);
    Tensor v = random_tensor(DType::f32, {1, 4, 5, 9, 11}, 63),
           u = random_tensor(DType::f32, {4, 1, 3, 2, 3}, 64);
    expect_reference_bits("convolution3d", absl::StrCat("step ", step), v, u, Ints{step, 1, step},
                          Ints{1, 1, 2}, Ints{1, 2, 1}, 4);
  }
}

TEST(KernelsContract, ConvolutionAgreesWithPlainLoops) {
  const int64_t stride = 2, pad = 1;
  Tensor x = random_tensor(DType::f64, {2, 3, 8, 9}, 41),
         w = random_tensor(DType::f64, {4, 3, 3, 3}, 42);
  Tensor y = run1("convolution2d", x, w, Ints{stride, stride}, Ints{pad, pad}, Ints{1, 1}, 1);
  ASSERT_EQ(to_string(y.shape()), "[2, 4, 4, 5]");
  auto xs = values_of<double>(x), ws = values_of<double>(w), ys = values_of<double>(y);
  size_t at = 0;
  for (int64_t n = 0; n < 2; ++n)
    for (int64_t o = 0; o < 4; ++o)
      for (int64_t i = 0; i < 4; ++i)
        for (int64_t j = 0; j < 5; ++j, ++at) {
          double acc = 0;
          for (int64_t p = 0; p < 3; ++p)
            for (int64_t q = 0; q < 3; ++q)
              for (int64_t c = 0; c < 3; ++c) {
                int64_t r = i * stride + p - pad, s = j * stride + q - pad;
                bool inside = r >= 0 && r < 8 && s >= 0 && s < 9;
                double v = inside ? xs[static_cast<size_t>(((n * 3 + c) * 8 + r) * 9 + s)] : 0;
                acc = std::fma(v, ws[static_cast<size_t>(((o * 3 + c) * 3 + p) * 3 + q)], acc);
              }
          ASSERT_EQ(ys[at], acc) << at;
        }
}

TEST(KernelsContract, SumsAreBlocksOf512InOrder) {
  const int64_t k = 1500;
  Tensor a = random_tensor(DType::f32, {1, k}, 51), b = random_tensor(DType::f32, {k, 1}, 52);
  auto as = values_of<float>(a), bs = values_of<float>(b);
  float total = 0;
  for (int64_t start = 0; start < k; start += 512) {
    float acc = 0;
    for (int64_t i = start; i < std::min(k, start + 512); ++i)
      acc = std::fma(as[static_cast<size_t>(i)], bs[static_cast<size_t>(i)], acc);
    total = start == 0 ? acc : total + acc;
  }
  EXPECT_EQ(values_of<float>(run1("mm", a, b))[0], total);
}

/// Integers so far from 0 that their products wrap around.
Tensor wide_integers(DType d, Shape shape, uint32_t seed) {
  Tensor t = empty({d, std::move(shape), Device{}});
  std::mt19937_64 rng(seed);
  std::byte* bytes = t.mutable_data();
  const size_t size = bytes_of(t).size();
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(rng());
  return t;
}

TEST(KernelsContract, SumsOfIntegersWrapAroundOnEveryInstructionSet) {
  for (const SimdLoops* loops : simd_loop_sets()) {
    const std::string isa = loops->name;
    FlagScope set(Flag::isa, isa);
    uint32_t seed = 400;
    for (DType d : {DType::u8, DType::i16, DType::i32, DType::u32, DType::i64, DType::u64})
      for (auto [m, n, k] : {Extents{17, 40, 600}, {1, 33, 70}, {3, 9, 513}}) {
        Tensor a = wide_integers(d, {m, k}, ++seed), b = wide_integers(d, {k, n}, ++seed);
        const std::string what = absl::StrCat(isa, " ", name(d), " ", m, " ", n, " ", k);
        expect_reference_bits("mm", what, a, b);
        Tensor turned = run1("transpose", wide_integers(d, {n, k}, ++seed), 0, 1);
        expect_reference_bits("mm", what + " transposed", a, turned);
      }
    Tensor x = wide_integers(DType::i64, {2, 4, 9, 11}, ++seed);
    Tensor w = wide_integers(DType::i64, {6, 2, 3, 3}, ++seed);
    expect_reference_bits("convolution2d", isa, x, w, Ints{2, 1}, Ints{1, 1}, Ints{1, 2}, 2);
  }
}

void expect_no_trace_of_the_machine(DType d) {
  Tensor a = random_tensor(d, {150, 700}, 61), b = random_tensor(d, {700, 900}, 62);
  Tensor x = random_tensor(d, {2, 16, 20, 20}, 63), w = random_tensor(d, {24, 16, 3, 3}, 64);
  auto all = [&] {
    auto bytes = bytes_of(run1("mm", a, b));
    auto more = bytes_of(run1("convolution2d", x, w, Ints{1, 1}, Ints{1, 1}, Ints{1, 1}, 1));
    bytes.insert(bytes.end(), more.begin(), more.end());
    return bytes;
  };
  auto expected = all();
  for (const char* threads : {"1", "2", "3", "8"}) {
    FlagScope set(Flag::threads, threads);
    EXPECT_EQ(all(), expected) << threads;
  }
  for (const SimdLoops* loops : simd_loop_sets()) {
    FlagScope set(Flag::isa, loops->name);
    EXPECT_EQ(all(), expected) << loops->name;
  }
}
TEST(KernelsContract, ThreadsAndInstructionSetsDoNotShow) {
  for (DType d : {DType::f32, DType::i64}) expect_no_trace_of_the_machine(d);
}

// ── the table ───────────────────────────────────────────────────────────────────────────────────

Query product_query(const Tensor& a, const Tensor& b, std::vector<Arg>& args, Types& types) {
  args = {Arg(a), Arg(b), Arg()};
  const Args all(args.data(), args.size());
  types = get_op("mm").infer(all);
  return make_query(get_op("mm"), all, types);
}

TEST(KernelsTable, ExplainsEveryEntry) {
  Tensor a = random_tensor(DType::f32, {4, 5}, 1), b = random_tensor(DType::f32, {5, 6}, 2);
  std::vector<Arg> args;
  Types types;
  Query q = product_query(a, b, args, types);
  EXPECT_EQ(choose_entry(q).name, "own.gemm");
  EXPECT_EQ(q.terms(), 5);
  auto all = explain(q);
  ASSERT_EQ(all.size(), entries(Kind::contract).size());
  EXPECT_TRUE(all[0].chosen);
  EXPECT_EQ(all.back().entry->name, "reference.contract");
  for (const Explained& e : all) {
    if (e.entry->vendor() == "cublas" || e.entry->vendor() == "cudnn") {
      EXPECT_EQ(e.verdict.reason(), Reason::no_cuda);
      EXPECT_EQ(e.verdict.text(), "built without CUDA");
    }
  }
  EXPECT_NE(explain_text(q).find("own.gemm (defined): chosen"), std::string::npos);
}

TEST(KernelsTable, EntriesCanBeDisabledByNameAndByVendor) {
  Tensor a = random_tensor(DType::f32, {4, 5}, 1), b = random_tensor(DType::f32, {5, 6}, 2);
  std::vector<Arg> args;
  Types types;
  Query q = product_query(a, b, args, types);
  {
    FlagScope off(Flag::disabled, kOwnOff);
    EXPECT_EQ(choose_entry(q).name, "reference.contract");
    EXPECT_EQ(explain(q)[0].verdict.reason(), Reason::disabled);
    EXPECT_EQ(explain(q)[0].verdict.text(), "disabled by flag (own.gemm,onednn,openblas,eigen)");
  }
  {
    FlagScope off(Flag::disabled, "own,onednn,openblas,eigen,reference");
    EXPECT_THROW(choose_entry(q), Error);
  }
  EXPECT_EQ(choose_entry(q).name, "own.gemm");
}

// The kinds that have a reference: each falls to it only where that is no error.
TEST(KernelsTable, TheReferenceIsAnErrorUnderTheFlag) {
  Tensor a = random_tensor(DType::f32, {4, 5}, 1), b = random_tensor(DType::f32, {5, 6}, 2);
  FlagScope off(Flag::disabled, kOwnOff + std::string(",own"));
  const Arg two[] = {Arg(a), Arg(b)}, one[] = {Arg(a)};
  const Arg along[] = {Arg(a), Arg(int64_t{1})};
  const std::pair<std::string, absl::Span<const Arg>> calls[] = {
      {"mm", two}, {"tanh", one}, {"sum", one}, {"cumsum", along}, {"zeros_like", one}};
  for (const auto& [op, args] : calls) {
    const auto run = [&op = get_op(op), args = args] { return call(op, CompletedArgs(op, args)); };
    EXPECT_NO_THROW(run()) << op;
    FlagScope strict(Flag::fallback_is_error, "1");
    try {
      run();
      ADD_FAILURE() << op << " ran by the reference";
    } catch (const UnsupportedError& e) {
      EXPECT_EQ(e.parts().op, op);
      EXPECT_NE(e.parts().got.find("float32"), std::string::npos) << e.what();
      EXPECT_NE(e.parts().got.find("disabled by flag"), std::string::npos) << e.what();
      EXPECT_EQ(e.parts().got.find("reference"), std::string::npos) << e.what();
    }
  }
}

TEST(KernelsTable, ChoiceIgnoresOutputExtents) {
  std::vector<Arg> args;
  Types types;
  const Entry* first = nullptr;
  for (int64_t m : {1, 7, 300}) {
    Tensor a = random_tensor(DType::f32, {m, 64}, 1), b = random_tensor(DType::f32, {64, m + 3}, 2);
    const Entry& chosen = choose_entry(product_query(a, b, args, types));
    if (first == nullptr) first = &chosen;
    EXPECT_EQ(&chosen, first);
  }
}

}  // namespace
}  // namespace lathe::test
