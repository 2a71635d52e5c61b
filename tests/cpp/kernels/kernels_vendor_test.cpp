// Vendors: near the reference, the same bits on every call and for any thread count, and refused
// with a reason.
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

void products(const char* entry) {
  struct Case {
    Tensor a, b;
  };
  Tensor wide = random_tensor(DType::f32, {40, 90}, 3);
  std::vector<Case> cases{
      {random_tensor(DType::f32, {33, 70}, 1), random_tensor(DType::f32, {70, 21}, 2)},
      {random_tensor(DType::f32, {1, 70}, 1), random_tensor(DType::f32, {70, 21}, 2)},
      {random_tensor(DType::f32, {33, 70}, 1), random_tensor(DType::f32, {70, 1}, 2)},
      {random_tensor(DType::f32, {33, 0}, 1), random_tensor(DType::f32, {0, 4}, 2)},
      {random_tensor(DType::f32, {0, 5}, 1), random_tensor(DType::f32, {5, 4}, 2)},
      {run1("transpose", random_tensor(DType::f32, {30, 40}, 1), 0, 1),
       run1("transpose", random_tensor(DType::f32, {50, 30}, 2), 0, 1)},
      {run1("slice", wide, 1, 0, std::nullopt, 2), run1("slice", wide, 0, 0, 45, 1)},
      {run1("expand", random_tensor(DType::f32, {1, 12}, 4), Ints{9, 12}),
       random_tensor(DType::f32, {12, 8}, 2)},
      {random_tensor(DType::f32, {3, 1, 10, 12}, 5), random_tensor(DType::f32, {2, 12, 8}, 6)},
      {random_tensor(DType::f32, {400, 300}, 7), random_tensor(DType::f32, {300, 200}, 8)}};
  cases[6].b = random_tensor(DType::f32, {45, 7}, 9);
  for (const Case& c : cases) {
    Tensor want = run1("mm", c.a, c.b);
    with_entry(entry, "mm", {Arg(c.a), Arg(c.b), Arg()}, [&] {
      Tensor got = run1("mm", c.a, c.b);
      expect_near<float>(got, want, 1e-5);
      auto bytes = bytes_of(got);
      for (const char* threads : {"1", "2", "8"}) {
        FlagScope set(Flag::threads, threads);
        EXPECT_EQ(bytes_of(run1("mm", c.a, c.b)), bytes);
      }
    });
  }
}

TEST(KernelsVendor, OneDnnProducts) { products("onednn.matmul"); }
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

TEST(KernelsVendor, OneDnnConvolutions) {
  struct Case {
    Shape x, w;
    Ints stride, pad, dilation;
    int64_t groups;
  };
  uint32_t seed = 50;
  for (const Case& c : {Case{{2, 3, 9, 11}, {5, 3, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 1},
                        Case{{3, 8, 12, 10}, {8, 2, 3, 2}, {1, 2}, {0, 1}, {2, 1}, 4},
                        Case{{1, 16, 14, 14}, {32, 16, 3, 3}, {2, 2}, {1, 1}, {1, 1}, 1}}) {
    Tensor x = random_tensor(DType::f32, c.x, ++seed), w = random_tensor(DType::f32, c.w, ++seed);
    Tensor y = run1("convolution2d", x, w, c.stride, c.pad, c.dilation, c.groups);
    Tensor dy = random_tensor(DType::f32, y.shape(), ++seed);
    Tensor dx = run1("convolution2d_d0", dy, w, c.x, c.stride, c.pad, c.dilation, c.groups);
    Tensor dw = run1("convolution2d_d1", x, dy, c.w, c.stride, c.pad, c.dilation, c.groups);
    FlagScope off(Flag::disabled, all_but("onednn.conv"));
    Tensor vy, vx, vw;
    try {
      vy = run1("convolution2d", x, w, c.stride, c.pad, c.dilation, c.groups);
    } catch (const UnsupportedError& e) {
      GTEST_SKIP() << e.what();
    }
    vx = run1("convolution2d_d0", dy, w, c.x, c.stride, c.pad, c.dilation, c.groups);
    vw = run1("convolution2d_d1", x, dy, c.w, c.stride, c.pad, c.dilation, c.groups);
    expect_near<float>(vy, y, 1e-5);
    expect_near<float>(vx, dx, 1e-5);
    expect_near<float>(vw, dw, 1e-5);
    FlagScope set(Flag::threads, "1");
    EXPECT_EQ(bytes_of(run1("convolution2d", x, w, c.stride, c.pad, c.dilation, c.groups)),
              bytes_of(vy));
  }
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
    if (!absent && e.entry->name != "onednn.conv") {
      EXPECT_EQ(r, Reason::dtype) << e.entry->name;
      EXPECT_EQ(e.verdict.numbers(), "int32");
    }
    EXPECT_FALSE(e.verdict.text().empty());
  }
}

}  // namespace
}  // namespace lathe::test
