// Vendors: near the reference, the same bits on every call and for any thread count, and refused
// with a reason.
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include "tests/cpp/support/kernels_support.h"

namespace lathe::test {
namespace {

Query query_of(const char* op, std::vector<Arg>& args, Types& types) {
  Args all(args.data(), args.size());
  types = get_op(op).infer(all);
  return make_query(get_op(op), all, types);
}

const Explained* find(const std::vector<Explained>& all, std::string_view name) {
  for (const Explained& e : all)
    if (e.entry->name == name) return &e;
  return nullptr;
}

/// Every entry but these switched off.
std::string all_but(std::string_view name) {
  std::string off;
  for (const Entry* e : entries(Kind::contract))
    if (e->name != name) absl::StrAppend(&off, off.empty() ? "" : ",", e->name);
  return off;
}

/// Runs `call` on this entry alone, or skips where this build or machine lacks it.
template <class F>
void with_entry(const char* entry, const char* op, std::vector<Arg> args, F check) {
  Types types;
  Query q = query_of(op, args, types);
  auto verdicts = explain(q);
  const Explained* e = find(verdicts, entry);
  ASSERT_NE(e, nullptr);
  if (!e->verdict.accepted()) GTEST_SKIP() << entry << ": " << e->verdict.text();
  FlagScope off(Flag::disabled, all_but(entry));
  ASSERT_EQ(choose_entry(q).name, entry);
  check();
}

template <class T>
void expect_near(const Tensor& got, const Tensor& want, double relative) {
  auto a = values_of<T>(got), b = values_of<T>(want);
  ASSERT_EQ(a.size(), b.size());
  double scale = 0;
  for (T x : b) scale = std::max(scale, std::abs(static_cast<double>(x)));
  for (size_t i = 0; i < a.size(); ++i)
    ASSERT_NEAR(static_cast<double>(a[i]), static_cast<double>(b[i]), relative * (scale + 1e-30))
        << i;
}

/// Why oneDNN computes nothing of this dtype here; empty: it does.
std::string refuses(DType dtype) {
  Tensor x = random_tensor(dtype, {2, 2}, 1);
  std::vector<Arg> args{Arg(x), Arg(x), Arg()};
  Types types;
  const Verdict verdict = find(explain(query_of("mm", args, types)), "onednn.matmul")->verdict;
  return verdict.accepted() ? "" : absl::StrCat("onednn.matmul: ", verdict.text());
}

Tensor single(const Tensor& x) { return run1("cast", x, DType::f32); }

/// Of operands of `dtype`, into `out` if that is stated: near ours up to `relative`.
void products(const char* entry, DType dtype = DType::f32, const Arg& out = Arg(),
              double relative = 1e-5) {
  if (dtype == DType::bf16)
    if (const std::string why = refuses(dtype); !why.empty()) GTEST_SKIP() << why;
  struct Case {
    Tensor a, b;
  };
  Tensor wide = random_tensor(dtype, {40, 90}, 3);
  std::vector<Case> cases{
      {random_tensor(dtype, {33, 70}, 1), random_tensor(dtype, {70, 21}, 2)},
      {random_tensor(dtype, {1, 70}, 1), random_tensor(dtype, {70, 21}, 2)},
      {random_tensor(dtype, {33, 70}, 1), random_tensor(dtype, {70, 1}, 2)},
      {random_tensor(dtype, {33, 0}, 1), random_tensor(dtype, {0, 4}, 2)},
      {random_tensor(dtype, {0, 5}, 1), random_tensor(dtype, {5, 4}, 2)},
      {run1("transpose", random_tensor(dtype, {30, 40}, 1), 0, 1),
       run1("transpose", random_tensor(dtype, {50, 30}, 2), 0, 1)},
      {run1("slice", wide, 1, 0, std::nullopt, 2), run1("slice", wide, 0, 0, 45, 1)},
      {run1("expand", random_tensor(dtype, {1, 12}, 4), Ints{9, 12}),
       random_tensor(dtype, {12, 8}, 2)},
      {random_tensor(dtype, {3, 1, 10, 12}, 5), random_tensor(dtype, {2, 12, 8}, 6)},
      {random_tensor(dtype, {400, 300}, 7), random_tensor(dtype, {300, 200}, 8)}};
  cases[6].b = random_tensor(dtype, {45, 7}, 9);
  for (const Case& c : cases) {
    Tensor want = [&] {
      FlagScope ours(Flag::numerics, "defined");
      return run1("mm", c.a, c.b, out);
    }();
    with_entry(entry, "mm", {Arg(c.a), Arg(c.b), out}, [&] {
      Tensor got = run1("mm", c.a, c.b, out);
      EXPECT_EQ(got.dtype(), want.dtype());
      expect_near<float>(single(got), single(want), relative);
      auto bytes = bytes_of(got);
      for (const char* threads : {"1", "2", "8"}) {
        FlagScope set(Flag::threads, threads);
        EXPECT_EQ(bytes_of(run1("mm", c.a, c.b, out)), bytes);
      }
    });
  }
}

TEST(KernelsVendor, OneDnnProducts) { products("onednn.matmul"); }
TEST(KernelsVendor, OneDnnProductsOfBf16) { products("onednn.matmul", DType::bf16, Arg(), 1e-2); }
TEST(KernelsVendor, OneDnnProductsOfBf16IntoF32) {
  products("onednn.matmul", DType::bf16, Arg(DType::f32), 1e-5);
}
TEST(KernelsVendor, OpenBlasProducts) { products("openblas.gemm"); }
TEST(KernelsVendor, EigenProducts) { products("eigen.gemm"); }

TEST(KernelsVendor, DoublesAndComplexWhereTheyExist) {
  for (DType d : {DType::f64, DType::c64})
    for (const char* entry : {"openblas.gemm", "eigen.gemm"}) {
      Tensor a = random_tensor(d, {20, 30}, 1), b = random_tensor(d, {30, 10}, 2);
      Tensor want = run1("mm", a, b);
      with_entry(entry, "mm", {Arg(a), Arg(b), Arg()}, [&] {
        Tensor got = run1("mm", a, b);
        if (d == DType::f64) expect_near<double>(got, want, 1e-13);
        if (d == DType::c64) expect_near<float>(got, want, 1e-5);
      });
    }
}

/// Forward, and the gradients by input and by weight: near ours, which are computed in f32.
void convolutions(const char* entry, DType dtype, double relative) {
  struct Case {
    Shape x, w;
    Ints stride, pad, dilation;
    int64_t groups;
  };
  if (const std::string why = refuses(dtype); !why.empty()) GTEST_SKIP() << why;
  uint32_t seed = 50;
  for (const Case& c : {Case{{2, 3, 9, 11}, {5, 3, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 1},
                        Case{{3, 8, 12, 10}, {8, 2, 3, 2}, {1, 2}, {0, 1}, {2, 1}, 4},
                        Case{{1, 16, 14, 14}, {32, 16, 3, 3}, {2, 2}, {1, 1}, {1, 1}, 1}}) {
    Tensor x = random_tensor(dtype, c.x, ++seed), w = random_tensor(dtype, c.w, ++seed);
    auto pass = [&](const char* op, const Tensor& a, const Tensor& b, const Shape* shape) {
      return shape == nullptr ? run1(op, a, b, c.stride, c.pad, c.dilation, c.groups)
                              : run1(op, a, b, *shape, c.stride, c.pad, c.dilation, c.groups);
    };
    auto ours = [&](const char* op, const Tensor& a, const Tensor& b, const Shape* shape) {
      FlagScope defined(Flag::numerics, "defined");
      return pass(op, single(a), single(b), shape);
    };
    Tensor y = ours("convolution2d", x, w, nullptr);
    Tensor dy = run1("cast", random_tensor(DType::f32, y.shape(), ++seed), dtype);
    Tensor dx = ours("convolution2d_d0", dy, w, &c.x), dw = ours("convolution2d_d1", x, dy, &c.w);
    FlagScope off(Flag::disabled, all_but(entry));
    Tensor vy = pass("convolution2d", x, w, nullptr);
    Tensor vx = pass("convolution2d_d0", dy, w, &c.x), vw = pass("convolution2d_d1", x, dy, &c.w);
    EXPECT_EQ(vy.dtype(), dtype);
    expect_near<float>(single(vy), y, relative);
    expect_near<float>(single(vx), dx, relative);
    expect_near<float>(single(vw), dw, relative);
    FlagScope set(Flag::threads, "1");
    EXPECT_EQ(bytes_of(pass("convolution2d", x, w, nullptr)), bytes_of(vy));
  }
}

/// A graph may let operands lie otherwise than eager code does.
TEST(KernelsVendor, OneDnnProductsOfBf16DoNotAskHowOperandsLie) {
  if (const std::string why = refuses(DType::bf16); !why.empty()) GTEST_SKIP() << why;
  FlagScope off(Flag::disabled, all_but("onednn.matmul"));
  for (int64_t m : {1, 2, 17, 130})
    for (int64_t n : {1, 3, 16, 200})
      for (int64_t k : {1, 2, 33, 300}) {
        Tensor a = random_tensor(DType::bf16, {m, k}, 1), b = random_tensor(DType::bf16, {k, n}, 2);
        const auto turned = [](const Tensor& x) {
          return run1("transpose", run1("clone", run1("transpose", x, 0, 1)), 0, 1);
        };
        const auto inside = [](const Tensor& x) {  // of a wider and taller tensor
          return run1("slice",
                      run1("slice", run1("constant_pad_nd", x, Ints{3, 5, 1, 0}), 1, 3,
                           3 + x.size(1).value(), 1),
                      0, 1, 1 + x.size(0).value(), 1);
        };
        const auto want = bytes_of(run1("mm", a, b));
        for (const Tensor& left : {a, turned(a), inside(a)})
          for (const Tensor& right : {b, turned(b), inside(b)})
            EXPECT_EQ(bytes_of(run1("mm", left, right)), want) << m << " " << n << " " << k;
      }
}

TEST(KernelsVendor, OneDnnConvolutions) { convolutions("onednn.conv", DType::f32, 1e-5); }
TEST(KernelsVendor, OneDnnConvolutionsOfBf16) { convolutions("onednn.conv", DType::bf16, 1e-2); }

/// Products of bf16 are a vendor's where the processor multiplies bf16; depthwise ones stay ours.
TEST(KernelsVendor, OursYieldsToProductsOfBf16) {
  Tensor a = random_tensor(DType::bf16, {20, 30}, 1), b = random_tensor(DType::bf16, {30, 10}, 2);
  std::vector<Arg> product{Arg(a), Arg(b), Arg()};
  Types types;
  const Query q = query_of("mm", product, types);
  const bool fast = entries(Kind::contract)[0]->yields(q);
#ifdef __x86_64__
  EXPECT_EQ(fast, __builtin_cpu_supports("avx512bf16") != 0);
#endif
  const Verdict vendor = find(explain(q), "onednn.matmul")->verdict;
  EXPECT_EQ(choose_entry(q).name, fast && vendor.accepted() ? "onednn.matmul" : "own.gemm");
  FlagScope off(Flag::disabled, "onednn");
  EXPECT_EQ(choose_entry(q).name, "own.gemm");
}

TEST(KernelsVendor, DepthwiseConvolutionsOfBf16AreOurs) {
  Tensor x = random_tensor(DType::bf16, {2, 8, 12, 10}, 1);
  Tensor w = random_tensor(DType::bf16, {8, 1, 3, 3}, 2);
  const Op& op = get_op("convolution2d");
  const Arg ones[] = {Arg(Int(1)), Arg(Int(1))}, none[] = {Arg(Int(0)), Arg(Int(0))};
  const ArgList one{ones, 2}, zero{none, 2};
  const std::vector<Arg> args{Arg(x), Arg(w), Arg(one), Arg(zero), Arg(one), Arg(Int(8)), Arg()};
  const Types types = op.infer(Args(args.data(), args.size()));
  const Query q = make_query(op, Args(args.data(), args.size()), types);
  EXPECT_FALSE(entries(Kind::contract)[0]->yields(q));
  EXPECT_EQ(choose_entry(q).name, "own.gemm");
}

TEST(KernelsVendor, DefinedBitsAreOurs) {
  Tensor a = random_tensor(DType::bf16, {20, 30}, 1), b = random_tensor(DType::bf16, {30, 10}, 2);
  std::vector<Arg> args{Arg(a), Arg(b), Arg()};
  Types types;
  Query q = query_of("mm", args, types);
  FlagScope defined(Flag::numerics, "defined");
  EXPECT_EQ(choose_entry(q).name, "own.gemm");
  for (const Explained& e : explain(q))
    if (e.entry->bits != Bits::defined) {
      EXPECT_EQ(e.verdict.text(), "the flag numerics asks for defined bits (pinned)");
    }
  FlagScope ours_off(Flag::disabled, "own.gemm");
  EXPECT_EQ(choose_entry(q).name, "reference.contract");
}

TEST(KernelsVendor, RefusalsCarryAReason) {
  Tensor a = random_tensor(DType::i32, {4, 5}, 1), b = random_tensor(DType::i32, {5, 6}, 2);
  std::vector<Arg> args{Arg(a), Arg(b), Arg()};
  Types types;
  for (const Explained& e : explain(query_of("mm", args, types))) {
    if (e.entry->bits == Bits::defined) continue;
    EXPECT_FALSE(e.verdict.accepted()) << e.entry->name;
    Reason r = e.verdict.reason();
    bool absent = r == Reason::not_built || r == Reason::not_found || r == Reason::no_cuda ||
                  r == Reason::not_loadable || r == Reason::core_type;
    if (!absent && !absl::StrContains(e.entry->name, ".conv")) {
      EXPECT_EQ(r, Reason::dtype) << e.entry->name;
      EXPECT_EQ(e.verdict.numbers(), "int32");
    }
    EXPECT_FALSE(e.verdict.text().empty());
  }
}

}  // namespace
}  // namespace lathe::test
