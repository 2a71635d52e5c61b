#include "core/dispatch/printing.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "core/scalar/element.h"

namespace lathe {
namespace {

std::string g_said;

std::string said(std::string_view format, const Tensors& xs) {
  g_said.clear();
  set_print_hook([](std::string_view text) { g_said += text; });
  printing(format)->run(xs, {});
  set_print_hook(nullptr);
  return g_said;
}

template <class T>
Tensor point(T value, DType dtype) {
  Tensor t = empty({dtype, {}, {}});
  store_element(dtype, t.mutable_data(), value);
  return t;
}

TEST(Printing, Parts) {
  const Tensor three = point(int64_t{3}, DType::i64), half = point(0.5, DType::f32);
  EXPECT_EQ(said("", {}), "");
  EXPECT_EQ(said("a\\{b\\}\\|\\\\\n", {}), "a{b}|\\\n");
  EXPECT_EQ(said("{t} {n} {n:5d} {n:.3f}", {three, three, three, half}), "tensor(3) 3     3 0.500");
  EXPECT_EQ(said("{n:6.2e} {n:g}", {three, half}), "3.00e+00 0.5");
  EXPECT_EQ(said("{n} {n}", {point(int64_t{1}, DType::bool_), point(-1.0, DType::f64)}),
            "True -1.0");
}

TEST(Printing, ChoicesPassOverTheTensorsOfOthers) {
  const Tensor zero = point(int64_t{0}, DType::i64), one = point(int64_t{1}, DType::i64);
  const Tensor seven = point(int64_t{7}, DType::i64);
  for (const Tensor& first : {zero, one})
    for (const Tensor& second : {zero, one}) {
      const bool a = first.item_int() == 0, b = second.item_int() == 0;
      EXPECT_EQ(said("<{?{n}{?x|y}|b}>{n}", {first, one, second, seven}),
                (a ? std::string("<1") + (b ? "x" : "y") : "<b") + ">7");
    }
  EXPECT_THROW(said("{?a|b}", {seven}), ValueError);
  EXPECT_THROW(said("{?a|b}", {point(0.0, DType::f32)}), ValueError);
}

TEST(Printing, WhatIsNoFormat) {
  for (const char* format : {"{", "}", "|", "{t", "{n:}", "{n:+d}", "{n:5.2s}", "{n:.d}", "{?a",
                             "{?a|{t}", "\\", "{u}", "{n:05d}", "{n:9999d}"})
    EXPECT_THROW(printing(format), ValueError) << format;
  EXPECT_THROW(said("{t}", {}), ValueError);
  EXPECT_THROW(said("", {point(0.0, DType::f32)}), ValueError);
  EXPECT_THROW(said("{n}", {empty({DType::f32, {Int(2)}, {}})}), ValueError);
  EXPECT_THROW(said("{n:d}", {point(0.5, DType::f32)}), ValueError);
}

TEST(Printing, FloatsAsPythonWritesThem) {
  const std::pair<double, const char*> known[] = {{0.0, "0.0"},
                                                  {-0.0, "-0.0"},
                                                  {1.0, "1.0"},
                                                  {0.1, "0.1"},
                                                  {1e15, "1000000000000000.0"},
                                                  {1e16, "1e+16"},
                                                  {1.5e300, "1.5e+300"},
                                                  {0.0001, "0.0001"},
                                                  {0.00001, "1e-05"},
                                                  {1.0 / 3, "0.3333333333333333"},
                                                  {123456.789, "123456.789"},
                                                  {5e-324, "5e-324"},
                                                  {std::nan(""), "nan"},
                                                  {-HUGE_VAL, "-inf"}};
  for (const auto& [value, text] : known) EXPECT_EQ(float_text(value), text);
}

}  // namespace
}  // namespace lathe
