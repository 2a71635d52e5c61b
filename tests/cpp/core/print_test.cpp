#include "core/tensor/print.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "core/base/error.h"
#include "core/scalar/element.h"

namespace lathe {
namespace {

Tensor of(std::vector<double> values, Shape shape, DType dtype = DType::f32) {
  Tensor t = empty({dtype, shape, {}});
  for (size_t i = 0; i < values.size(); i++)
    store_element(dtype, t.mutable_data() + i * size_of(dtype), values[i]);
  return t;
}

std::string print(std::vector<double> values, Shape shape, DType dtype = DType::f32) {
  return print_tensor(of(std::move(values), std::move(shape), dtype));
}

Tensor counting(Shape shape, DType dtype = DType::f32) {
  std::vector<double> values(static_cast<size_t>(numel(shape).value()));
  std::iota(values.begin(), values.end(), 0.0);
  return of(values, shape, dtype);
}

// The expected texts are what PyTorch 2 prints, but for the name in dtype=.
TEST(Print, WholeNumbers) {
  EXPECT_EQ(print({1, 2, 3, 4}, {2, 2}), "tensor([[1., 2.],\n        [3., 4.]])");
  EXPECT_EQ(print({0, -10}, {2}), "tensor([  0., -10.])");
  EXPECT_EQ(print({3}, {}), "tensor(3.)");
  EXPECT_EQ(print({0, 0}, {2}), "tensor([0., 0.])");
}

TEST(Print, Fractions) {
  EXPECT_EQ(print({0.5, -2.25}, {2}), "tensor([ 0.5000, -2.2500])");
  EXPECT_EQ(print({1.0 / 3}, {}), "tensor(0.3333)");
  EXPECT_EQ(print({1e-5, 1}, {2}), "tensor([1.0000e-05, 1.0000e+00])");
  EXPECT_EQ(print({1e9, 1}, {2}), "tensor([1.0000e+09, 1.0000e+00])");
  EXPECT_EQ(print({1.5, 2000.5}, {2}), "tensor([1.5000e+00, 2.0005e+03])");
}

TEST(Print, NotNumbers) {
  EXPECT_EQ(print({NAN, INFINITY, -INFINITY, 1}, {4}), "tensor([ nan,  inf, -inf,   1.])");
  EXPECT_EQ(print({NAN, 1.5}, {2}), "tensor([   nan, 1.5000])");
}

TEST(Print, OtherTypes) {
  EXPECT_EQ(print({1, -20}, {2}, DType::i64), "tensor([  1, -20])");
  EXPECT_EQ(print({1, 20}, {2}, DType::i32), "tensor([ 1, 20], dtype=lathe.int32)");
  EXPECT_EQ(print({1, 0}, {2}, DType::bool_), "tensor([ True, False])");
  EXPECT_EQ(print({1.5}, {1}, DType::f16), "tensor([1.5000], dtype=lathe.float16)");
  EXPECT_EQ(print({1.5}, {1}, DType::f64), "tensor([1.5000], dtype=lathe.float64)");
  float parts[] = {1, 2, 3, -4};
  EXPECT_EQ(print_tensor(from_host(parts, DType::c64, {2})), "tensor([1.+2.j, 3.-4.j])");
}

TEST(Print, Empty) {
  EXPECT_EQ(print({}, {0}), "tensor([])");
  EXPECT_EQ(print({}, {2, 0}), "tensor([], size=(2, 0))");
  EXPECT_EQ(print({}, {0}, DType::i64), "tensor([], dtype=lathe.int64)");
}

TEST(Print, HigherRanks) {
  EXPECT_EQ(print_tensor(counting({2, 1, 2})), "tensor([[[0., 1.]],\n\n        [[2., 3.]]])");
}

TEST(Print, LinesAreBroken) {
  EXPECT_EQ(print_tensor(counting({20})),
            "tensor([ 0.,  1.,  2.,  3.,  4.,  5.,  6.,  7.,  8.,  9., 10., 11., 12., 13.,\n"
            "        14., 15., 16., 17., 18., 19.])");
}

TEST(Print, LargeTensorsAreSummarised) {
  EXPECT_EQ(print_tensor(counting({1001})),
            "tensor([   0.,    1.,    2.,  ...,  998.,  999., 1000.])");
  EXPECT_EQ(print_tensor(counting({1002})),
            "tensor([0.0000e+00, 1.0000e+00, 2.0000e+00,  ..., 9.9900e+02, 1.0000e+03,\n"
            "        1.0010e+03])");
  EXPECT_EQ(print_tensor(counting({1001}, DType::i64)),
            "tensor([   0,    1,    2,  ...,  998,  999, 1000])");
  EXPECT_EQ(print_tensor(counting({8, 200}, DType::i64)),
            "tensor([[   0,    1,    2,  ...,  197,  198,  199],\n"
            "        [ 200,  201,  202,  ...,  397,  398,  399],\n"
            "        [ 400,  401,  402,  ...,  597,  598,  599],\n"
            "        ...,\n"
            "        [1000, 1001, 1002,  ..., 1197, 1198, 1199],\n"
            "        [1200, 1201, 1202,  ..., 1397, 1398, 1399],\n"
            "        [1400, 1401, 1402,  ..., 1597, 1598, 1599]])");
}

TEST(Print, Strided) {
  Tensor t = counting({2, 3});
  Tensor transposed = make_tensor(t.impl()->storage, DType::f32, t.geometry().permute({1, 0}));
  EXPECT_EQ(print_tensor(transposed), "tensor([[0., 3.],\n        [1., 4.],\n        [2., 5.]])");
  Tensor row = make_tensor(t.impl()->storage, DType::f32,
                           t.geometry().slice(0, 1, 1, 1).squeeze(0).slice(0, 2, 3, -1));
  EXPECT_EQ(print_tensor(row), "tensor([5., 4., 3.])");
}

TEST(Print, SuffixesAndOptions) {
  Tensor t = counting({2});
  EXPECT_EQ(print_tensor(t, {.suffixes = {"grad_fn=<add>"}}), "tensor([0., 1.], grad_fn=<add>)");
  t.impl()->requires_grad = true;
  EXPECT_EQ(print_tensor(t), "tensor([0., 1.], requires_grad=True)");
  EXPECT_EQ(print_tensor(of({1.0 / 3}, {1}), {.precision = 2}), "tensor([0.33])");
  EXPECT_EQ(print_tensor(counting({20}), {.threshold = 5, .edge_items = 1}),
            "tensor([ 0.,  ..., 19.])");
}

TEST(Print, OtherDevices) {
  float data[] = {1, 2};
  EXPECT_EQ(print_tensor(from_host(data, DType::f32, {2}, {DeviceKind::sim, 0})),
            "tensor([1., 2.], device='sim')");
}

TEST(Print, SymbolicIsRefused) {
  auto* t = new TensorImpl;
  t->geometry = Geometry::contiguous({2});
  EXPECT_THROW(print_tensor(Tensor(t)), TraceError);
}

}  // namespace
}  // namespace lathe
