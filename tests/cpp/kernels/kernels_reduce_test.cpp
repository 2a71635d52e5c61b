// Every reducing and scanning row equals the reference, over dtypes, layouts and threads.
#include "tests/cpp/support/kernels_support.h"

namespace lathe::test {
namespace {

constexpr const char* kOwnOff = "own.reduce,own.scan";

/// The row on x along `axis` (or all axes: -1), with its flags (a scan's: backwards) as given;
/// nothing where the row is not defined.
std::optional<Outputs> fold(const Op& op, const Tensor& x, int axis, bool flags = false) {
  ArgBuilder b;
  b.push(x);
  for (size_t i = 1; i < op.schema.params.size(); ++i) {
    const Param& p = op.schema.params[i];
    if (p.type == ArgType::flag)
      b.push(flags);
    else if (p.type == ArgType::integer && p.list)
      b.push(axis < 0 ? Ints(Shape{}) : Ints(Shape{Int(axis)}));
    else
      b.push(axis < 0 ? 0 : axis);
  }
  try {
    return call(op, CompletedArgs(op, b.args()));
  } catch (const DTypeError&) {
    return std::nullopt;
  }
}

void expect_reference(const Op& op, const Tensor& x, int axis, bool flags = false) {
  install_executor();
  auto own = fold(op, x, axis, flags);
  if (!own) return;
  FlagScope off(Flag::disabled, kOwnOff);
  auto reference = fold(op, x, axis, flags);
  for (size_t k = 0; k < own->size(); ++k)
    ASSERT_EQ(bits_of((*own)[k]), bits_of((*reference)[k]))
        << op.name() << " " << to_string(type_of(x)) << " axis " << axis << " flags " << flags
        << " result " << k;
}

std::vector<Tensor> inputs(DType d) {
  std::vector<Tensor> all{random_tensor(d, {7}, 1), random_tensor(d, {1030}, 2),
                          random_tensor(d, {5, 700}, 3), random_tensor(d, {600, 6}, 4),
                          random_tensor(d, {3, 40, 9}, 5)};
  all.push_back(run1("transpose", random_tensor(d, {33, 20}, 6), 0, 1));
  all.push_back(run1("slice", random_tensor(d, {30, 60}, 7), 1, 1, std::nullopt, 3));
  all.push_back(run1("expand", random_tensor(d, {20, 1}, 8), Ints{20, 40}));
  return all;
}

class KernelsReduce : public testing::TestWithParam<DType> {};

TEST_P(KernelsReduce, RowsEqualTheReference) {
  for (const Op* op : all_ops()) {
    if (op->kind != Kind::reduce && op->kind != Kind::scan) continue;
    for (const Tensor& x : inputs(GetParam()))
      for (int axis = op->kind == Kind::reduce ? -1 : 0; axis < x.rank(); ++axis) {
        expect_reference(*op, x, axis);
        if (op->kind == Kind::scan) expect_reference(*op, x, axis, true);
      }
  }
}

INSTANTIATE_TEST_SUITE_P(AllDTypes, KernelsReduce,
                         testing::Values(DType::bool_, DType::u8, DType::i32, DType::i64,
                                         DType::f16, DType::bf16, DType::f32, DType::f64,
                                         DType::c64, DType::u16, DType::u32, DType::u64,
                                         DType::c128));

TEST(KernelsReduceSplit, LongReductionsInPieces) {
  Tensor x = random_tensor(DType::f32, {2, 200000}, 9),
         one = random_tensor(DType::f32, {300001}, 10);
  auto all = [&] {
    std::vector<std::byte> bytes;
    for (const char* op : {"sum", "mean", "amax", "argmax"})
      for (const Tensor& t : {x, one}) {
        auto result = fold(get_op(op), t, t.rank() - 1);
        auto more = bits_of((*result)[0]);
        bytes.insert(bytes.end(), more.begin(), more.end());
      }
    return bytes;
  };
  auto expected = all();
  for (const char* threads : {"1", "2", "3", "8"}) {
    FlagScope set(Flag::threads, threads);
    EXPECT_EQ(all(), expected) << threads;
  }
  FlagScope off(Flag::disabled, kOwnOff);
  EXPECT_EQ(all(), expected);
}

TEST(KernelsReduceSplit, ScansOfManyAndFewLines) {
  for (Shape shape :
       {Shape{9, 5000}, Shape{5000, 9}, Shape{300, 70}, Shape{3, 200, 40}, Shape{4000}})
    for (int axis = 0; axis < static_cast<int>(shape.size()); ++axis)
      for (const char* op : {"cumsum", "cumprod"})
        expect_reference(get_op(op), random_tensor(DType::f32, shape, 11), axis);
}

TEST(KernelsReduceSplit, ElementwiseByReference) {
  Tensor x = random_tensor(DType::f32, {31, 17}, 12), y = random_tensor(DType::f32, {17}, 13);
  for (const char* op : {"add", "pow", "maximum", "atan2"}) {
    auto own = bits_of(run1(op, x, y));
    FlagScope off(Flag::disabled, "own.simd");
    EXPECT_EQ(bits_of(run1(op, x, y)), own) << op;
  }
}

}  // namespace
}  // namespace lathe::test
